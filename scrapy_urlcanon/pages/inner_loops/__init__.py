"""The loops over each byte and line of a page's text: compiled, or in Python if not built."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import scrapy_urlcanon.pages.inner_loops.in_python as loops
else:
    try:
        import scrapy_urlcanon.pages.inner_loops.compiled as loops
    except ImportError:  # It was not built: there was no C compiler.
        import scrapy_urlcanon.pages.inner_loops.in_python as loops

fold_spaces = loops.fold_spaces
form_of_reference = loops.form_of_reference
has_time = loops.has_time
has_token = loops.has_token
lines_and_shapes = loops.lines_and_shapes
lines_by_kind = loops.lines_by_kind
packed_lines = loops.packed_lines
simhash = loops.simhash
smallest_lines = loops.smallest_lines
smallest_passages = loops.smallest_passages
sorted_hashes = loops.sorted_hashes
unpacked_lines = loops.unpacked_lines
