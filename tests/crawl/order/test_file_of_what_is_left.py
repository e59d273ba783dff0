"""What is left is in a file until it is fetched, whatever becomes of the crawl."""

import resource

import pytest
from scrapy import Request
from sites import SITE

from scrapy_urlcanon.crawl.order.left import LeftRequests


def test_request_for_which_there_is_no_room_spoils_no_other(tmp_path):
    """The next run of the job has room again, and its first request begins a line."""
    left = LeftRequests(tmp_path / "left", None, adds=True)
    left.add(Request(f"{SITE}/before"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The second one fits in part, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (left.path.stat().st_size + 50, hard))
    try:
        with pytest.raises(OSError, match="No room"):
            left.add(Request(f"{SITE}/cut-off"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    again = LeftRequests(left.path, None, adds=True)
    again.add(Request(f"{SITE}/after"))
    assert [request.url for request in again] == [f"{SITE}/before", f"{SITE}/after"]
