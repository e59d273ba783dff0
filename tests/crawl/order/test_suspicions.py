"""URLs that rules of recognised software would merge are not dropped unproved, but come late."""

from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from trap_sites import words

BOARD = """
name = "Board"
kind = "forum"
scripts = ["list.php"]

[[signs]]
generator = "Board"
certain = true

[[rules]]
merges = "sorted lists"
because = "they have the same lines"
options = { drop_params = ["order"] }
source = "its manual"
proved_by = "documentation"
"""
FORUMS, OPENING = 20, 20


def respond(request):
    """Answer as a board whose lists are linked sorted by title first, and then plainly."""
    links = ""
    if request.target == "/":
        links = "".join(f"<a href=/opening/{n}></a>" for n in range(OPENING))
    elif request.target == f"/opening/{OPENING - 1}":
        links = "".join(
            f"<p><a href='/list.php?f={n}{order}'></a>"
            for n in range(FORUMS)
            for order in ("&order=title", "")
        )
    text = words(request.target.partition("&order")[0], 40)
    return page(f"<html><head><meta name=generator content='Board 2'></head>{text}{links}")


@deferred_f_from_coro_f
async def test_what_usual_rules_would_merge_comes_last(crawl, tmp_path):
    """With the profile of the software sorted lists come last, and all are fetched."""
    path = tmp_path / "board.toml"
    path.write_text(BOARD, encoding="utf-8")
    settings = {"URLCANON_ORDER": "novelty", "CONCURRENT_REQUESTS": 1}
    ordered = {}
    for profiles in ([str(path)], False):
        result = await crawl(respond, {**settings, "URLCANON_PROFILES": profiles})
        lists = [hit for hit in result.hits if "list.php" in hit]
        assert len(set(lists)) == 2 * FORUMS
        ordered[bool(profiles)] = sum("order" in hit for hit in lists[:8])
    assert ordered[True] <= 2 < ordered[False]
