"""Writes into the pages what was measured: every figure there comes from a file of results.

``benchmarks/results/*.json`` are what ``make bench`` and its like write. Tables are found by their
first line, figures in sentences by the words around them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tables import with_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Row = tuple[str, ...]

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PERFORMANCE, SCALE = DOCS / "performance.md", DOCS / "scale.md"
MEMORY, ECOSYSTEM = DOCS / "memory.md", DOCS / "ecosystem.md"
LEARNING, LEARNED = DOCS / "learning.md", DOCS / "learning-measured.md"
RESULTS = ROOT / "benchmarks" / "results"

SCRAPY, OURS, DISCARDER = "Scrapy's default", "scrapy-urlcanon", "duplicate-url-discarder"
SCRAPY_ALONE, ALL_PARTS = "plain Scrapy", "all of these"
RULES, AGGRESSIVE = "10 parameters, no domains", "preset aggressive"
MILLION = 1_000_000
REWRITES = ("rewrites", "rewrites + skip", "rewrites + skip + declared")


UNSEEN_COLUMNS = (
    "mean of sites",
    "of all URLs",
    "precision",
    "wrong",
    "one, the site says",
    "lost",
    "sites under 98 %",
)
#: This fold of the second corpus was looked at last.
UNSEEN_FOLD = 2
VARIANTS = ("rewrites", "+ skip", "+ declared", "all")
SINK_SIZE, MIN_REDUNDANT = 20, 10
EARLY = 30_000
SEEN_SETS = ("scrapy", "compact", "compact-128", "disk")
FORMS = ("rewrites", "with skip", "wrong", "lost")


def results(name: str) -> Any:
    """Return what the last run of a benchmark found."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def tables() -> Iterator[tuple[Path, Row, Iterable[Row]]]:
    """Yield each table: its page, its head and its rows."""
    head = ("", "Scrapy's default, us", "ours, us", "times as fast", "aim")
    yield PERFORMANCE, head, speeds(results("fingerprints")["speed"])
    yield PERFORMANCE, ("what takes memory", "bytes"), memory()
    yield PERFORMANCE, ("what takes time once", "took"), start_up(results("fingerprints"))
    head = (
        "links a page",
        "fingerprints, of the CPU",
        "Scrapy's default",
        "bookkeeping",
        "both, of Scrapy's fingerprint",
    )
    yield PERFORMANCE, head, crawls(results("crawl"))
    head = ("30 kB, 40 links", "CPU a page, ms", "over plain Scrapy, ms", "over plain Scrapy")
    yield PERFORMANCE, head, parts(results("safety")["parts"])
    head = ("as many links, more pages", *head[1:])
    yield PERFORMANCE, head, parts(results("safety")["longer"])
    head = ("the short crawl, with `JOBDIR`", *head[1:])
    yield PERFORMANCE, head, parts(results("safety")["jobs"])
    yield PERFORMANCE, ("figure", "measured", "aim", "holds"), aims(results("bench")["figures"])
    yield PERFORMANCE, ("one crawl in memory", SCRAPY_ALONE, ALL_PARTS), long_crawl()
    shares = results("profile")["shares"]
    yield PERFORMANCE, ("whose code", "of the CPU"), ((n, share(v)) for n, v in shares.items())
    head = (
        *("set", "memory, B a URL", "disk of a job, B a URL", "adds a second"),
        *("look-ups a second", "start-up of a job, s"),
    )
    yield MEMORY, head, seen_sets(results("seen-sets"))
    head = ("four processes", "requests", "pages lost", "got twice", "pages a second")
    yield ECOSYSTEM, head, shared_frontier(results("shared-frontier"))
    columns = ("observations", "domains", "input, MB", "CPU, s", "memory, MB", "rules")
    large = [run for run in results("learn-scale")["runs"] if run["observations"] >= MILLION]
    yield SCALE, columns, (tuple(f"{run[name]:,}" for name in columns) for run in large)
    head = ("", "found", "wrong", "precision", "worst site", "recall", "mean of sites", "lost")
    yield LEARNED, head, methods(results("learn")["methods"])
    head = ("sites", "halves of", "rules", *UNSEEN_COLUMNS)
    yield LEARNED, head, unseen(results("learn-unseen"))
    head = ("sites", "learned from a", "rules", *UNSEEN_COLUMNS)
    yield LEARNED, head, cut_short(results("learn-cut-short"))
    head = ("sites", "halves of", "thresholds", *UNSEEN_COLUMNS)
    yield LEARNED, head, thresholds(results("learn-thresholds"))
    head = ("captures that differ", "sites", "redundant URLs", "found", "wrong merges", "rules")
    yield LEARNED, head, changes(results("learn-changes"))
    yield LEARNED, ("class of rules", "sites", "rules", "found", "wrong"), classes()
    head = ("URL forms of", *FORMS, *(f"{column}, 3 %" for column in FORMS))
    yield LEARNED, head, forms(results("learn-forms"))
    head = ("halves swapped", "rewrites", "and skip", "and declared canonicals")
    yield LEARNED, head, swapped(results("learn-swapped")["methods"])


def speeds(speed: dict[str, Any]) -> Iterator[Row]:
    """Yield what a fingerprint costs for each kind of URL."""
    kinds = (
        ("unique URLs", "unique", RULES, 6),
        ("unique URLs with a query", "with a query", RULES, 6),
        ("a crawl's stream, in which URLs repeat", "stream", RULES, 10),
        ("every host is new", "new hosts", RULES, 1),
        ("every host is new, preset `aggressive`", "new hosts", AGGRESSIVE, 3),
    )
    for title, kind, ours, aim in kinds:
        of_kind = speed[kind]
        yield (
            title,
            f"{of_kind[SCRAPY]['microseconds']:.2f}",
            f"{of_kind[ours]['microseconds']:.2f}",
            f"{times(of_kind[ours], SCRAPY):.1f}",
            str(aim),
        )


def times(measured: dict[str, Any], than: str) -> float:
    """Return how many times as fast as another one is."""
    median: float = measured[f"times faster than {than}"]["median"]
    return median


def memory() -> Iterator[Row]:
    """Yield what takes how many bytes."""
    found, bookkeeping = results("fingerprints")["memory"], results("bookkeeping")
    pending = found["pending request"]
    yield "a pending request", f"{pending[OURS]:.0f}; Scrapy's default {pending[SCRAPY]:.0f}"
    yield "a host in the cache, of 10,000", f"{found['cached host']['bytes']:.0f}"
    aggressive = found["cached host, preset aggressive"]["bytes"]
    yield "the same under `aggressive`", f"{aggressive:.0f}"
    yield "a fetched request", f"{bookkeeping['bytes of a request']:.0f}"
    waiting = bookkeeping["bytes of a waiting variant"]
    yield "a variant that waits for its page, beside its request", f"{waiting:,.0f}"


def seen_sets(found: dict[str, Any]) -> Iterator[Row]:
    """Yield what each set of what was seen takes and does, in thousands a second."""
    for name in SEEN_SETS:
        of_set = found[name]
        yield (
            f'`"{name}"`',
            f"{of_set['memory']:.1f}",
            f"{of_set['disk']:.0f}",
            f"{round(of_set['adds'], -3):,.0f}",
            f"{round(of_set['look-ups'], -3):,.0f}",
            f"{of_set['start-up']:.1f}",
        )


def shared_frontier(found: dict[str, Any]) -> Iterator[Row]:
    """Yield how several processes crawled one site, and what became of its pages."""
    titles = {
        "four processes": "as they are",
        "one killed, one joining": "one killed, another one joining",
    }
    for name, run in found.items():
        if name != "conditions":
            yield (
                titles.get(name, name),
                *(f"{run[count]:,}" for count in ("requests", "lost", "got twice")),
                f"{run['pages'] / run['seconds']:.0f}",
            )


def start_up(found: dict[str, Any]) -> Iterator[Row]:
    """Yield what a crawl waits for."""
    imported, domains = found["import"], found["domains"]
    scrapy = imported["milliseconds of Scrapy"]
    yield (
        "importing the plugin",
        f"{imported['milliseconds']:.0f} ms, {imported['MiB']:.1f} MiB; Scrapy {scrapy:.0f} ms",
    )
    many, few = domains["100000"], domains["10"]
    yield "loading rules for 100,000 domains", f"{many['start-up seconds']:.1f} s"
    yield (
        "looking up a new host among them",
        f"{many['microseconds per host']:.2f} us; among 10 {few['microseconds per host']:.2f} us",
    )


def crawls(found: dict[str, Any]) -> Iterator[Row]:
    """Yield which share of the CPU of a crawl each part takes."""
    for links in (5, 20, 40):
        measured = found[f"{links} links"]
        ours, scrapy = measured[OURS], measured[SCRAPY]
        # The signal of a dropped request costs something with Scrapy alone, too.
        kept = ours["dropped"] - scrapy["dropped"] + ours["middleware"]
        yield (
            str(links),
            share(ours["fingerprint"] / ours["crawl"]),
            share(scrapy["fingerprint"] / scrapy["crawl"]),
            share(kept / ours["crawl"]),
            f"{(ours['fingerprint'] + kept) / scrapy['fingerprint']:.2f}",
        )


def parts(found: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Yield what each part of the plugin takes in a crawl."""
    for name, part in found.items():
        over = part["ms over plain Scrapy"]
        yield name, f"{part['ms a page']:.2f}", f"{over:+.2f}", share(part["over plain Scrapy"])


def long_crawl() -> Iterator[Row]:
    """Yield how a long crawl went with and without all parts: its speed, and memory along it."""
    crawls = results("long-crawl")["crawls"]
    pair = [crawls[name] for name in (SCRAPY_ALONE, ALL_PARTS)]
    yield "pages", *(f"{crawl['pages']:,}" for crawl in pair)
    for name in ("ms a page", "pages a second", "longest block, ms"):
        yield (
            name.replace("ms a page", "CPU a page, ms"),
            *(f"{crawl[name]:,.1f}" for crawl in pair),
        )
    for part in (4, 2, 1):
        after = [crawl["memory"][len(crawl["memory"]) // part - 1] for crawl in pair]
        yield f"MiB after {after[0][0]:,} pages", *(f"{size:,.0f}" for _, size in after)


def aims(found: Iterable[dict[str, Any]]) -> Iterator[Row]:
    """Yield each figure with its aim."""
    for one in found:
        bound = "at least" if one["at_least"] else "at most"
        measured = f"{one['measured']:,.2f} {one['unit']}".rstrip()
        holds = "yes" if one["holds"] else "no"
        yield one["figure"], measured, f"{bound} {one['aim']:,} {one['unit']}".rstrip(), holds


def methods(judged: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Yield what each method came to on the sites it did not learn from."""
    for name, of_method in judged.items():
        yield (
            name,
            f"{of_method['found']:,}",
            f"{of_method['wrong']:,}",
            share(of_method["precision"], 2),
            share(of_method["precision on the worst site"], 2),
            share(of_method["recall"]),
            share(of_method["mean recall of sites outside sinks"]),
            share(of_method["pages lost"], 3),
        )


def unseen(runs: Iterable[Any]) -> Iterator[Row]:
    """Yield what is found on real sites, on all of them and on those looked at last."""
    for run in runs:
        sites, folds = run["sites"], run["folds"]
        groups = {f"{len(sites)}": list(sites)}
        if len(sites) > SINK_SIZE:
            left = [site for site in sites if folds[site] == UNSEEN_FOLD]
            groups[f"{len(left)} of these, looked at last"] = left
        for (group, names), variant in product(groups.items(), VARIANTS):
            counts = [sites[name][variant] for name in names]
            yield group, f"{run['split']}s".replace("url", "URL"), variant, *judged(counts)


def cut_short(runs: Iterable[Any]) -> Iterator[Row]:
    """Yield what is found on real sites of which a crawl saw the first part, or little."""
    for run, variant in product(runs, VARIANTS[:2]):
        counts = [of_site[variant] for of_site in run["sites"].values()]
        yield str(len(counts)), run["split"], variant, *judged(counts)


def thresholds(runs: Iterable[Any]) -> Iterator[Row]:
    """Yield what is found with the defaults, and by which other thresholds anything else is."""
    for run in runs:
        split = f"{run['split']}s".replace("url", "URL")
        found = {name: tuple(judged([*of.values()])) for name, of in run["sites"].items()}
        for name, figures in found.items():
            if name == "defaults" or figures != found["defaults"]:
                yield (
                    f"{len(run['sites'][name])}",
                    split,
                    name.replace("lost", "counter-examples"),
                    *figures,
                )


def changes(runs: Iterable[Any]) -> Iterator[Row]:
    """Yield what is found on sites of which a share of the captures differs."""
    for run in runs:
        yield (
            f"{run['changing']:.0%}".replace("%", " %"),
            str(run["sites"]),
            f"{run['redundant']:,}",
            share(run["found"] / run["redundant"]),
            str(run["wrong"]),
            str(run["rules"]),
        )


def forms(runs: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """Yield what is found of the URL forms of each program, without and with pages that change."""
    for name in sorted(runs[0]["forms"], key=str.casefold):
        cells: list[str] = []
        for changing in sorted({run["changing"] for run in runs}):
            total = Counter[str]()
            for run in runs:
                if run["changing"] == changing:
                    total.update(run["forms"][name])
            of = total["redundant"]
            cells += (share(total[kind] / of, 0) if of else "–" for kind in FORMS[:2])
            cells += (f"{total[kind]:,}" for kind in FORMS[2:])
        yield name, *cells


def judged(counts: Sequence[dict[str, int]]) -> Iterator[str]:
    """Yield the measures of ``score.py`` for some sites."""
    total = Counter[str]()
    for of_site in counts:
        total.update(of_site)
    clear = [(c.get("correct_ns", 0), c["redundant"] - c.get("sink_red", 0)) for c in counts]
    recalls = [found / redundant for found, redundant in clear if redundant >= MIN_REDUNDANT]
    yield f"{sum(recalls) / max(1, len(recalls)):.3f}"
    yield f"{total['correct_ns'] / max(1, total['redundant'] - total['sink_red']):.3f}"
    yield f"{total['correct'] / max(1, total['merges']):.4f}"
    yield f"{total['false']} of {total['merges']:,}"
    yield f"{total['said']:,}"
    yield f"{total['lost'] / max(1, total['contents']):.5f}"
    large = [c for c in counts if c["merges"] >= SINK_SIZE]
    yield f"{sum(c['correct'] < 0.98 * c['merges'] for c in large)} of {len(large)}"


def classes() -> Iterator[Row]:
    """Yield what each class of rules finds on all sites."""
    total: dict[str, Counter[str]] = {}
    for run in results("learn-unseen"):
        for name, counts in run["classes"].items():
            total.setdefault(name, Counter()).update(counts)
    for name, counts in sorted(total.items(), key=lambda item: (-item[1]["correct"], item[0])):
        yield name, *(f"{counts[key]:,}" for key in ("sites", "rules", "correct", "false"))


def swapped(judged: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Yield the mean recall of sites where the halves are swapped."""
    for title, choice in (("thresholds chosen", "learned"), ("default thresholds", "defaults")):
        found = (judged[f"{choice}: {kind}"] for kind in REWRITES)
        yield title, *(share(one["mean recall of sites outside sinks"]) for one in found)


def share(value: float, digits: int = 1) -> str:
    """Return a share as a text."""
    return f"{value:.{digits}%}".replace("%", " %")


def sentences() -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    """Yield each sentence with figures: its page, its words with ``{}`` for a figure, and these."""
    speed, crawl, learned = results("fingerprints"), results("crawl"), results("learn")
    unique, stream = speed["speed"]["unique"], speed["speed"]["stream"]
    costs = [
        f"{kind[who]['microseconds']:.1f}" for kind in (unique, stream) for who in (RULES, SCRAPY)
    ]
    yield (
        README,
        "{} us instead of {} for a unique URL, {} us instead of {} in a stream",
        tuple(costs),
    )
    safety = results("safety")
    alone = -safety["parts"]["the plugin"]["over plain Scrapy"]
    yield README, "takes {} % less CPU than plain Scrapy", (share(alone, 0).removesuffix(" %"),)
    guarded = (safety[length][ALL_PARTS]["over plain Scrapy"] for length in ("parts", "longer"))
    yield (
        README,
        "order) it takes {} % more, or {} %",
        tuple(share(each, 0).removesuffix(" %") for each in guarded),
    )
    generic = share(learned["methods"]["safe"]["recall"]).removesuffix(" %")
    yield README, "find {} % of the duplicates of {} real sites", (generic, str(learned["sites"]))
    wordpress = results("profiles")["wordpress"]
    fetches = tuple(f"{wordpress[which]['fetches']:,}" for which in ("on", "off"))
    yield README, "took {} requests instead of {}", fetches
    yield from unseen_sentences()
    yield from memory_sentences(speed["memory"], results("bookkeeping"), results("seen-sets"))
    yield LEARNING, "is {} % of the duplicates", (generic,)
    yield (
        LEARNED,
        "learns from half of the URLs of {} real sites, judges on the other half",
        (str(learned["sites"]),),
    )
    yield (
        LEARNED,
        "judged are {} URLs, of which {} show a page of another URL of their host",
        (f"{learned['URLs judged']:,}", f"{learned['redundant']:,}"),
    )
    conditions = speed["conditions"]
    yield (
        PERFORMANCE,
        "{} URLs of each kind ({} with a query) in {} rounds on {} cores",
        (
            f"{stream['urls']:,}",
            f"{speed['speed']['with a query']['urls']:,}",
            str(speed["rounds"]),
            str(conditions["processors"]),
        ),
    )
    yield (
        PERFORMANCE,
        "it is {} times as fast on unique URLs",
        (f"{times(unique[RULES], DISCARDER):.1f}",),
    )
    forty = crawl["40 links"]
    ratio = forty[DISCARDER]["fingerprint"] / forty[SCRAPY]["fingerprint"]
    yield (
        PERFORMANCE,
        "duplicate-url-discarder takes {} times Scrapy's fingerprint",
        (f"{ratio:.1f}",),
    )
    yield from long_crawl_sentences(results("long-crawl")["crawls"])
    yield from shared_frontier_sentences(results("shared-frontier"))
    runs = {(run["observations"], run["domains"]): run for run in results("learn-scale")["runs"]}
    many, alone = growth(runs, 500, 5_000), growth(runs, 1, 1)
    yield SCALE, "domains as large take {} times the time", (many[0],)
    yield SCALE, "Of one domain they take {} times the time and {} times the memory", alone
    yield (
        SCALE,
        "a million observations of it need {} MB",
        (f"{runs[MILLION, 1]['memory, MB']:,}",),
    )


def long_crawl_sentences(
    crawls: dict[str, Any],
) -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    """Yield how memory went along a long crawl, and what all parts took of its speed."""
    plain, whole = (crawls[name] for name in (SCRAPY_ALONE, ALL_PARTS))
    (early,) = (size for pages, size in whole["memory"] if pages == EARLY)
    sizes = (f"{early:.0f}", f"{whole['memory'][-1][1]:.0f}")
    yield PERFORMANCE, f"{{}} MiB after {EARLY:,} pages with all parts and {{}} at the end", sizes
    yield PERFORMANCE, "where plain Scrapy has {} at", (f"{plain['memory'][-1][1]:.0f}",)
    ratios = (
        whole["ms a page"] / plain["ms a page"] - 1,
        1 - whole["pages a second"] / plain["pages a second"],
    )
    yield (
        PERFORMANCE,
        "All parts take {} % more CPU of a page, and get {} % fewer pages a second",
        tuple(f"{100 * ratio:.0f}" for ratio in ratios),
    )


def shared_frontier_sentences(
    found: dict[str, Any],
) -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    """Yield how several processes compare with those of scrapy-redis alone."""
    ours, alone = found["four processes"], found["scrapy-redis alone"]
    requests, pages = (
        (alone[count] / alone["seconds"]) / (ours[count] / ours["seconds"])
        for count in ("requests", "pages")
    )
    yield (
        ECOSYSTEM,
        "scrapy-redis alone is {} times as fast; in pages a second ours is {} times as fast",
        (f"{requests:.1f}", f"{1 / pages:.1f}"),
    )


def memory_sentences(
    found: dict[str, Any], bookkeeping: dict[str, Any], seen: dict[str, Any]
) -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    """Yield what the pages on memory say of what takes how many bytes."""
    request = f"{bookkeeping['bytes of a request']:.0f}"
    variant = f"{round(bookkeeping['bytes of a waiting variant'], -2):,.0f}"
    scrapy, compact = (f"{seen[name]['memory']:.0f}" for name in SEEN_SETS[:2])
    hosts = (f"{found[f'cached host{of}']['bytes']:.0f}" for of in ("", ", preset aggressive"))
    yield MEMORY, "| the fingerprint of a request, in Scrapy's own set | {} |", (scrapy,)
    yield MEMORY, "whether a page was fetched, and for which callback | {} |", (request,)
    yield MEMORY, "a dropped variant that waits for its page | {}, and", (variant,)
    yield MEMORY, "a dropped variant that the audit remembers | {}, and", (variant,)
    yield MEMORY, "the policy of a host | {}; `aggressive` {} |", tuple(hosts)
    killed = (f"{seen['killed']['kills']}", f"{seen['killed']['added meanwhile']:,}")
    yield MEMORY, "killed {} times at random moments, while {} more were added: none", killed
    yield SCALE, "Scrapy's set: {} B a URL", (scrapy,)
    yield SCALE, '`URLCANON_SEEN_SET = "compact"`: {} B a URL', (compact,)
    yield SCALE, "`URLCANON_REMEMBERED_PAGES` ({} B each)", (request,)
    yield PERFORMANCE, "by `make bench-memory`, on {} requests", (f"{bookkeeping['requests']:,}",)


def unseen_sentences() -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    """Yield what the README says of the further archived sites."""
    rows = list(unseen(run for run in results("learn-unseen") if run["split"] == "url"))
    sites = max((row[0] for row in rows if row[0].isdecimal()), key=int)
    rewrites, with_skip = (
        next(row for row in rows if row[0] == sites and row[2] == rules) for rules in VARIANTS[:2]
    )
    means = (f"{float(row[3]):.0%}".removesuffix("%") for row in (rewrites, with_skip))
    yield README, "On {} archived sites they find", (sites,)
    yield README, "{} % of the redundant URLs of a site on average, and {} % with", tuple(means)
    wrong, _, merges = with_skip[6].partition(" of ")
    yield README, "Of {} merges {} were wrong", (merges, wrong)


def growth(runs: dict[tuple[int, int], Any], few: int, many: int) -> tuple[str, str]:
    """Return how many times the time and the memory ten times as many observations take."""
    one, ten = runs[MILLION, few], runs[10 * MILLION, many]
    return (
        f"{ten['CPU, s'] / one['CPU, s']:.1f}",
        f"{ten['memory, MB'] / one['memory, MB']:.1f}",
    )


def with_figures(text: str, words: str, figures: tuple[str, ...]) -> str:
    r"""Return *text* with *figures* in the sentence that has these *words*.

    >>> with_figures("It takes 4 s and\n2 MB.", "takes {} s and {} MB", ("5", "1.5"))
    'It takes 5 s and\n1.5 MB.'
    """
    pieces = [r"\s+".join(map(re.escape, piece.split(" "))) for piece in words.split("{}")]
    found = list(re.finditer(r"([\d.,]*\d)".join(f"({piece})" for piece in pieces), text))
    assert len(found) == 1, f"{len(found)} sentences: {words}"  # noqa: S101
    (match,) = found
    parts = list(match.groups())
    parts[1::2] = figures
    return text[: match.start()] + "".join(parts) + text[match.end() :]


def pages() -> dict[Path, str]:
    """Return the text of each page as it is to be."""
    texts: dict[Path, str] = {}
    for path, head, rows in tables():
        texts[path] = with_table(texts.get(path) or read(path), head, rows)
    for path, words, figures in sentences():
        texts[path] = with_figures(texts.get(path) or read(path), words, figures)
    return texts


def read(path: Path) -> str:
    """Return the page at *path*."""
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
        print(page)
