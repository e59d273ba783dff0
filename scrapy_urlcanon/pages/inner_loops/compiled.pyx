# cython: language_level=3, boundscheck=False, wraparound=False, embedsignature=True
"""The loops over each byte and line of a page's text, compiled.

Each function returns what the function of the same name in :mod:`.in_python` returns. That one is
used if this could not be built, for want of a C compiler.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memchr, memcmp, memcpy, memset

from scrapy_urlcanon.pages.inner_loops import in_python

cdef Py_ssize_t LONG_PASSAGE = in_python.LONG_PASSAGE, SIZE_OF_A_WORD = in_python.SIZE_OF_A_WORD
cdef int OTHER_FORM = in_python.OTHER_FORM, PATH = in_python.PATH, WHOLE = in_python.WHOLE
cdef bint[256] BEGINS_SPACE
cdef Py_ssize_t SPACES = len(in_python.OTHER_SPACES)
cdef const char* OTHER_SPACES[32]
cdef Py_ssize_t[32] SIZES
cdef unsigned char[256] CUTS
cdef bint[256] IS_HEX

for _number in range(256):
    BEGINS_SPACE[_number] = _number in in_python.RARE_SPACES or _number in b" \n"
    CUTS[_number] = in_python.CUTS[_number]
    IS_HEX[_number] = _number in b"0123456789abcdefABCDEF"
for _number, _other in enumerate(in_python.OTHER_SPACES):
    OTHER_SPACES[_number], SIZES[_number] = PyBytes_AS_STRING(_other), len(_other)
    BEGINS_SPACE[_other[0]] = True


cdef Py_ssize_t _other_space(const unsigned char* text, Py_ssize_t left) noexcept:
    cdef Py_ssize_t number
    for number in range(SPACES):
        if SIZES[number] <= left and not memcmp(text, OTHER_SPACES[number], SIZES[number]):
            return SIZES[number]
    return 0


cdef inline Py_ssize_t _space(const unsigned char* text, Py_ssize_t left) noexcept:
    """Return the size of the white space character at the beginning of *text*; 0 for none."""
    if not left or not BEGINS_SPACE[text[0]]:
        return 0
    return 1 if text[0] < 128 else _other_space(text, left)


cdef bint _is_folded(const unsigned char* line, Py_ssize_t size) noexcept:
    """Tell whether *line*, not empty, is ASCII without white space to fold, as most lines are.

    The loop has no early exit, so that the compiler can vectorize it.
    """
    cdef Py_ssize_t at
    cdef bint is_other = line[0] == b" " or line[size - 1] == b" "
    for at in range(size):
        is_other |= (line[at] < 32) | (line[at] > 127)
    for at in range(size - 1):
        is_other |= (line[at] == b" ") & (line[at + 1] == b" ")
    return not is_other


cdef Py_ssize_t _fold(const unsigned char* line, Py_ssize_t size, char* out) noexcept:
    """Write *line* with white space folded to *out*; return its size."""
    cdef Py_ssize_t at = 0, made = 0, space
    if size and _is_folded(line, size):
        memcpy(out, line, size)
        return size
    while at < size:
        space = _space(line + at, size - at)
        if not space:
            out[made] = <char>line[at]
            made += 1
            at += 1
            continue
        while space:
            at += space
            space = _space(line + at, size - at)
        if made and at < size:
            out[made] = b" "
            made += 1
    return made


def fold_spaces(bytes text not None):
    cdef Py_ssize_t left = PyBytes_GET_SIZE(text), size, made
    cdef const char* line = PyBytes_AS_STRING(text)
    cdef const char* end
    # A line end is written before each further line that is not empty.
    cdef bytes folded = PyBytes_FromStringAndSize(NULL, left + 1)
    cdef char* start = PyBytes_AS_STRING(folded)
    cdef char* out = start
    while True:
        end = <const char*>memchr(line, b"\n", left)
        size = left if end == NULL else end - line
        made = _fold(<const unsigned char*>line, size, out + 1)
        if made:
            out[0] = b"\n"
            out += made + 1
        if end == NULL:
            return folded[1 : out - start]
        line += size + 1
        left -= size + 1


cdef inline bint _is_number(char byte) noexcept:
    return b"0" <= byte <= b"9"


def has_time(bytes text not None):
    cdef const char* start = PyBytes_AS_STRING(text)
    cdef const char* end = start + PyBytes_GET_SIZE(text)
    cdef const char* colon = start
    while True:
        colon = <const char*>memchr(colon, b":", end - colon)
        if colon == NULL or end - colon < 3:
            return False
        if colon > start and _is_number(colon[-1]) and _is_number(colon[1]) and _is_number(colon[2]):
            return True
        colon += 1


def has_token(bytes text not None, Py_ssize_t least):
    cdef const unsigned char* letters = <const unsigned char*>PyBytes_AS_STRING(text)
    # A run of *least* digits covers one of every *least* places, so only these are looked at.
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text), at = least - 1, start, end
    while at < size:
        start = end = at
        while at - start < least and start >= 0 and IS_HEX[letters[start]]:
            start -= 1
        while end < size and end - start <= least and IS_HEX[letters[end]]:
            end += 1
        if end - start > least:
            return True
        at = end + least
    return False


cdef Py_ssize_t _shape(const char* line, Py_ssize_t size, char* out) noexcept:
    """Write *line* with each number made ``0`` to *out*; return its size, 0 if it has none."""
    cdef Py_ssize_t at, made = 0
    cdef bint is_other = False
    for at in range(size):
        # Without an early exit, so that the compiler can vectorize it: most lines have none.
        is_other |= _is_number(line[at])
    if not is_other:
        return 0
    is_other = False
    for at in range(size):
        if not _is_number(line[at]):
            out[made] = line[at]
        elif at and _is_number(line[at - 1]):
            is_other = True
            continue
        else:
            is_other |= line[at] != b"0"
            out[made] = b"0"
        made += 1
    return made if is_other else 0


def lines_and_shapes(bytes text not None):
    cdef Py_ssize_t left = PyBytes_GET_SIZE(text), size, made
    cdef const char* line = PyBytes_AS_STRING(text)
    cdef const char* end
    cdef list lines = [], words = []
    cdef dict shapes = {}
    # The longest line may be the whole text.
    cdef char* shape = <char*>PyMem_Malloc(max(1, left))
    if shape == NULL:
        raise MemoryError
    try:
        while True:
            end = <const char*>memchr(line, b"\n", left)
            size = left if end == NULL else end - line
            made = _shape(line, size, shape)
            if made:
                shapes[len(lines)] = PyBytes_FromStringAndSize(shape, made)
            lines.append(PyBytes_FromStringAndSize(line, size))
            words.append(size // SIZE_OF_A_WORD + 1)
            if end == NULL:
                return lines, words, shapes
            line += size + 1
            left -= size + 1
    finally:
        PyMem_Free(shape)


cdef inline bint _is_digit(Py_UCS4 letter) noexcept:
    return u"0" <= letter <= u"9"


cdef inline bint _is_of_host(Py_UCS4 letter) noexcept:
    if u"a" <= letter <= u"z" or u"A" <= letter <= u"Z" or _is_digit(letter):
        return True
    return letter == u"." or letter == u"-"


def form_of_reference(str reference not None):
    cdef Py_ssize_t size = len(reference), at = 0, start
    cdef bint is_query = False
    cdef Py_UCS4 letter
    if reference.startswith(u"http"):
        at = 4 + (size > 4 and reference[4] == u"s")
        if reference[at : at + 3] != u"://":
            return OTHER_FORM
        at += 3
        start = at
        while at < size and _is_of_host(reference[at]):
            at += 1
        if at == start:
            return OTHER_FORM
        if at < size and reference[at] == u":":
            at += 1
            start = at
            while at < size and _is_digit(reference[at]):
                at += 1
            if at == start:
                return OTHER_FORM
    start = at
    if at == size or reference[at] != u"/":
        return OTHER_FORM
    for at in range(start, size):
        letter = reference[at]
        if letter in u"#\t\r\n" or letter == u";" and not is_query:
            return OTHER_FORM
        if letter == u"?" and not is_query:
            is_query = True
            if at == size - 1:
                return OTHER_FORM
    if start:
        return WHOLE
    return OTHER_FORM if reference.startswith(u"//") or u"/." in reference else PATH


ctypedef fused number:
    uint32_t
    uint64_t


cdef int _order_of_32(const void* one, const void* other) noexcept nogil:
    cdef uint32_t left = (<const uint32_t*>one)[0], right = (<const uint32_t*>other)[0]
    return (left > right) - (left < right)


cdef int _order_of_64(const void* one, const void* other) noexcept nogil:
    cdef uint64_t left = (<const uint64_t*>one)[0], right = (<const uint64_t*>other)[0]
    return (left > right) - (left < right)


cdef Py_ssize_t _distinct(number* hashes, Py_ssize_t size) noexcept:
    """Sort *hashes* and remove repeated ones; return how many are left."""
    qsort(hashes, size, sizeof(number), _order_of_32 if number is uint32_t else _order_of_64)
    cdef Py_ssize_t at, kept = 0
    for at in range(size):
        if not kept or hashes[at] != hashes[kept - 1]:
            hashes[kept] = hashes[at]
            kept += 1
    return kept


cdef bytes _smallest(number* hashes, Py_ssize_t size, Py_ssize_t count):
    """Return the *count* smallest distinct *hashes*, sorted and packed; reorders *hashes*."""
    cdef Py_ssize_t at, few = 0
    cdef number bound
    if size > 2 * count:
        # Hashes are spread evenly, so a bound leaves few to sort.
        bound = ~<number>0 // size * (count + count // 2)
        for at in range(size):
            if hashes[at] < bound:
                hashes[few], hashes[at] = hashes[at], hashes[few]
                few += 1
        few = _distinct(hashes, few)
    if few < count:
        few = _distinct(hashes, size)
    return PyBytes_FromStringAndSize(<char*>hashes, min(few, count) * sizeof(number))


def lines_by_kind(columns not None, boilerplate not None):
    masked, exact, words = columns
    common, common_exact, steady, noise = boilerplate
    cdef Py_ssize_t size = len(masked), at
    cdef list own = [], numbers = [], doubtful = []
    if size != len(exact) or size != len(words):
        raise ValueError("one of the arguments is longer or shorter than the others")
    for at in range(size):
        line, shape = exact[at], masked[at]
        if line in common_exact or shape in noise:
            continue
        if shape in steady:
            numbers.append((line, words[at]))
        elif shape in common:
            doubtful.append((line, words[at]))
        else:
            own.append((line, words[at]))
    return own, numbers, doubtful


def sorted_hashes(hashes not None):
    cdef Py_ssize_t size = len(hashes), at
    # The bytes of a bytes object are aligned for numbers of this size.
    cdef bytes made = PyBytes_FromStringAndSize(NULL, size * sizeof(uint64_t))
    cdef uint64_t* numbers = <uint64_t*>PyBytes_AS_STRING(made)
    for at in range(size):
        numbers[at] = hashes[at]
    qsort(numbers, size, sizeof(uint64_t), _order_of_64)
    return made


def smallest_lines(masked not None, exact not None, Py_ssize_t count):
    cdef Py_ssize_t size = len(masked), at
    if size != len(exact):
        raise ValueError("one of the arguments is longer than the other")
    cdef uint64_t* lines = <uint64_t*>PyMem_Malloc(max(1, size) * sizeof(uint64_t))
    if lines == NULL:
        raise MemoryError
    try:
        for at in range(size):
            lines[at] = <uint64_t>masked[at] << 32 | <uint64_t>exact[at] & 0xFFFFFFFF
        return _smallest(lines, size, count)
    finally:
        PyMem_Free(lines)


def packed_lines(masked not None, exact not None, words not None, int most, int width):
    cdef Py_ssize_t size = len(masked), total = size, at
    cdef unsigned long count
    cdef int byte
    if size != len(exact) or size != len(words):
        raise ValueError("one of the arguments is longer or shorter than the others")
    if not 0 <= most < 256 or not 0 <= width <= 8:
        raise ValueError("a byte has no room for that")
    cdef uint64_t* hashes = <uint64_t*>PyMem_Malloc(max(1, 2 * size) * sizeof(uint64_t))
    if hashes == NULL:
        raise MemoryError
    try:
        for at in range(size):
            hashes[at] = exact[at]
            hashes[total] = masked[at]
            total += hashes[total] != hashes[at]
        made = PyBytes_FromStringAndSize(NULL, size + width * total)
        out = <unsigned char*>PyBytes_AS_STRING(made)
        for at in range(size):
            count = words[at]
            out[at] = <unsigned char>min(count, <unsigned long>most)
            if <uint64_t>masked[at] != hashes[at]:
                out[at] |= 128
        out += size
        for byte in range(width):
            for at in range(total):
                out[at] = <unsigned char>(hashes[at] >> 8 * byte)
            out += total
        return made
    finally:
        PyMem_Free(hashes)


def unpacked_lines(bytes data not None, Py_ssize_t count, Py_ssize_t others, int width):
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data), total = count + others, at, other, numbered = 0
    cdef const unsigned char* words = <const unsigned char*>PyBytes_AS_STRING(data)
    cdef const unsigned char* columns = words + count
    cdef uint64_t number
    cdef int byte
    if not 0 <= count <= size or not 0 <= others <= count or not 0 <= width <= 8:
        raise ValueError("expected more bytes to unpack")
    for at in range(count):
        numbered += words[at] >> 7
    if size != count + width * total or numbered != others:
        raise ValueError(f"expected {width * total} bytes to unpack, got {size - count}")
    cdef list masked = [None] * count, exact = [None] * count
    made = PyBytes_FromStringAndSize(NULL, count)
    out = <unsigned char*>PyBytes_AS_STRING(made)
    other = count
    for at in range(count):
        number = 0
        for byte in range(width):
            number |= <uint64_t>columns[byte * total + at] << 8 * byte
        exact[at] = number
        if words[at] >> 7:
            number = 0
            for byte in range(width):
                number |= <uint64_t>columns[byte * total + other] << 8 * byte
            other += 1
            masked[at] = number
        else:
            masked[at] = exact[at]
        out[at] = words[at] & 127
    return masked, exact, made


cdef inline uint64_t _xxh3(uint64_t number) noexcept:
    """Return XXH3_64bits of a number's eight bytes, with the seed 0 (xxHash, XXH3_len_4to8_64b).

    The first constant is the exclusive or of two words of its secret.
    """
    cdef uint64_t found = (number << 32 | number >> 32) ^ <uint64_t>0xC73AB174C5ECD5A2
    found ^= (found << 49 | found >> 15) ^ (found << 24 | found >> 40)
    found *= <uint64_t>0x9FB21C651E98DF25
    found ^= (found >> 35) + 8
    found *= <uint64_t>0x9FB21C651E98DF25
    return found ^ found >> 28


def simhash(starts not None, counts not None):
    cdef Py_ssize_t size = len(starts), at, total = 0
    cdef uint64_t number, count, found, made = 0
    cdef Py_ssize_t[64] sums
    cdef int bit
    if size != len(counts):
        raise ValueError("one of the arguments is longer than the other")
    memset(sums, 0, sizeof(sums))
    for at in range(size):
        number, count = starts[at], counts[at]
        total += count
        while count:
            found = _xxh3(number)
            for bit in range(64):
                sums[bit] += found >> bit & 1
            number += 1
            count -= 1
    for bit in range(64):
        made |= <uint64_t>(2 * sums[bit] > total) << bit
    return made


cdef inline uint32_t _turned(uint32_t number, int bits) noexcept:
    return number << bits | number >> (32 - bits)


cdef inline uint32_t _read(const unsigned char* text) noexcept:
    return text[0] | <uint32_t>text[1] << 8 | <uint32_t>text[2] << 16 | <uint32_t>text[3] << 24


cdef uint32_t _xxh32(const unsigned char* text, Py_ssize_t size) noexcept:
    """Return XXH32 with the seed 0 (xxHash fast digest algorithm, version 0.1.1, section XXH32)."""
    cdef uint32_t one = 0x9E3779B1, two = 0x85EBCA77, three = 0xC2B2AE3D
    cdef uint32_t four = 0x27D4EB2F, five = 0x165667B1
    cdef uint32_t[4] lanes
    cdef uint32_t found
    cdef const unsigned char* end = text + size
    cdef int lane
    if size >= 16:
        lanes[0], lanes[1], lanes[2], lanes[3] = one + two, two, 0, 0 - one
        while end - text >= 16:
            for lane in range(4):
                lanes[lane] = _turned(lanes[lane] + _read(text) * two, 13) * one
                text += 4
        found = (
            _turned(lanes[0], 1) + _turned(lanes[1], 7)
            + _turned(lanes[2], 12) + _turned(lanes[3], 18)
        )
    else:
        found = five
    found += <uint32_t>size
    while end - text >= 4:
        found = _turned(found + _read(text) * three, 17) * four
        text += 4
    while text < end:
        found = _turned(found + text[0] * five, 11) * one
        text += 1
    found = (found ^ found >> 15) * two
    found = (found ^ found >> 13) * three
    return found ^ found >> 16


cdef Py_ssize_t _hash_pieces(
    const unsigned char* text, Py_ssize_t size, unsigned char separator, uint32_t* hashes
) noexcept:
    """Write the hash of each passage or word to *hashes*; return how many there are."""
    cdef Py_ssize_t length, count = 0
    cdef const unsigned char* end = text + size
    cdef const unsigned char* cut
    while text <= end:
        cut = <const unsigned char*>memchr(text, separator, end - text)
        length = (end if cut == NULL else cut) - text
        hashes[count] = _xxh32(text, length)
        count += 1
        if separator == b"d" and length > LONG_PASSAGE:
            count += _hash_pieces(text, length, b" ", hashes + count)
        text += length + 1
    return count


def smallest_passages(bytes text not None, Py_ssize_t count):
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text), at
    cdef const unsigned char* source = <const unsigned char*>PyBytes_AS_STRING(text)
    # Each letter d ends a passage, each space a word, and each long passage has one word more than
    # spaces.
    cdef Py_ssize_t most = size + size // LONG_PASSAGE + 1
    cdef uint32_t* hashes = <uint32_t*>PyMem_Malloc(most * sizeof(uint32_t) + size)
    if hashes == NULL:
        raise MemoryError
    cdef unsigned char* lower = <unsigned char*>(hashes + most)
    try:
        for at in range(size):
            lower[at] = CUTS[source[at]]
        return _smallest(hashes, _hash_pieces(lower, size, b"d", hashes), count)
    finally:
        PyMem_Free(hashes)
