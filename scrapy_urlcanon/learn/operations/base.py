"""What a learned rule does to a URL: an option of the rule catalogue, with the setting on trial.

An operation says which option it sets, to what, and where the URLs that it may change are to be
found. What it does to them is done by the option itself, so that a rule does in a crawl what its
trial saw. All that learning asks of an operation is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from scrapy_urlcanon.canonicalizer.canonicalizer import MAX_PASSES
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.learn.location import Location, from_url, host_of, name_of, parts_of, to_url
from scrapy_urlcanon.learn.vocabulary import LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.canonicalizer.rules import Rule
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.learn.location import Origin

_LAYER = Layer("learning")

ANY = "any"
"""The mark that all URLs bear."""

REPEATED = "repeated"
"""The mark of those that have a parameter twice, with one value."""


class Operation(ABC):
    """One option with one setting; operations are compared by their fields, and hashable."""

    option: ClassVar[type[Rule]]
    is_fitted: ClassVar[bool] = False
    """Whether a value, a host or literals were chosen by what was seen. Such a rule pays for it
    with a page, as a parameter of a model does."""
    is_host_wide: ClassVar[bool] = False
    """Whether it makes two whole hosts one, or leaves both."""
    is_for_path: ClassVar[bool] = False
    """Whether it changes the path before templates look at it."""
    is_template: ClassVar[bool] = False
    """Whether it looks at what the options for the path leave."""
    speaks_alone: ClassVar[bool] = False
    """Whether it is the evidence of a candidate, whatever comes with it."""

    @property
    @abstractmethod
    def setting(self) -> object:
        """What stands in a rules file; lists and mappings of several rules unite."""

    @property
    @abstractmethod
    def handle(self) -> str:
        """A mark that every URL bears which the operation changes; see :func:`handles_of`."""

    @property
    def settings(self) -> dict[str, object]:
        """The setting by the name of its option, with those that it comes with."""
        return {self.option.name: self.setting}

    @cached_property
    def rule(self) -> Rule:
        """The option of the catalogue, prepared for the setting."""
        return self.option(
            {
                name: BY_NAME[name].values.merge(None, setting, _LAYER)
                for name, setting in self.settings.items()
            }
        )

    @property
    def is_valid(self) -> bool:
        """Whether the configuration accepts the setting, and takes it for what is meant."""
        return self.option.values.problem(self.setting) is None

    @property
    def drops(self) -> frozenset[str]:
        """Names of the parameters that it drops, as they stand in URLs."""
        return frozenset()

    @property
    def subjects(self) -> frozenset[str]:
        """What it is about: the names of parameters, or else the option that it sets.

        Where two operations share none, other URLs are evidence for each.
        """
        return self.drops or frozenset((self.option.name,))

    @property
    def default(self) -> str | None:
        """The one value with which it drops a parameter; None where any will do."""
        return None

    @property
    def shapes(self) -> tuple[str, str]:
        """The two templates without the classes of their fields; empty where there are none."""
        return "", ""

    @property
    def hosts(self) -> frozenset[str]:
        """The two hosts of which one becomes the other; empty where there are none."""
        return frozenset()

    @property
    def is_for_listings(self) -> bool:
        """Whether it drops the number of a part of a listing, or the order of one.

        Where that makes a difference no change of the page is to blame.
        """
        return False

    def as_seen(self, changed: Iterable[Location]) -> Operation:
        """Return what it may be said to do, of all URLs that it was seen to change."""
        del changed
        return self

    def on_path(self, path: str) -> str:
        """Return what it makes of a path, or of the path of a template."""
        return path

    def after(self, step: Operation) -> Operation:
        """Return what does the same to URLs that a change to the path came before."""
        del step
        return self

    @property
    def numbers(self) -> frozenset[str]:
        """The names of parameters that it leaves out, whatever number they have."""
        return frozenset()

    def left_out(self, location: Location) -> tuple[str, ...]:
        """Return the texts of the path that it leaves out, whatever they are, of a URL.

        In place of what is no name of one of many things, or of one of the parts of what is left,
        and no language, there is nothing.
        """
        del location
        return ()

    def apply(self, location: Location) -> Location:
        """Return the changed URL, or the same object where there is nothing to change.

        As in the canonicalizer, it is applied again until nothing changes any more.
        """
        changed = location
        for _ in range(MAX_PASSES):
            before, changed = changed, self._apply_once(changed)
            if changed is before:
                return changed
        return location

    def change(self, url: Url) -> Url:
        """Return what it makes of a URL at once."""
        return self.rule.apply(url)

    def _apply_once(self, location: Location) -> Location:
        url = to_url(location)
        changed = self.change(url)
        if changed is url or changed == url:
            return location
        new = from_url(changed)
        return location if new == location else new


def apply_all(operations: Iterable[Operation], location: Location) -> Location:
    """Return what the operations, one after the other, make of a URL.

    It is the same object where there is nothing to change.
    """
    for operation in operations:
        location = operation.apply(location)
    return location


def leave_out_one_thing(operations: Iterable[Operation], urls: Sequence[Location]) -> bool:
    """Tell whether the operations leave out one of many things, and no other, of a page's URLs.

    What one revision of a file shows is no evidence that any other one shows the same. Nor are
    languages, however many, since what is not translated now may be tomorrow.
    """
    left_out = (
        {*texts} - {""}
        for step in operations
        for texts in zip(*filter(None, map(step.left_out, urls)), strict=False)
    )
    return any(len(one) == 1 or (one and all(map(LANGUAGE.fullmatch, one))) for one in left_out)


def leaving_out_own_numbers(
    operations: Iterable[Operation], changed: Iterable[Sequence[Location]]
) -> Iterator[int]:
    """Yield of which pages the operations leave out the number of a parameter that is theirs alone.

    Where each title was seen with the number of its last revision, it is the title that seems to
    tell the page. A number that several pages have, such as a place in a list, is none of these,
    nor is one of several that a page has.

    :param changed: the URLs of each page.
    """
    names = frozenset[str]().union(*(step.numbers for step in operations))
    if not names:
        return
    numbers = [
        {param for url in urls for param in url.params if name_of(param) in names}
        for urls in changed
    ]
    pages = Counter(chain.from_iterable(numbers))
    for page, of_page in enumerate(numbers):
        times = Counter(map(name_of, of_page))
        if any(pages[number] == 1 == times[name_of(number)] for number in of_page):
            yield page


def handles_of(location: Location) -> Iterator[str]:
    """Yield the marks by which operations find the URLs that they may change.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> sorted(handles_of(locate("http://www.example.com/a/?b=1")))
    ['/', '/a/', '2 segments', '?b', 'any', 'http', 'www', 'www.example.com']
    """
    origin, path, params = location
    yield from handles_of_origin(origin)
    yield from handles_of_params(params)
    yield from handles_of_path(path)


def handles_of_origin(origin: Origin) -> Iterator[str]:
    """Yield those of them that URLs have for their origin."""
    host = host_of(origin)
    yield ANY
    yield host
    if origin.host != host:
        yield origin.host
    yield origin.scheme
    if host.startswith("www"):
        yield "www"


def handles_of_params(params: tuple[str, ...]) -> Iterator[str]:
    """Yield those that they have for their parameters."""
    for param in params:
        yield "?" + name_of(param)
    if len(params) > 1 and len(set(params)) < len(params):
        yield REPEATED


def handles_of_path(path: str) -> Iterator[str]:
    """Yield those that they have for their path."""
    path, _ = parts_of(path)
    yield "/" + path.rpartition("/")[2]
    yield path[: path.find("/", 1) + 1]
    yield f"{path.count('/')} segments"
    if "//" in path:
        yield "//"
    if path != path.lower():
        yield "upper case"
    if ";" in path:
        yield ";"
