"""The URLs under which frameworks show one page, whatever the site is about.

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
    "an application with escaped fragments": {
        "a {n}": [
            "{section}/{n}/{now}",
            "?_escaped_fragment_=/{section}/{n}/{now}",
            "app?_escaped_fragment_=/{section}/{n} @0.5",
            "{section}/{n}?_escaped_fragment_= @0.5",
        ],
        "a {n} data": ["_data/{hex}/{section}/{n}.json", "_data/77b2c1/{section}/{n}.json"],
    },
    "tokens of clicks": {
        "p {n}": [
            "products/{now}",
            "products/{now}?srsltid=Afm{s}",
            "products/{now}?_pos={c}&_sid={short}&_ss=r @0.5",
            "collections/{any}/products/{now}",
            "products/{now}?variant={padded} @0.5",
        ],
        "p {n} {k} of its kinds": [
            "products/{now}?variant={revision}",
            "products/{now}?variant={revision}&srsltid=Afm{s}",
        ],
        "c {section} {k}": [
            "collections/{section}?page={k}",
            "collections/{section}?page={k}&sort_by=manual",
        ],
        "c {section} {k} by price": ["collections/{section}?page={k}&sort_by=price"],
    },
    "sessions in the path": {
        "d {n}": ["doc/{n}/{now}", "(S({s}))/doc/{n}/{now}", "s/{s}/doc/{n}/{now} @0.5"],
        "b {n} {s} of a visitor": ["(S({s}))/basket/{n}"],
        "b {n}": ["basket/{n}"],
    },
    "partners": {
        "h {n}": [
            "hotel/{n}-{now}",
            "aff/{section}/hotel/{n}-{now}",
            "hotel/{n}-{now}?partner={section}",
            "http://{section}.site.example/hotel/{n}-{now} @0.5",
            "hotel/{n}-{now}/~{tail} @0.5",
        ],
        "h {n} of one partner": ["aff/own/hotel/{n}-{now}", "hotel/{n}-{now}?partner=own"],
    },
    "orders in the path": {
        "l {section} {c} {k}": [
            "list/{section}/{c}/page-{k}/",
            "list/{section}/{c}/sort-new/page-{k}/",
            "list/{section}/{c}/page-{k}/?view=grid @0.5",
        ],
        "l {section} {c} {k} by price": ["list/{section}/{c}/sort-price/page-{k}/"],
        "i {n}": ["item/{n}/{now}", "item/{n} @0.5"],
        "t {n}": [
            "tag/{short}/",
            "tag/{short}/sort-new/",
            "tag/{short}/sort-price/ @0.8",
        ],
    },
    "pages without a translation (trap)": {
        "n {n}": ["{section}/{now}", "fr/{section}/{now} @0.8"],
        "n {n} fr": ["fr/{section}/{now}", "fr/{section}/{now}?share=x"],
    },
}
