"""What is wrong with a configuration is said in a few lines, whatever command meets it."""

import shutil

import pytest
from command_line import EXAMPLE_PROJECT, scrapy


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of the example project with rule files as beginners write them."""
    project = tmp_path_factory.mktemp("mistakes") / "project"
    shutil.copytree(EXAMPLE_PROJECT, project, ignore=shutil.ignore_patterns("__pycache__"))
    (project / "unquoted.toml").write_text('[gadgets.example]\ndrop_params = ["sid"]\n')
    (project / "twice.json").write_text('{"a.example": {}, "a.example": {"www": "strip"}}')
    return project


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("URLCANON_RULES_FILES=unquoted.toml", 'expected a host in quotes, ["gadgets.example"]'),
        ("URLCANON_RULES_FILES=twice.json", '"a.example" stands twice'),
        ("URLCANON_RULES_FILES=rules.toml", "'rules.toml': there is no such file"),
        ('URLCANON_RULES={"*": {"drop_parms": ["sid"]}}', "did you mean 'drop_params'?"),
        (
            'URLCANON_RULES={"*": {"www": true}}',
            "URLCANON_RULES['*']['www']: expected 'keep' or 'strip",
        ),
        ("URLCANON_ENABLED=maybe", "URLCANON_ENABLED: expected True or False, got 'maybe'"),
        (
            "URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS=no.such.Class",
            "expected the path of a fingerprinter class, got 'no.such.Class': No module named 'no'",
        ),
        ("URLCANON_RECORD=/proc/self/seen.sqlite", "/proc/self/seen.sqlite: cannot be written"),
        ("URLCANON_REPORT=/proc/self/report.html", "name a file in a folder that may be written"),
    ],
)
def test_a_crawl_ends_with_the_problem_and_no_traceback(project, setting, expected):
    """Setting or file, what was expected, and what to do; Scrapy's own code is not at fault."""
    result = scrapy("crawl", "shop", "-s", setting, cwd=project)
    assert result.returncode == 1
    assert expected in result.stderr
    assert setting.partition("=")[0] in result.stderr
    assert result.stderr.count("in the configuration of scrapy-urlcanon") == 1
    assert "Traceback" not in result.stderr
    assert "Crawled (" not in result.stderr
