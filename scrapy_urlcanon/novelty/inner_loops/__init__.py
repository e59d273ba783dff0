"""What is asked of each URL, feature of a request and line of a page: compiled, or in Python."""

try:
    from scrapy_urlcanon.novelty.inner_loops.compiled import (
        count_on,
        doubt,
        expect,
        hash_texts,
        learn,
        note_lines,
        note_texts,
        split_url,
    )
except ImportError:  # It was not built: there was no C compiler.
    from scrapy_urlcanon.novelty.inner_loops.in_python import (
        count_on,
        doubt,
        expect,
        hash_texts,
        learn,
        note_lines,
        note_texts,
        split_url,
    )

__all__ = [
    "count_on",
    "doubt",
    "expect",
    "hash_texts",
    "learn",
    "note_lines",
    "note_texts",
    "split_url",
]
