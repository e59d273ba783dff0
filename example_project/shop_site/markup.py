"""How a page of the shop is put together, and how it links to others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from shop_site.stock import LANGUAGES

if TYPE_CHECKING:
    from loopback import Request

HOST, BARE_HOST = "www.shop.example", "shop.example"
_ORIGIN = re.compile(r"^https?://[^/]+")

WORDS = {
    "en": {
        "home": "Home",
        "new": "New arrivals",
        "forum": "Forum",
        "print": "Print view",
        "full": "Full page",
        "related": "Goes well with",
        "share": "Share",
        "discuss": "What customers say",
        "sort": "Sort by",
        "price": "price",
        "name": "name",
        "page": "Page",
        "offers": "Offers of the week",
    },
    "de": {
        "home": "Startseite",
        "new": "Neu eingetroffen",
        "forum": "Forum",
        "print": "Druckansicht",
        "full": "Ganze Seite",
        "related": "Passt gut zu",
        "share": "Teilen",
        "discuss": "Was Kunden sagen",
        "sort": "Sortieren nach",
        "price": "Preis",
        "name": "Name",
        "page": "Seite",
        "offers": "Angebote der Woche",
    },
}


@dataclass(frozen=True)
class View:
    """A request, read the way the shop reads it."""

    request: Request

    @property
    def path(self) -> str:
        """The path, without ``index.html``."""
        return self.request.path.removesuffix("index.html")

    @property
    def params(self) -> dict[str, str]:
        """The query."""
        return dict(parse_qsl(self.request.query))

    @property
    def language(self) -> str:
        """The language asked for, else English."""
        language = self.params.get("lang")
        return language if language in LANGUAGES else LANGUAGES[0]

    @property
    def printed(self) -> bool:
        """Whether the print view is asked for."""
        return "print" in self.params

    @property
    def words(self) -> dict[str, str]:
        """What the shop calls things in the language of the view."""
        return WORDS[self.language]

    @property
    def local(self) -> bool:
        """Whether a browser has opened the server by its own address."""
        return self.request.host not in {HOST, BARE_HOST}

    def number(self, name: str, default: int) -> int:
        """Return the whole number that the parameter *name* has."""
        value = self.params.get(name, "")
        return int(value) if value.isdecimal() else default

    def link(self, label: str, url: str, **params: object) -> str:
        """Return a link to *url*, which is absolute, or a path on ``www.``."""
        if self.local:
            url = _ORIGIN.sub("", url)
        elif url.startswith("/") and self.request.host != HOST:
            url = f"https://{HOST}{url}"
        query = f"?{urlencode(params)}" if params else ""
        return f'<a href="{escape(url + query)}">{escape(label)}</a>'

    def shop_link(self, label: str, url: str, **params: object) -> str:
        """Return a link to a page in the language of this one."""
        if self.language != LANGUAGES[0]:
            params["lang"] = self.language
        return self.link(label, url, **params)


def listing(items: list[str]) -> str:
    """Return a list."""
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def document(
    view: View,
    page_id: str,
    title: str,
    content: str,
    *,
    header: list[str],
    footer: list[str],
) -> str:
    """Return a whole page: its *content*, with links above and below it.

    The print view has the content only, and a way back.
    """
    selection = {name: value for name, value in view.params.items() if name in {"f", "t", "page"}}
    if view.printed:
        above = ""
        footer = [view.shop_link(view.words["full"], view.path, **selection)]
    else:
        home = view.shop_link(view.words["home"], "/")
        # The start page is linked again, under another name, from every page.
        logo = view.link(BARE_HOST, "/index.html")
        above = f'<header>{logo} {" ".join(header)}</header><p class="path">{home} / {title}</p>'
        footer = [
            view.shop_link(view.words["print"], view.path, **selection, print=1),
            *footer,
            view.shop_link(BARE_HOST, f"https://{BARE_HOST}{view.path}", **selection),
        ]
    return (
        f'<!doctype html><html lang="{view.language}"><head><meta charset="utf-8">'
        f'<meta name="page-id" content="{page_id}"><title>{title}</title>'
        '<link rel="stylesheet" href="/style.css"></head>'
        f"<body>{above}<main><h1>{title}</h1>{content}</main>"
        f"<footer>{' '.join(footer)}</footer></body></html>"
    )
