"""The fixture of crawls of a site whose program has a profile."""

import pytest
from board_site import BOARD


@pytest.fixture
def board(tmp_path):
    """Return settings with a profile of a program of our own."""
    path = tmp_path / "board.toml"
    path.write_text(BOARD, encoding="utf-8")
    return {"URLCANON_PROFILES": ["*", str(path)]}
