"""The stats of the plugin. Each is one entry, and the table in the docs is made from them."""

from __future__ import annotations

import logging
from enum import Enum
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from scrapy_urlcanon.wording import by_count, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

PREFIX: Final = "urlcanon/"
OTHER_DOMAINS: Final = "other"
"""Takes the place of all domains without a stat of their own."""
NO_NEWS: Final = "urlcanon_no_news"
"""Scrapy's ``finish_reason`` of a crawl that ``URLCANON_STOP`` ended."""
_LONGEST_NAME: Final = 200
_refused: WeakSet[Crawler] = WeakSet()
"""The crawls whose collector refused a stat, which is logged once."""


def name_in_stats(text: str) -> str:
    """Return *text* in the form used in keys of stats.

    It may be shortened: parameters and path shapes of a site may be as long as a URL.

    >>> name_in_stats("drop_params:sid"), len(name_in_stats(2_000 * "a"))
    ('drop_params:sid', 203)
    """
    return shortened(text, _LONGEST_NAME)


def figures_under(prefix: str, figures: Mapping[str, int]) -> dict[str, int]:
    """Return those of *figures* whose names begin with *prefix*, by the rest of the name.

    >>> figures_under("dropped/", {"dropped": 3, "dropped/exact": 1, "dropped/variant": 2})
    {'exact': 1, 'variant': 2}
    """
    return {
        name.removeprefix(prefix): count
        for name, count in figures.items()
        if name.startswith(prefix)
    }


class Stat(Enum):
    """The name of a stat after ``urlcanon/``, perhaps with placeholders; its docstring is Markdown.

    >>> Stat.DROPPED_BY_RULE.key(option="www")
    'urlcanon/dropped/rule/www'
    """

    REQUESTS = "requests"
    """Requests that came to the scheduler, of the spider and of the plugin itself: those that it
    took and those that it dropped."""
    DROPPED = "dropped"
    """Requests that were dropped as duplicates, as the scheduler reports them, with any duplicate
    filter."""
    DROPPED_EXACT = "dropped/exact"
    """Dropped requests for the very same URL as one before."""
    DROPPED_VARIANT = "dropped/variant"
    """Dropped requests for another URL of a page; `exact` and `variant` add up to `dropped`."""
    DROPPED_SCRAPY_WOULD_KEEP = "dropped/scrapy_would_keep"
    """Distinct variants that Scrapy alone would have fetched. A variant counts again if it comes
    again after 100,000 others, in a later run of a job, or in another process."""
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
    """Requests that were not scheduled because of this template of `skip`; `urlcanon/requests` does
    not count them."""
    SKIP_PLACED = "skip/placed"
    """Skipped requests for which the URL in `URLCANON_SKIP_PLACES` was requested instead. If that
    URL had been requested before, `urlcanon/dropped/rule/skip` counts it too."""
    REDIRECT_HOPS = "redirect_hops"
    """Redirects to the canonical form of their own URL, which were followed."""
    REDIRECT_HOPS_REWRITABLE = "redirect_hops/rewritable"
    """How many of these `URLCANON_REWRITE` would have spared, since the redirect led to the very
    canonical URL."""
    REWRITTEN = "rewritten"
    """Requests whose URL `URLCANON_REWRITE` replaced by the canonical one. If such a request is
    dropped, it counts as one for the URL that was linked."""
    REWRITE_SIGNED = "rewrite/signed"
    """Requests whose URL it did not replace, because the URL carries a signature."""
    RESCUED = "rescued"
    """Pages that a dropped variant brought, after the kept URL had failed or was no longer
    remembered (`URLCANON_REMEMBERED_PAGES`)."""
    RESCUE_SENT = "rescue/sent"
    """Dropped variants that were sent to rescue a page."""
    RESCUE_GIVEN_UP = "rescue/given_up"
    """Dropped variants that can no longer be sent, because more than `URLCANON_RESCUE_MAX_PENDING`
    waited, or more than `URLCANON_PENDING_MAX_BYTES` of them."""
    AUDITED = "audited"
    """Dropped variants that `URLCANON_AUDIT` fetched and compared with the kept page, and skipped
    URLs whose page it looked for."""
    AUDIT_FALSE_MERGE = "audit/false_merge"
    """Audited variants that showed another page, and skipped URLs whose page was found nowhere
    else; the spider got these pages."""
    AUDIT_UNJUDGED = "audit/unjudged"
    """URLs that were fetched for the audit without a verdict: the pages could not be compared, or
    what they show proves nothing."""
    AUDIT_RULE_SAME = "audit/rule/{rule}/{domain}/same"
    """Audited variants due to one entry of an option, such as `drop_params:sid`, that showed the
    kept page. While the crawl runs these figures are of the first 20 entries, at the end of the 20
    with the most."""
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
    """Requests that the audit sent: for dropped variants, for skipped URLs, and for kept URLs a
    second time."""
    AUDIT_LET_THROUGH = "audit/let_through"
    """Dropped variants that were fetched because their rule was turned off."""
    AUDIT_ASKED_AGAIN = "audit/asked_again"
    """Dropped variants that were fetched because their page showed the same as several others, as
    pages behind a captcha do."""
    AUDIT_FORGOTTEN = "audit/forgotten"
    """Dropped variants that can no longer be fetched if their rule is turned off, because there are
    more than `URLCANON_AUDIT_MAX_PENDING`, or more than `URLCANON_PENDING_MAX_BYTES` of them."""
    DECLARED = "declared_canonical/declared"
    """Pages that declare another URL of their registrable domain, with
    `URLCANON_DECLARED_CANONICAL`. What was dropped because of that is counted by
    `urlcanon/dropped/rule/declared_canonical`."""
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
    """Dropped pages that can no longer be fetched then, for lack of room."""
    CLEAN_PARAM_TAKEN = "clean_param/taken"
    """Rules that `URLCANON_CLEAN_PARAM` took from robots.txt files."""
    CLEAN_PARAM_NOT_TAKEN = "clean_param/not_taken"
    """Lines of robots.txt files, or names in them, that it did not take; the log says why."""
    PROFILE_RECOGNISED = "profile/recognised/{profile}"
    """Places (a host and a path) at which this program was recognised, by [its
    profile](profiles.md)."""
    PART_SHOWN = "profile/part/shown"
    """Requests for a part of a page, such as a post of a topic, that were not sent because a
    fetched page shows it; `urlcanon/requests` does not count them."""
    PART_FETCHED = "profile/part/fetched"
    """Requests for a part of a page that were held back, and sent at the end, because no page
    showed the part."""
    SEEN_SKIPPED = "seen/skipped"
    """Requests for pages that an earlier run got, according to `URLCANON_SEEN`; `urlcanon/requests`
    does not count them."""
    SEEN_NOTED = "seen/noted"
    """Pages that this run got and noted for later runs, and URLs that redirected to them."""
    RECORDED = "recorded"
    """Responses and redirects that were written to the store of `URLCANON_RECORD`."""
    RECORD_REVISITED = "record/revisited"
    """Pages that were fetched a second time for it, to see what changes from visit to visit."""
    RECORD_REFUSED = "record/refused"
    """Responses and redirects that could not be written to it."""
    NOVELTY_FETCHED = "novelty/fetched"
    """Fetches that the order by novelty (`URLCANON_ORDER`) learned from: pages, and redirects whose
    target is not fetched, or was fetched before."""
    NOVELTY_WORDS = "novelty/words"
    """About how many words these pages had in lines that no earlier page had."""
    NOVELTY_WITH_NEWS = "novelty/with_news"
    """How many of these pages brought [enough to count as news](order.md#when-it-is-done)."""
    NOVELTY_DECILE_FETCHES = "novelty/decile/{decile}/fetches"
    """Pages by how much of each was expected to be new before it was fetched, in tenths: in decile
    3, from 0.3 to 0.4."""
    NOVELTY_DECILE_EXPECTED = "novelty/decile/{decile}/expected"
    """How much of these was expected to be new, on average, in thousandths."""
    NOVELTY_DECILE_OBSERVED = "novelty/decile/{decile}/observed"
    """How much of these was new, on average, in thousandths."""
    NOVELTY_TRAP = "novelty/trap/{kind}"
    """Fetches of one kind of URLs that brought next to nothing, for the 20 kinds with the most."""
    NOVELTY_LEFT = "novelty/left"
    """Requests that were not fetched because `URLCANON_STOP` ended the crawl, or that of their
    site."""
    JOB_RESUMED = "job/resumed"
    """1 in a later run of a job. All stats are of one run."""
    JOB_RECOVERED = "job/recovered"
    """Requests of a job that were scheduled again because the run before was killed."""
    JOB_FETCHED_TWICE = "job/fetched_twice"
    """Requests that the run before had sent when it was killed: an upper bound of what is fetched
    twice."""
    JOB_UNSERIALIZABLE = "job/unserializable"
    """Requests that cannot be written to the journal of a job. After a kill, more is fetched again
    because of them."""
    JOB_UNWRITTEN = "job/unwritten"
    """Records and files of a job that could not be written, for example on a full disk; the log
    says which file."""

    def key(self, **names: str) -> str:
        """Return the key in Scrapy's stats.

        :param names: the values of the placeholders.
        """
        shown = {placeholder: name_in_stats(name) for placeholder, name in names.items()}
        return PREFIX + self.value.format(**shown)

    def inc(self, crawler: Crawler, count: int = 1, **names: str) -> None:
        """Add *count* to this stat of *crawler*; *names* are as for :meth:`key`."""
        _tell(crawler, crawler.stats.inc_value, self.key(**names), count)

    def set(self, crawler: Crawler, value: float | str, **names: str) -> None:
        """Set this stat of *crawler* to *value*; *names* are as for :meth:`key`."""
        _tell(crawler, crawler.stats.set_value, self.key(**names), value)

    def counts(self, stats: Mapping[str, Any]) -> dict[str, int]:
        """Return the counts in *stats* by the value of the only placeholder, highest first.

        >>> Stat.SKIPPED.counts({"urlcanon/skipped//a": 1, "urlcanon/skipped//b": 2})
        {'/b': 2, '/a': 1}
        """
        return dict(by_count(figures_under(PREFIX + self.value.partition("{")[0], stats)))


OWN_REQUESTS: Final = (
    Stat.AUDIT_FETCHES,
    Stat.AUDIT_LET_THROUGH,
    Stat.AUDIT_ASKED_AGAIN,
    Stat.DECLARED_RELEASED,
    Stat.RESCUE_SENT,
)
"""Of the requests that the plugin sent although one for their page had been dropped."""


def _tell(crawler: Crawler, tell: Callable[[str, Any], None], key: str, value: Any) -> None:
    """Call *tell* with *key* and *value*. If it raises, no page is to be lost because of that.

    The collector (``STATS_CLASS``) may be the user's, and take other keys or values than these.
    """
    try:
        tell(key, value)
    except Exception:
        if crawler not in _refused:
            _refused.add(crawler)
            logger.exception(
                "The stat %(key)s cannot be kept. The crawl goes on, and no further one is logged.",
                {"key": key},
                extra={"spider": crawler.spider},
            )
