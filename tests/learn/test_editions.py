"""Versions, views and editions of which some were not seen, or are the same so far."""

import pytest
from observed import pages, rules, see

TEXTS = pages("/text/{}", 30)


@pytest.mark.parametrize("name", ["oldid", "rev", "textVersion", "commit_id"])
def test_last_versions_say_nothing_of_earlier_ones(name):
    """If only the last version of each text was seen, the number of a version stays."""
    last = [see(f"/text/{i}?{name}={i + 700}", f"page {i}") for i in range(30)]
    assert rules([*TEXTS, *last]) == {}
    # Another number would be dropped.
    others = [see(url.url.replace(name, "seen"), f"page {i}") for i, url in enumerate(last)]
    assert rules([*TEXTS, *others]) == {"shop.example": {"drop_params": ["seen"]}}


def test_version_that_makes_no_difference_is_dropped():
    """Texts that show the same in two versions show that versions make no difference."""
    versions = [see(f"/text/{i}?rev={v}", f"page {i}") for i in range(30) for v in (i, i + 60)]
    assert rules([*TEXTS, *versions]) == {"shop.example": {"drop_params": ["rev"]}}


@pytest.mark.parametrize(("count", "is_dropped"), [(12, False), (1, True)])
def test_view_of_which_nothing_is_known_is_kept(count, is_dropped):
    """Two views of things say nothing of a third one, if it has so many URLs of its own."""
    views = [see(f"/text/{i}?view={v}", f"page {i}") for i in range(30) for v in ("list", "cards")]
    third = [see(f"/text/month-{i}?view=month", f"month {i}") for i in range(count)]
    assert (rules([*TEXTS, *views, *third]) == {"shop.example": {"drop_params": ["view"]}}) is (
        is_dropped
    )


def test_view_that_never_agrees_is_no_page_that_changed():
    """Though captures often change, as three other parameters show, each month is another page."""

    def pairs(path, query):
        for i in range(60):
            yield see(f"{path}/{i}", f"{path} {i}")
            yield see(f"{path}/{i}{query(i)}", f"{path} {i}" + ", edited" * (i % 7 == 3 and i < 56))

    others = [one for name in "bcd" for one in pairs(f"/{name}", f"?{name}={{}}".format)]
    views = [*pairs("/text", lambda i: f"?view={('list', 'cards')[i % 2]}")]
    assert "view" in rules([*others, *views])["shop.example"]["drop_params"]
    months = [see(f"/text/{i}?view=month", f"month of {i}") for i in (61, 62, 63)]
    months += [see(f"/text/{i}", f"text {i}") for i in (61, 62, 63)]
    found = rules([*others, *views, *months])["shop.example"]
    assert found["drop_params"] == ["b", "c", "d"]


def calendar(month, views):
    """Yield the days of a month, each in some views."""
    for day in range(1, 15):
        url = f"/calendar/{month}/{day}"
        yield see(url, f"{month} {day}")
        for view in views:
            yield see(f"{url}?view={view}", f"{month}" if view == "month" else f"{month} {day}")


def test_view_that_makes_a_difference_elsewhere_is_kept_where_it_was_not_seen():
    """In May nobody looked at the month, but in March it was another page than the day."""
    seen = [*calendar("march", ["day", "list", "month"]), *calendar("may", ["day", "list"])]
    found = rules(seen)
    assert "shop.example/calendar/may/" not in found
    assert {str(one) for one in found.values()} == {
        "{'default_params': {'view': 'day'}}",
        "{'drop_params': ['view']}",
    }
    assert set(found) == {"shop.example", "shop.example/?view=list"}


@pytest.mark.parametrize(
    ("this", "last", "now"),
    [
        ("/catalog/2026/{}", "/catalog/2025/{}", "/catalog/{}"),
        ("/fall2026/course/{}", "/fall2025/course/{}", "/course/{}"),
        ("/course?id={}&term=2026SP", "/course?id={}&term=2025FA", "/course?id={}"),
        ("/bulletin/2025-26/b{}/", "/bulletin/2024-25/b{}/", "/bulletin/current/b{}/"),
    ],
)
def test_courses_that_are_the_same_this_year_may_not_be_next_year(this, last, now):
    """Courses that have not changed by now are kept for each year, and for this one."""
    seen = [see(url.format(i), f"course {i}") for i in range(30) for url in (this, last, now)]
    assert rules(seen) == {}
    # Another word would be left out.
    words = [("2026SP", "red"), ("2025FA", "blue"), ("fall2026", "red"), ("fall2025", "blue")]
    words += [("2025-26", "red"), ("2024-25", "blue"), ("2026", "77"), ("2025", "78")]
    for edition, word in words:
        this, last = this.replace(edition, word), last.replace(edition, word)
    others = [see(url.format(i), f"course {i}") for i in range(30) for url in (this, last, now)]
    assert rules(others)


def test_year_that_belongs_to_an_article_is_left_out():
    """An article has one year, which is no edition of it."""
    seen = [
        see(url, f"article {i}")
        for i in range(30)
        for url in (f"/{2010 + i % 15}/some-title-{i}", f"/some-title-{i}")
    ]
    assert rules(seen) == {
        "shop.example": {"rewrite_path": [["/{_b:digits}/{a}", "/{a}"]]},
    }
