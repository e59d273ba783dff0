"""The file of learned rules for ``URLCANON_RULES_FILES``, and all that was learned as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.files import why_unreadable, write_atomically
from scrapy_urlcanon.learn.results.evidence_text import HEADER, evidence_line, figures_of
from scrapy_urlcanon.learn.results.in_force import WHOLE, effective, rules_in_force, subject_of
from scrapy_urlcanon.learn.results.rule import as_rules
from scrapy_urlcanon.learn.results.toml_text import (
    Line,
    commented_out,
    is_learned,
    learned_lines,
    tables,
)
from scrapy_urlcanon.learn.scope import pattern_of
from scrapy_urlcanon.redaction import shown_url, visible_json
from scrapy_urlcanon.rule_files.documents import parse_json, parse_toml
from scrapy_urlcanon.rule_files.loading import files_of, load_configuration

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from scrapy_urlcanon.learn.results.in_force import RuleInForce
    from scrapy_urlcanon.learn.results.rule import Learned, LearnedRule

    _Place = tuple[str, str, str]

_HEADER = re.compile(rf"^# {HEADER.pattern}$", re.MULTILINE)
_ABOUT = (
    '# Learning again, "scrapy urlcanon learn" adds to this file and keeps what you write here.\n'
)
_PROPOSED = (
    "# Not in force. To take one of these, move it into the table of its pattern above: what is\n"
    "# here is written anew each time.\n"
)
_PROPOSALS = re.compile(rf"\n?^{re.escape(_PROPOSED)}(?:#.*\n)*", re.MULTILINE)

_NOT_OURS = (
    "it stays as it is: only a file that could stand in URLCANON_RULES_FILES, in our own format "
    "and without a mistake, is added to. Name another one"
)


def to_toml(learned: Learned, *, turned_off: Collection[str] = ()) -> str:
    """Return the rules as TOML, each entry with its evidence, the unsure ones commented out.

    :param turned_off: options whose rules are commented out too, such as ``skip`` where nobody
        asked for it.

    >>> from scrapy_urlcanon.learn import Evidence, Learned, LearnedRule
    >>> found = Evidence(pages=12, merges=30, examples=(("http://a.example/?sid=1", "..."),))
    >>> rule = LearnedRule("a.example", "a.example", "drop_params", ["sid"], "rewrite", found)
    >>> print(to_toml(Learned((rule,))))
    # 1 rule for 1 domain
    # Learning again, "scrapy urlcanon learn" adds to this file and keeps what you write here.
    <BLANKLINE>
    ["a.example"]
    drop_params = [
        "sid", # 12 of 12 pages the same, 30 requests saved: http://a.example/?sid=***
    ]
    <BLANKLINE>
    """
    return _toml("", learned, turned_off)


class LearnedFile:
    """A file that learned rules are written to: TOML, or JSON if its name ends in ``.json``.

    An existing file is changed only where rules are new or no longer in force; everything that a
    person wrote, comments and order included, stays.

    >>> import tempfile
    >>> from scrapy_urlcanon.learn import Learned, LearnedRule
    >>> rule = LearnedRule("a.example", "a.example", "drop_params", ["sid"], "rewrite")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "urlcanon.toml")
    ...     LearnedFile(path).write(Learned((rule,)))
    ...     [(rule.pattern, rule.option, rule.setting) for rule in LearnedFile(path).rules]
    [('a.example', 'drop_params', ['sid'])]

    :raises ConfigurationError: if the name ends otherwise, or if the file exists and is not a valid
        rule file in our own format.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        suffix = self.path.suffix.lower()
        if suffix not in {".toml", ".json"}:
            message = "expected a name that ends in .toml or .json"
            raise ConfigurationError([Problem(str(self.path), message)])
        self._is_json = suffix == ".json"
        self.rules = tuple(self._rules()) if self._read().strip() else ()
        """The rules in the file, in its order; none where it does not exist, or is empty."""

    def write(self, learned: Learned, *, turned_off: Collection[str] = ()) -> None:
        """Write the rules, completely or not at all.

        After a full disk or a kill the file is as it was before. A file that has these rules
        already is not touched.

        :param turned_off: as for :func:`to_toml`; JSON has no comments, so there they are left out.
        :raises OSError: if it cannot be written.
        """
        text = self._read()
        make = _json if self._is_json else _toml
        changed = make(text, learned, turned_off)
        if changed != text:
            write_atomically(self.path, changed)

    def _read(self) -> str:
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                return file.read()
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                [Problem("-o", f"cannot read {str(self.path)!r}: {why_unreadable(error)}")]
            ) from None

    def _rules(self) -> Iterator[RuleInForce]:
        try:
            configuration = load_configuration(
                "scrapy", rules_files=[self.path], setting_names=("preset", "-o")
            )
        except ConfigurationError as error:
            problems = [*error.problems, Problem(str(self.path), _NOT_OURS)]
            raise ConfigurationError(problems) from None
        ((file, _),) = files_of(configuration)
        if file.is_foreign or not isinstance(file.rules, dict):
            message = f"it is a file of another program ({file.format}), and {_NOT_OURS}"
            raise ConfigurationError([Problem(str(self.path), message)])
        learned = set() if self._is_json else set(learned_lines(self._read()))
        for rule in effective(rules_in_force(file.rules)):
            line = Line(rule.pattern, rule.option, rule.setting)
            yield replace(rule, is_by_hand=not is_learned(line, learned))


def to_json(learned: Learned) -> str:
    """Return everything that was learned as JSON, for machines; keys are sorted.

    Examples are redacted, as those in :func:`to_toml`.
    """

    def entry(rule: LearnedRule) -> dict[str, Any]:
        return {
            "domain": rule.domain,
            "pattern": rule.pattern,
            "option": rule.option,
            "setting": rule.setting,
            "kind": rule.kind,
            "doubt": rule.doubt,
            "pages": rule.evidence.pages,
            "merges": rule.evidence.merges,
            "placed": rule.evidence.placed,
            "counter_examples": rule.evidence.counter_examples,
            "bound": round(rule.evidence.bound, 4),
            "in_force": rule.was_in_force,
            "audited": rule.evidence.audited,
            "other_pages": rule.evidence.others,
            "examples": [list(map(shown_url, pair)) for pair in rule.evidence.examples],
        }

    document = {
        "domains": learned.domains,
        "urls": learned.urls,
        "redundant": learned.redundant,
        "settled": learned.settled,
        "crowded": learned.crowded,
        "silent": learned.silent,
        "failed": [failure._asdict() for failure in learned.failed],
        "rules": [entry(rule) for rule in learned.rules],
        "unsure": [entry(rule) for rule in learned.unsure],
        "unexplained": [
            left._asdict() | {"example": list(map(shown_url, left.example))}
            for left in learned.unexplained
        ],
    }
    return visible_json(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)) + "\n"


def _toml(text: str, learned: Learned, turned_off: Collection[str]) -> str:
    is_dos = "\r\n" in text
    text = text.replace("\r\n", "\n")
    changes = _Changes(parse_toml(text), set(learned_lines(text)), learned, turned_off)
    off = [_line(rule, "off: ") for rule in learned.rules if rule.is_off(turned_off)]
    # What a person took out of this very file need not be said in it.
    unsure = [rule for rule in learned.unsure if rule.kind != "taken out" or not text.strip()]
    proposed = [
        *off,
        *(_line(rule, "" if rule.kind == "taken out" else "unsure: ") for rule in unsure),
    ]
    figures = figures_of(learned, turned_off)
    text = _written(text, changes.added, changes.removed, proposed, figures)
    changes.check(parse_toml(text))
    return text.replace("\n", "\r\n") if is_dos else text


def _written(
    text: str,
    added: Sequence[Line],
    removed: Sequence[Line],
    proposed: Iterable[Line],
    figures: str,
) -> str:
    """Return *text*, which may be empty, with other rules in it; all else stays as it is.

    :param added: what is to be in force besides.
    :param removed: what no longer is; what is to take its place is among *added*.
    :param proposed: what is commented out. What was proposed before goes.
    :param figures: how many there are, for the first line, where a person has left that in.
    """
    text = _PROPOSALS.sub("", text)
    patterns = parse_toml(text)
    known = [line for line in added if line.pattern in patterns]
    if known or removed:
        from scrapy_urlcanon.learn.results.toml_edit import edited  # noqa: PLC0415

        text = edited(text, known, removed)
    text = _HEADER.sub(lambda _: f"# {figures}", text, count=1)
    text = text if text.strip() else f"# {figures}\n{_ABOUT}"
    parts = [text.rstrip("\n") + "\n"]
    parts += tables(line for line in added if line.pattern not in patterns)
    off = commented_out(proposed)
    if off:
        parts.append(_PROPOSED + off)
    return "\n".join(parts)


def _json(text: str, learned: Learned, turned_off: Collection[str]) -> str:
    document = parse_json(text) if text.strip() else {}
    changes = _Changes(document, set(), learned, turned_off)
    if text.strip() and not (changes.added or changes.removed):
        return text
    for line in changes.removed:
        options = document[line.pattern]
        value = options[line.option]
        if isinstance(value, list):
            options[line.option] = [item for item in value if item not in line.setting]
        elif isinstance(value, dict):
            options[line.option] = {k: v for k, v in value.items() if k not in line.setting}
        if not isinstance(value, (list, dict)) or not options[line.option]:
            del options[line.option]
    for line in changes.added:
        options = document.setdefault(line.pattern, {})
        value = line.setting
        if isinstance(value, list):
            value = [*(options.get(line.option) or ()), *value]
        elif isinstance(value, dict):
            value = {**options.get(line.option, {}), **value}
        options[line.option] = value
    changes.check(document)
    return visible_json(json.dumps(document, indent=4, ensure_ascii=False)) + "\n"


class _Changes:
    """What is to become of the rules of a file."""

    def __init__(
        self,
        document: Mapping[str, Mapping[str, Any]],
        written_here: set[tuple[str, str, str]],
        learned: Learned,
        turned_off: Collection[str],
    ) -> None:
        spelling = {pattern_of(pattern): pattern for pattern in document}
        rules = [
            replace(rule, pattern=spelling.get(pattern_of(rule.pattern), rule.pattern))
            for rule in learned.rules
            if not rule.is_off(turned_off)
        ]
        there = _lines(document)
        wanted = _lines(as_rules(rules))
        self.added: list[Line] = []
        """What is new, with its evidence."""
        said_otherwise = {_subject(line) for line in wanted.values()}
        self.removed = [
            line
            for place, line in there.items()
            if place not in wanted
            and (_subject(line) in said_otherwise or is_learned(line, written_here))
        ]
        """What is no longer in force; of what a person wrote, what is now said otherwise."""
        self._expected = there.keys() - set(map(_place, self.removed)) | wanted.keys()
        for rule in rules:
            line = _line(rule)
            if rule.option in WHOLE and rule.option in document.get(rule.pattern, {}):
                # The evidence is for a list as a whole, so a name that is added to an existing one
                # gets none, unless the evidence is why it is added.
                said = line.said if rule.kind == "contradicted" else ""
                lines = [line._replace(setting=[name], said=said) for name in rule.setting]
            else:
                lines = [line]
            self.added += [one for one in lines if _place(one) not in there]

    def check(self, document: Mapping[str, Mapping[str, Any]]) -> None:
        """Make sure that the file which was made says what it is to say.

        :raises ValueError: if it does not.
        """
        if _lines(document).keys() != self._expected:
            raise ValueError("its layout is one that rules cannot be added to: name another file")


def _line(rule: LearnedRule, word: str = "") -> Line:
    return Line(rule.pattern, rule.option, rule.setting, word + evidence_line(rule))


def _lines(rules: Mapping[str, Mapping[str, Any]]) -> dict[_Place, Line]:
    """Return the rules of a document entry by entry, by what makes each the same as another."""
    lines = [
        Line(rule.pattern, rule.option, setting)
        for rule in rules_in_force(rules)
        for setting in (
            [[name] for name in rule.setting] or [[]] if rule.option in WHOLE else [rule.setting]
        )
    ]
    return {_place(line): line for line in lines}


def _subject(line: Line) -> tuple[str, str, str | None]:
    subject = line.setting[0] if line.option in WHOLE and line.setting else None
    return line.pattern, line.option, subject or subject_of(line.option, line.setting)


def _place(line: Line) -> _Place:
    return line.pattern, line.option, json.dumps(line.setting)
