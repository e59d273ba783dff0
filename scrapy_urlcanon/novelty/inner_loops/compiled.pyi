from array import array
from collections.abc import Iterable, Sequence

def split_url(url: str) -> tuple[str, str, str]: ...
def note_texts(
    counts: bytearray,
    path: tuple[str, ...],
    query: tuple[tuple[str, str], ...],
    of_host: int,
) -> tuple[bytes, int, int]: ...
def hash_texts(
    path: tuple[str, ...], query: tuple[tuple[str, str], ...], of_host: int
) -> bytes: ...
def expect(weights: array[float], features: bytes, prior: float) -> float: ...
def doubt(known: array[float], features: bytes) -> float: ...
def count_on(
    weights: array[float], known: array[float], kinds: Iterable[bytes], prior: float
) -> list[float]: ...
def learn(
    weights: array[float],
    known: array[float],
    features: bytes,
    prior: float,
    share: float,
    *,
    again: bool,
) -> None: ...
def note_lines(
    places: array[int],
    counts: bytearray,
    masked: Sequence[int],
    exact: Sequence[int],
    lengths: Sequence[int],
) -> tuple[int, int, float]: ...
