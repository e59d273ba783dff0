"""Parts of pages: names, texts, links, tables and lists."""

from __future__ import annotations

from functools import cache
from html import escape
from itertools import accumulate
from math import exp
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from benchmarks.programs.content import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Pages: TypeAlias = "Callable[[list[str], Mapping[str, str]], str | None]"
"""Returns the page at these segments of a path, with this query; None if there is none."""
Links: TypeAlias = "Iterable[tuple[str, str]]"

T = TypeVar("T")

_WORDS: Final = Writer(5).names(6000)
_WEIGHTS: Final = list(accumulate(1 / (rank + 3) for rank in range(len(_WORDS))))
_LONGEST: Final = 2000


def random_of(*of: object) -> Random:
    return Random(" ".join(map(str, of)))


def chance(random: Random, share: float) -> bool:
    """Return True in this *share* of all sites."""
    return random.random() < share


def words(random: Random, count: int) -> str:
    return " ".join(random.choices(_WORDS, cum_weights=_WEIGHTS, k=count))


@cache
def name_of(*of: object, count: int = 2) -> str:
    return words(random_of("name", *of), count).title()


def slug_of(*of: object) -> str:
    return name_of(*of).lower().replace(" ", "-")


@cache
def text_of(*of: object, median: float = 120, spread: float = 0.9) -> str:
    """Return unique paragraphs. The median of such texts is *median* words; few are very long."""
    random = random_of("text", *of)
    left = max(3, min(_LONGEST, round(median * exp(random.gauss(0, spread)))))
    paragraphs = []
    while left > 0:
        count = min(left, random.randint(15, 60))
        paragraphs.append(f"<p>{words(random, count).capitalize()}.</p>")
        left -= count
    return "".join(paragraphs)


def plain(html: str) -> str:
    return f"<pre>{html.replace('<p>', '').replace('</p>', chr(10))}</pre>"


def link(url: str, text: str) -> str:
    return f'<a href="{escape(url)}">{text}</a>'


def list_of(links: Links) -> str:
    return f"<ul>{''.join(f'<li>{link(*each)}</li>' for each in links)}</ul>"


def table(rows: Iterable[Sequence[str]]) -> str:
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def page_of(title: str, *parts: str, menu: Links = ()) -> str:
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><nav>{list_of(menu)}</nav>"
        f"<h1>{title}</h1>{''.join(parts)}<footer><p>All that is here was made up.</p></footer>"
        "</body></html>"
    )


def number_of(query: Mapping[str, str], name: str, default: int = 1) -> int:
    text = query.get(name, "")
    return int(text) if text.isdecimal() else default


def pager(count: int, size: int, url: Callable[[int], str]) -> str:
    """Return links to all pages of a list, with *size* entries a page."""
    pages = range(1, -(-count // size) + 1)
    return list_of((url(page), str(page)) for page in pages)


def part(all_: Sequence[T], page: int, size: int) -> Sequence[T]:
    return all_[(page - 1) * size : page * size]
