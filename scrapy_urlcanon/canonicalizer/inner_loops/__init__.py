"""What is asked of each character of a URL: compiled, or in Python."""

try:
    from scrapy_urlcanon.canonicalizer.inner_loops.compiled import (
        are_filled,
        are_named,
        encode_path,
        encode_query,
        plain_host,
        read,
        sort_query,
        trimmed_path,
    )
except ImportError:  # It was not built: there was no C compiler.
    from scrapy_urlcanon.canonicalizer.inner_loops.in_python import (
        are_filled,
        are_named,
        plain_host,
        read,
        sort_query,
        trimmed_path,
    )
    from scrapy_urlcanon.canonicalizer.percent_encoding import encode_path, encode_query

__all__ = [
    "are_filled",
    "are_named",
    "encode_path",
    "encode_query",
    "plain_host",
    "read",
    "sort_query",
    "trimmed_path",
]
