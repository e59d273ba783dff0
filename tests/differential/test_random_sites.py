"""Random sites: what comes without the plugin comes with it (:mod:`differential.law`)."""

from pathlib import Path

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from differential.additions import FIRST, FOURTH, SECOND, THIRD
from differential.generator import generate
from differential.law import chance, judge
from differential.shrinking import explained


def some_of(*seeds):
    """Return a third of the *seeds* as they are, and the others for the long form of a test."""
    some = len(seeds) // 3
    return [*seeds[:some], *(pytest.param(seed, marks=pytest.mark.long) for seed in seeds[some:])]


# Without and with what was added later.
SEEDS = [
    [*range(100)],
    *(
        [*range(first, first + count)]
        for first, count in ((FIRST, 100), (SECOND, 60), (THIRD, 30), (FOURTH, 15))
    ),
]


SOME = [seed for seeds in SEEDS for seed in some_of(*seeds)]
FEATURES = ["order", "places", "follows", "retries", "stop", "kill"]
SEEDS_OF_FEATURES = some_of(*range(1000, 1030))


@pytest.mark.parametrize("seed", SOME)
@deferred_f_from_coro_f
async def test_nothing_is_lost(seed):
    """The same pages get to the same callbacks, and the same files to the same items."""
    case = generate(seed)
    if (await judge(case)).failed:
        pytest.fail(
            f"Seed {seed}, as small as it goes:\n{await explained(case, tries=200)}", pytrace=False
        )


@pytest.mark.parametrize("seed", SEEDS_OF_FEATURES)
@pytest.mark.parametrize("feature", FEATURES)
@deferred_f_from_coro_f
async def test_nothing_is_lost_to_what_few_sites_have(seed, feature):
    """Where the news comes first, skipped URLs are known, a spider follows, or a job is killed."""
    case = generate(seed, feature)
    if (await judge(case)).failed:
        pytest.fail(
            f"Seed {seed}, as small as it goes:\n{await explained(case, tries=200)}", pytrace=False
        )


@pytest.mark.parametrize(
    "seed", [*some_of(*range(200, 209)), *some_of(*range(FIRST, FIRST + 9)), SECOND]
)
@deferred_f_from_coro_f
async def test_law_asks_for_nothing_that_depends_on_chance(seed):
    """What is promised of a site comes without the plugin in whatever order it is crawled."""
    assert not await chance(generate(seed))


def test_page_says_how_many_sites_that_are():
    """By each of both commands: whoever reads of random sites asks how many."""
    crawled = SOME + SEEDS_OF_FEATURES * len(FEATURES)
    short = sum(isinstance(seed, int) for seed in crawled)
    page = Path(__file__).parents[2] / "docs" / "how-nothing-is-lost.md"
    text = " ".join(page.read_text(encoding="utf-8").split())
    rest, later = len(crawled) - short, sum(len(seeds) for seeds in SEEDS[1:])
    assert f"`make test` crawls {short} of them, and `make test-long` another {rest}; " in text
    assert f"; {later} of these may have more: callbacks" in text
