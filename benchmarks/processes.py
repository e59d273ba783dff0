"""Runs a part of a benchmark in a process of its own, with cold caches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def result_of(module: str, *arguments: object, directory: str | None = None) -> Any:
    """Return what ``python -m benchmarks.<module>`` prints as JSON, run in *directory*."""
    command = [sys.executable, "-W", "ignore", "-m", f"benchmarks.{module}", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, cwd=directory, env=environment
    )
    return json.loads(done.stdout)
