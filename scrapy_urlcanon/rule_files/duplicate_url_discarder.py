"""Reads the rules of duplicate-url-discarder (Zyte), version 0.3 and its rule package.

In that project the universal rules do not apply to a URL that any rule with a host matches. Our
rules for ``*`` stay on, so each pattern with a host takes back what the universal rules do. For
that, all rules that are used together must be translated together: :func:`translate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import unquote_plus

from attrs import Factory, define, frozen

from scrapy_urlcanon.canonicalizer.names import NOT_WRITABLE, is_writable
from scrapy_urlcanon.rule_files.approximation import includes_no_subdomain
from scrapy_urlcanon.rule_files.composition import PatternIndex, RuleGroup, compose
from scrapy_urlcanon.rule_files.documents import is_texts
from scrapy_urlcanon.rule_files.imported import Imported, LeftOut
from scrapy_urlcanon.rule_files.url_matcher_pattern import EVERYWHERE, UrlMatcherPattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy_urlcanon.canonicalizer.patterns import Pattern

FORMAT = "duplicate-url-discarder"

REMOVAL = "queryRemoval"
REMOVAL_EXCEPT = "queryRemovalExcept"
SUBPATH_REMOVAL = "subpathRemoval"
NORMALIZER = "normalizer"

_ARGS: dict[str, tuple[type | tuple[type, ...], str]] = {
    REMOVAL: (str, "a list of texts"),
    REMOVAL_EXCEPT: (str, "a list of texts"),
    SUBPATH_REMOVAL: (int, "a list of whole numbers"),
    NORMALIZER: ((), "no arguments"),
}
"""By processor, the type of its arguments, and the name of that type for messages."""

_BARE_HOST = (
    "it is for {host} without its subdomains, and our patterns include them; "
    "only www.{host} has the rule"
)
_PREFIX = (
    "its path is a prefix as text there and ends on the border of a segment here: "
    "a path that goes on, as in {path}x, is not covered"
)
_UNIVERSAL = "what the universal rules do is taken back in all of {scope}, not only in the pattern"


@frozen
class UrlRule:
    """One rule of a file."""

    where: str
    order: int
    processor: str
    args: tuple[Any, ...]
    include: tuple[UrlMatcherPattern, ...]
    exclude: tuple[str, ...]

    @property
    def is_universal(self) -> bool:
        """Whether it is for the URLs that no rule with a host matches."""
        return not self.include


def is_format(document: object) -> TypeGuard[list[dict[str, Any]]]:
    """Tell whether *document*, parsed JSON, is meant as a list of such rules."""
    return isinstance(document, list) and (
        not document
        or any(
            isinstance(item, dict) and ("urlPattern" in item or "processor" in item)
            for item in document
        )
    )


def parse(document: list[dict[str, Any]], *, name: str) -> tuple[UrlRule, ...]:
    """Return the rules of *document*, the parsed JSON of the file *name*.

    :raises ValueError: with all that is wrong, each with its place.
    """
    rules: list[UrlRule] = []
    problems: list[str] = []
    for index, item in enumerate(document):
        try:
            rules.append(_parse_rule(f"{name}[{index}]", item))
        except ValueError as error:
            problems.append(f"[{index}]{error}")
    if problems:
        raise ValueError("; ".join(problems))
    return tuple(rules)


def _parse_rule(where: str, item: object) -> UrlRule:
    if not isinstance(item, dict):
        raise ValueError(f": expected an object, got {item!r}")  # noqa: TRY004 - of the file
    patterns: dict[str, Any] = _typed(item, "urlPattern", dict, "an object")
    order: int = _typed(item, "order", int, "a number")
    processor: str = _typed(item, "processor", str, "a text")
    include = _texts(patterns, "include")
    parsed: list[UrlMatcherPattern] = []
    # url-matcher: no include, or none but empty ones, stands for every URL.
    for number, text in enumerate(include if any(include) else ()):
        try:
            parsed.append(UrlMatcherPattern.parse(text))
        except ValueError as error:
            raise ValueError(f".urlPattern.include[{number}]: {error}") from None
    args = _args(processor, item.get("args") or [])
    return UrlRule(where, order, processor, args, tuple(parsed), _texts(patterns, "exclude"))


def _typed(item: Mapping[str, Any], key: str, kind: type, expected: str) -> Any:
    value = item.get(key)
    if isinstance(value, kind):
        return value
    raise ValueError(f".{key}: expected {expected}, got {value!r}")


def _texts(patterns: Mapping[str, Any], key: str) -> tuple[str, ...]:
    texts = patterns.get(key) or []
    if not is_texts(texts):
        raise ValueError(f".urlPattern.{key}: expected a list of texts, got {texts!r}")
    return tuple(texts)


def _args(processor: str, args: Any) -> tuple[Any, ...]:
    kind, expectation = _ARGS.get(processor, (object, "a list"))
    if not isinstance(args, list) or not all(isinstance(arg, kind) for arg in args):
        raise ValueError(f".args: expected {expectation}, got {args!r}")
    return tuple(args)


def translate(rules: Iterable[UrlRule]) -> Imported:
    """Translate *rules*, which are used together, into our options."""
    ordered = sorted(rules, key=lambda rule: rule.order)
    translation = _Translation()
    for rule in ordered:
        translation.add(rule)
    return Imported(FORMAT, translation.rules(), tuple(translation.left_out))


@define
class _Translation:
    universal: RuleGroup = Factory(RuleGroup)
    with_host: RuleGroup = Factory(RuleGroup)
    kept: dict[Pattern, list[set[str]]] = Factory(dict)
    """For each scope, the names that each of its ``queryRemovalExcept`` rules keeps."""
    wide: list[tuple[UrlRule, UrlMatcherPattern, Pattern]] = Factory(list)
    """Patterns that no scope of ours equals, with a wider scope."""
    left_out: list[LeftOut] = Factory(list)

    def add(self, rule: UrlRule) -> None:
        if rule.is_universal:
            # url-matcher's match_universal() does not look at the exclude patterns.
            self._apply(rule, [EVERYWHERE], self.universal)
            return
        for pattern in rule.include:
            self._add_pattern(rule, pattern)

    def rules(self) -> dict[str, dict[str, Any]]:
        index = PatternIndex(self.kept)
        for scope in self.kept:
            self._set_keep_params(scope, self._kept_above(scope, index))
        for scope, dropped in self.with_host.drops.items():
            if scope not in self.kept:
                self._take_from_keep_params(scope, dropped, self._kept_above(scope, index))
        if self.universal.drops or self.universal.options:
            for rule, pattern, scope in self.wide:
                self._leave_out(rule, pattern, _UNIVERSAL.format(scope=scope), partly=True)
        return compose([self.universal, self.with_host])

    def _kept_above(self, scope: Pattern, index: PatternIndex) -> list[set[str]]:
        """Return what other patterns with a host keep that hold for all of *scope*."""
        above = dict.fromkeys(index.covering(scope))
        return [
            names
            for other in above
            if other not in (scope, EVERYWHERE)
            for names in self.kept[other]
        ]

    def _set_keep_params(self, scope: Pattern, above: Sequence[set[str]]) -> None:
        """Set the parameters that all rules for *scope* together keep.

        There the rules apply one after the other, so only names are left that each of them keeps,
        and a queryRemoval removes some of these. Here the keep_params of all layers unite, and win
        over drop_params.
        """
        group = self.universal if scope == EVERYWHERE else self.with_host
        kept = set.intersection(*self.kept[scope], *above)
        for other, dropped in group.drops.items():
            if other.covers(scope):
                kept.difference_update(dropped)
        inherited = set.union(*above) if above else set()
        taken_back = sorted(f"!{name}" for name in inherited - kept)
        group.set_option(scope, "keep_params", [*taken_back, *sorted(kept)])

    def _take_from_keep_params(
        self, scope: Pattern, dropped: list[str], above: Sequence[set[str]]
    ) -> None:
        taken_back = [name for name in dropped if any(name in names for names in above)]
        if taken_back:
            self.with_host.set_option(scope, "keep_params", [f"!{name}" for name in taken_back])

    def _add_pattern(self, rule: UrlRule, pattern: UrlMatcherPattern) -> None:
        covered = pattern.superset()
        if covered is not None:
            self.universal.except_for(covered, None)
            if not pattern.is_host_alone():
                self.wide.append((rule, pattern, covered))
        problem = pattern.problem()
        if problem is None and rule.exclude:
            problem = "our rules have no exceptions by pattern: " + ", ".join(rule.exclude)
        if problem is not None:
            self._leave_out(rule, pattern, problem)
        elif rule.processor == SUBPATH_REMOVAL:
            self._remove_subpaths(rule, pattern)
        elif (path_problem := pattern.path_problem()) is not None:
            self._leave_out(rule, pattern, path_problem)
        else:
            self._add_scopes(rule, pattern)

    def _add_scopes(self, rule: UrlRule, pattern: UrlMatcherPattern) -> None:
        try:
            scopes = list(pattern.scopes())
        except ValueError as error:
            self._leave_out(rule, pattern, str(error))
            return
        self._apply(rule, scopes, self.with_host, pattern)
        self._tell_about_hosts(rule, pattern)
        if not pattern.is_path_whole():
            self._leave_out(rule, pattern, _PREFIX.format(path=pattern.literal_path()), partly=True)

    def _apply(
        self,
        rule: UrlRule,
        scopes: Sequence[Pattern],
        group: RuleGroup,
        pattern: UrlMatcherPattern | None = None,
    ) -> None:
        if rule.processor == REMOVAL:
            names = [unquote_plus(arg) for arg in rule.args]
            for name in names:
                if not is_writable(name):
                    self._leave_out(rule, pattern, NOT_WRITABLE, what=f"the name {name!r}")
            for scope in scopes:
                group.drop(scope, filter(is_writable, names))
        elif rule.processor == REMOVAL_EXCEPT:
            names = [unquote_plus(arg) for arg in rule.args]
            if not all(map(is_writable, names)):
                # Written without one of its names, the rule would drop what it is meant to keep.
                self._leave_out(rule, pattern, NOT_WRITABLE)
                return
            for scope in scopes:
                self.kept.setdefault(scope, []).append(set(names))
        elif rule.processor == NORMALIZER:
            for scope in scopes:
                group.set_option(scope, "www", "strip")
                group.set_option(scope, "trailing_slash", "strip")
        else:
            self._leave_out(
                rule,
                pattern,
                "it does not come to an end: of what it makes of a URL it takes a part again"
                if rule.processor == SUBPATH_REMOVAL
                else "no such processor is known here",
            )

    def _remove_subpaths(self, rule: UrlRule, pattern: UrlMatcherPattern) -> None:
        templates = _templates(pattern.literal_path(), set(rule.args))
        if templates is None or pattern.query or pattern.path.endswith("|"):
            self._leave_out(
                rule,
                pattern,
                "only the removal of a * segment before a literal one can be a rewrite_path, "
                "since what is left must not lose another",
            )
            return
        scopes = [scope._replace(path="") for scope in pattern.scopes()]
        for scope in scopes:
            options = self.with_host.options.setdefault(scope, {})
            listed = options.setdefault("rewrite_path", [])
            listed += [template for template in templates if template not in listed]
        self._tell_about_hosts(rule, pattern)
        self._leave_out(
            rule,
            pattern,
            "each * is one segment here, and a literal segment is a whole one",
            partly=True,
        )

    def _tell_about_hosts(self, rule: UrlRule, pattern: UrlMatcherPattern) -> None:
        if not pattern.is_host_alone() and not includes_no_subdomain(pattern.host):
            self._leave_out(rule, pattern, _BARE_HOST.format(host=pattern.host), partly=True)

    def _leave_out(
        self,
        rule: UrlRule,
        pattern: UrlMatcherPattern | None,
        reason: str,
        *,
        what: str = "",
        partly: bool = False,
    ) -> None:
        text = f"{rule.processor} {list(rule.args)!r} for {pattern.text if pattern else '*'}"
        if what:
            text = f"{what} in {text}"
        self.left_out.append(LeftOut(rule.where, text, reason, partly=partly or bool(what)))


def _templates(path: str, removed: set[int]) -> list[list[str]] | None:
    """Return the ``rewrite_path`` templates that remove the segments *removed* of *path*.

    >>> _templates("/*/dp", {0})
    [['/{s0}/dp', '/dp'], ['/{s0}/dp/{rest:path}', '/dp/{rest}']]
    >>> _templates("/*/dp/", {0})
    [['/{s0}/dp/{rest:path}', '/dp/{rest}']]

    None where the result could lose a segment again. That cannot be where it has fewer
    segments than the path up to its last literal, and what is removed are ``*`` alone.
    """
    segments = path.split("/")[1:]
    is_directory = segments[-1:] == [""]
    if is_directory:
        segments.pop()
    inside = all(0 <= index < len(segments) and segments[index] == "*" for index in removed)
    if not segments or segments[-1] in {"", "*"} or not removed or not inside:
        return None
    if any("*" in segment and segment != "*" for segment in segments):
        return None
    if any("{" in segment or "}" in segment for segment in segments):
        return None
    names = [f"{{s{i}}}" if segment == "*" else segment for i, segment in enumerate(segments)]
    before = "/" + "/".join(names)
    after = "/" + "/".join(name for i, name in enumerate(names) if i not in removed)
    below = [f"{before}/{{rest:path}}", f"{after}/{{rest}}"]
    return [below] if is_directory else [[before, after], below]
