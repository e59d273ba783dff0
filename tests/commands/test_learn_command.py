"""From a crawl to rules and back, through the real commands."""

import errno
import gzip
import json
import os
import re
import signal
import sqlite3
from pathlib import Path

import pytest
from broken_inputs import broken_gzip, broken_store
from command_line import HEADER, ScrapyProcess, rows, scrapy, urlcanon
from demo import crawl
from loopback import Loopback
from shop_site import respond

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.learn.store_file import VERSION


@pytest.fixture
def observations(tmp_path):
    """Return a TSV file from which one rule for each of two domains is learned."""
    path = tmp_path / "observations.tsv"
    lines = (HEADER, *rows(), *rows("books.example", parameter="ref", pages=10))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_three_commands_from_a_crawl_to_a_cheaper_one(tmp_path, crawled_shop):
    """The second crawl fetches less and has the same pages, with rules that nobody wrote."""
    before, store = crawled_shop
    rules = tmp_path / "urlcanon.toml"
    assert before.stats["urlcanon/recorded"] > len(before.items)
    learned = urlcanon("learn", store, "-o", rules, cwd=tmp_path)
    assert learned.returncode == 0, learned.stderr
    assert "shop.example" in learned.stdout
    checked = urlcanon("check", rules, cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    with Loopback(respond) as server:
        arguments = ("urlcanon", "validate", rules, "--observations", store)
        validated = scrapy(*arguments, cwd=tmp_path, environment=server.proxies)
    assert validated.returncode == 0, validated.stdout + validated.stderr
    assert "holds" in validated.stdout
    assert "fails" not in validated.stdout
    after = crawl(tmp_path, "URLCANON_RULES={}", f"URLCANON_RULES_FILES={rules}")
    assert len(after.hits) < len(before.hits) / 2
    assert after.distinct.keys() == before.distinct.keys()


def test_rules_of_all_inputs_are_written(tmp_path, observations):
    """Many inputs, gzip or not, are learned from together; the summary is by domain."""
    packed = tmp_path / "more.tsv.gz"
    with gzip.open(packed, "wt") as file:
        file.write("\n".join([HEADER, *rows("third.example", parameter="s")]) + "\n")
    result = urlcanon("learn", observations, packed, "-o", "urlcanon.toml", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["1", "30", "30", "shop.example"] in lines
    assert ["1", "10", "10", "books.example"] in lines
    assert ["1", "30", "30", "third.example"] in lines
    assert "3 rules for 3 domains, in urlcanon.toml" in result.stdout
    text = (tmp_path / "urlcanon.toml").read_text()
    assert text.startswith("# 3 rules for 3 domains\n")
    assert '    "sid", # 30 of 30 pages the same, 30 requests saved: http://' in text


def test_rules_are_printed_without_an_output(tmp_path, observations):
    """What is piped is a rules file and nothing else."""
    result = urlcanon("learn", observations, cwd=tmp_path)
    (tmp_path / "printed.toml").write_text(result.stdout)
    assert urlcanon("check", "printed.toml", cwd=tmp_path).returncode == 0
    assert "2 rules" in result.stderr


def test_duplicates_without_a_rule_are_shown(tmp_path):
    """Duplicates of which no rule was learned are shown, with a secret in their URLs hidden."""
    path = tmp_path / "observations.tsv"
    urls = "http://a.example/?v=1", "http://a.example/?token=s3cret&v=2"
    path.write_text("\n".join([HEADER, *(f"{url}\t200\t{7:040x}" for url in urls)]) + "\n")
    result = urlcanon("learn", path, "-o", "urlcanon.toml", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "not explained: 1 on a.example that differ in token v" in result.stdout
    assert "http://a.example/?v=1" in result.stdout
    assert "s3cret" not in result.stdout
    rule = "URLCANON_RULES = {'a.example': {'drop_params': ['token', 'v']}}"
    assert f"if they are one page:  {rule}" in result.stdout
    machine = json.loads(urlcanon("learn", path, "--json", cwd=tmp_path).stdout)
    [left] = machine["unexplained"]
    assert left == {
        "domain": "a.example",
        "difference": "token v",
        "urls": 1,
        "example": [urls[0], "http://a.example/?token=***&v=2"],
        "lost": 0,
    }


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        (("rev=1", "rev=2", "rev=3", "rev=4"), "that drops it would lose 2 other pages\n"),
        (("/7/red", "/8/red"), "only a template could merge them: rewrite_path or skip\n"),
    ],
)
def test_no_rule_is_proposed_that_the_crawl_refutes(tmp_path, queries, expected):
    """Nor one for two URLs of many: somebody might paste it."""
    path = tmp_path / "observations.tsv"
    rows = (f"http://a.example/x?{q}\t200\t{max(2, n):040x}" for n, q in enumerate(queries, 1))
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    result = urlcanon("learn", path, "-o", "urlcanon.toml", cwd=tmp_path)
    assert expected in result.stdout


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("http://a.example/node/5?gclid=1", "the preset 'safe' merges them"),
        (
            "http://a.example/one/7/x-8",
            "only a template could merge them: rewrite_path or skip\n",
        ),
        (
            "http://a.example/node/5?lang=en",
            "if they are one page:  URLCANON_RULES = {'a.example': {'default_params': {'lang': ",
        ),
        (
            "http://a.example/node/5?lang=en&v=2",
            "no rule that keeps lang would merge them",
        ),
        (
            "http://a.example/node/5?from=2026-12-01",
            "no rule that keeps from would merge them",
        ),
    ],
)
def test_what_no_rule_of_ours_explains_is_shown_too(tmp_path, other, expected):
    """Nothing is proposed that would not do it."""
    path = tmp_path / "observations.tsv"
    rows = (f"{url}\t200\t{7:040x}" for url in ("http://a.example/node/5", other))
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    preset = ("-s", "URLCANON_PRESET=scrapy")
    result = urlcanon("learn", path, "-o", "urlcanon.toml", *preset, cwd=tmp_path)
    assert expected in result.stdout


def test_what_the_settings_explain_needs_no_rule(tmp_path):
    """A user would look in vain for what is missing."""
    path = tmp_path / "observations.tsv"
    urls = ("http://a.example/node/5", "http://a.example/node/5?lang=en&v=2")
    path.write_text("\n".join([HEADER, *(f"{url}\t200\t{7:040x}" for url in urls)]) + "\n")
    rules = json.dumps({"a.example": {"drop_params": ["lang", "v"]}})
    (tmp_path / "others.json").write_text(rules)
    learn = ("learn", path, "-o", "urlcanon.toml")
    result = urlcanon(*learn, "-s", "URLCANON_RULES_FILES=others.json", cwd=tmp_path)
    assert "not explained: 1 on a.example" in result.stdout
    assert "  the settings merge them\n" in result.stdout
    result = urlcanon(*learn, "-s", f"URLCANON_RULES={rules}", cwd=tmp_path)
    assert "1 URL merged by what is set already: no new rule\n" in result.stdout
    assert "not explained" not in result.stdout


@pytest.mark.parametrize(
    ("header", "is_reported"), [("url\tsha1", True), ("url\tmain_sha1", False)]
)
def test_input_without_what_urls_show_is_reported(tmp_path, header, is_reported):
    """A list of URLs is one, and so is a table that calls its digests by another name."""
    rows = (f"http://a.example/{number}\t{number:040x}" for number in range(9))
    (tmp_path / "urls.tsv").write_text("\n".join([header, *rows]) + "\n")
    result = urlcanon("learn", "urls.tsv", "-o", "urlcanon.toml", cwd=tmp_path)
    said = "9 URLs without evidence: an error, or no text of their own, or an input that does not"
    assert (said in result.stdout) is is_reported


def test_ctrl_c_is_one_line(tmp_path, observations):
    """While a file is read, here one that never ends: the rules stay, and so says the status."""
    os.mkfifo(tmp_path / "endless.toml")
    rules = tmp_path / "urlcanon.toml"
    rules.write_text("# good\n")
    arguments = (observations, "-o", rules, "--keep", "endless.toml")
    run = ScrapyProcess("urlcanon", "learn", *arguments, cwd=tmp_path)
    # Waits until it is opened to be read.
    with (tmp_path / "endless.toml").open("w"):
        run.send_signal(signal.SIGINT)
        ended = run.wait(30)
    assert (ended.returncode, ended.stderr) == (130, "Interrupted.\n")
    assert rules.read_text() == "# good\n"


@pytest.mark.parametrize("folder", ["/proc/self", "full"])
def test_output_that_cannot_be_written_is_named(tmp_path, observations, folder, monkeypatch):
    """A folder that cannot be written to is told before learning, a full disk with the path."""
    (tmp_path / "full").mkdir()
    if folder == "full":

        def full(_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("os.fsync", full)
    result = urlcanon("learn", observations, "-o", f"{folder}/urlcanon.toml", cwd=tmp_path)
    assert result.returncode in {1, 2}
    said = " ".join(result.stderr.split())
    # Why is said in words, without the number of the error.
    why = r"cannot be written: [A-Z][a-z ]+; name a file elsewhere"
    assert re.search(rf"{folder}/urlcanon\.toml: {why}", said)
    assert not list((tmp_path / "full").iterdir())


def test_json_is_for_machines(tmp_path, observations):
    """All that was learned is on standard output, with its evidence."""
    result = urlcanon("learn", observations, "--json", cwd=tmp_path)
    learned = json.loads(result.stdout)
    assert {(rule["domain"], rule["pages"]) for rule in learned["rules"]} == {
        ("books.example", 10),
        ("shop.example", 30),
    }


def test_options_choose_domains_and_say_what_is_enough(tmp_path, observations):
    """A domain with too little evidence gets no rule, and another domain is not looked at."""

    def domains(*options):
        result = urlcanon("learn", observations, "--json", *options, cwd=tmp_path)
        return [rule["domain"] for rule in json.loads(result.stdout)["rules"]]

    assert domains("--domain", "www.shop.example") == ["shop.example"]
    assert domains("--support", "20") == ["shop.example"]
    assert domains("--support", "5") == ["books.example", "shop.example"]
    assert domains("--confidence", "0.99999") == ["shop.example"]


def test_rules_are_exported_for_duplicate_url_discarder(tmp_path, observations):
    """What it can express does there as here; the rest is said to be left out."""
    with observations.open("a") as file:
        for number in range(30):
            file.write(f"http://www.shop.example/{number}\t200\t{number:040x}\n")
    options = ("-o", "urlcanon.toml", "--export-discarder", "discarder.json")
    result = urlcanon("learn", observations, *options, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "not exported: shop.example: www" in result.stdout
    exported = Canonicalizer(rules_files=[tmp_path / "discarder.json"])
    learned = Canonicalizer(rules_files=[tmp_path / "urlcanon.toml"])
    for url in ("http://shop.example/1?sid=7&a=1", "http://books.example/1?ref=7&a=1"):
        assert exported.canonicalize(url) == learned.canonicalize(url) != url


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("pyproject.toml", "it stays as it is: only a file that could stand in"),
        ("rules.txt", "rules.txt: expected a name that ends in .toml or .json"),
    ],
)
def test_file_that_is_none_of_ours_is_not_overwritten(tmp_path, observations, name, problem):
    """It is found before anything is read."""
    path = tmp_path / name
    path.write_text('[project]\nname = "shop"\n')
    result = urlcanon("learn", observations, "-o", path, cwd=tmp_path)
    assert result.returncode == 1
    assert problem in result.stderr
    assert path.read_text() == '[project]\nname = "shop"\n'


def test_learning_one_domain_again_keeps_the_others(tmp_path, observations):
    """What the file says of another domain stays, and is counted."""
    urlcanon("learn", observations, "-o", "urlcanon.toml", cwd=tmp_path)
    before = (tmp_path / "urlcanon.toml").read_text()
    only = ("--domain", "shop.example")
    result = urlcanon("learn", observations, "-o", "urlcanon.toml", *only, cwd=tmp_path)
    assert "2 rules for 2 domains, in urlcanon.toml" in result.stdout, result.stderr
    assert (tmp_path / "urlcanon.toml").read_text() == before


def test_what_the_preset_of_the_project_does_is_not_written(tmp_path):
    """Where the preset does not do it, it is a rule as any."""
    (tmp_path / "in.tsv").write_text("\n".join([HEADER, *rows(parameter="utm_source")]) + "\n")
    result = urlcanon("learn", "in.tsv", "-o", "safe.toml", cwd=tmp_path)
    assert "0 rules for 0 domains" in result.stdout, result.stderr
    assert "utm_source" not in (tmp_path / "safe.toml").read_text()
    preset = ("-s", "URLCANON_PRESET=scrapy")
    urlcanon("learn", "in.tsv", "-o", "scrapy.toml", *preset, cwd=tmp_path)
    assert "utm_source" in (tmp_path / "scrapy.toml").read_text()


def test_skip_is_for_the_user_to_turn_on(tmp_path):
    """Rules that keep URLs from being fetched are commented out, unless they are asked for."""
    path = tmp_path / "observations.tsv"
    lines = []
    for number in range(60):
        words = "".join("abcdefghij"[int(digit)] for digit in str(number))
        lines.append(f"http://blog.example/post-{words}/\t200\t{number:040x}\t")
        lines.append(
            f"http://blog.example/?p={number * 7}\t301\t\thttp://blog.example/post-{words}/"
        )
    lines.append("http://blog.example/?p=1\t404\t\t")
    path.write_text("\n".join([f"{HEADER}\tredirect", *lines]) + "\n")
    rules = tmp_path / "urlcanon.toml"
    result = urlcanon("learn", path, "-o", rules, cwd=tmp_path)
    assert "0 rules for 0 domains, 1 turned off (skip), in" in result.stdout, result.stderr
    assert "61 60 1 blog.example /?p={a:digits}" in " ".join(result.stdout.split())
    assert "61 requests on top of the 0 that the others save; for 60 of them" in result.stdout
    assert "61 requests saved, 1 of them of unknown pages" in rules.read_text()
    assert "\nskip = [" not in rules.read_text()
    result = urlcanon("learn", path, "-o", rules, "--skip", cwd=tmp_path)
    assert "1 rule for 1 domain, in" in result.stdout, result.stderr
    assert "61 60 1 blog.example /?p={a:digits}" in " ".join(result.stdout.split())
    assert "\nskip = [" in rules.read_text()
    (rule,) = json.loads(urlcanon("learn", path, "--json", cwd=tmp_path).stdout)["rules"]
    assert (rule["merges"], rule["placed"]) == (61, 60)
    result = urlcanon("learn", path, "-o", rules, "--places", "places", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    named = ("-s", f"URLCANON_RULES_FILES={rules}", "-s", "URLCANON_SKIP_PLACES=places")
    urls = ("http://blog.example/?p=7&utm_source=x", "http://blog.example/?p=1")
    shown = urlcanon("explain", *urls, *named, cwd=tmp_path).stdout
    assert "its page is fetched at  http://blog.example/post-b/" in shown
    assert shown.count("its page is fetched") == 1
    shown = urlcanon("explain", "--json", urls[0], *named, cwd=tmp_path).stdout
    assert json.loads(shown)["place"] == "http://blog.example/post-b/"


def test_file_of_places_that_is_another_one_is_refused_before_anything_is_read(tmp_path):
    """Else what was learned in an hour would be lost with it."""
    (tmp_path / "places").write_text("other")
    result = urlcanon("learn", "absent.sqlite", "--places", "places", cwd=tmp_path)
    assert result.returncode == 1
    assert "places cannot be used" in result.stderr
    assert (tmp_path / "places").read_text() == "other"


def test_bad_rows_are_counted(tmp_path, observations):
    """Rows that are no observations are left out, and the summary says how many and why."""
    with observations.open("a") as file:
        file.write("http://shop.example/cut\nmailto:x\t200\t\nhttp://shop.example/x\t9999\t\n")
    result = urlcanon("learn", observations, "-o", "urlcanon.toml", cwd=tmp_path)
    assert result.returncode == 0
    for expected in ("1 row cut short", "1 not an http(s) URL", "1 bad status"):
        assert f"skipped: {expected}" in result.stdout


def newer_store(path, version=99):
    ObservationStore(path).close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"UPDATE meta SET value = '{version}'")
    connection.close()


def older_store(path):
    newer_store(path, 1)


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (Path.resolve, "input: No such file or directory"),
        (lambda path: path.write_text("hello\n"), "input: expected an observation store, TSV"),
        (
            lambda path: path.write_text(f"{HEADER}\nmailto:x\t200\t\n"),
            "input: no observation; skipped: 1 not",
        ),
        (
            lambda path: path.mkdir(),
            "input: no observation; a directory is read as an HTTP cache of Scrapy\n",
        ),
        (lambda path: path.write_bytes(b"\x1f\x8b\x08\x00 no gzip"), "input: cannot be read"),
        (broken_gzip, "input: cannot be read"),
        (
            newer_store,
            f"input: version 99, and this package reads version {VERSION}; a newer version of",
        ),
        (
            older_store,
            f"input: version 1, and this package reads version {VERSION}; crawl again, and record",
        ),
        (broken_store, "input: cannot be read to its end"),
    ],
    ids=[
        "absent",
        "unknown",
        "no observation",
        "a folder of something else",
        "no gzip",
        "broken gzip",
        "newer store",
        "older store",
        "broken store",
    ],
)
def test_input_that_cannot_be_read_is_an_error(tmp_path, write, expected):
    """The message names the input; the rules of the last time stay as they were."""
    rules = tmp_path / "urlcanon.toml"
    rules.write_text("# good\n")
    write(tmp_path / "input")
    result = urlcanon("learn", "input", "-o", rules, cwd=tmp_path)
    assert result.returncode == 1
    assert expected in result.stderr
    assert "Traceback" not in result.stderr
    assert rules.read_text() == "# good\n"
    assert {path.name for path in tmp_path.iterdir()} <= {"input", rules.name}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-o", "absent/urlcanon.toml"], "absent: no such directory"),
        (["-o", "."], "expected a file"),
        (["-o", "observations.tsv"], "is an input, and would be overwritten"),
        (["-o", "r.json", "--export-discarder", "./r.json"], "a file of its own for each"),
        (["--export-discarder", "r.sqlite"], "expected a name that ends in .json"),
        (["-o", "r.toml", "--places", "r.toml"], "a file of its own for each"),
        (["--jobs", "0"], "--jobs: expected 1 process or more"),
        (["--support", "0"], "--support: expected 1 page or more"),
        (["--confidence", "1"], "--confidence: expected a number between 0 and 1"),
        (["--lost", "1"], "--lost: expected a number from 0"),
    ],
)
def test_arguments_that_make_no_sense_are_an_error(tmp_path, observations, arguments, expected):
    """They are found before anything is read or written."""
    before = observations.read_text()
    result = urlcanon("learn", observations, *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert expected in result.stderr
    assert observations.read_text() == before
    assert [*tmp_path.iterdir()] == [observations]


def test_preset_of_the_project_that_is_none_is_named_as_a_setting(tmp_path, observations):
    """Nothing is learned beside a preset that there is not."""
    result = urlcanon("learn", observations, "-s", "URLCANON_PRESET=saef", cwd=tmp_path)
    assert result.returncode == 1
    assert "URLCANON_PRESET: expected 'scrapy' or 'safe'" in result.stderr
