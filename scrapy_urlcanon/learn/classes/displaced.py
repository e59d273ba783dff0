"""What is shown where a URL of a class should have its other one."""

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
    """Return what tells which pages were seen where a URL of a class should have its other one.

    That place is told from the URL, as the same without a parameter. Else the URL is told from the
    place: of ``/article/7`` nothing says that it is ``/user/3/article/7``, whose class says so.

    :param pages: of each page of the class its URLs there, and others, at least one.
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
            # What else leads back is no such place: `/7/reviews` is not where `/7?print` is found.
            found = {*groups.pages_of(url)}
        else:
            found = led.get(one, set())
        return found - {NO_EVIDENCE}

    return shown
