"""The life of a page: a variant is given up only when its callback has had the page."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from scrapy_urlcanon.crawl.recovery.page_lives import PageLives
from scrapy_urlcanon.crawl.recovery.page_states import DROPPED, LED, TRANSITIONS, Event, Fate, State

PAGE, OTHER = b"page", b"other"


class Fetched:
    """A page's life with the requests that it has sent."""

    def __init__(self, *, refuses=(), **limits):
        self.urls = []
        self.lives = PageLives(self._fetch, **limits)
        self._refuses = refuses

    def _fetch(self, _page, request):
        if request in self._refuses or request in self.urls:
            return False
        self.urls.append(request)
        return True

    def drop(self, url, page=PAGE, callback="parse"):
        return self.lives.dropped(page, callback, url, url)


def test_every_event_leads_somewhere_in_every_state():
    """Every state has a transition for every event."""
    assert set(TRANSITIONS) == set(DROPPED) == set(State)
    assert all(set(row) == set(Event) for row in TRANSITIONS.values())


def test_variant_takes_the_place_of_what_brought_nothing():
    """Variants are sent one after the other until one brings the page; the rest is forgotten."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    assert [crawl.drop(f"/{n}") for n in range(3)] == [Fate.WAITS] * 3
    crawl.lives.ended(PAGE, "parse")
    crawl.lives.ended(PAGE, "parse")
    assert crawl.urls == ["/0", "/1"]
    assert crawl.lives.got(PAGE, "parse")
    assert not crawl.lives.got(PAGE, "parse")
    assert crawl.drop("/3") is Fate.WAITS
    assert list(crawl.lives.waiting) == ["/2", "/3"]
    crawl.lives.confirmed(PAGE, "parse")
    assert list(crawl.lives.waiting) == []
    assert crawl.drop("/4") is Fate.FORGOTTEN


def test_variant_that_the_scheduler_had_before_is_passed_over():
    """A variant that the scheduler refuses is skipped for the next one."""
    crawl = Fetched(refuses={"/0", "/1", "/3"})
    crawl.lives.sent(PAGE, "parse")
    assert [crawl.drop(f"/{n}") for n in range(4)] == [Fate.WAITS] * 4
    crawl.lives.ended(PAGE, "parse")
    assert crawl.urls == ["/2"]
    crawl.lives.ended(PAGE, "parse")
    assert crawl.lives.state(PAGE, "parse") is not State.EXPECTED
    assert list(crawl.lives.waiting) == []


def test_variant_waits_while_the_callback_may_raise():
    """A variant waits while the callback works, also that of a page which redirected there."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    crawl.lives.sent(OTHER, "parse")
    crawl.lives.got(PAGE, "parse")
    assert crawl.drop("/1") is Fate.WAITS
    crawl.lives.redirected(PAGE, "parse", {OTHER: True})
    assert crawl.drop("/other?2", page=OTHER) is Fate.WAITS
    crawl.lives.raised(PAGE, "parse")
    assert crawl.urls == ["/1", "/other?2"]


def test_callback_that_raises_does_not_have_the_page():
    """If the callback raises, the next variant is sent."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    crawl.drop("/1")
    crawl.lives.got(PAGE, "parse")
    crawl.lives.raised(PAGE, "parse")
    assert crawl.urls == ["/1"]
    crawl.lives.got(PAGE, "parse")
    crawl.lives.confirmed(PAGE, "parse")
    assert crawl.lives.state(PAGE, "parse") is State.HAD


def test_page_is_missed_when_nobody_has_it_and_nothing_comes():
    """A page is missed if no callback has it, and no request for it is under way."""
    crawl = Fetched()
    assert not crawl.lives.is_missed(PAGE)
    crawl.lives.sent(PAGE, "parse")
    crawl.lives.ended(PAGE, "parse")
    assert crawl.lives.is_missed(PAGE)
    crawl.lives.sent(PAGE, "parse_item")
    assert not crawl.lives.is_missed(PAGE)
    crawl.lives.got(PAGE, "parse_item")
    assert crawl.lives.is_had(PAGE)
    assert not crawl.lives.is_missed(PAGE)


def test_variant_after_the_failure_is_fetched():
    """After all requests failed, a new variant is sent at once, and further ones wait for it."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    crawl.lives.ended(PAGE, "parse")
    assert [crawl.drop("/1"), crawl.drop("/2")] == [Fate.FETCHED, Fate.WAITS]


def test_what_one_callback_has_another_has_not():
    """Each callback gets its page, whether it requested it before or after the other had it."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    assert crawl.drop("/1", callback="parse_item") is Fate.FETCHED
    crawl.lives.got(PAGE, "parse")
    crawl.lives.got(PAGE, "parse_item")
    assert crawl.drop("/2", callback="third") is Fate.FETCHED
    crawl.lives.confirmed(PAGE, "parse_item")
    assert crawl.drop("/3", callback="parse_item") is Fate.FORGOTTEN


def test_recorded_request_shows_for_which_callback_it_was():
    """When the recorded request is for one callback, the variant of another one is sent."""
    crawl = Fetched()
    crawl.drop("/1", callback="parse")
    crawl.drop("/2", callback="parse_item")
    crawl.lives.sent(PAGE, "parse")
    assert crawl.urls == ["/2"]
    crawl.lives.ended(PAGE, "parse")
    assert crawl.urls == ["/2", "/1"]


def test_what_was_never_recorded_settles_nothing():
    """Start requests and downloads within callbacks do not make variants superfluous."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "start", is_recorded=False)
    crawl.lives.got(PAGE, "start")
    assert crawl.drop("/1") is Fate.WAITS
    crawl.lives.sent(PAGE, "parse", is_recorded=False)
    crawl.lives.ended(PAGE, "parse")
    assert crawl.urls == []
    crawl.lives.sent(PAGE, "parse")
    crawl.lives.ended(PAGE, "parse")
    assert crawl.urls == ["/1"]


def test_redirect_shares_the_fate_of_its_target():
    """A redirect has the page if its target does; if that is missed, variants are sent."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    crawl.lives.sent(OTHER, "parse")
    crawl.drop("/page?2")
    crawl.lives.redirected(OTHER, "parse", {PAGE: True})
    assert crawl.lives.state(PAGE, "parse") is State.EXPECTED
    crawl.lives.ended(OTHER, "parse")
    assert crawl.urls == ["/page?2"]
    crawl.lives.redirected(OTHER, "parse", {PAGE: True})
    assert crawl.lives.state(PAGE, "parse") is State.MISSED


@pytest.mark.parametrize("had", [True, False])
def test_pages_that_redirect_to_each_other_end(had):
    """Pages that redirect to each other are settled once."""
    crawl = Fetched()
    for page, target in ((PAGE, OTHER), (OTHER, PAGE)):
        crawl.lives.sent(page, "parse")
        crawl.lives.redirected(target, "parse", {page: True})
    (crawl.lives.got if had else crawl.lives.ended)(PAGE, "parse")
    crawl.lives.confirmed(PAGE, "parse")
    expected = State.HAD if had else State.MISSED
    assert [crawl.lives.state(page, "parse") for page in (PAGE, OTHER)] == [expected] * 2


def test_page_whose_url_leads_elsewhere_is_asked_for_once_more():
    """If a URL leads to another page a second one is tried, and if that does too, no third."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    crawl.drop("/1")
    crawl.lives.led(PAGE, "parse")
    assert crawl.urls == []
    crawl.lives.confirmed(PAGE, "parse")
    assert crawl.urls == ["/1"]
    assert crawl.drop("/2") is Fate.WAITS
    crawl.lives.led(PAGE, "parse")
    crawl.lives.confirmed(PAGE, "parse")
    assert crawl.drop("/3") is Fate.FORGOTTEN
    assert crawl.urls == ["/1"]
    assert list(crawl.lives.waiting) == []


def test_page_whose_url_leads_elsewhere_is_asked_for_until_it_is_known():
    """URLs that fail do not count as a second one that leads elsewhere."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    crawl.lives.sent(OTHER, "parse")
    crawl.lives.got(OTHER, "parse")
    crawl.lives.redirected(OTHER, "parse", {PAGE: False})
    crawl.lives.confirmed(OTHER, "parse")
    assert crawl.lives.is_had(PAGE)
    assert [crawl.drop("/1"), crawl.drop("/2")] == [Fate.FETCHED, Fate.WAITS]
    crawl.lives.ended(PAGE, "parse")
    assert crawl.urls == ["/1", "/2"]
    crawl.lives.ended(PAGE, "parse")
    assert crawl.drop("/3") is Fate.FETCHED
    assert crawl.lives.got(PAGE, "parse")
    crawl.lives.confirmed(PAGE, "parse")
    assert crawl.drop("/4") is Fate.FORGOTTEN


def test_url_that_leads_elsewhere_twice_is_one():
    """One URL that leads elsewhere twice, as after a kill, counts once."""
    crawl = Fetched()
    for _ in range(2):
        crawl.lives.sent(PAGE, "parse")
        crawl.lives.led(PAGE, "parse")
        crawl.lives.confirmed(PAGE, "parse")
    assert crawl.drop("/1") is Fate.FETCHED


def test_two_pages_that_are_one_wait_for_no_request_that_was_on_its_way():
    """When two pages become one, variants wait for no recorded request that has ended."""
    crawl = Fetched()
    for page in (PAGE, OTHER):
        crawl.lives.sent(page, "parse", is_recorded=page == PAGE)
        crawl.lives.ended(page, "parse")
    crawl.lives.rename(PAGE, OTHER)
    assert crawl.drop("/1", OTHER) is Fate.FETCHED


def test_two_pages_that_become_one_wait_together():
    """When two pages become one, no waiting variant is forgotten."""
    crawl = Fetched()
    for page in (PAGE, OTHER):
        crawl.lives.sent(page, "parse")
        crawl.drop(f"/{page.decode()}?1", page=page)
        crawl.drop("/both", page=page)
    crawl.lives.rename(PAGE, OTHER)
    assert sorted(crawl.lives.waiting) == ["/both", "/other?1", "/page?1"]
    for _ in range(4):
        crawl.lives.ended(OTHER, "parse")
    assert sorted(crawl.urls) == ["/both", "/other?1", "/page?1"]


def test_page_that_becomes_one_that_the_spider_has_waits_for_nothing():
    """Variants of a page that becomes one the spider has are forgotten; of a missed one, sent."""
    crawl = Fetched()
    for page in (PAGE, OTHER, b"third"):
        crawl.lives.sent(page, "parse")
    crawl.lives.got(OTHER, "parse")
    crawl.lives.confirmed(OTHER, "parse")
    crawl.lives.ended(b"third", "parse")
    crawl.drop("/1")
    crawl.lives.rename(PAGE, OTHER)
    assert (crawl.urls, list(crawl.lives.waiting)) == ([], [])
    crawl.lives.sent(b"fourth", "parse")
    crawl.drop("/4", page=b"fourth")
    crawl.lives.rename(b"fourth", b"third")
    crawl.lives.ended(b"third", "parse")
    assert crawl.urls == ["/4"]


def test_callback_that_raises_at_the_target_of_a_redirect_makes_no_page_missed():
    """A callback that raises at a redirect's target does not make a page missed that came since."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    crawl.lives.led(PAGE, "parse")
    crawl.lives.sent(OTHER, "parse")
    crawl.lives.got(OTHER, "parse")
    crawl.lives.confirmed(OTHER, "parse")
    crawl.lives.redirected(OTHER, "parse", {PAGE: True})
    assert crawl.drop("/1") is Fate.FORGOTTEN
    crawl.lives.raised(PAGE, "parse")
    assert crawl.lives.state(PAGE, "parse") is State.HAD
    crawl.lives.cut_off(PAGE, "parse")
    assert crawl.drop("/2") is Fate.FETCHED


@pytest.mark.parametrize("late", [True, False])
def test_page_that_redirects_to_what_leads_elsewhere_is_missed(late):
    """If a page redirects to a URL that leads elsewhere, its variants are sent."""
    crawl = Fetched()
    for page in (PAGE, OTHER):
        crawl.lives.sent(page, "parse")
    steps = [
        lambda: crawl.lives.led(OTHER, "parse"),
        lambda: crawl.lives.redirected(OTHER, "parse", {PAGE: True}),
    ]
    for step in reversed(steps) if late else steps:
        step()
    assert crawl.drop("/1") is Fate.FETCHED


def test_what_vanished_is_ended():
    """A request that vanished in a middleware counts as failed."""
    crawl = Fetched()
    crawl.lives.sent(PAGE, "parse")
    crawl.drop("/1")
    crawl.lives.end_all(crawl.lives.sends)
    assert crawl.urls == ["/1"]
    crawl.lives.end_all(crawl.lives.sends)
    assert crawl.lives.state(PAGE, "parse") is State.MISSED


def test_trap_does_not_push_out_what_waits_for_other_pages():
    """Over the bound the page with most variants gives up its youngest."""
    crawl = Fetched(max_waiting=100)
    crawl.lives.sent(b"victim", "parse")
    crawl.drop("/good", page=b"victim")
    crawl.lives.sent(PAGE, "parse")
    for number in range(1000):
        crawl.drop(f"/trap?{number}")
    assert crawl.lives.given_up == 901
    assert len(list(crawl.lives.waiting)) == 100
    crawl.lives.ended(b"victim", "parse")
    crawl.lives.ended(PAGE, "parse")
    assert crawl.urls == ["/good", "/trap?0"]


class Lives(RuleBasedStateMachine):
    """Sends, drops, redirects and ends requests in any order, and checks that nothing is lost."""

    pages = st.sampled_from([PAGE, OTHER, b"third"])
    callbacks = st.sampled_from(["parse", "parse_item"])

    def __init__(self):
        super().__init__()
        self.crawl = Fetched()
        self.lives = self.crawl.lives
        self.dropped = {}
        self.sent = set()
        self.at_work = []

    @rule(page=pages, callback=callbacks, recorded=st.booleans())
    def send(self, page, callback, recorded):
        self.lives.sent(page, callback, is_recorded=recorded)
        if recorded:
            self.sent.add(page)

    @rule(page=pages, callback=callbacks)
    def get(self, page, callback):
        self.take_over(page, callback)
        if self.lives.got(page, callback):
            self.at_work.append((page, callback))

    def take_over(self, page, callback):
        """Have the end of what was led elsewhere say nothing of the page any more."""
        if self.lives.state(page, callback) in LED:
            self.at_work = [each for each in self.at_work if each != (page, callback)]

    @rule(number=st.integers(0, 5), raises=st.booleans())
    def done(self, number, raises):
        if number < len(self.at_work):
            page, callback = self.at_work.pop(number)
            (self.lives.raised if raises else self.lives.confirmed)(page, callback)

    @rule(page=pages, callback=callbacks)
    def end(self, page, callback):
        self.lives.ended(page, callback)

    @rule(page=pages, callback=callbacks, number=st.integers(0, 5))
    def drop(self, page, callback, number):
        url = f"/{page.decode()}/{callback}?{number}"
        had = self.lives.state(page, callback) is State.HAD
        fate = self.crawl.drop(url, page, callback)
        assert fate is Fate.FORGOTTEN or not had
        assert fate is not Fate.FORGOTTEN or had or url in self.crawl.urls
        self.dropped.setdefault((page, callback), set()).add(url)

    @rule(page=pages, source=pages, callback=callbacks, same=st.booleans())
    def redirect(self, page, source, callback, same):
        self.lives.redirected(page, callback, {source: same})

    @rule(page=pages, callback=callbacks, step=pages, other=callbacks)
    def ask_again(self, page, callback, step, other):
        is_asked = self.lives.asked_again(page, callback, (step, other))
        if is_asked and (page, callback) == (step, other):
            self.at_work.remove((page, callback))

    @rule(page=pages, callback=callbacks)
    def cut_off(self, page, callback):
        if self.lives.state(page, callback) is State.HAD:
            # What was forgotten was that of a page which was had: what is dropped now is another.
            self.dropped.pop((page, callback), None)
        self.lives.cut_off(page, callback)

    @rule(page=pages, callback=callbacks)
    def lead(self, page, callback):
        self.take_over(page, callback)
        if self.lives.led(page, callback):
            self.at_work.append((page, callback))

    @rule()
    def idle(self):
        self.lives.end_all(self.lives.sends)

    @invariant()
    def what_waits_has_somebody_to_wait_for(self):
        """Check that a variant waits for what is on its way, or was not sent yet, or may raise."""
        for url in self.lives.waiting:
            _, page, rest = url.split("/")
            page = page.encode()
            if page in self.sent:
                callback = rest.partition("?")[0]
                is_coming = {State.EXPECTED, State.CHECKED, State.GIVEN}
                state = self.lives.state(page, callback)
                assert state in is_coming or (page, callback) in self.at_work

    @invariant()
    def what_is_neither_had_nor_expected_was_tried_in_every_way(self):
        """Check that a page which its callback missed for good has no variant left."""
        for (page, callback), urls in self.dropped.items():
            if page in self.sent and self.lives.state(page, callback) is State.MISSED:
                assert not urls & set(self.lives.waiting)

    def teardown(self):
        while self.at_work:
            self.done(0, raises=True)
        for _ in range(20):
            self.lives.end_all(self.lives.sends)
        for (page, callback), urls in self.dropped.items():
            if page in self.sent and self.lives.state(page, callback) is not State.HAD:
                assert urls <= set(self.crawl.urls)


TestLives = Lives.TestCase
TestLives.settings = settings(stateful_step_count=30)
