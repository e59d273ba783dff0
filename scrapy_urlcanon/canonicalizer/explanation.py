"""How a URL became canonical."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.entries import RuleEntry

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.entries import Cause
    from scrapy_urlcanon.canonicalizer.layers import Layer


class Step(NamedTuple):
    """One change on the way to the canonical URL.

    >>> from scrapy_urlcanon import Canonicalizer
    >>> (step,) = Canonicalizer().explain("http://example.com/?utm_source=mail").steps
    >>> step.option, step.before, step.after, step.layer
    ('tracking_params', 'http://example.com/?utm_source=mail', 'http://example.com/', 'preset safe')
    >>> print(*step.entries)
    tracking_params:utm_source
    """

    option: str
    """The name of the option, or of the normalization that is always on."""
    before: str
    after: str
    causes: tuple[Cause, ...]
    """The parts of the option's value that took part in it."""

    @property
    def entries(self) -> tuple[RuleEntry, ...]:
        """The entries of the option that took part in it, each once."""
        return tuple(dict.fromkeys(RuleEntry(self.option, cause.entry) for cause in self.causes))

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers of the configuration that took part in it, each once."""
        return tuple(dict.fromkeys(cause.layer for cause in self.causes))

    @property
    def layer(self) -> str:
        """What turned it on, as text: ``always``, a preset, or origin and pattern of a rule."""
        return ", ".join(map(str, self.layers))


class Explanation(NamedTuple):
    """How a URL became its canonical form.

    >>> from scrapy_urlcanon import Canonicalizer
    >>> explanation = Canonicalizer().explain("http://example.com/b/../?b=1&a=2#top")
    >>> explanation.canonical, [step.option for step in explanation.steps]
    ('http://example.com/?a=2&b=1', ['dot_segments', 'sort_query', 'fragment'])
    >>> Canonicalizer().explain("mailto:me@example.com").problem
    'its scheme is mailto, and the rules are for http and https'
    """

    url: str
    canonical: str
    """What :meth:`~scrapy_urlcanon.Canonicalizer.canonicalize` returns."""
    steps: tuple[Step, ...] = ()
    """Every change, in order; the last one results in :attr:`canonical`."""
    problem: str | None = None
    """Why the URL came back unchanged, if it cannot be parsed or does not settle."""
