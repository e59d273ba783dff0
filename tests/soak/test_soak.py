"""The short form of what ``make soak-kill`` and ``make soak-disk`` do at length."""

import pytest
from killed_jobs import Job


@pytest.mark.parametrize(
    ("seed", "options"), [(2, "rewrite"), (11, "everything"), (3, "skipped pages")]
)
def test_killed_job_loses_no_page(tmp_path, seed, options):
    """After a kill at a random moment each callback gets what it would have got."""
    outcome = Job(tmp_path, seed, options, size=40).run()
    assert outcome.errors == ""
    assert outcome.lost == set()


@pytest.mark.parametrize("kills", [0, 1])
def test_job_on_a_full_disk_loses_no_page(tmp_path, kills):
    """What cannot be written for a while keeps no page away."""
    outcome = Job(tmp_path, 1, "plain", kills=kills, disk=True, size=40).run()
    assert outcome.errors == ""
    assert outcome.lost == set()
    assert outcome.stats["urlcanon/job/unwritten"]
