"""Has Scrapy start the crawls of the tests sooner, with the same outcome.

Thousands of tests crawl three pages, and a third of their time goes to what Scrapy does anew for
each crawl and what never changes: the defaults of its settings, copied twice, and compared to say
which are others; the parameters of the same methods; the modules of its components, which are
imported; lists of these, laid out for a log that nobody reads. ``test_quick_scrapy.py`` compares
each with what Scrapy itself does. And each command looks for those of other packages in all that
is installed.
"""

import pprint
import sys
from copy import copy, deepcopy
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from weakref import WeakKeyDictionary

from scrapy import cmdline, crawler, middleware
from scrapy.settings import BaseSettings, Settings, SettingsAttribute, iter_default_settings
from scrapy.utils import deprecate, misc

_DEFAULTS = Settings()
_PLAIN_DEFAULTS = [
    (name, value) for name, value in iter_default_settings() if not isinstance(value, dict)
]
_IMMUTABLE = frozenset([str, int, bool, float, type(None)])
_PARAMETERS = WeakKeyDictionary()
_inspected = deprecate.get_func_args_dict


def make_quick():
    """Replace what is slow, in this process."""
    Settings.__init__ = _fill
    BaseSettings.copy = _copy
    deprecate.get_func_args_dict = _parameters
    misc.import_module = _imported
    crawler.overridden_settings = _overridden
    crawler.pprint = middleware.pprint = SimpleNamespace(pformat=_LaidOut)
    keep_commands()


def keep_commands():
    """Look only once for the commands that other packages have, in this process and its copies."""
    cmdline.entry_points = cache(cmdline.entry_points)
    cmdline.entry_points(group="scrapy.commands")


def _fill(settings, values=None, priority="project"):
    """Do as ``Settings.__init__``, but copy the defaults."""
    BaseSettings.__init__(settings)
    settings.attributes = _copy(_DEFAULTS).attributes
    settings.update(values, priority)


def _copy(settings):
    """Return what ``BaseSettings.copy`` returns."""
    made = copy(settings)
    made.attributes = attributes = {}
    new = SettingsAttribute.__new__
    for name, kept in settings.attributes.items():
        attributes[name] = own = new(SettingsAttribute)
        value = kept.value
        own.value = value if type(value) in _IMMUTABLE else _own(value)
        own.priority = kept.priority
    return made


def _own(value):
    """Return a copy of what can be changed."""
    return value.copy() if isinstance(value, BaseSettings) else deepcopy(value)


def _overridden(settings):
    """Return what ``overridden_settings`` returns."""
    found = ((name, settings[name], default) for name, default in _PLAIN_DEFAULTS)
    return [(name, value) for name, value, default in found if value != default]


def _imported(name):
    """Return what ``import_module`` returns."""
    return sys.modules.get(name) or import_module(name)


class _LaidOut:
    """The text that ``pformat`` makes of a value, made where somebody asks for it."""

    def __init__(self, value):
        self._value = value

    def __str__(self):
        return pprint.pformat(self._value)


def _parameters(function):
    """Return what ``get_func_args_dict`` returns, but of a method once for all objects."""
    key = getattr(function, "__func__", function)
    if key not in _PARAMETERS:
        _PARAMETERS[key] = _inspected(function)
    return _PARAMETERS[key]
