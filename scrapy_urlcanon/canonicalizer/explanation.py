"""What is said about how a URL became canonical."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.layers import Layer


@frozen
class Step:
    """One change on the way to the canonical URL."""

    option: str
    """The name of the option, or of the normalization that is always on."""
    before: str
    after: str
    layers: tuple[Layer, ...]
    """The layers of the configuration that had a part in it."""

    @property
    def layer(self) -> str:
        """What turned it on, as text: ``always``, a preset, or origin and pattern of a rule."""
        return ", ".join(map(str, self.layers))


@frozen
class Explanation:
    """How a URL became its canonical form."""

    url: str
    canonical: str
    """What :meth:`~scrapy_urlcanon.Canonicalizer.canonicalize` returns."""
    steps: tuple[Step, ...] = ()
    """Every change, in order; the last one left :attr:`canonical`."""
    problem: str | None = None
    """Why the URL came back unchanged, where it could not be parsed or settled."""
