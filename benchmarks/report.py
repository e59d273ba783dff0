"""Measures the report of 50,000 dropped variants: its size, and how fast a browser opens it.

Run it as ``python -m benchmarks.report [variants]``. It needs Chromium and its driver. All
sections are filled to their bounds by a made-up crawl: 1,000 domains, thousands of pages, long
URLs, some with secrets, and the pairs of an audit.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from hashlib import sha1
from pathlib import Path
from statistics import median
from typing import Any

from scrapy import Request
from selenium import webdriver

from benchmarks.results import conditions, table, write
from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.checks.case import AuditedPair
from scrapy_urlcanon.crawl.dropped.drop import Drop
from scrapy_urlcanon.pages.verdict import Judgement, Verdict
from scrapy_urlcanon.report.document import Report
from scrapy_urlcanon.report.json_form import to_json
from scrapy_urlcanon.report.page import to_html
from scrapy_urlcanon.report.section import sections

VARIANTS = 50_000
DOMAINS = 1_000
PAGES_OF_DOMAIN = 4
NAMES = ("sort", "sid", "ref", "view", "utm_source")
ROUNDS = 7
# Until the page can be used: loaded, the script run, all of it laid out.
_OPENED = "const [it] = performance.getEntriesByType('navigation'); return it.loadEventEnd"
_LAID_OUT = "return document.documentElement.scrollHeight"
_SEARCH = """
const input = document.querySelector("[data-filter=group]"), start = performance.now();
input.value = "page/3 sort";
input.dispatchEvent(new Event("input"));
document.documentElement.scrollHeight;
return performance.now() - start;
"""


def made_up(variants: int) -> Report:
    """Return the report of a crawl with this many dropped variants."""
    rules = {f"site{n}.example": {"drop_params": list(NAMES)} for n in range(DOMAINS)}
    canonicalizer = Canonicalizer(rules)
    collecting = [section(canonicalizer) for section in sections()]
    for number in range(variants):
        domain = f"site{number % DOMAINS}.example"
        page = number // DOMAINS % PAGES_OF_DOMAIN
        name = NAMES[number % 7 % len(NAMES)]
        kept = f"https://www.{domain}/some/deeper/path/of/a/page/{page}?id={page}"
        option = "tracking_params" if name.startswith("utm") else "drop_params"
        entry = RuleEntry(option, name)
        drop = Drop(
            Request(f"{kept}&{name}={number}"),
            kept,
            sha1(kept.encode(), usedforsecurity=False).digest(),
            frozenset({entry}),
            domain,
            linked_from=f"https://www.{domain}/some/list?page={number}",
        )
        lines = tuple(f"line {n} of the variant {number}" for n in range(5))
        judgement = Judgement(Verdict.ANOTHER, only_variant=lines, only_kept=lines)
        pair = AuditedPair(drop.request.url, kept, (entry,), domain, judgement, drop.fingerprint)
        for section in collecting:
            section.note_drop(drop)
            section.note_page(kept, domain)
            section.note_audit(pair)
    figures = dict.fromkeys(("dropped", "dropped/variant", "audited"), variants)
    figures |= {"requests": 2 * variants, "audit/false_merge": variants}
    figures |= {f"dropped/rule/{name}": variants for name in ("drop_params", "tracking_params")}
    figures |= {f"dropped/entry/drop_params:{name}": variants // 5 for name in NAMES[:-1]}
    for section in collecting:
        section.note_figures(figures)
    return Report(
        *("made_up", "2026-01-01T00:00:00+00:00", "2026-01-01T01:00:00+00:00", "finished"),
        figures=figures,
        contents={section.row: section.rows() for section in collecting if section.key},
    )


def browser() -> webdriver.Chrome:
    """Start Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium-browser"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(argument)
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))


def opened(driver: webdriver.Chrome, url: str) -> dict[str, float]:
    """Open *url* and return how long that took, in milliseconds."""
    driver.get("about:blank")
    driver.execute_cdp_cmd("Performance.enable", {})
    before = _spent(driver)
    driver.get(url)
    driver.execute_script(_LAID_OUT)
    return {
        "open": driver.execute_script(_OPENED),
        "open, processor": 1000 * (_spent(driver) - before),
        "search": driver.execute_script(_SEARCH),
    }


def _spent(driver: webdriver.Chrome) -> float:
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def main() -> None:
    """Measure, show and write the figures."""
    variants = int(sys.argv[1]) if len(sys.argv) > 1 else VARIANTS
    data: dict[str, Any] = {"conditions": conditions(), "dropped variants": variants}
    report = made_up(variants)
    start = time.process_time()
    html = to_html(report)
    data["making the page (s)"] = time.process_time() - start
    data["HTML (MB)"] = len(html.encode()) / 1e6
    data["JSON (MB)"] = len(to_json(report).encode()) / 1e6
    driver = browser()
    try:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "report.html")
            path.write_text(html, encoding="utf-8")
            rounds = [opened(driver, path.as_uri()) for _ in range(ROUNDS)]
    finally:
        driver.quit()
    for name in rounds[0]:
        data[f"{name} (ms)"] = median(one[name] for one in rounds)
    figures = {name: value for name, value in data.items() if name.endswith(")")}
    rows = [[name, f"{value:,.2f}"] for name, value in figures.items()]
    title = f"{variants:,} dropped variants"
    write("report", data, [table([title, f"median of {ROUNDS}"], rows)])


if __name__ == "__main__":
    main()
