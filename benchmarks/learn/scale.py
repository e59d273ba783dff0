"""How long learning takes, and how much memory.

``python -m benchmarks.learn.scale [ROWS DOMAINS]``.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from hashlib import sha1
from pathlib import Path
from random import Random

from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers.tabular import read_tsv

#: Rows and domains of the runs that are compared.
RUNS = ((100_000, 50), (1_000_000, 500), (100_000, 1), (1_000_000, 1))

_COLUMNS = "url\tstatus\tmain_sha1\tsimhash64\tbytes\tcanonical\tredirect\n"


def write(path: Path, rows: int, domains: int) -> None:
    """Write observations of shops with a session, a sort order, a print view.

    Slugs and pagination.
    """
    draw = Random(rows + domains)
    per_domain = rows // domains
    with path.open("w", encoding="utf-8") as file:
        file.write(_COLUMNS)
        for number in range(rows):
            domain = number % domains
            item = draw.randrange(per_domain // 3 + 1)
            kind = draw.randrange(6)
            host = f"www.shop{domain}.example.com" if domains == 1 else f"www.shop{domain}.com"
            path_, params = f"/section{item % 17}/product/{item}", []
            if kind == 0:
                params.append(f"sid={draw.getrandbits(64):016x}")
            elif kind == 1:
                params += [f"sort={draw.choice(('name', 'price'))}", f"ref={draw.randrange(99)}"]
            elif kind == 2:  # noqa: PLR2004
                path_ += "/print"
            elif kind == 3:  # noqa: PLR2004
                params.append(f"color={draw.randrange(9)}")
            content = f"{host} {item} {params if kind == 3 else ''}"  # noqa: PLR2004
            digest = sha1(content.encode()).hexdigest()
            query = f"?{'&'.join(params)}" if params else ""
            url = f"http://{host}{path_}{query}"
            file.write(f"{url}\t200\t{digest}\t{digest[:16]}\t{1000 + item % 999}\t\t\n")


def measure(path: Path) -> str:
    """Learn from a file and return what it took."""
    # CPU time of this process: what else runs on the machine does not count.
    start = time.process_time()
    skipped: Counter[str] = Counter()
    learned = learn(read_tsv(path, skipped))
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{seconds:8.1f} s of CPU {peak:8.0f} MB {len(learned.rules):6} rules"


def main() -> int:
    if len(sys.argv) == 2:  # noqa: PLR2004 - the run of one file, in a process of its own
        print(measure(Path(sys.argv[1])))
        return 0
    runs = [(int(sys.argv[1]), int(sys.argv[2]))] if len(sys.argv) == 3 else RUNS  # noqa: PLR2004
    for rows, domains in runs:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "observations.tsv"
            write(path, rows, domains)
            command = [sys.executable, "-m", "benchmarks.learn.scale", str(path)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            print(f"{rows:10} observations {domains:5} domains {output.rstrip()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
