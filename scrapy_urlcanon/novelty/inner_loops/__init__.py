"""The inner loops over URLs, features and lines: compiled, or in Python if that is missing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import scrapy_urlcanon.novelty.inner_loops.in_python as loops
else:
    try:
        import scrapy_urlcanon.novelty.inner_loops.compiled as loops
    except ImportError:  # It was not built: there was no C compiler.
        import scrapy_urlcanon.novelty.inner_loops.in_python as loops

count_on = loops.count_on
doubts = loops.doubts
expect = loops.expect
hash_texts = loops.hash_texts
learn = loops.learn
note_lines = loops.note_lines
note_texts = loops.note_texts
own_shares = loops.own_shares
split_url = loops.split_url
