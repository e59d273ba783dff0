"""What the values of settings may be: each function reads one kind, from Python or a command line.

They are given the name of the setting, for messages, and what Scrapy has of it, and raise a
:class:`.ConfigurationError` where that is of no such kind.
"""

from __future__ import annotations

import os
from operator import index
from typing import TYPE_CHECKING, Any, Final

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean
from scrapy_urlcanon.files import problem_of_file
from scrapy_urlcanon.wording import seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable

_OFF: Final = (False, "", "0", "false", "False", "none", "None")
"""What a command line may have for no path and no order; a file of such a name is ``./False``."""
_ON: Final = ("1", "true", "True")
"""What turns a flag on names no file either."""
_ORDERS: Final = ("novelty",)


def flag(name: str, value: Any) -> bool:
    """Return the True or False that *value* stands for."""
    if value in (True, *_ON):
        return True
    if value in (False, "0", "false", "False"):
        return False
    raise _expected(name, "True or False", value)


def count(name: str, value: Any) -> int:
    """Return the whole number of 0 or more that *value* is."""
    try:
        number = int(value) if isinstance(value, str) else index(value)
        if not isinstance(value, bool) and number >= 0:
            return number
    except (TypeError, ValueError):
        pass
    raise _expected(name, "a whole number of 0 or more", value)


def profiles(name: str, value: Any) -> bool | tuple[Any, ...]:
    """Return whether there are any, or names and paths; that there are such is checked."""
    if not isinstance(value, (list, tuple)):
        try:
            return flag(name, value)
        except ConfigurationError:
            if not isinstance(value, str):
                raise _expected(name, "True, False, or names and paths", value) from None
    chosen_paths = paths(name, value)
    if chosen_paths:
        # Few crawls name any, and all would wait for the import.
        from scrapy_urlcanon.profiles.catalogue import chosen  # noqa: PLC0415

        chosen(chosen_paths, setting=name)
    return chosen_paths


def share(name: str, value: Any) -> float:
    """Return the number from 0 to 1 that *value* is."""
    try:
        if not isinstance(value, bool) and 0 <= float(value) <= 1:
            return float(value)
    except (OverflowError, TypeError, ValueError):
        pass
    raise _expected(name, "a number from 0 to 1", value)


def order(name: str, value: Any) -> str | None:
    """Return the order that *value* names, or None for none."""
    if value in (*_OFF, *_ORDERS):
        return None if value in _OFF else str(value)
    raise _expected(name, "'novelty' or nothing", value, _ORDERS)


def one_of(*known: str) -> Callable[[str, Any], str]:
    """Return what reads a value that has to be one of those *known*."""

    def read(name: str, value: Any) -> str:
        if value in known:
            return str(value)
        *others, last = map(repr, known)
        raise _expected(name, f"{', '.join(others)} or {last}", value, known)

    return read


def expiry(name: str, value: Any) -> dict[str, float]:
    """Return seconds by host, `*` for all others; 0 for never."""
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
    """Return *value*, or the callable that it is the path of."""
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
    """Return *value* as plain data: a command line gives JSON, Scrapy its own mapping."""
    if isinstance(value, str):
        if value.endswith((".toml", ".json")):
            message = (
                f"expected a mapping or JSON, got {value!r}; files are for URLCANON_RULES_FILES"
            )
            raise ConfigurationError([Problem(name, message)])
        return _json(name, value, "a mapping")
    return value.copy_to_dict() if isinstance(value, BaseSettings) else value


def _json(name: str, text: str, expected: str) -> Any:
    # From the command line: few crawls are to wait for the import.
    from scrapy_urlcanon.rule_files.documents import parse_json  # noqa: PLC0415

    try:
        return parse_json(text, unique_keys=True)
    except ValueError as error:
        message = f"expected {expected} or JSON, got {text!r}: {error}"
        raise ConfigurationError([Problem(name, message)]) from None


def _listed(name: str, text: str) -> list[Any]:
    """Return the list that *text* is: JSON, or names with commas between, as Scrapy takes it."""
    if text.lstrip().startswith("["):
        return list(_json(name, text, "names with commas between"))
    return [part.strip() for part in text.split(",") if part.strip()]


def paths(name: str, value: Any) -> tuple[str, ...]:
    """Return the paths that *value* is or lists."""
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
    """Return *path* with what ``~`` stands for: no shell has done that in a setting."""
    return str(os.path.expanduser(os.fspath(path)))  # noqa: PTH111 - a path that may not exist


def fingerprinter(name: str, value: Any) -> Any:
    """Return the class that *value* is, or is the path of."""
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
    """Return whether it holds on all sites, or the hosts on which it does."""
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
    """Return the host that *text* is, as it stands in URLs.

    :raises TypeError: if it is no text.
    :raises ValueError: if it is anything else than a host.
    """
    pattern = parse_pattern(text)
    if not pattern.is_for_whole_host or "*" in pattern.host:
        raise ValueError("expected a host without a path and without a '*'")
    return pattern.host


def path_of_store(name: str, value: Any) -> str | None:
    """Return the path that *value* is, or None for none."""
    return None if value in _OFF else path_of_file(name, value)


def path_of_file(name: str, value: Any) -> str:
    """Return the path of a file, with placeholders, that *value* is."""
    if not isinstance(value, (str, os.PathLike)) or value in (*_OFF, *_ON):
        raise _expected(name, "a path", value)
    template = _at_home(value)
    problem = problem_of_file(template)
    if problem:
        raise ConfigurationError([Problem(name, problem, template)])
    return template


def _expected(name: str, expected: str, value: object, known: Any = ()) -> ConfigurationError:
    """Return the error that says what was *expected*, and which of those *known* is nearest."""
    nearest = did_you_mean(value, known) if isinstance(value, str) else ""
    return ConfigurationError([Problem(name, f"expected {expected}, got {value!r}{nearest}")])
