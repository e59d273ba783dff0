"""The example project, run as `make demo` runs it."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "example_project"


def test_demo_shows_fewer_requests_and_the_same_pages():
    """The demo crawls with the plugin off and on, and proves that no page is lost."""
    result = subprocess.run(
        [sys.executable, "demo.py"], cwd=EXAMPLE, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Nothing is lost: both crawls have fetched the same" in result.stdout
    (row,) = [line for line in result.stdout.splitlines() if "requests that the site" in line]
    off, on = (int(cell.replace(",", "")) for cell in row.strip("│ ").split("│")[1:3])
    assert on < off / 2
    for option in ("tracking_params", "drop_params", "directory_index", "www", "trailing_slash"):
        assert option in result.stdout
