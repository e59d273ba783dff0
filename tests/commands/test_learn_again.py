"""Learning again from a crawl that was made under learned rules, through the real commands."""

import sys

import pytest
from command_line import HEADER, rows, scrapy, urlcanon
from demo import crawl

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Scrapy 2.15 fetches on while a page waits for its callback. Without that the order in which the
# pages come is the same each time, and so is what is audited.
IN_ORDER = "SCRAPER_SLOT_MAX_ACTIVE_SIZE=1"


@pytest.fixture
def shop(tmp_path):
    """Return what crawls the example site into a store, and what learns from it alone."""

    def run(store, *settings):
        audited = (f"URLCANON_RECORD={tmp_path / store}", "URLCANON_AUDIT=0.02")
        # Which pages are fetched again depends on the order of the responses.
        once = "URLCANON_RECORD_REVISITS=False"
        return crawl(tmp_path, "URLCANON_RULES={}", once, *audited, *settings)

    def learn(store, rules):
        result = urlcanon("learn", store, "-o", rules, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        return tomllib.loads((tmp_path / rules).read_text())["shop.example"]

    return run, learn


def test_rules_that_were_in_force_are_kept(tmp_path, crawled_shop, shop):
    """A store made under rules is enough: they come back, and the next crawl is as cheap."""
    run, learn = shop
    before = crawled_shop.crawl
    learned = learn(crawled_shop.store, "first.toml")
    under = run("second.sqlite", f"URLCANON_RULES_FILES={tmp_path / 'first.toml'}", IN_ORDER)
    again = learn("second.sqlite", "second.toml")
    # No page was fetched under a second session: nothing but the audit has seen this merge.
    assert " audits the same" in (tmp_path / "second.toml").read_text()
    assert set(learned["drop_params"]) <= set(again["drop_params"])
    assert learned["default_params"].items() <= again["default_params"].items()
    for option in ("www", "scheme", "trailing_slash"):
        assert learned[option] == again[option]
    rules = f"URLCANON_RULES_FILES={tmp_path / 'second.toml'}"
    after = run("third.sqlite", rules, "URLCANON_AUDIT=0")
    of_pages = len(under.hits) - under.stats["urlcanon/audited"]
    assert len(after.hits) <= of_pages < len(before.hits) / 2
    assert after.distinct.keys() == under.distinct.keys() == before.distinct.keys()


def test_rule_that_the_audit_contradicts_goes(tmp_path, shop):
    """What takes it back stands there, with what the audit found; the right rules stay."""
    run, learn = shop
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('["shop.example"]\nwww = "strip"\ndrop_params = ["sid", "t"]\n')
    run("wrong.sqlite", f"URLCANON_RULES_FILES={wrong}", IN_ORDER)
    again = learn("wrong.sqlite", "again.toml")
    assert "sid" in again["drop_params"]
    assert "t" not in again["drop_params"]
    assert "!t" in again["drop_params"]
    assert again["www"] == "strip"
    text = (tmp_path / "again.toml").read_text()
    assert '    "!t", # another page in ' in text


def test_rules_of_other_inputs_are_kept_where_the_user_says_so(tmp_path):
    """A table does not say under which rules it was crawled; --keep does."""
    (tmp_path / "in.tsv").write_text("\n".join([HEADER, *rows()]) + "\n")
    old = tmp_path / "old.toml"
    old.write_text('["shop.example"]\ndrop_params = ["ref"]\n["other.example"]\nwww = "strip"\n')
    result = urlcanon("learn", "in.tsv", "--keep", old, "-o", old, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "kept: 2 rules in force during the crawl" in result.stdout
    assert tomllib.loads(old.read_text()) == {
        "other.example": {"www": "strip"},
        "shop.example": {"drop_params": ["ref", "sid"]},
    }
    assert old.read_text().startswith(
        '["shop.example"]\ndrop_params = ["ref",\n    "sid", # 30 of 30 '
    )


def test_file_to_keep_that_is_none_is_an_error(tmp_path):
    """It is found before anything is read, and nothing is written."""
    (tmp_path / "in.tsv").write_text("\n".join([HEADER, *rows()]) + "\n")
    bad = tmp_path / "bad.toml"
    bad.write_text('["shop.example"]\ndrop_parms = ["ref"]\n')
    for name, expected in (("bad.toml", "did you mean 'drop_params'"), ("absent.toml", "--keep")):
        result = urlcanon("learn", "in.tsv", "--keep", name, "-o", "out.toml", cwd=tmp_path)
        assert result.returncode == 1
        assert expected in result.stderr
        assert not (tmp_path / "out.toml").exists()


def test_what_the_settings_do_needs_no_rule(tmp_path):
    """A thousand sites get no line for what ``*`` says once, and none gets one that it has.

    The settings name the file that is not there yet, as before the first crawl.
    """
    names = [f"shop{n}.example" for n in range(3)]
    lines = (line for name in names for line in rows(name))
    others = (line for name in names[:2] for line in rows(name, parameter="ref"))
    (tmp_path / "observations.tsv").write_text("\n".join([HEADER, *lines, *others]))
    settings = {"*": {"drop_params": ["sid"]}, "shop1.example": {"drop_params": ["ref"]}}
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = project_of_rules\n")
    (tmp_path / "project_of_rules.py").write_text(
        f"URLCANON_RULES = {settings!r}\nURLCANON_RULES_FILES = ['urlcanon.toml']\n"
    )
    result = scrapy("urlcanon", "learn", "observations.tsv", "-o", "urlcanon.toml", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert tomllib.loads((tmp_path / "urlcanon.toml").read_text()) == {
        "shop0.example": {"drop_params": ["ref"]},
    }


def test_error_in_one_domain_names_it(tmp_path, monkeypatch):
    """The others are learned, what the file says of the one stays, and the exit status is 1."""

    def fails(urls):
        if "http://shop.example/0" in urls:
            raise ZeroDivisionError("of the shop")

    rules = tmp_path / "urlcanon.toml"
    learn = ("learn", "observations.tsv", "-o", rules)
    (tmp_path / "observations.tsv").write_text("\n".join([HEADER, *rows()]))
    assert urlcanon(*learn, cwd=tmp_path).returncode == 0
    both = [HEADER, *rows(parameter="ref"), *rows("books.example", parameter="ref")]
    (tmp_path / "observations.tsv").write_text("\n".join(both))
    monkeypatch.setattr("scrapy_urlcanon.commands.learn.prior_of", fails)
    result = urlcanon(*learn, cwd=tmp_path)
    assert result.returncode == 1
    assert "not learned: shop.example" in result.stdout
    assert "ZeroDivisionError: of the shop" in result.stderr
    assert tomllib.loads(rules.read_text()) == {
        "books.example": {"drop_params": ["ref"]},
        "shop.example": {"drop_params": ["sid"]},
    }
    # Where there is no other domain either.
    result = urlcanon(*learn, "--domain", "shop.example", cwd=tmp_path)
    assert result.returncode == 1
    assert "not learned: shop.example" in result.stdout
