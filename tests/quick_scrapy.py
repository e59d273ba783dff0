"""Has Scrapy start the crawls of the tests sooner, with the same outcome.

Thousands of tests crawl three pages, and a third of their time goes to what Scrapy does anew for
each crawl and what never changes: the defaults of its settings, copied twice, and the parameters
of the same methods. ``test_quick_scrapy.py`` compares both with what Scrapy itself does. And each
command looks for those of other packages in all that is installed.
"""

from copy import copy, deepcopy
from functools import cache
from weakref import WeakKeyDictionary

from scrapy import cmdline
from scrapy.settings import BaseSettings, Settings, SettingsAttribute
from scrapy.utils import deprecate

_DEFAULTS = Settings()
_PARAMETERS = WeakKeyDictionary()
_inspected = deprecate.get_func_args_dict


def make_quick():
    """Replace what is slow, in this process."""
    Settings.__init__ = _fill
    BaseSettings.copy = _copy
    deprecate.get_func_args_dict = _parameters
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
    made.attributes = {name: _own(kept) for name, kept in settings.attributes.items()}
    return made


def _own(kept):
    """Return a copy of an attribute, whose value is copied if it is mutable."""
    value, own = kept.value, SettingsAttribute.__new__(SettingsAttribute)
    if type(value) not in {str, int, bool, float, type(None)}:
        value = value.copy() if isinstance(value, BaseSettings) else deepcopy(value)
    own.value, own.priority = value, kept.priority
    return own


def _parameters(function):
    """Return what ``get_func_args_dict`` returns, but of a method once for all objects."""
    key = getattr(function, "__func__", function)
    if key not in _PARAMETERS:
        _PARAMETERS[key] = _inspected(function)
    return _PARAMETERS[key]
