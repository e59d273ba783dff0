"""The Scrapy add-on, which turns on the whole plugin: one line in ``ADDONS``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from scrapy_urlcanon.crawl.components import add_components
from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter
from scrapy_urlcanon.crawl.setting_values import fingerprinter
from scrapy_urlcanon.crawl.settings import name_of, value_of
from scrapy_urlcanon.exceptions import (
    ConfigurationError,
    Problem,
    did_you_mean,
    log_configuration_errors_plainly,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

_FINGERPRINTER = "REQUEST_FINGERPRINTER_CLASS"
_PATH = "scrapy_urlcanon.Addon"


def why_off(settings: BaseSettings) -> str | None:
    """Return why a crawl with *settings* applies no rules of the plugin, or None if it does.

    >>> from scrapy.settings import Settings
    >>> why_off(Settings({"ADDONS": {"scrapy_urlcanon.Addon": 500}, "URLCANON_ENABLED": "0"}))
    'URLCANON_ENABLED is False'

    :raises ConfigurationError: if an add-on or the fingerprinter cannot be loaded, so that no
        crawl starts.
    """
    if _is_ours(fingerprinter(_FINGERPRINTER, settings[_FINGERPRINTER])):
        return None
    addons = _addons(settings)
    if not any(isinstance(addon, type) and issubclass(addon, Addon) for addon in addons):
        return f'settings.py lacks ADDONS = {{"{_PATH}": 500}}'
    return None if value_of("enabled", settings) else f"{name_of('enabled')} is False"


def _is_ours(fingerprinter_class: Any) -> bool:
    return bool(fingerprinter_class) and issubclass(fingerprinter_class, RequestFingerprinter)


def _addons(settings: BaseSettings) -> Iterator[Any]:
    """Yield the add-ons of *settings* in the order of their numbers."""
    try:
        named = build_component_list(settings["ADDONS"])
    except ValueError as error:
        raise ConfigurationError([Problem("ADDONS", str(error))]) from error
    return map(_addon, named)


def _addon(named: Any) -> Any:
    """Return the add-on that an entry of ``ADDONS`` is or names."""
    try:
        return load_object(named)
    except (ImportError, NameError, TypeError, ValueError) as error:
        message = f"cannot be loaded: {error}{did_you_mean(named, [_PATH])}"
        raise ConfigurationError([Problem("ADDONS", message, str(named))]) from error


class Addon:
    """Turns the plugin on: ``ADDONS = {"scrapy_urlcanon.Addon": 500}``.

    A ``REQUEST_FINGERPRINTER_CLASS`` that is set already becomes the fallback, unless
    ``URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS`` names another one. Give this add-on a
    higher number than add-ons that bring a fingerprinter of their own.

    >>> from scrapy.settings import Settings
    >>> settings = Settings({"URLCANON_RULES": {"*": {"drop_params": ["ref"]}}})
    >>> Addon().update_settings(settings)
    >>> settings["REQUEST_FINGERPRINTER_CLASS"]
    <class 'scrapy_urlcanon.crawl.fingerprinter.RequestFingerprinter'>
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Set the fingerprinter and the middlewares.

        :raises NotConfigured: if ``URLCANON_ENABLED`` is False.
        :raises ConfigurationError: if it is neither True nor False, a fingerprinter cannot be
            loaded, or the duplicate filter is not that of ``URLCANON_SEEN_SET``.
        """
        log_configuration_errors_plainly()
        if not value_of("enabled", settings):
            raise NotConfigured
        self._take_over_fingerprinter(settings)
        add_components(settings)

    @staticmethod
    def _take_over_fingerprinter(settings: BaseSettings) -> None:
        current = fingerprinter(_FINGERPRINTER, settings[_FINGERPRINTER])
        if _is_ours(current):
            return
        priority = max(settings.getpriority(_FINGERPRINTER) or 0, SETTINGS_PRIORITIES["addon"])
        fallback = "fallback_request_fingerprinter_class"
        if not value_of(fallback, settings):
            settings.set(name_of(fallback), current, priority)
        settings.set(_FINGERPRINTER, RequestFingerprinter, priority)
