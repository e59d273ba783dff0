"""Sites that answer everything at one URL are ordered by what requests send there."""

import json
from urllib.parse import parse_qsl

import pytest
from loopback import page
from scrapy import FormRequest
from scrapy.http import JsonRequest
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE, FollowSpider
from trap_sites import words

NOVELTY = {"URLCANON_ORDER": "novelty"}
COUNT = 60


class Sending(FollowSpider):
    """Sends what each page asks to send."""

    def request(self, fields):
        return FormRequest(SITE, formdata=fields)

    def parse(self, response):
        for fields in response.css("p::text").getall():
            yield self.request(dict(parse_qsl(fields)))


class SendingJson(Sending):
    """Sends it as JSON."""

    def request(self, fields):
        return JsonRequest(SITE, data={"query": "find", "variables": fields})


def answer(request):
    """Answer as a site with one essay for each form that says nothing."""
    body = request.body.decode()
    sent = json.loads(body)["variables"] if body[:1] == "{" else dict(parse_qsl(body))
    if "essay" in sent:
        return page(words(f"essay {sent['essay']}", 40))
    if sent:
        return page("nothing")
    return page("".join(f"<p>{kind}={n}</p>" for n in range(COUNT) for kind in ("form", "essay")))


@pytest.mark.parametrize("spider", [Sending, SendingJson])
@deferred_f_from_coro_f
async def test_what_was_sent_for_nothing_new_comes_last(crawl, spider):
    """Requests with fields that brought nothing new come last, though all have one URL."""
    sent = []

    def respond(request):
        sent.append(request.body)
        return answer(request)

    await crawl(respond, {**NOVELTY, **ONE_BY_ONE}, spider=spider)
    assert len(sent) == 2 * COUNT + 1
    assert sum(b"essay" in body for body in sent[: COUNT + 20]) >= 0.9 * COUNT


@deferred_f_from_coro_f
async def test_all_requests_on_their_way_to_one_url_count(crawl):
    """Each of eight requests that are on their way to one URL at once is learned from."""
    result = await crawl(answer, {**NOVELTY, "CONCURRENT_REQUESTS": 8}, spider=Sending)
    assert len(result.hits) == result.figures["novelty/fetched"] == 2 * COUNT + 1
