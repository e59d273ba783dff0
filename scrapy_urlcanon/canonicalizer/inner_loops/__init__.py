"""What is asked of each character of a URL: compiled, or in Python."""

try:
    from scrapy_urlcanon.canonicalizer.inner_loops.compiled import (
        are_filled,
        are_named,
        encode_path,
        encode_query,
        is_under,
        plain_host,
        read,
        sort_query,
        start_of_domain,
        trimmed_path,
        without_www,
    )
except ImportError:  # It was not built: there was no C compiler.
    from scrapy_urlcanon.canonicalizer.inner_loops.in_python import (
        are_filled,
        are_named,
        is_under,
        plain_host,
        read,
        sort_query,
        start_of_domain,
        trimmed_path,
        without_www,
    )
    from scrapy_urlcanon.canonicalizer.percent_encoding import encode_path, encode_query

__all__ = [
    "are_filled",
    "are_named",
    "encode_path",
    "encode_query",
    "is_under",
    "plain_host",
    "read",
    "sort_query",
    "start_of_domain",
    "trimmed_path",
    "without_www",
]
