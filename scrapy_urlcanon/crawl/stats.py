"""The stats of the plugin: each is one entry, and the table of the docs is made of them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from scrapy_urlcanon.wording import by_count, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

PREFIX: Final = "urlcanon/"
OTHER_DOMAINS: Final = "other"
"""In the place of a domain: all those that have no stat of their own."""
_LONGEST_NAME: Final = 200


def name_in_stats(text: str) -> str:
    """Return *text* as it stands in the key of a stat.

    What a site calls its parameters, and the shapes of its paths, may be as long as a URL.

    >>> name_in_stats("drop_params:sid"), len(name_in_stats(2_000 * "a"))
    ('drop_params:sid', 203)
    """
    return shortened(text, _LONGEST_NAME)


def figures_under(prefix: str, figures: Mapping[str, int]) -> dict[str, int]:
    """Return those of *figures* whose names begin with *prefix*, by the rest of their names.

    >>> figures_under("dropped/", {"dropped": 3, "dropped/exact": 1, "dropped/variant": 2})
    {'exact': 1, 'variant': 2}
    """
    return {
        name.removeprefix(prefix): count
        for name, count in figures.items()
        if name.startswith(prefix)
    }


class Stat(Enum):
    """A name after ``urlcanon/``, which may have placeholders; its docstring is in Markdown.

    >>> Stat.DROPPED_BY_RULE.key(option="www")
    'urlcanon/dropped/rule/www'
    """

    REQUESTS = "requests"
    """Requests that the scheduler got: those that it took and those that it dropped, of the
    spider and of the plugin itself."""
    DROPPED = "dropped"
    """Requests that were dropped as duplicates, as the scheduler reports them, with any duplicate
    filter."""
    DROPPED_EXACT = "dropped/exact"
    """Dropped requests for the very same URL as one before."""
    DROPPED_VARIANT = "dropped/variant"
    """Dropped requests for another URL of a page; `exact` and `variant` add up to `dropped`."""
    DROPPED_SCRAPY_WOULD_KEEP = "dropped/scrapy_would_keep"
    """Distinct variants that Scrapy alone would have fetched; one that comes again after 100,000
    others, in a later run of a job or in another process counts again."""
    DROPPED_BY_RULE = "dropped/rule/{option}"
    """Variants due to an option, or to a normalization that is always on."""
    DROPPED_BY_ENTRY = "dropped/entry/{rule}"
    """Variants due to one entry of an option, such as `drop_params:sid`, for the 100 entries with
    the most."""
    DROPPED_ON_DOMAIN = "dropped/domain/{domain}"
    """Dropped requests by registrable domain, for the 20 with the most, and `other`."""
    UNPARSABLE = "unparsable"
    """Distinct URLs that could not be parsed, and were left alone."""
    SKIPPED = "skipped/{template}"
    """Requests that a template of `skip` kept from the scheduler; `urlcanon/requests` does not
    count them."""
    SKIP_PLACED = "skip/placed"
    """Skipped requests whose page `URLCANON_SKIP_PLACES` knows: its URL was requested instead. If
    that had been requested before, `urlcanon/dropped/rule/skip` counts it."""
    REDIRECT_HOPS = "redirect_hops"
    """Redirects to the canonical form of their own URL, which were followed."""
    REDIRECT_HOPS_REWRITABLE = "redirect_hops/rewritable"
    """Such redirects to the very URL that `URLCANON_REWRITE` would have fetched in the first
    place."""
    REWRITTEN = "rewritten"
    """Requests whose URL `URLCANON_REWRITE` replaced. Where such a one is dropped, the URL that was
    linked counts."""
    REWRITE_SIGNED = "rewrite/signed"
    """Requests whose URL was not replaced, because it carries a signature."""
    RESCUED = "rescued"
    """Pages that a dropped variant gave after the kept URL had failed, or was no longer remembered
    (`URLCANON_REMEMBERED_PAGES`)."""
    RESCUE_SENT = "rescue/sent"
    """Dropped variants that were sent to rescue a page."""
    RESCUE_GIVEN_UP = "rescue/given_up"
    """Dropped variants that can no longer be sent: more than `URLCANON_RESCUE_MAX_PENDING` waited,
    or they took more than `URLCANON_PENDING_MAX_BYTES`."""
    AUDITED = "audited"
    """Dropped variants that `URLCANON_AUDIT` fetched and compared with the kept page, and skipped
    URLs whose page it looked for."""
    AUDIT_FALSE_MERGE = "audit/false_merge"
    """Audited URLs that showed another page, or one found nowhere else; the spider got it."""
    AUDIT_UNJUDGED = "audit/unjudged"
    """URLs that were fetched for the audit, but could not be compared or prove nothing."""
    AUDIT_RULE_SAME = "audit/rule/{rule}/{domain}/same"
    """Audited variants due to one entry of an option, such as `drop_params:sid`, that showed the
    kept page; for the first 20 entries while the crawl runs, and for the 20 with the most at the
    end."""
    AUDIT_RULE_ANOTHER = "audit/rule/{rule}/{domain}/another"
    """Audited variants that showed another page because of this entry."""
    AUDIT_RULE_CANNOT_TELL = "audit/rule/{rule}/{domain}/cannot_tell"
    """Audited variants due to this entry that could not be judged."""
    AUDIT_RULE_OUTCOME = "audit/rule/{rule}/{domain}/outcome"
    """The verdict on the entry: `holds`, `fails` or `open`."""
    AUDIT_RULE_UNTIL = "audit/rule/{rule}/{domain}/until"
    """How many pages the spider had got when the entry was turned off."""
    AUDIT_RULE_NOISE = "audit/rule/{rule}/{domain}/noise"
    """How many lines of the domain's pages change from visit to visit, and are ignored."""
    AUDIT_SUSPENDED = "audit/suspended/{option}"
    """Domains on which an option with a single value was turned off."""
    AUDIT_SUSPENDED_ENTRY = "audit/suspended/{option}/{entry}"
    """Domains on which one entry of an option, such as `sid` of `drop_params`, was turned off."""
    AUDIT_FETCHES = "audit/fetches"
    """Requests that the audit sent: for dropped variants and skipped URLs, and for kept URLs once
    more."""
    AUDIT_LET_THROUGH = "audit/let_through"
    """Dropped variants that were fetched because their rule was turned off."""
    AUDIT_ASKED_AGAIN = "audit/asked_again"
    """Dropped variants that were fetched because their page and several others had shown what may
    be a captcha."""
    AUDIT_FORGOTTEN = "audit/forgotten"
    """Dropped variants that could no longer be fetched when their rule was turned off: more than
    `URLCANON_AUDIT_MAX_PENDING`, or `URLCANON_PENDING_MAX_BYTES`, had been dropped."""
    DECLARED = "declared_canonical/declared"
    """Pages that declare another URL of their registrable domain, with
    `URLCANON_DECLARED_CANONICAL`; `urlcanon/dropped/rule/declared_canonical` counts what was
    dropped for it."""
    DECLARED_FOREIGN = "declared_canonical/foreign"
    """Pages that declare a URL of another domain."""
    DECLARED_IMPLAUSIBLE = "declared_canonical/implausible"
    """Declarations of a kind that is never believed."""
    DECLARED_COMPARED = "declared_canonical/compared"
    """Times that a page was compared with what it declares."""
    DECLARED_WRONG = "declared_canonical/wrong"
    """Such comparisons that found another page."""
    DECLARED_DISTRUSTED = "declared_canonical/distrusted"
    """Ways of declaring that were believed until a wrong one was found."""
    DECLARED_RELEASED = "declared_canonical/released"
    """Dropped pages that were fetched because their way of declaring is no longer believed."""
    DECLARED_FORGOTTEN = "declared_canonical/forgotten"
    """Dropped pages that could no longer be fetched then, for lack of room."""
    CLEAN_PARAM_TAKEN = "clean_param/taken"
    """Rules that `URLCANON_CLEAN_PARAM` took from robots.txt files."""
    CLEAN_PARAM_NOT_TAKEN = "clean_param/not_taken"
    """Lines of robots.txt files, or names in them, that it did not take; the log says why."""
    PROFILE_RECOGNISED = "profile/recognised/{profile}"
    """Places of hosts at which this program was recognised, by [its profile](profiles.md)."""
    PART_SHOWN = "profile/part/shown"
    """Requests for a part of a page, such as a post of a topic, that were not sent because a
    fetched page shows it; `urlcanon/requests` does not count them."""
    PART_FETCHED = "profile/part/fetched"
    """Requests for a part of a page that were held back, and sent at the end: no page showed it."""
    SEEN_SKIPPED = "seen/skipped"
    """Requests for pages that an earlier run got, according to `URLCANON_SEEN`; `urlcanon/requests`
    does not count them."""
    SEEN_NOTED = "seen/noted"
    """Pages that this run got, and URLs that redirected to them."""
    RECORDED = "recorded"
    """Responses and redirects that the store of `URLCANON_RECORD` kept."""
    RECORD_REVISITED = "record/revisited"
    """Pages that were fetched a second time, to see what changes from visit to visit."""
    RECORD_REFUSED = "record/refused"
    """Responses and redirects that it did not keep: it was full, or could not be written."""
    NOVELTY_FETCHED = "novelty/fetched"
    """Pages that the order by novelty learned from, with `URLCANON_ORDER`, and redirects to what is
    not fetched again, or at all."""
    NOVELTY_WORDS = "novelty/words"
    """About how many words these pages had in lines that no page before had."""
    NOVELTY_WITH_NEWS = "novelty/with_news"
    """How many of these pages brought something new."""
    NOVELTY_DECILE_FETCHES = "novelty/decile/{decile}/fetches"
    """Pages of which this many tenths were expected to be new, before they were fetched."""
    NOVELTY_DECILE_EXPECTED = "novelty/decile/{decile}/expected"
    """What was expected of these on average, in thousandths."""
    NOVELTY_DECILE_OBSERVED = "novelty/decile/{decile}/observed"
    """What these brought on average, in thousandths."""
    NOVELTY_TRAP = "novelty/trap/{kind}"
    """Fetches of a kind of URLs that brought next to nothing, for the 20 kinds with the most."""
    NOVELTY_LEFT = "novelty/left"
    """Requests that were not fetched because `URLCANON_STOP` ended the crawl or the site."""
    JOB_RECOVERED = "job/recovered"
    """Requests that were scheduled again because the run before was killed."""
    JOB_FETCHED_TWICE = "job/fetched_twice"
    """Requests that the run before may have sent already when it was killed: an upper bound."""
    JOB_UNSERIALIZABLE = "job/unserializable"
    """Requests that cannot be written to the journal of a job, so that more is fetched again after
    a kill."""
    JOB_UNWRITTEN = "job/unwritten"
    """Records and files of a job that could not be written, for example on a full disk; the log
    says which file."""

    def key(self, **names: str) -> str:
        """Return the key in Scrapy's stats.

        :param names: the values of the placeholders.
        """
        shown = {placeholder: name_in_stats(name) for placeholder, name in names.items()}
        return PREFIX + self.value.format(**shown)

    def counts(self, stats: Mapping[str, Any]) -> dict[str, int]:
        """Return the counts in *stats* by the value of the only placeholder, the highest first.

        >>> Stat.SKIPPED.counts({"urlcanon/skipped//a": 1, "urlcanon/skipped//b": 2})
        {'/b': 2, '/a': 1}
        """
        return dict(by_count(figures_under(PREFIX + self.value.partition("{")[0], stats)))


class CrawlStats:
    """Counts in the stats of a crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def inc(self, stat: Stat, count: int = 1, **names: str) -> None:
        """Add *count* to *stat*."""
        self._crawler.stats.inc_value(stat.key(**names), count)

    def set(self, stat: Stat, value: float | str, **names: str) -> None:
        """Set *stat* to *value*."""
        self._crawler.stats.set_value(stat.key(**names), value)

    def all(self) -> dict[str, Any]:
        """Return all stats of the crawl, those of others too."""
        return self._crawler.stats.get_stats()
