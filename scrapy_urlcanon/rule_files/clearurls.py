"""Reads the provider JSON of ClearURLs (``data.min.json``).

Format: https://docs.clearurls.xyz/1.23.0/specs/rules. A provider has a regular expression
for its URLs, others for the URLs that it leaves alone, and others again for the names of
the parameters that it removes; these match a whole name, decoded.

An exception that our patterns cannot take out leaves the whole provider out: the rule
without it would merge what ClearURLs keeps apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from scrapy_urlcanon.canonicalizer.names import NOT_WRITABLE, is_writable
from scrapy_urlcanon.rule_files.composition import RuleGroup, compose
from scrapy_urlcanon.rule_files.documents import is_texts
from scrapy_urlcanon.rule_files.finite_regex import NotFiniteError, finite_texts, split_at
from scrapy_urlcanon.rule_files.imported import Imported, LeftOut
from scrapy_urlcanon.rule_files.url_regex import scopes_around, scopes_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT = "ClearURLs"

_LISTS = ("rules", "rawRules", "referralMarketing", "exceptions", "redirections")
_TELLING = ("urlPattern", "rules")
"""Keys that show a provider: no option of ours has one of these names."""

_LETTER_CASE = LeftOut(
    "providers",
    "all names and paths",
    "letter case makes no difference there and does here",
    partly=True,
)


def is_format(document: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether *document*, parsed JSON, is meant as a catalogue of providers."""
    if not isinstance(document, dict) or "providers" not in document:
        return False
    providers = document["providers"]
    if isinstance(providers, dict):
        # One provider is enough: with a mistyped one beside it this is still no file of ours.
        return not providers or any(
            isinstance(provider, dict) and not provider.keys().isdisjoint(_TELLING)
            for provider in providers.values()
        )
    return isinstance(providers, list)


def read(document: Mapping[str, Any]) -> Imported:
    """Translate *document*, parsed JSON, into our options.

    :raises ValueError: with all that is wrong, each with its place.
    """
    providers = document["providers"]
    problems = list(_problems(providers))
    if problems:
        raise ValueError("; ".join(problems))
    groups: list[RuleGroup] = []
    left_out: list[LeftOut] = []
    for name, provider in providers.items():
        group, missing = _translate(f"providers.{name}", provider)
        groups.append(group)
        left_out += missing
    rules = compose(groups)
    if rules:
        left_out.append(_LETTER_CASE)
    return Imported(FORMAT, rules, tuple(left_out))


def _problems(providers: object) -> Iterator[str]:
    if not isinstance(providers, dict):
        yield (
            "providers: expected an object with a provider under each name, as in "
            "data.min.json of ClearURLs 1.x, got a list"
        )
        return
    for name, provider in providers.items():
        if not isinstance(provider, dict):
            yield f"providers.{name}: expected an object, got {provider!r}"
            continue
        if not isinstance(provider.get("urlPattern"), str):
            got = provider.get("urlPattern")
            yield f"providers.{name}.urlPattern: expected a text, got {got!r}"
        for key in _LISTS:
            texts = provider.get(key, [])
            if not is_texts(texts):
                yield f"providers.{name}.{key}: expected a list of texts, got {texts!r}"


def _translate(where: str, provider: Mapping[str, Any]) -> tuple[RuleGroup, list[LeftOut]]:
    group = RuleGroup()
    left_out = list(_never_expressed(where, provider))
    names = list(_names(where, provider, left_out))
    if not names:
        return group, left_out
    pattern = provider["urlPattern"]
    try:
        for scope in scopes_inside(pattern):
            group.drop(scope, names)
    except NotFiniteError as error:
        left_out.append(LeftOut(f"{where}.urlPattern", pattern, str(error)))
        return RuleGroup(), left_out
    for index, exception in enumerate(provider.get("exceptions", [])):
        place = f"{where}.exceptions[{index}]"
        try:
            excepted, is_exact = scopes_around(exception)
        except NotFiniteError as error:
            reason = f"{error}; without this exception the provider is left out as a whole"
            left_out.append(LeftOut(place, exception, reason))
            return RuleGroup(), left_out
        for scope in excepted:
            group.except_for(scope, None)
        if not is_exact:
            reason = "here it is for all of " + ", ".join(map(str, excepted))
            left_out.append(LeftOut(place, exception, reason, partly=True))
    return group, left_out


def _never_expressed(where: str, provider: Mapping[str, Any]) -> Iterator[LeftOut]:
    if provider.get("completeProvider"):
        reason = "it blocks requests; nothing is removed"
        yield LeftOut(f"{where}.completeProvider", "true", reason)
    for key, reason in (
        ("rawRules", "it removes any part of a URL; rewrite_path has templates for that"),
        ("redirections", "it follows a redirect; nested_url and rewrite_path have templates"),
    ):
        for index, text in enumerate(provider.get(key, [])):
            yield LeftOut(f"{where}.{key}[{index}]", text, reason)


def _names(where: str, provider: Mapping[str, Any], left_out: list[LeftOut]) -> Iterator[str]:
    # ClearURLs removes the names in referralMarketing too, unless its user allows them.
    for key in ("rules", "referralMarketing"):
        for index, expression in enumerate(provider.get(key, [])):
            place = f"{where}.{key}[{index}]"
            try:
                names = _whole(expression)
            except NotFiniteError as error:
                reason = f"it has no finite list of names: {error}"
                left_out.append(LeftOut(place, expression, reason))
                continue
            yield from filter(is_writable, names)
            if not all(map(is_writable, names)):
                left_out.append(LeftOut(place, expression, NOT_WRITABLE, partly=True))


def _whole(expression: str) -> tuple[str, ...]:
    """Return the texts that ``^expression$`` matches, which is what ClearURLs compiles."""
    if len(split_at(expression, "|")) > 1:
        raise NotFiniteError("^ and $ belong to its first and its last alternative alone")
    return finite_texts(expression)
