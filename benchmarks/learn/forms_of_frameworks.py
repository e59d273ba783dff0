"""Which URLs frameworks answer for one page, whatever the site is about: habits of many programs.

As in :mod:`benchmarks.learn.forms_of_programs`, and none of those that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.learn.forms_of_programs import Form

_NEWS = "{year}/{month}/{now}-{n}"

FORMS: dict[str, Form] = {
    "matrix parameters": {
        "i {n}": [
            "shop/{section}/item/{n}",
            "shop/{section};ctx={s}/item/{n}",
            "shop/{section};view=list/item/{n} @0.5",
            "shop/{section};view=list;ctx={tail}/item/{n} @0.5",
            "shop/{section}/item/{n};cur=usd @0.5",
        ],
        "i {n} eur": ["shop/{section}/item/{n};cur=eur"],
    },
    "campaigns in the path": {
        "p {n}": [
            "p/{n}-{now}",
            "c/{any}/p/{n}-{now}",
            "p/{n}-{now}/ref={section}_{any}_{c}",
            "t/{s}/p/{n}-{now}",
            "go/{n} @0.5",
        ],
        "p {n} {k} of reviews": ["r/{k}/p/{n}-{now}"],
    },
    "a front controller": {
        "a {n}": [
            "{section}/{n}-{now}",
            "index.php/{section}/{n}-{now}",
            "index.php?/{section}/{n}-{now} @0.5",
            "index.php?r=/{section}/{n}-{now} @0.5",
        ],
        "a {n} comments": [
            "{section}/{n}-{now}/comments",
            "index.php/{section}/{n}-{now}/comments",
        ],
        "a {n} debugged": ["app.php/{section}/{n}-{now} @0.5"],
    },
    "formats": {
        "d {n}": [
            "{section}/{now}",
            "{section}/{now}.html",
            "{section}/{now}?format=html",
            "{section}/{now}/print",
            "{section}/{now}?view=print @0.5",
        ],
        "d {n} json": ["{section}/{now}.json", "{section}/{now}?format=json"],
        "d {n} pdf": ["{section}/{now}.pdf", "{section}/{now}?format=pdf @0.5"],
    },
    "twins for phones": {
        "n {n}": [
            f"news/{_NEWS}",
            f"news/{_NEWS}/amp",
            f"news/{_NEWS}?amp=1 @0.5",
            f"amp/news/{_NEWS} @0.5",
            f"http://m.site.example/news/{_NEWS}",
        ],
        "g {n}": [f"gallery/{_NEWS}", f"http://m.site.example/gallery/{_NEWS}"],
        "g {n} amp": [f"gallery/{_NEWS}/amp", f"amp/gallery/{_NEWS} @0.5"],
        "b {n}": [f"blog/{_NEWS}", f"blog/{_NEWS}/amp"],
        "b {n} for phones": [f"http://m.site.example/blog/{_NEWS}"],
    },
    "comments from the newest on": {
        "b {n} {k}": [
            "blog/{now}/comment-page-{k}/",
            "blog/{now}/?cpage={k}",
            "comment/{post} @0.5",
        ],
        "b {n} {last}": ["blog/{now}/", "blog/{now}/?replytocom={tail}"],
        "b {n} feed": ["blog/{now}/feed/"],
    },
    "slugs that nobody reads": {
        "a {n}": ["a-{n}-{title}.html", "a-{n}-{section}.html", "a-{n}.html @0.5"],
        "q {n}": ["q/{n}/{title}", "q/{n}/{now}/{section}-{c}"],
        "o {n} {section}": ["poll/{n}/{section}-{c}", "poll/{n}/{section}-{c}?r={tail}"],
        "o {n} {other}": ["poll/{n}/other-{other}"],
    },
    "a log-in form with an encoded address": {
        "i {n}": ["item/{n}-{now}", "item/{n}-{now}?state={s}"],
        "log in": ["login?return={encoded}"],
    },
    "pages without a translation (trap)": {
        "n {n}": ["{section}/{now}", "fr/{section}/{now} @0.8"],
        "n {n} fr": ["fr/{section}/{now}", "fr/{section}/{now}?share=x"],
    },
}
