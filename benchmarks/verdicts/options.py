"""What each option merges on the generated sites, rightly and wrongly.

An option can decorate the URL of a page, which its right entries undo, and turn it into the URL
of another page, which its wrong entry takes for the same one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from benchmarks.verdicts.movements import token, words

if TYPE_CHECKING:
    from random import Random

CONTENT = ("id", "page", "v", "view")
"""The parameters that select content."""
_ITEM = re.compile(r"/item/[^/]+/(\d+)/")
_CITIES = ("berlin", "london", "paris", "tunis")


@dataclass(frozen=True)
class Address:
    """A URL without its domain."""

    path: str
    params: tuple[tuple[str, str], ...] = ()
    www: bool = True

    @classmethod
    def of(cls, url: str) -> Address:
        """Return the address of *url*."""
        parts = urlsplit(url)
        return cls(
            parts.path,
            tuple(parse_qsl(parts.query, keep_blank_values=True)),
            www=(parts.hostname or "").startswith("www."),
        )

    def url(self, domain: str) -> str:
        """Return the URL on *domain*."""
        query = f"?{urlencode(self.params)}" if self.params else ""
        return f"http://{'www.' * self.www}{domain}{self.path}{query}"

    def plus(self, name: str, value: str) -> Address:
        """Return the address with one more parameter."""
        return replace(self, params=(*self.params, (name, value)))


class Option:
    """An option with right entries and a wrong one."""

    name: str
    right: tuple[str, ...]
    """The right entries."""
    wrong: str
    """The wrong entry."""
    is_either = False
    """Whether it has a single value, which is right on one site and wrong on another."""
    is_whole = False
    """Whether the list as a whole is wrong, because :attr:`wrong` is not on it."""

    def value(self, *, wrong: bool) -> Any:
        """Return the value in a rule: the right entries, and with *wrong* the wrong one too."""
        raise NotImplementedError

    def decorated(self, address: Address, random: Random) -> Address:
        """Return another address of the same page; the same one if there is no other."""
        raise NotImplementedError

    def plain(self, address: Address) -> Address:
        """Undo :meth:`decorated`."""
        raise NotImplementedError

    def twin(self, address: Address, number: int) -> Address | None:
        """Return the address of another page, which the wrong entry merges with *address*."""
        raise NotImplementedError


class DropParams(Option):
    """Session ids and referrers are right; the variant of a product is wrong."""

    name = "drop_params"
    right = ("sid", "ref")
    wrong = "v"

    def value(self, *, wrong: bool) -> Any:
        return [*self.right, self.wrong] if wrong else [*self.right]

    def decorated(self, address: Address, random: Random) -> Address:
        chosen = random.randint(1, 3)
        if chosen & 1:
            address = address.plus("sid", token(random, 8))
        if chosen & 2:
            address = address.plus("ref", words(token(random, 1), 1))
        return address

    def plain(self, address: Address) -> Address:
        kept = tuple(item for item in address.params if item[0] not in self.right)
        return replace(address, params=kept)

    def twin(self, address: Address, number: int) -> Address | None:
        return address.plus("v", str(number + 1))


class DropNoise(DropParams):
    """All of it is right: on this site the variant does not matter."""

    right = (*DropParams.right, DropParams.wrong)

    def decorated(self, address: Address, random: Random) -> Address:
        address = super().decorated(address, random)
        return address.plus(self.wrong, str(random.randrange(1, 4)))

    def twin(self, address: Address, number: int) -> Address | None:
        del address, number
        return None


class KeepParams(Option):
    """Parameters named by numbers are noise; a list without the variant is wrong."""

    name = "keep_params"
    right = ("keep_params",)
    wrong = "v"
    is_whole = True

    def value(self, *, wrong: bool) -> Any:
        return [name for name in CONTENT if not wrong or name != self.wrong]

    def decorated(self, address: Address, random: Random) -> Address:
        return address.plus(str(random.randrange(10**9, 10**10)), "1")

    def plain(self, address: Address) -> Address:
        kept = tuple(item for item in address.params if not item[0].isdecimal())
        return replace(address, params=kept)

    def twin(self, address: Address, number: int) -> Address | None:
        return address.plus("v", str(number + 1))


class DefaultParams(Option):
    """One language is the default; the full view is another page."""

    name = "default_params"
    right = ("lang",)
    wrong = "view"

    def value(self, *, wrong: bool) -> Any:
        return {"lang": "en", **({"view": "full"} if wrong else {})}

    def decorated(self, address: Address, random: Random) -> Address:
        del random
        return address.plus("lang", "en")

    def plain(self, address: Address) -> Address:
        kept = tuple(item for item in address.params if item != ("lang", "en"))
        return replace(address, params=kept)

    def twin(self, address: Address, number: int) -> Address | None:
        return None if number > 1 else address.plus("view", "full")


class RewritePath(Option):
    """A slug may be anything; the city of a branch may not."""

    name = "rewrite_path"
    right = ("/item/{slug}/{id:digits}/",)
    wrong = "/branch/{city}/{id:digits}/"

    def value(self, *, wrong: bool) -> Any:
        pairs = [[self.right[0], "/item/{id}/"], [self.wrong, "/branch/{id}/"]]
        return pairs if wrong else pairs[:1]

    def decorated(self, address: Address, random: Random) -> Address:
        kind, _, number = address.path.strip("/").rpartition("/")
        if kind != "item":
            return address
        slug = words(token(random, 2), 2).replace(" ", "-")
        return replace(address, path=f"/item/{slug}/{number}/")

    def plain(self, address: Address) -> Address:
        return replace(address, path=_ITEM.sub(r"/item/\1/", address.path))

    def twin(self, address: Address, number: int) -> Address | None:
        kind, _, rest = address.path.strip("/").rpartition("/")
        if kind != "branch" or address.params:
            return None
        return replace(address, path=f"/branch/{_CITIES[number]}/{rest}/")


class Www(Option):
    """Both hosts are one site, or two."""

    name = "www"
    right = ("strip",)
    wrong = "strip"
    is_either = True

    def value(self, *, wrong: bool) -> Any:
        del wrong
        return "strip"

    def decorated(self, address: Address, random: Random) -> Address:
        return replace(address, www=random.random() < 0.5)  # noqa: PLR2004

    def plain(self, address: Address) -> Address:
        return replace(address, www=False)

    def twin(self, address: Address, number: int) -> Address | None:
        return None if number > 1 else replace(address, www=True)


class PathCase(Option):
    """The case does not matter, or it does."""

    name = "path_case"
    right = ("lower",)
    wrong = "lower"
    is_either = True

    def value(self, *, wrong: bool) -> Any:
        del wrong
        return "lower"

    def decorated(self, address: Address, random: Random) -> Address:
        change = random.choice((str.upper, str.title))
        return replace(address, path=change(address.path))

    def plain(self, address: Address) -> Address:
        return replace(address, path=address.path.lower())

    def twin(self, address: Address, number: int) -> Address | None:
        return None if number > 1 else replace(address, path=address.path.title())


class DirectoryIndex(Option):
    """One file is the index; another one is a page of its own."""

    name = "directory_index"
    right = ("index.html",)
    wrong = "default.asp"

    def value(self, *, wrong: bool) -> Any:
        return [*self.right, self.wrong] if wrong else [*self.right]

    def decorated(self, address: Address, random: Random) -> Address:
        del random
        is_directory = address.path.endswith("/")
        return replace(address, path=f"{address.path}index.html") if is_directory else address

    def plain(self, address: Address) -> Address:
        return replace(address, path=address.path.removesuffix("index.html"))

    def twin(self, address: Address, number: int) -> Address | None:
        return None if number > 1 else replace(address, path=f"{address.path}default.asp")


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        DropParams(),
        KeepParams(),
        DefaultParams(),
        RewritePath(),
        Www(),
        PathCase(),
        DirectoryIndex(),
    )
}
