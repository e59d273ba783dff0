"""What reading a page asks of each byte of its text, and of each line: compiled, or in Python."""

try:
    from scrapy_urlcanon.pages.inner_loops.compiled import (
        fold_spaces,
        form_of_reference,
        lines_and_shapes,
        lines_by_kind,
        packed_lines,
        simhash,
        smallest_lines,
        smallest_passages,
        sorted_hashes,
        unpacked_lines,
    )
except ImportError:  # It was not built: there was no C compiler.
    from scrapy_urlcanon.pages.inner_loops.in_python import (
        fold_spaces,
        form_of_reference,
        lines_and_shapes,
        lines_by_kind,
        packed_lines,
        simhash,
        smallest_lines,
        smallest_passages,
        sorted_hashes,
        unpacked_lines,
    )

__all__ = [
    "fold_spaces",
    "form_of_reference",
    "lines_and_shapes",
    "lines_by_kind",
    "packed_lines",
    "simhash",
    "smallest_lines",
    "smallest_passages",
    "sorted_hashes",
    "unpacked_lines",
]
