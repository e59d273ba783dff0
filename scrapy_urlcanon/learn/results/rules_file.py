"""The learned rules as a TOML file for ``URLCANON_RULES_FILES``, each with its evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.learn.results.rule import IN_FORCE
from scrapy_urlcanon.redaction import shown_url, visible_json

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable

    from scrapy_urlcanon.learn.results.rule import Evidence, Learned, LearnedRule

_KINDS = {
    "rewrite": "URLs that this makes one show one page",
    "skip": "class of URLs whose page is found under another URL: opt-in, dropped before download",
    "sink": "the whole class shows one page",
    **IN_FORCE,
}


def to_toml(learned: Learned, *, turned_off: Collection[str] = ()) -> str:
    """Return the rules as TOML, with the unsure ones commented out.

    :param turned_off: options whose rules are commented out too, such as ``skip`` where nobody
        asked for it.

    >>> from scrapy_urlcanon.learn import Evidence, Learned, LearnedRule
    >>> evidence = Evidence(pages=12, merges=30, bound=0.78)
    >>> rule = LearnedRule(
    ...     "a.example", "a.example", "drop_params", ["sid"], "rewrite", evidence
    ... )
    >>> print(to_toml(Learned((rule,), domains=1, urls=90, redundant=31)))
    # 1 rule for 1 domain, learned from 90 URLs, of which 31 show a page that another one shows.
    <BLANKLINE>
    ["a.example"]
    # rewrite: URLs that this makes one show one page
    #   12 pages, 30 requests saved, 0 counter-examples, right for over 78 % (95 % confidence)
    drop_params = [
        "sid",
    ]
    <BLANKLINE>
    """
    parts = [_summary(learned)]
    tables: dict[str, list[LearnedRule]] = {}
    for rule in learned.rules:
        if not rule.is_off(turned_off):
            tables.setdefault(rule.pattern, []).append(rule)
    parts += [_table(pattern, rules) for pattern, rules in tables.items()]
    off = [rule for rule in learned.rules if rule.is_off(turned_off)]
    if off:
        parts.append("# Turned off: well supported, but to be turned on by you.\n")
        parts += [_commented(rule) for rule in off]
    if learned.unsure:
        parts.append("# Unsure: little evidence, or some against it. Uncomment what you know.\n")
        parts += [_commented(rule) for rule in learned.unsure]
    return "\n".join(parts)


def write_toml(
    learned: Learned, path: str | os.PathLike[str], *, turned_off: Collection[str] = ()
) -> None:
    """Write the rules to a file, whole or not at all.

    A full disk or a kill leaves the file that was there as it was.

    :raises OSError: where it cannot be written.
    """
    write_atomically(Path(path), to_toml(learned, turned_off=turned_off))


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
            "pages": rule.evidence.pages,
            "merges": rule.evidence.merges,
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
        "rules": [entry(rule) for rule in learned.rules],
        "unsure": [entry(rule) for rule in learned.unsure],
        "unexplained": [
            left._asdict() | {"example": list(map(shown_url, left.example))}
            for left in learned.unexplained
        ],
    }
    return visible_json(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)) + "\n"


def _summary(learned: Learned) -> str:
    domains = len({rule.domain for rule in learned.rules})
    return (
        f"# {_plural(len(learned.rules), 'rule')} for {_plural(domains, 'domain')}, "
        f"learned from {_plural(learned.urls, 'URL')}, "
        f"of which {learned.redundant} show a page that another one shows.\n"
    )


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _commented(rule: LearnedRule) -> str:
    lines = _table(rule.pattern, [rule]).splitlines()
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _table(pattern: str, rules: Iterable[LearnedRule]) -> str:
    lines: list[str] = []
    options: dict[str, list[LearnedRule]] = {}
    for rule in rules:
        options.setdefault(rule.option, []).append(rule)
    tables: list[str] = []
    for option, found in options.items():
        if isinstance(found[0].setting, dict):
            # A TOML table ends where the next one begins: mappings go last.
            tables += ["", f"[{_text(pattern)}.{option}]"]
            for rule in found:
                tables += _comments(rule)
                tables += [
                    f"{_text(name)} = {_text(value)}" for name, value in rule.setting.items()
                ]
        elif isinstance(found[0].setting, list):
            lines += [line for rule in found for line in _comments(rule)]
            values = [value for rule in found for value in rule.setting]
            lines += (
                [f"{option} = [", *(f"    {_value(value)}," for value in values), "]"]
                if values
                else [f"{option} = []"]
            )
        else:
            lines += [*_comments(found[0]), f"{option} = {_text(found[0].setting)}"]
    # A table that holds others and nothing else is not said.
    return "\n".join([f"[{_text(pattern)}]", *lines, *tables] if lines else tables[1:]) + "\n"


def _comments(rule: LearnedRule) -> list[str]:
    evidence = rule.evidence
    lines = [f"# {rule.kind}: {_KINDS[rule.kind]}"]
    if rule.kind not in IN_FORCE:
        lines.append(
            f"#   {_plural(evidence.pages, 'page')}, {_plural(evidence.merges, 'request')} saved, "
            f"{_plural(evidence.counter_examples, 'counter-example')}, "
            f"right for over {int(evidence.bound * 100)} % "
            f"({evidence.confidence * 100:g} % confidence)"
        )
        if rule.was_in_force:
            lines.append(f"#   {_KINDS['kept']}; {_audited(evidence)}")
    else:
        lines[0] += f"; {_audited(evidence)}"
    is_other = rule.kind in IN_FORCE and evidence.others
    for one, other in evidence.examples:
        lines += [
            f"#   {shown_url(one)}",
            f"#     {'is not' if is_other else '='} {shown_url(other)}",
        ]
    return lines


def _audited(evidence: Evidence) -> str:
    if not evidence.audited:
        return "none audited"
    return f"{evidence.audited} audited, {evidence.audited - evidence.others} the same"


def _value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    return _text(value)


def _text(value: object) -> str:
    """Return a TOML basic string, or True or False.

    JSON escapes all that TOML wants escaped, but for DEL.
    """
    if isinstance(value, bool):
        return str(value).lower()
    text = json.dumps(str(value), ensure_ascii=False)
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)
