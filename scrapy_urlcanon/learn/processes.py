"""The same work on many things in several processes."""

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
    """Yield what *work* makes of each item, in the order in which it is done.

    Each process is given the next item when it is done with one, and *work* once. It begins with
    an interpreter of its own, on every system, whose garbage collector is paused.

    :raises ProcessError: where a process ends that should not, as one that the system kills for its
        memory.
    """
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (work,))
    try:
        # Ctrl-C is for this process alone, which ends the others.
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
        # They would else go on until they are done.
        for process in set(multiprocessing.active_children()) - before:
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Let no signal of Ctrl-C through, for a while; processes that are started then get none."""
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
    # To look for garbage among millions of URLs, again and again, takes an eighth of the time.
    gc.disable()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End when the process that started this one has, however it did."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(item: Any) -> Any:
    return _work(item)
