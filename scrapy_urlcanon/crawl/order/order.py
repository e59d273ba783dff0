"""Learns during the crawl which requests bring something new, and predicts that for the others."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary, ref

from attrs import define, field
from scrapy.exceptions import IgnoreRequest

from scrapy_urlcanon.crawl.answers import GONE, is_error, is_refusal, location_of
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.order.fields import Fields
from scrapy_urlcanon.crawl.order.lane import Turn
from scrapy_urlcanon.crawl.order.links import OF_SECTIONS, Links, Questions, trust
from scrapy_urlcanon.crawl.order.sent import url_with_fields
from scrapy_urlcanon.crawl.order.suspicions import SUSPECTED, Suspicions
from scrapy_urlcanon.crawl.order.turns import USUAL, Turns
from scrapy_urlcanon.crawl.order.worth import NewItems, Output, Scaled
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import AUDIT, mark_of, retries_of
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.crawl.settings import TEXT
from scrapy_urlcanon.novelty.echoes import text_without_echoes, without_echoes
from scrapy_urlcanon.novelty.features import Features, Standing, UrlFeatures, feature_of
from scrapy_urlcanon.novelty.frames import Frames
from scrapy_urlcanon.novelty.inner_loops import split_url
from scrapy_urlcanon.novelty.model import OnlineModel
from scrapy_urlcanon.novelty.news import News, SeenLines, Usual
from scrapy_urlcanon.novelty.rehearsal import Rehearsal
from scrapy_urlcanon.novelty.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy import Request
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.settings import CrawlSettings

_QUALITIES: Final = (0.05, 0.3)
_LEADS: Final = 5
"""What a page leads to is judged by this many of its links, the best ones."""
_WAITING_PAGES: Final = 8
"""After this many further pages the model learns what a page led to. With 32, the first tenth of a
crawl went to lists that were only known to lead to as many lists again."""
_SUSPICION: Final = -2.0
"""The initial weight, in logits, of the feature that a rule usual for the recognised program would
merge the URL."""
_LONGER: Final = 0.3
"""The initial weight, in logits, of each step in how many places of a page are linked."""
_NONE: Final = News(0, 0, 0.0)
_MAX_SLOTS: Final = 100_000
_MAX_IN_FLIGHT: Final = 10_000
_MAX_FOUND: Final = 100_000
_NAMING: Final = frozenset(
    {b"origin-when-cross-origin", b"same-origin", b"strict-origin-when-cross-origin"}
)
"""Values of ``Referrer-Policy`` with which requests within a site still name the linking page in
full (https://www.w3.org/TR/referrer-policy/)."""


@define(eq=False)
class Taken:
    """A request that was taken from the queue and is on its way."""

    url: str
    features: Features
    slot: str
    priority: int
    """The priority that the spider gave it."""
    linked_by: str
    """The URL of the page that links it, or empty if unknown."""
    expected: float
    turn: Turn
    """The rule that selected it. All rules but the best ignore what was expected."""
    asked: str
    """Its URL, with the fields that it sends."""
    goes_on: bool = False
    """Whether it was redirected and the request for the target waits."""


@define(eq=False)
class Fetched:
    """A fetched page."""

    taken: Taken
    hops: list[Taken]
    """The requests that were redirected to it."""
    news: News
    cost: int = 1
    """How many fetches it took, including redirects and retries."""
    links: Links | None = None
    is_named: bool = True
    """Whether requests for its links name it in ``Referer``."""
    leads: Counter[bytes] = field(factory=Counter)
    """How many of the requests that it links have which features."""
    output: Output | None = None
    """Collects its items, if its worth depends on them; None once the callback is done."""
    quality: str = field(init=False)
    """How much news it brought, as a feature of its links."""
    standing: Standing = field(init=False)

    @standing.default
    def _standing(self) -> Standing:
        return Standing(self.taken.asked)

    @quality.default
    def _quality(self) -> str:
        return f"from {sum(self.news.share > bound for bound in _QUALITIES)}"


@define
class Outcome:
    """The result of a request that was taken."""

    taken: Taken
    first: Taken
    """The first request of its chain of redirects, or itself."""
    news: News = _NONE
    came: float = 0.0
    """Its worth, from 0 to 1."""
    has_news: bool = False
    status: int = HTTPStatus.OK
    """The status of the response."""

    @property
    def is_shown(self) -> bool:
        """Whether the server showed what is there, or that nothing is."""
        return self.status < HTTPStatus.BAD_REQUEST or self.status in GONE

    @property
    def has_server_failed(self) -> bool:
        """Whether the server had an error of its own, which says nothing about what is there."""
        return self.status >= HTTPStatus.INTERNAL_SERVER_ERROR

    @property
    def is_drawn(self) -> bool:
        """Whether the first request was drawn at random."""
        return self.first.turn is Turn.DRAWN


class Order:
    """Predicts what each request will bring, and learns from what it brought.

    It is told of each request three times: when it begins to wait (:meth:`features`), when it is
    taken from the queue (:meth:`taken`), and when it has a result (:meth:`fetched`,
    :meth:`failed`).

    :param on_outcome: called with each result.
    :param is_under_way: tells whether a request that was taken has no result yet.
    :param are_named: whether requests name the page that links them (``Referer``), unless the site
        forbids it.
    """

    def __init__(
        self,
        settings: CrawlSettings,
        on_outcome: Callable[[Outcome], None],
        is_under_way: Callable[[Request], bool],
        *,
        are_named: bool,
    ) -> None:
        self._on_outcome = on_outcome
        self._is_under_way = is_under_way
        self._are_named = are_named
        self._url_features = UrlFeatures()
        # A page about which nothing is known is expected to be a usual one. With twice as much,
        # each unknown kind was tried before the kinds that were known to be usual.
        self._news = OnlineModel(USUAL)
        self._news.weights[feature_of(SUSPECTED)] = _SUSPICION
        for step, feature in enumerate(OF_SECTIONS, start=1):
            self._news.weights[feature_of(feature)] = _LONGER * step
        self._leads = OnlineModel(USUAL)
        self._news_taught, self._leads_taught = Rehearsal(self._news), Rehearsal(self._leads)
        self.suspicions = Suspicions()
        self._lines = SeenLines(settings.order_lines)
        self._frames = Frames()
        # Only if needed: finding the runs of words in a page of 30 kB takes some 0.15 ms.
        self._runs = Runs() if settings.stop and settings.order_by == TEXT else None
        self._questions = Questions() if self._runs else None
        self._usual = Usual()
        self._value: Callable[[Response, Sequence[Any]], float] | None = None
        if settings.order_by == "items":
            self._value = NewItems()
        elif callable(settings.order_by):
            self._value = Scaled(settings.order_by)
        self._turns: BoundedMapping[str, Turns] = BoundedMapping(_MAX_SLOTS)
        self._taken: WeakKeyDictionary[Request, Taken] = WeakKeyDictionary()
        # By URL, for redirects, which are other objects.
        self._in_flight: BoundedMapping[str, Taken] = BoundedMapping(_MAX_IN_FLIGHT)
        # By URL: the linking page, for requests without a Referer and for redirect targets.
        self._found_on: BoundedMapping[str, str] = BoundedMapping(_MAX_FOUND)
        self._redirected: list[tuple[Request, Taken]] = []
        self._fetched: WeakKeyDictionary[Request, Fetched] = WeakKeyDictionary()
        # Not a WeakKeyDictionary, which takes several times as long for each link.
        self._linked_by: dict[ref[Request], Fetched] = {}
        self._forget = self._linked_by.pop
        self._young: deque[Fetched] = deque()
        # The share of recent pages in which nearly all is new.
        self._all_new = 0.0

    @property
    def is_of_no_use(self) -> bool:
        """Whether nearly every page is all new, so that no order is better than another."""
        return self._all_new > 0.97  # noqa: PLR2004

    def features(self, request: Request) -> Features:
        """Return the features of *request*, which begins to wait."""
        page = self._linked_by.pop(ref(request), None)
        url = request.url
        if "redirect_urls" in request.meta:
            for source in sources_of(request)[-1:]:
                if taken := self._in_flight.get(source):
                    taken.goes_on = True
                    self._found_on[url] = taken.linked_by
        suspected = self.suspicions.of(url)
        if page is None or page.links is None:
            return self._url_features.of(url_with_fields(request), ("no link", *suspected))
        split = split_url(url_with_fields(request))
        context = (*page.links.context(url), page.standing.of(*split), page.quality, *suspected)
        features = self._url_features.of_split(*split, context, page.taken.features.coarse)
        page.leads[features.all] += 1
        if not page.is_named:
            self._found_on[url] = page.taken.url
        return features

    def count_on(self, kinds: Sequence[bytes]) -> tuple[list[float], list[float]]:
        """Return cautious predictions of news, and of what a page leads to, for each of *kinds*.

        :param kinds: for each kind of request, the features that its requests share.
        """
        return self._news.count_on(kinds), self._leads.count_on(kinds)

    def doubts(self, kinds: Sequence[bytes]) -> list[float]:
        """Return for each of *kinds* how uncertain its prediction is, from 0 to 1."""
        return self._news.doubts(kinds)

    def turn(self, name: str) -> Turn:
        """Return the rule that selects the next request of the slot *name*."""
        if self.is_of_no_use:
            return Turn.OLDEST
        turns = self._turns.get(name)
        return turns.current if turns else Turn.OLDEST

    def taken(
        self, request: Request, name: str, priority: int, features: Features, turn: Turn
    ) -> None:
        """Note that *request* of the slot *name* was selected by *turn*, and is fetched next.

        :param priority: the priority that the spider gave it.
        """
        turns = self._turns.get(name)
        if turns is None:
            turns = self._turns[name] = Turns()
        turns.take(turn)
        expected = self._news.expect(features.all)
        url = request.url
        # Not by the identity of the object, which may have waited on the disk.
        referrer = (request.headers.get("Referer") or b"").decode("utf-8", errors="replace")
        linked_by = self._found_on.pop(url) or referrer
        asked = url_with_fields(request)
        taken = Taken(url, features, name, priority, linked_by, expected, turn, asked)
        self._taken[request] = self._in_flight[url] = taken
        if self._redirected:
            self._end_redirects()

    def response_downloaded(self, request: Request, response: Response) -> None:
        """Note that *response* redirects *request*, if it does."""
        taken = self._taken.get(request)
        if taken and location_of(response):
            self._redirected.append((request, taken))

    def fetched(self, request: Request, response: Response) -> None:
        """Learn from the *response* to *request*, which no redirect or retry follows."""
        taken = self._answered(request)
        hops = self._hops(sources_of(request))
        if taken is None or mark_of(request, AUDIT):
            return
        news = _NONE
        has_failed = is_error(response)
        if has_failed and is_refusal(response):
            # It cost a fetch but does not show what is there: it counts neither for a trap nor for
            # the end.
            self._learn([taken, *hops], 0.0)
            return
        if not has_failed:
            news = self._read(response)
        page = Fetched(taken, hops, news)
        page.cost = 1 + len(hops) + retries_of(request)
        self._fetched[request] = page
        self._young.append(page)
        if len(self._young) > _WAITING_PAGES:
            old = self._young.popleft()
            self._teach(self._leads_taught, old.taken, self._lead(old))
        if has_failed or self._value is None:
            usual = (self._turns.get(taken.slot) or Turns()).usual
            has_news = self._has_news(usual, response, news)
            usual.amount(news.worth)
            amount = self._usual.amount(news.worth)
            came = amount * trust(response) if amount else 0.0
            self._came(page, came, has_news=has_news, status=response.status)

    def _answered(self, request: Request) -> Taken | None:
        """Return *request* as it was taken; others may be on their way to the same URL."""
        taken = self._taken.pop(request, None)
        if taken is self._in_flight.get(request.url):
            self._in_flight.pop(request.url)
        return taken

    def output_of(self, response: Response) -> Output | None:
        """Return a collector for the spider's output for *response*, if that is a page."""
        page = self._fetched.get(response.request) if response.request else None
        if page is None or response.request is None:
            return None
        value = self._value
        page.links = Links(response)
        policy = response.headers.get("Referrer-Policy")
        page.is_named = self._are_named and (policy is None or policy.strip().lower() in _NAMING)
        linked_by, forget = self._linked_by, self._forget

        def linked(request: Request) -> None:
            linked_by[ref(request, forget)] = page

        def done(items: Sequence[Any]) -> None:
            page.output = None
            if value:
                came = min(1.0, value(response, items))
                self._came(page, came, has_news=came > 0)

        output = Output(linked, done)
        if value:
            page.output = output
        return output

    def callback_failed(self, response: Response) -> None:
        """Learn the worth of *response* from the items that came before its callback raised."""
        page = self._fetched.get(response.request) if response.request else None
        if page and page.links is None and self._value:
            # It raised before it yielded anything.
            self.output_of(response)
        if page and page.output:
            page.output.end()

    def _came(
        self, page: Fetched, came: float, *, has_news: bool, status: int = HTTPStatus.OK
    ) -> None:
        """Learn what *page* is worth."""
        self._learn([page.taken, *page.hops], came / page.cost)
        self._all_new += (float(page.news.share > 0.9) - self._all_new) / 100  # noqa: PLR2004
        taken = page.taken
        if turns := self._turns.get(taken.slot):
            turns.came(taken.turn, came)
        first = page.hops[0] if page.hops else taken
        self._on_outcome(Outcome(taken, first, page.news, came, has_news, status))

    def _lead(self, page: Fetched) -> float:
        """Return how good the links of *page* are, from 0 to 1, by present predictions.

        When the links were found, nothing may have been known about them.
        """
        best: list[float] = []
        for features, count in page.leads.items():
            best += [self._news.expect(features)] * min(count, _LEADS)
        return sum(sorted(best, reverse=True)[:_LEADS]) / _LEADS

    def failed(self, request: Request, exception: Exception) -> None:
        """Learn that *request* brought nothing, if it was sent at all."""
        taken = self._answered(request)
        hops = self._hops(sources_of(request))
        if isinstance(exception, IgnoreRequest):
            self._led_nowhere(hops)
        else:
            # It cost a fetch, but says nothing about what is there.
            self._learn([taken, *hops] if taken else hops, 0.0)

    def request_dropped(self, request: Request) -> None:
        """Learn that a redirect led to a page that was fetched before."""
        if "redirect_urls" in request.meta:
            self._led_nowhere(self._hops(sources_of(request)))

    def dropped(self, drop: Drop) -> None:
        """Learn that a redirect led to *drop*."""
        self.request_dropped(drop.request)

    def state(self) -> dict[str, Any]:
        """Return what was learned, as arrays by name."""
        return {
            "news": array("f", self._news.weights),
            "news known": array("f", self._news.known),
            "leads": array("f", self._leads.weights),
            "leads known": array("f", self._leads.known),
            "counts": self._url_features.counts,
            "numbers": self._url_features.identifiers.tags,
            "lines": self._lines.places,
            "line counts": self._lines.counts,
            "usual": array("d", (self._usual.mean, self._usual.weight)),
        }

    def restore(self, state: dict[str, bytes]) -> None:
        """Restore what :meth:`state` returned, given as bytes.

        :raises ValueError: if it has other sizes.
        """
        sizes = {name: len(bytes(values)) for name, values in self.state().items()}
        if {name: len(values) for name, values in state.items()} != sizes:
            raise ValueError("it is of other sizes, as with another URLCANON_ORDER_LINES")
        for name, model in (("news", self._news), ("leads", self._leads)):
            model.weights[:] = array("d", array("f", state[name]))
            model.known[:] = array("d", array("f", state[f"{name} known"]))
        self._url_features.counts[:] = state["counts"]
        self._url_features.identifiers.tags[:] = state["numbers"]
        self._lines.places[:] = array("I", state["lines"])
        self._lines.counts[:] = state["line counts"]
        self._usual.mean, self._usual.weight = array("d", state["usual"])

    def _read(self, response: Response) -> News:
        page = page_of(response)
        if page.is_text or not response.body:
            seen = self._lines
            asked = self._questions.of(response) if self._questions else ()
            lines, repeating = without_echoes(response.url, page, seen.is_known, asked)
            fields = Fields(response)
            news = seen.news(fields.apart(lines, seen.is_known))
            news = fields.weighed(news, page.lines.columns[2])
            seen.news(repeating)
            if not self._runs or not news.lines:
                return news
            # A site may generate endless pages from parts of others. They would seem new, and the
            # crawl would not end while there are more.
            texts = page.lower.split(b"\n")
            return news.without_common(self._runs.own_shares, texts, page.lines.columns[2])
        # An image or an archive: other bytes are weak evidence of other content.
        return self._lines.news_of_bytes(response.body)

    def _has_news(self, usual: Usual, response: Response, news: News) -> bool:
        """Tell whether a page has news, by the parts of its lines that others do not share.

        Only if the result depends on it, since comparing how lines begin and end is slow.
        """
        if not usual.is_much(news):
            return False
        if not news.lines or not usual.may_be_little(news.worth):
            return True
        page = page_of(response)
        texts = text_without_echoes(response.url, page.lower).split(b"\n")
        shares = self._frames.own_shares
        return usual.is_much(news.without_common(shares, texts, page.lines.columns[2]))

    def _end_redirects(self) -> None:
        """Learn that the targets of some redirects are not fetched.

        If another component refuses the target, as the offsite middleware does, no signal is sent
        (Scrapy 2.19, ``core/engine.py``, ``_schedule_request``).
        """
        redirected, self._redirected = self._redirected, []
        for request, taken in redirected:
            if taken.goes_on or self._in_flight.get(taken.url) is not taken:
                continue
            if self._is_under_way(request):
                self._redirected.append((request, taken))
            else:
                self._led_nowhere(self._hops([*sources_of(request), taken.url]))

    def _led_nowhere(self, hops: list[Taken]) -> None:
        """Learn that a chain of redirects, *hops*, ended in a URL that is not fetched.

        It counts as a fetch that brought nothing. Otherwise a crawl that has only such requests
        left would not end.
        """
        if not hops:
            return
        self._learn(hops, 0.0)
        if turns := self._turns.get(hops[0].slot):
            turns.came(hops[0].turn, 0.0)
        self._on_outcome(Outcome(hops[-1], hops[0]))

    def _hops(self, urls: Sequence[str]) -> list[Taken]:
        """Return the requests that were taken for *urls*, from which redirects led on."""
        found = map(self._in_flight.pop, urls)
        return [taken for taken in found if taken]

    def _learn(self, taken: list[Taken], share: float) -> None:
        for each in taken:
            self._teach(self._news_taught, each, share)

    def _teach(self, taught: Rehearsal, taken: Taken, share: float) -> None:
        """Let a model learn what came of *taken*.

        The request has the features that its URL had when it began to wait, as those that have
        waited since. Later requests have other features, once texts in their URLs have become
        frequent. So the model also learns with the features that the URL would have now; otherwise
        the first pages of a kind would teach nothing about later ones.
        """
        features = taken.features
        taught.learn(features, share, self._url_features.renewed(taken.asked, features))
