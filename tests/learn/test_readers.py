import gzip
import io
import json
import sys
import zlib
from collections import Counter
from pathlib import Path

import pytest
from broken_inputs import broken_gzip, broken_store

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn import Observation
from scrapy_urlcanon.learn.readers import format_of, read

DIGEST = "d7a8fbb307d7809469ca9abcb0082e4f8d5651e4"


def write(path, text, *, packed=False):
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


def read_all(path):
    skipped = Counter()
    return list(read(path, skipped)), dict(skipped)


@pytest.mark.parametrize("packed", [False, True])
def test_tsv_is_read(tmp_path, packed):
    """A TSV file is read by the names in its first line, packed or not."""
    text = f"site\turl\tmain_sha1\tsimhash64\nx\thttp://a.example/\t{DIGEST}\tff\n"
    path = write(tmp_path / "o", text, packed=packed)
    expected = Observation("http://a.example/", main_sha1=DIGEST, simhash64=255)
    assert read_all(path) == ([expected], {})


@pytest.mark.parametrize("text", ["url\nhttp://a.example/\n", '{"url": "http://a.example/"}\n'])
def test_byte_order_mark_is_no_text(tmp_path, text):
    """A byte order mark, which editors of Windows write, is ignored."""
    path = write(tmp_path / "o", f"\ufeff{text}")
    assert read_all(path) == ([Observation("http://a.example/")], {})


def test_json_lines_are_read(tmp_path):
    """JSON Lines are read with the same keys; bad lines are counted."""
    line = json.dumps({"url": "http://a.example/", "status": 301, "redirect": "http://a.example/b"})
    [observation], skipped = read_all(write(tmp_path / "o", line + "\n[]\n{\n"))
    assert (observation.status, observation.redirect) == (301, "http://a.example/b")
    assert skipped == {"not JSON": 1, "not a JSON object": 1}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("http://a.example/", "row cut short"),
        ("http://a.example/\t200\t\t\tx", "too many columns"),
        ("ftp://a.example/\t200\t\t", "not an http(s) URL"),
        ("\t200\t\t", "no URL"),
        ("http://a.example/" + "x" * 9000 + "\t200\t\t", "URL too long"),
        ("http://a.example/\t2000\t\t", "bad status"),
        ("http://a.example/\t2_0\t\t", "bad status"),
        ("http://a.example/\t200\t-5\t", "bad bytes"),
        ("http://a.example/\t200\t9999999999999999\t", "bad bytes"),
        ("http://a.example/\t200\t\tnot a digest", "bad digest"),
        ("x" * 70000, "line too long"),
    ],
)
def test_bad_rows_are_counted(tmp_path, row, reason):
    """A bad row is skipped, and counted by its reason."""
    text = f"url\tstatus\tbytes\tmain_sha1\n{row}\nhttp://a.example/good\t\t\t\n"
    observations, skipped = read_all(write(tmp_path / "o", text))
    assert [o.url for o in observations] == ["http://a.example/good"]
    assert skipped == {reason: 1}


def test_file_cut_short_gives_what_is_whole(tmp_path):
    """A truncated gzip file is read up to where it ends."""
    rows = "".join(f"http://a.example/{i}\t{i:040x}\n" for i in range(5000))
    path = write(tmp_path / "o", "url\tmain_sha1\n" + rows, packed=True)
    path.write_bytes(path.read_bytes()[:-2000])
    observations, skipped = read_all(path)
    assert 0 < len(observations) < 5000
    assert skipped["file cut short"] == 1


def test_cdx_is_read(tmp_path):
    """A CDX index gives URL, status, digest and size."""
    text = (
        " CDX N b a m s k r M S V g\n"
        "com,example)/ 2020 http://a.example/ text/html 200 ABCDEFGH2345 - - 321 0 x.warc\n"
        "com,example)/ 2020 http://a.example/\n"
    )
    [observation], skipped = read_all(write(tmp_path / "o.cdx", text))
    assert (observation.url, observation.status, observation.bytes) == (
        "http://a.example/",
        200,
        321,
    )
    assert observation.main_sha1 == "raw:ABCDEFGH2345"
    assert skipped == {"row cut short": 1}


def test_answer_of_a_cdx_server_is_read(tmp_path):
    """It has seven columns and no header."""
    line = "com,example)/ 20260101000000 http://a.example/ text/html 200 ABCDEFGH2345 321\n"
    path = write(tmp_path / "o.cdx", line)
    assert format_of(path) == "cdx"
    [observation], skipped = read_all(path)
    assert (observation.url, observation.status, observation.bytes) == (
        "http://a.example/",
        200,
        321,
    )
    assert observation.main_sha1 == "raw:ABCDEFGH2345"
    assert skipped == {}


def test_cdxj_is_read(tmp_path):
    """A CDXJ index gives the same; rows without a status are counted."""
    entry = {"url": "http://a.example/", "status": "200", "digest": "sha1:ABCDEFGH", "length": "9"}
    revisit = {"url": "http://a.example/", "status": "-", "digest": "sha1:ABCDEFGH"}
    text = f"com,example)/ 2020 {json.dumps(entry)}\ncom,example)/ 2021 {json.dumps(revisit)}\n"
    [observation], skipped = read_all(write(tmp_path / "o.cdxj", text))
    assert observation.main_sha1 == "raw:sha1:ABCDEFGH"
    assert skipped == {"no status": 1}


def test_brace_in_a_url_does_not_make_an_index_another_one(tmp_path):
    """A brace in a URL does not make a CDX index look like CDXJ."""
    url = "http://a.example/{id}"
    line = f"com,example)/{{id}} 2020 {url} text/html 200 ABCDEFGH2345 - - 321 0 x.warc\n"
    cdxj = f"com,example)/{{id}} 2020 {json.dumps({'url': url})}\n"
    for name, text in (("o.cdx", line), ("o.cdxj", cdxj)):
        observations, skipped = read_all(write(tmp_path / name, text))
        assert ([observation.url for observation in observations], skipped) == ([url], {})


def test_warc_is_read(tmp_path):
    """A WARC file gives digests of the text, and declared canonicals."""
    warcwriter = pytest.importorskip("warcio.warcwriter")
    statusandheaders = pytest.importorskip("warcio.statusandheaders")
    path = tmp_path / "o.warc.gz"
    with path.open("wb") as file:
        writer = warcwriter.WARCWriter(file, gzip=True)
        for i in range(3):
            headers = statusandheaders.StatusAndHeaders(
                "200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1"
            )
            body = f'<link rel="canonical" href="/c{i}"><p>text {i}'.encode()
            record = writer.create_warc_record(
                f"http://a.example/{i}",
                "response",
                payload=io.BytesIO(body),
                length=len(body),
                http_headers=headers,
            )
            writer.write_record(record)
    observations, _ = read_all(path)
    assert [o.canonical for o in observations] == [f"http://a.example/c{i}" for i in range(3)]
    assert len({o.main_sha1 for o in observations}) == 3


def warc_record(
    page,
    body=b"<p>hello",
    *,
    status="200",
    kind="text/html",
    headers="",
    target="WARC-Target-URI: ",
):
    """Return a WARC record of a response."""
    answer = f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\n{headers}\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\n{target}http://a.example/{page}\r\n"
        f"Content-Type: application/http\r\nContent-Length: {len(answer)}\r\n\r\n"
    )
    return head.encode() + answer + b"\r\n\r\n"


def test_page_that_breaks_off_with_its_file_is_none(tmp_path):
    """A part of a page is not what the page shows, and the file says nothing of its other half."""
    pytest.importorskip("warcio")
    path = tmp_path / "o.warc.gz"
    whole, part = (gzip.compress(warc_record(page, b"<p>hello" * 99)) for page in ("a", "b"))
    path.write_bytes(whole + part[:-40])
    observations, skipped = read_all(path)
    assert [one.url for one in observations] == ["http://a.example/a"]
    assert skipped == {"record cut short": 1}


@pytest.mark.parametrize("status", ["\u00b2", "9" * 30, "9" * 5000, "-5", "OK"])
def test_warc_with_a_status_that_is_none_is_read_to_its_end(tmp_path, status):
    """A nonsense status in one record is counted, and the other records are read."""
    pytest.importorskip("warcio")
    path = tmp_path / "o.warc"
    path.write_bytes(warc_record("bad", status=status) + warc_record("good"))
    observations, skipped = read_all(path)
    assert [one.url for one in observations] == ["http://a.example/good"]
    assert skipped == {"bad status": 1}


@pytest.mark.parametrize("is_chunked", [False, True])
def test_warc_is_read_whatever_the_content_coding(tmp_path, is_chunked):
    """One page in any content coding, chunked or not, has one digest."""
    pytest.importorskip("warcio")
    html = b"<title>Hello</title><p>hello world"
    bodies = {
        "identity": html,
        "gzip": gzip.compress(html),
        "deflate": zlib.compress(html),
        "br": pytest.importorskip("brotli").compress(html),
        "zstd": pytest.importorskip("backports.zstd").compress(html),
    }
    path = tmp_path / "o.warc"
    with path.open("wb") as file:
        for coding, sent in bodies.items():
            headers, body = f"Content-Encoding: {coding}\r\n", sent
            if is_chunked:
                headers += "Transfer-Encoding: Chunked\r\n"
                body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(sent), sent)
            file.write(warc_record(coding, body, headers=headers))
    observations, skipped = read_all(path)
    assert (len(observations), skipped) == (len(bodies), {})
    assert len({(one.title, one.main_sha1) for one in observations}) == 1
    assert observations[0].title


@pytest.mark.parametrize("charset", ["undefined", "hex", "idna"])
def test_warc_is_read_whatever_charset_a_page_names(tmp_path, charset):
    """A charset that is a Python codec without text does not stop the reader."""
    pytest.importorskip("warcio")
    path = tmp_path / "o.warc"
    path.write_bytes(warc_record("a", kind=f"text/html; charset={charset}") + warc_record("b"))
    observations, skipped = read_all(path)
    assert (len(observations), skipped) == (2, {})


def test_warc_without_a_url_is_one_error(tmp_path):
    """A record without a URL is one error that names the file."""
    pytest.importorskip("warcio")
    path = tmp_path / "o.warc"
    path.write_bytes(warc_record("a") + warc_record("b", target="X-Was: "))
    with pytest.raises(InputError, match=r"o\.warc: cannot be read to its end"):
        read_all(path)


def test_http_cache_with_a_status_that_is_none_is_read_to_its_end(tmp_path):
    """A nonsense status in the HTTP cache is counted, and other entries are read."""
    for page, status in (("bad", 10**30), ("good", 200)):
        entry = tmp_path / "httpcache" / "spider" / page
        entry.mkdir(parents=True)
        (entry / "meta").write_text(repr({"url": f"http://a.example/{page}", "status": status}))
        (entry / "response_headers").write_bytes(b"Content-Type: text/html\r\n")
        (entry / "response_body").write_bytes(b"<p>hello")
    observations, skipped = read_all(tmp_path / "httpcache")
    assert [one.url for one in observations] == ["http://a.example/good"]
    assert skipped == {"bad status": 1}


def test_parquet_is_read(tmp_path):
    """Parquet columns are read by name; null is unknown, and bad rows are counted."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {
        "url": ["http://a.example/", "http://a.example/b", "mailto:x", None],
        "status": [None, 301, 200, 200],
        # As pandas has numbers of which some are missing.
        "bytes": [None, 321.0, None, None],
        "site": ["x"] * 4,
        "main_sha1": [DIGEST, None, None, None],
        "simhash64": ["ff", None, None, None],
        "redirect": [None, "http://a.example/", None, None],
    }
    parquet.write_table(pyarrow.table(table), tmp_path / "o")
    assert read_all(tmp_path / "o") == (
        [
            Observation("http://a.example/", main_sha1=DIGEST, simhash64=255),
            Observation("http://a.example/b", 301, bytes=321, redirect="http://a.example/"),
        ],
        {"not an http(s) URL": 1, "no URL": 1},
    )


def test_parquet_that_is_none_is_an_error(tmp_path):
    """A truncated Parquet file, or one without URLs, is an error that says so."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "o"
    parquet.write_table(pyarrow.table({"address": ["http://a.example/"]}), path)
    with pytest.raises(InputError, match=r"column 'url'.*'address'"):
        read_all(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="expected a Parquet file"):
        read_all(path)


def test_parquet_needs_pyarrow(tmp_path, monkeypatch):
    """Without pyarrow the error says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match="pip install pyarrow"):
        read_all(write(tmp_path / "o", "PAR1"))


def test_http_cache_is_read(tmp_path):
    """Scrapy's HTTP cache is read, and a broken entry counted."""
    entry = tmp_path / "httpcache" / "spider" / "ab" / "abcd"
    entry.mkdir(parents=True)
    (entry / "meta").write_text(repr({"url": "http://a.example/", "status": 200}))
    (entry / "response_headers").write_bytes(
        b"Content-Type: text/html\r\nContent-Encoding: gzip\r\n"
    )
    (entry / "response_body").write_bytes(gzip.compress(b"<p>hello world"))
    broken = entry.parent / "ffff"
    broken.mkdir()
    (broken / "meta").write_text("{")
    [observation], skipped = read_all(tmp_path / "httpcache")
    assert observation.url == "http://a.example/"
    assert observation.main_sha1
    assert skipped == {"bad cache entry": 1}


@pytest.mark.parametrize(
    ("content_type", "is_text"),
    [
        ("text/plain", True),
        ("application/json; charset=utf-8", True),
        ("text/javascript", True),
        ("", False),
        ("image/png", False),
    ],
)
def test_http_cache_is_read_by_what_its_responses_are(tmp_path, content_type, is_text):
    """Blanks do not change the digest of text, and do change that of other content."""
    for number, body in enumerate((b'["hello", "world"]', b'["hello",\n "world"]')):
        entry = tmp_path / "httpcache" / "spider" / str(number)
        entry.mkdir(parents=True)
        (entry / "meta").write_text(repr({"url": f"http://a.example/{number}", "status": 200}))
        (entry / "response_headers").write_bytes(f"Content-Type: {content_type}\r\n".encode())
        (entry / "response_body").write_bytes(body)
    observations, _ = read_all(tmp_path / "httpcache")
    assert (len({one.main_sha1 for one in observations}) == 1) is is_text


@pytest.mark.parametrize("url", [b"http://a.example/", "ftp://a.example/", None])
def test_http_cache_of_other_schemes_is_counted(tmp_path, url):
    """Cache entries without an http(s) URL are counted."""
    entry = tmp_path / "httpcache" / "spider" / "ab"
    entry.mkdir(parents=True)
    (entry / "meta").write_text(repr({"url": url, "status": 200}))
    (entry / "response_headers").write_bytes(b"")
    (entry / "response_body").write_bytes(b"")
    observations, skipped = read_all(tmp_path / "httpcache")
    assert (observations, skipped) == ([], {"not an http(s) response": 1})


@pytest.mark.parametrize("is_packed", [False, True], ids=["", "HTTPCACHE_GZIP"])
def test_http_cache_is_read_whatever_the_content_coding(tmp_path, is_packed):
    """One page in any content coding has one digest, with HTTPCACHE_GZIP too."""
    html = b"<title>Hello</title><p>hello world"
    bodies = {
        "identity": html,
        "gzip": gzip.compress(html),
        "deflate": zlib.compress(html),
        "identity, Deflate": zlib.compress(html)[2:-4],
        "br": pytest.importorskip("brotli").compress(html),
        "zstd": pytest.importorskip("backports.zstd").compress(html),
        "deflate, br": pytest.importorskip("brotli").compress(zlib.compress(html)),
        "br, identity": html,
    }
    for number, (coding, body) in enumerate(bodies.items()):
        entry = tmp_path / "httpcache" / "spider" / coding
        entry.mkdir(parents=True)
        meta = repr({"url": f"http://a.example/?{number}", "status": 200}).encode()
        headers = f"Content-Type: text/html\r\nContent-Encoding: {coding}\r\n".encode()
        files = {"meta": meta, "response_headers": headers, "response_body": body}
        for name, data in files.items():
            (entry / name).write_bytes(gzip.compress(data) if is_packed else data)
    observations, skipped = read_all(tmp_path / "httpcache")
    assert (len(observations), skipped) == (len(bodies), {})
    assert len({(one.title, one.main_sha1) for one in observations}) == 1
    assert observations[0].title


def test_http_cache_in_a_coding_that_cannot_be_read(tmp_path, monkeypatch):
    """A response in a coding without its package is counted, with the name of the package."""
    entry = tmp_path / "httpcache" / "spider" / "ab"
    entry.mkdir(parents=True)
    (entry / "meta").write_text(repr({"url": "http://a.example/", "status": 200}))
    (entry / "response_headers").write_bytes(b"Content-Encoding: br\r\n")
    (entry / "response_body").write_bytes(b"...")
    for name in ("brotli", "brotlicffi"):
        monkeypatch.setitem(sys.modules, name, None)
    observations, skipped = read_all(tmp_path / "httpcache")
    assert observations == []
    assert skipped == {"compressed, without the package brotli to read it": 1}


def test_http_cache_knows_when_its_pages_were_made(tmp_path):
    """Pages that differ in the time of their Date header alone have one digest."""
    for clock in ("05:41", "07:12"):
        entry = tmp_path / "httpcache" / "spider" / clock
        entry.mkdir(parents=True)
        meta = {"url": f"http://a.example/?at={clock}", "status": 200}
        (entry / "meta").write_text(repr(meta))
        (entry / "response_headers").write_bytes(
            f"Content-Type: text/html\r\nDate: Sun, 22 Nov 2026 {clock}:08 GMT\r\n".encode()
        )
        (entry / "response_body").write_bytes(f"<p>hello world, at {clock}".encode())
    observations, _ = read_all(tmp_path / "httpcache")
    assert len(observations) == 2
    assert len({observation.main_sha1 for observation in observations}) == 1


def test_document_of_json_is_not_json_lines(tmp_path):
    """A JSON document over several lines is refused, not read as 58 bad rows."""
    path = write(tmp_path / "report.json", json.dumps({"format": "a report"}, indent=1))
    with pytest.raises(InputError, match=r"expected an observation store.* it begins with '{"):
        read_all(path)


@pytest.mark.parametrize("text", ["", "nonsense\n", "a\tb\n"])
def test_unknown_input_is_an_error(tmp_path, text):
    """An unknown format is an error."""
    path = write(tmp_path / "o", text)
    with pytest.raises(InputError, match="expected an observation store"):
        format_of(path)


def test_missing_input_is_an_error():
    """A missing file is an error that names it."""
    with pytest.raises(InputError, match="nowhere"):
        format_of(Path("nowhere"))


def test_broken_gzip_is_an_error(tmp_path):
    """A broken gzip file is an error that names it."""
    path = tmp_path / "o"
    broken_gzip(path)
    with pytest.raises(InputError, match="o: cannot be read"):
        format_of(path)


def test_broken_store_is_an_error(tmp_path):
    """A damaged store is the same error as that of any other input."""
    path = tmp_path / "o.sqlite"
    broken_store(path)
    with pytest.raises(InputError, match="cannot be read to its end"):
        read_all(path)


@pytest.mark.parametrize("packed", [False, True])
def test_line_that_is_too_long_is_counted_once(tmp_path, packed):
    """A line that is too long is counted once, and what follows is read."""
    text = "url\nhttp://a.example/1\n" + "x" * (3 << 16) + "\nhttp://a.example/2\n"
    path = write(tmp_path / "o", text, packed=packed)
    observations, skipped = read_all(path)
    assert [observation.url for observation in observations] == [
        "http://a.example/1",
        "http://a.example/2",
    ]
    assert skipped == {"line too long": 1}


def test_file_cut_short_within_a_line_that_is_too_long(tmp_path):
    """A file cut short within such a line is counted as cut short too."""
    noise = "".join(f"{number:x}" for number in range(200_000))
    data = gzip.compress(f"url\nhttp://a.example/1\n{noise}\n".encode())
    path = tmp_path / "o"
    path.write_bytes(data[: len(data) // 2])
    observations, skipped = read_all(path)
    assert [observation.url for observation in observations] == ["http://a.example/1"]
    assert skipped == {"line too long": 1, "file cut short": 1}


def test_cache_entry_with_broken_gzip_is_counted(tmp_path):
    """A cache entry with broken gzip is counted, and others are read."""
    meta = {"response_url": "http://a.example/1", "status": 200}
    for name, headers in (
        ("one", b"Content-Type: text/html"),
        ("two", b"\x1f\x8b\x08\0" + b"?" * 20),
    ):
        entry = tmp_path / name
        entry.mkdir()
        (entry / "meta").write_text(repr(meta))
        (entry / "response_headers").write_bytes(headers)
        (entry / "response_body").write_bytes(b"<p>Hello")
    observations, skipped = read_all(tmp_path)
    assert len(observations) == 1
    assert skipped == {"bad cache entry": 1}
