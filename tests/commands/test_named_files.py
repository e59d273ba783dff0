"""Files and hosts that a user names on the command line, whatever they are."""

import json
import os
import threading
from errno import ELOOP, ENAMETOOLONG

import pytest
from command_line import urlcanon

from scrapy_urlcanon.crawl.earlier.store import SeenPages
from scrapy_urlcanon.files import write_atomically

TOO_LONG = "x" * 300 + ".toml"
ROWS = "url\tstatus\nhttp://a.example/\t200\n"


@pytest.fixture
def rows(tmp_path):
    """Return the path of observations."""
    path = tmp_path / "rows.tsv"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ["learn", TOO_LONG],
        ["learn", "rows.tsv", "-o", TOO_LONG],
        ["learn", "rows.tsv", "--places", TOO_LONG],
        ["learn", "rows.tsv", "--keep", TOO_LONG],
        ["learn", "rows.tsv", "-o", "good.toml", "--export-discarder", TOO_LONG],
        ["traps", TOO_LONG],
        ["report", TOO_LONG],
        ["check", TOO_LONG],
        ["validate", TOO_LONG, "--observations", "rows.tsv"],
        ["validate", "rules.toml", "--observations", TOO_LONG],
        ["validate", "rules.toml", "--observations", "rows.tsv", "-o", TOO_LONG],
        ["seen", "list", TOO_LONG],
        ["seen", "import", "seen.db", TOO_LONG],
        ["profiles", "--file", TOO_LONG],
    ],
    ids=lambda arguments: " ".join(arguments).replace(TOO_LONG, "LONG"),
)
def test_name_that_no_file_can_have_is_one_error(tmp_path, rows, arguments):
    """So does what lies in a folder that may not be looked into: the system says what is wrong."""
    (tmp_path / "rules.toml").write_text('["a.example"]\ndrop_params = ["sid"]\n')
    done = urlcanon(*arguments, cwd=tmp_path)
    assert done.returncode in {1, 2}
    assert done.stderr.count(os.strerror(ENAMETOOLONG)) == 1
    assert sorted(tmp_path.iterdir()) == [rows, tmp_path / "rules.toml"]


@pytest.mark.parametrize(
    ("option", "name"), [("-o", "rules.toml"), ("--export-discarder", "rules.json")]
)
def test_link_stays_a_link(tmp_path, rows, option, name):
    """What it leads to is written, as by any program: other names of that file are not cut off."""
    folder = tmp_path / "shared"
    folder.mkdir()
    link = tmp_path / name
    link.symlink_to(folder / "urlcanon.toml")
    assert not urlcanon("learn", rows, option, link, cwd=tmp_path).returncode
    assert link.is_symlink()
    assert (folder / "urlcanon.toml").read_text()


@pytest.mark.parametrize("name", ["loop.toml", "away.toml"])
def test_link_that_leads_nowhere_is_no_crash(tmp_path, rows, name):
    """To itself, or into a folder that is not there."""
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    (tmp_path / "away.toml").symlink_to(tmp_path / "absent" / "urlcanon.toml")
    before = set(tmp_path.iterdir())
    done = urlcanon("learn", rows, "-o", name, "--places", "places.db", cwd=tmp_path)
    assert done.returncode in {1, 2}
    assert "absent: no such directory" in done.stderr or os.strerror(ELOOP) in done.stderr
    assert set(tmp_path.iterdir()) == before


def test_pipe_stays_a_pipe(tmp_path):
    """So does ``/dev/null``: a file in its place would break everything that writes to it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "rules")
    reader.join()
    assert read == ["rules"]
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "arguments", [["learn"], ["traps"], ["validate", "a.toml", "--observations"]]
)
def test_pipe_of_observations_is_no_empty_file(tmp_path, arguments):
    """As of "<(zcat rows.tsv.gz)": nobody is to look for what is missing in the file."""
    (tmp_path / "a.toml").write_text('["a.example"]\ndrop_params = ["sid"]\n')
    os.mkfifo(tmp_path / "pipe")
    done = urlcanon(*arguments, "pipe", cwd=tmp_path)
    assert done.returncode in {1, 2}
    assert "pipe: expected a file, since it is read more than once" in done.stderr


def test_output_that_is_no_text_is_named_by_its_option(tmp_path, rows):
    """It says what to do in the words of the command, not in those of the code."""
    (tmp_path / "rules.toml").write_bytes(b"\xff")
    done = urlcanon("learn", rows, "-o", "rules.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert "-o: cannot read 'rules.toml': expected text in UTF-8" in done.stderr
    (tmp_path / "rules.toml").write_text("a = = 1")
    assert "-o: cannot read" in urlcanon("learn", rows, "-o", "rules.toml", cwd=tmp_path).stderr


def test_empty_file_is_called_empty(tmp_path):
    """Rather than by what a parser misses on its first line."""
    for name in ("empty.json", "empty"):
        (tmp_path / name).touch()
    assert "it is empty" in urlcanon("check", "empty.json", cwd=tmp_path).stderr
    assert "it is empty" in urlcanon("learn", "empty", cwd=tmp_path).stderr


def test_profile_of_another_suffix_is_an_error_with_the_right_one(tmp_path):
    """A file that is there is no name that was misspelled."""
    (tmp_path / "mine.tml").touch()
    done = urlcanon("profiles", "--file", "mine.tml", cwd=tmp_path)
    assert (
        "no such profile: 'mine.tml'; the path of a file of your own ends in .toml" in done.stderr
    )


def test_validate_wants_observations(tmp_path):
    """Of other lines no rule can be shown to be right: that is no success."""
    (tmp_path / "items.jsonl").write_text('{"name": "a"}\n' * 3)
    (tmp_path / "rules.toml").write_text('["a.example"]\ndrop_params = ["sid"]\n')
    done = urlcanon("validate", "rules.toml", "--observations", "items.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert "items.jsonl: no observation; skipped: 3 no URL" in done.stderr


@pytest.mark.parametrize(
    ("text", "code", "is_made"),
    [
        ("", 0, False),
        ("http://a.example/\nnonsense\n", 2, False),
        ("http://a.example/\n", 0, True),
    ],
)
def test_import_makes_a_store_of_what_it_has(tmp_path, text, code, is_made):
    """Nothing, and a file that is wrong, leave no empty store; one that is there stays."""
    (tmp_path / "urls").write_text(text)
    assert urlcanon("seen", "import", "seen.db", "urls", cwd=tmp_path).returncode == code
    assert {path.name for path in tmp_path.iterdir()} == {"urls", *["seen.db"] * is_made}
    SeenPages(tmp_path / "seen.db").close()
    assert urlcanon("seen", "import", "seen.db", "urls", cwd=tmp_path).returncode == code
    assert (tmp_path / "seen.db").exists()


@pytest.mark.parametrize(
    "text", ["", "[", "http://a.example/", "a.example/x", "a b", "me@a.example"]
)
def test_domain_that_is_no_host_is_an_error(tmp_path, rows, text):
    """Else nothing would be found of "http", which is the host of a URL that was pasted."""
    SeenPages(tmp_path / "seen.db").close()
    for arguments in (["learn", rows], ["seen", "prune", "seen.db"], ["seen", "list", "seen.db"]):
        done = urlcanon(*arguments, "--domain", text, cwd=tmp_path)
        assert done.returncode == 2
        assert f"--domain: expected a host, such as shop.example, got {text!r}" in done.stderr


def test_file_that_is_no_store_of_seen_pages_is_named_and_no_setting(tmp_path, rows):
    """The command has its path as an argument."""
    done = urlcanon("seen", "list", rows.name, cwd=tmp_path)
    assert done.returncode == 2
    assert "rows.tsv cannot be used" in done.stderr
    assert "URLCANON_SEEN" not in done.stderr


def test_report_of_a_crawl_without_an_order_differs_from_one_without_traps(tmp_path):
    """It does not say that there were none."""
    report = {"format": "scrapy-urlcanon report", "version": 4, "spider": "shop"}
    report |= dict.fromkeys(("started", "finished"), "2026-01-02T03:04:05+00:00")
    report |= {"finish_reason": "finished", "figures": {}}
    sections = ("options", "domains", "groups", "audit", "in_force", "parameters", "software")
    report |= {key: [] for key in (*sections, "news", "traps")}
    (tmp_path / "report.json").write_text(json.dumps(report))
    done = urlcanon("traps", "report.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "report.json: its crawl had no URLCANON_ORDER" in done.stderr


def test_file_of_another_kind_is_not_shown_whole(tmp_path):
    """A report that is taken for a rules file may have a million lines."""
    (tmp_path / "report.json").write_text(json.dumps({"groups": [{"url": "x" * 99}] * 999}))
    done = urlcanon("check", "report.json", cwd=tmp_path)
    assert "report.json['groups']: expected a mapping of options, got [{'url': 'xxx" in done.stderr
    assert len(done.stderr) < 1_000


@pytest.mark.parametrize("arguments", [["check"], ["profiles", "--file"]], ids=" ".join)
def test_url_in_the_place_of_a_file_is_no_file_that_is_missing(tmp_path, arguments):
    """Lists of other programs are published; nothing here fetches one."""
    done = urlcanon(*arguments, "https://a.example/list.toml", cwd=tmp_path)
    assert "expected the path of a file on this machine, got a URL" in done.stderr
