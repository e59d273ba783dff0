"""Makes a failing case as small as possible."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from differential.case import Case, Link, Page, identity
from differential.fairness import made_fair
from differential.law import judge

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFAULT = Link("")
_PARTS = (
    "answers",
    "settings",
    "plugin",
    "robots",
    "delays",
    "interferences",
    "start",
    "handled",
    "allowed_domains",
    "habits",
)


async def shrunk(case: Case, *, tries: int = 600) -> Case:
    """Return a smaller case that fails in the same way, found with at most *tries* crawls."""
    lost = bool((await judge(case)).lost)
    is_smaller = True
    while is_smaller and tries > 0:
        is_smaller = False
        for make in (_without_parts, _with_plainer_parts, _with_plainer_urls):
            position = 0
            while tries > 0:
                smaller = _nth(make(case), position)
                if smaller is None:
                    break
                smaller = made_fair(smaller)
                tries -= 1
                if smaller != case and _fails(await judge(smaller), lost=lost):
                    case, is_smaller = smaller, True
                else:
                    position += 1
    return case


def _fails(verdict: Any, *, lost: bool) -> bool:
    return bool(verdict.lost) if lost else verdict.failed


def _nth(cases: Iterator[Case], position: int) -> Case | None:
    for number, case in enumerate(cases):
        if number == position:
            return case
    return None


def _without_parts(case: Case) -> Iterator[Case]:
    for name in list(case.pages)[::-1]:
        yield _without_page(case, name)
    for attribute, value in (
        ("crawls", 1),
        ("end", ""),
        ("program", ""),
        ("end_again", 0),
        ("later_plugin", {}),
        ("server", ()),
        ("mixing", ""),
    ):
        if getattr(case, attribute) != value:
            yield replace(case, **{attribute: value})
    for attribute in _PARTS:
        for fewer in _fewer(getattr(case, attribute)):
            yield replace(case, **{attribute: fewer})
    for name, page in case.pages.items():
        for attribute in ("links", "files", "inline"):
            for fewer in _fewer(getattr(page, attribute)):
                yield _with_page(case, name, replace(page, **{attribute: fewer}))
    yield from _without_rules(case)


def _without_rules(case: Case) -> Iterator[Case]:
    for setting in ("URLCANON_RULES", "URLCANON_SPIDER_RULES"):
        for pattern, rules in case.plugin.get(setting, {}).items():
            for fewer in _fewer(rules):
                yield replace(case, plugin={**case.plugin, setting: {pattern: fewer}})


def _fewer(values: Any) -> Iterator[Any]:
    """Yield *values*, a tuple or a mapping, without each half, and without each single value."""
    entries = list(values.items()) if isinstance(values, dict) else list(values)
    half = len(entries) // 2
    if half > 1:
        yield type(values)(entries[:half])
        yield type(values)(entries[half:])
    for number in range(len(entries)):
        yield type(values)(entries[:number] + entries[number + 1 :])


def _with_plainer_parts(case: Case) -> Iterator[Case]:
    if case.spider == "crawl":
        start = tuple(replace(link, callback="parse") for link in case.start)
        yield replace(case, spider="plain", start=start)
    yield _map_links(case, lambda link: replace(link, callback="parse"))
    for attribute, value in vars(_DEFAULT).items():
        if attribute not in {"url", "callback"}:
            yield _map_links(case, lambda link, a=attribute, v=value: replace(link, **{a: v}))
    for name, page in case.pages.items():
        for attribute, value in (("canonical", ""), ("raises", False)):
            if getattr(page, attribute):
                yield _with_page(case, name, replace(page, **{attribute: value}))


def _with_plainer_urls(case: Case) -> Iterator[Case]:
    for url in sorted(set(case.urls()), key=len, reverse=True):
        name = identity(url)
        plain = f"http://site.example/{name}"
        for target in (plain, f"{plain}?sid=1", f"{plain}?sid=2", f"{plain}?sid=3"):
            if len(target) < len(url):
                yield _renamed(case, url, target)


def _renamed(case: Case, url: str, target: str) -> Case:
    def rename(value: Any) -> Any:
        if isinstance(value, str):
            return target if value == url else value
        if isinstance(value, tuple):
            return tuple(map(rename, value))
        if isinstance(value, dict):
            return {rename(k): rename(v) for k, v in value.items()}
        if hasattr(value, "__dataclass_fields__"):
            return type(value)(**{k: rename(v) for k, v in vars(value).items()})
        return value

    return rename(case)


def _with_page(case: Case, name: str, page: Page) -> Case:
    return replace(case, pages={**case.pages, name: page})


def _without_page(case: Case, name: str) -> Case:
    case = _map_links(case, lambda link: None if identity(link.url) == name else link)
    pages = {k: v for k, v in case.pages.items() if k != name}
    answers = {k: v for k, v in case.answers.items() if identity(k) != name}
    return replace(case, pages=pages, answers=answers)


def _map_links(case: Case, change: Any) -> Case:
    pages = {
        name: replace(page, links=tuple(filter(None, map(change, page.links))))
        for name, page in case.pages.items()
    }
    start = tuple(filter(None, map(change, case.start)))
    return replace(case, pages=pages, start=start)


def as_code(case: Case) -> str:
    """Return *case* as Python code, without default values."""
    return _code(case, "")


def _code(value: Any, indent: str) -> str:
    deeper = indent + "    "
    if isinstance(value, Link) and value == Link(value.url):
        return f"Link({value.url!r})"
    if hasattr(value, "__dataclass_fields__"):
        parts = []
        for name, spec in value.__dataclass_fields__.items():
            given = getattr(value, name)
            if given != spec.default and given not in ({}, ()):
                parts.append(f"{name}={_code(given, deeper)}")
        return _lines(type(value).__name__ + "(", parts, ")", indent)
    if isinstance(value, dict):
        parts = [f"{k!r}: {_code(v, deeper)}" for k, v in value.items()]
        return _lines("{", parts, "}", indent)
    if isinstance(value, tuple):
        parts = [_code(each, deeper) for each in value]
        if len(parts) == 1:
            parts = [parts[0] + ","]
        return _lines("(", parts, ")", indent).replace(",,", ",")
    return repr(value)


def _lines(opening: str, parts: list[str], closing: str, indent: str) -> str:
    short = opening + ", ".join(parts) + closing
    if len(short) + len(indent) < 88 and "\n" not in short:
        return short
    deeper = indent + "    "
    return opening + "".join(f"\n{deeper}{part}," for part in parts) + f"\n{indent}{closing}"


async def explained(case: Case, *, tries: int = 600) -> str:
    """Return the smallest form of the failing *case*, and what is lost in it."""
    case = await shrunk(case, tries=tries)
    verdict = await judge(case)
    lines = [as_code(case)]
    for number, (callback, name), url in verdict.lost:
        crawl = f" in crawl {number + 1}" if case.crawls > 1 else ""
        lines.append(f"lost{crawl}: {name} for {callback}; without the plugin it came by {url}")
    lines += verdict.errors
    lines.append(f"asked for, off: {' '.join(verdict.hits[0])}")
    lines.append(f"asked for, on:  {' '.join(verdict.hits[1])}")
    return "\n".join(lines)
