"""Inputs of ``learn`` that break off or are damaged."""

import gzip

from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.pages.page import Page


def broken_gzip(path):
    data = bytearray(gzip.compress(b"url\n" * 500))
    data[10:30] = b"\xff" * 20
    path.write_bytes(data)


def broken_store(path):
    with ObservationStore(path) as store:
        for number in range(300):
            store.add(Page(f"http://a.example/{number}", b"x", f"<p>{number} x"), status=200)
    data = bytearray(path.read_bytes())
    start = 4 * int.from_bytes(data[16:18], "big")  # the size of a page, in SQLite's header
    data[start:] = b"\xff" * (len(data) - start)
    path.write_bytes(data)
