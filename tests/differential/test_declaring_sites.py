"""Random sites that declare canonical URLs (:mod:`differential.declaring_sites`)."""

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from differential.declaring_sites import DeclaringSite
from differential.test_random_sites import some_of


@pytest.mark.parametrize("seed", some_of(*range(36)))
@deferred_f_from_coro_f
async def test_what_sites_declare_loses_nothing(crawl, seed):
    """Whatever part of it is wrong, and whatever else moves."""
    site = DeclaringSite(seed)
    result = await crawl(site.respond, site.settings)
    assert not site.lost(result.pages)
