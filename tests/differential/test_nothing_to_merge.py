"""Random sites where nothing is merged (:mod:`differential.nothing_to_merge`)."""

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from differential.additions import SECOND
from differential.generator import generate
from differential.nothing_to_merge import differences, without_merges
from differential.test_random_sites import some_of


@pytest.mark.parametrize("seed", some_of(*range(SECOND, SECOND + 90)))
@deferred_f_from_coro_f
async def test_crawl_is_the_one_without_the_plugin(seed):
    """The same requests in the same order, the same pages and the same stats."""
    assert not await differences(without_merges(generate(seed, "mixing")))
