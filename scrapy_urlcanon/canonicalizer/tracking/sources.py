"""Where the entries of the list of tracking parameters come from."""

from __future__ import annotations

from typing import NamedTuple

from scrapy_urlcanon.canonicalizer.tracking.tracking_list import TRACKING_LIST


class TrackingSource(NamedTuple):
    """Where an entry of the list comes from."""

    service: str
    """Whose parameter it is."""
    source: str
    """The page that says so, or the list that it was taken from."""
    licence: str
    """The licence of that list; a page of the service itself states a fact."""


def tracking_source(name: str) -> TrackingSource:
    """Return where the entry *name* of :data:`.TRACKING_PARAMS` comes from.

    >>> tracking_source("fbclid").service
    'Meta'

    :raises KeyError: if it is no entry.
    """
    for source, names in TRACKING_LIST:
        if name in names:
            return TrackingSource(*source)
    raise KeyError(name)
