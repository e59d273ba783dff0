"""Rules are tried on the site itself, through the real command."""

import json

import pytest
from command_line import scrapy
from loopback import Fault, Loopback, Response, page, redirect

SITE = "http://site.example"
RULES = """\
["site.example"]
drop_params = ["sid"]
trailing_slash = "strip"
skip = ["/?p={id}"]

["site.example/list"]
drop_params = ["id"]

["site.example/login"]
drop_params = ["returnto"]

["site.example/broken"]
drop_params = ["x"]
"""
WORDS = " ".join(f"word{number}" for number in range(50))


def respond(request):
    """Answer as a site where `sid` and a slash select nothing, and `id` does."""
    if request.path.startswith("/broken"):
        return page("gone", status=404) if "=1" in request.query else Response(fault=Fault.RESET)
    if request.path == "/login":
        return page(f"<p>Please log in. {WORDS}")
    if request.path.startswith("/moved/") and not request.path.endswith("/"):
        return redirect(f"{request.path}/")
    listed = request.query.partition("&sid=")[0]
    content = listed if request.path == "/list" else request.path.rstrip("/")
    return page(f"<title>{content}</title><p>{content} {WORDS}")


@pytest.fixture
def validate(tmp_path):
    """Return what runs the command on URLs of the site, with its hits."""
    (tmp_path / "urlcanon.toml").write_text(RULES)

    def run(urls, *options, file="urlcanon.toml"):
        lines = "".join(f"{SITE}{url}\t200\n" for url in urls)
        (tmp_path / "observations.tsv").write_text(f"url\tstatus\n{lines}")
        command = ["urlcanon", "validate", file, "--observations", "observations.tsv", *options]
        with Loopback(respond) as server:
            command += ["-s", "RETRY_ENABLED=False"]
            result = scrapy(*command, cwd=tmp_path, environment=server.proxies)
        lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
        return result, lines, [url.removeprefix(SITE) for url in server.hits]

    return run


def test_right_rules_hold_after_a_few_pairs(validate):
    """The test ends when it knows enough, and each rule is tried on what it alone does."""
    urls = [f"/page{number}?sid={number}" for number in range(100)]
    result, lines, hits = validate([*urls, *(f"/moved/{number}/" for number in range(100))])
    assert result.returncode == 0, result.stderr
    assert "holds 10 of 10 right drop_params sid urlcanon.toml['site.example']" in lines
    assert "holds 10 of 10 right trailing_slash strip urlcanon.toml['site.example']" in lines
    assert len([hit for hit in hits if hit.startswith("/page")]) == 20
    assert len([hit for hit in hits if "sid=" in hit]) == 10


def test_wrong_rule_is_refuted_with_an_example(validate):
    """Two pages that a rule would have merged are enough; the exit status says so."""
    result, lines, hits = validate([f"/list?id={number}" for number in range(100)])
    assert result.returncode == 1
    assert "fails 0 of 2 right drop_params id urlcanon.toml['site.example/list']" in lines
    assert f"{SITE}/list" in lines
    assert len(hits) == 4


def test_page_that_many_urls_share_proves_nothing(validate):
    """What is shown for every URL would agree with every rule."""
    urls = [f"/login?returnto={n}&a={n}" for n in range(20)]
    _, lines, _ = validate(urls)
    (line,) = [line for line in lines if "login" in line and "drop_params" in line]
    assert line.startswith("open 1 of 1 right, 19 not comparable drop_params returnto")


def test_pages_that_cannot_be_fetched_prove_nothing(validate):
    """Neither an error nor a broken connection speaks for or against a rule."""
    result, lines, _ = validate([f"/broken/{n}?x={n % 2}" for n in range(6)], "--pairs", "4")
    assert result.returncode == 0
    (line,) = [line for line in lines if "broken" in line]
    assert line.startswith("open 0 of 0 right, 4 not comparable")


def test_rules_without_a_pair_are_said_to_be_so(validate):
    """A rule that none of the URLs is for was not tried, nor can `skip` be."""
    result, lines, hits = validate(["/a"])
    assert result.returncode == 0
    assert hits == []
    assert "no pair drop_params sid urlcanon.toml['site.example']" in lines
    assert "no pair skip /?p={id} urlcanon.toml['site.example']" in lines


def test_pairs_that_were_not_seen_come_first(validate):
    """A pair of which both URLs were crawled is what the rule was learned from."""
    seen = [f"/page{n}" for n in range(30)] + [f"/page{n}?sid=1" for n in range(30)]
    _, _, hits = validate([*seen, "/new?sid=1"], "--pairs", "1")
    assert sorted(hits) == ["/new", "/new?sid=1"]


def test_each_entry_is_judged_by_itself(validate, tmp_path):
    """A wrong name beside a right one in a list fails alone, and so it stands in the JSON."""
    (tmp_path / "two.toml").write_text('["site.example"]\ndrop_params = ["sid", "id"]\n')
    urls = [f"/list?id={number}&sid={number}" for number in range(20)]
    result, _, _ = validate(urls, "--json", file="two.toml")
    assert result.returncode == 1
    keys = ("option", "setting", "outcome", "right", "wrong", "not_comparable")
    sid, number = json.loads(result.stdout)
    assert [sid[key] for key in keys] == ["drop_params", ["sid"], "holds", 10, 0, 0]
    assert [number[key] for key in keys] == ["drop_params", ["id"], "fails", 0, 2, 0]
    assert "&sid=" in number["example"][0]
    assert "?sid=" in number["example"][1]
    assert "fails" in result.stderr


def test_mistakes_are_errors(validate):
    """A file that is no rule file, and a number of pairs that is none."""
    result, _, hits = validate(["/a?sid=1"], file="absent.toml")
    assert (result.returncode, hits) == (1, [])
    assert "absent.toml" in result.stderr
    result, _, _ = validate(["/a?sid=1"], "--pairs", "0")
    assert result.returncode == 2
    assert "--pairs: expected 1 or more" in result.stderr
