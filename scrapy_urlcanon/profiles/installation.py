"""A program that was recognised at a place of a host, and the rules that hold there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.canonicalizer.configuration import RuleSet
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.canonicalizer.place_patterns import PlacePattern
from scrapy_urlcanon.canonicalizer.templates import parse_template
from scrapy_urlcanon.profiles.rules import TEMPLATE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.profiles.profile import Profile
    from scrapy_urlcanon.profiles.rules import Part, ProfileRule


@frozen
class Installation:
    """A program that was recognised on a host."""

    profile: Profile
    host: str
    """In normalized form."""
    port: str | None
    place: str
    """The path below which it is installed, with slashes around it."""
    version: tuple[int, ...] = ()
    signs: tuple[str, ...] = ()
    """The signs by which it was recognised; empty if that was in an earlier run."""

    @property
    def authority(self) -> str:
        """The host, with the port if it has one."""
        return self.host if self.port is None else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL of its place, without the scheme."""
        return f"{self.authority}{self.place}"

    def __str__(self) -> str:
        return f"{self.profile.with_version(self.version)} at {self.url}"

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON, which :meth:`from_data` takes."""
        return {
            "profile": self.profile.name,
            "host": self.host,
            "port": self.port,
            "place": self.place,
            "version": list(self.version),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any], profile: Profile) -> Self:
        """Return the installation of *profile* from the *data* of :meth:`as_data`."""
        return cls(profile, data["host"], data["port"], data["place"], tuple(data["version"]))

    def covers(self, other: Installation) -> bool:
        """Tell whether *other* is the same program at the same place or below."""
        return (
            (self.profile.name, self.host, self.port)
            == (other.profile.name, other.host, other.port)
        ) and other.place.startswith(self.place)

    def belongs_to(self, other: Installation) -> bool:
        """Tell whether one of the programs runs on the other, so that they share a place."""
        return (
            other.profile.name in self.profile.runs_on or self.profile.name in other.profile.runs_on
        )

    def rules(self, *, certain: bool) -> Iterator[ProfileRule]:
        """Yield the rules for this place: those that are certain for its version, or the others."""
        for rule in self.profile.rules:
            holds = rule.holds_for(self.version)
            # If the version is unknown, rules that depend on it are not certain.
            if (rule.is_certain and holds) is certain and (holds or not self.version):
                yield rule

    def parts(self) -> Iterator[Part]:
        """Yield what is certain here about the parts of pages."""
        for part in self.profile.parts:
            if part.is_certain and part.holds_for(self.version):
                yield part

    def rule_sets(
        self, *, certain: bool, others: tuple[str, ...] = (), views: bool = True
    ) -> Iterator[RuleSet]:
        """Yield the rule sets of :meth:`rules`.

        :param others: the places of other programs on this host and port.
        :param views: whether rules for other views of the same things are included.
        """
        below = tuple(
            other.rstrip("/")
            for other in others
            if other != self.place and other.startswith(self.place)
        )
        for rule in self.rules(certain=certain):
            if views or not rule.is_view:
                yield from self.rule_sets_of(rule, below)

    def rule_sets_of(self, rule: ProfileRule, below: tuple[str, ...] = ()) -> Iterator[RuleSet]:
        """Yield the rule sets of one rule of the profile: one for each of its paths.

        :param below: the places of other programs below this one, where the rule does not hold.
        """
        for where in rule.where:
            pattern = parse_pattern(f"{self.host}{self.place}{where}")
            yield RuleSet(
                PlacePattern(pattern, self.port, below),
                options_at(self.place, rule.options),
                Layer(f"profile {self.profile.name}", f"{self.url}{where}"),
            )


def options_at(place: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *options* with their paths, which are relative to *place*, made absolute.

    >>> options_at("/wiki/", {"skip": ["/a?b={c}"], "drop_params": ["d"]})
    {'skip': ['/wiki/a?b={c}'], 'drop_params': ['d']}
    """
    literal = place.rstrip("/").replace("{", "%7B").replace("}", "%7D")
    if not literal or TEMPLATE_OPTIONS.isdisjoint(options):
        # Returned as it is, so that a million hosts share one object.
        return options

    def moved(value: Any) -> Any:
        return [moved(each) for each in value] if isinstance(value, list) else f"{literal}{value}"

    return {
        name: moved(value) if name in TEMPLATE_OPTIONS else value for name, value in options.items()
    }


def templates_at(place: str, templates: Iterable[Template]) -> tuple[Template, ...]:
    """Return *templates*, whose paths are relative to *place*, with absolute paths."""
    texts = options_at(place, {"skip": [str(template) for template in templates]})["skip"]
    return tuple(map(parse_template, texts))
