"""The add-on: one line in ``ADDONS`` turns everything on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from scrapy_urlcanon.crawl.components import add_components
from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter
from scrapy_urlcanon.crawl.settings import name_of, value_of
from scrapy_urlcanon.exceptions import log_configuration_errors_plainly

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def why_off(settings: BaseSettings) -> str | None:
    """Say why a crawl with *settings* goes by no rule of ours, or return None.

    >>> from scrapy.settings import Settings
    >>> why_off(Settings({"ADDONS": {"scrapy_urlcanon.Addon": 500}, "URLCANON_ENABLED": "0"}))
    'URLCANON_ENABLED is False'
    """
    if issubclass(load_object(settings["REQUEST_FINGERPRINTER_CLASS"]), RequestFingerprinter):
        return None
    addons = map(load_object, build_component_list(settings["ADDONS"]))
    if not any(isinstance(addon, type) and issubclass(addon, Addon) for addon in addons):
        return 'settings.py lacks ADDONS = {"scrapy_urlcanon.Addon": 500}'
    return None if value_of("enabled", settings) else f"{name_of('enabled')} is False"


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
        """Put the fingerprinter and the middlewares in their places.

        :raises NotConfigured: if ``URLCANON_ENABLED`` is False.
        :raises ConfigurationError: if it is neither True nor False, the fallback cannot be
            loaded, or the duplicate filter is not that of ``URLCANON_SEEN_SET``.
        """
        log_configuration_errors_plainly()
        if not value_of("enabled", settings):
            raise NotConfigured
        self._take_over_fingerprinter(settings)
        add_components(settings)

    @staticmethod
    def _take_over_fingerprinter(settings: BaseSettings) -> None:
        name = "REQUEST_FINGERPRINTER_CLASS"
        current = load_object(settings[name])
        if issubclass(current, RequestFingerprinter):
            return
        priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["addon"])
        fallback = "fallback_request_fingerprinter_class"
        if not value_of(fallback, settings):
            settings.set(name_of(fallback), current, priority)
        settings.set(name, RequestFingerprinter, priority)
