"""Differences between the URLs of one page, and the rules that remove them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

HOST = "site.example"


class Decoration(NamedTuple):
    """A way to write another URL for a page."""

    add: Callable[[str, Random], str]
    rules: dict[str, Any]
    """The rules that merge both; none if they are merged by default."""


def _host(prefix: str, suffix: str = "") -> Callable[[str, Random], str]:
    return lambda url, _: url.replace(f"//{HOST}/", f"//{prefix}{HOST}{suffix}/")


def _scheme(url: str, _: Random) -> str:
    return url.replace("http://", "https://", 1)


def _mirror(url: str, _: Random) -> str:
    return url.replace(f"//{HOST}", "//mirror.example")


def _path(change: Callable[[str], str]) -> Callable[[str, Random], str]:
    def decorate(url: str, _: Random) -> str:
        parts = urlsplit(url)
        return urlunsplit(parts._replace(path=change(parts.path)))

    return decorate


def _query(*parameters: str) -> Callable[[str, Random], str]:
    def decorate(url: str, random: Random) -> str:
        parts = urlsplit(url)
        parameter = random.choice(parameters)
        if parts.query:
            pair = [parts.query, parameter]
            random.shuffle(pair)
            parameter = "&".join(pair)
        return urlunsplit(parts._replace(query=parameter))

    return decorate


DECORATIONS = {
    "drop_params": Decoration(_query("sid=1", "sid=2", "sid=3"), {"drop_params": ["sid"]}),
    "tracking_params": Decoration(_query("utm_source=x", "gclid=1"), {}),
    "keep_params": Decoration(_query("any=1", "other=2"), {"keep_params": ["id"]}),
    "default_params": Decoration(_query("page=1"), {"default_params": {"page": "1"}}),
    "empty_params": Decoration(_query("x="), {"empty_params": "drop"}),
    "param_case": Decoration(
        _query("SID=1", "sid=1"), {"param_case": "lower", "drop_params": ["sid"]}
    ),
    "query_separator": Decoration(
        _query("sid=1;page=1"),
        {"query_separator": ";", "drop_params": ["sid", "page", "any", "other", "x", "id"]},
    ),
    "www": Decoration(_host("www."), {"www": "strip"}),
    "host_aliases": Decoration(_mirror, {"host_aliases": {"mirror.example": HOST}}),
    "subdomain_to_path": Decoration(
        lambda url, random: (
            _host("u1.")(url, random)
            if random.random() < 0.5
            else _path(lambda path: f"/u1{path}")(_host("www.")(url, random), random)
        ),
        {"subdomain_to_path": ["u1"]},
    ),
    "scheme": Decoration(_scheme, {"scheme": "http"}),
    "userinfo": Decoration(_host("me@"), {"userinfo": "drop"}),
    "path_case": Decoration(_path(str.upper), {"path_case": "lower"}),
    "directory_index": Decoration(
        _path(lambda path: path.rstrip("/") + "/index.html"),
        {"directory_index": ["index.html"], "trailing_slash": "strip"},
    ),
    "trailing_slash": Decoration(
        _path(lambda path: path.rstrip("/") + "/"), {"trailing_slash": "strip"}
    ),
    "trailing_slash add": Decoration(
        _path(lambda path: path.rstrip("/") + "/"), {"trailing_slash": "add"}
    ),
    "duplicate_slashes": Decoration(
        _path(lambda path: "/" + path), {"duplicate_slashes": "collapse"}
    ),
    "path_params": Decoration(
        _path(lambda path: f"{path};jsessionid=7"), {"path_params": ["jsessionid"]}
    ),
    "rewrite_path": Decoration(
        _path(lambda path: f"/item{path}"), {"rewrite_path": [["/item/{id}", "/{id}"]]}
    ),
    "nested_url": Decoration(lambda url, _: f"http://{HOST}/out/{url}", {"nested_url": "unwrap"}),
    "fragment": Decoration(lambda url, _: f"{url.partition('#')[0]}#top", {}),
    "percent_encoding": Decoration(
        _path(lambda path: path[:-2] + "%" + f"{ord(path[-2]):02x}" + path[-1]), {}
    ),
    "default_port": Decoration(_host("", ":80"), {}),
    "trailing_dot": Decoration(_host("", "."), {}),
    # No rule makes these one, unless the page declares it.
    "none": Decoration(_query("view=a", "view=b"), {}),
}

OF_PROGRAM = {"drop_params": ["replytocom"]}
"""The rules of the program that some sites run on, as far as they concern URLs here."""


def merged(rules: list[dict[str, Any]]) -> dict[str, Any]:
    """Return *rules* merged: lists are united, as between layers."""
    result: dict[str, Any] = {}
    for each in rules:
        for name, value in each.items():
            if isinstance(value, list):
                old = result.get(name, [])
                result[name] = [*old, *(entry for entry in value if entry not in old)]
            elif isinstance(value, dict):
                result[name] = {**result.get(name, {}), **value}
            else:
                result.setdefault(name, value)
    return result
