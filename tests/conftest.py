"""What all tests share: the path to the recording server, and crawls on it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"

sys.path.insert(0, str(ROOT / "example_project"))


@pytest.fixture
def shared():
    """The directory of corpora and vectors that lie beside the repository, or a skip."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared, which is not here")
    return SHARED
