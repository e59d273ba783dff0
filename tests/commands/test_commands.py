"""The command line, run as a user runs it: in and outside a project."""

import json
import shutil
from inspect import getdoc

import pytest
from command_line import EXAMPLE_PROJECT, scrapy, urlcanon
from loopback import Loopback, page

from scrapy_urlcanon import commands
from scrapy_urlcanon.canonicalizer.rules import ALWAYS_ON, BY_NAME
from scrapy_urlcanon.commands.urlcanon import actions
from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces


def process(*arguments, **options):
    """Run one action in a process of its own."""
    return scrapy("urlcanon", *arguments, **options)


@pytest.fixture
def project(tmp_path):
    """Return a copy of the example project, to change its settings."""
    shutil.copytree(
        EXAMPLE_PROJECT, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path / "project"


def _append(project, text):
    with (project / "shop_crawler" / "settings.py").open("a") as settings:
        settings.write(text)


def _add_spider(project, custom_settings):
    spider = project / "shop_crawler" / "spiders" / "other.py"
    spider.write_text(
        "import scrapy\n"
        "class Other(scrapy.Spider):\n"
        "    name = 'other'\n"
        f"    custom_settings = {custom_settings}\n"
    )


@pytest.mark.parametrize("run", [urlcanon, process])
def test_explain_outside_a_project_shows_steps_and_layers(tmp_path, run):
    """Each step is shown with the layer that turned it on."""
    url = "HTTP://Example.com:80/?b=1&a=2&utm_source=x#top"
    result = run("explain", url, cwd=tmp_path)
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        url,
        "  case             http://example.com:80/?b=1&a=2&utm_source=x#top  (always)",
        "  default_port     http://example.com/?b=1&a=2&utm_source=x#top  (always)",
        "  tracking_params  http://example.com/?b=1&a=2#top  (preset safe)",
        "  sort_query       http://example.com/?a=2&b=1#top  (preset safe)",
        "  fragment         http://example.com/?a=2&b=1  (preset safe)",
    ]


def test_explain_in_a_project_uses_its_rules():
    """The rules of the project hold, named by setting and pattern."""
    result = urlcanon(
        "explain", "--json", "http://www.shop.example/a/?sort=name", cwd=EXAMPLE_PROJECT
    )
    explanation = json.loads(result.stdout)
    assert explanation["canonical"] == "https://shop.example/a"
    assert explanation["problem"] is None
    layers = {step["option"]: step["layer"] for step in explanation["steps"]}
    assert layers["www"] == "URLCANON_RULES['shop.example']"


def test_explain_takes_the_rules_of_a_spider(project):
    """With --spider, the custom settings of that spider are a layer."""
    _add_spider(project, {"URLCANON_SPIDER_RULES": {"*": {"drop_params": ["x"]}}})
    url = "https://shop.example/?x=1"
    assert "is canonical" in urlcanon("explain", url, cwd=project).stdout
    with_spider = urlcanon("explain", url, "--spider", "other", cwd=project).stdout
    assert "drop_params" in with_spider
    assert "URLCANON_SPIDER_RULES['*']" in with_spider
    unknown = urlcanon("explain", url, "--spider", "othr", cwd=project)
    assert unknown.returncode == 2
    assert "no spider 'othr'" in unknown.stderr


def test_explain_says_why_a_url_is_left_alone(tmp_path):
    """A text that is no URL is shown with the reason, and the others are explained."""
    result = urlcanon("explain", "example.com", "ftp://x/", "http://a/", cwd=tmp_path)
    assert result.returncode == 0
    assert "it has no scheme" in result.stdout
    assert "its scheme is ftp" in result.stdout
    assert "  is canonical" in result.stdout


def test_explain_says_that_a_url_is_not_fetched(tmp_path):
    """A template of `skip` changes no URL, and keeps it from being fetched all the same."""
    rules = '{"a.example": {"skip": ["/?p={id:digits}"]}}'
    arguments = ("explain", "http://a.example/?p=7", "http://a.example/?q=7")
    settings = ("-s", f"URLCANON_RULES={rules}")
    shown = urlcanon(*arguments, *settings, cwd=tmp_path).stdout
    assert shown.count("is not fetched: skip /?p={id:digits}") == 1
    lines = urlcanon(*arguments, "--json", *settings, cwd=tmp_path).stdout.splitlines()
    assert [json.loads(line)["skip"] for line in lines[:2]] == ["/?p={id:digits}", None]


def test_rules_lists_every_option(tmp_path):
    """The list is the catalogue."""
    listed = [line.split()[0] for line in urlcanon("rules", cwd=tmp_path).stdout.splitlines()]
    assert set(BY_NAME) | {n.name for n in ALWAYS_ON} == set(listed) - {"Options", "Always"}


def test_rules_shows_the_page_of_an_option(tmp_path):
    """The page says what the option does, when it is wrong, and gives examples."""
    page = urlcanon("rules", "trailing_slash", cwd=tmp_path).stdout
    for part in ("What it does", "Why it is safe", "When it is wrong", "'strip'", "It changes"):
        assert part in page


def test_character_that_the_output_has_no_code_for_is_escaped(tmp_path):
    """A pipe on Windows takes few characters, and others are no error."""
    encoded = urlcanon("rules", "www", cwd=tmp_path, encoding="cp1252").stdout
    assert encoded == urlcanon("rules", "www", cwd=tmp_path).stdout.replace("\u2192", "\\u2192")
    assert "\\u2192" in encoded


@pytest.mark.parametrize("normalization", ALWAYS_ON, ids=lambda one: one.name)
def test_rules_shows_what_is_always_on(normalization, tmp_path):
    """The list and ``explain`` name it, so there is something to read about each."""
    page = urlcanon("rules", normalization.name, cwd=tmp_path).stdout
    assert page.startswith(f"## {normalization.name}\n\n{getdoc(type(normalization))}\n")
    for before, after in normalization.changes:
        assert f"- `{before!r}` \u2192 `{after}`" in page
    assert all(f"- `{url!r}`" in page for url in normalization.keeps)


@pytest.mark.parametrize("name", ["trailing", "TRAILING_SLASH"])
def test_rules_with_an_unknown_name_suggests_the_nearest(name, tmp_path):
    """A mistyped name gets an answer, and so does one in capitals."""
    result = urlcanon("rules", name, cwd=tmp_path)
    assert result.returncode == 2
    assert f"no such option: {name}; did you mean 'trailing_slash'?" in result.stderr


def test_check_accepts_the_example_project():
    """A valid configuration is summed up; the exit status is 0."""
    result = urlcanon("check", cwd=EXAMPLE_PROJECT)
    assert result.returncode == 0
    assert "URLCANON_RULES['shop.example']: scheme, www" in result.stdout
    assert result.stdout.endswith("The configuration is valid.\n")


def test_check_says_where_nothing_is_inherited(project):
    """That is no option, and switches all of them off."""
    _append(project, '\nURLCANON_RULES = {"legacy.example": {"inherit": False}}\n')
    result = urlcanon("check", cwd=project)
    assert "URLCANON_RULES['legacy.example']: inherit\n" in result.stdout


def test_check_says_what_is_doubtful(project):
    """It is valid all the same."""
    _append(project, '\nURLCANON_RULES = {"*": {"skip": ["/admin/*"]}}\n')
    result = urlcanon("check", cwd=project)
    assert result.returncode == 0
    doubt = "doubtful: URLCANON_RULES['*']['skip']: the '*' in '/admin/*' stands for itself"
    assert doubt in result.stdout


def test_check_says_which_settings_have_no_effect(project):
    """Once where all spiders have them from the project, else with the spider."""
    _append(project, '\nURLCANON_ORDER_BY = "items"\n')
    _add_spider(project, {"URLCANON_SEEN_BY": "text"})
    result = urlcanon("check", cwd=project)
    assert result.returncode == 0
    assert [line for line in result.stdout.splitlines() if line.startswith("doubtful")] == [
        "doubtful: URLCANON_ORDER_BY has no effect without URLCANON_ORDER.",
        "doubtful: spider other: URLCANON_SEEN_BY has no effect without URLCANON_SEEN.",
    ]


def test_check_says_that_a_file_to_take_up_is_not_there(project):
    """A crawl begins without it, so it is doubtful: once, or for each spider that has its own."""
    _append(project, "\nURLCANON_TAKE_UP = 'left.jsonl'\n")
    _add_spider(project, {"URLCANON_TAKE_UP": "left-%(name)s.jsonl"})
    result = urlcanon("check", cwd=project)
    assert result.returncode == 0
    missing = f"there is no such file (a relative path is taken from {project})"
    assert [line for line in result.stdout.splitlines() if line.startswith("doubtful")] == [
        f"doubtful: {who}URLCANON_TAKE_UP: cannot read '{file}': {missing}; a crawl would begin "
        "without it"
        for who, file in (("", "left.jsonl"), ("spider other: ", "left-other.jsonl"))
    ]
    for file in ("left.jsonl", "left-other.jsonl"):
        (project / file).touch()
    assert "doubtful" not in urlcanon("check", cwd=project).stdout


@pytest.mark.parametrize("file", ["places", "places 100%.db"])
def test_check_finds_a_file_of_places_that_no_crawl_can_use(project, file):
    """A crawl would end with this error. A percent sign in its name is a percent sign."""
    _append(project, f"\nURLCANON_SKIP_PLACES = {file!r}\n")
    result = urlcanon("check", cwd=project)
    assert result.returncode == 0
    assert "doubtful: URLCANON_SKIP_PLACES has no effect: no rule skips anything" in result.stdout
    _append(project, '\nURLCANON_RULES = {"*": {"skip": ["/?p={id}"]}}\n')
    result = urlcanon("check", cwd=project)
    assert result.returncode == 1
    assert f"URLCANON_SKIP_PLACES: {file}: no such file" in result.stderr
    (project / file).write_text("no database")
    result = urlcanon("check", cwd=project)
    assert result.returncode == 1
    assert f"URLCANON_SKIP_PLACES: {file} cannot be used: " in result.stderr
    (project / file).unlink()
    SkipPlaces(project / file).close()
    assert urlcanon("check", cwd=project).returncode == 0


def test_check_says_that_it_is_in_no_project(tmp_path):
    """What is valid there is none of the settings that the user meant."""
    result = urlcanon("check", cwd=tmp_path)
    assert result.returncode == 0
    assert "There is no Scrapy project here" in result.stdout


def test_check_names_every_problem_of_settings_and_spiders(project):
    """Problems of the settings, of spiders and of named files; the exit status is 1."""
    _add_spider(project, {"URLCANON_SPIDER_RULES": {"*": {"drop_parms": ["x"]}}})
    result = urlcanon("check", cwd=project)
    assert result.returncode == 1
    assert "spider other: URLCANON_SPIDER_RULES['*']['drop_parms']" in result.stderr
    _append(project, "\nURLCANON_PRESETT = 'safe'\n")
    (project / "more.toml").write_text('["*"]\nwww = "strp"\n')
    result = urlcanon("check", "more.toml", cwd=project)
    assert result.returncode == 1
    assert "URLCANON_PRESETT: no such setting; did you mean 'URLCANON_PRESET'?" in result.stderr
    assert "more.toml['*']['www']: expected 'keep' or 'strip'" in result.stderr


@pytest.mark.parametrize("named", ["a.toml, b.toml", "False"])
def test_check_takes_a_file_as_if_the_project_named_it_last(tmp_path, named):
    """Beside those that its settings name, as a command line writes them too."""
    for name in ("a.toml", "b.toml", "more.toml"):
        (tmp_path / name).write_text('["a.example"]\nwww = "strip"\n')
    result = urlcanon("check", "more.toml", "-s", f"URLCANON_RULES_FILES={named}", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    files = [line.partition("[")[0] for line in result.stdout.splitlines() if "[" in line]
    assert files == [*(named.split(", ") if "," in named else []), "more.toml"]


def test_rules_of_a_preset_that_is_none_are_no_others(tmp_path):
    """To list those of the default would say what the project does not do."""
    result = urlcanon("rules", "-s", "URLCANON_PRESET=agressive", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert "URLCANON_PRESET: expected" in result.stderr
    assert "did you mean 'aggressive'?" in result.stderr


def test_check_lists_what_a_foreign_file_says_that_ours_cannot(tmp_path):
    """A rule list of another program is read by its content; what is left out is listed."""
    (tmp_path / "list.txt").write_text(
        "[AdGuard]\n||example.com^$removeparam=ref\n||example.com^$removeparam=~id\n"
    )
    result = urlcanon("check", "list.txt", cwd=tmp_path)
    assert result.returncode == 0
    assert "list.txt: removeparam, rules for 1 pattern" in result.stdout
    assert "left out: line 3: ||example.com^$removeparam=~id: it keeps one" in result.stdout


@pytest.mark.parametrize(
    ("url", "problem"),
    [("a.example", "it has no scheme"), ("ftp://a.example/", "its scheme is ftp")],
)
def test_profile_says_what_is_wrong_with_a_url(tmp_path, url, problem):
    """Before anything is fetched."""
    result = urlcanon("profile", url, cwd=tmp_path)
    assert result.returncode == 2
    assert problem in result.stderr


@pytest.mark.parametrize(
    "line", ["", "del ADDONS\nREQUEST_FINGERPRINTER_CLASS = 'scrapy_urlcanon.RequestFingerprinter'"]
)
def test_profile_touches_nothing_of_the_crawls_of_the_project(project, line):
    """Neither their items nor what they know: the page that it fetches is none that they got."""
    files = {"items.json": "[1]", "report.json": "{}"}
    for name, text in files.items():
        (project / name).write_text(text)
    _append(
        project,
        "\nFEEDS = {'items.json': {'format': 'json', 'overwrite': True}}\nJOBDIR = 'job'\n"
        "URLCANON_REPORT = 'report.json'\nURLCANON_RECORD = 'store.sqlite'\n"
        f"URLCANON_SEEN = 'seen.db'\nURLCANON_SEEN_BY = 'response'\n{line}\n",
    )
    before = {path.name for path in project.iterdir()}
    shows = page('<meta name="generator" content="WordPress 6.5">')
    with Loopback(lambda _: shows) as server:
        url = "http://blog.example/"
        result = process("profile", url, cwd=project, environment=server.proxies)
    assert result.stdout.startswith("WordPress 6.5 at blog.example/\n"), result.stderr
    assert {path.name for path in project.iterdir()} - {"__pycache__"} == before
    assert {name: (project / name).read_text() for name in files} == files


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("URLCANON_ENABLED = False", "URLCANON_ENABLED is False"),
        ("del ADDONS", 'settings.py lacks ADDONS = {"scrapy_urlcanon.Addon": 500}'),
    ],
)
def test_an_add_on_that_is_off_is_reported(project, line, reason):
    """Rules that no crawl goes by are not simply valid; their effect is shown all the same."""
    _append(project, f"\n{line}\n")
    checked = urlcanon("check", cwd=project)
    explained = urlcanon("explain", "https://shop.example/?utm_source=x", cwd=project)
    for result in (checked, explained):
        assert result.returncode == 1
        assert result.stderr == f"The add-on is off: {reason}. No crawl uses these rules.\n"
    assert "URLCANON_RULES['shop.example']: scheme" in checked.stdout
    assert "tracking_params" in explained.stdout


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            "ADDONS = {'scrapy_urlcanon.addon': 500}",
            (
                "ADDONS['scrapy_urlcanon.addon']: cannot be loaded: Module 'scrapy_urlcanon' "
                "doesn't define any object named 'addon'; did you mean 'scrapy_urlcanon.Addon'?"
            ),
        ),
        (
            "ADDONS = {'scrapy_urlcanon.Addon': '500'}",
            (
                "ADDONS: Invalid value 500 for component scrapy_urlcanon.Addon, please provide a "
                "real number or None instead"
            ),
        ),
        (
            "ADDONS['other.Addon'] = 1",
            "ADDONS['other.Addon']: cannot be loaded: No module named 'other'",
        ),
        (
            "ADDONS = {'scrapy_urlcanon.Addon': 500}; REQUEST_FINGERPRINTER_CLASS = 'other.Own'",
            (
                "REQUEST_FINGERPRINTER_CLASS: expected the path of a fingerprinter class, got "
                "'other.Own': No module named 'other'"
            ),
        ),
    ],
)
def test_what_cannot_be_loaded_is_no_valid_configuration(project, line, problem):
    """No crawl starts with it: it is named, without a traceback."""
    _append(project, f"\n{line}\n")
    checked = urlcanon("check", cwd=project)
    explained = urlcanon("explain", "https://shop.example/", cwd=project)
    for result in (checked, explained):
        assert result.returncode == 1
        assert result.stderr.splitlines()[1:] == [f"  {problem}"]
    assert checked.stdout == ""


def test_an_add_on_that_is_off_for_one_spider_is_reported(project):
    """The others go by the rules, so that the exit status is 0."""
    _add_spider(project, {"URLCANON_ENABLED": False})
    result = urlcanon("check", cwd=project)
    assert result.returncode == 0
    assert result.stdout.endswith(
        "The add-on is off for the spider other: URLCANON_ENABLED is False.\n"
    )
    url = "https://shop.example/"
    assert urlcanon("explain", url, "--spider", "other", cwd=project).returncode == 1
    assert urlcanon("explain", url, cwd=project).returncode == 0


def test_a_fingerprinter_without_the_add_on_is_on(project):
    """What applies the rules is the fingerprinter, whoever set it."""
    _append(
        project,
        "\ndel ADDONS\nREQUEST_FINGERPRINTER_CLASS = 'scrapy_urlcanon.RequestFingerprinter'\n",
    )
    result = urlcanon("check", cwd=project)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("run", "arguments"),
    [
        (process, []),
        (urlcanon, []),
        (urlcanon, ["explian"]),
        (urlcanon, ["explain", "--jsn", "x"]),
        (process, ["seen", "import"]),
    ],
)
def test_wrong_usage_is_an_error(tmp_path, run, arguments):
    """What cannot be understood is refused with the usage, of the action where there is one."""
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert "scrapy urlcanon" in result.stderr
    if len(arguments) > 1:
        assert result.stderr.startswith(f"usage: scrapy urlcanon {arguments[0]} ")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["explain"], "expected either URLs or --stdin"),
        (["report", "a\x1b.json"], "a%1B.json: cannot be read: No such file or directory"),
        (["rules", "drop_parms"], "no such option: drop_parms; did you mean 'drop_params'?"),
    ],
)
def test_error_is_one_line(tmp_path, arguments, error):
    """What is wrong is not pushed off the screen by the usage, or by what a name holds."""
    result = urlcanon(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == f"scrapy urlcanon {arguments[0]}: error: {error}\n"


def test_action_is_one_module(tmp_path, monkeypatch):
    """A class beside the others is found, listed in its place, and run."""
    (tmp_path / "greet.py").write_text(
        "from scrapy_urlcanon.commands.base import Action\n"
        "class Greet(Action):\n"
        "    place, name, help, description = 15, 'greet', 'greet somebody', 'Greet somebody.'\n"
        "    def add_arguments(self, parser):\n"
        "        parser.add_argument('whom')\n"
        "    def run(self, arguments, settings):\n"
        "        print('Hello', arguments.whom)\n"
        "        return 3\n"
    )
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    actions.cache_clear()
    try:
        names = [action.name for action in actions()]
        result = urlcanon("greet", "you", cwd=tmp_path)
    finally:
        actions.cache_clear()
    assert names[:3] == ["explain", "greet", "rules"]
    assert (result.returncode, result.stdout) == (3, "Hello you\n")
