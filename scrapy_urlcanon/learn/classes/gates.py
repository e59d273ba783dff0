"""Finds gates: classes of URLs that all redirect to one form, such as the one to log in.

A wiki links a form to edit each page, and a forum one to answer each post. Without an account all
of them lead to the form to log in, with a parameter that names the URL to return to. That parameter
tells gates from pages that were gone while the crawl passed.

They are skipped, not merged: a crawl that logs in needs them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text
from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.classes.reach import Reach
from scrapy_urlcanon.learn.location import MARK, host_of, locate, value_of
from scrapy_urlcanon.learn.results.rule import MAX_EXAMPLES, Evidence, LearnedRule
from scrapy_urlcanon.learn.site import NO_EVIDENCE, SINK_SIZE
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from scrapy_urlcanon.learn.classes.members import Key
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.site import Site
    from scrapy_urlcanon.learn.thresholds import Thresholds

_MAX_CLASSES = 10
"""How many classes of one site are listed."""

_NAMES = "abcdefgh"
"""The names of the fields of a template: as many numbers a URL may have."""

_MAX_WORDS = 3
"""How many words at the end of a path a template for any path has at most."""

_REST = "{rest:path}"

_NO_WORD = re.compile(r"[%{}0-9]|\A\Z")
"""Found in what cannot stand in a template as it is, or says nothing about other URLs."""


def gate_rules(
    groups: Groups, thresholds: Thresholds, form: Callable[[Location], Location]
) -> list[LearnedRule]:
    """Return rules that skip the gates of a site, narrow ones first, then those that save most.

    :param form: returns what the accepted rewrite rules make of a URL.
    """
    site = groups.site
    gates = _behind_one_form(groups, form)
    classes = _classes(gates, groups) if gates else []
    reach = Reach(site.links, groups, form) if classes and site.links else None
    done: set[Location] = set()
    rules: list[LearnedRule] = []
    for (host, template), members in classes:
        new = members - done
        if len(rules) == _MAX_CLASSES or not thresholds.accept_alias(len(new), 0):
            continue
        # Nothing else may lead to the form, or to what it links.
        if reach:
            if reach.missing_without(members):
                continue
            reach.skip(members)
        done |= members
        evidence = Evidence(
            pages=1,
            merges=len(members),
            bound=lower_bound(len(members), 0, thresholds.confidence),
            examples=tuple(sorted((gate.url, gates[gate].url) for gate in new)[:MAX_EXAMPLES]),
        )
        rules.append(LearnedRule(site.domain, host, SKIP, [template], "sink", evidence))
    return rules


def _behind_one_form(
    groups: Groups, form: Callable[[Location], Location]
) -> dict[Location, Location]:
    """Return the gates to forms that very many URLs show, each with what it redirects to.

    A gate whose form was not fetched counts if it leads to the same place as others.
    """
    site = groups.site
    gates = {form(gate): target for gate, target in _gates(site)}
    by_page: dict[int, list[Location]] = {}
    for gate, target in gates.items():
        # Rules in force drop the return address, so that only one of the forms was fetched.
        for url in (gate, form(target)):
            page = groups.pages.get(url)
            if isinstance(page, int) and NO_EVIDENCE < page < site.contents:
                by_page.setdefault(page, []).append(gate)
                break
            if isinstance(page, tuple):
                break
        else:
            by_page.setdefault(NO_EVIDENCE, []).append(gate)
    unseen = by_page.pop(NO_EVIDENCE, [])
    found = {
        gate: gates[gate]
        for page, of_page in by_page.items()
        if site.is_sink(page) or len(of_page) > SINK_SIZE
        for gate in of_page
    }
    places = {target.place for target in found.values()}
    return found | {gate: gates[gate] for gate in unseen if gates[gate].place in places}


def _gates(site: Site) -> Iterator[tuple[Location, Location]]:
    """Yield the URLs that redirect to one with a parameter that names them, with that one."""
    for row, target in site.redirects.items():
        gate = site.locations[row]
        name = decode_query_text(gate.path.rstrip("/").rpartition("/")[2])
        texts = (decode_query_text(value_of(param)) for param in target.params)
        # Whether the name is in it is a cheap test.
        likely = [text for text in texts if text and name in text]
        if target.place != gate.place and any(_names(text, gate, site) for text in likely):
            yield gate, target


def _names(text: str, gate: Location, site: Site) -> bool:
    """Tell whether a text is the URL of a gate, whole or relative."""
    try:
        url = urljoin(gate.url, text)
    except ValueError:  # a foreign text, such as `http://[`
        return False
    return locate(url, site.semicolon_hosts) == gate


def _classes(gates: Mapping[Location, Location], groups: Groups) -> list[tuple[Key, set[Location]]]:
    """Return the classes with nothing but gates in them, narrow ones first, then by size.

    In a wide class there may be URLs of another kind that the crawl has not met.
    """
    classes: dict[Key, set[Location]] = {}
    for gate in gates:
        for template in _templates(gate):
            classes.setdefault((host_of(gate.origin), template), set()).add(gate)
    for url, page in groups.pages.items():
        if url not in gates and page != NO_EVIDENCE:
            for template in _templates(url):
                classes.pop((host_of(url.origin), template), None)

    def order(one: tuple[Key, set[Location]]) -> tuple[object, ...]:
        (_, template), members = one
        return _REST in template, template.endswith(_REST), -len(members), -len(template), one[0]

    return sorted(classes.items(), key=order)


def _templates(url: Location) -> Iterator[str]:
    """Yield the templates of the classes that a URL may be in.

    All URLs of a class yield its template, so that a class is looked up by it.

    >>> list(_templates(locate("http://a.example/post/7/edit/?by=8")))
    ['/post/{a:digits}/edit/?by={b:digits}']
    >>> for template in _templates(locate("http://a.example/wiki/Home/edit/intro")):
    ...     print(template)
    /{rest:path}/intro
    /{rest:path}/edit/intro
    /{rest:path}/Home/edit/intro
    /{rest:path}/edit/{a}
    /{rest:path}/Home/edit/{a}
    /wiki/{rest:path}
    """
    if MARK in url.path:
        return
    text = f"{url.path}?{'&'.join(url.params)}" if url.params else url.path
    if 0 < len(NUMBER.findall(text)) <= len(_NAMES) and not _NO_WORD.search(NUMBER.sub("", text)):
        names = iter(_NAMES)
        yield NUMBER.sub(lambda _: f"{{{next(names)}:digits}}", text)
    if url.params:
        return
    end = "/" if url.path.endswith("/") else ""
    segments = url.path.removesuffix("/").split("/")[1:]
    for words, field in ((segments, ""), (segments[:-1], "/{a}")):
        for count in range(1, min(_MAX_WORDS + 1, len(words))):
            if _NO_WORD.search(words[-count]):
                break
            yield f"/{_REST}/{'/'.join(words[-count:])}{field}{end}"
    if len(segments) > 1 and not _NO_WORD.search(segments[0]):
        yield f"/{segments[0]}/{_REST}"
