"""The parameters that only tell where a visitor came from.

What is listed is what a service documents as its own, under a name that no site would use
to select content: :mod:`.tracking_list`, which a script generates of ``tracking.tsv``. Which source
each has says :mod:`.sources`. Where a page needs one of them stands in :mod:`.exceptions`.
"""

from __future__ import annotations

from scrapy_urlcanon.canonicalizer.tracking.tracking_list import TRACKING_LIST

TRACKING_PARAMS: tuple[str, ...] = tuple(name for _, names in TRACKING_LIST for name in names)
"""Exact names, but for ``utm_*``, in which ``*`` stands for any text."""
