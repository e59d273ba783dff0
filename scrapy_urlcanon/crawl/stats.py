"""The stats of the plugin: each is one entry, and the table of the docs is made of them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

PREFIX: Final = "urlcanon/"
OTHER_DOMAINS: Final = "other"
"""In the place of a domain: all those that have no stat of their own."""


class Stat(Enum):
    """A name after ``urlcanon/``, which may have placeholders; its docstring is in Markdown.

    >>> Stat.DROPPED_BY_RULE.key(option="www")
    'urlcanon/dropped/rule/www'
    """

    REQUESTS = "requests"
    """Requests that came to the scheduler: those that it took and those that it dropped."""
    DROPPED = "dropped"
    """Of these, dropped as duplicates: what the scheduler reported, whatever the duplicate
    filter."""
    DROPPED_EXACT = "dropped/exact"
    """The very same URL was seen before."""
    DROPPED_VARIANT = "dropped/variant"
    """Another URL of the page was; exact and variant are all that was dropped."""
    DROPPED_SCRAPY_WOULD_KEEP = "dropped/scrapy_would_keep"
    """Distinct ones among the variants that Scrapy alone would have fetched; one that comes again
    after 100,000 others counts again."""
    DROPPED_BY_RULE = "dropped/rule/{option}"
    """Variants due to an option, or to a normalization that is always on."""
    DROPPED_BY_ENTRY = "dropped/entry/{rule}"
    """Variants due to one entry of an option, such as `drop_params:sid`: the 100 with the most."""
    DROPPED_ON_DOMAIN = "dropped/domain/{domain}"
    """Dropped by registrable domain: the 20 with the most, and `other`."""
    UNPARSABLE = "unparsable"
    """Distinct URLs that could not be parsed, and were left alone."""
    SKIPPED = "skipped/{template}"
    """Requests that a template of `skip` kept from the scheduler; they are none of the
    requests above."""
    SKIP_PLACED = "skip/placed"
    """Of these, those whose page is known to `URLCANON_SKIP_PLACES`. Its URL was requested in their
    place; where that had been requested before, `urlcanon/dropped/rule/skip` counts it."""
    REDIRECT_HOPS = "redirect_hops"
    """Redirects to the canonical form of their own URL, which were followed."""
    REDIRECT_HOPS_REWRITABLE = "redirect_hops/rewritable"
    """Of these, those that lead to the URL that `URLCANON_REWRITE` fetches in the first place."""
    REWRITTEN = "rewritten"
    """Requests whose URL was replaced, where `URLCANON_REWRITE` is on."""
    REWRITE_SIGNED = "rewrite/signed"
    """Requests whose URL was not replaced, since a signature is part of it."""
    RESCUED = "rescued"
    """Pages that a dropped variant gave after the URL that was kept had failed."""
    RESCUE_SENT = "rescue/sent"
    """Dropped variants that were sent for that."""
    RESCUE_GIVEN_UP = "rescue/given_up"
    """Dropped variants that cannot be sent any more: more were waiting than
    `URLCANON_RESCUE_MAX_PENDING`, or they took more than `URLCANON_PENDING_MAX_BYTES`."""
    AUDITED = "audited"
    """Dropped variants that `URLCANON_AUDIT` had fetched and compared with the page that was
    kept, and skipped URLs whose page it looked for."""
    AUDIT_FALSE_MERGE = "audit/false_merge"
    """Of these, those that were another page, or found nowhere else, which the spider got."""
    AUDIT_UNJUDGED = "audit/unjudged"
    """Those that were fetched and could not be compared, or prove nothing."""
    AUDIT_RULE_SAME = "audit/rule/{rule}/{domain}/same"
    """Variants due to one entry of an option on a domain, such as `drop_params:sid`, that showed
    the page that was kept; of the first 20 while it crawls, and of the 20 with the most in the
    end."""
    AUDIT_RULE_ANOTHER = "audit/rule/{rule}/{domain}/another"
    """Those that showed another page because of it."""
    AUDIT_RULE_CANNOT_TELL = "audit/rule/{rule}/{domain}/cannot_tell"
    """Those of which nothing could be told."""
    AUDIT_RULE_OUTCOME = "audit/rule/{rule}/{domain}/outcome"
    """What all of them say of the entry: `holds`, `fails`, or `open`."""
    AUDIT_RULE_UNTIL = "audit/rule/{rule}/{domain}/until"
    """How many pages the spider had when it was turned off."""
    AUDIT_RULE_NOISE = "audit/rule/{rule}/{domain}/noise"
    """How many lines of the pages of the domain are others at each visit, and count for nothing."""
    AUDIT_SUSPENDED = "audit/suspended/{rule}"
    """Domains for which an entry, or an option of one value, was turned off during the crawl."""
    AUDIT_LET_THROUGH = "audit/let_through"
    """Dropped variants that were fetched because their option was turned off."""
    AUDIT_ASKED_AGAIN = "audit/asked_again"
    """Dropped variants that were fetched because their page, as several others, had shown what may
    have been a captcha."""
    AUDIT_FORGOTTEN = "audit/forgotten"
    """Dropped variants that could not be fetched then: more were dropped than
    `URLCANON_AUDIT_MAX_PENDING`, or they took more than `URLCANON_PENDING_MAX_BYTES`."""
    DECLARED = "declared_canonical/declared"
    """Pages that declare another URL of their registrable domain, where
    `URLCANON_DECLARED_CANONICAL` is on; what was dropped for it counts under
    `urlcanon/dropped/rule/declared_canonical`."""
    DECLARED_FOREIGN = "declared_canonical/foreign"
    """Pages that declare a URL of another domain."""
    DECLARED_IMPLAUSIBLE = "declared_canonical/implausible"
    """Declarations of a kind that is never believed."""
    DECLARED_COMPARED = "declared_canonical/compared"
    """Times that a page was compared with what it declares."""
    DECLARED_WRONG = "declared_canonical/wrong"
    """Of these, those that found another page."""
    DECLARED_DISTRUSTED = "declared_canonical/distrusted"
    """Ways of declaring that were believed, until something wrong was found."""
    DECLARED_RELEASED = "declared_canonical/released"
    """Pages that had been dropped and were fetched for that reason."""
    DECLARED_FORGOTTEN = "declared_canonical/forgotten"
    """Pages whose drops can no longer be let through, for lack of room."""
    CLEAN_PARAM_TAKEN = "clean_param/taken"
    """Rules that were taken over from robots.txt files, where `URLCANON_CLEAN_PARAM` is on."""
    CLEAN_PARAM_NOT_TAKEN = "clean_param/not_taken"
    """Lines of robots.txt files, or names in them, that were not; the log says why."""
    PROFILE_RECOGNISED = "profile/recognised/{profile}"
    """Places of hosts at which this program was recognised, by [its profile](profiles.md)."""
    PART_SHOWN = "profile/part/shown"
    """Requests for a part of a page, such as a post of a topic, that were not sent, since a page
    that was fetched shows it; they are none of the requests above."""
    PART_FETCHED = "profile/part/fetched"
    """Requests for a part of a page that were held back, and sent in the end: no page showed it."""
    SEEN_SKIPPED = "seen/skipped"
    """Requests for pages that an earlier run has got, where `URLCANON_SEEN` is on; they are none of
    the requests above."""
    SEEN_NOTED = "seen/noted"
    """Pages that this run has got, and what redirected to them."""
    RECORDED = "recorded"
    """Responses and redirects that the store of `URLCANON_RECORD` kept."""
    RECORD_REVISITED = "record/revisited"
    """Pages that were fetched again, to see what of them is another one at each visit."""
    RECORD_REFUSED = "record/refused"
    """Those that it did not keep: it was full, or could not be written."""
    NOVELTY_FETCHED = "novelty/fetched"
    """Pages that an order by novelty was told of, where `URLCANON_ORDER` is on."""
    NOVELTY_WORDS = "novelty/words"
    """About how many words they had in lines that no page before had."""
    NOVELTY_WITH_NEWS = "novelty/with_news"
    """How many of them brought something new."""
    NOVELTY_DECILE_FETCHES = "novelty/decile/{decile}/fetches"
    """Of how many a share of so many tenths was expected to be new, before they were fetched."""
    NOVELTY_DECILE_EXPECTED = "novelty/decile/{decile}/expected"
    """What was expected of them on average, in thousandths."""
    NOVELTY_DECILE_OBSERVED = "novelty/decile/{decile}/observed"
    """What they brought on average, in thousandths."""
    NOVELTY_TRAP = "novelty/trap/{kind}"
    """Fetches of a kind of URLs that brought next to nothing; the 20 with the most."""
    NOVELTY_LEFT = "novelty/left"
    """Requests that were not fetched, since `URLCANON_STOP` ended the crawl or the site."""
    JOB_RECOVERED = "job/recovered"
    """Requests that were scheduled again because the run before was killed."""
    JOB_FETCHED_TWICE = "job/fetched_twice"
    """At most so many of the requests of a job that was killed had been sent by a run before."""
    JOB_UNSERIALIZABLE = "job/unserializable"
    """Requests that cannot be written to the journal of a job: more is fetched again after a
    kill."""
    JOB_UNWRITTEN = "job/unwritten"
    """Records and files of a job that could not be written, as on a full disk; the log says which
    file."""

    def key(self, **names: str) -> str:
        """Return the key in Scrapy's stats.

        :param names: the values of the placeholders.
        """
        return PREFIX + self.value.format(**names)

    def counts(self, stats: Mapping[str, Any]) -> dict[str, int]:
        """Return the counts in *stats* by the value of the only placeholder, the highest first.

        >>> Stat.SKIPPED.counts({"urlcanon/skipped//a": 1, "urlcanon/skipped//b": 2})
        {'/b': 2, '/a': 1}
        """
        prefix = PREFIX + self.value.partition("{")[0]
        found = [
            (name.removeprefix(prefix), count)
            for name, count in stats.items()
            if name.startswith(prefix)
        ]
        return dict(sorted(found, key=lambda item: (-item[1], item[0])))


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
