"""The scripts of docs/scale.md, which learn with Dask."""

import importlib.util
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import urlcanon

# To import it takes a second, which only the process that runs these needs to spend.
pytestmark = pytest.mark.skipif(find_spec("dask") is None, reason="needs the extra 'scale'")

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
HEADER = "url\tstatus\tmain_sha1\tsimhash64\tcanonical\tredirect"


def rows(domain):
    """Yield TSV lines: pages, also with a parameter, short links to them, and a bad row.

    Some parameters are known before: one that the preset drops, and one of phpBB on two pages. A
    default value would show a session.
    """
    for number in range(30):
        page, simhash = f"{number:040x}", f"{number * 0x0123456789ABCDEF % 2**64:016x}"
        url = f"http://{domain}/{'abcdefghij'[number % 10]}-{'klm'[number // 10]}/"
        yield f"{url}\t200\t{page}\t{simhash}\t\t"
        yield f"{url}?sid={number}\t200\t{page}\t\t{url}\t"
        yield f"http://{domain}/?p={number * 7}\t301\t\t\t\t{url}"
        yield f"{url}?utm_source=mail\t200\t{page}\t\t\t"
        yield f"http://{domain}/viewtopic.php?t={number}\t200\t{number + 100:040x}\t\t\t"
        yield f"http://{domain}/a/{number}\t200\t{number + 200:040x}\t\t\t"
        yield f"http://{domain}/a/{number}?token=4ffbd5c8\t200\t{number + 200:040x}\t\t\t"
    yield f"http://{domain}/viewforum.php?f=1\t200\t{300:040x}\t\t\t"
    for number in range(2):
        url = f"http://{domain}/viewtopic.php?t={number}&hilit=wool"
        yield f"{url}\t200\t{number + 100:040x}\t\t\t"
    yield f"http://{domain}/bad\t9999\t\t\t\t"


@pytest.fixture
def observations(tmp_path):
    """Return a TSV file of nine domains whose rows alternate."""
    path = tmp_path / "observations.tsv"
    domains = [rows(f"www.shop{number}.example") for number in range(8)]
    lines = [line for lines in zip(*domains, rows("10.0.0.1"), strict=True) for line in lines]
    path.write_text("\n".join([HEADER, *lines, "no URL\t200\t\t\t\t"]) + "\n")
    return path


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )


def test_engine_writes_what_the_command_writes(tmp_path, observations):
    """The script writes the same file as the command, and skips the same rows."""
    said = urlcanon("learn", observations, "-o", "command.toml", cwd=tmp_path).stdout
    script = EXAMPLES / "observations_to_parquet.py"
    converted = run(script, observations, "observations.parquet", cwd=tmp_path).stdout
    script = EXAMPLES / "learn_with_dask.py"
    options = ("-o", "engine.toml", "--workers", "2", "--partitions", "3")
    run(script, "observations.parquet", *options, cwd=tmp_path)
    rules = (tmp_path / "command.toml").read_bytes()
    assert rules.count(b'"sid"') == 9
    assert rules.count(b'"hilit"') == 9
    assert b"# skip = [" in rules
    assert b"utm_source" not in rules
    assert b"4ffbd5c8" not in rules
    assert (tmp_path / "engine.toml").read_bytes() == rules
    urlcanon("learn", "observations.parquet", "-o", "parquet.toml", cwd=tmp_path)
    assert (tmp_path / "parquet.toml").read_bytes() == rules
    for skipped in ("skipped: 9 bad status", "skipped: 1 not an http(s) URL"):
        assert skipped in said
        assert skipped in converted


def test_domain_that_fails_stops_no_other(monkeypatch):
    """An error in one domain is reported, and the others are learned."""
    pandas = pytest.importorskip("pandas")
    specification = importlib.util.spec_from_file_location(
        "learn_with_dask", EXAMPLES / "learn_with_dask.py"
    )
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    learn_domain = example.learn_domain

    def failing(site):
        if site.domain == "b.example":
            raise RecursionError(site.domain)
        return learn_domain(site)

    monkeypatch.setattr(example, "learn_domain", failing)
    lines = [line.split("\t") for name in ("a.example", "b.example") for line in rows(name)]
    table = pandas.DataFrame(lines, columns=HEADER.split("\t"), dtype="string")
    part = example.learn_part(table).compute(scheduler="sync")
    assert {rule.domain for rule in part.learned.rules} == {"a.example"}
    assert part.failed == {"b.example": "RecursionError('b.example')"}
    assert part.skipped == {"bad status": 2}
