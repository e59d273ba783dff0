"""``scrapy urlcanon profiles`` and ``profile``: known programs, and which of them made a page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import UsageError

from scrapy_urlcanon.canonicalizer.parsing import parse
from scrapy_urlcanon.commands.base import Action
from scrapy_urlcanon.crawl.settings import CrawlSettings
from scrapy_urlcanon.crawl.software.known_software import recognised_by
from scrapy_urlcanon.exceptions import UnparsableUrlError, did_you_mean
from scrapy_urlcanon.profiles.catalogue import chosen, named
from scrapy_urlcanon.profiles.rules import options_shown
from scrapy_urlcanon.redaction import shown_url, visible
from scrapy_urlcanon.report.screen import Screen
from scrapy_urlcanon.validate.spider import APART
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from scrapy.http import Response
    from scrapy.settings import Settings

    from scrapy_urlcanon.profiles.profile import Profile
    from scrapy_urlcanon.profiles.rules import DocumentedRule

_PATH_HELP = "the path of a profile of your own; may be repeated"


class Profiles(Action):
    """List the profiles, or show one."""

    place = 22
    name = "profiles"
    help = "list the known programs, or show all about one"
    description = """\
List the programs whose pages are recognised, or show what is known about one: the signs by
which it is recognised, and its rules, each with what it merges, why that is one page, and the
source. Certain rules apply wherever the program is recognised; the others are suspicions, which
drop nothing.

  scrapy urlcanon profiles
  scrapy urlcanon profiles mediawiki
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("program", nargs="?", metavar="NAME", help="show all about this one")
        parser.add_argument("--file", action="append", default=[], metavar="PATH", help=_PATH_HELP)

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        del settings
        profiles = chosen(["*", *arguments.file], setting="--file")
        screen = Screen.of_process()
        if arguments.program is None:
            screen.table([_row(profile) for profile in sorted(profiles, key=_name)], numbers=0)
            return 0
        wanted = arguments.program.lower()
        # A profile of the user replaces the built-in one of the same name.
        shown = {_name(profile): profile for profile in profiles}
        found = shown.get(wanted) or named(arguments.program)
        if found:
            _show(shown[_name(found)], screen)
            return 0
        names = [profile.name for profile in profiles]
        message = f"no such profile: {arguments.program}{did_you_mean(arguments.program, names)}"
        raise UsageError(message)


class ProfileOf(Action):
    """Say which program made a page."""

    place = 24
    name = "profile"
    help = "fetch a page and say which program made it"
    description = """\
Fetch one page with the settings of the project, and say which known program made it, by which
signs, where it is installed, and which rules apply there. The exit status is 1 if none is
recognised.

  scrapy urlcanon profile https://www.mediawiki.org/
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("url", metavar="URL")
        parser.add_argument("--file", action="append", default=[], metavar="PATH", help=_PATH_HELP)

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        own = chosen(arguments.file, setting="--file")
        try:
            parse(arguments.url, [])
        except UnparsableUrlError as error:
            raise UsageError(f"{shown_url(arguments.url)}: {error}") from error
        profiles = (*CrawlSettings.load(settings).chosen_profiles(), *own)
        # An error page shows which program made it too.
        for name, value in {**APART, "HTTPERROR_ALLOW_ALL": True}.items():
            settings.set(name, value, "cmdline")
        responses: list[Response] = []
        process = CrawlerProcess(settings)
        crawler = process.create_crawler(_OnePage)
        process.crawl(crawler, url=arguments.url, responses=responses)
        process.start()
        if not responses:
            reason = "could not be fetched; run with -L DEBUG to see why"
            print(f"{shown_url(arguments.url)} {reason}", file=sys.stderr)
            return 1
        screen = Screen.of_process()
        found = recognised_by(responses[0], profiles)
        if not found:
            screen.line((f"no known program made {shown_url(responses[0].url)}", "yellow"))
            return 1
        for one in found:
            screen.line((visible(str(one)), "bold green"))
            screen.line((f"by {visible(', '.join(one.signs))}", "dim"), indent=2)
            for rule_set in one.rule_sets(certain=True):
                options = options_shown(rule_set.options)
                screen.line((f"{rule_set.layer.pattern}", "cyan"), f"  {options}", indent=2)
        return 0


class _OnePage(Spider):
    """Fetches one page."""

    name = "urlcanon-profile"

    def __init__(self, url: str, responses: list[Response]) -> None:
        super().__init__()
        self._url = url
        self._responses = responses

    async def start(self) -> AsyncIterator[Request]:
        """Yield the request for the page."""
        yield Request(self._url)

    def parse(self, response: Response) -> None:
        """Keep *response*."""
        self._responses.append(response)


def _name(profile: Profile) -> str:
    return profile.name.lower()


def _row(profile: Profile) -> tuple[str, str, str]:
    rules = profile.all_rules
    certain = sum(rule.is_certain for rule in rules)
    return (
        profile.name,
        profile.kind,
        f"{count_of(certain, 'certain rule')}, {count_of(len(rules) - certain, 'suspicion')}",
    )


def _show(profile: Profile, screen: Screen) -> None:
    screen.line((profile.name, "bold"), f", {profile.kind}")
    screen.heading("Signs")
    for sign in profile.signs:
        screen.line(str(sign), (" (enough by itself)" if sign.is_certain else "", "dim"), indent=2)
    for title, is_certain in (("Certain", True), ("Suspicions", False)):
        rules = [rule for rule in profile.all_rules if rule.is_certain is is_certain]
        if rules:
            screen.heading(title)
        for rule in rules:
            _show_rule(rule, screen)


def _show_rule(rule: DocumentedRule, screen: Screen) -> None:
    screen.line((rule.merges, "bold"), indent=2)
    screen.line(f"since {rule.because}", indent=4)
    for text in rule.lines():
        screen.line((text, "cyan"), indent=4)
    screen.line((f"{rule.source}; {rule.proved_by}", "dim"), indent=4)
