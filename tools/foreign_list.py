"""Reports how much of a published list is read, and compares that with another implementation.

    python tools/foreign_list.py data.min.json --urls ../shared/corpora/top100.txt.gz

The other implementation follows the documentation of the format with regular expressions only. A
parameter that the plugin's rules drop and it keeps is a difference; one that they keep and it
drops is counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import ada_url

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_parameter
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.rule_files.foreign import read_foreign

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Test = re.Pattern[str]

MOST_SHOWN = 20
COUNT = 100_000
DOCUMENT = {"doc", "document"}
NEGATED = {"~xmlhttprequest", "~xhr", "~image", "~subdocument", "~script", "~3p", "~third-party"}


class Rule(NamedTuple):
    """One rule of a list: which parameters of which URLs it removes, or keeps."""

    text: str
    urls: Test
    names: Test | None
    """Matches `name=value`; None: all parameters."""
    is_exception: bool
    hosts: tuple[Test, ...] = ()
    """If there are any, one of them must match the host."""
    group: str = ""
    """The group of rules that an exception applies to."""
    exact: str | None = None
    """The name, if it is a single one."""
    sample: str = ""
    """A beginning of URLs that it is for, without the scheme."""

    def is_for(self, url: str, host: str) -> bool:
        """Tell whether it is for *url*."""
        return (not self.hosts or any(test.search(host) for test in self.hosts)) and bool(
            self.urls.search(url)
        )


def read_filters(text: str) -> Iterator[Rule]:
    """Yield the removeparam rules of a filter list."""
    conditions: list[bool] = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("!#if"):
            name = line[4:].strip()
            conditions.append(name.startswith("!") and name[1:].isidentifier())
        elif line.startswith("!#endif") and conditions:
            conditions.pop()
        found = re.search(r"\$(?=(?:[^$]*,)?(?:removeparam|queryprune)(?:[=,]|\Z))", line)
        if line.startswith("!") or not found:
            continue
        is_exception = line.startswith("@@")
        if not all(conditions) and not is_exception:
            continue
        modifiers = re.split(r"(?<!\\),", line[found.end() :])
        rule = _filter(line, line[2 * is_exception : found.start()], modifiers)
        if rule and "badfilter" not in modifiers:
            yield rule._replace(is_exception=is_exception)


def _filter(line: str, pattern: str, modifiers: Sequence[str]) -> Rule | None:
    names, exact, hosts = None, None, ()
    for modifier in modifiers:
        key, _, value = modifier.strip().partition("=")
        if key in {"removeparam", "queryprune"}:
            value = value.replace("\\,", ",")
            if value.startswith("/"):
                expression, _, flags = value[1:].rpartition("/")
                names = re.compile(expression, re.IGNORECASE if "i" in flags else 0)
            elif value.startswith("~"):
                names = re.compile(f"(?!{re.escape(value[1:])}=)")
            elif value:
                # Of the spellings of a name that are one, we make one.
                exact = unquote(value)
                names = re.compile(rf"\A{re.escape(exact)}=")
        elif key in {"domain", "from", "to"} and "~" not in value:
            hosts = tuple(_host_test(host) for host in value.split("|"))
        elif key not in DOCUMENT | NEGATED | {"denyallow", "important"} and "~" not in modifier:
            return None
    sample = re.sub(r"[\^|].*|\*", lambda m: "com" if m[0] == "*" else "", pattern.lstrip("|"))
    return Rule(line, _url_test(pattern), names, False, hosts, "", exact, sample)  # noqa: FBT003


def _host_test(host: str) -> Test:
    suffix = r"(?:\.[a-z0-9-]+)+" if host.endswith(".*") else ""
    return re.compile(rf"(?:\A|\.){re.escape(host.removesuffix('.*'))}{suffix}\Z", re.IGNORECASE)


def _url_test(pattern: str) -> Test:
    """Return the expression for a basic rule's pattern."""
    if len(pattern) > 1 and pattern[0] == pattern[-1] == "/" and re.search(r"[\\^(]", pattern):
        return re.compile(pattern[1:-1], re.IGNORECASE)
    start, end = "", ""
    if pattern.startswith("||"):
        start, pattern = r"\A[a-z][a-z0-9+.-]*://(?:[^/?#]*\.)?", pattern[2:]
    elif pattern.startswith("|"):
        start, pattern = r"\A", pattern[1:]
    if pattern.endswith("|"):
        end, pattern = r"\Z", pattern[:-1]
    body = re.escape(pattern).replace(r"\*", ".*").replace(r"\^", r"(?:[^\w.%-]|\Z)")
    return re.compile(start + body + end, re.IGNORECASE | re.ASCII)


def read_providers(document: dict[str, dict[str, dict[str, object]]]) -> Iterator[Rule]:
    """Yield the rules of the providers of ClearURLs."""
    for name, provider in document["providers"].items():
        urls = re.compile(str(provider["urlPattern"]), re.IGNORECASE)
        sample = re.sub(r"\(.*?\)\*?\??|https\?:|\\/\\/|[\\^]", "", str(provider["urlPattern"]))
        for key in ("rules", "referralMarketing"):
            for rule in provider.get(key, ()):  # type: ignore[attr-defined]
                names = re.compile(rf"\A(?:{rule})=", re.IGNORECASE)
                exact = rule if re.fullmatch(r"\w+", rule) else None
                yield Rule(rule, urls, names, False, (), name, exact, sample)  # noqa: FBT003
        for rule in provider.get("exceptions", ()):  # type: ignore[attr-defined]
            yield Rule(rule, re.compile(rule, re.IGNORECASE), None, True, (), name)  # noqa: FBT003


def read_entries(document: list[dict[str, list[str]]]) -> Iterator[Rule]:
    """Yield the rules of Brave's lists."""
    for number, entry in enumerate(document):
        for pattern in entry["include"]:
            for name in entry["params"]:
                names = re.compile(rf"\A{re.escape(name)}=")
                sample = pattern.partition("://")[2].replace("*.", "").replace("*", "")
                yield Rule(name, _match(pattern), names, False, (), str(number), name, sample)  # noqa: FBT003
        for pattern in entry.get("exclude", ()):
            yield Rule(pattern, _match(pattern), None, True, (), str(number))  # noqa: FBT003


def _match(pattern: str) -> Test:
    scheme, _, rest = pattern.partition("://")
    host, slash, path = rest.partition("/")
    hosts = "[^/?#]*" if host == "*" else re.escape(host).replace(r"\*\.", r"(?:[^/?#]*\.)?")
    schemes = "https?" if scheme == "*" else re.escape(scheme)
    paths = re.escape(slash + path).replace(r"\*", ".*")
    return re.compile(rf"\A{schemes}://{hosts}{paths}\Z", re.IGNORECASE)


class Reading:
    """The rules of a list in the other implementation."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = list(rules)
        self._exact: dict[str, list[Rule]] = defaultdict(list)
        self._others: list[Rule] = []
        self._exceptions = [rule for rule in self.rules if rule.is_exception]
        for rule in self.rules:
            if not rule.is_exception and rule.exact:
                self._exact[rule.exact.lower()].append(rule)
            elif not rule.is_exception:
                self._others.append(rule)

    def removes(self, url: str, host: str, name: str, value: str) -> bool:
        """Tell whether the parameter *name* is removed from *url*."""
        text = f"{name}={value}"
        for rule in (*self._exact[name.lower()], *self._others):
            if (rule.names is None or rule.names.search(text)) and rule.is_for(url, host):
                return not any(
                    exception.group == rule.group
                    and (exception.names is None or exception.names.search(text))
                    and exception.is_for(url, host)
                    for exception in self._exceptions
                )
        return False


def choice(seed: int) -> random.Random:
    """Return a function that chooses the same at every run."""
    return random.Random(seed)  # noqa: S311 - nothing is secret


def made_urls(reading: Reading, corpus: Sequence[str], count: int) -> Iterator[str]:
    """Yield URLs with the rules' parameters: some that rules are for, and similar ones."""
    choose = choice(count)
    named = [rule for rule in reading.rules if rule.exact] or reading.rules
    for _ in range(count):
        rule, other = choose.choice(reading.rules), choose.choice(named)
        start = rule.sample if "." in rule.sample else ""
        if not start or choose.random() < 0.3:  # noqa: PLR2004
            start = choose.choice(corpus).partition("://")[2].partition("?")[0].partition("#")[0]
        start = start.partition("?")[0].strip("/.")
        # Of such a host it is taken that it has no subdomains.
        if not start.startswith("www."):
            start = choose.choice(["", "", "", "www.", "m."]) + start
        start += choose.choice(["", "", "/", "/x", "x", "/login", "/a/b/"])
        query = f"{rule.exact or 'x1'}=1&{other.exact or 'y'}=2&id=3"
        yield f"https://{start}{'' if '/' in start else '/'}?{query}"


def compare(path: Path, text: str, urls: Path, count: int) -> int:
    """Print what is read of the list at *path*, and the differences; return their number."""
    imported = read_foreign(text, name=path.name)
    if imported is None:
        sys.exit(f"{path}: no list that is known here")
    document = (
        json.loads(text) if text.lstrip()[:1] in {"{", "["} and path.suffix == ".json" else None
    )
    if document is None:
        reading = Reading(read_filters(text))
    else:
        is_list = isinstance(document, list)
        reading = Reading(read_entries(document) if is_list else read_providers(document))
    refused = [left_out for left_out in imported.left_out if not left_out.partly]
    print(
        f"{path.name}: {imported.format}, {len(reading.rules)} rules, {len(refused)} parts refused"
    )
    reasons = Counter(re.sub(r"^\S+: (?=our)", "", left_out.reason) for left_out in refused)
    for reason, number in reasons.most_common(MOST_SHOWN):
        print(f"  {number:5} {reason}")
    base = {"*": {"tracking_params": "keep", "sort_query": False}}
    sources = [Source("base", base), Source("list", imported.rules)]
    canonicalizer = Canonicalizer.from_configuration(Configuration.load("safe", sources))
    with gzip.open(urls, "rt", encoding="utf-8") as lines:
        corpus = [line.strip() for line in lines]
    real = choice(count).sample(corpus, min(len(corpus), count // 2))
    made = made_urls(reading, corpus, count - len(real))
    removed, common, differences = _differences(reading, canonicalizer, (*real, *made))
    print(f"  of {removed} parameters that it removes from {count} URLs, ours remove {common}")
    print(f"  {len(differences)} that ours remove and it keeps")
    for url, name in differences[:MOST_SHOWN]:
        print(f"    {name} of {url}")
    return len(differences)


def _differences(
    reading: Reading, canonicalizer: Canonicalizer, texts: Iterable[str]
) -> tuple[int, int, list[tuple[str, str]]]:
    """Return how many parameters the list removes, how many ours do too, and what only ours do."""
    removed = common = 0
    differences = []
    for text in texts:
        try:
            # What a browser would ask for.
            url = ada_url.URL(text).href
        except ValueError:
            continue
        explanation = canonicalizer.explain(url)
        if explanation.problem or "?" not in url:
            continue
        parts = split(explanation.canonical)
        kept = Counter(map(decode_parameter, parts.query or ()))
        pieces = url.partition("#")[0].partition("?")[2].split("&")
        for name, value in map(decode_parameter, filter(None, pieces)):
            is_removed = reading.removes(url, parts.host, name, value)
            removed += is_removed
            if kept[name, value]:
                kept[name, value] -= 1
            elif is_removed:
                common += 1
            else:
                differences.append((url, name))
    return removed, common, differences


def main() -> int:
    """Compare each of the lists that are given."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("lists", nargs="+", type=Path, help="published lists")
    parser.add_argument("--urls", type=Path, required=True, help="URLs, one a line, in gzip")
    parser.add_argument("--count", type=int, default=COUNT, help="how many URLs")
    options = parser.parse_args()
    texts = [(path, path.read_text(encoding="utf-8")) for path in options.lists]
    return min(1, sum(compare(path, text, options.urls, options.count) for path, text in texts))


if __name__ == "__main__":
    sys.exit(main())
