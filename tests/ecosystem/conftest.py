"""A Redis server for each test."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from ecosystem.shared_frontier import HEARTBEAT, wait_for
from scrapy.core.engine import ExecutionEngine


class RedisServer:
    """Debian's ``redis-server``, on a socket in a directory of its own."""

    def __init__(self, directory, *options):
        self._directory = Path(directory)
        self._options = options
        self.url = f"unix://{directory}/socket"
        self._process = None

    def start(self):
        """Start it, with the data that it had when it was stopped."""
        command = ["redis-server", "--port", "0", "--unixsocket", f"{self._directory}/socket"]
        command += ["--dir", str(self._directory), "--save", "", "--appendonly", "yes"]
        command += ["--appendfsync", "no", "--logfile", f"{self._directory}/log", *self._options]
        self._process = subprocess.Popen(command)
        # The socket is there before Redis listens on it, and Redis answers before it has read
        # what it had.
        wait_for(self._answers)

    def _answers(self):
        """Tell whether it answers."""
        from redis.exceptions import ConnectionError  # noqa: A004, PLC0415

        try:
            return self.client.ping()
        except ConnectionError:
            return False

    def stop(self):
        """Kill it."""
        self._process.kill()
        self._process.wait()
        (self._directory / "socket").unlink(missing_ok=True)

    def cannot_save(self):
        """Make saving to disk fail, so that it accepts no more writes."""
        self.client.config_set("save", "3600 1")
        (self._directory / "dump.rdb").mkdir()
        self._save("err")

    def can_save(self):
        """Let it save again."""
        (self._directory / "dump.rdb").rmdir()
        self._save("ok")

    def _save(self, status):
        self.client.bgsave()
        wait_for(lambda: self.client.info("persistence")["rdb_last_bgsave_status"] == status)

    @property
    def client(self):
        """A new connection."""
        import redis  # noqa: PLC0415

        return redis.Redis.from_url(self.url)


@pytest.fixture
def redis_server(monkeypatch):
    """Return a running server, or skip if Debian's package redis-server is missing."""
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", HEARTBEAT)
    if not shutil.which("redis-server"):
        pytest.skip("needs Debian's redis-server, which is not here")
    # A socket's path is short.
    with tempfile.TemporaryDirectory(prefix="redis") as directory:
        server = RedisServer(directory)
        server.start()
        yield server
        server.stop()
