"""Feed random text to all readers of foreign text, which may raise documented errors only.

Run it as ``python fuzz/fuzz_urls_and_readers.py -max_total_time=600`` (the options are those
of libFuzzer); it needs Atheris.
"""

from __future__ import annotations

import sys
from contextlib import suppress

import atheris

with atheris.instrument_imports(include=["scrapy_urlcanon"]):
    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.exceptions import ReportError
    from scrapy_urlcanon.learn import Observation, learn
    from scrapy_urlcanon.pages.canonical_link import links_of
    from scrapy_urlcanon.pages.signature import unpack
    from scrapy_urlcanon.redaction import redact
    from scrapy_urlcanon.report.json_form import from_json
    from scrapy_urlcanon.rule_files.clean_param import read_clean_param
    from scrapy_urlcanon.rule_files.documents import parse_json, parse_toml
    from scrapy_urlcanon.rule_files.foreign import read_foreign

CANONICALIZERS = [Canonicalizer(preset=preset) for preset in ("scrapy", "safe", "aggressive")]


def fuzz_canonicalize(data: atheris.FuzzedDataProvider) -> None:
    """Any text has a canonical form, whose canonical form is itself; explain() agrees."""
    canonicalizer = CANONICALIZERS[data.ConsumeIntInRange(0, len(CANONICALIZERS) - 1)]
    url = ("http://" if data.ConsumeBool() else "") + data.ConsumeUnicode(200)
    canonical = canonicalizer.canonicalize(url)
    if canonicalizer.canonicalize(canonical) != canonical:
        raise AssertionError(f"not idempotent: {url!r} -> {canonical!r}")
    if canonicalizer.explain(url).canonical != canonical:
        raise AssertionError(f"explain() disagrees: {url!r}")


def fuzz_readers(data: atheris.FuzzedDataProvider) -> None:
    """Read or refuse a foreign rule file, and read a robots.txt, whatever is in it."""
    text = data.ConsumeUnicode(2000)
    with suppress(ValueError):
        read_foreign(text, name="fuzzed")
    read_clean_param(text.encode(errors="replace"))
    links = list(links_of(text))
    if len(links) > text.count("<"):
        raise AssertionError(f"more links than there are targets: {text!r}")


def fuzz_files(data: atheris.FuzzedDataProvider) -> None:
    """Read or refuse rules, reports and the lines of a store, whatever is in them."""
    text = data.ConsumeUnicode(2000)
    for parse in (parse_json, parse_toml):
        with suppress(ValueError):
            Canonicalizer(parse(text))
    with suppress(ReportError):
        from_json(text)
    with suppress(ValueError):
        unpack(text.encode(errors="replace"))


def fuzz_redact(data: atheris.FuzzedDataProvider) -> None:
    """Redact secrets, and stay redacted on a second pass."""
    shown = redact(data.ConsumeUnicode(200))
    if redact(shown) != shown:
        raise AssertionError(f"not idempotent: {shown!r}")


def fuzz_learn(data: atheris.FuzzedDataProvider) -> None:
    """Learn from any URLs; the configuration accepts what is learned."""
    shapes = [data.ConsumeUnicode(20) for _ in range(4)]
    observations = [
        Observation(f"http://a.example/{shape}{i}/{shapes[i % 4]}", main_sha1=f"{i:040x}")
        for shape in shapes
        for i in range(12)
    ]
    observations += [Observation(data.ConsumeUnicode(40), main_sha1=f"{i:040x}") for i in range(4)]
    Canonicalizer(learn(observations).as_rules())


TARGETS = (fuzz_canonicalize, fuzz_readers, fuzz_redact, fuzz_learn, fuzz_files)


def fuzz_one(data: bytes) -> None:
    """Run the target that the first byte names."""
    if data:
        TARGETS[data[0] % len(TARGETS)](atheris.FuzzedDataProvider(data[1:]))


if __name__ == "__main__":
    atheris.Setup(sys.argv, fuzz_one)
    atheris.Fuzz()
