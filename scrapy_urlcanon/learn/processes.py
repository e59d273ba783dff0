"""Does the same work on many items in several processes."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy_urlcanon.exceptions import ProcessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: Callable[[Any], Any]


def usable_processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def in_processes(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int
) -> Iterator[Result]:
    """Yield the results of *work* for each item, in the order in which they are ready.

    Each process gets *work* once, and the next item whenever it is done with one. Processes are
    spawned, not forked, on every system, with garbage collection off.

    :raises ProcessError: if a process dies, such as one that the system kills for its memory use.
    """
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (work,))
    try:
        # Ctrl-C goes to this process only, which ends the others.
        with _no_interrupts():
            futures = [pool.submit(_do, item) for item in items]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool as error:
        raise ProcessError(
            "a process of its own ended before it was done, as where memory is short; "
            "fewer of them (--jobs) take less"
        ) from error
    except BaseException:
        # Else they would go on until they are done.
        for process in set(multiprocessing.active_children()) - before:
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block SIGINT; processes that are started meanwhile inherit that."""
    if not hasattr(signal, "pthread_sigmask"):  # not on every system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(work: Callable[[Any], Any]) -> None:
    global _work  # noqa: PLW0603 - what the process is for
    _work = work
    # Collecting garbage among millions of URLs would take an eighth of the time.
    gc.disable()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit as soon as the parent process has ended, for whatever reason."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(item: Any) -> Any:
    return _work(item)
