"""Describes a program: what it needs, how it is filled with content, how it is served."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import urlopen
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

CACHE = Path(os.environ.get("URLCANON_PROGRAMS", "/var/tmp/urlcanon-programs"))
"""The folder of environments and filled programs, which servers without privileges can read too."""
_FIRST_PORT = int(os.environ.get("URLCANON_PROGRAMS_PORT", "18000"))
_PORTS = 4_000
_SECONDS_TO_START = 90


class Unavailable(Exception):  # noqa: N818 - it is not the fault of anybody
    """A program cannot run here; the text says what is missing."""


@dataclass
class Place:
    """The folder and the address of one program."""

    folder: Path
    port: int
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(
        self, *command: str | Path, given: str = "", env: Mapping[str, str] | None = None
    ) -> str:
        """Run *command* in the folder, and return what it prints."""
        done = subprocess.run(
            [str(part) for part in command],
            input=given.encode(),
            env={**os.environ, **(env or {})},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        said = done.stdout.decode(errors="replace")
        if done.returncode:
            shown = " ".join(str(part) for part in command)
            raise Unavailable(f"{shown} failed:\n{said[-2000:]}")
        return said

    def start(self, *command: str | Path, env: Mapping[str, str] | None = None) -> None:
        """Start *command* in the folder, to be ended with the program."""
        with (self.folder / "server.log").open("ab") as log:
            self.processes.append(
                subprocess.Popen(
                    [str(part) for part in command],
                    env={**os.environ, **(env or {})},
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file below the folder."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def is_answering(self) -> bool:
        """Return whether something listens there."""
        with socket(AF_INET, SOCK_STREAM) as connection:
            return connection.connect_ex(("127.0.0.1", self.port)) == 0

    def wait(self, path: str = "/") -> None:
        """Return once the program answers, with whatever status but a failure."""
        said = ""
        for _ in range(_SECONDS_TO_START * 4):
            ended = [each.args for each in self.processes if each.poll() is not None]
            if ended:
                said = f"{ended} ended"
                break
            try:
                with urlopen(self.url + path, timeout=30):  # the address is ours
                    return
            except HTTPError as error:
                if error.code < 500:  # noqa: PLR2004
                    return
                said = f"{error}: {error.read()[-1000:].decode(errors='replace')}"
            except (URLError, OSError) as error:
                said = str(error)
            time.sleep(0.25)
        log = (self.folder / "server.log").read_text(errors="replace")[-2000:]
        raise Unavailable(f"it does not answer: {said}\n{log}")

    def stop(self) -> None:
        """End the processes that were started, the last one first."""
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        self.processes.clear()


@dataclass(frozen=True)
class Environment:
    """Python packages in an environment of their own."""

    name: str
    packages: Sequence[str]
    python: str = sys.executable

    @property
    def bin(self) -> Path:
        return CACHE / "environments" / self.name / "bin"

    def install(self) -> Path:
        """Install the packages if necessary; return the folder of their commands."""
        done = self.bin.parent / "installed"
        wanted = "\n".join(self.packages)
        if not done.exists() or done.read_text() != wanted:
            print(f"installing {', '.join(self.packages)} ...", flush=True)
            setup = Place(CACHE, 0)
            CACHE.mkdir(parents=True, exist_ok=True)
            setup.run(self.python, "-m", "venv", self.bin.parent)
            setup.run(self.bin / "python", "-m", "pip", "install", "--quiet", *self.packages)
            done.write_text(wanted)
        return self.bin


@dataclass(frozen=True)
class Program:
    """A real program, and how it is installed, filled and served."""

    name: str
    title: str
    kind: str
    """Its kind: a wiki, a forum, a shop ..."""
    fill: Callable[[Place], None]
    """Installs it below the folder of a place, and gives it content."""
    serve: Callable[[Place], None]
    """Starts the servers for the folder of a place."""
    commands: Sequence[str] = ()
    """The commands, or paths of files, that have to be installed."""
    packages: str = ""
    """The Debian packages that contain it."""
    source: str = ""
    """The repository of which a copy has to be in ``sources``, and the release."""
    environment: Environment | None = None
    path: str = "/"
    """The path of its home page."""

    @property
    def port(self) -> int:
        """The port that it listens on, always the same: some programs store their address."""
        return _FIRST_PORT + crc32(self.name.encode()) % _PORTS

    def missing(self) -> list[str]:
        """Return the missing commands and files."""
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        return [
            each
            for each in self.commands
            if not (Path(each).exists() if each.startswith("/") else shutil.which(each, path=path))
        ]

    def prepare(self, folder: Path | None = None, *, again: bool = False) -> Place:
        """Install and fill the program if necessary; return its place."""
        if missing := self.missing():
            source = f"; a copy of {self.source}" if self.source else ""
            raise Unavailable(
                f"{', '.join(missing)} not found: apt-get install"
                f" --no-install-recommends {self.packages}{source}"
            )
        place = Place((folder or CACHE / "filled") / self.name, self.port)
        filled = place.folder / "filled"
        if self.environment:
            self.environment.install()
        if again or not filled.exists():
            print(f"filling {self.title} in {place.folder} ...", flush=True)
            shutil.rmtree(place.folder, ignore_errors=True)
            place.folder.mkdir(parents=True)
            try:
                self.fill(place)
            finally:
                place.stop()
            filled.touch()
        return place

    @contextmanager
    def started(self, folder: Path | None = None, *, again: bool = False) -> Iterator[str]:
        """Run the program with its content; yield the URL of its home page.

        One that runs already, started elsewhere, is used as it is.
        """
        place = self.prepare(folder, again=again)
        if place.is_answering():
            yield place.url + self.path
            return
        try:
            self.serve(place)
            place.wait(self.path)
            yield place.url + self.path
        finally:
            place.stop()
