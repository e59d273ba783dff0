"""What :mod:`quick_scrapy` replaces in each process of the tests gives what Scrapy gives."""

from copy import deepcopy
from importlib.metadata import entry_points

import pytest
from scrapy import Spider, cmdline, crawler
from scrapy.settings import BaseSettings, Settings, default_settings, overridden_settings
from scrapy.utils.deprecate import argument_is_required
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler


def content(settings):
    """Return the values and priorities of *settings*, those of settings within them too."""
    return {
        name: (
            type(kept.value),
            content(kept.value) if isinstance(kept.value, BaseSettings) else kept.value,
            kept.priority,
        )
        for name, kept in settings.attributes.items()
    }


def slowly(values):
    """Return the settings that Scrapy makes of its defaults and *values*."""
    settings = BaseSettings()
    settings.setmodule(default_settings, "default")
    for name, value in settings.items():
        if isinstance(value, dict):
            settings.set(name, BaseSettings(value, "default"), "default")
    settings.update(values)
    return settings


VALUES = {"DOWNLOADER_MIDDLEWARES": {Spider: 5}, "ITEM_PIPELINES": {"a.B": 1}, "OWN": [1, {2: 3}]}


def test_settings_are_those_of_scrapy():
    """Settings have the defaults of Scrapy, and are overridden as in Scrapy."""
    assert content(Settings(VALUES)) == content(slowly(VALUES))
    assert content(Settings(VALUES, "cmdline")) != content(slowly(VALUES))


def test_copy_is_that_of_scrapy():
    """A copy has all values and priorities, and whether the original is frozen."""
    settings = Settings(VALUES)
    settings.set("RETRY_TIMES", 7, "spider")
    settings.freeze()
    made = settings.copy()
    assert content(made) == content(deepcopy(settings))
    assert (type(made), made.frozen) == (Settings, True)


def test_changed_copy_changes_neither_the_original_nor_the_defaults():
    """Settings share nothing that can be changed: no list, no mapping, no priority."""
    before, settings = content(Settings()), Settings(VALUES)
    untouched = content(settings)
    made = settings.copy()
    made["OWN"][1][2] = 4
    made["OWN"].append(5)
    for name, value in made.items():
        if isinstance(value, BaseSettings):
            value.set("own", 1, "cmdline")
        else:
            made.set(name, "changed", "cmdline")
    assert content(settings) == untouched
    assert content(Settings()) == before


def test_settings_that_are_others_are_told_as_by_scrapy():
    """Those that differ from their default, whatever they are."""
    own = {**VALUES, "RETRY_TIMES": 7, "USER_AGENT": None, "FEEDS": {"a": {}}}
    settings = Settings(own)
    assert dict(crawler.overridden_settings(settings)) == dict(overridden_settings(settings))


def test_what_is_enabled_stands_in_the_log(caplog):
    """Where somebody reads it: the components, and the settings that are others, each in a line."""
    caplog.set_level("INFO")
    get_crawler(settings_dict={"EXTENSIONS": {f"{__name__}.Middleware": 5}, "RETRY_TIMES": 7})
    said = [record.getMessage() for record in caplog.records]
    (overridden,) = [each for each in said if each.startswith("Overridden settings:\n{")]
    assert "'RETRY_TIMES': 7" in overridden
    (enabled,) = [each for each in said if each.startswith("Enabled extensions:\n[")]
    assert f"'{__name__}.Middleware'" in enabled
    assert len(enabled.splitlines()) > 2


def test_objects_are_loaded_by_their_paths(tmp_path, monkeypatch):
    """Whether their module has been imported or not; what is not there is told as by Scrapy."""
    (tmp_path / "never_imported.py").write_text("found = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert [load_object("never_imported.found") for _ in range(2)] == [7, 7]
    assert load_object(f"{__name__}.Middleware") is Middleware
    for path in ("absent_module.found", "scrapy.absent.Thing"):
        with pytest.raises(ModuleNotFoundError):
            load_object(path)


class Middleware:
    def required(self, response, spider):
        """Has to get the spider."""

    def optional(self, response, spider=None):
        """May get the spider."""


def test_parameters_of_a_method_are_its_own():
    """Whether a method has to get the spider is told method by method, each time alike."""
    for middleware in (Middleware(), Middleware()):
        for method, expected in ((middleware.required, True), (middleware.optional, False)):
            assert argument_is_required(method, "spider") is expected
            assert argument_is_required(method, "response")


def test_commands_are_those_of_all_packages():
    """Each time they are asked for."""
    expected = [(each.name, each.value) for each in entry_points(group="scrapy.commands")]
    for _ in range(2):
        found = cmdline.entry_points(group="scrapy.commands")
        assert [(each.name, each.value) for each in found] == expected
    assert "urlcanon" in dict(expected)
