"""What is remembered of each page takes little memory, and comes back as it was."""

import gc
import resource
import tempfile
import tracemalloc
from contextlib import contextmanager
from random import Random

from scrapy import Request
from scrapy.http import HtmlResponse

from scrapy_urlcanon.crawl.checks.kept_contents import AT_HAND, KeptContents, _Half
from scrapy_urlcanon.crawl.declared.link_labels import LinkLabels
from scrapy_urlcanon.pages.common_contents import CommonContents
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.pages.same_page import SAMPLED_LINES, SKETCH_SIZE, PageDigest

PAGES = 5_000


def content_of(number):
    """Return the content of a long page."""
    choose = Random(number)
    return PageDigest(
        choose.randbytes(20),
        choose.getrandbits(64),
        choose.randbytes(4 * SKETCH_SIZE),
        None,
        choose.randbytes(8 * SAMPLED_LINES),
        choose.getrandbits(64),
    )


@contextmanager
def bytes_a_page(most):
    """Assert that what is done for a number of pages keeps at most so many bytes for each."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        yield
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (after - before) / PAGES <= most


def test_what_was_set_comes_back():
    """Text, bytes that are none, and a page without any: each as it was, from the file too."""
    contents = KeptContents(1_000)
    shown = [
        content_of(1),
        PageDigest.of_bytes(b"PNG"),
        PageDigest(b"", simhash=1 << 63),
        Page("http://a.example/", b"", "<title>A</title><p>One page").digest,
    ]
    for number, content in enumerate(shown):
        contents[b"%d" % number] = content
    for _ in range(2):
        assert [contents.get(b"%d" % number) for number in range(len(shown))] == shown
        for number in range(AT_HAND):
            contents[b"other %d" % number] = PageDigest.of_bytes(b"")


def test_what_the_spider_has_next_is_not_read_from_the_file(monkeypatch):
    """Of each page is asked what it showed once its callback has it, and seldom later."""
    contents = KeptContents(1_000)
    for number in range(AT_HAND):
        contents[b"%d" % number] = content_of(number)
    monkeypatch.setattr(_Half, "get", lambda *_: None)
    found = [contents.get(b"%d" % number) for number in range(AT_HAND // 2, AT_HAND)]
    assert found == [content_of(number) for number in range(AT_HAND // 2, AT_HAND)]
    contents.pop(b"%d" % (AT_HAND - 1))
    assert contents.get(b"%d" % (AT_HAND - 1)) is None


def test_the_last_content_of_a_page_counts():
    """A page that is fetched again shows what it shows now, and is forgotten whole."""
    contents = KeptContents(4)
    for number in range(3):
        contents[b"page"] = content_of(number)
    assert contents.get(b"page") == content_of(2)
    assert contents.pop(b"page") == content_of(2)
    assert contents.get(b"page") is None
    assert contents.pop(b"page") is None


def test_the_last_half_is_remembered():
    """Whatever came before, and whether it was of one page or of many."""
    contents = KeptContents(10)
    for number in range(100):
        contents[b"%d" % number] = content_of(number)
        contents[b"again"] = content_of(number)
        assert contents.get(b"%d" % max(0, number - 1)) == content_of(max(0, number - 1))
    assert contents.get(b"90") is None


def test_in_memory_a_page_takes_a_hundred_bytes():
    """What it showed stands in the file; beside it the fingerprint is that of Scrapy's set."""
    pages = [b"%020d" % number for number in range(PAGES)]
    contents = KeptContents(2 * PAGES)
    with bytes_a_page(100):
        for number, page in enumerate(pages):
            contents[page] = content_of(number)


def test_a_content_of_one_page_takes_little_memory():
    """That none other has it is nearly always all that is to be known of it."""
    digests = [PageDigest(b"%020d" % number) for number in range(PAGES)]
    common = CommonContents(2 * PAGES)
    with bytes_a_page(100):
        for number, content in enumerate(digests):
            common.add(content, f"http://a.example/{number}")


def test_what_a_page_is_called_takes_little_memory():
    """Each page that is linked has a label, and most have one."""
    labels = LinkLabels(2 * PAGES)
    pages = [b"%020d" % number for number in range(PAGES)]
    requests = [Request(f"http://a.example/{number}") for number in range(PAGES)]
    with bytes_a_page(220):
        for page, request in zip(pages, requests, strict=True):
            body = f"<a href={request.url}>page {request.url[-5:]}</a>".encode()
            response = HtmlResponse("http://a.example/", body=body, encoding="utf-8")
            labels.note(request, page, response)


def test_a_full_disk_is_logged_once(caplog):
    """What cannot be kept is forgotten, what was kept stays, and the crawl goes on."""
    contents = KeptContents(100)
    contents[b"before"] = content_of(1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The second one fits in part.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500, hard))
    try:
        contents[b"cut off"] = content_of(2)
        contents[b"before"] = content_of(3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    contents[b"after"] = content_of(4)
    assert contents.get(b"cut off") is None
    # It shows something else by now.
    assert contents.get(b"before") is None
    assert contents.get(b"after") == content_of(4)
    (record,) = caplog.records
    assert "cannot be kept in a temporary file" in record.getMessage()


def test_without_a_folder_for_temporary_files_it_is_kept_in_memory(monkeypatch):
    """A container may have none that can be written to."""
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    contents = KeptContents(4)
    for number in range(5):
        contents[b"%d" % number] = content_of(number)
    assert contents.get(b"4") == content_of(4)
    assert contents.get(b"0") is None


def test_nothing_is_left_in_the_folder(monkeypatch, tmp_path):
    """Nobody finds the file there, and it ends with what it is for."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    contents = KeptContents(4)
    contents[b"page"] = content_of(1)
    file = contents._young._file
    assert not any(tmp_path.iterdir())
    del contents
    assert file.closed
