"""Classes of several sections are judged together."""

from functools import partial
from hashlib import sha1

import observed

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import learn

HOST = "http://forum.example"
WORDS = ["animals", "books", "clothes", "drinks", "food", "games", "houses"]
see = partial(observed.see, host=HOST)


def most_of_a_forum(hidden):
    """Return three fifths of what a crawl sees of sections with a few topics each.

    :param hidden: a section most posts of which are in no topic.
    """
    seen = []
    for section in WORDS:
        for topic in range(8):
            for part in range(1, 6):
                content = f"{section} {topic} {part}"
                page = f"?page={part}" if part > 1 else ""
                if section != hidden or topic < 2:
                    seen.append(see(f"/f/{section}/thread/{topic}{page}", content))
                seen += [
                    see(f"/f/{section}/post/{topic * 100 + part * 10 + n}", content)
                    for n in range(3)
                ]
    return [o for o in seen if sha1(o.url.encode()).digest()[0] % 5 < 3]


def skipped(observations):
    """Return the sections whose posts are skipped."""
    skips = Canonicalizer(learn(observations).as_rules()).skips
    return {word for word in [*WORDS, "other"] if skips(f"{HOST}/f/{word}/post/1")}


def test_sections_tell_together_what_none_tells_alone():
    """Posts of most sections are skipped on their joint evidence.

    Not those of an unseen section, or of one where many posts have no other URL.
    """
    found = skipped(most_of_a_forum(hidden="food"))
    assert len(found) >= len(WORDS) - 3
    assert found <= {*WORDS} - {"food"}
