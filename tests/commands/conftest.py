"""The crawl of the example site that several tests learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from demo import Crawl, crawl

if TYPE_CHECKING:
    from pathlib import Path


class CrawledShop(NamedTuple):
    """A crawl of the example site without any rule."""

    crawl: Crawl
    store: Path
    """The store of observations, to learn from."""


@pytest.fixture(scope="session")
def crawled_shop(tmp_path_factory):
    """Crawl the example site, once for all tests."""
    directory = tmp_path_factory.mktemp("shop")
    store = directory / "first.sqlite"
    settings = ("URLCANON_RULES={}", f"URLCANON_RECORD={store}", "URLCANON_AUDIT=0.02")
    return CrawledShop(crawl(directory, *settings), store)
