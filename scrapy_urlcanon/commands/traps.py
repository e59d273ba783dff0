"""``scrapy urlcanon traps``: shows which kinds of URLs took fetches and brought nothing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.commands.base import Action
from scrapy_urlcanon.commands.observations import nothing_of, observations_of
from scrapy_urlcanon.crawl.answers import GONE
from scrapy_urlcanon.crawl.settings import configuration_of
from scrapy_urlcanon.exceptions import InputError, LearnError, ReportError
from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.readers import format_of
from scrapy_urlcanon.learn.readers.links import StoredLinks
from scrapy_urlcanon.novelty.kinds import Kinds
from scrapy_urlcanon.redaction import visible
from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.report.sections.news import Point
from scrapy_urlcanon.report.sections.traps import TrapRow

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from scrapy.settings import Settings

_SUCCESS = 2


class ShowTraps(Action):
    """Show the kinds of URLs that brought next to nothing, each with a line that ends it."""

    place = 42
    name = "traps"
    help = "show the kinds of URLs that took fetches and brought nothing new"
    description = """\
Show the kinds of URLs that took the most fetches of a crawl and brought next to nothing, each
with a line for URLCANON_RULES that would end it. In a report these are the kinds that the crawl
found with URLCANON_ORDER = "novelty"; in a store (URLCANON_RECORD), or another input of
"scrapy urlcanon learn", those whose pages showed what other pages had shown.

Look at some of the pages before you use a line: an article that a list has already shown in
full brings nothing new either, and would no longer be fetched. Only a report and a store say which
page links which: in other inputs, lists that say the same may be all that leads to the rest.

  scrapy urlcanon traps report.json
  scrapy urlcanon traps crawl.sqlite
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a JSON report, or a store")

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        path = Path(arguments.file)
        try:
            traps = list(_of_report(path) if path.suffix == ".json" else _of_store(path, settings))
        except LearnError as error:
            raise UsageError(str(error)) from error
        for trap in traps:
            print(f"{trap.fetches:10,}  {visible(trap.kind)}")
            if trap.setting:
                print(f"{'':12}{visible(trap.setting)}")
        if not traps:
            print("No kind of URLs took 20 fetches or more and brought next to nothing")
        return 0


def _of_report(path: Path) -> Iterator[TrapRow]:
    report = read_report(path)
    if not report.rows(Point):
        raise ReportError(
            f'{path}: its crawl had no URLCANON_ORDER = "novelty", so it says nothing of traps; '
            "the store of URLCANON_RECORD does"
        )
    yield from report.rows(TrapRow)


def _of_store(path: Path, settings: Settings) -> Iterator[TrapRow]:
    canonicalizer = Canonicalizer.from_configuration(configuration_of(settings))
    seen = set()
    skipped: Counter[str] = Counter()
    observation = None
    fetched: list[tuple[str, bool, bool]] = []
    for observation in observations_of([path], skipped):
        if observation.redirect:
            continue
        content = observation.main_sha1 or observation.text_sha1 or observation.raw_sha1
        is_success = observation.status // 100 == _SUCCESS
        if is_success and not content:
            # As in a list of URLs, which does not say what the pages showed.
            continue
        is_shown = is_success or observation.status in GONE
        fetched.append((observation.url, is_success and content not in seen, is_shown))
        seen.add(content)
    if observation is None:
        raise InputError(nothing_of([path], skipped))
    if not seen:
        raise InputError(
            f"{path}: it does not say what its URLs show, such as in a column main_sha1"
        )
    kinds = Kinds()
    canonical = canonicalizer.canonicalize
    found_on = _found_on(path, [url for url, _, _ in fetched])
    for url, is_new, is_shown in fetched:
        linked_by = canonical(found_on[url]) if url in found_on else ""
        kinds.note(canonical(url), 0, has_news=is_new, is_shown=is_shown, found_on=linked_by)
    for trap in kinds.traps():
        yield TrapRow(trap.kind, trap.fetches, trap.new, trap.setting)


def _found_on(path: Path, urls: Sequence[str]) -> dict[str, str]:
    """Return the URL of the first page that links to each of *urls*, where the store says so."""
    if format_of(path) != "store":
        return {}
    names = [*dict.fromkeys(urls)]
    rows = {url: row for row, url in enumerate(names)}
    found: dict[str, str] = {}
    for domain in dict.fromkeys(map(domain_of, names)):
        links = StoredLinks([path]).of(domain, lambda url: rows.get(url, NO_ROW))
        if links:
            for source, target in zip(links.sources, links.targets, strict=True):
                found.setdefault(names[target], names[source])
    return found
