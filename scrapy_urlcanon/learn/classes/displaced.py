"""Looks at the place where the other URL of a page should be, to see which page is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.classes.derived import follow, way_of_most
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scrapy_urlcanon.learn.classes.members import SkipClass
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location


def shown_in_place(
    pages: Sequence[tuple[Sequence[Location], Sequence[Location]]],
    classes: Iterable[SkipClass],
    groups: Groups,
) -> Callable[[Location], set[int]]:
    """Return a function that tells which pages were seen where another URL should show a page.

    It takes a URL of a class. Where most pages of the class have their other URL is found by
    :func:`.way_of_most`: from the URL, as in the same URL without a parameter, or else back from
    the other URL. ``/article/7`` does not tell ``/user/3/article/7``, but the latter tells the
    former.

    :param pages: for each page of the class, its URLs there and its other URLs, at least one.
    :param classes: the other classes of the site.
    """
    way, back = way_of_most(pages), way_of_most((others, urls) for urls, others in pages)
    places = {other for _, others in pages for other in others}
    led: dict[Location, set[int]] = {}
    for beside in classes:
        if back and not places.isdisjoint(beside.members):
            for url in beside.members:
                led.setdefault(follow(back, url), set()).update(groups.pages_of(url))

    def shown(one: Location) -> set[int]:
        if way and (url := follow(way, one)) in groups.pages:
            # Then ways back do not count: `/7/reviews` leads to `/7`, but does not show `/7?print`.
            found = {*groups.pages_of(url)}
        else:
            found = led.get(one, set())
        return found - {NO_EVIDENCE}

    return shown
