"""Rules that a site declares itself, as a layer of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from scrapy_urlcanon.canonicalizer.configuration import RuleSet
from scrapy_urlcanon.canonicalizer.parsing import normalize, parse

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.rule_files.clean_param import CleanParam, CleanParamRule


@frozen
class DeclaredPattern:
    """The URLs of one scheme, host and port whose path a rule of its robots.txt is for."""

    site: Url
    rule: CleanParamRule
    is_for_whole_host = False
    """It is for one port, and one of http and https, at the most."""

    @property
    def host(self) -> str:
        """The host, without its subdomains."""
        return self.site.host

    @property
    def specificity(self) -> tuple[int, int, int]:
        """What orders it among its like: host, path, conditions."""
        return self.host.count(".") + 1, self.rule.path.count("/"), 0

    def matches_on_its_host(self, url: Url) -> bool:
        """Tell whether the rule is for *url*."""
        return (
            url.host == self.site.host
            and url.scheme == self.site.scheme
            and url.port == self.site.port
            and (self.rule.is_for_whole_site or self.rule.matches(url.path))
        )


def clean_param_rule_sets(robots_url: str, declared: CleanParam) -> tuple[str, tuple[RuleSet, ...]]:
    """Return the host that *robots_url* is of, and what it *declared*, as rule sets.

    A robots.txt is for its own scheme, host and port (RFC 9309, section 2.3).

    :raises ValueError: if *robots_url* cannot be parsed.
    """
    site = normalize(parse(robots_url, []), [])
    rule_sets = tuple(
        RuleSet(
            DeclaredPattern(site, rule),
            {"drop_params": rule.params},
            f"Clean-param in {site._replace(userinfo=None)}, line {rule.line}",
        )
        for rule in declared.rules
    )
    return site.host, rule_sets
