"""Formats the report as one HTML page that loads nothing: no network, no other file.

Nothing in a URL is trusted: the template escapes it, and the page's Content Security Policy allows
only our own script and style, and nothing to be loaded.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from scrapy_urlcanon.redaction import REDACTED, is_whole, visible
from scrapy_urlcanon.report import sections as sections_package
from scrapy_urlcanon.report.section import sections
from scrapy_urlcanon.report.url_difference import Piece, Side, difference
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    import jinja2

    from scrapy_urlcanon.report.document import Report

_TEMPLATES = Path(__file__).with_name("templates")
_FOLDED_FROM = 160
"""How many characters of a long URL are shown at first. One up to twice as long is shown whole."""


def to_html(report: Report) -> str:
    """Return *report* as an HTML page."""
    environment = _environment()
    style, script = _asset("report.css"), _asset("report.js")
    parts = []
    for section in sections():
        context = section.context(report)
        if context is not None:
            template = environment.get_template(f"{section.name}.html.jinja")
            parts.append((section, template.render(report=report, **context)))
    return environment.get_template("report.html.jinja").render(
        report=report,
        sections=parts,
        is_redacted=any(REDACTED in body for _, body in parts),
        duration=_duration(report),
        style=style,
        script=script,
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
    )


@frozen
class ShownUrl:
    """A URL as the page shows it."""

    url: str
    pieces: tuple[Piece, ...]

    @property
    def target(self) -> str | None:
        """Where a link may lead: a whole http or https URL, nothing else."""
        is_http = self.url.startswith(("http://", "https://"))
        return self.url if is_http and is_whole(self.url) else None

    @property
    def start(self) -> str | None:
        """The first characters, if the rest is folded, otherwise None."""
        length = sum(len(piece.text) for piece in self.pieces)
        return f"{self.url[:_FOLDED_FROM]} …" if length > 2 * _FOLDED_FROM else None


def _kept(url: str) -> ShownUrl:
    return ShownUrl(visible(url), (Piece(visible(url), Side.BOTH),))


def _dropped(url: str, kept: str) -> ShownUrl:
    url, kept = visible(url), visible(kept)
    return ShownUrl(url, difference(url, kept))


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    # Most crawls write no report, and need not wait for this.
    import jinja2  # noqa: PLC0415

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*sections_package.__path__, str(_TEMPLATES)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(kept=_kept, dropped=_dropped, visible=visible, moment=_moment)
    environment.globals.update(count_of=count_of, redacted=REDACTED)
    return environment


@lru_cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _hash(text: str) -> str:
    """Return what allows *text* inline (Content Security Policy Level 3, section 2.3.1)."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _moment(written: str) -> str:
    """Return a time as the page shows it; a text that is no time is returned as it is."""
    try:
        time = datetime.fromisoformat(written)
    except ValueError:
        return visible(written)
    return f"{time.day} {time:%B %Y, %H:%M}"


def _duration(report: Report) -> str:
    try:
        started = datetime.fromisoformat(report.started)
        seconds = (datetime.fromisoformat(report.finished) - started).total_seconds()
    except (ValueError, TypeError):
        return ""
    return _units(int(seconds))


def _units(seconds: int) -> str:
    minutes, seconds = divmod(max(seconds, 0), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    units = [(number, unit) for number, unit in units if number] or [(0, "s")]
    return " ".join(f"{number} {unit}" for number, unit in units[:2])
