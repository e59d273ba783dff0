"""Random sites: what comes without the plugin comes with it (:mod:`differential.law`)."""

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from differential.additions import FIRST
from differential.generator import generate
from differential.law import chance, judge
from differential.shrinking import explained

HALF = 50
# Without and with what was added later.
SEEDS = [*range(HALF), *range(FIRST, FIRST + HALF)]
LONG_SEEDS = [*range(HALF, 2 * HALF), *range(FIRST + HALF, FIRST + 2 * HALF)]


@pytest.mark.parametrize(
    "seed", [*SEEDS, *(pytest.param(seed, marks=pytest.mark.long) for seed in LONG_SEEDS)]
)
@deferred_f_from_coro_f
async def test_nothing_is_lost(seed):
    """The same pages get to the same callbacks, and the same files to the same items."""
    case = generate(seed)
    if (await judge(case)).failed:
        pytest.fail(
            f"Seed {seed}, as small as it goes:\n{await explained(case, tries=200)}", pytrace=False
        )


@pytest.mark.parametrize(
    ("seed", "feature"),
    [(seed, feature) for feature in ("order", "places") for seed in range(1000, 1020)]
    + [
        (seed, feature)
        for feature in ("follows", "retries", "stop", "kill")
        for seed in range(1020, 1030)
    ],
)
@deferred_f_from_coro_f
async def test_nothing_is_lost_to_what_few_sites_have(seed, feature):
    """Where the news comes first, skipped URLs are known, a spider follows, or a job is killed."""
    case = generate(seed, feature)
    if (await judge(case)).failed:
        pytest.fail(
            f"Seed {seed}, as small as it goes:\n{await explained(case, tries=200)}", pytrace=False
        )


@pytest.mark.parametrize("seed", [*range(200, 205), *range(FIRST, FIRST + 5)])
@deferred_f_from_coro_f
async def test_law_asks_for_nothing_that_depends_on_chance(seed):
    """What is promised of a site comes without the plugin in whatever order it is crawled."""
    assert not await chance(generate(seed))
