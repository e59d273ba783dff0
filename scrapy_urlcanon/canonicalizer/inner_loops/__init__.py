"""The inner loops over the characters of a URL: compiled, or in Python if that is missing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import scrapy_urlcanon.canonicalizer.inner_loops.in_python as loops
else:
    try:
        import scrapy_urlcanon.canonicalizer.inner_loops.compiled as loops
    except ImportError:  # It was not built: there was no C compiler.
        import scrapy_urlcanon.canonicalizer.inner_loops.in_python as loops

are_filled = loops.are_filled
are_named = loops.are_named
canonical_prefix = loops.canonical_prefix
# In Python these two are those of ``percent_encoding``.
encode_path = loops.encode_path  # type: ignore[attr-defined]
encode_query = loops.encode_query  # type: ignore[attr-defined]
is_under = loops.is_under
plain_host = loops.plain_host
read = loops.read
sort_query = loops.sort_query
start_of_domain = loops.start_of_domain
trimmed_path = loops.trimmed_path
without_www = loops.without_www
