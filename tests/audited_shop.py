"""A shop under rules that are right or wrong, for tests of the audit."""

from loopback import page
from sites import SITE, FollowSpider, links

RIGHT = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
WRONG = {"URLCANON_RULES": {"site.example": {"drop_params": ["id"]}}}
SETTINGS = {
    # So small a share that none but the first three of a rule are audited.
    "URLCANON_AUDIT": 1e-9,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}
BOILERPLATE = " ".join(f"menu{n}" for n in range(200))


class FirstPage(FollowSpider):
    """Follows the links of the home page only, and so never parses a response that is no HTML."""

    def parse(self, response):
        yield {"url": response.url, "text": ""}
        if response.url == f"{SITE}/":
            yield from response.follow_all(css="a")


def product(number, *, seed=0):
    """Return a page whose words are mostly those of all pages; *seed* changes at each visit."""
    return page(
        f"<title>Product {number}</title><nav>{BOILERPLATE}</nav>"
        f"<p>The product number{number} is made of material{number}.</p>"
        f"<input type=hidden name=csrf value={seed:032x}><i>Printed at 12:{seed % 60:02}:00</i>"
    )


def shop(urls, answer):
    """Return a site whose home page links *urls*, each of which gets what *answer* returns."""
    home = links(*urls)
    count = iter(range(1_000_000))
    return lambda request: home if request.target == "/" else answer(request, next(count))


def audits(figures):
    """Return the stats of what audits found, without those of single entries and of costs."""
    found = {k: v for k, v in figures.items() if k.startswith("audit") and "/rule/" not in k}
    found.pop("audit/fetches", None)
    return found
