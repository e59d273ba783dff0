"""A crawl of directory listings by a real Apache httpd."""

import shutil
import socket
import subprocess
import sysconfig
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_f_from_coro_f, maybe_deferred_to_future
from sites import ALONE, FollowSpider

MODULES = Path("/usr/lib/apache2/modules")
PACKAGES = ["email", "json", "unittest", "wsgiref", "xml"]

CONFIGURATION = """\
ServerRoot {root}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile {root}/pid
ErrorLog {root}/error.log
DocumentRoot {root}/tree
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule dir_module {modules}/mod_dir.so
LoadModule autoindex_module {modules}/mod_autoindex.so
LogFormat "%m %U%q" request
CustomLog {root}/access.log request
<Directory />
    AllowOverride None
</Directory>
<Directory {root}/tree>
    Options Indexes
    IndexOptions FancyIndexing
    Require all granted
</Directory>
"""


@pytest.fixture
def apache(tmp_path):
    """Serve a tree of files with mod_autoindex; return its URL, its tree and its log."""
    executable = shutil.which("apache2", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if executable is None or not (MODULES / "mod_autoindex.so").exists():
        pytest.skip("needs Debian's apache2 with mod_autoindex, which is not installed")
    # Its children may run as another user, who has to reach the tree.
    for directory in (tmp_path, *tmp_path.parents[:2]):
        directory.chmod(0o755)
    tree = tmp_path / "tree"
    for package in PACKAGES:
        shutil.copytree(
            Path(sysconfig.get_path("stdlib"), package),
            tree / package,
            ignore=shutil.ignore_patterns("__pycache__", "test*"),
        )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configuration = tmp_path / "apache.conf"
    configuration.write_text(CONFIGURATION.format(root=tmp_path, port=port, modules=MODULES))
    command = [executable, "-f", str(configuration), "-DFOREGROUND"]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}/", tree, tmp_path / "access.log"
        finally:
            process.terminate()


def _wait_for(port, process):
    for _ in range(1200):
        assert process.poll() is None, "apache2 ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("apache2 does not answer")


async def _crawl(url, rules):
    class ListingSpider(FollowSpider):
        def parse(self, response):
            # The files themselves are not of interest here, and no HTML.
            yield {"url": response.url}
            for request in response.follow_all(css="a"):
                if urlsplit(request.url).path.endswith("/"):
                    yield request

    crawler = Crawler(
        ListingSpider,
        {
            "ADDONS": {"scrapy_urlcanon.Addon": 500},
            **ALONE,
            "URLCANON_RULES": rules,
            # The sort links are known of Apache: here it is a rule by hand that is tried.
            "URLCANON_PROFILES": False,
        },
    )
    await maybe_deferred_to_future(crawler.crawl(start=[url]))
    return crawler.stats.get_stats()


@deferred_f_from_coro_f
async def test_every_directory_is_fetched_once(apache):
    """With a rule for the sort links each directory is listed once."""
    url, tree, log = apache
    # `?C=N;O=D` is one parameter named C, whose value is `N;O=D`.
    stats = await _crawl(url, {"127.0.0.1": {"drop_params": ["C"]}})
    directories = [tree, *(path for path in tree.rglob("*") if path.is_dir())]
    listed = [line.split()[1].partition("?")[0] for line in log.read_text().splitlines()]
    expected = {f"/{path.relative_to(tree)}/".replace("/./", "/") for path in directories}
    assert len(expected) > 10
    assert Counter(listed) == Counter(expected)
    assert stats["urlcanon/dropped/rule/drop_params"] > 3 * len(expected)


@deferred_f_from_coro_f
async def test_without_the_rule_every_sort_order_is_fetched(apache):
    """Without the rule each directory is listed in all orders: it is the rule that saves these."""
    url, tree, log = apache
    await _crawl(url, {})
    directories = 1 + sum(path.is_dir() for path in tree.rglob("*"))
    # Four columns in two orders each, and the listing without a query.
    assert len(log.read_text().splitlines()) >= 8 * directories
