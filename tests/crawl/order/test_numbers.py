"""A record that was found under one URL is not fetched under another before the other records."""

from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from trap_sites import words

PHOTOS, TAGS, ALBUMS = 200, 30, 10


@deferred_f_from_coro_f
async def test_photos_are_fetched_under_one_url_each(crawl):
    """Photos that tags and albums link with their own URLs are nearly all fetched first."""

    def respond(request):
        kind, _, rest = request.target.strip("/").partition("/")
        number = int(rest.partition("/")[0] or 0)
        if kind == "photo":
            links = (
                f"<a href=/photo/{number}/sizes>sizes</a><a href=/photo/{number}/likes>likes</a>"
            )
            return page(f"<p>{words(f'photo {number}', 60)}</p>{links}")
        shown = range(0)
        if kind == "tag":
            shown = range(number, 80, 8)
        elif kind == "album":
            shown = range(number, PHOTOS, ALBUMS)
        links = [f"/photo/{photo}/in/{kind}-{number}" for photo in shown]
        if not kind:
            links += [f"/tag/{n}" for n in range(TAGS)] + [f"/album/{n}" for n in range(ALBUMS)]
        return page("".join(f"<li><a href={link}>more</a>" for link in links))

    settings = {"URLCANON_ORDER": "novelty", "CLOSESPIDER_PAGECOUNT": 300}
    result = await crawl(respond, settings)
    photos = {hit.split("/")[2] for hit in result.hits if hit.startswith("/photo/")}
    assert len(photos) > 180
