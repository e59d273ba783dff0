"""The presets: the value of every option before any rule of the user."""

from __future__ import annotations

from typing import Any, Final

PRESETS: Final[dict[str, dict[str, Any]]] = {
    # What Scrapy's default fingerprint merges and nothing more. Where no rule of the user
    # matches, w3lib.url.canonicalize_url() itself decides; these values hold elsewhere.
    "scrapy": {
        "scheme": "keep",
        "www": "keep",
        "duplicate_slashes": "keep",
        "directory_index": [],
        "trailing_slash": "keep",
        "tracking_params": "keep",
        "drop_params": [],
        "keep_params": None,
        "default_params": {},
        "empty_params": "keep",
        "sort_query": True,
        "fragment": "drop",
    },
    # Beyond that, what is wrong nowhere that we know of.
    "safe": {
        "scheme": "keep",
        "www": "keep",
        "duplicate_slashes": "keep",
        "directory_index": [],
        "trailing_slash": "keep",
        "tracking_params": "drop",
        "drop_params": [],
        "keep_params": None,
        "default_params": {},
        "empty_params": "keep",
        "sort_query": True,
        "fragment": "drop",
    },
    # Beyond that, what is right on most sites and wrong on some.
    "aggressive": {
        "scheme": "https",
        "www": "strip",
        "duplicate_slashes": "collapse",
        "directory_index": [
            "index.html",
            "index.htm",
            "index.php",
            "index.asp",
            "index.aspx",
            "index.jsp",
            "default.html",
            "default.htm",
            "default.asp",
            "default.aspx",
        ],
        "trailing_slash": "strip",
        "tracking_params": "drop",
        "drop_params": [
            "jsessionid",
            "phpsessid",
            "PHPSESSID",
            "JSESSIONID",
            "aspsessionid*",
            "ASPSESSIONID*",
            "CFID",
            "CFTOKEN",
        ],
        "keep_params": None,
        "default_params": {},
        "empty_params": "drop",
        "sort_query": True,
        "fragment": "drop",
    },
}

DEFAULT_PRESET: Final = "safe"
