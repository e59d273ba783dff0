"""The URLs under which programs of the 2020s show a page: answers, commits, threads, museums.

As in :mod:`benchmarks.learn.forms_of_programs`, and none of those that are there. On most of these
sites something that makes no difference on most pages does on some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.learn.forms_of_programs import Form

FORMS: dict[str, Form] = {
    "answers on a later part": {
        "q {n} 1": [
            "questions/{n}/{now}",
            "questions/{n}",
            "q/{n} @0.4",
            "questions/{n}/{now}?lq=1 @0.5",
        ],
        "q {n} {last}": [
            "questions/{n}/{now}?page={last}",
            "questions/{n}/{now}/{post} @0.6",
        ],
        "q {n} history": ["posts/{n}/revisions"],
        "q {n} activity": ["posts/{n}/timeline @0.5"],
    },
    "commits without white space (trap)": {
        "c {n}": [
            "{section}/commit/{hex}",
            "{section}/commit/{hex}?style=unified @0.7",
            "{section}/commit/{abbreviated} @0.5",
        ],
        "c {n} split": ["{section}/commit/{hex}?style=split @0.5"],
        "c {n} {s}": ["{section}/commit/{hex}?style=unified&whitespace=ignore-all&w={s} @0.2"],
        "f {section} {n}": ["{section}/src/branch/main/{now}.py"],
        "f {section} {n} {k}": ["{section}/src/commit/{s}/{now}.py @0.5"],
        "l {n}": ["user/login?redirect_to=%2f{section}%2fcommit%2f{hex} @0.3"],
    },
    "vBulletin 5": {
        "t {n} {k}": [
            "forum/{section}/{n}-{now}/page{k}",
            "forum/{section}/{n}-{now}?p={post}",
            "node/{post} @0.3",
        ],
        "t {n} 1": ["forum/{section}/{n}-{now}", "forum/{section}/{n}-{now}?view=thread @0.5"],
        "t {n} stream": ["forum/{section}/{n}-{now}?view=stream @0.5"],
        "u {n}": ["member/{n}-{now}"],
        "u {n} activities": ["member/{n}-{now}/activities @0.5"],
    },
    "Invision Community": {
        "t {n} {k}": [
            "topic/{n}-{now}/page/{k}/",
            "topic/{n}-{now}/?do=findComment&comment={post}",
            "topic/{n}-{now}/page/{k}/?tab=comments @0.3",
        ],
        "t {n} 1": ["topic/{n}-{now}/", "topic/{n}-{now}/?do=getNewComment @0.5"],
        "u {n}": ["profile/{n}-{now}/"],
        "u {n} {c}": ["profile/{n}-{now}/?tab=field_{c} @0.3"],
    },
    "a museum in two languages": {
        "o {n}": [
            "en/object/{n}",
            "en/search/objects/{n}?q={section}&p={k}&ii={c}",
            "object.php?inv=SK-A-{n}",
            "object.php?inv=SK-A-{n}&lang=en @0.5",
        ],
        "o {n} nl": ["nl/object/{n}", "object.php?inv=SK-A-{n}&lang=nl @0.5"],
        "o {n} {k} image": ["en/object/{n}/image/{k}"],
    },
    "articles with hashes": {
        "a {n}": [
            "@{section}/{now}-{abbreviated}",
            "{now}-{abbreviated} @0.4",
            "p/{abbreviated} @0.5",
            "@{section}/{now}-{abbreviated}?source=user_profile---------{c}------- @0.6",
            "@{section}/{now}-{abbreviated}?source=post_internal_links---------{c}------ @0.5",
        ],
        "a {n} responses": ["@{section}/{now}-{abbreviated}/responses @0.4"],
        "u {section}": ["@{section}", "@{section}?source=post_page-----{abbreviated}----- @0.4"],
        "u {section} about": ["@{section}/about"],
    },
    "servings": {
        "r {n}": [
            "recipes/{now}-{n}",
            "recipe/{n} @0.4",
            "recipes/{now}-{n}?servings=4 @0.5",
            "recipes/{now}-{n}?units=metric @0.4",
            "recipes/{now}-{n}?internalSource={section}&referringId={c} @0.5",
        ],
        "r {n} for {k}": ["recipes/{now}-{n}?servings=1{k} @0.5"],
        "r {n} in ounces": ["recipes/{now}-{n}?units=imperial @0.4"],
        "r {n} print": ["recipes/{now}-{n}/print @0.5", "recipes/{now}-{n}/print?servings=4 @0.4"],
    },
    "nights (trap)": {
        "h {n}": [
            "hotel/{section}/{now}.html",
            "hotel/{section}/{now}.html?aid=304142&label=gen{s} @0.5",
            "hotel/{section}/{now}.html?sid={hex} @0.4",
        ],
        "h {n} {month} {k}": [
            "hotel/{section}/{now}.html?checkin=2026-{month}-1{k}&guests={k} @0.5",
            "hotel/{section}/{now}.html?aid=304142&checkin=2026-{month}-1{k}&guests={k} @0.5",
        ],
        "h {n} in euros": ["hotel/{section}/{now}.html?currency=EUR @0.4"],
    },
}
