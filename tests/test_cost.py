"""What the common paths cost, counted and not timed: the same on every run and every machine.

Counted are the bytecode instructions that run in Python functions, and the calls, those of
functions written in C among them. Both differ between releases of Python, and a little
between releases of what is called. Counted is what a machine without a C compiler does. Where a
change is worth what it costs, the numbers that the failing test shows are to be recorded here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from counting import Cost, counting
from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.test import get_crawler

from scrapy_urlcanon.canonicalizer import (
    Canonicalizer,
    fast,
    fast_policy,
    inner_loops,
    policy,
    registrable_domain,
)
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.canonicalizer.inner_loops import in_python
from scrapy_urlcanon.canonicalizer.rules import authority
from scrapy_urlcanon.crawl import fingerprints
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.recovery import page_ends

if TYPE_CHECKING:
    from scrapy.crawler import Crawler as ScrapyCrawler

RELEASE = sys.version_info[:2]
TOLERANCE = 1.10

RULES = {
    "*": {"drop_params": ["sid", "ref"]},
    "forum.example": {"keep_params": ["t", "page"]},
    "shop.example/list": {"default_params": {"page": "1"}},
}
URLS = [
    f"http{'s' * (number % 2)}://www.{host}/{'section/' * (number % 3)}{page}"
    for number in range(20)
    for host in ("news.example", "forum.example", "shop.example")
    for page in (
        f"article-{number}.html",
        f"thread?t={number}&page=2&highlight=x",
        f"list?page=1&id={number}&sid=0a1b2c",
        f"search?q=a%20b:c/{number}&sort",
    )
]


class AnySpider(Spider):
    name = "any"


def crawler(preset: str, **others: object) -> ScrapyCrawler:
    settings = {
        "ADDONS": {"scrapy_urlcanon.Addon": 500},
        "URLCANON_PRESET": preset,
        "URLCANON_RULES": RULES,
        **others,
    }
    made = get_crawler(AnySpider, settings)
    # The policies are compiled before the counting starts.
    for url in URLS:
        made.request_fingerprinter.fingerprint(Request(url))
    made.request_fingerprinter.forget()
    return made


def cost_of_fingerprints(preset: str) -> Cost:
    fingerprint = crawler(preset).request_fingerprinter.fingerprint
    requests = [Request(url) for url in URLS]
    with counting(instructions=True) as counter:
        for request in requests:
            fingerprint(request)
    return Cost(counter.instructions, counter.calls)


def cost_of_new_hosts() -> Cost:
    fingerprint = crawler("safe").request_fingerprinter.fingerprint
    requests = [Request(f"https://www.new-host-{number}.example/") for number in range(100)]
    with counting(instructions=True) as counter:
        for request in requests:
            fingerprint(request)
    return Cost(counter.instructions, counter.calls)


def cost_of_exact_drops(**parts: object) -> Cost:
    made = crawler("safe", **parts)
    dropped = Crawl.of(made).dropped
    requests = [Request(url) for url in URLS[::4]]
    for request in requests:
        made.request_fingerprinter.fingerprint(request)
    with counting(instructions=True) as counter:
        for request in requests:
            dropped.request_dropped(request)
    recorder = Crawl.of(made).recorder
    if recorder:
        recorder.spider_closed("finished")
    return Cost(counter.instructions, counter.calls)


# By release of Python.
RECORDED = {
    "fingerprints": {
        (3, 10): Cost(121_590, 9_927),
        (3, 11): Cost(125_129, 9_927),
        (3, 12): Cost(114_592, 9_747),
        (3, 13): Cost(114_388, 9_740),
        (3, 14): Cost(122_395, 9_720),
        (3, 15): Cost(122_370, 9_720),
    },
    "fingerprints, preset aggressive": {
        (3, 10): Cost(192_783, 15_878),
        (3, 11): Cost(199_421, 15_798),
        (3, 12): Cost(182_893, 15_618),
        (3, 13): Cost(182_372, 15_751),
        (3, 14): Cost(201_228, 15_558),
        (3, 15): Cost(201_050, 15_558),
    },
    "new hosts": {
        (3, 10): Cost(33_415, 2_306),
        (3, 11): Cost(33_114, 2_306),
        (3, 12): Cost(30_612, 2_306),
        (3, 13): Cost(29_700, 2_306),
        (3, 14): Cost(31_878, 2_306),
        (3, 15): Cost(31_878, 2_306),
    },
    "exact drops": {
        (3, 10): Cost(11_121, 789),
        (3, 11): Cost(11_180, 729),
        (3, 12): Cost(11_295, 789),
        (3, 13): Cost(12_733, 789),
        (3, 14): Cost(13_689, 789),
        (3, 15): Cost(13_689, 789),
    },
}
WORKLOADS = {
    "fingerprints": lambda: cost_of_fingerprints("safe"),
    "fingerprints, preset aggressive": lambda: cost_of_fingerprints("aggressive"),
    "new hosts": cost_of_new_hosts,
    "exact drops": lambda: cost_of_exact_drops(URLCANON_RESCUE=False),
}


@pytest.fixture(autouse=True)
def _nothing_is_compiled(monkeypatch):
    for name in filter(vars(in_python).get, vars(inner_loops)):
        for module in (fast, fast_policy, policy, registrable_domain, authority):
            if getattr(module, name, None) is getattr(inner_loops, name):
                monkeypatch.setattr(module, name, getattr(in_python, name))


@pytest.mark.parametrize("name", WORKLOADS)
def test_costs_what_is_recorded(name) -> None:
    """No workload takes over ten percent more instructions or calls than is recorded."""
    recorded = RECORDED[name].get(RELEASE)
    # Python 3.12.1 counts no instructions of what is traced for the first time.
    WORKLOADS[name]()
    cost = WORKLOADS[name]()
    if recorded is None:
        pytest.skip(f"nothing is recorded for Python {RELEASE}; here it is {cost}")
    assert cost.instructions <= recorded.instructions * TOLERANCE
    assert cost.calls <= recorded.calls * TOLERANCE


@pytest.mark.parametrize("name", WORKLOADS)
def test_costs_the_same_again(name) -> None:
    """A count that differs from run to run would tell nothing: it does not."""
    WORKLOADS[name]()
    assert WORKLOADS[name]() == WORKLOADS[name]()


def test_no_part_hears_of_repeats(tmp_path) -> None:
    """Whatever is switched on, a repeated request is counted and no more."""
    parts = {
        "URLCANON_AUDIT": 1.0,
        "URLCANON_DECLARED_CANONICAL": True,
        "URLCANON_ORDER": "novelty",
        "URLCANON_RECORD": str(tmp_path / "observations.sqlite"),
        "URLCANON_RECORD_REVISITS": False,
    }
    # The first time something is read that is read once.
    cost_of_exact_drops(URLCANON_RESCUE=False)
    alone = cost_of_exact_drops(URLCANON_RESCUE=False)
    # Whether a page declared it is asked of what believes pages.
    assert cost_of_exact_drops(**parts).calls <= 1.3 * alone.calls


REQUESTS = [
    Request("http://shop.example/list?sid=1&page=1"),
    Request("http://shop.example/list?sid=1", meta={"depth": 1}),
    Request("http://shop.example/list?sid=1", meta={"urlcanon": False}),
    Request("http://shop.example/list?sid=1", meta={"verbatim_url": True}),
    Request("http://shop.example/list", method="POST", body="sid=1"),
    Request("http://shop.example/list", body=b"sid=1"),
    Request("http://shop.example/robots.txt?sid=1", NO_CALLBACK),
]


def test_class_of_a_request_makes_no_difference(monkeypatch) -> None:
    """Nor whether it is known where that has what its properties return."""

    class Own(Request):
        pass

    found = [*map(crawler("safe").request_fingerprinter.fingerprint, REQUESTS)]
    assert len({*found}) == 5
    own = [request.replace(cls=Own) for request in REQUESTS]
    assert [*map(crawler("safe").request_fingerprinter.fingerprint, own)] == found
    monkeypatch.setattr(fingerprints, "_KNOWN", None)
    assert [*map(crawler("safe").request_fingerprinter.fingerprint, REQUESTS)] == found


def test_plain_request_is_recognised_without_a_call(monkeypatch) -> None:
    """Each property takes as long as all else that is asked of a URL which is linked again."""
    fingerprint = crawler("safe").request_fingerprinter.fingerprint
    expected = fingerprint(REQUESTS[1])
    for name in ("url", "body", "meta"):
        monkeypatch.delattr(Request, name)
    assert fingerprint(REQUESTS[1]) == expected


def test_page_of_what_was_asked_for_of_late_is_known() -> None:
    """No rule is looked at again for the URL that brought a page, or one that the page declares."""
    prints = crawler("safe").request_fingerprinter
    requests = [Request(url) for url in URLS]
    pages = [prints.page(request, request.url) for request in requests]
    prints.forget()
    with counting() as at_first:
        assert pages == [prints.page(request, request.url) for request in requests]
    for request in requests:
        prints.fingerprint(request)
    with counting() as again:
        assert pages == [prints.page(request, request.url) for request in requests]
    assert again.calls < at_first.calls / 4


def test_page_under_rules_of_its_own_is_not_that_which_was_asked_for() -> None:
    """Nor is that of a request that sends something."""
    prints = crawler("safe").request_fingerprinter
    url = "http://shop.example/list?sid=1"
    others = [
        *(
            Request(url, meta=meta)
            for meta in ({"urlcanon": False}, {"urlcanon_key": "list"}, {"verbatim_url": True})
        ),
        Request(url, method="POST"),
        Request(url, body=b"a"),
    ]
    pages = [prints.page(other, url) for other in others]
    known = prints.fingerprint(Request(url))
    assert prints.page(Request(url), url) == known
    assert [prints.page(other, url) for other in others] == pages
    assert known not in pages


def learned_rules(count: int) -> dict[str, object]:
    """Return so many rules of each kind that learned files are full of."""
    return {
        "shop.example": {
            "rewrite_path": [
                [f"/section{i}/{{slug}}-{{id:digits}}.html", f"/section{i}/{{id}}"]
                for i in range(count)
            ],
            "param_case": "lower",
            "query_separator": ";",
        },
        **{f"shop.example/section{i}/": {"drop_params": ["view"]} for i in range(count)},
        **{f"shop.example?mode={i}": {"drop_params": ["sort"]} for i in range(count)},
        **{f"shop.example?list{i}": {"drop_params": ["page"]} for i in range(count)},
    }


def test_cost_does_not_grow_with_learned_rules() -> None:
    """A URL of a host with a hundred rules of each kind costs what one of a host with ten does."""
    urls = [
        f"http://www.shop.example/section{number % 10}/{page}"
        for number in range(40)
        for page in (f"some-thing-{number}.html?View=1", f"?mode={number % 10}&sort=a;b=2", "about")
    ]
    calls = []
    for count in (10, 100):
        canonicalizer = Canonicalizer(learned_rules(count))
        assert all(canonicalizer.fast_path.canonical(url) for url in urls[::3])
        canonical = [canonicalizer.canonicalize(url) for url in urls]
        assert canonical == [canonicalizer.explain(url).canonical for url in urls]
        with counting() as counter:
            for url in urls:
                canonicalizer.canonicalize(url)
        calls.append(counter.calls)
    assert calls[1] < 1.1 * calls[0]


def test_options_of_requests_are_compiled_once() -> None:
    """Though each request has them in a mapping of its own, and its URL is asked for skip too."""
    rules = Canonicalizer({"a.example": {"skip": ["/?p={id:digits}"], "drop_params": ["sid"]}})

    def ask(number: int) -> None:
        options = {"drop_params": ["ref", "!sid"]}
        canonical = rules.canonical_or_none(f"http://a.example/?ref={number}", options=options)
        assert rules.cause_of_skip(canonical, options=options) is None
        without = rules.canonicalize_without(
            f"http://a.example/?sid={number}", [RuleEntry("drop_params", "sid")]
        )
        assert without == f"http://a.example/?sid={number}"

    with counting() as first:
        ask(1)
    with counting() as second:
        ask(2)
    assert second.calls < first.calls / 2
    assert rules.canonical_or_none("http://a.example/?ref=1", options={"drop_params": []}) != (
        rules.canonical_or_none("http://a.example/?ref=1", options={"drop_params": ["ref"]})
    )


def test_pages_of_a_host_where_none_has_an_end_are_not_gone_through_for_it(monkeypatch):
    """The first ones are, and of the others what most end within."""
    looked_at = []

    class Searching:
        def search(self, body: bytes, start: int = 0) -> None:
            looked_at.append(len(body) - start)

    monkeypatch.setattr(page_ends, "_END", Searching())
    ends = page_ends.PageEnds()
    body = b"<html>" + b"<p>a" * 10_000
    for _ in range(100):
        ends.note(HtmlResponse("http://a.example/", body=body))
    assert sum(looked_at) < 20 * len(body)
