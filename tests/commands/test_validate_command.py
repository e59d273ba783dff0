"""Rules are tried on the site itself, through the real command."""

import io
import json
import signal
import time

import pytest
from command_line import ScrapyProcess, scrapy, urlcanon
from loopback import Fault, Loopback, Response, page, redirect
from rich.console import Console

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.commands.checked_rules import show_checks
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.report.screen import Screen
from scrapy_urlcanon.validate.rule_check import RuleCheck

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
    if request.path.startswith(("/image", "/photo", "/print")):
        number = request.query if request.path == "/photo" else request.path
        made = time.perf_counter_ns() if request.path.startswith("/print") else ""
        body = b"\x89PNG\x01" + f"{number} {made}".encode()
        return Response(headers=(("Content-Type", "image/png"),), body=body)
    if request.path.startswith("/moved/") and not request.path.endswith("/"):
        return redirect(f"{request.path}/")
    listed = request.query.partition("&sid=")[0]
    content = listed if request.path == "/list" else request.path.rstrip("/")
    # What says no more than for which URL it is may as well be "not found".
    return page(f"<title>{content}</title><p>{content.strip('/')} {WORDS}")


@pytest.fixture
def validate(tmp_path):
    """Return what runs the command on URLs of the site, with its hits."""
    (tmp_path / "urlcanon.toml").write_text(RULES)

    def run(urls, *options, file="urlcanon.toml", is_refused=False):
        lines = "".join(f"{SITE}{url}\t200\n" for url in urls)
        (tmp_path / "observations.tsv").write_text(f"url\tstatus\n{lines}")
        arguments = ["validate", file, "--observations", "observations.tsv", *options]
        arguments += ["-s", "RETRY_ENABLED=False"]
        with Loopback(respond) as server:
            own = {"cwd": tmp_path, "environment": server.proxies}
            # What crawls needs a process of its own.
            result = (
                urlcanon(*arguments, **own) if is_refused else scrapy("urlcanon", *arguments, **own)
            )
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
    # Each of the four pages, and each once more: what differs between two fetches is noise.
    assert len(hits) == 4 + 4


def test_files_are_compared_by_their_bytes(validate, tmp_path):
    """A rule over images holds or fails as any; what is made anew at each visit tells nothing."""
    (tmp_path / "files.toml").write_text(
        '["site.example"]\ndrop_params = ["version", "number", "copy"]\n'
    )
    urls = [f"/image/{number}?version={number}" for number in range(20)]
    urls += [f"/photo?number={number}" for number in range(20)]
    urls += [f"/print/{number}?copy={number}" for number in range(20)]
    result, lines, hits = validate(urls, file="files.toml")
    assert result.returncode == 1
    for option, expected in (
        ("version", "holds 10 of 10 right"),
        ("number", "fails 0 of 2 right"),
        ("copy", "open 0 of 0 right, 20 not comparable"),
    ):
        (line,) = [line for line in lines if f"drop_params {option} " in line]
        assert line.startswith(expected)
    # Each of the photos twice, and the kept one once more, for two servers that take turns.
    assert len([hit for hit in hits if hit.startswith("/photo")]) == 2 * 5


def test_page_that_many_urls_share_proves_nothing(validate):
    """What is shown for every URL would agree with every rule."""
    urls = [f"/login?returnto={n}&a={n}" for n in range(20)]
    _, lines, _ = validate(urls)
    (line,) = [line for line in lines if "login" in line and "drop_params" in line]
    assert line.startswith("open 0 of 0 right, 20 not comparable drop_params returnto")
    (why,) = [line for line in lines if line.startswith("not comparable: ")]
    assert why.startswith("not comparable: 20 pairs: several pages show what it shows: a log-in")


def test_pages_that_cannot_be_fetched_prove_nothing(validate):
    """Neither an error nor a broken connection speaks for or against a rule, and it is said which.

    A host that never answers is not asked again and again.
    """
    urls = [f"/broken/{n}?x={n % 2}" for n in range(6)]
    result, _, hits = validate(urls, "--pairs", "4", "--json")
    assert (result.returncode, len(hits)) == (0, 3)
    (reasons,) = (rule["reasons"] for rule in json.loads(result.stdout) if rule["reasons"])
    assert [*reasons.values()] == [3, 1]
    assert next(iter(reasons)).startswith("it cannot be fetched (")
    lines = [" ".join(line.split()) for line in result.stderr.splitlines()]
    assert "not comparable: 1 pair: its host does not answer: it was not asked again" in lines
    (line,) = [line for line in lines if "broken" in line]
    assert line.startswith("open 0 of 0 right, 4 not comparable")


def test_rules_without_a_pair_are_listed(validate):
    """A rule that none of the URLs is for was not tried, nor `skip` where no page was seen."""
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


def test_url_that_refutes_a_rule_is_shown_whole():
    """However narrow the terminal is, it can be copied."""
    url = f"http://site.example/{'long/' * 40}"

    class Refuted(RuleCheck):
        wrong = 2
        example = (f"{url}?id=1", url)

    check = Refuted("drop_params", Layer("x.toml", "site.example"), ["id"])
    shown = io.StringIO()
    console = Console(file=shown, width=40, force_terminal=True, color_system=None)
    show_checks([check], Screen(console), fetched=4)
    assert f"  {url}?id=1\n  {url}\n" in shown.getvalue()


def test_one_rule_holds_and_two_hold():
    """What is counted agrees with its verb."""

    class Right(RuleCheck):
        right = 10
        outcome = Outcome.HOLDS

    for count, words in ((1, "1 rule: 1 holds;"), (2, "2 rules: 2 hold;")):
        shown = io.StringIO()
        check = Right("drop_params", Layer("x.toml", "site.example"), ["id"])
        show_checks([check] * count, Screen(Console(file=shown)), fetched=40)
        assert words in shown.getvalue()


def test_rules_that_stood_are_written(validate, tmp_path):
    """Those that hold are in the file, and what is refuted or was not tried is commented out.

    It is summed up at the end, of how many pages; and at once it is said what begins.
    """
    urls = [f"/list?id={number}&sid={number}" for number in range(20)]
    result, lines, hits = validate(urls, "-o", "stood.toml")
    assert result.returncode == 1
    assert lines[-1] == f"6 rules: 1 holds, 1 fails, 4 no pair; {len(hits)} pages fetched"
    assert result.stderr.splitlines() == ["Reading 1 input ...", "Fetching pairs for 2 rules ..."]
    text = (tmp_path / "stood.toml").read_text()
    assert '    "sid", # 10 of 10 right\n' in text
    assert '#     "id", # fails 0 of 2 right\n' in text
    assert '# trailing_slash = "strip" # no pair\n' in text
    stood = Canonicalizer(rules_files=tmp_path / "stood.toml")
    assert stood.canonicalize(f"{SITE}/list/?id=1&sid=2") == f"{SITE}/list/?id=1"
    for output in ("urlcanon.toml", "observations.tsv", "stood.json"):
        result, _, hits = validate(urls, "-o", output, is_refused=True)
        assert (result.returncode, hits) == (2, [])


def test_a_file_without_rules_is_called_empty(tmp_path):
    """Nothing is read or fetched for it."""
    (tmp_path / "empty.toml").write_text("# nothing\n")
    (tmp_path / "o.tsv").write_text("url\tstatus\n")
    arguments = ("validate", "empty.toml", "--observations", "o.tsv")
    result = urlcanon(*arguments, cwd=tmp_path)
    assert result.returncode == 0
    assert result.stdout == "empty.toml is empty: there is no rule to validate\n"


def _wait_until(is_true):
    until = time.monotonic() + 60
    while not is_true() and time.monotonic() < until:
        time.sleep(0.05)


def test_ctrl_c_ends_it_with_what_is_known(tmp_path):
    """One line, no traceback, and an exit status that says so; no file turns off what was left."""
    (tmp_path / "urlcanon.toml").write_text(RULES)
    (tmp_path / "stood.toml").write_text(RULES)
    urls = "".join(f"{SITE}/page{number}?sid=1\t200\n" for number in range(100))
    (tmp_path / "o.tsv").write_text(f"url\tstatus\n{urls}")
    command = ("urlcanon", "validate", "urlcanon.toml", "--observations", "o.tsv")
    command += ("-o", "stood.toml", "-s", "DOWNLOAD_DELAY=1")
    with Loopback(respond) as server:
        run = ScrapyProcess(*command, cwd=tmp_path, environment=server.proxies)
        _wait_until(lambda: server.hits)
        run.send_signal(signal.SIGINT)
        ended = run.wait(60)
    assert ended.returncode == 130
    assert ended.stderr.splitlines()[-1] == "Interrupted."
    assert "Traceback" not in ended.stderr
    assert "6 rules: " in ended.stdout.splitlines()[-1]
    assert (tmp_path / "stood.toml").read_text() == RULES


def test_second_ctrl_c_is_an_end_by_ctrl_c_too(tmp_path):
    """Scrapy waits for no answer then, and notes no reason; what is known is printed."""
    (tmp_path / "urlcanon.toml").write_text(RULES)
    urls = "".join(f"{SITE}/page{number}?sid=1\t200\n" for number in range(3))
    (tmp_path / "o.tsv").write_text(f"url\tstatus\n{urls}")
    command = ("urlcanon", "validate", "urlcanon.toml", "--observations", "o.tsv")
    log = tmp_path / "log.txt"
    command += ("-s", "LOG_ENABLED=True", "--logfile", log)
    with Loopback(lambda _: Response(fault=Fault.SILENCE)) as server:
        run = ScrapyProcess(*command, cwd=tmp_path, environment=server.proxies)
        _wait_until(lambda: server.hits)
        run.send_signal(signal.SIGINT)
        _wait_until(lambda: "shutting down gracefully" in log.read_text())
        run.send_signal(signal.SIGINT)
        ended = run.wait(60)
    assert ended.returncode == 130
    assert ended.stderr.splitlines()[-1] == "Interrupted."
    assert ended.stdout.splitlines()[-1] == "6 rules: 1 open, 5 no pair; 0 pages fetched"


def test_crawl_that_a_setting_ends_says_so(validate):
    """What was not tried by then is open, and not without a pair."""
    urls = [f"/list?id={number}&sid={number}" for number in range(20)]
    result, lines, hits = validate(urls, "-s", "CLOSESPIDER_PAGECOUNT=1")
    assert result.returncode == 0
    assert lines[-2] == f"6 rules: 2 open, 4 no pair; {len(hits)} pages fetched"
    assert lines[-1].startswith("ended before all was fetched, by closespider_pagecount: a setting")


def test_mistakes_are_errors(validate):
    """A file that is no rule file, and a number of pairs that is none."""
    result, _, hits = validate(["/a?sid=1"], file="absent.toml", is_refused=True)
    assert (result.returncode, hits) == (1, [])
    assert "FILE: cannot read 'absent.toml': there is no such file" in result.stderr
    result, _, _ = validate(["/a?sid=1"], "--pairs", "0", is_refused=True)
    assert result.returncode == 2
    assert "--pairs: expected 1 or more" in result.stderr


SKIP = '["blog.example"]\nskip = ["/?p={id:digits}"]\n'
BLOG = "http://blog.example"


@pytest.fixture
def blog(tmp_path):
    """Return what validates a rule that skips the short links of a weblog, by what it serves."""
    (tmp_path / "skip.toml").write_text(SKIP)

    def run(respond, seen, *options):
        rows = "".join(f"{BLOG}{url}\t200\t{text}\t{to and BLOG + to}\n" for url, text, to in seen)
        (tmp_path / "o.tsv").write_text(f"url\tstatus\tmain_sha1\tredirect\n{rows}")
        arguments = [
            "validate",
            "skip.toml",
            "--observations",
            "o.tsv",
            "-s",
            "RETRY_ENABLED=False",
        ]
        with Loopback(respond) as server:
            result = scrapy(
                "urlcanon", *arguments, *options, cwd=tmp_path, environment=server.proxies
            )
        shown = [" ".join(line.split()) for line in result.stdout.splitlines()]
        return result, shown, [url.removeprefix(BLOG) for url in server.hits]

    return run


def post(number):
    """Return the page of a post, of which a line is another one at each visit."""
    text = " ".join(f"w{number}x{word}" for word in range(50))
    return f"<title>Post {number}</title><p>{text}<p>Visit {time.perf_counter_ns()}"


def number_of(request):
    """Return the number of the post that a request is for."""
    return int((request.query.partition("=")[2] or request.path.rpartition("-")[2]).strip("x") or 0)


def shows_posts(*, moved=False, link=""):
    """Return what serves posts under two URLs: one may lead to the other, or declare it."""

    def respond(request):
        number = number_of(request)
        if request.path == "/" and moved:
            return redirect(f"{BLOG}/post-{number}")
        declared = f'<link rel="canonical" href="{link}{number}">' if link else ""
        return page(declared + post(number))

    return respond


def crawled(shorts=range(30), posts=range(30), *, to=""):
    """Return what a crawl has seen: short links that lead on, or show the same, and posts."""
    same = "{:040d}".format
    yield from ((f"/?p={n}", "" if to else same(n), f"{to}{n}" if to else "") for n in shorts)
    yield from ((f"/post-{n}", same(n), "") for n in posts)


@pytest.mark.parametrize(
    ("respond", "seen"),
    [
        (shows_posts(), crawled()),
        (shows_posts(moved=True), crawled(to="/post-")),
        (shows_posts(link=f"{BLOG}/post-"), crawled(to="/post-")),
        # What they lead to now is another URL than that which the crawl has seen.
        (shows_posts(moved=True), crawled(to="/old-")),
        # The home page, which all of them declare, is not believed.
        (shows_posts(link=f"{BLOG}/?"), crawled()),
    ],
)
def test_skipped_urls_show_pages_that_the_crawl_has_seen_elsewhere(blog, tmp_path, respond, seen):
    """Ten of them are enough, and the rule stands, with two fetches for each."""
    result, lines, hits = blog(respond, [*seen], "-o", "stood.toml")
    assert result.returncode == 0, result.stderr
    assert "holds 10 of 10 right skip /?p={id:digits} skip.toml['blog.example']" in lines
    assert len([url for url in hits if url.startswith("/?p=")]) == 10
    assert '\n    "/?p={id:digits}", # 10 of 10 right\n' in (tmp_path / "stood.toml").read_text()


def test_skipped_urls_with_pages_of_their_own_refute_their_rule(blog, tmp_path):
    """What two of them show is at no other URL of the crawl: each is fetched twice."""
    result, lines, hits = blog(shows_posts(), crawled(posts=()), "-o", "stood.toml")
    assert result.returncode == 1
    assert "fails 0 of 2 right skip /?p={id:digits} skip.toml['blog.example']" in lines
    assert "not found elsewhere, and this skips it: skip /?p={id:digits}" in lines
    assert len(hits) == 4
    assert len(set(hits)) == 2
    assert f"{BLOG}{hits[0]}" in lines
    assert Canonicalizer(rules_files=tmp_path / "stood.toml").skips(f"{BLOG}/?p=1") is None


def test_skipped_urls_that_show_another_page_than_the_crawl_has_seen_refute_their_rule(blog):
    """Neither the place that it has seen nor anything that they say is right."""

    def respond(request):
        return page(post(number_of(request) + 100 * (request.path == "/")))

    result, lines, _ = blog(respond, crawled())
    assert result.returncode == 1
    assert "fails 0 of 2 right skip /?p={id:digits} skip.toml['blog.example']" in lines


def test_skipped_urls_that_say_nothing_prove_nothing(blog):
    """Errors, a form to log in, and pages at URLs that the crawl has not seen."""
    answers = {
        "error": lambda _: page("gone", status=404),
        "login": lambda r: page(f"<p>Please log in. {WORDS}") if r.path == "/" else page(post(1)),
        "unseen": lambda r: redirect(f"/new-{number_of(r)}") if r.path == "/" else page(post(2)),
    }
    for name, respond in answers.items():
        seen = crawled(posts=()) if name == "unseen" else crawled()
        result, lines, _ = blog(respond, seen, "--pairs", "8")
        assert result.returncode == 0, name
        (line,) = [line for line in lines if line.endswith("skip.toml['blog.example']")]
        assert line.startswith("open 0 of 0 right, 8 not comparable"), lines


def test_robots_txt_is_obeyed_when_skipped_urls_are_fetched(blog):
    """What it forbids proves nothing, and is not fetched."""

    def respond(request):
        if request.path == "/robots.txt":
            return Response(body=b"User-agent: *\nDisallow: /?p=")
        return page(post(number_of(request)))

    result, lines, hits = blog(respond, crawled(), "-s", "ROBOTSTXT_OBEY=True")
    assert result.returncode == 0
    assert hits == ["/robots.txt"]
    assert "open 0 of 0 right, 30 not comparable" in " ".join(lines)
    assert lines[-1] == "1 rule: 1 open; 0 pages fetched"
