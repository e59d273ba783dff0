"""A post that a page of its topic shows is not fetched, if that page reached its callback."""

import pytest
from board_site import BOARD, HEAD, START, forum, shown
from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, site


@deferred_f_from_coro_f
async def test_post_on_a_fetched_page_of_its_topic_is_not_fetched(crawl, board):
    """Links to posts are not fetched if the pages of their topics contain the ids of the posts."""
    respond = site(forum("topic.php?p=12", "topic.php?p=13", "topic.php?t=1&p=13"))
    off = await crawl(respond, board | {"URLCANON_PROFILES": False}, start=START)
    on = await crawl(respond, board, start=START)
    assert len(off.hits) == 6
    assert on.hits == [
        "/forum/index.php",
        "/forum/topic.php?t=1",
        "/forum/topic.php?t=1&start=2",
    ]
    assert on.figures["profile/part/shown"] == 3


@deferred_f_from_coro_f
async def test_number_of_a_post_may_stand_in_another_attribute(crawl, tmp_path):
    """A profile may name another attribute than `id` for the numbers of posts."""
    path = tmp_path / "board.toml"
    own = 'id = "p{part}"\nattribute = "data-post"'
    path.write_text(BOARD.replace('id = "p{part}"', own), encoding="utf-8")
    answers = forum("topic.php?p=12", "topic.php?p=13")
    post = '<p data-post="p12">A post</p><p id="p13">'
    answers[f"{SITE}/forum/topic.php?t=1&start=2"] = page(f"<html>{HEAD}<body>{post}</html>")
    result = await crawl(site(answers), {"URLCANON_PROFILES": [str(path)]}, start=START)
    assert "/forum/topic.php?p=12" not in result.hits
    assert "/forum/topic.php?p=13" in result.hits


@deferred_f_from_coro_f
async def test_post_that_no_page_shows_is_fetched(crawl, board):
    """A post that no page of its topic showed is fetched in the end."""
    respond = site(forum("topic.php?p=99", "topic.php?p=12"))
    result = await crawl(respond, board, start=START)
    assert max(result.hits) == "/forum/topic.php?t=1&start=2"
    assert "/forum/topic.php?p=99" in result.hits
    assert "/forum/topic.php?p=12" not in result.hits
    assert result.figures["profile/part/fetched"] == 1


@deferred_f_from_coro_f
async def test_post_that_another_callback_asks_for_is_fetched(crawl, board):
    """A post is fetched for a callback that has not got the page of its topic."""

    class Posts(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": response.text}
            for link in response.css("a"):
                callback = self.post if "p=" in link.attrib["href"] else self.parse
                yield response.follow(link, callback)

        def post(self, response):
            yield {"url": response.url, "text": response.text}

    respond = site(forum("topic.php?p=12"))
    result = await crawl(respond, board, start=START, spider=Posts)
    assert "/forum/topic.php?p=12" in result.hits


@deferred_f_from_coro_f
async def test_each_post_is_fetched_for_a_callback_that_gets_nothing_but_posts(crawl, board):
    """A callback that only gets links to posts may take that post alone: each one is fetched."""

    class Posts(FollowSpider):
        taken = []  # noqa: RUF012

        def parse(self, response):
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link, self.take if "p=" in link else self.parse)

        def take(self, response):
            self.taken.append(response.url.partition("p=")[2])

    respond = site(forum("topic.php?p=12", "topic.php?p=13", "topic.php?t=1&p=13"))
    await crawl(respond, board, start=START, spider=Posts)
    assert {*Posts.taken} == {"12", "13"}


@pytest.mark.parametrize(
    "told",
    [
        lambda number: {"cb_kwargs": {"post": number} if number else {}},
        lambda number: {"meta": {"post": number}},
        lambda number: {"meta": {"item": {"forum": "news", "number": int(number or 0)}}},
    ],
    ids=["arguments", "meta", "item in the meta"],
)
@deferred_f_from_coro_f
async def test_post_that_the_request_names_for_its_callback_is_fetched(crawl, board, told):
    """A post whose callback is told of it, by its request, is fetched: it takes that post alone."""

    class Posts(FollowSpider):
        taken = []  # noqa: RUF012

        def parse(self, response):
            yield from self.take(response)

        def take(self, response, post=""):
            meta = response.meta
            number = post or meta.get("post") or str(meta.get("item", {}).get("number") or "")
            self.taken.append(number)
            for link in response.css("a::attr(href)").getall() if not number else ():
                yield response.follow(link, self.take, **told(link.partition("p=")[2]))

    posts = ("topic.php?p=12", "topic.php?p=13", "topic.php?t=1&p=13")
    await crawl(site(forum(*posts)), board, start=START, spider=Posts)
    assert {"12", "13"} <= {*Posts.taken}


@deferred_f_from_coro_f
async def test_post_of_a_topic_that_fails_is_fetched(crawl, board):
    """A post is fetched if the page of its topic fails."""
    pages = forum("topic.php?p=12")
    pages[f"{SITE}/forum/topic.php?t=1&start=2"] = page("broken", status=500)
    result = await crawl(site(pages), board, start=START)
    assert "/forum/topic.php?p=12" in result.hits


class RefuseTopics:
    """A spider middleware that keeps topics from the spider."""

    def process_spider_input(self, response):
        if "t=1" in response.url:
            raise ValueError("no topic")


class RaiseAtTopics(FollowSpider):
    """Raises at each page of a topic."""

    def parse(self, response):
        if "t=1" in response.url:
            raise ValueError("no topic")
        yield from super().parse(response)


class LookAtTopics(FollowSpider):
    """Downloads the topic within a callback."""

    async def parse(self, response):
        if response.url == START[0]:
            await self.crawler.engine.download_async(Request(f"{SITE}/forum/topic.php?t=1&start=2"))
        for each in super().parse(response):
            if "t=1" not in getattr(each, "url", ""):
                yield each


@pytest.mark.parametrize(
    ("spider", "settings"),
    [
        (RaiseAtTopics, {}),
        (FollowSpider, {"SPIDER_MIDDLEWARES": {RefuseTopics: 10}}),
        (LookAtTopics, {}),
    ],
    ids=["raised", "refused", "looked at"],
)
@deferred_f_from_coro_f
async def test_post_of_a_topic_that_no_callback_got_is_fetched(crawl, board, spider, settings):
    """A post is fetched if no callback got the page of its topic, though it was downloaded."""
    respond = site(forum("topic.php?p=12"))
    result = await crawl(respond, board | settings, start=START, spider=spider)
    assert f"{SITE}/forum/topic.php?p=12" in [item["url"] for item in result.items]


@deferred_f_from_coro_f
async def test_post_is_fetched_for_each_callback_and_in_place_of_what_failed(crawl, board):
    """Held links for one post are fetched for each callback, and after a failure."""
    pages = forum()
    pages[f"{SITE}/forum/topic.php?p=99&sid=1"] = page("broken", status=500)
    pages[f"{SITE}/forum/topic.php?p=99&sid=2"] = pages[f"{SITE}/forum/topic.php?p=99"]
    for sid in (3, 4):
        pages[f"{SITE}/forum/topic.php?p=98&sid={sid}"] = shown(ids=["p98"])

    had = []

    class Posts(FollowSpider):
        def parse(self, response):
            had.append((response.url.rpartition("=")[2], "parse"))
            if response.url == START[0]:
                for post, callback in (
                    ("99&sid=1", self.parse),
                    ("99&sid=2", self.parse),
                    ("98&sid=3", self.parse),
                    ("98&sid=4", self.post),
                ):
                    yield response.follow(f"topic.php?p={post}", callback)

        def post(self, response):
            had.append((response.url.rpartition("=")[2], "post"))

    await crawl(site(pages), board, start=START, spider=Posts)
    assert sorted(had[1:]) == [("2", "parse"), ("3", "parse"), ("4", "post")]


@deferred_f_from_coro_f
async def test_post_that_is_linked_nearer_than_its_topic_is_fetched(crawl, board):
    """A post linked at a lower depth than its topic is fetched, for DEPTH_LIMIT."""
    pages = {
        START[0]: shown("topic.php?p=12", "list.php"),
        f"{SITE}/forum/list.php": shown("topic.php?t=1"),
        f"{SITE}/forum/topic.php?t=1": shown("behind.php", ids=["p12"]),
        f"{SITE}/forum/topic.php?p=12": shown("behind.php", ids=["p12"]),
        f"{SITE}/forum/behind.php": shown(),
    }
    result = await crawl(site(pages), board | {"DEPTH_LIMIT": 2}, start=START)
    assert "/forum/behind.php" in result.hits


@deferred_f_from_coro_f
async def test_unfiltered_request_for_a_post_is_sent(crawl, board):
    """An unfiltered request for a post is not held."""
    start = (*START, Request(f"{SITE}/forum/topic.php?p=12", dont_filter=True))
    result = await crawl(site(forum()), board, start=start)
    assert "/forum/topic.php?p=12" in result.hits
