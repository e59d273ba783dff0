"""A search that says what it was asked for has an end, whatever it is asked next."""

from urllib.parse import parse_qs

from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from trap_sites import words

from scrapy_urlcanon.crawl.order.progress import NO_NEWS

ASKED = words("asked", 12).replace(" ", "+")
NEXT = words("next", 300).split()


@deferred_f_from_coro_f
async def test_searches_for_ever_more_words_end(crawl):
    """Each proposes to ask for another word too, twelve of three hundred, and finds nothing."""

    def respond(request):
        path, _, query = request.target.partition("?")
        if path == "/":
            articles = "".join(f"<a href=/article/{number}>more</a>" for number in range(40))
            return page(f"{articles}<a href='/find?q={ASKED}'>find</a>")
        if path != "/find":
            return page(f"<p>{words(path, 60)}")
        (asked,) = parse_qs(query)["q"]
        begin = hash_of(asked)
        proposed = [f"{asked} {NEXT[(begin + 7 * number) % 300]}" for number in range(12)]
        links = "".join(
            f"<li><a href='/find?q={each.replace(' ', '+')}'>{each}</a>" for each in proposed
        )
        return page(f"<h1>Nothing has {asked}</h1><ul>{links}</ul>")

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": 0.05, "CLOSESPIDER_PAGECOUNT": 600}
    result = await crawl(respond, settings)
    assert {f"/article/{number}" for number in range(40)} <= {*result.hits}
    assert result.stats["finish_reason"] == NO_NEWS


def hash_of(text):
    """Return a number that is another one for most texts."""
    return sum(map(ord, text))
