"""Decides whether two responses are one page, for all parts of the package.

It is used by the audit, ``validate``, soft 404 detection, declared canonicals and the learner.
There are two measures of "nearly the same", both over pairs of adjacent words:

- while crawling, whole texts are compared pairwise, by the share of their pairs of words that both
have (:data:`SHARED_PAIRS`); - for grouping a million pages, texts without the site's boilerplate
are compared by the bits in which their simhashes differ (:data:`SIMHASH_BITS`), which an index can
look up.

The first includes the navigation that all pages share, so that only little may differ. The rest is
the same for both: what is read of a page (:mod:`scrapy_urlcanon.pages.page`), what is masked
because it changes at each visit, and that pages with different titles are two pages.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from scrapy_urlcanon.pages.inner_loops import smallest_lines, smallest_passages
from scrapy_urlcanon.pages.signature import Line, digest_of, hash64, line_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from scrapy_urlcanon.pages.signature import Lines

SHARED_PAIRS = 0.95
"""Two whole texts are the same page if the Jaccard similarity of their pairs of words is at least
this.

Two pages of one site share the words of their navigation and footer, often 300 or more. 20
consecutive words that only one of them has make it 0.94. A counter or an advertisement changes
less.
"""

SIMHASH_BITS = 4
"""Two texts without boilerplate are the same page if their simhashes differ in at most this many
bits.

Manku, Jain and Das Sarma ("Detecting near-duplicates for web crawling", 2007) used 3 for whole
pages; without the boilerplate one bit more is safe.
"""

SKETCH_SIZE = 128
"""How many pairs of words are kept of a page. With no more than these the similarity is exact;
otherwise its standard error is sqrt(s * (1 - s) / 128), which is 0.02 at 0.95."""

SAMPLED_LINES = 64
"""How many lines are kept of a page, those with the smallest hashes. Most pages have fewer."""

UNBOUNDED: Final = 1 << 32
"""Greater than the hashes of all lines as they are compared, which have 32 bits."""

LineKey: TypeAlias = "tuple[int, int]"
"""What lines are compared by: the hash without numbers, and the exact one (:func:`key_of`)."""

_NO_LINE = Line(0, 0, 0)
_WITHOUT_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_LOW = UNBOUNDED - 1


class PageDigest(NamedTuple):
    """What is kept of a page for comparisons; at most some 1,100 bytes."""

    digest: bytes
    """The digest of its lines in any order, or of the body if it is no text. Empty: no evidence."""
    title: int = 0
    """64-bit hash of the title; 0 if it has none or it is not known."""
    sketch: bytes | None = None
    """The smallest hashes of its pairs of words; None if it is no text or they are not known."""
    simhash: int | None = None
    """The simhash of its pairs of words without boilerplate; None if they are too few or not
    known."""
    lines: bytes | None = None
    """A sample of its lines (:func:`sampled_lines`); None if it is no text or they are not
    known."""
    title_shape: int = 0
    """64-bit hash of the title with each number replaced by ``0``."""
    unread: bytes = b""
    """The digest of the scripts that make a page without text; empty for any other page."""
    media: int = 0
    """64-bit hash of the addresses of its media, and of its inline scripts, whose digits do not
    count; 0 if it has neither."""

    @property
    def content(self) -> bytes:
        """Equal for two pages that show the same, however little that is."""
        return b"%s%x%s" % (self.digest, self.title, self.unread)

    @classmethod
    def of_bytes(cls, body: bytes) -> Self:
        """Return the digest of a body that is no text or too long to be read."""
        return cls(blake2b(body, digest_size=20).digest())

    @classmethod
    def of_text(
        cls,
        title: str,
        text: bytes,
        lines: Lines,
        scripts: bytes,
        media: tuple[bytes, ...],
        *,
        inline: str = "",
    ) -> Self:
        """Return the digest of a page from its *text* and its *title*.

        :param lines: the hashes of the lines of the text and of *media*.
        :param scripts: the scripts that make the page, if it has no text.
        :param media: the addresses of embedded media.
        :param inline: the inline scripts.
        """
        # Times and counters are most of what changes in scripts from visit to visit.
        unseen = inline.encode("utf-8", "surrogatepass").translate(_WITHOUT_DIGITS)
        masked, exact, _ = lines.columns
        digest, named = digest_of(exact), _NO_LINE
        if title:
            named, as_line = line_of(title), title_line(title)
            masked, exact = [*masked, as_line.masked], [*exact, as_line.exact]
        return cls(
            digest,
            named.exact,
            smallest_passages(text, SKETCH_SIZE),
            lines=smallest_lines(masked, exact, SAMPLED_LINES),
            title_shape=named.masked,
            unread=blake2b(scripts, digest_size=20).digest() if scripts else b"",
            media=hash64(b"\n".join([*sorted({*media}), unseen])) if media or unseen else 0,
        )


def same_page(one: PageDigest, other: PageDigest) -> bool | None:
    """Tell whether two pages are the same, or None if unclear.

    >>> from scrapy_urlcanon.pages.page import Page
    >>> def digest(html):
    ...     return Page("http://a.example/", b"", html).digest
    >>> page = digest("<title>A</title><p>One page, token 0123456789abcdef0123456789abcdef")
    >>> token = "f" * 32
    >>> same_page(page, digest(f"<title>A</title><p>One page, token {token}"))
    True
    >>> same_page(page, digest("<title>A</title><p>Quite another"))
    False
    >>> same_page(PageDigest.of_bytes(b"PNG 1"), PageDigest.of_bytes(b"PNG 2"))

    Two pages without text that have the same title are the same if their scripts are too:

    >>> made_by_script = digest("<title>App</title><script>show({id: 1})</script>")
    >>> same_page(made_by_script, digest("<title>App</title><script>show({id: 2})</script>"))

    That two pages show nothing at all is no evidence:

    >>> empty = digest("<div id=root></div><script src=/app.js></script>")
    >>> same_page(empty, empty)
    """
    has_one_title = one.title == other.title
    if one.digest and one.digest == other.digest and has_one_title:
        is_anything_shown = bool(one.unread) or one.lines != b""
        return True if is_anything_shown and one.unread == other.unread else None
    # A "not found" page may have all the words of its site around it, but not the title.
    if one.sketch is not None and other.sketch is not None:
        return has_one_title and similarity(one.sketch, other.sketch) >= SHARED_PAIRS
    if one.simhash is not None and other.simhash is not None:
        return has_one_title and (one.simhash ^ other.simhash).bit_count() <= SIMHASH_BITS
    return None


def title_line(title: str) -> Line:
    """Return the hashes of *title* when it is compared as one of the lines."""
    return line_of(f"title: {title}")


def key_of(masked: int, exact: int) -> LineKey:
    """Return the key by which a line with these 64-bit hashes is compared."""
    return masked & _LOW, exact & _LOW


def sampled_lines(page: PageDigest) -> tuple[dict[int, set[int]], int]:
    """Return the exact hashes of sampled lines by those without numbers, and the sample's limit.

    The sample has all lines of the page whose hash without numbers is below the limit.
    """
    if page.lines is None:
        return {}, 0
    lines: dict[int, set[int]] = {}
    for hashes in array("Q", page.lines):
        lines.setdefault(hashes >> 32, set()).add(hashes & _LOW)
    is_whole = len(page.lines) < 8 * SAMPLED_LINES
    return lines, UNBOUNDED if is_whole else max(lines)


def similarity(one: bytes, other: bytes) -> float:
    """Return the Jaccard similarity of the pairs of words of two sketches.

    It is estimated from the smallest hashes of both together (Broder, "On the resemblance and
    containment of documents", 1997, section 4), and exact if neither sketch is full.

    >>> sketches = (array("I", numbers).tobytes() for numbers in ([1, 2, 3], [2, 3, 4]))
    >>> similarity(*sketches)
    0.5
    """
    mine, theirs = set(array("I", one)), set(array("I", other))
    union = mine | theirs
    if not union:
        return 1.0
    smallest = sorted(union)[:SKETCH_SIZE] if max(len(mine), len(theirs)) >= SKETCH_SIZE else union
    return len(mine & theirs & set(smallest)) / len(smallest)
