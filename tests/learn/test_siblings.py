"""What the other words and values in one place say of a rule about one of them."""

from observed import rules, see

PLACES = ["bonn", "oslo", "rome", "lyon"]


def test_word_that_makes_a_difference_says_nothing_of_the_others():
    """A job has one address for each place, and of one place some are other jobs.

    That all that differs has this word is no chance: the others are no luckiest parts.
    """
    jobs = [see(f"/job/{i}", f"job {i}") for i in range(120)]
    there = [see(f"/{PLACES[i % 4]}/job-{i}", f"job {i}") for i in range(120) if i % 4 < 3]
    there += [
        see(f"/lyon/job-{i}", f"job {i}" if i % 3 else f"job {i} in Lyon") for i in range(3, 120, 4)
    ]
    found = {f"/{place}/job-{{c:digits}}" for place in PLACES[:3]}
    assert {one for one, _ in rules([*jobs, *there])["shop.example"]["rewrite_path"]} == found


def test_what_agrees_only_where_a_third_url_does_is_no_rule():
    """Most recipes are the same in metric units, and those without a review show no reviews.

    So the two agree for many, as both are the recipe then. They are one where they agree on what
    the recipe itself does not show.
    """
    recipes = [see(f"/recipe/{i}", f"recipe {i}") for i in range(60)]
    in_grams = [f"recipe {i}" + " in grams" * (i % 8 == 0) for i in range(30)]
    metric = [see(f"/recipe/{i}?units=metric", text) for i, text in enumerate(in_grams)]
    reviews = [
        see(f"/recipe/{i}/reviews", f"recipe {i}" if i % 4 else f"reviews of {i}")
        for i in (1, 2, 3, 5, 6, 7, *range(30, 60))
    ]
    assert rules([*recipes, *metric, *reviews]) == {}
    other_name = [see(f"/recipe/{i}/grams", text) for i, text in enumerate(in_grams)]
    assert rules([*recipes, *metric, *other_name]) == {
        "shop.example": {"rewrite_path": [["/recipe/{b:digits}?units=metric", "/recipe/{b}/grams"]]}
    }
