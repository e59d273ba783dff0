"""The sites of ``benchmarks/verdicts`` are what its aims take them to be."""

from random import Random

import pytest
from scrapy import Request

from benchmarks.verdicts.cases import ALL, TWO_DOMAINS, Case
from benchmarks.verdicts.movements import MOVEMENTS
from benchmarks.verdicts.options import OPTIONS
from scrapy_urlcanon import Canonicalizer


@pytest.mark.parametrize("option", [*OPTIONS, ALL])
def test_right_entries_merge_each_page_with_itself_and_no_other(option):
    """All URLs of a page have one canonical URL, which no other page has."""
    for seed, has_wrong in enumerate((False, True)):
        site = Case("nothing", option, has_wrong, seed).site()
        rules = site.rules(wrong=False)
        if has_wrong and OPTIONS.get(option) and OPTIONS[option].is_either:
            # Here the option itself is what is wrong.
            del rules[option]
        canonicalize = Canonicalizer({site.domain: rules}).canonicalize
        random = Random(seed)
        pages = {}
        for page in site.pages:
            urls = {site.decorated(page, random) for _ in range(8)}
            assert {site.address(url) for url in urls} == {page}
            (canonical,) = {canonicalize(url) for url in urls}
            assert pages.setdefault(canonical, page) == page
        assert 100 <= len(pages) <= 330


@pytest.mark.parametrize("option", [*OPTIONS, ALL])
@pytest.mark.parametrize("seed", range(2))
def test_wrong_entry_takes_many_pages_for_others(option, seed):
    """A fifth or more of the pages have the canonical URL of another one, and differ from it."""
    site = Case("nothing", option, has_wrong=True, seed=seed).site()
    canonicalize = Canonicalizer({site.domain: site.rules()}).canonicalize
    merged = {}
    for page in sorted(site.pages, key=repr):
        merged.setdefault(canonicalize(page.url(site.domain)), []).append(page)
    others = sum(len(pages) - 1 for pages in merged.values())
    assert others >= len(site.pages) / 6
    for pages in merged.values():
        texts = {site.respond(Request(page.url(site.domain))).text for page in pages}
        assert len(texts) == len(pages)


def test_shared_rule_is_right_for_one_domain():
    """There it merges nothing but URLs of one page; on the other one it merges pages."""
    both = Case(TWO_DOMAINS, "drop_params", has_wrong=True, seed=1).site()
    canonicalize = Canonicalizer({"*": both.second.rules()}).canonicalize
    for site, expected in ((both.first, True), (both.second, False)):
        urls = {canonicalize(page.url(site.domain)) for page in site.pages}
        assert (len(urls) == len(site.pages)) is expected
    random = Random(0)
    for page in both.first.pages:
        url = both.first.decorated(page, random)
        assert both.first.address(url) == page
        assert canonicalize(url) == canonicalize(page.url(both.first.domain))


@pytest.mark.parametrize("kind", MOVEMENTS)
def test_what_moves_is_another_one_at_each_visit(kind):
    """Thirty fetches of one page are not all the same, but where nothing moves."""
    site = Case(kind, "www", has_wrong=False, seed=1).site()
    site.has_fresh_links = False
    texts = {site.respond(Request(site.home)).text for _ in range(30)}
    assert (len(texts) > 1) == (kind != "nothing")
