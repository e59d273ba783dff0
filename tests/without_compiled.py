"""Runs the package as if one of its compiled modules had not been built."""

import subprocess
import sys


def printed_without(module, program):
    """Return the output of *program*, run in a process in which *module* cannot be imported."""
    lines = ("import sys", f"sys.modules[{module.__name__!r}] = None", program)
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    ).stdout
