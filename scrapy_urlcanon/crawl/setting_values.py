"""Reads and checks the values of settings: a function for each kind of value.

Values come from Python or from a command line. Each function takes the name of the setting, for
messages, and the value that Scrapy has, and raises :class:`.ConfigurationError` if the value is not
of that kind.
"""

from __future__ import annotations

import os
from operator import index
from typing import TYPE_CHECKING, Any, Final

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean
from scrapy_urlcanon.files import problem_of_file, problem_of_path
from scrapy_urlcanon.wording import seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable

_OFF: Final = (False, "", "0", "false", "False", "none", "None")
"""Values that mean "no path" or "no order", also from a command line. A file of such a name can be
given as ``./False``."""
_ON: Final = ("1", "true", "True")
"""Values that turn a flag on, and are no names of files either."""
_ORDERS: Final = ("novelty",)
_LEAST_SHARE: Final = 1e-6
"""The smallest share that can be shown. It takes some million fetches; the logarithms of far
smaller ones overflow."""


def flag(name: str, value: Any) -> bool:
    """Return the Boolean that *value* means."""
    if value in (True, *_ON):
        return True
    if value in (False, "0", "false", "False"):
        return False
    raise _expected(name, "True or False", value)


def count(name: str, value: Any) -> int:
    """Return *value* as a whole number of 0 or more."""
    try:
        number = int(value) if isinstance(value, str) else index(value)
        if not isinstance(value, bool) and number >= 0:
            return number
    except (TypeError, ValueError):
        pass
    raise _expected(name, "a whole number of 0 or more", value)


def profiles(name: str, value: Any) -> bool | tuple[Any, ...]:
    """Return whether profiles are used, or names and paths, which are checked to exist."""
    if not isinstance(value, (list, tuple)):
        try:
            return flag(name, value)
        except ConfigurationError:
            if not isinstance(value, str):
                raise _expected(name, "True, False, or names and paths", value) from None
    chosen_paths = paths(name, value)
    if chosen_paths:
        # Imported here for a faster start: few crawls name any.
        from scrapy_urlcanon.profiles.catalogue import chosen  # noqa: PLC0415

        chosen(chosen_paths, setting=name)
    return chosen_paths


def share(name: str, value: Any) -> float:
    """Return *value* as a number from 0 to 1."""
    try:
        if not isinstance(value, bool) and 0 <= float(value) <= 1:
            return float(value)
    except (OverflowError, TypeError, ValueError):
        pass
    raise _expected(name, "a number from 0 to 1", value)


def share_of_rest(name: str, value: Any) -> float:
    """Return *value*: 0, or a share that a random sample can show.

    That is below 1, which is meant as "on" or as a percentage.
    """
    number = share(name, value)
    if number == 1:
        raise _expected(name, "a share below 1, such as 0.01 for one in a hundred", value)
    if 0 < number < _LEAST_SHARE:
        raise _expected(name, f"0 or a share of at least {_LEAST_SHARE:f}", value)
    return number


def order(name: str, value: Any) -> str | None:
    """Return the name of the order, or None."""
    if value in (*_OFF, *_ORDERS):
        return None if value in _OFF else str(value)
    raise _expected(name, "'novelty' or nothing", value, _ORDERS)


def one_of(*known: str) -> Callable[[str, Any], str]:
    """Return a function that reads a value which has to be one of *known*."""

    def read(name: str, value: Any) -> str:
        if value in known:
            return str(value)
        *others, last = map(repr, known)
        raise _expected(name, f"{', '.join(others)} or {last}", value, known)

    return read


def expiry(name: str, value: Any) -> dict[str, float]:
    """Return seconds by host, with `*` for all others; 0 means never."""
    is_json = isinstance(value, str) and value.lstrip().startswith("{")
    is_by_host = is_json or isinstance(value, (dict, BaseSettings))
    by_host = rules(name, value) if is_by_host else {"*": value}
    found, problems = {}, []
    for host, text in by_host.items():
        place = str(host) if is_by_host else None
        seconds = seconds_of(text)
        if seconds is None:
            message = f"expected a time such as 3600, '12h' or '30d', got {text!r}"
            problems.append(Problem(name, message, place))
            continue
        try:
            found[host if host == "*" else _host(host)] = seconds
        except (TypeError, ValueError) as error:
            problems.append(Problem(name, str(error), place))
    if problems:
        raise ConfigurationError(problems)
    return found


def order_by(name: str, value: Any) -> Any:
    """Return *value*, or the callable at that path."""
    if value in ("text", "items") or callable(value):
        return value
    try:
        if isinstance(value, str) and "." in value and callable(found := load_object(value)):
            return found
    except (ImportError, NameError, TypeError, ValueError) as error:
        message = f"expected the path of a callable, got {value!r}: {error}"
        raise ConfigurationError([Problem(name, message)]) from error
    expected = "'text', 'items' or the path of a callable"
    raise _expected(name, expected, value, ("text", "items"))


def rules(name: str, value: Any) -> Any:
    """Return *value* as plain data. A command line gives JSON, Scrapy a mapping of its own."""
    if isinstance(value, str):
        if value.endswith((".toml", ".json")):
            message = (
                f"expected a mapping or JSON, got {value!r}; files are for URLCANON_RULES_FILES"
            )
            raise ConfigurationError([Problem(name, message)])
        return _json(name, value, "a mapping")
    return value.copy_to_dict() if isinstance(value, BaseSettings) else value


def _json(name: str, text: str, expected: str) -> Any:
    # Imported here for a faster start: only values from a command line are JSON.
    from scrapy_urlcanon.rule_files.documents import parse_json  # noqa: PLC0415

    try:
        return parse_json(text, unique_keys=True)
    except ValueError as error:
        message = f"expected {expected} or JSON, got {text!r}: {error}"
        raise ConfigurationError([Problem(name, message)]) from None


def _listed(name: str, text: str) -> list[Any]:
    """Return *text* as a list: JSON, or names separated by commas, as in Scrapy."""
    if text.lstrip().startswith("["):
        return list(_json(name, text, "names with commas between"))
    return [part.strip() for part in text.split(",") if part.strip()]


def paths(name: str, value: Any) -> tuple[str, ...]:
    """Return the paths in *value*, which may be one or a list."""
    if value in _OFF:
        return ()
    if isinstance(value, str):
        value = _listed(name, value)
    elif isinstance(value, os.PathLike):
        value = [value]
    elif not isinstance(value, (list, tuple)):
        raise _expected(name, "a path or a list of paths", value)
    wrong = [path for path in value if not isinstance(path, (str, os.PathLike))]
    if wrong:
        raise ConfigurationError(
            [problem for path in wrong for problem in _expected(name, "a path", path).problems]
        )
    return tuple(map(_at_home, value))


def _at_home(path: str | os.PathLike[str]) -> str:
    """Return *path* with ``~`` expanded, since no shell does that for settings."""
    return str(os.path.expanduser(os.fspath(path)))  # noqa: PTH111 - a path that may not exist


def fingerprinter(name: str, value: Any) -> Any:
    """Return the class in *value*, which may be its path."""
    if not value:
        return None
    try:
        found = load_object(value)
    except (ImportError, NameError, TypeError, ValueError) as error:
        message = f"expected the path of a fingerprinter class, got {value!r}: {error}"
        raise ConfigurationError([Problem(name, message)]) from error
    if not callable(getattr(found, "fingerprint", None)):
        raise _expected(name, "a class with a method fingerprint(request)", value)
    return found


def sites(name: str, value: Any) -> bool | frozenset[str]:
    """Return True for all sites, False for none, or the hosts in *value*."""
    if isinstance(value, str) and ("." in value or value.lstrip().startswith("[")):
        value = _listed(name, value)
    if not isinstance(value, (list, tuple)):
        try:
            return flag(name, value)
        except ConfigurationError:
            raise _expected(name, "True, False or a list of hosts", value) from None
    hosts, problems = set(), []
    for text in value:
        try:
            hosts.add(_host(text))
        except (TypeError, ValueError) as error:
            problems.append(Problem(name, str(error), str(text)))
    if problems:
        raise ConfigurationError(problems)
    return frozenset(hosts)


def _host(text: Any) -> str:
    """Return *text*, a host, in the form in which it stands in URLs.

    :raises TypeError: if it is no string.
    :raises ValueError: if it is no host.
    """
    pattern = parse_pattern(text)
    if not pattern.is_for_whole_host or "*" in pattern.host:
        raise ValueError("expected a host without a path and without a '*'")
    return pattern.host


def path_of_store(name: str, value: Any) -> str | None:
    """Return the path in *value*, or None for none."""
    return None if value in _OFF else path_of_file(name, value)


def path_of_input(name: str, value: Any) -> str | None:
    """Return the path of a file to read in *value*, without placeholders, or None for none."""
    return None if value in _OFF else _path(name, value, problem_of_path)


def path_of_file(name: str, value: Any) -> str:
    """Return the path of a file in *value*, which may have placeholders."""
    return _path(name, value, problem_of_file)


def _path(name: str, value: Any, problem_of: Callable[[str], str | None]) -> str:
    """Return the path in *value*, of which *problem_of* tells what is wrong."""
    if not isinstance(value, (str, os.PathLike)) or value in (*_OFF, *_ON):
        raise _expected(name, "a path", value)
    path = _at_home(value)
    problem = problem_of(path)
    if problem:
        raise ConfigurationError([Problem(name, problem, path)])
    return path


def _expected(name: str, expected: str, value: object, known: Any = ()) -> ConfigurationError:
    """Return an error that says what was *expected*, with the nearest of *known*."""
    nearest = did_you_mean(value, known) if isinstance(value, str) else ""
    return ConfigurationError([Problem(name, f"expected {expected}, got {value!r}{nearest}")])
