"""Generated sites of common shapes, without traps.

Word frequencies follow Zipf's law, and few pages are very long. Width, depth and the views that
a site links depend on the seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.novelty.shapes import communities, documents, offers
from benchmarks.novelty.sites import Answer, Site

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.novelty.shapes.making import Pages

SHAPES: dict[str, Callable[[int], Pages]] = {
    each.__name__: each
    for each in (
        documents.manual,
        documents.reference,
        documents.library,
        documents.gallery,
        communities.forum,
        communities.wiki,
        communities.questions,
        communities.mails,
        offers.news,
        offers.shop,
        offers.code,
        offers.firm,
    )
}


def site(kind: str, seed: int) -> Site:
    """Return the site of this *kind* with this *seed*."""
    pages = SHAPES[kind](seed)

    def answer(path: str, query: Mapping[str, str]) -> Answer:
        html = pages([each for each in path.split("/") if each], query)
        return Answer("<h1>Not found</h1>", status=404) if html is None else Answer(html)

    return Site(f"{kind}.example", answer, frozenset())
