"""Tables and sentences about the costs of the plugin: time, memory and the CPU of a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from measured import ECOSYSTEM, MEMORY, PERFORMANCE, README, SCALE, Row, Sentence, results, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SCRAPY, OURS, DISCARDER = "Scrapy's default", "scrapy-urlcanon", "duplicate-url-discarder"
SCRAPY_ALONE, ALL_PARTS = "plain Scrapy", "all of these"
RULES, AGGRESSIVE = "10 parameters, no domains", "preset aggressive"
EARLY = 30_000
SEEN_SETS = ("scrapy", "compact", "compact-128", "disk")


def tables() -> Iterator[tuple[Path, Row, Iterable[Row]]]:
    """Yield each table: its page, its head and its rows."""
    head = ("", "Scrapy's default, us", "ours, us", "times as fast", "aim")
    yield PERFORMANCE, head, speeds(results("fingerprints")["speed"])
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


def seen_sets(found: dict[str, Any]) -> Iterator[Row]:
    """Yield the memory, disk space and speed of each seen-set."""
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
    """Yield how several processes crawled one site, and how many pages were lost or came twice."""
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
    """Yield the costs at the start of a crawl."""
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
    """Yield the share of each part in the CPU of a crawl."""
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
    """Yield what each part of the plugin costs in a crawl."""
    for name, part in found.items():
        over = part["ms over plain Scrapy"]
        yield name, f"{part['ms a page']:.2f}", f"{over:+.2f}", share(part["over plain Scrapy"])


def long_crawl() -> Iterator[Row]:
    """Yield the speed of a long crawl with and without all parts, and its memory over time."""
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


def sentences() -> Iterator[Sentence]:
    """Yield each sentence with figures."""
    speed, crawl = results("fingerprints"), results("crawl")
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
    most = max(safety[length][ALL_PARTS]["over plain Scrapy"] for length in ("parts", "longer"))
    yield README, "takes up to {} % more CPU than plain", (share(most, 0).removesuffix(" %"),)
    wordpress = results("profiles")["wordpress"]
    fetches = tuple(f"{wordpress[which]['fetches']:,}" for which in ("on", "off"))
    yield README, "took {} requests instead of {}", fetches
    *_, last = results("verdicts")["tables"]["wrong"].splitlines()
    _, crawls, lost, _, _, found, *_ = (cell.strip() for cell in last.strip("|").split("|"))
    figures = (f"{int(found):,}", f"{int(crawls):,}", lost)
    yield README, "found {} of {} wrong rules, and the crawls lost {} pages", figures
    yield from memory_sentences(speed["memory"], results("bookkeeping"), results("seen-sets"))
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


def long_crawl_sentences(
    crawls: dict[str, Any],
) -> Iterator[Sentence]:
    """Yield the memory of a long crawl over time, and by how much all parts slow it down."""
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
) -> Iterator[Sentence]:
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
) -> Iterator[Sentence]:
    """Yield the sentences about memory."""
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
