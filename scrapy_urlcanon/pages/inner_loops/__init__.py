"""What reading a page asks of each byte of its text: compiled, or else in Python."""

try:
    from scrapy_urlcanon.pages.inner_loops.compiled import fold_spaces, smallest_passages
except ImportError:  # It was not built: there was no C compiler.
    from scrapy_urlcanon.pages.inner_loops.in_python import fold_spaces, smallest_passages

__all__ = ["fold_spaces", "smallest_passages"]
