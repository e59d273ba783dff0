"""The canonicalizer: maps a URL to its canonical URL, and explains each step."""

from __future__ import annotations

import marshal
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy_urlcanon.canonicalizer.configuration import Configuration, RuleSet, Source
from scrapy_urlcanon.canonicalizer.entries import Cause, RuleEntry
from scrapy_urlcanon.canonicalizer.explanation import Explanation, Step
from scrapy_urlcanon.canonicalizer.fast import FastPath
from scrapy_urlcanon.canonicalizer.layers import Layer, preset_layer
from scrapy_urlcanon.canonicalizer.parsing import normalize, parse
from scrapy_urlcanon.canonicalizer.patterns import Pattern
from scrapy_urlcanon.canonicalizer.policy import Policies
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.canonicalizer.rules.catalogue import taken_back
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.policy import Policy
    from scrapy_urlcanon.canonicalizer.rules import Catalogue, Rule
    from scrapy_urlcanon.canonicalizer.url import Url

MAX_PASSES = 10
"""How often the rules are applied to a URL. If they still change it then, they do not settle."""
_REMEMBERED_OPTIONS = 200
SCRAPY = "scrapy"
"""The name of the step in which Scrapy's own canonicalization changes a URL."""


class Canonicalizer:
    """Maps the URLs of one page to one canonical URL.

    >>> canonicalizer = Canonicalizer({"example.com": {"drop_params": ["sid"]}})
    >>> canonicalizer.canonicalize("HTTP://Example.com:80/a/../b?sid=1&id=2#top")
    'http://example.com/b?id=2'
    >>> for step in canonicalizer.explain("http://example.com/?sid=1").steps:
    ...     print(step.option, step.after, step.layer)
    drop_params http://example.com/ rules['example.com']

    A text that is not an http or https URL comes back unchanged. A canonical URL is its own
    canonical form. The time is linear in the length of the text.

    It reads no files; :class:`scrapy_urlcanon.Canonicalizer` does.

    :param rules: options by pattern, in the shape of the ``URLCANON_RULES`` setting.
    :param preset: ``scrapy``, ``safe`` or ``aggressive``.
    :raises ConfigurationError: with all problems of the configuration at once.
    """

    def __init__(
        self,
        rules: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        preset: str = DEFAULT_PRESET,
    ) -> None:
        sources = [] if rules is None else [Source("rules", rules)]
        self._setup(Configuration.load(preset, sources))

    @classmethod
    def from_configuration(cls, configuration: Configuration) -> Self:
        """Return a canonicalizer for a configuration that is already loaded.

        >>> from scrapy_urlcanon.rule_files.loading import load_configuration
        >>> configuration = load_configuration("safe", rules=[("rules", {"*": {"www": "strip"}})])
        >>> Canonicalizer.from_configuration(configuration).canonicalize("http://www.example.com/")
        'http://example.com/'
        """
        self = cls.__new__(cls)
        self._setup(configuration)
        return self

    def _setup(self, configuration: Configuration, policies: Policies | None = None) -> None:
        self.configuration = configuration
        self._policies = policies or Policies(configuration)
        self.fast_path = FastPath(self._policies)
        """Gives the results of :meth:`canonical_or_none` for common URLs, and faster."""
        self._overrides_of = lru_cache(_REMEMBERED_OPTIONS)(self._unpacked)

    def __getstate__(self) -> tuple[Configuration, Mapping[str, tuple[RuleSet, ...]]]:
        # All else is made of these two, also after unpickling.
        return self.configuration, self._policies.declared

    def __setstate__(self, state: tuple[Configuration, Mapping[str, tuple[RuleSet, ...]]]) -> None:
        configuration, declared = state
        self._setup(configuration)
        for host, rule_sets in declared.items():
            self.declare(host, rule_sets)

    def __copy__(self) -> Self:
        """Return a copy with the present rules, which later calls of :meth:`suspend` do not change.

        >>> from copy import copy
        >>> canonicalizer = Canonicalizer({"*": {"drop_params": ["id"]}})
        >>> before = copy(canonicalizer)
        >>> canonicalizer.suspend(RuleEntry("drop_params", "id"), "example.com")
        >>> before.canonicalize("http://example.com/?id=1")
        'http://example.com/'

        Nothing is compiled again. Rules that are declared later hold for both.
        """
        copied = self.__class__.__new__(self.__class__)
        copied._setup(self.configuration, self._policies)  # noqa: SLF001
        return copied

    def suspend(self, entry: RuleEntry, domain: str) -> None:
        """Make *entry* do nothing on *domain*, whatever the rules say.

        >>> canonicalizer = Canonicalizer({"*": {"drop_params": ["id", "sid"]}})
        >>> canonicalizer.suspend(RuleEntry("drop_params", "id"), "example.com")
        >>> canonicalizer.canonicalize("http://www.example.com/?id=1&sid=2")
        'http://www.example.com/?id=1'
        >>> canonicalizer.canonicalize("http://example.org/?id=1")
        'http://example.org/'

        :param domain: a normalized host, with its subdomains, or ``*``.
        """
        self.configuration = self.configuration.without(entry, domain)
        self._policies = self._policies.with_configuration(self.configuration)
        self.fast_path.use(self._policies)

    def as_written(self) -> Self:
        """Return a canonicalizer with all rules of users and sites, and nothing suspended.

        >>> canonicalizer = Canonicalizer({"*": {"drop_params": ["id"]}})
        >>> canonicalizer.suspend(RuleEntry("drop_params", "id"), "example.com")
        >>> canonicalizer.as_written().canonicalize("http://example.com/?id=1")
        'http://example.com/'
        """
        written = self.from_configuration(self.configuration.as_written())
        for host, rule_sets in self.declared.items():
            written.declare(host, rule_sets)
        return written

    def canonicalize_without(self, url: str, entries: Iterable[RuleEntry]) -> str:
        """Return the canonical form that *url* would have if *entries* did nothing.

        >>> canonicalizer = Canonicalizer({"*": {"drop_params": ["id", "sid"]}})
        >>> without = [RuleEntry("drop_params", "id")]
        >>> canonicalizer.canonicalize_without("http://example.com/?id=1&sid=2#top", without)
        'http://example.com/?id=1'
        """
        without = _without(tuple(entries), self.configuration.catalogue)
        try:
            return self._settle(url, without, [])
        except UnparsableUrlError:
            return url

    def canonicalize(self, url: str, *, base: str | None = None) -> str:
        """Return the canonical form of *url*.

        >>> Canonicalizer().canonicalize("//example.com/a", base="http://example.com/")
        'http://example.com/a'

        :param base: the URL of the page that links to *url*, in case it is relative.
        :raises TypeError: if *url* is no text, as with a missing value in a table.
        """
        if not isinstance(url, str):
            raise TypeError(f"expected the text of a URL, got {url!r}")
        if base is not None:
            with suppress(ValueError):  # brackets around something that is no IPv6 address
                url = urljoin(base, url)
        canonical = self.canonical_or_none(url)
        return url if canonical is None else canonical

    def canonical_or_none(
        self, url: str, *, options: Mapping[str, Any] | None = None
    ) -> str | None:
        """Return the canonical form of *url*, or None if it cannot be parsed or does not settle.

        :param options: options for this URL alone, stronger than all layers.
        :raises ConfigurationError: if *options* are not valid.
        """
        if options is None:
            canonical = self.fast_path.canonical(url)
            if canonical is not None:
                return canonical
        explanation = self.explain(url, options=options)
        return None if explanation.problem else explanation.canonical

    def explain(self, url: str, *, options: Mapping[str, Any] | None = None) -> Explanation:
        """Return the canonical form of *url* with every step that led to it.

        >>> explanation = Canonicalizer().explain("mailto:us@example.com")
        >>> explanation.canonical, explanation.steps, explanation.problem
        ('mailto:us@example.com', (), 'its scheme is mailto, and the rules are for http and https')

        :param options: as of :meth:`canonical_or_none`.
        :raises ConfigurationError: if *options* are not valid.
        """
        steps: list[Step] = []
        try:
            canonical = self._settle(url, self._overrides(options), steps)
        except UnparsableUrlError as error:
            return Explanation(url, url, problem=str(error))
        return Explanation(url, canonical, tuple(steps))

    def declare(self, host: str, rule_sets: tuple[RuleSet, ...]) -> None:
        """Replace the rules that the site on *host* declares. They are weaker than all others.

        >>> from scrapy_urlcanon.rule_files.clean_param import read_clean_param
        >>> canonicalizer = Canonicalizer()
        >>> declared = read_clean_param(b"Clean-param: sid /forum/")
        >>> canonicalizer.declare(*declared.rule_sets("http://example.com/robots.txt"))
        >>> canonicalizer.canonicalize("http://example.com/forum/?sid=1&t=2")
        'http://example.com/forum/?t=2'

        :param host: normalized; the rules do not hold for its subdomains.
        """
        self._policies.declare(host, rule_sets)
        self.fast_path.use(self._policies)

    @property
    def declared(self) -> Mapping[str, tuple[RuleSet, ...]]:
        """The rules that sites declare for themselves, by host."""
        return self._policies.declared

    def policy(self, url: str, *, options: Mapping[str, Any] | None = None) -> Policy:
        """Return the value of every option for *url*, each with the layer that set it.

        >>> setting = Canonicalizer().policy("http://example.com/").options["fragment"]
        >>> print(setting.value, "by", setting.layer)
        drop by preset safe

        :param options: as of :meth:`canonical_or_none`.
        :raises UnparsableUrlError: if *url* cannot be parsed.
        :raises ConfigurationError: if *options* are not valid.
        """
        return self._policies.for_url(normalize(parse(url, []), []), self._overrides(options))

    def skips(self, url: str) -> str | None:
        """Return the ``skip`` template because of which *url* is not fetched, or None.

        >>> canonicalizer = Canonicalizer({"example.com": {"skip": ["/?p={id:digits}"]}})
        >>> canonicalizer.skips("http://example.com/?utm_source=mail&p=7")
        '/?p={id:digits}'
        """
        canonical = self.canonical_or_none(url)
        cause = None if canonical is None else self.cause_of_skip(canonical)
        return cause and cause.entry

    def cause_of_skip(
        self, canonical: str, *, options: Mapping[str, Any] | None = None
    ) -> Cause | None:
        """Return why *canonical*, a canonical URL under *options*, is not fetched, or None."""
        return self.policy(canonical, options=options).skips(split(canonical))

    def _overrides(self, options: Mapping[str, Any] | None) -> RuleSet | None:
        if options is None:
            return None
        try:
            # Options are made for each request, or changed in place, so they are compared by value.
            # Version 2 of the format writes equal values alike, whether they are shared or not.
            packed = marshal.dumps(options, 2)  # type: ignore[arg-type]
        except ValueError:
            # Objects other than plain data may change at any time, so they are not cached.
            return self._validated(options)
        return self._overrides_of(packed)

    def _unpacked(self, options: bytes) -> RuleSet:
        # Unpacking makes a copy that nobody can change.
        return self._validated(marshal.loads(options))  # noqa: S302 - packed here

    def _validated(self, options: Mapping[str, Any]) -> RuleSet:
        return self.configuration.overrides('request.meta["urlcanon"]', options)

    def _settle(self, text: str, overrides: RuleSet | None, steps: list[Step]) -> str:
        """Apply the policy of the URL again and again, until it changes nothing.

        A rule may lead to a URL for which other rules hold. Without further passes a canonical URL
        could have another canonical form than itself.
        """
        written: list[Step] = []
        passes: dict[str, int] = {}
        url = parse(text, written)
        for _ in range(MAX_PASSES):
            normalizations: list[Step] = []
            normalized = normalize(url, normalizations)
            policy = self._policies.for_url(normalized, overrides)
            if policy.as_scrapy:
                # Nothing else is merged, not even by our normalizations.
                own = _as_scrapy(text, steps)
                if own != text:
                    text, written = own, []
                    url = parse(text, written)
                    continue
                more = [*written, *normalizations]
                rules = [rule for rule in policy.rules if rule.name not in policy.scrapy_does]
                url = _apply(rules, normalized, more)
                if url == normalized:
                    return text
                steps += more
                text, written = str(url), []
                continue
            steps += written
            written = []
            as_written = [rule for rule in policy.rules if rule.as_written]
            other = _apply(as_written, url, steps)
            if other != url:
                url, text = other, str(other)
                continue
            steps += normalizations
            before = str(normalized)
            if before in passes:
                # Rules for several patterns lead in a circle: all of its URLs become the one that
                # comes first in the order of texts.
                circle = [text for text in passes if passes[text] >= passes[before]]
                first = min(circle)
                del steps[passes[first] :]
                return first
            passes[before] = len(steps)
            more = []
            url = _apply([rule for rule in policy.rules if not rule.as_written], normalized, more)
            if url != normalized:
                steps += more
            else:
                # The rules undid what they did, if anything. A rule for the URL as it was written
                # may match only after normalization: `/%68ttp://` is `/http://`.
                url = _apply(as_written, normalized, steps)
                if url == normalized:
                    return before
            text = str(url)
        raise UnparsableUrlError(f"its rules do not settle within {MAX_PASSES} passes")


@lru_cache(_REMEMBERED_OPTIONS)
def _without(entries: tuple[RuleEntry, ...], catalogue: Catalogue) -> RuleSet:
    """Return the rule set that turns *entries* off; the same object each time, as a cache key."""
    return RuleSet(Pattern("*"), taken_back(entries, catalogue), Layer("suspended"))


def _apply(rules: Iterable[Rule], url: Url, steps: list[Step]) -> Url:
    for rule in rules:
        changed = rule.apply(url)
        if changed != url:
            steps.append(Step(rule.name, str(url), str(changed), rule.causes(url, changed)))
            url = changed
    return url


def _as_scrapy(text: str, steps: list[Step]) -> str:
    """Return the URL from which Scrapy's default makes a fingerprint.

    If w3lib would change that once more (it turns ``%%341`` into ``%41``, and ``%41`` into ``A``),
    it is no canonical URL, and following it would merge what Scrapy keeps apart.
    """
    # It imports ssl and more, for nothing with the other presets.
    from w3lib.url import canonicalize_url  # noqa: PLC0415

    try:
        canonical = canonicalize_url(text)
        settles = canonicalize_url(canonical) == canonical
    except ValueError as error:
        raise UnparsableUrlError(str(error)) from error
    if not settles:
        raise UnparsableUrlError("Scrapy's own canonical form of it has another one")
    if canonical != text:
        steps.append(Step(SCRAPY, text, canonical, (Cause(preset_layer(SCRAPY)),)))
    return canonical
