import pytest

from benchmarks.learn.maybedont_predictor import maybe_dont
from benchmarks.learn.methods import Halves
from scrapy_urlcanon.learn import Observation

pytest.importorskip("maybedont", reason="see benchmarks/requirements-maybedont.txt")


def test_maybedont_drops_a_parameter_without_effect():
    """MaybeDont, as our benchmarks run it, drops a parameter without effect, and no page."""
    page = "http://a.example/view?id={}"
    learned = []
    for number in range(300):
        digest = f"{number:040x}"
        learned.append(Observation(page.format(number), main_sha1=digest))
        learned.append(Observation(f"{page.format(number)}&sid={number}", main_sha1=digest))
    key = maybe_dont(Halves(learned, []))
    assert key(f"{page.format(7)}&sid=x") is None
    assert key(page.format(1000)) == page.format(1000)
