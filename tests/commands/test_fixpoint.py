"""Learning is a fixpoint: crawling under what was learned teaches the same rules."""

from itertools import count
from random import Random

import pytest
from command_line import urlcanon
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE

from scrapy_urlcanon import Canonicalizer

PAGES = 24
WORDS = ("ba", "ce", "di", "fo", "gu", "ha", "ji", "ko", "lu", "me", "ni", "po")


class MovingSite:
    """Pages that are linked with session ids, where one comes from, and a default page.

    ``view`` selects what is shown. No two links are the same, and where it *moves*, a visit
    counter stands on each page.
    """

    def __init__(self, *, moves):
        self._moves = moves
        self._visits = count(1)

    def respond(self, request):
        path, _, query = request.target.partition("?")
        params = dict(part.partition("=")[::2] for part in query.split("&") if part)
        number = int(path.strip("/") or 0) if path.strip("/").isdigit() or path == "/" else None
        if number is None or number >= PAGES:
            return page("<p>There is no such page.", status=404)
        view = params.get("view", "a")
        own = Random(f"{number} {view}")
        text = " ".join("".join(own.choices(WORDS, k=3)) for _ in range(80))
        visit = next(self._visits)
        footer = f"<p>Visit: {visit}" if self._moves else ""
        links = Random(f"{number} {view} {visit if self._moves else ''}")
        return page(
            f"<title>{text[:20]}</title><p>{text}"
            + "".join(
                self._link((number + step) % PAGES, own.random() < 0.3, links)
                for step in (1, 2, 7, 11)
            )
            + footer
        )

    @staticmethod
    def _link(number, has_view, links):
        params = [f"sid={links.randrange(10**9)}"] if links.random() < 0.7 else []
        params += [f"ref={links.choice(['menu', 'foot', 'box'])}"] if links.random() < 0.5 else []
        params += ["page=1"] if links.random() < 0.5 else []
        params += ["utm_source=mail"] if links.random() < 0.2 else []
        params += ["view=b"] if has_view else []
        host = links.choice([SITE, SITE.replace("://", "://www.")])
        return f'<a href="{host}/{number}{"?" if params else ""}{"&".join(params)}">{number}</a>'


@pytest.mark.parametrize("moves", [False, True], ids=["still", "moving"])
@deferred_f_from_coro_f
async def test_learned_again_the_rules_are_the_same(crawl, tmp_path, moves):
    """Learned three times, under audit: in a file of its own each time, and in one that stays."""
    site, seen, texts = MovingSite(moves=moves), [], []
    for number in range(3):
        settings = {
            "URLCANON_RECORD": f"{number}.sqlite",
            "URLCANON_AUDIT": 0.05,
            "CONCURRENT_REQUESTS": 1,
            # Scrapy 2.15 fetches on while a page waits for its callback. Without that the order
            # in which the pages come is the same each time, and so is what is audited.
            "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,
            "CLOSESPIDER_PAGECOUNT": 480,
        }
        if number:
            settings["URLCANON_RULES_FILES"] = [f"{number - 1}.toml"]
        result = await crawl(site.respond, settings)
        canonical = Canonicalizer({"*": {"drop_params": ["sid", "ref", "page"], "www": "strip"}})
        seen.append({canonical.canonicalize(item["url"]) for item in result.items})
        assert [name for name in result.figures if "suspended" in name] == []
        for name in (f"{number}.toml", "kept.toml"):
            learned = urlcanon("learn", f"{number}.sqlite", "-o", name, cwd=tmp_path)
            assert learned.returncode == 0, learned.stderr
        texts.append([(tmp_path / name).read_text() for name in (f"{number}.toml", "kept.toml")])
    first = Canonicalizer(rules_files=[tmp_path / "0.toml"])
    url = "http://www.site.example/1?sid=1&ref=2&page=1&view=b"
    assert first.canonicalize(url) == "http://site.example/1?view=b"
    assert len({kept for _, kept in texts}) == 1
    # Without rules the crawl has no end, where the links are others on each visit.
    assert seen[0] <= seen[1] == seen[2]
    rules = [[line.partition(" # ")[0] for line in text.splitlines()] for text, _ in texts]
    assert rules[0] == rules[1] == rules[2]
    # Byte for byte, the figures of the audits too, where each crawl sees the same.
    assert moves or texts[1][0] == texts[2][0]
