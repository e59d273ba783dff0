# cython: language_level=3, boundscheck=False, wraparound=False, embedsignature=True
"""The inner loops of the fast path over the characters of a URL, compiled.

Each function returns what the function of the same name in :mod:`.in_python` or
:mod:`~scrapy_urlcanon.canonicalizer.percent_encoding` returns. Those are used if this could not be
built, for want of a C compiler, and for text that is not ASCII.
"""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memchr, memcmp

from scrapy_urlcanon.canonicalizer import percent_encoding

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    const unsigned char* PyUnicode_1BYTE_DATA(object text)
    str PyUnicode_Substring(object text, Py_ssize_t start, Py_ssize_t end)
    str PyUnicode_DecodeASCII(const char* text, Py_ssize_t size, const char* errors)

# Classes of characters, one bit each.
cdef enum:
    IN_PATH = 1
    IN_QUERY = 2
    VISIBLE = 4
    # Characters that stay percent-encoded.
    ENCODED_IN_PATH = 8
    ENCODED_IN_QUERY = 16
    IN_HOST = 32
    LOWER = 64
    DIGIT = 128

# Kinds of names in the Public Suffix List, as in `in_python`.
cdef enum:
    SUFFIX = 1
    ANY_LABEL = 2
    EXCEPTION = 4

cdef unsigned char[256] KINDS
cdef signed char[256] DIGITS
cdef const char* HEX = b"0123456789ABCDEF"
# The output for a text up to this size is made on the stack.
cdef enum:
    SHORT = 512

for _number in range(256):
    KINDS[_number] = (
        (IN_PATH if _number in percent_encoding.RAW_IN_PATH or _number in b"/;" else 0)
        | (IN_QUERY if _number in percent_encoding.PLAIN_IN_QUERY else 0)
        | (VISIBLE if 0x21 <= _number <= 0x7E else 0)
        | (ENCODED_IN_PATH if _number not in percent_encoding.RAW_IN_PATH else 0)
        | (IN_HOST if _number in b"abcdefghijklmnopqrstuvwxyz0123456789-_." else 0)
        | (LOWER if _number in b"abcdefghijklmnopqrstuvwxyz" else 0)
        | (DIGIT if _number in b"0123456789" else 0)
        | (ENCODED_IN_QUERY if _number in percent_encoding.ENCODED_IN_QUERY else 0)
    )
    DIGITS[_number] = b"0123456789ABCDEF".find(bytes([_number]).upper())


cdef object _module_in_python = None


cdef object _in_python():
    """Return the module in Python, imported for the first text that is not ASCII; few are not."""
    global _module_in_python
    if _module_in_python is None:
        from scrapy_urlcanon.canonicalizer.inner_loops import in_python
        _module_in_python = in_python
    return _module_in_python


cdef inline int _escaped(const unsigned char* text, Py_ssize_t left) noexcept:
    """Return the byte that the escape at the beginning of *text* stands for; -1 if there is none.

    *left* is the number of bytes of *text*.
    """
    if left < 3 or text[0] != b"%" or DIGITS[text[1]] < 0 or DIGITS[text[2]] < 0:
        return -1
    return DIGITS[text[1]] << 4 | DIGITS[text[2]]


cdef inline bint _is_kept(const unsigned char* text, Py_ssize_t left, int kind) noexcept:
    """Tell whether *text* begins with an upper-case escape of a character of *kind*."""
    cdef int escaped = _escaped(text, left)
    return escaped >= 0 and KINDS[escaped] & kind and text[1] < b"a" and text[2] < b"a"


cdef inline char* _put_escape(char* out, int number) noexcept:
    out[0], out[1], out[2] = b"%", HEX[number >> 4], HEX[number & 15]
    return out + 3


cdef bint _is_path(const unsigned char* text, Py_ssize_t size) noexcept:
    """Tell whether *text* is a path whose percent-encoding is normalized."""
    cdef Py_ssize_t at = 0
    while at < size:
        if KINDS[text[at]] & IN_PATH:
            at += 1
        elif _is_kept(text + at, size - at, ENCODED_IN_PATH):
            at += 3
        else:
            return False
    return True


cdef Py_ssize_t _put_path(const unsigned char* text, Py_ssize_t size, char* out) noexcept:
    """Write the path *text* with normalized percent-encoding to *out*.

    Percent signs that begin no escape are left to :func:`_put_stray`.
    """
    cdef char* end = out
    cdef Py_ssize_t at = 0
    cdef int escaped
    while at < size:
        escaped = _escaped(text + at, size - at)
        if escaped >= 0:
            if KINDS[escaped] & ENCODED_IN_PATH:
                end = _put_escape(end, escaped)
            else:
                end[0] = <char>escaped
                end += 1
            at += 3
            continue
        if KINDS[text[at]] & IN_PATH or text[at] == b"%":
            end[0] = <char>text[at]
            end += 1
        else:
            end = _put_escape(end, text[at])
        at += 1
    return end - out


cdef Py_ssize_t _put_stray(const unsigned char* text, Py_ssize_t size, char* out) noexcept:
    """Write *text* to *out*, with ``%25`` for each percent sign that begins no escape."""
    cdef char* end = out
    cdef Py_ssize_t at
    for at in range(size):
        if text[at] == b"%" and not _is_kept(text + at, size - at, ENCODED_IN_PATH):
            end = _put_escape(end, b"%")
        else:
            end[0] = <char>text[at]
            end += 1
    return end - out


cdef str _path(const unsigned char* text, Py_ssize_t size):
    """Return the path *text* with normalized percent-encoding, if it is not normalized yet."""
    cdef char[6 * SHORT] short
    # Each of the two steps turns one character into at most three.
    cdef char* out = short
    if size > SHORT // 2:
        out = <char*>PyMem_Malloc(12 * size)
    cdef Py_ssize_t length
    if out == NULL:
        raise MemoryError
    try:
        length = _put_path(text, size, out)
        if memchr(out, b"%", length) == NULL:
            return PyUnicode_DecodeASCII(out, length, NULL)
        size = _put_stray(<const unsigned char*>out, length, out + length)
        return PyUnicode_DecodeASCII(out + length, size, NULL)
    finally:
        if out != short:
            PyMem_Free(out)


cdef bint _is_query(const unsigned char* text, Py_ssize_t size) noexcept:
    """Tell whether *text* is a normalized query with at least one parameter."""
    cdef Py_ssize_t at = 0
    cdef int signs = 0
    while at < size:
        if KINDS[text[at]] & IN_QUERY:
            at += 1
        elif text[at] == b"=" and signs == 0:
            signs = 1
            at += 1
        elif text[at] == b"&" and signs == 1:
            signs = 0
            at += 1
        elif _is_kept(text + at, size - at, ENCODED_IN_QUERY):
            at += 3
        else:
            return False
    return signs == 1


cdef Py_ssize_t _put_query(const unsigned char* text, Py_ssize_t size, char* out) noexcept:
    """Write the normalized query *text* to *out*: at most three characters for each."""
    cdef char* end = out
    cdef Py_ssize_t at = 0
    cdef bint is_empty = True, has_sign = False
    cdef int number
    while at < size:
        if text[at] == b"&":
            if not is_empty:
                if not has_sign:
                    end[0] = b"="
                    end += 1
                end[0] = b"&"
                end += 1
            is_empty, has_sign = True, False
            at += 1
            continue
        is_empty = False
        number = text[at]
        if number == b"=" and not has_sign:
            has_sign = True
            end[0] = b"="
            end += 1
            at += 1
            continue
        if number == b"%" and _escaped(text + at, size - at) >= 0:
            number = _escaped(text + at, size - at)
            at += 3
            if number == b"+":
                end = _put_escape(end, number)
                continue
        else:
            at += 1
        if KINDS[number] & IN_QUERY:
            end[0] = <char>number
            end += 1
        elif number == b" ":
            end[0] = b"+"
            end += 1
        else:
            end = _put_escape(end, number)
    if not is_empty:
        if not has_sign:
            end[0] = b"="
            end += 1
    elif end > out:
        # The last parameter was empty.
        end -= 1
    return end - out


cdef str _query(const unsigned char* text, Py_ssize_t size):
    """Return the query *text* normalized, if it is not normalized yet."""
    cdef char[3 * SHORT + 1] short
    cdef char* out = short
    if size > SHORT:
        out = <char*>PyMem_Malloc(3 * size + 1)
    if out == NULL:
        raise MemoryError
    try:
        return PyUnicode_DecodeASCII(out, _put_query(text, size, out), NULL)
    finally:
        if out != short:
            PyMem_Free(out)


def encode_path(path):
    if type(path) is not str or not PyUnicode_IS_ASCII(path):
        return percent_encoding.encode_path(path)
    cdef const unsigned char* text = PyUnicode_1BYTE_DATA(path)
    cdef Py_ssize_t size = len(path)
    return path if _is_path(text, size) else _path(text, size)


def encode_query(query):
    if type(query) is not str or not PyUnicode_IS_ASCII(query):
        return percent_encoding.encode_query(query)
    cdef const unsigned char* text = PyUnicode_1BYTE_DATA(query)
    cdef Py_ssize_t size = len(query)
    return query if _is_query(text, size) else _query(text, size)


cdef Py_ssize_t _start_of_plain_host(const unsigned char* text, Py_ssize_t size) noexcept:
    """Return the index in *text*, scheme and host, where a plain host begins; -1 for none."""
    cdef Py_ssize_t start, at
    if size >= 8 and memcmp(text, b"http://", 7) == 0:
        start = 7
    elif size >= 9 and memcmp(text, b"https://", 8) == 0:
        start = 8
    else:
        return -1
    if text[start] == b".":
        return -1
    # A last label with other characters than letters could be a number.
    at = size
    while at > start and KINDS[text[at - 1]] & LOWER:
        at -= 1
    if at == size or (at > start and text[at - 1] != b"."):
        return -1
    for at in range(start, at):
        if (
            not KINDS[text[at]] & IN_HOST
            or (text[at] == b"." and text[at + 1] == b".")
            or (text[at] == b"x" and memcmp(text + at, b"xn--", min(4, size - at)) == 0)
        ):
            return -1
    return start


def plain_host(prefix):
    if type(prefix) is not str or not PyUnicode_IS_ASCII(prefix):
        return _in_python().plain_host(prefix)
    cdef Py_ssize_t size = len(prefix)
    cdef Py_ssize_t start = _start_of_plain_host(PyUnicode_1BYTE_DATA(prefix), size)
    return None if start < 0 else PyUnicode_Substring(prefix, start, size)


cdef inline Py_ssize_t _start_of_label(
    const unsigned char* text, Py_ssize_t first, Py_ssize_t end
) noexcept:
    """Return the start of the label that ends at *end*, in the host that begins at *first*."""
    while end > first and text[end - 1] != b".":
        end -= 1
    return end


cdef bint _is_under(str text, Py_ssize_t first, set ends) except -1:
    """Do as :func:`is_under` for the host that begins at *first* and ends with *text*."""
    cdef const unsigned char* letters = PyUnicode_1BYTE_DATA(text)
    cdef Py_ssize_t size = len(text)
    cdef Py_ssize_t last = _start_of_label(letters, first, size)
    cdef Py_ssize_t before = _start_of_label(letters, first, last - 1) if last > first else first
    return (
        PyUnicode_Substring(text, before, size) in ends
        or PyUnicode_Substring(text, last, size) in ends
    )


def is_under(host, set ends not None):
    if type(host) is not str or not PyUnicode_IS_ASCII(host):
        return _in_python().is_under(host, ends)
    return _is_under(host, 0, ends)


cdef bint _is_number(const unsigned char* text, Py_ssize_t start, Py_ssize_t end) noexcept:
    while start < end and KINDS[text[start]] & DIGIT:
        start += 1
    return start == end


cdef Py_ssize_t _start_of_domain(str whole, Py_ssize_t first, dict names) except -2:
    """Return the start of the registrable domain in the host from *first* on; -1 for none.
    """
    cdef const unsigned char* text = PyUnicode_1BYTE_DATA(whole)
    cdef Py_ssize_t size = len(whole)
    cdef Py_ssize_t start = _start_of_label(text, first, size), suffix = start, at
    cdef object found = names.get(PyUnicode_Substring(whole, start, size))
    cdef int kind
    # An IPv6 address ends with a bracket.
    if found is None and (
        start == size or text[size - 1] == b"]" or _is_number(text, start, size)
    ):
        return -1
    if text[first] == b".":
        return -1
    for at in range(first + 1, size):
        if text[at] == b"." and text[at - 1] == b".":
            return -1
    while found is not None:
        kind = found
        if kind & SUFFIX:
            suffix = start
        elif kind & EXCEPTION:
            while start < size and text[start] != b".":
                start += 1
            suffix = start + 1
            break
        if start == first:
            break
        start = _start_of_label(text, first, start - 1)
        if kind & ANY_LABEL:
            suffix = start
        found = names.get(PyUnicode_Substring(whole, start, size))
    return _start_of_label(text, first, suffix - 1) if suffix > first else -1


def start_of_domain(host, dict names not None):
    if type(host) is not str or not PyUnicode_IS_ASCII(host):
        return _in_python().start_of_domain(host, names)
    return _start_of_domain(host, 0, names)


cdef Py_ssize_t _behind_www(str whole, Py_ssize_t first, dict names, bint numbered) except -1:
    """Return the index in *whole* at which the host from *first* on begins without its ``www``."""
    cdef const unsigned char* text = PyUnicode_1BYTE_DATA(whole)
    cdef Py_ssize_t at = first, end, start
    if len(whole) - first < 4 or memcmp(text + first, b"www", 3) != 0:
        return first
    start = _start_of_domain(whole, first, names)
    while at + 4 <= start and memcmp(text + at, b"www", 3) == 0:
        end = at + 3
        while numbered and KINDS[text[end]] & DIGIT:
            end += 1
        if text[end] != b"." or end + 1 > start:
            break
        at = end + 1
    return at


def without_www(host, dict names not None, *, bint numbered):
    if type(host) is not str or not PyUnicode_IS_ASCII(host):
        return _in_python().without_www(host, names, numbered=numbered)
    cdef Py_ssize_t at = _behind_www(host, 0, names, numbered)
    return PyUnicode_Substring(host, at, len(host)) if at else host


def canonical_prefix(prefix, set ends not None, str scheme not None, dict names, bint numbered):
    if type(prefix) is not str or not PyUnicode_IS_ASCII(prefix):
        return _in_python().canonical_prefix(prefix, ends, scheme, names, numbered)
    cdef Py_ssize_t size = len(prefix)
    cdef Py_ssize_t start = _start_of_plain_host(PyUnicode_1BYTE_DATA(prefix), size), at
    if start < 0 or _is_under(prefix, start, ends):
        return None
    at = start if names is None else _behind_www(prefix, start, names, numbered)
    if at == start and (not scheme or prefix.startswith(scheme)):
        return prefix
    return (scheme or PyUnicode_Substring(prefix, 0, start)) + PyUnicode_Substring(prefix, at, size)


def trimmed_path(path, frozenset indexes not None):
    if type(path) is not str or not PyUnicode_IS_ASCII(path):
        return _in_python().trimmed_path(path, indexes)
    cdef const unsigned char* text = PyUnicode_1BYTE_DATA(path)
    cdef Py_ssize_t size = len(path), end = size, at, segment = 0
    for at in range(size):
        if text[at] == b"/":
            if segment == at and at > 0:
                return None
            segment = at + 1
    if PyUnicode_Substring(path, segment, size) in indexes:
        end = segment
    if end > 1 and text[end - 1] == b"/":
        end -= 1
        segment = end
        while segment > 0 and text[segment - 1] != b"/":
            segment -= 1
        if PyUnicode_Substring(path, segment, end) in indexes:
            return None
    return path if end == size else PyUnicode_Substring(path, 0, end)


def are_named(query, set names not None):
    if type(query) is not str or not PyUnicode_IS_ASCII(query):
        return _in_python().are_named(query, names)
    cdef const unsigned char* text = PyUnicode_1BYTE_DATA(query)
    cdef Py_ssize_t size = len(query), start = 0, sign
    cdef const unsigned char* end
    while True:
        end = <const unsigned char*>memchr(text + start, b"=", size - start)
        sign = size if end == NULL else end - text
        if PyUnicode_Substring(query, start, sign) not in names:
            return False
        end = <const unsigned char*>memchr(text + sign, b"&", size - sign)
        if end == NULL:
            return True
        start = end - text + 1


def are_filled(query, set names not None):
    if type(query) is not str or not PyUnicode_IS_ASCII(query):
        return _in_python().are_filled(query, names)
    cdef const unsigned char* text = PyUnicode_1BYTE_DATA(query)
    cdef const unsigned char* last = text + len(query)
    cdef const unsigned char* start = text
    cdef const unsigned char* sign
    while True:
        sign = <const unsigned char*>memchr(start, b"=", last - start)
        if (
            sign == NULL
            or sign == start
            or sign + 1 == last
            or sign[1] == b"&"
            or PyUnicode_Substring(query, start - text, sign - text) not in names
        ):
            return False
        sign = <const unsigned char*>memchr(sign, b"&", last - sign)
        if sign == NULL:
            return True
        start = sign + 1


def sort_query(query):
    if type(query) is not str or not PyUnicode_IS_ASCII(query):
        return _in_python().sort_query(query)
    cdef const unsigned char* text = PyUnicode_1BYTE_DATA(query)
    cdef const unsigned char* end = text + len(query)
    cdef const unsigned char* last = text
    cdef const unsigned char* sign = <const unsigned char*>memchr(text, b"&", end - text)
    cdef const unsigned char* next_sign
    cdef Py_ssize_t last_size, size
    cdef int order
    while sign != NULL:
        last_size = sign - last
        sign += 1
        next_sign = <const unsigned char*>memchr(sign, b"&", end - sign)
        size = (end if next_sign == NULL else next_sign) - sign
        order = memcmp(last, sign, min(last_size, size))
        if order > 0 or (order == 0 and last_size > size):
            pieces = query.split("&")
            pieces.sort()
            return "&".join(pieces)
        last, sign = sign, next_sign
    return query


def read(url):
    if type(url) is not str or not PyUnicode_IS_ASCII(url):
        return _in_python().read(url)
    cdef const unsigned char* text = PyUnicode_1BYTE_DATA(url)
    cdef Py_ssize_t size = len(url), start = 8
    while start < size and text[start] != b"/":
        start += 1
    start = min(start, size)
    cdef Py_ssize_t at = start, end_of_path, end
    cdef bint is_spelled_so = True, has_dots = False
    while at < size and (KINDS[text[at]] & IN_PATH or text[at] == b"%") and text[at] != b";":
        if text[at] == b"%":
            is_spelled_so = False
        elif text[at] == b"." and text[at - 1] == b"/":
            has_dots = True
        at += 1
    end_of_path = at
    if at == size and start < size and is_spelled_so:
        return None if has_dots else PyUnicode_Substring(url, 0, start)
    if at < size and text[at] == b"?":
        at += 1
        while at < size and KINDS[text[at]] & VISIBLE and text[at] != b"#":
            at += 1
    end = at
    if at < size and text[at] == b"#":
        is_spelled_so = False
        at += 1
        while at < size and KINDS[text[at]] & VISIBLE:
            at += 1
    if at < size:
        return None
    path = "/" if end_of_path == start else PyUnicode_Substring(url, start, end_of_path)
    if not is_spelled_so:
        path = encode_path(path)
        has_dots = "/." in path
    if has_dots:
        return None
    text += end_of_path + 1
    size = end - end_of_path - 1
    if size <= 0:
        query = ""
        is_spelled_so = False
    elif _is_query(text, size):
        query = PyUnicode_Substring(url, end_of_path + 1, end)
    else:
        query = _query(text, size)
        is_spelled_so = False
    return PyUnicode_Substring(url, 0, start), path, query, is_spelled_so
