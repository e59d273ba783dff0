"""What templates say of the numbers and words that stand beside each other in a URL."""

from observed import rules, see

from scrapy_urlcanon.canonicalizer import Canonicalizer

HOST = "http://shop.example"


def versions(last):
    """Return things with one to three versions by number, the *last* or first by none too."""
    for n in range(30):
        count = n % 3 + 1
        yield see(f"/doc?v={n}", f"{n} version {count if last else 1}")
        for k in range(1, count + 1):
            yield see(f"/doc?v={n}/{k}", f"{n} version {k}")


def test_thing_is_no_version_of_it():
    """That things with three versions are shown in the third says nothing of those with more."""
    assert "rewrite_path" not in str(rules(versions(last=True)))
    canonical = Canonicalizer(rules(versions(last=False))).canonicalize
    assert canonical(f"{HOST}/doc?v=77/1") == canonical(f"{HOST}/doc?v=77")
    assert canonical(f"{HOST}/doc?v=77/2") != canonical(f"{HOST}/doc?v=77")
