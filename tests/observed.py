"""Observations of a shop, and the rules that are learned from them."""

from hashlib import sha1

from scrapy_urlcanon.learn import Observation, learn

HOST = "http://shop.example"


def see(url, content, *, host=HOST, **fields):
    """Return an observation of a page; without *content* it has nothing to recognise it by."""
    digest = content and sha1(content.encode()).hexdigest()
    return Observation(url if "://" in url else host + url, main_sha1=digest, **fields)


def pages(path, count=12, **fields):
    """Different pages, each under one URL."""
    return [see(path.format(i), f"page {i}", **fields) for i in range(count)]


def rules(observations, **options):
    return learn(observations, **options).as_rules()
