"""Tables and sentences about learning: how many duplicates are found, how many merges are wrong."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

from measured import LEARNED, LEARNING, MILLION, README, SCALE, Row, Sentence, results, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

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
UNSEEN_FOLD = 2
"""The fold of the second corpus that was looked at last."""
VARIANTS = ("rewrites", "+ skip", "+ declared", "all")
SINK_SIZE, MIN_REDUNDANT = 20, 10
BANDS = (("99.5 % and more", 0.995), ("75 % and more", 0.75), ("half and more", 0.5), ("less", 0))
"""How much of the URLs of a form is found, at the least."""
KINDS = ("sites", "of these with wrong merges", "wrong merges", "lost", "found", "found of noise")


def tables() -> Iterator[tuple[Path, Row, Iterable[Row]]]:
    """Yield each table: its page, its head and its rows."""
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
    yield LEARNED, ("captures that change", *KINDS), kinds(results("learn-kinds"))
    yield LEARNED, ("class of rules", "sites", "rules", "found", "wrong"), classes()
    head = ("found with `skip`", "forms", "rewrites/with `skip`/with `skip` where 3 % differ, in %")
    yield LEARNED, head, forms(results("learn-forms"))
    head = ("halves swapped", "rewrites", "and skip", "and declared canonicals")
    yield LEARNED, head, swapped(results("learn-swapped")["methods"])


def methods(judged: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Yield the results of each method on sites that it did not learn from."""
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
    """Yield what is found with the defaults, and with those that are best for the other sites."""
    for run in runs:
        split = f"{run['split']}s".replace("url", "URL")
        for name in ("defaults", "chosen on the others"):
            counts = [*run["sites"][name].values()]
            yield str(len(counts)), split, name, *judged(counts)


def changes(runs: Iterable[Any]) -> Iterator[Row]:
    """Yield what is found on sites of which a share of the pages changes between two captures."""
    for run in runs:
        yield (
            f"{run['changing']:.0%}".replace("%", " %"),
            str(run["sites"]),
            f"{run['redundant']:,}",
            share(run["found"] / run["redundant"]),
            str(run["wrong"]),
            str(run["rules"]),
        )


def kinds(runs: Iterable[Any]) -> Iterator[Row]:
    """Yield what is found on sites with a view that differs for a few pages only."""
    for run in runs:
        yield (
            f"{run['changing']:.0%}".replace("%", " %"),
            *(f"{run[name]:,}" for name in ("sites", "sites with wrong merges", "wrong", "lost")),
            share(run["found"] / run["redundant"]),
            share(run["found noise"] / run["redundant noise"]),
        )


def forms(runs: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """Yield how much of the URL forms of each program is found, the best ones first.

    With each name come the per cent that rewrites find, all rules, and all where pages change.
    """
    bands: dict[str, list[str]] = {title: [] for title, _ in BANDS}
    for name in sorted(runs[0]["forms"], key=str.casefold):
        total = {run["changing"]: Counter[str]() for run in runs}
        for run in runs:
            total[run["changing"]].update(run["forms"][name])
        never, often = (total[changing] for changing in sorted(total))
        if "(trap)" not in name and (of := never["redundant"]):
            found = never["rewrites"] / of, never["with skip"] / of
            figures = [*found, often["with skip"] / often["redundant"]]
            band = next(title for title, least in BANDS if found[1] >= least)
            bands[band].append(f"{name} {'/'.join(f'{100 * each:.0f}' for each in figures)}")
    for title, names in bands.items():
        yield title, str(len(names)), ", ".join(names)


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
    """Yield the mean recall of sites with the two halves swapped."""
    for title, choice in (("thresholds chosen", "learned"), ("default thresholds", "defaults")):
        found = (judged[f"{choice}: {kind}"] for kind in REWRITES)
        yield title, *(share(one["mean recall of sites outside sinks"]) for one in found)


def sentences() -> Iterator[Sentence]:
    """Yield each sentence with figures."""
    learned = results("learn")
    generic = share(learned["methods"]["safe"]["recall"]).removesuffix(" %")
    yield README, "find {} % of the duplicates of {} real sites", (generic, str(learned["sites"]))
    yield from unseen_sentences()
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
    of_forms = results("learn-forms")
    wrong, lost = (
        sum(of[kind] for run in of_forms for of in run["forms"].values())
        for kind in ("wrong", "lost")
    )
    yield (
        LEARNED,
        "the {} forms and traps, all seeds together, {} merges are wrong and {} pages lost",
        (str(len(of_forms[0]["forms"])), str(wrong), str(lost)),
    )
    runs = {(run["observations"], run["domains"]): run for run in results("learn-scale")["runs"]}
    many, alone = growth(runs, 500, 5_000), growth(runs, 1, 1)
    yield SCALE, "of domains of the same size, take {} times the time", (many[0],)
    yield SCALE, "Of one domain they take {} times the time and {} times the memory", alone
    yield (
        SCALE,
        "a million observations of it need {} MB",
        (f"{runs[MILLION, 1]['memory, MB']:,}",),
    )


def unseen_sentences() -> Iterator[Sentence]:
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
    """Return by what factors time and memory grow with ten times as many observations."""
    one, ten = runs[MILLION, few], runs[10 * MILLION, many]
    return (
        f"{ten['CPU, s'] / one['CPU, s']:.1f}",
        f"{ten['memory, MB'] / one['memory, MB']:.1f}",
    )
