from array import array
from zlib import crc32

import pytest

from scrapy_urlcanon.novelty.features import UrlFeatures
from scrapy_urlcanon.novelty.model import OnlineModel
from scrapy_urlcanon.novelty.news import Usual
from scrapy_urlcanon.novelty.packing import unpacked
from scrapy_urlcanon.novelty.saved import pack, unpack

URLS = (
    "http://a.example/shop/page-2/red.html?sort=name&id=7",
    "http://a.example/shop/page-3/red.html",
    "http://a.example/about",
)


def test_version_is_another_one_where_what_was_learned_means_something_else():
    """A job would go on with numbers of other features, or of another scale, and not say so.

    Where this fails, raise the version in ``saved.py``, and write here what it says now.
    """
    makes, usual, model = UrlFeatures(), Usual(), OnlineModel(prior=0.4)
    said = []
    for number, url in enumerate(URLS * 6):
        features = makes.of(url, ("place li in ul", "follow")).all
        model.learn(features, usual.amount(10.0 * (number % 4)))
        said += [*unpacked(features), round(1000 * model.expect(features))]
    version = pack({}).partition(b"\n")[0].decode()
    assert (version, crc32(repr(said).encode())) == ("urlcanon order 10", 1545943653)


def test_what_is_not_whole_is_not_read():
    """Wherever it was cut short, and whatever was changed in it."""
    data = pack(
        {"counts": bytearray(b"12"), "numbers": array("I", [3, 70_000]), "none": bytearray()}
    )
    assert unpack(data) == {
        "counts": b"12",
        "numbers": array("I", [3, 70_000]).tobytes(),
        "none": b"",
    }
    for size in range(len(data)):
        with pytest.raises(ValueError, match=r"begin|checksum"):
            unpack(data[:size])
        with pytest.raises(ValueError, match=r"begin|checksum"):
            unpack(data[:size] + bytes([data[size] ^ 1]) + data[size + 1 :])
