"""What the package does where one of its compiled modules was not built."""

import subprocess
import sys


def printed_without(module, program):
    """Return what *program* prints in a process of its own in which *module* cannot be imported."""
    lines = ("import sys", f"sys.modules[{module.__name__!r}] = None", program)
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    ).stdout
