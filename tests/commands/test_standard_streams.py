"""What a command does where its input or its output is not what it should be."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from command_line import ROOT, ScrapyProcess
from loopback import Loopback, page

from scrapy_urlcanon.crawl.earlier.store import SeenPages

FULL = Path("/dev/full")
# By print(), by rich, and of more than Python holds back.
ACTIONS = [["rules"], ["profiles"], ["seen", "list", "seen.db"]]


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a store of some pages."""
    with closing(SeenPages(tmp_path / "seen.db")) as store:
        store.add_urls(f"http://a.example/{number}" for number in range(1_000))
    return tmp_path


def run_unread(*arguments, cwd, environment=()):
    """Run one action whose output goes to a pipe that nobody reads, and wait for its end."""
    streams = cwd / "input", cwd / "output"
    for path in streams:
        os.mkfifo(path)
    process = ScrapyProcess(
        "urlcanon", *arguments, cwd=cwd, environment=environment, streams=streams
    )
    # Each waits until the process opens it too. That goes on after the second one.
    os.close(os.open(streams[1], os.O_RDONLY))
    os.close(os.open(streams[0], os.O_WRONLY))
    return process.wait()


@pytest.mark.parametrize("arguments", ACTIONS, ids=" ".join)
def test_output_that_nobody_reads_to_its_end_is_no_error(folder, arguments):
    """As "| head" does; a script with ``pipefail`` goes on."""
    done = run_unread(*arguments, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_file_is_written_though_nobody_reads_the_table(folder):
    """What took an hour to fetch is not lost to "| head", nor that a rule failed."""
    (folder / "a.toml").write_text('["a.example"]\ndrop_params = ["sid"]\n')
    (folder / "urls.tsv").write_text("url\nhttp://a.example/?sid=1\nhttp://a.example/?sid=2\n")
    arguments = ["validate", "a.toml", "--observations", "urls.tsv", "-o", "stood.toml"]

    def respond(request):
        return page(f"<p>All about number {len(request.target)}{request.target[-1]}.")

    with Loopback(respond) as server:
        done = run_unread(*arguments, cwd=folder, environment=server.proxies)
    assert done.returncode == 1
    assert "fails" in (folder / "stood.toml").read_text()


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", ACTIONS, ids=" ".join)
def test_output_on_a_full_disk_is_one_line(folder, arguments):
    """It is not taken for an error of what is read."""
    streams = os.devnull, FULL
    done = ScrapyProcess("urlcanon", *arguments, cwd=folder, streams=streams).wait()
    said = "The output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_input_that_is_closed_has_no_line(folder):
    """As in "<&-", and in some services."""
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "urlcanon", "explain", "--stdin"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: os.close(0),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
