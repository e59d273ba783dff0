"""What it costs to try a candidate, counted and not timed: calls of functions, for each URL."""

from __future__ import annotations

import pytest
from counting import counting

from scrapy_urlcanon.learn import Observation
from scrapy_urlcanon.learn.captures import site_of
from scrapy_urlcanon.learn.groups import Groups
from scrapy_urlcanon.learn.operations import RewriteTemplates


def groups_of(urls, page_of=hash):
    """Return the URLs of a site, grouped, each with the page that a function gives it."""
    seen = [Observation(url, main_sha1=f"{page_of(url) % 2**160:040x}") for url in urls]
    return Groups(site_of("a.example", seen))


@pytest.mark.parametrize("target", ["/event/{a}/13/{b}", "/event/{a}/{b}"])
def test_template_for_paths_makes_nothing_but_the_new_url(target):
    """A template is put together from the path, and not from a URL that is made for each step."""
    urls = [f"http://a.example/event/{i}/{i % 30}/list" for i in range(1000)]
    groups = groups_of(urls)
    step = RewriteTemplates("/event/{a:digits}/{_day:digits}/{b}", target)
    groups.affected([step])
    with counting() as counter:
        changes = groups.affected([step])
    assert len(changes) > 900
    assert counter.calls < 28 * len(changes)


def test_template_costs_next_to_nothing_where_it_fits_not():
    """One look at the path of a URL tells."""
    groups = groups_of(f"http://a.example/a/{i}/b" for i in range(1000))
    step = RewriteTemplates("/a/{a:digits}/c", "/a/{a}")
    groups.affected([step])
    with counting() as counter:
        assert not groups.affected([step])
    assert counter.calls < 4000
