"""Numbers of parts show which share of a site a crawl has seen."""

from functools import partial
from hashlib import sha1
from random import Random

import observed
import pytest

from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.classes.parts_seen import PartsSeen
from scrapy_urlcanon.learn.location import locate

HOST = "http://forum.example"
see = partial(observed.see, host=HOST)


def half_of_a_forum(part, hidden=0.0):
    """Return half of what a crawl sees of topics with parts, and of links to their posts.

    :param part: what follows the number of a topic for one of its parts.

    :param hidden: the share of the topics of which nothing but links to their posts is there.
    """
    draw = Random(0)
    seen = []
    for topic in range(60):
        is_listed = draw.random() >= hidden
        for number in range(draw.choice((1, 5, 9))):
            content = f"topic {topic} part {number}"
            if is_listed:
                seen.append(see(f"/topic.php?t={topic}{part(number)}", content))
            post = topic * 100 + number * 10
            seen += [see(f"/topic.php?p={post + n}", content) for n in range(2)]
    return [o for o in seen if sha1(o.url.encode()).digest()[0] & 1]


def skipped(observations):
    return [rule.setting[0] for rule in learn(observations).rules if rule.option == "skip"]


@pytest.mark.parametrize(
    "part",
    [
        lambda number: f"&start={number * 15}" if number else "",
        lambda number: f"&page={number + 1}" if number else "",
        lambda number: f".{number * 15}",
    ],
    ids=["start", "page", "step"],
)
def test_posts_are_skipped_where_their_parts_were_seen_as_often_as_others(part):
    """Posts are skipped if the parts of their topics were seen as often as other parts.

    Gaps in the numbers alone show that half was seen. If some posts are on no part, posts are
    fetched.
    """
    posts = "/topic.php?p={a:digits}"
    assert posts in skipped(half_of_a_forum(part))
    assert posts not in skipped(half_of_a_forum(part, hidden=0.3))


def test_parts_tell_what_was_seen_between_the_first_and_the_last_one():
    """Only gaps between the first and the last part count; dates and versions do not."""
    offsets = ["t=1&start=60", "t=1&start=15", "t=1&start=30", "t=2", "t=3&start=15"]
    numbers = ["v=1.7", "v=1.12", "d=2020-11-05", "d=2020-11-08", "page=" + "7" * 5000]
    urls = [locate(f"{HOST}/?{query}") for query in offsets + numbers]
    parts = PartsSeen(urls)
    assert [share for url in urls for share in parts.at([[url]]) if share.of] == [(2, 3)] * 5
