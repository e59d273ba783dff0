"""Near-duplicates are found without comparing all pairs, and none is missed."""

from random import Random

from scrapy_urlcanon.learn.simhash import SimhashIndex
from scrapy_urlcanon.pages.same_page import SIMHASH_BITS


def test_simhashes_are_found_by_the_bits_in_which_they_differ():
    """Simhashes within the bound are found whichever bits differ, and none one bit beyond it."""
    draw = Random(0)
    # Drawn by chance, they differ in some 32 bits, and none of these few in fewer than ten.
    first = [draw.getrandbits(64) for _ in range(100)]
    filling = [draw.getrandbits(64) for _ in range(2_000)]
    for bits in range(SIMHASH_BITS + 2):
        flipped = [v ^ sum(1 << bit for bit in draw.sample(range(64), bits)) for v in first]
        index = SimhashIndex([*first, *flipped, *filling])
        for number, value in enumerate(first):
            assert index.setdefault(value, number) == number
        near = [index.setdefault(other, -1) == number for number, other in enumerate(flipped)]
        assert near == [bits <= SIMHASH_BITS] * len(first), bits


def test_the_first_of_several_representatives_is_found():
    """Of several near representatives the first is found."""
    one, other, near = 0b111111, 0b0, 0b111
    index = SimhashIndex([one, other, near])
    assert index.setdefault(one, 9) == 9
    assert index.setdefault(other, 4) == 4
    assert index.setdefault(near, 12) == 4
