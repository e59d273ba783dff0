"""The base class of operations: an option of the rule catalogue with a setting to try.

An operation names the option that it sets, its value, and how to find the URLs that it may change.
The option itself changes them, so a rule does in a crawl what it did in its trial. All that the
learner asks of an operation is here.
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
"""The mark that all URLs have."""

REPEATED = "repeated"
"""The mark of URLs that have a parameter twice with the same value."""


class Operation(ABC):
    """One option with one setting; operations are compared by their fields, and hashable."""

    option: ClassVar[type[Rule]]
    is_fitted: ClassVar[bool] = False
    """Whether a value, a host or literals were fitted to the observations. Such a rule needs a page
    more, as a fitted parameter of a model costs a degree of freedom."""
    is_host_wide: ClassVar[bool] = False
    """Whether it makes two whole hosts one."""
    is_for_path: ClassVar[bool] = False
    """Whether it changes the path before templates look at it."""
    is_template: ClassVar[bool] = False
    """Whether it is a template, which works on what the options for the path leave."""
    speaks_alone: ClassVar[bool] = False
    """Whether it alone is what a candidate is judged by, whatever steps come with it."""

    @property
    @abstractmethod
    def setting(self) -> object:
        """The value for a rules file; lists and mappings of several rules unite."""

    @property
    @abstractmethod
    def handle(self) -> str:
        """A mark of all URLs that the operation changes (:func:`handles_of`)."""

    @property
    def settings(self) -> dict[str, object]:
        """The setting by the name of its option, with other settings that it needs."""
        return {self.option.name: self.setting}

    @cached_property
    def rule(self) -> Rule:
        """The rule object of the option, made for the setting."""
        return self.option(
            {
                name: BY_NAME[name].values.merge(None, setting, _LAYER)
                for name, setting in self.settings.items()
            }
        )

    @property
    def is_valid(self) -> bool:
        """Whether a configuration accepts the setting and understands it as it is meant."""
        return self.option.values.problem(self.setting) is None

    @property
    def drops(self) -> frozenset[str]:
        """The names of the parameters that it drops, as spelled in URLs."""
        return frozenset()

    @property
    def subjects(self) -> frozenset[str]:
        """What it is about: the names of parameters, or else the option that it sets.

        Two operations without a common subject have independent evidence.
        """
        return self.drops or frozenset((self.option.name,))

    @property
    def default(self) -> str | None:
        """The one value with which it drops a parameter; None if it does with any."""
        return None

    @property
    def shapes(self) -> tuple[str, str]:
        """The two templates without the classes of their fields; empty if it is no template."""
        return "", ""

    @property
    def hosts(self) -> frozenset[str]:
        """The two hosts of which one becomes the other; empty for other operations."""
        return frozenset()

    @property
    def is_for_listings(self) -> bool:
        """Whether it drops the number of a part of a listing, or its sort order.

        A difference that this makes is not put down to a change of the page.
        """
        return False

    def as_seen(self, changed: Iterable[Location]) -> Operation:
        """Return the narrowest operation that does the same to the URLs that it has *changed*."""
        del changed
        return self

    def on_path(self, path: str) -> str:
        """Return the changed path of a URL or of a template."""
        return path

    def after(self, step: Operation) -> Operation:
        """Return the operation that does the same to URLs after *step* has changed their path."""
        del step
        return self

    @property
    def numbers(self) -> frozenset[str]:
        """The names of parameters that it leaves out with any number."""
        return frozenset()

    def left_out(self, location: Location) -> tuple[str, ...]:
        """Return the texts that it leaves out of the path of a URL.

        Only identifiers, numbers of parts and languages count; other texts are empty in the result.
        """
        del location
        return ()

    def apply(self, location: Location) -> Location:
        """Return the changed URL, or the same object if there is nothing to change.

        As in the canonicalizer, it is applied until nothing changes.
        """
        changed = location
        for _ in range(MAX_PASSES):
            before, changed = changed, self._apply_once(changed)
            if changed is before:
                return changed
        return location

    def change(self, url: Url) -> Url:
        """Return what it makes of a URL when it is applied once."""
        return self.rule.apply(url)

    def _apply_once(self, location: Location) -> Location:
        url = to_url(location)
        changed = self.change(url)
        if changed is url or changed == url:
            return location
        new = from_url(changed)
        return location if new == location else new


def apply_all(operations: Iterable[Operation], location: Location) -> Location:
    """Apply the operations to a URL, one after the other.

    The result is the same object if there is nothing to change.
    """
    for operation in operations:
        location = operation.apply(location)
    return location


def leave_out_one_thing(operations: Iterable[Operation], urls: Sequence[Location]) -> bool:
    """Tell whether the operations leave one identifier, and no other, out of a page's URLs.

    The page then shows one revision of a file, say, which is no evidence that other revisions show
    the same. Languages count as one however many there are: what is not translated now may be
    tomorrow.
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
    """Yield the pages from whose URLs the operations leave out a number that only this page has.

    If each title was seen with the number of its last revision only, the title seems to tell the
    page, though the number does. A number that several pages have, such as a place in a list, does
    not count, nor does one of several numbers of a page.

    :param changed: by page, its URLs.
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
    """Yield the marks that URLs have because of their origin."""
    host = host_of(origin)
    yield ANY
    yield host
    if origin.host != host:
        yield origin.host
    yield origin.scheme
    if host.startswith("www"):
        yield "www"


def handles_of_params(params: tuple[str, ...]) -> Iterator[str]:
    """Yield the marks that URLs have because of their parameters."""
    for param in params:
        yield "?" + name_of(param)
    if len(params) > 1 and len(set(params)) < len(params):
        yield REPEATED


def handles_of_path(path: str) -> Iterator[str]:
    """Yield the marks that URLs have because of their path."""
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
