"""The report as one HTML page that needs nothing else: no network, no other file.

Nothing of a URL is trusted: the template escapes it, and the page's own Content Security
Policy lets no script run but ours and nothing be loaded at all.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from attrs import frozen

from scrapy_urlcanon.crawl.summary import title_of
from scrapy_urlcanon.redaction import is_whole, visible
from scrapy_urlcanon.report import funnel
from scrapy_urlcanon.report.difference import Piece, Side, difference
from scrapy_urlcanon.report.document import COUNTED_URLS
from scrapy_urlcanon.report.rule_text import text_of
from scrapy_urlcanon.report.worth_a_look import worth_a_look
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    import jinja2

    from scrapy_urlcanon.report.document import Report

_FOLDED_FROM = 160
"""URLs of more than twice as much show so many characters, and the rest when asked for."""


def to_html(report: Report) -> str:
    """Return *report* as an HTML page."""
    style, script = _asset("report.css"), _asset("report.js")
    template = _environment().get_template("report.html.jinja")
    return template.render(
        report=report,
        funnel=funnel.Funnel.of(report),
        findings=worth_a_look(report),
        rules=[(option, title_of(option.name), text_of(option.name)) for option in report.options],
        most_dropped=max((option.dropped for option in report.options), default=0),
        sampled=sum(group.dropped for group in report.groups),
        duration=_duration(report),
        counted_urls=COUNTED_URLS,
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
        """The first characters, where the rest is to be folded."""
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
        loader=jinja2.PackageLoader("scrapy_urlcanon.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(kept=_kept, dropped=_dropped, visible=visible, moment=_moment)
    environment.globals.update(count_of=count_of, geometry=funnel)
    return environment


@lru_cache
def _asset(name: str) -> str:
    return files("scrapy_urlcanon.report").joinpath("templates", name).read_text("utf-8")


def _hash(text: str) -> str:
    """Return what allows *text* inline (Content Security Policy Level 3, section 2.3.1)."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _moment(written: str) -> str:
    """Return a time as the page shows it; one that is none, of an edited report, as it is."""
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
