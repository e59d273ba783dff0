"""What the shop sells and what its customers write, computed from numbers."""

from __future__ import annotations

from dataclasses import dataclass

LANGUAGES = ("en", "de")

CATEGORIES = {
    "lamps": {"en": ("Lamp", "Lamps"), "de": ("Lampe", "Lampen")},
    "chairs": {"en": ("Chair", "Chairs"), "de": ("Stuhl", "Stühle")},
    "tables": {"en": ("Table", "Tables"), "de": ("Tisch", "Tische")},
    "shelves": {"en": ("Shelf", "Shelves"), "de": ("Regal", "Regale")},
    "clocks": {"en": ("Clock", "Clocks"), "de": ("Uhr", "Uhren")},
    "rugs": {"en": ("Rug", "Rugs"), "de": ("Teppich", "Teppiche")},
}
"""Name of one thing, and of many, by directory and language."""

INFO = {
    "about": {
        "en": ("About us", "We make furniture in one workshop, and sell it here only."),
        "de": (
            "Über uns",
            "Wir bauen Möbel in einer Werkstatt und verkaufen nur hier.",
        ),
    },
    "contact": {
        "en": ("Contact", "The telephone is answered on weekdays from nine to five."),
        "de": ("Kontakt", "Das Telefon ist werktags von neun bis fünf besetzt."),
    },
    "imprint": {
        "en": ("Imprint", "Whoever wants to sue us finds the address of the court here."),
        "de": ("Impressum", "Wer uns verklagen will, findet hier das zuständige Gericht."),
    },
    "returns": {
        "en": ("Returns", "Whatever does not please is taken back within 60 days."),
        "de": ("Rückgabe", "Was nicht gefällt, nehmen wir 60 Tage lang zurück."),
    },
    "shipping": {
        "en": ("Shipping", "Parcels take two days, and a table comes by lorry."),
        "de": ("Versand", "Pakete brauchen zwei Tage, ein Tisch kommt im Lastwagen."),
    },
}

BOARDS = {
    1: "Assembly and repair",
    2: "Oil, wax and soap",
    3: "Show us your room",
    4: "Lost screws",
}

_MODELS = ("Alder", "Birch", "Cedar", "Elm", "Hazel", "Rowan")
_WOODS = {
    "en": ("oak", "ash", "beech", "walnut", "cherry"),
    "de": ("Eiche", "Esche", "Buche", "Nussbaum", "Kirsche"),
}
_WRITERS = ("anna", "bo", "carla", "dmitri", "edda", "farid", "gwen")
_REMARKS = (
    "I would buy it again.",
    "One screw was missing, and came by post.",
    "It does not wobble any more since I sanded one corner.",
    "Has anybody tried it with linseed oil?",
    "The cat has moved in.",
    "Thank you, that helped.",
    "Mine is darker than in the picture.",
    "Use the longer bolts for the back.",
    "It fits through our door, just.",
)


@dataclass(frozen=True)
class Product:
    """A thing to buy. Product *n* is discussed in topic *n*."""

    number: int
    model: str
    category: str

    @property
    def price(self) -> int:
        """In euros."""
        return 19 + self.number * 37 % 180

    @property
    def stars(self) -> int:
        """From 1 to 5."""
        return 1 + self.number * 7 % 5

    def name(self, language: str) -> str:
        """Return the model and what it is."""
        return f"{self.model} {CATEGORIES[self.category][language][0]}"

    def slug(self, language: str) -> str:
        """Return the name as it stands in URLs."""
        return self.name(language).lower().replace(" ", "-")

    def path(self, language: str) -> str:
        """Return the path of the page; the shop looks at the number only."""
        return f"/product/{self.slug(language)}/{self.number}"

    def description(self, language: str) -> str:
        """Return a sentence that is true of this product only."""
        wood = _WOODS[language][self.number % 5]
        height, weight = 20 + self.number * 13 % 170, 1 + self.number * 5 % 40
        if language == "de":
            return (
                f"{self.name('de')} aus {wood}, {height} cm hoch, {weight} kg schwer,"
                f" Artikel {self.number}, von Hand gefertigt für {self.price} Euro."
            )
        return (
            f"The {self.name('en')} is made of {wood}, stands {height} cm high, weighs"
            f" {weight} kg, is item {self.number}, and costs {self.price} euros."
        )


PRODUCTS = {
    number: Product(number, model, category)
    for number, (category, model) in enumerate(
        ((category, model) for category in CATEGORIES for model in _MODELS), start=1
    )
}


def posts(topic: int) -> list[str]:
    """Return what was written under *topic*: from 1 to 11 posts."""
    name = PRODUCTS[topic].name("en")
    return [
        f"{_WRITERS[(topic + 3 * n) % len(_WRITERS)]}: {topic + 2 * n} weeks with the"
        f" {name}. {_REMARKS[(2 * topic + n) % len(_REMARKS)]}"
        for n in range(1 + topic * 5 % 11)
    ]


def topics(board: int) -> list[int]:
    """Return the numbers of the topics of *board*."""
    return [number for number in PRODUCTS if number % len(BOARDS) + 1 == board]
