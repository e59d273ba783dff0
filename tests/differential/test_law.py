"""The law finds a loss, and a case that breaks it gets small and can be pasted."""

from hashlib import sha256

from scrapy.utils.defer import deferred_f_from_coro_f

from differential.case import Answer, Case, Interference, Link, Page
from differential.generator import generate
from differential.law import judge
from differential.shrinking import as_code, shrunk

SITE = "http://site.example"
NAMES = {each.__name__: each for each in (Answer, Case, Interference, Link, Page)}
LOSING = Case(
    pages={
        "p0": Page(links=tuple(Link(f"{SITE}/p{n}") for n in (1, 2, 3, 4))),
        "p2": Page(links=(Link(f"{SITE}/p5?sid=1"), Link(f"{SITE}/p5?sid=2", priority=-1))),
        "p3": Page(links=(Link(f"{SITE}/p1?sid=1"),), files=(f"{SITE}/f1",)),
    },
    start=(Link(f"{SITE}/p0", dont_filter=True), Link(f"{SITE}/p1", dont_filter=True)),
    answers={f"{SITE}/p5?sid=1": Answer(404), f"{SITE}/p4": Answer(500)},
    settings={"CONCURRENT_REQUESTS": 8},
    plugin={
        "URLCANON_RULES": {"*": {"drop_params": ["sid"], "www": "strip"}},
        "URLCANON_RESCUE": False,
    },
)


@deferred_f_from_coro_f
async def test_loss_is_found_and_made_small():
    """Without the rescue the page behind a failure is lost; nothing else is shown."""
    assert [pair for _, pair, _ in (await judge(LOSING)).lost] == [("parse", "p5")]
    small = await shrunk(LOSING)
    assert len(small.answers) == 1
    assert len(list(small.links())) <= 4
    assert not small.settings
    assert [pair for _, pair, _ in (await judge(small)).lost] == [("parse", "p5")]


@deferred_f_from_coro_f
async def test_page_whose_urls_differ_is_not_promised():
    """Where a variant redirects to another page the rules are wrong about it."""
    case = Case(
        pages={"p0": Page(links=(Link(f"{SITE}/p1?sid=1"), Link(f"{SITE}/p1?sid=2")))},
        start=(Link(f"{SITE}/p0"),),
        answers={f"{SITE}/p1?sid=1": Answer(302, location=f"{SITE}/p9")},
        plugin={"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}},
    )
    verdict = await judge(case, everything=True)
    assert ("parse", "p1") in verdict.pairs
    verdict = await judge(case)
    assert (verdict.promised, verdict.failed) == (1, False)


def test_case_is_printed_as_code():
    """What is printed of a case makes that case."""
    for seed in range(20):
        case = generate(seed)
        assert eval(as_code(case), NAMES) == case


def test_seed_makes_one_case():
    """A seed makes the same case each time, and has since before there were additions."""
    assert generate(7) == generate(7)
    text = "".join(as_code(generate(seed)) for seed in range(100))
    assert sha256(text.encode()).hexdigest().startswith("eea94933cd4e9952")
