"""A program of our own that runs forums: its profile, and a site that it shows."""

from loopback import page
from sites import SITE

BOARD = """
name = "Board"
kind = "forum"
scripts = ["topic.php", "index.php"]

[[signs]]
generator = "Board"
certain = true
[[signs]]
asset = "skin/*.css"

[[rules]]
merges = "URLs with and without the id of the session"
because = "it selects nothing"
options = { drop_params = ["sid"] }
source = "its own pages"
certain = true
proved_by = "benchmark"

[[rules]]
merges = "sorted lists"
because = "they have the same lines"
options = { drop_params = ["order"] }
source = "its manual"
proved_by = "documentation"

[[parts]]
merges = "a post and the page of its topic"
because = "the program shows that page"
links = ["topic.php?p={part:digits}", "topic.php?t={t:digits}&p={part:digits}"]
pages = [
    "topic.php?t={t:digits}",
    "topic.php?t={t:digits}&start={n:digits}",
    "topic.php?p={p:digits}",
]
id = "p{part}"
source = "its own pages"
certain = true
proved_by = "benchmark"
"""


HEAD = '<meta name="generator" content="Board 2.1"><link rel="stylesheet" href="/forum/skin/a.css">'


def shown(*urls, ids=()):
    """Return a page of the program that links *urls* and has elements with *ids*."""
    body = "".join(f'<a href="{url}">link</a>' for url in urls)
    body += "".join(f'<div id="{one}">post {one}</div>' for one in ids)
    return page(f"<html><head>{HEAD}</head><body>{body}</body></html>")


def forum(*urls):
    """Return the pages of a forum whose index links *urls* too."""
    return {
        f"{SITE}/forum/index.php": shown("topic.php?t=1", *urls),
        f"{SITE}/forum/topic.php?t=1": shown("topic.php?t=1&start=2", "topic.php?p=12"),
        f"{SITE}/forum/topic.php?t=1&start=2": shown(ids=["p12", "p13"]),
        f"{SITE}/forum/topic.php?p=12": shown(ids=["p12", "p13"]),
        f"{SITE}/forum/topic.php?p=13": shown(ids=["p12", "p13"]),
        f"{SITE}/forum/topic.php?t=1&p=13": shown(ids=["p12", "p13"]),
        f"{SITE}/forum/topic.php?p=99": shown(ids=["p99"]),
    }


def listing(path, links):
    """Return what a server shows of the folder at *path*."""
    head = f"<head><title>Index of {path}</title></head>"
    return page(f"<html>{head}<body>{links}</body></html>")


START = (f"{SITE}/forum/index.php",)
