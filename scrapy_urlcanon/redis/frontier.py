"""The keys that the processes of a crawl share in Redis, and the calls that change them."""

from __future__ import annotations

import logging
import re
import time
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from redis.exceptions import LockNotOwnedError, NoPermissionError, RedisError

from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.redis import scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from scrapy import Request

logger = logging.getLogger(__name__)

KEPT: Final = 7 * 86_400
"""Keys whose loss costs no page expire this many seconds after the last write."""
ALIVE: Final = 30.0
"""A process counts as gone after this many seconds without a sign of life."""
_BEAT = 5.0
_NO_EVICTION = "noeviction"
_UNREADABLE = "unreadable"
"""Takes the place of a process name for requests that no process could read."""
_TYPES = {"priority": "zset", "fifo": "list", "lifo": "list"}


class Frontier:
    """Runs the scripts of :mod:`.scripts`, and tracks the requests on their way in each process.

    Nothing is lost while Redis does not answer or is full: requests and results wait in this
    process until Redis takes them.

    :param server: the client of Redis.
    :param name: the name of the spider.
    :param queue: the key of the queue.
    :param seen: the key of the set of seen fingerprints.
    :param kind: the kind of the queue: ``priority``, ``fifo`` or ``lifo``.
    """

    def __init__(self, server: Any, name: str, queue: str, seen: str, kind: str) -> None:
        self.server = server
        self.prefix = f"{name}:urlcanon:"
        self._lock = f"{name}:urlcanon-lock"
        self.queue = queue
        self.seen = seen
        self.kind = kind
        self.rules = f"{seen}:urlcanon:rules"
        """The key of the rules under which *seen* was filled; several spiders may share that."""
        self.lives = f"{self.prefix}lives"
        self.first = f"{self.prefix}first"
        """The key of the first URL under each fingerprint, unless it is the canonical one."""
        self._processes = f"{self.prefix}processes"
        self._done = f"{self.prefix}done"
        self.name = uuid4().hex
        """The name of this process."""
        self._flying: dict[str, Request] = {}
        self._scripts: dict[str, Any] = {}
        self._number = 0
        self._last_beat = 0.0
        self._untold: deque[tuple[str, Sequence[str], Sequence[Any]]] = deque()
        self._held: deque[tuple[Sequence[str], Sequence[Any], Callable[[str], None]]] = deque()
        self.is_down = False
        self._check()
        self._warn_of_eviction()

    def enqueue(
        self,
        fingerprint: str,
        value: bytes,
        url: str,
        half: int,
        *,
        records: bool,
        drops: bool,
        on_dropped: Callable[[str], None],
    ) -> str | None:
        """Queue a request, unless it is a duplicate.

        If Redis does not answer the request waits here, and is queued or refused later.

        :param fingerprint: in hexadecimal; empty for a request that is not filtered.
        :param value: the request as it is stored; empty if it is queued in this process instead.
        :param url: its URL if that is not the canonical one.
        :param half: how many first URLs each generation remembers.
        :param records: whether to record the fingerprint as seen.
        :param drops: whether to refuse the request if the fingerprint was seen.
        :param on_dropped: called with the first URL of its page if it is refused later.
        :return: None if it is queued or waits. If it is refused, the first URL of its page, or ""
            if that is the canonical one.
        """
        arguments = (fingerprint, int(records), int(drops), self.kind, value, url, half, KEPT)
        keys = (self.seen, self.queue, self.first)
        try:
            taken, *first = self.run(scripts.ENQUEUE, keys, arguments)
        except RedisError as error:
            self.failed(error)
            self._held.append((keys, arguments, on_dropped))
            return None
        return None if taken else first[0].decode()

    def pop(self, under_way: Iterable[Request]) -> tuple[str, bytes] | None:
        """Take the next request from the queue; return a number for it, and its data.

        :param under_way: the requests still on their way here; all others are forgotten.
        :raises RedisError: if Redis does not answer.
        """
        self._number += 1
        number = str(self._number)
        landed = self._landed(under_way)
        keys = (self.queue, self._flight(self.name), self._done)
        data = self.run(scripts.POP, keys, (self.kind, self.name, number, *landed))
        self._forget(landed)
        return (number, data) if data else None

    def took_off(self, number: str, request: Request) -> None:
        """Note that *request* is on its way under *number*."""
        self._flying[number] = request

    def set_aside(self, number: str) -> None:
        """Keep the request *number*, which cannot be read here, for processes that join later.

        :raises RedisError: if Redis does not answer.
        """
        flight = self._flight(self.name)
        value = self.server.hget(flight, number)
        self.server.hset(self._flight(_UNREADABLE), f"{self.name} {number}", value)
        self.server.hdel(flight, number)

    def land(self, under_way: Iterable[Request]) -> None:
        """Forget the requests that are no longer on their way here.

        :raises RedisError: if Redis does not answer.
        """
        landed = self._landed(under_way)
        if landed:
            self.server.hdel(self._flight(self.name), *landed)
            self._forget(landed)

    def tell(self, script: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Run *script*. If Redis does not answer, run it later, in order, and return None."""
        if not self._untold:
            try:
                return self.run(script, keys, arguments)
            except RedisError as error:
                self.failed(error)
        self._untold.append((script, keys, arguments))
        return None

    def ask(self, script: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Return the result of *script*, or None if Redis does not answer."""
        try:
            return self.run(script, keys, arguments)
        except RedisError as error:
            self.failed(error)
            return None

    def run(self, script: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Run *script*.

        :raises RedisError: if Redis does not answer, or is full.
        """
        known = self._scripts.get(script)
        if known is None:
            known = self._scripts[script] = self.server.register_script(script)
        return known(keys=keys, args=arguments)

    def beat(self) -> bool:
        """Give a sign of life every few seconds, and queue the requests of processes that are gone.

        :return: whether it was time to do so.
        :raises RedisError: if Redis does not answer.
        """
        now = time.monotonic()
        if now - self._last_beat < _BEAT and not self.is_down:
            return False
        self.server.sadd(self._processes, self.name)
        self.server.set(self._alive(self.name), "1", px=int(ALIVE * 1000))
        if self.is_down:
            self._recover()
        for other in self._others():
            keys = (self.queue, self._flight(other), self._processes, self._alive(other))
            count = self.run(scripts.REQUEUE, keys, (self.kind, other))
            if count > 0:
                logger.warning(
                    "A process of this crawl is gone. %(count)d requests that it was working on "
                    "are queued again.",
                    {"count": count},
                )
        self._last_beat = now
        return True

    def is_busy_elsewhere(self) -> bool:
        """Tell whether other processes have requests on their way, or had when they were killed."""
        return any(self.server.hlen(self._flight(other)) for other in self._others())

    def are_all_done(self) -> bool:
        """Announce that nothing is left to do here; return whether all other processes have too.

        A process that was killed has not, and counts until it is taken for gone.
        """
        self.server.sadd(self._done, self.name)
        return all(self.server.sismember(self._done, other) for other in self._others())

    def go_on(self) -> None:
        """Withdraw the announcement that nothing is left to do here."""
        self.tell(scripts.FORGET, (self._done,), (self.name,))

    def is_last(self) -> bool:
        """Tell whether no other process takes part in the crawl."""
        return not any(self.server.exists(self._alive(other)) for other in self._others())

    def join(self, *, persists: bool, flushes: bool) -> None:
        """Take part in the crawl; first delete what a crawl that has ended left behind.

        :param persists: whether to keep that (``SCHEDULER_PERSIST``).
        :param flushes: whether to delete everything, even that of a running crawl.
        :raises RedisError: if Redis does not answer.
        """
        with self._alone():
            if flushes or (not persists and self.has_ended()):
                self.clear()
            # This process may have newer code, and be able to read them.
            self._requeue(_UNREADABLE)
            self.beat()

    def leave(self, *, persists: bool) -> None:
        """Leave the crawl, and queue what is on its way here. The last process deletes everything.

        :param persists: whether to keep it all the same (``SCHEDULER_PERSIST``).
        :raises RedisError: if Redis does not answer.
        """
        with self._alone():
            self._requeue(self.name)
            for names in (self._processes, self._done):
                self.server.srem(names, self.name)
            self.server.delete(self._alive(self.name))
            if not persists and self.is_last():
                self.clear()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from joining or leaving in the meantime.

        The last process deletes everything after it has found nobody else. A process that joined in
        between would lose its name and the requests it has queued.
        """
        lock = self.server.lock(self._lock, timeout=ALIVE)
        lock.acquire()
        try:
            yield
        finally:
            # The lock expired before this was done.
            with suppress(LockNotOwnedError):
                lock.release()

    def has_ended(self) -> bool:
        """Tell whether the stored crawl has ended: nobody takes part, and nothing is left to do."""
        return (
            self.is_last()
            and not self.server.exists(self.queue, f"{self.prefix}pages", self._flight(_UNREADABLE))
            and not self.is_busy_elsewhere()
        )

    def clear(self) -> None:
        """Delete all keys of the crawl, including its queue and what was seen."""
        self.server.delete(self.queue, self.seen, self.rules)
        # The name of a spider may contain characters with a meaning in patterns.
        prefix = re.sub(r"([*?\[\]\\])", r"\\\1", self.prefix)
        for key in self.server.scan_iter(match=f"{prefix}*", count=1000):
            self.server.delete(key)

    def failed(self, error: RedisError) -> None:
        """Note that Redis did not answer; logged once until it does."""
        if not self.is_down:
            self.is_down = True
            logger.error(
                "Redis does not answer, or is full: %(error)s. Requests and results wait in memory "
                "until it does.",
                {"error": str(error).rstrip(".")},
            )

    def _recover(self) -> None:
        """Do what could not be done while Redis did not answer."""
        while self._untold:
            self.run(*self._untold[0])
            self._untold.popleft()
        while self._held:
            keys, arguments, on_dropped = self._held[0]
            taken, *first = self.run(scripts.ENQUEUE, keys, arguments)
            self._held.popleft()
            if not taken:
                on_dropped(first[0].decode())
        # Requests that a call took from the queue whose answer was lost.
        self._requeue(self.name, known=self._flying)
        self.is_down = False
        logger.warning("Redis answers again.")

    def _requeue(self, name: str, known: Iterable[str] = ()) -> None:
        """Queue again what is on its way under *name*, but for requests with *known* numbers."""
        self.run(scripts.REQUEUE, (self.queue, self._flight(name)), (self.kind, name, *known))

    def _check(self) -> None:
        """Check before the crawl that Redis can be used.

        :raises ConfigurationError: if keys belong to something else, or answers are not bytes.
        :raises RedisError: if Redis does not answer, or runs no scripts with several keys.
        """
        expected = {self.seen: "set", self.queue: _TYPES[self.kind]}
        for key, kind in expected.items():
            answer = self.server.type(key)
            if isinstance(answer, str):
                message = "expected without decode_responses: requests are bytes"
                raise ConfigurationError([Problem("REDIS_PARAMS", message)])
            found = answer.decode()
            if found not in {kind, "none"}:
                message = (
                    f"the key {key!r} in Redis is a {found}, not a {kind}: it is another job's"
                )
                raise ConfigurationError([Problem("SCHEDULER", message)])
        # A script that has nothing to do yet. It fails on a cluster, and for a user who may run no
        # scripts.
        self._requeue(self.name)

    def _warn_of_eviction(self) -> None:
        """Warn if Redis evicts keys when it is full, since none may be lost."""
        try:
            memory = self.server.info("memory")
        except NoPermissionError:
            return
        policy = memory.get("maxmemory_policy", _NO_EVICTION)
        if memory.get("maxmemory") and policy != _NO_EVICTION:
            logger.warning(
                "Redis throws away keys once it is full (maxmemory-policy %(policy)s): requests "
                "that are queued or on their way, or what was seen, and pages are lost with them. "
                "Set it to %(right)s: requests wait in the processes then until there is room.",
                {"policy": policy, "right": _NO_EVICTION},
            )

    def _landed(self, under_way: Iterable[Request]) -> list[str]:
        under_way = set(under_way)
        return [number for number, request in self._flying.items() if request not in under_way]

    def _forget(self, landed: Iterable[str]) -> None:
        for number in landed:
            del self._flying[number]

    def _others(self) -> list[str]:
        names = (name.decode() for name in self.server.smembers(self._processes))
        return [name for name in names if name != self.name]

    def _flight(self, name: str) -> str:
        return f"{self.prefix}flight:{name}"

    def _alive(self, name: str) -> str:
        return f"{self.prefix}alive:{name}"
