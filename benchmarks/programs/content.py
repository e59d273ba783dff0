"""Plausible text and histories, generated from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random

_ONSETS = "bcdfghjklmnprstvwz"
_VOWELS = "aeiou"
_ENDS = ["", "", "n", "r", "l", "s", "t", "nd", "rm", "x"]
_SMALL = ["the", "of", "and", "a", "to", "in", "is", "was", "for", "with", "on", "as", "by", "not"]
EPOCH = 1_600_000_000
"""The time of the oldest things, in seconds since 1970."""
DAY = 86_400


@cache
def _vocabulary(seed: int, size: int) -> list[str]:
    random = Random(seed)
    return sorted(
        {
            "".join(
                random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_ENDS)
                for _ in range(random.choice((1, 2, 2, 3)))
            )
            for _ in range(size)
        }
    )


@dataclass(frozen=True)
class Revision:
    """One version of a text."""

    text: tuple[str, ...]
    author: str
    time: int
    comment: str


@dataclass(frozen=True)
class Article:
    """A text with a title, categories and a history."""

    title: str
    categories: tuple[str, ...]
    revisions: tuple[Revision, ...]
    links: tuple[str, ...]
    """The titles of the articles that it links."""

    @property
    def slug(self) -> str:
        return self.title.lower().replace(" ", "_")


class Writer:
    """Writes words, sentences and articles."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._words = _vocabulary(seed, 4000)
        self.people = [self.word().title() for _ in range(12)]

    def word(self) -> str:
        return self.random.choice(self._words)

    def words(self, count: int) -> str:
        return " ".join(self.word() for _ in range(count))

    def names(self, count: int) -> list[str]:
        """Return at most *count* distinct words."""
        return list(dict.fromkeys(self.word() for _ in range(count)))

    def title(self, count: int = 2) -> str:
        return self.words(count).title()

    def sentence(self) -> str:
        random = self.random
        count = random.randint(6, 18)
        words = [
            self.word() if random.random() < 0.6 else random.choice(_SMALL)  # noqa: PLR2004
            for _ in range(count)
        ]
        return " ".join(words).capitalize() + "."

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(self.random.randint(2, 5)))

    def paragraphs(self, most: int = 6) -> list[str]:
        return [self.paragraph() for _ in range(self.random.randint(1, most))]

    def person(self) -> str:
        return self.random.choice(self.people)

    def articles(self, count: int, revisions: int = 5) -> list[Article]:
        """Return *count* articles with up to so many revisions each, that link one another."""
        random = self.random
        titles = sorted({self.title() for _ in range(count * 2)})
        random.shuffle(titles)
        del titles[count:]
        categories = [self.title(1) for _ in range(max(3, count // 5))]
        return [
            Article(
                title,
                tuple(sorted(random.sample(categories, random.randint(1, 2)))),
                tuple(self._history(random.randint(2, revisions))),
                tuple(random.sample(titles, min(len(titles), random.randint(2, 5)))),
            )
            for title in titles
        ]

    def _history(self, count: int) -> list[Revision]:
        random = self.random
        text = self.paragraphs()
        time = EPOCH + random.randrange(300 * DAY)
        history = []
        for _ in range(count):
            text = list(text)
            if random.random() < 0.5:  # noqa: PLR2004
                text.insert(random.randrange(len(text) + 1), self.paragraph())
            else:
                text[random.randrange(len(text))] = self.paragraph()
            time += random.randrange(3600, 60 * DAY)
            history.append(Revision(tuple(text), self.person(), time, self.words(3)))
        return history
