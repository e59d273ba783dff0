"""The tool that says how much of a published list is read, on small lists of our own."""

from __future__ import annotations

import gzip
import json
import runpy
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "foreign_list.py"

FILTERS = """\
!#if !ext_ubol
$removeparam=ref
$removeparam=/^utm_/
||a.example^$removeparam=x
||b.example/y/$removeparam=z
||google.*/maps^$removeparam=g
@@||c.example^$removeparam
@@||google.*/url?$removeparam=ref
@@^keep=$removeparam=utm_source
$removeparam=/[a-z]+/
!#endif
"""
PROVIDERS = {
    "all": {"urlPattern": ".*", "rules": ["ref", "utm_[a-c]"], "exceptions": []},
    "a": {
        "urlPattern": r"^https?:\/\/(?:[a-z0-9-]+\.)*?a\.example\/x\/",
        "rules": ["x"],
        "exceptions": [r"^https?:\/\/(?:[a-z0-9-]+\.)*?a\.example\/x\/login"],
    },
}
ENTRIES = [{"include": ["*://*.a.example/x/*"], "exclude": [], "params": ["x"]}]


@pytest.mark.parametrize(
    ("name", "text", "refused"),
    [
        ("list.txt", FILTERS, 1),
        ("data.json", json.dumps({"providers": PROVIDERS}), 0),
        ("brave.json", json.dumps(ENTRIES), 0),
    ],
)
def test_ours_remove_nothing_that_another_reading_keeps(tmp_path, capsys, name, text, refused):
    """On real hosts and on those of the list, with its parameters."""
    if not TOOL.exists():
        pytest.skip("needs tools/, which is in the repository alone")
    tool = runpy.run_path(str(TOOL))
    urls = tmp_path / "urls.gz"
    hosts = ("a.example", "b.example", "c.example", "google.co.uk", "mygoogle.com", "d.example")
    with gzip.open(urls, "wt", encoding="utf-8") as lines:
        for host in hosts:
            for path in ("/", "/x", "/x/", "/y", "/y/", "/url", "/maps", "/x/login"):
                lines.write(f"https://{host}{path}?x=1&z=2&ref=3&utm_source=4&g=5&keep=6\n")
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert tool["compare"](path, text, urls, 400) == 0
    told = capsys.readouterr().out
    assert f"{refused} parts refused" in told
    assert "ours remove 0" not in told
