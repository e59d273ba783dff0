"""Parts of synthetic sites with several URLs for a page: by host, prefix, suffix or slug.

Each is drawn either as what it looks like or as a trap: a mirror that is a site of its own,
users with other pages on their subdomain than in the path, a print prefix with other pages,
slugs that matter, a parameter of content among made-up names.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS = ("alder", "birch", "cedar", "elder", "hazel", "rowan", "willow", "yew tree", "plum", "oak")


class Place(NamedTuple):
    """A URL without its noise, and the truth about it."""

    host: str
    path: str
    params: list[tuple[str, object]]
    page: str
    content: str


class Places:
    """The parts of a site beside its articles and listings, drawn from its seed."""

    def __init__(self, seed: int, host: str, pages: int) -> None:
        draw = Random(f"places {seed}")
        self._seed, self._host, self._pages = seed, host, pages
        self._mirror = draw.choice(["same", "other", "", ""])
        self._users = draw.choice(["moved", "other", "", ""])
        self._www = draw.choice(["", "www."])
        self._prefix = draw.choice(["same", "other", "", ""])
        self._prefix_name = draw.choice(["print", "amp", "text-only"])
        self._suffix = draw.choice(["same", "other", "", ""])
        self._suffix_name = draw.choice(["/print", ".html.bak", "/amp"])
        self._news = draw.choice(["free", "matters", "", ""])
        self._news_shape = draw.choice(["/news/{n}/{s}", "/news/{n}-{s}", "/news/{s}-{n}.html"])
        self._made_up = draw.choice(["noise", "content", "", ""])
        self._rare_name = draw.choice(["edition", "color", "part"])
        self.kinds: list[Callable[[Random], Place]] = [
            kind
            for kind, drawn in (
                (self._mirrored, self._mirror),
                (self._user, self._users),
                (self._printed, self._prefix),
                (self._suffixed, self._suffix),
                (self._reported, self._news),
                (self._looked_up, self._made_up),
            )
            if drawn
        ]

    def _mirrored(self, draw: Random) -> Place:
        """Draw a mirror; or a host with the same legal notices and pages of its own."""
        elsewhere = draw.random() < 0.5  # noqa: PLR2004
        host = f"{'mirror.' if elsewhere else ''}{self._host}"
        if draw.random() < 0.15:  # noqa: PLR2004
            page = content = f"notice {draw.randrange(12)}"
            path = f"/legal/{page.replace(' ', '-')}"
            page += " mirror" if elsewhere and self._mirror == "other" else ""
        else:
            page = content = f"manual {draw.randrange(self._pages)}"
            path = f"/manual/{page.replace(' ', '-')}"
            if elsewhere and self._mirror == "other":
                page = content = f"{page} of the other"
        return Place(host, path, [], page, content)

    def _user(self, draw: Random) -> Place:
        """Draw a user, who has moved from a path to a subdomain, or has something else there."""
        user, number = f"user{draw.randrange(12)}", draw.randrange(12)
        page = f"{user} {number}"
        if draw.random() < 0.5:  # noqa: PLR2004
            return Place(f"{self._www}{self._host}", f"/{user}/at/{number}", [], page, page)
        content = page
        if self._users == "other":
            page += " shop"
            # The page about the user is the same: that alone says nothing.
            content = page if number else content
        return Place(f"{user}.{self._host}", f"/at/{number}", [], page, content)

    def _document(self, draw: Random) -> tuple[str, str]:
        number = draw.randrange(self._pages)
        depth = Random(f"{self._seed} depth {number}").randrange(1, 4)
        path = "/".join(["guide", *_WORDS[:depth], f"step{number}"]).replace(" ", "-")
        return f"/{path}", f"step {number}"

    @staticmethod
    def _summed_up(page: str, kind: str) -> tuple[str, str]:
        """Return page and content of another form of a page: the same, or a summary."""
        if kind == "same":
            return page, page
        return f"{page} summary", page if page.endswith("7") else f"{page} summary"

    def _printed(self, draw: Random) -> Place:
        """Draw a document, without or with the prefix."""
        path, page = self._document(draw)
        content = page
        if draw.random() < 0.5:  # noqa: PLR2004
            path = f"/{self._prefix_name}{path}"
            page, content = self._summed_up(page, self._prefix)
        return Place(self._host, path, [], page, content)

    def _suffixed(self, draw: Random) -> Place:
        """Draw a document, without or with the suffix."""
        path, page = self._document(draw)
        path, page = path.replace("/guide", "/help"), f"help {page}"
        path += ".html" if self._suffix_name.startswith(".html") else ""
        content = page
        if draw.random() < 0.5:  # noqa: PLR2004
            path = path.removesuffix(".html") + self._suffix_name
            page, content = self._summed_up(page, self._suffix)
        return Place(self._host, path, [], page, content)

    def _reported(self, draw: Random) -> Place:
        """Draw a report under any title that it ever had, or a chapter that the title selects."""
        number = draw.randrange(self._pages)
        slug = " ".join(draw.sample(_WORDS, 2)).replace(" ", "-")
        page = f"news {number}" + ("" if self._news == "free" else f" {slug}")
        return Place(self._host, self._news_shape.format(n=number, s=slug), [], page, page)

    def _looked_up(self, draw: Random) -> Place:
        """Draw an entry with a cache-busting time as a parameter name; a few have editions."""
        number = draw.randrange(25)
        params: list[tuple[str, object]] = [("entry", number)]
        page = f"entry {number}"
        if self._made_up == "content" and draw.random() < 0.05:  # noqa: PLR2004
            edition = draw.randrange(9)
            params.append((self._rare_name, edition))
            page += f" edition {edition}"
        elif draw.random() < 0.6:  # noqa: PLR2004
            params.append((f"{draw.getrandbits(40)}", ""))
        return Place(self._host, "/lookup", params, page, page)
