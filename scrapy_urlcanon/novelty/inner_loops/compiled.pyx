# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, embedsignature=True
"""The inner loops over URLs, features and lines, compiled.

Each function returns what the function of the same name in :mod:`.in_python` returns. That one is
used if this could not be built, for want of a C compiler.
"""

from cpython.array cimport array
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport exp
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    Py_ssize_t PyUnicode_FindChar(
        object text, Py_UCS4 letter, Py_ssize_t begin, Py_ssize_t end, int direction
    ) except -2
    str PyUnicode_Substring(object text, Py_ssize_t begin, Py_ssize_t end)
    bint PyUnicode_IS_ASCII(object text)
    const unsigned char* PyUnicode_1BYTE_DATA(object text)

from scrapy_urlcanon.novelty import packing
from scrapy_urlcanon.novelty.inner_loops import in_python

cdef double UNSURE = in_python.UNSURE
cdef double OF_ITS_OWN = in_python.OF_ITS_OWN
cdef double FORGOTTEN = in_python.FORGOTTEN
cdef double LEAST_SLOPE = in_python.LEAST_SLOPE
cdef double MOST = in_python.MOST
cdef double CAUTION = in_python.CAUTION
cdef double OTHER_NUMBERS = in_python.OTHER_NUMBERS
cdef int CLOCK = in_python.CLOCK
cdef Py_ssize_t MAX_LINES = in_python.MAX_LINES
cdef int RARE = in_python.RARE
cdef Py_ssize_t RUN = in_python.RUN
cdef int MOST_MET = in_python.MOST_MET
cdef uint32_t MASK = packing.MASK
cdef uint64_t SPREAD = packing.SPREAD


def split_url(str url not None):
    cdef Py_ssize_t end = PyUnicode_FindChar(url, u"#", 0, len(url), 1)
    if end < 0:
        end = len(url)
    cdef Py_ssize_t mark = PyUnicode_FindChar(url, u"?", 0, end, 1)
    cdef str query = "" if mark < 0 else PyUnicode_Substring(url, mark + 1, end)
    if mark < 0:
        mark = end
    cdef Py_ssize_t slash = PyUnicode_FindChar(url, u"/", 0, mark, -1)
    return (
        PyUnicode_Substring(url, 0, slash + 1),
        PyUnicode_Substring(url, slash + 1, mark),
        query,
    )


# CRC-32, as in zlib. For texts of some ten letters a call of zlib would take longer.
cdef uint32_t[256] CRC_OF_BYTE


cdef void _fill_crc_of_byte() noexcept:
    cdef uint32_t crc, byte
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
        CRC_OF_BYTE[byte] = crc


_fill_crc_of_byte()


cdef uint32_t _crc_of_bytes(
    const unsigned char* text, Py_ssize_t length, uint32_t begin
) noexcept:
    cdef uint32_t crc = ~begin
    cdef Py_ssize_t at
    for at in range(length):
        crc = crc >> 8 ^ CRC_OF_BYTE[(crc ^ text[at]) & 0xFF]
    return ~crc


cdef uint32_t _crc(str text, uint32_t begin) except? 0:
    cdef bytes encoded
    if PyUnicode_IS_ASCII(text):
        return _crc_of_bytes(PyUnicode_1BYTE_DATA(text), len(text), begin)
    encoded = text.encode("utf-8", "replace")
    return _crc_of_bytes(
        <const unsigned char*>PyBytes_AS_STRING(encoded), PyBytes_GET_SIZE(encoded), begin
    )


cdef struct Crcs:
    # The three results of ``_crcs`` in Python.
    uint32_t begin, first, again


cdef Crcs _crcs(str name, str after):
    cdef Crcs crcs
    crcs.begin = _crc(name + after, 0)
    crcs.first = _crc("first " + name, 0)
    crcs.again = _crc("again " + name, 0)
    return crcs


cdef Crcs _with_name(Crcs kind, str name):
    cdef Crcs crcs
    crcs.begin = _crc("=", _crc(name, kind.begin))
    crcs.first = _crc(name, kind.first)
    crcs.again = _crc(name, kind.again)
    return crcs


cdef Crcs SEGMENT = _crcs("segment", "="), LEAF = _crcs("leaf", "="), HEAD = _crcs("head", "=")
cdef Crcs VALUE_OF = _crcs("value ", ""), HEAD_OF = _crcs("head ", "")
cdef Crcs[8] PREFIXES
for _end in range(8):
    PREFIXES[_end] = _crcs(f"prefix{_end}", "=")


cdef struct Found:
    uint32_t* numbers
    Py_ssize_t count
    unsigned char* counts  # NULL where nothing is counted.
    uint64_t of_host
    int least


cdef inline uint32_t _place(uint32_t crc, uint64_t of_host) noexcept:
    return (crc * SPREAD ^ of_host) >> 7 & MASK


cdef inline bint _has_sign(str text):
    return PyUnicode_FindChar(text, u"#", 0, len(text), 1) >= 0


cdef void _add(Found* found, Crcs* name, uint32_t crc, bint has_sign) noexcept:
    cdef uint32_t place = _place(crc, found.of_host)
    cdef int count
    if found.counts:
        count = found.counts[place]
        found.least = min(found.least, count)
        if count < MOST_MET:
            found.counts[place] = count + 1
        if count < RARE:
            crc = name.again if count and not has_sign else name.first
            place = _place(crc, found.of_host)
    found.numbers[found.count] = crc & MASK
    found.numbers[found.count + 1] = place
    found.count += 2


cdef int _add_with_head(Found* found, Crcs* name, Crcs* of_head, str text) except -1:
    cdef Py_ssize_t end = 0
    cdef Py_UCS4 letter
    for letter in text:
        if not (u"a" <= letter <= u"z" or letter == u"%"):
            break
        end += 1
    _add(found, name, _crc(text, name.begin), _has_sign(text))
    if end < len(text):
        _add(found, of_head, _crc(PyUnicode_Substring(text, 0, end), of_head.begin), False)
    return 0


cdef int _add_all(Found* found, tuple path, tuple query) except -1:
    cdef Py_ssize_t length = len(path), end, at
    cdef uint32_t crc
    cdef bint has_sign
    cdef Crcs name, of_head
    cdef str text, of_value
    for end in range(2, length):
        name = PREFIXES[end] if end < 8 else _crcs(f"prefix{end}", "=")
        crc, has_sign = name.begin, False
        for at in range(end):
            text = path[at]
            crc = _crc(text, _crc("/", crc))
            has_sign = has_sign or _has_sign(text)
        _add(found, &name, crc, has_sign)
    for at in range(1, length - 1):
        text = path[at]
        _add(found, &SEGMENT, _crc(text, SEGMENT.begin), _has_sign(text))
    _add_with_head(found, &LEAF, &HEAD, path[length - 1])
    for of_value, text in query:
        name, of_head = _with_name(VALUE_OF, of_value), _with_name(HEAD_OF, of_value)
        _add_with_head(found, &name, &of_head, text)
    return 0


cdef bytes _features(Found* found, tuple path, tuple query):
    if not path:
        raise IndexError("no path")
    # At most a prefix and a segment for each segment of the path, and a text and its head for each
    # value.
    cdef size_t most = 2 * (2 * len(path) + 2 + 2 * len(query))
    found.count, found.least = 0, MOST_MET
    found.numbers = <uint32_t*>PyMem_Malloc(most * sizeof(uint32_t))
    if found.numbers == NULL:
        raise MemoryError
    try:
        _add_all(found, path, query)
        return PyBytes_FromStringAndSize(
            <char*>found.numbers, found.count * <Py_ssize_t>sizeof(uint32_t)
        )
    finally:
        PyMem_Free(found.numbers)


def note_texts(
    bytearray counts not None, tuple path not None, tuple query not None, uint64_t of_host
):
    cdef Found found
    if PyByteArray_GET_SIZE(counts) <= <Py_ssize_t>MASK:
        raise IndexError("bytearray index out of range")
    found.counts = <unsigned char*>PyByteArray_AS_STRING(counts)
    found.of_host = of_host
    features = _features(&found, path, query)
    return features, found.least, found.count // 2


def hash_texts(tuple path not None, tuple query not None, uint64_t of_host):
    cdef Found found
    found.counts = NULL
    found.of_host = of_host
    return _features(&found, path, query)


cdef double* _numbers(array numbers) except? NULL:
    """Return the *numbers* of an array. The buffer protocol would take longer than learning."""
    if numbers.ob_descr.typecode != c"d":
        raise ValueError("expected an array of the type 'd'")
    return numbers.data.as_doubles


cdef inline uint32_t _feature(bytes features, Py_ssize_t number) noexcept:
    # Copied, since the number may not be aligned.
    cdef uint32_t found
    memcpy(&found, PyBytes_AS_STRING(features) + number * sizeof(uint32_t), sizeof(uint32_t))
    return found


cdef Py_ssize_t _count(bytes features, Py_ssize_t size) except -1:
    """Return the number of *features*, and raise an error if one is not below *size*."""
    cdef Py_ssize_t count = PyBytes_GET_SIZE(features) // <Py_ssize_t>sizeof(uint32_t), number
    for number in range(count):
        if _feature(features, number) >= size:
            raise IndexError("array index out of range")
    return count


cdef double _expect(
    const double* weights, bytes features, Py_ssize_t count, double prior
) noexcept:
    cdef double total = 0.0
    cdef Py_ssize_t number
    for number in range(count):
        total += weights[_feature(features, number)]
    return 1.0 / (1.0 + exp(-max(-MOST, min(MOST, prior + total))))


def expect(array weights not None, bytes features not None, double prior):
    return _expect(_numbers(weights), features, _count(features, len(weights)), prior)


cdef double _doubt(const double* known, bytes features, Py_ssize_t count) noexcept:
    cdef double total = 0.0
    cdef Py_ssize_t number
    for number in range(count - 1):
        total += 1.0 - known[_feature(features, number)]
    return total / max(1, count - 1)


def doubts(array known not None, kinds):
    cdef double* of_known = _numbers(known)
    cdef Py_ssize_t size = len(known)
    cdef bytes features
    cdef list found = []
    for features in kinds:
        if features is None:
            raise TypeError("expected bytes")
        found.append(_doubt(of_known, features, _count(features, size)))
    return found


def count_on(
    array weights not None,
    array known not None,
    kinds,
    double prior,
):
    cdef double* of_weights = _numbers(weights)
    cdef double* of_known = _numbers(known)
    cdef Py_ssize_t size = min(len(weights), len(known)), count
    cdef bytes features
    cdef list found = []
    for features in kinds:
        if features is None:
            raise TypeError("expected bytes")
        count = _count(features, size)
        found.append(
            _expect(of_weights, features, count, prior)
            * (1.0 - CAUTION * _doubt(of_known, features, count))
        )
    return found


def learn(
    array weights not None,
    array known not None,
    bytes features not None,
    double prior,
    double share,
    *,
    bint again,
):
    cdef double* of_weights = _numbers(weights)
    cdef double* of_known = _numbers(known)
    cdef Py_ssize_t count = _count(features, min(len(weights), len(known))), number
    if not count:
        raise ZeroDivisionError("no features")
    # Taken before anything is learned: two features may share a number.
    cdef double* doubts = <double*>PyMem_Malloc(count * sizeof(double))
    if doubts == NULL:
        raise MemoryError
    cdef double expected = _expect(of_weights, features, count, prior), total = 0.0
    for number in range(count):
        doubts[number] = 1.0 - of_known[_feature(features, number)]
        total += doubts[number]
    cdef double of_each = UNSURE / count, of_its_own = OF_ITS_OWN * doubts[count - 1]
    cdef double unsure = of_each * total + of_its_own
    cdef double slope = max(expected * (1.0 - expected), LEAST_SLOPE)
    cdef double surer = 1.0 + unsure * slope
    cdef double least = min(1.0, FORGOTTEN / slope)
    cdef double move = (share - expected) / surer
    for number in range(count):
        of_weights[_feature(features, number)] += move * of_each * doubts[number]
        if not again:
            of_known[_feature(features, number)] = 1.0 - max(doubts[number] / surer, least)
    of_weights[_feature(features, count - 1)] += move * of_its_own
    PyMem_Free(doubts)


cdef inline uint32_t _tag(uint64_t line, uint64_t size) noexcept:
    cdef uint32_t tag = <uint32_t>(line // size)
    return tag if tag else 1


def note_lines(
    unsigned int[::1] places not None,
    unsigned char[::1] counts not None,
    masked,
    exact,
    lengths,
):
    cdef uint64_t size = places.shape[0], shape, line, place
    cdef uint32_t tag
    cdef long words = 0, new = 0, length
    cdef double worth = 0.0
    cdef Py_ssize_t number = -1
    cdef list found = []
    if counts.shape[0] < places.shape[0] or not size:
        raise IndexError("array index out of range")
    for shape, line, length in zip(masked, exact, lengths):
        number += 1
        if number == MAX_LINES:
            break
        words += length
        place, tag = line % size, _tag(line, size)
        if places[place] == tag:
            continue
        places[place] = tag
        counts[place] = 0
        new += length
        if shape != line:
            place, tag = shape % size, _tag(shape, size)
            if places[place] == tag:
                if counts[place] < CLOCK:
                    counts[place] += 1
                    worth += OTHER_NUMBERS * length
                continue
            places[place] = tag
            counts[place] = 0
        worth += length
        found.append(number)
    return words, new, worth, found


cdef inline bint _is_space(unsigned char letter) noexcept:
    return letter == 32 or 9 <= letter <= 13


def own_shares(unsigned short[::1] places not None, texts):
    cdef uint32_t mask = places.shape[0] - 1, run
    cdef double known
    cdef list shares = []
    cdef Py_ssize_t size = 0, count = 0, at, begin, word, end, each
    cdef const unsigned char* letters
    cdef bytes text
    if not places.shape[0] or places.shape[0] & mask:
        raise IndexError("array index out of range")
    for text in texts:
        size += len(text)
    # A text has no more words, and no more runs, than letters.
    cdef uint32_t* runs = <uint32_t*>PyMem_Malloc((2 * size + 1) * sizeof(uint32_t))
    if runs == NULL:
        raise MemoryError
    cdef uint32_t* words = runs + size
    for text in texts:
        letters = <const unsigned char*>PyBytes_AS_STRING(text)
        size = len(text)
        at = word = end = 0
        known = 0.0
        while True:
            while at < size and _is_space(letters[at]):
                at += 1
            if at == size:
                break
            begin = at
            while at < size and not _is_space(letters[at]):
                at += 1
            words[word] = _crc_of_bytes(letters + begin, at - begin, 0)
            word += 1
            if word >= RUN:
                run = 0
                for each in range(word - RUN, word):
                    run = <uint32_t>(run * SPREAD + words[each])
                if places[run & mask] == (run >> 16 or 1):
                    known += word - max(word - RUN, end)
                    end = word
                runs[count] = run
                count += 1
        shares.append(1.0 - known / word if word else 1.0)
    for each in range(count):
        places[runs[each] & mask] = runs[each] >> 16 or 1
    PyMem_Free(runs)
    return shares
