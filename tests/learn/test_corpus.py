import json

import pytest

from benchmarks.learn import control, unseen
from benchmarks.learn.corpus import PATH, halves, sites
from benchmarks.learn.judge import Score, pages_of, score
from benchmarks.learn.methods import Halves, Rules, scrapy_default
from benchmarks.learn.unseen import CRAWLS, Judged, scorer
from scrapy_urlcanon.learn import learn

pytestmark = pytest.mark.skipif(
    not PATH.exists(), reason="the corpus of real sites is not beside the repository"
)


def test_rules_of_real_sites_hold_on_the_half_that_was_not_seen():
    """Learned from half of the URLs of 20 sites, 199 of 200 merges of the other half are right."""
    total, scrapy = Score(), Score()
    for observations in sites().values():
        one, other = halves(observations)
        pages = pages_of(other)
        total += score(pages, Rules(learn(one).rules).key)
        scrapy += score(pages, scrapy_default(Halves(one, other)))
    assert total.precision >= 0.995
    assert total.recall >= 0.5 > 10 * scrapy.recall


def test_wrong_merges_that_the_site_itself_calls_one_page_are_counted():
    """A wrong merge of two URLs that declare one page is counted separately.

    The page changed between its two captures, which is no fault of the rule.
    """
    judge = scorer()
    pairs = [(f"http://a.example/{i}", f"http://a.example/{i}?sid=x{i}") for i in range(200)]
    judged = [pair for pair in pairs if all(map(judge.half, pair))]
    fields = ("status", "text_sha1", "simhash64", "bytes", "canonical", "redirect")

    def row(url, content, canonical=""):
        return {
            **dict.fromkeys(fields, ""),
            "site": "a",
            "url": url,
            "main_sha1": f"{content:040x}",
            "canonical": canonical,
        }

    rows = [
        row(url, 1000 * (n and one in {judged[0][0], judged[1][0]}) + i, one * (pair != judged[1]))
        for i, pair in enumerate(pairs)
        for one in pair[:1]
        for n, url in enumerate(pair)
    ]
    counts = Judged(judge, "a", rows, "url").judge("rewrites")
    assert counts["correct"] == len(judged) - 2
    assert (counts["false"], counts["said"]) == (2, 1)


def test_what_pages_declare_is_judged_as_rules_are():
    """A page that declares another one is a wrong merge, and lost."""
    rows = [
        dict.fromkeys(("text_sha1", "simhash64", "redirect"), "")
        | {
            "site": "a",
            "url": f"http://a.example/{i}{query}",
            "main_sha1": f"{i + 100 * (i == 3 and bool(query)):040x}",
            "canonical": f"http://a.example/{i}",
        }
        for i in range(9)
        for query in ("", "?sid=1")
    ]
    targets = control.declared(rows)
    counts = control.judge(scorer(), rows, targets.__getitem__)
    assert [counts[name] for name in ("merges", "false", "lost")] == [9, 1, 1]


@pytest.mark.parametrize(
    ("option", "splits"), [("--classes", 2), ("--thresholds", 2), ("--cut-short", len(CRAWLS))]
)
def test_each_measurement_runs(monkeypatch, tmp_path, option, splits):
    """With any option, each corpus has a result for each way of parting it."""
    found = tmp_path / "found.json"
    monkeypatch.setattr("sys.argv", ["unseen", option, "--most", "40", "--json", str(found)])
    assert unseen.main() == 0
    assert len(json.loads(found.read_text())) == 2 * splits
