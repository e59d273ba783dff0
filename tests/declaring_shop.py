"""A shop whose pages declare canonical URLs, for crawls with URLCANON_DECLARED_CANONICAL."""

from loopback import page
from sites import links

ORDERED = {
    "CONCURRENT_REQUESTS": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    # The default one takes turns between hosts.
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
}
ON = {"URLCANON_DECLARED_CANONICAL": True, **ORDERED}
# So small a share that none but the first three are audited.
AUDITED = {**ON, "URLCANON_AUDIT": 1e-9}
PROOF = 5
"""How many pages have to be right until their way of declaring is believed."""
BOILERPLATE = " ".join(f"menu{n}" for n in range(200))


def article(subject, canonical=None, *, urls=()):
    """Return the page about *subject*, which declares *canonical* and links *urls*."""
    return page(
        f'<head><link rel="canonical" href="{canonical}">' * bool(canonical)
        + f"<title>About {subject}</title></head><body><nav>{BOILERPLATE}</nav>"
        + f"<p>All there is to say about{subject} and {subject}s alike.</p>"
        + "".join(f'<a href="{url}">link</a>' for url in urls)
    )


def respond_with(answer, *levels):
    """Return a site whose home page leads to *levels* of URLs; *answer* answers everything else.

    Each level is linked by a page that is the last link of the level before.
    """
    hubs = {"/": links(*levels[0], "/hub/1")}
    hubs |= {f"/hub/{n}": links(*level, f"/hub/{n + 1}") for n, level in enumerate(levels[1:], 1)}
    hubs[f"/hub/{len(levels)}"] = page("the end")
    return lambda request: hubs.get(request.target) or answer(request)


def articles(result):
    """Return the pages that the spider got, as the subjects of their titles, each once."""
    texts = (item["text"] for item in result.items)
    return {text.partition("<title>About ")[2].partition("</title>")[0] for text in texts} - {""}


def shop(request):
    """Answer as a shop in which each URL of an item declares the right canonical URL."""
    return article(request.path[1:], request.path)


BOTH = [f"/item{n}{query}" for n in range(PROOF) for query in ("?sid=1", "")]
VARIANTS = [f"/item{n}?sid=1" for n in range(10, 30)]
CANONICALS = [f"/item{n}" for n in range(10, 30)]
SUBJECTS = {f"item{n}" for n in (*range(PROOF), *range(10, 30))}


def declared(figures):
    """Return the figures of declared canonicals, without their prefix."""
    prefix = "declared_canonical/"
    return {k.removeprefix(prefix): v for k, v in figures.items() if k.startswith(prefix)}


def assert_sums_agree(result):
    """Assert that all stats of drops add up to the same number."""
    figures, stats = result.figures, result.stats
    assert figures["dropped"] == stats.get("dupefilter/filtered", 0)
    assert figures["dropped/exact"] + figures["dropped/variant"] == figures["dropped"]
    of_domains = [v for k, v in figures.items() if k.startswith("dropped/domain/")]
    assert sum(of_domains) == figures["dropped"]


def liar_from(number):
    """Return a shop whose items below *number* declare right URLs, and the others wrong ones."""

    def answer(request):
        is_lie = int(request.path[5:]) >= number and request.query
        subject = f"{request.path[1:]}{'other' * bool(is_lie)}"
        return article(subject, request.path)

    return answer
