r"""``Clean-param`` lines of robots.txt: parameters that, as the site declares, select no content.

The directive is Yandex's: ``Clean-param: p0[&p1&...&pn] [path]``,
https://yandex.com/support/webmaster/en/robot-workings/clean-param. From there: it stands
anywhere in the file and belongs to no ``User-agent``; there may be many; letter case
matters; it has at most 500 characters. The path is a prefix of the characters
``A-Za-z0-9.-/*_``, in which ``*`` stands for any text; without one it is the whole site.

A robots.txt is for one scheme, host and port (RFC 9309, section 2.3), and the prefix is
compared as text: ``/forum`` is also a prefix of ``/forums``. A pattern of ``URLCANON_RULES``
includes subdomains and matches at the borders of segments, so it can express neither. So the
rule sets have patterns of their own: :meth:`CleanParam.rule_sets`.

>>> declared = read_clean_param(b"Clean-param: sid&sort /forum/*.php\nClean-param: page /")
>>> [(rule.params, rule.path) for rule in declared.rules]
[(('sid', 'sort'), '/forum/*.php')]
>>> print(*declared.problems)
line 2: page: it selects content on most sites; not taken
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from attrs import frozen

from scrapy_urlcanon.canonicalizer.configuration import RuleSet
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.names import NOT_WRITABLE, is_writable
from scrapy_urlcanon.canonicalizer.parsing import normalize, parse
from scrapy_urlcanon.canonicalizer.place_patterns import SitePattern
from scrapy_urlcanon.redaction import visible
from scrapy_urlcanon.wording import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_RULE = 500
"""How many characters a rule may have, by the documentation of the directive."""

MOST_NAMES = 500
"""About how many names are taken from one robots.txt. Owners write a few dozen."""

_PAGINATION = "page pages paged pg pagenum page_num page_id pageno p start offset limit"
_PAGE_SIZE = "per_page perpage page_size pagesize cursor"
_SEARCH = "q query search search_query keyword keywords term text"
_PLACE = "lang language locale hl lng country region city currency"
_SUBJECT = (
    "id pid tid cid post post_id product product_id article article_id item item_id topic thread "
    "t f cat category category_id tag title name slug view action year month day"
)
CONTENT_PARAMS = frozenset(f"{_PAGINATION} {_PAGE_SIZE} {_SEARCH} {_PLACE} {_SUBJECT}".split())
"""Names that select content on most sites; owners declare them all the same.

``s`` is not among them: it is the session of the documentation's own first example.
"""

_DIRECTIVE = re.compile(r"[ \t]*clean-param[ \t]*:(.*)", re.IGNORECASE | re.DOTALL)
_PATH = re.compile(r"[A-Za-z0-9./*_-]+")
_SHOWN = 80
_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@frozen
class CleanParamRule:
    """One rule of a robots.txt."""

    line: int
    """Its number, from 1."""
    params: tuple[str, ...]
    """The names of the parameters, decoded."""
    path: str
    """The prefix, with ``*`` for any text; ``/`` for the whole site."""


@frozen
class CleanParamProblem:
    """Something in a robots.txt that was not taken."""

    line: int
    """Its number, from 1."""
    text: str
    """What was not taken: a name or, shortened, the value of the directive."""
    reason: str
    """Why."""

    def __str__(self) -> str:
        return f"line {self.line}: {visible(self.text)}: {self.reason}"


@frozen
class CleanParam:
    """What a robots.txt declares for the scheme, host and port that it is from."""

    rules: tuple[CleanParamRule, ...]
    """In the order of the file."""
    problems: tuple[CleanParamProblem, ...]
    """What was not taken, in the order of the file."""

    def rule_sets(self, robots_url: str) -> tuple[str, tuple[RuleSet, ...]]:
        """Return the host of *robots_url*, where this was read, and what it declares for it.

        :raises ValueError: if *robots_url* cannot be parsed.
        """
        site = normalize(parse(robots_url, []), [])
        origin = f"Clean-param in {site._replace(userinfo=None)}"
        return site.host, tuple(
            RuleSet(
                SitePattern(site, rule.path),
                {"drop_params": rule.params},
                Layer(f"{origin}, line {rule.line}"),
            )
            for rule in self.rules
        )


def read_clean_param(robots: bytes) -> CleanParam:
    r"""Return what *robots*, the content of a robots.txt, declares.

    Any content is read, in time that is linear in its length; what is not a valid rule becomes a
    problem with its line number. Nothing is read behind 500 names, since each URL of the site is
    compared with all rules.

    >>> declared = read_clean_param(b"User-agent: *\nClean-param: sid /forum/\nClean-param: a-b")
    >>> [(rule.line, rule.params, rule.path) for rule in declared.rules]
    [(2, ('sid',), '/forum/'), (3, ('a-b',), '/')]
    """
    rules: list[CleanParamRule] = []
    problems: list[CleanParamProblem] = []
    count = 0
    for number, line in enumerate(_lines(robots), 1):
        found = _DIRECTIVE.match(line)
        if not found:
            continue
        value = found[1].partition("#")[0].strip()
        if count + len(problems) >= MOST_NAMES:
            told = f"there are {MOST_NAMES} names before it; not taken, nor what follows"
            problems.append(CleanParamProblem(number, shortened(value, _SHOWN), told))
            break
        try:
            params, path = _parse(value)
        except ValueError as error:
            problems.append(CleanParamProblem(number, shortened(value, _SHOWN), str(error)))
            continue
        taken: list[str] = []
        for name in dict.fromkeys(params):
            reason = _refusal(name)
            if reason:
                problems.append(CleanParamProblem(number, shortened(name, _SHOWN), reason))
            else:
                taken.append(name)
        count += len(taken)
        if taken:
            rules.append(CleanParamRule(number, tuple(taken), path))
    return CleanParam(tuple(rules), tuple(problems))


def _lines(robots: bytes) -> Iterator[str]:
    for mark, encoding in _ENCODINGS:
        if robots.startswith(mark):
            text = robots[len(mark) :].decode(encoding, "replace")
            break
    else:
        text = robots.decode("utf-8", "replace")
    # Line ends are CR, LF or both (RFC 9309, section 2.2); str.splitlines() knows others.
    yield from re.split(r"\r\n|\r|\n", text)


def _parse(value: str) -> tuple[list[str], str]:
    """Return names and path of a rule.

    :raises ValueError: if it is not valid; the message says why.
    """
    if len(value) > LONGEST_RULE:
        raise ValueError(f"it has {len(value)} characters, and {LONGEST_RULE} are allowed")
    fields = value.split()
    if not fields:
        raise ValueError("expected names of parameters")
    if len(fields) > 2:  # noqa: PLR2004
        raise ValueError("expected names, joined by &, and perhaps a path")
    path = fields[1] if len(fields) > 1 else "/"
    if not path.startswith(("/", "*")):
        raise ValueError("expected a path that begins with / or *")
    if not _PATH.fullmatch(path):
        raise ValueError("expected a path of letters, digits and . - / * _")
    names = [name for name in fields[0].split("&") if name]
    if not names:
        raise ValueError("expected names of parameters")
    return [unquote_plus(name) for name in names], path


def _refusal(name: str) -> str | None:
    """Say why the parameter *name* is not taken, or None."""
    # The replacement character stands for bytes that could not be decoded.
    if "\ufffd" in name:
        return "it is not in UTF-8"
    if not is_writable(name):
        return NOT_WRITABLE
    if "=" in name:
        return "expected a name without a value"
    if name.lower() in CONTENT_PARAMS:
        return "it selects content on most sites; not taken"
    return None
