"""How long basket files take to be read and encoded, beside splitting their lines in Python.

Run: python benchmarks/read_baskets.py [DATA]    (DATA: the folder with msnbc/ and set-valued/)
"""

from __future__ import annotations

import gzip
import sys
import time
from collections.abc import Callable
from pathlib import Path

from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.universe import universe_of
from hedgerow.plan.load import plan_of
from hedgerow.plan.model import Plan
from hedgerow.read.items import open_items

FILES = {
    "msnbc/msnbc990928.seq.gz": {"universe": [1, 17], "as": "sets"},
    "set-valued/fruithut.dat.gz": {"taxonomy": "hierarchies/fruithut/taxonomy.txt"},
    "set-valued/bms-webview-2.dat.gz": {
        "taxonomy": "hierarchies/bms-webview-2/treefile_BMS.txt.gz"
    },
    "set-valued/retail.dat.gz": {"universe": [0, 16_469]},
}
HEADERS = {"msnbc/msnbc990928.seq.gz": 7}
RUNS = 5


def best(work: Callable[[], object]) -> float:
    """Return the CPU seconds of the fastest of some runs."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def split(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt") as file:
        return [line.split() for line in file]


def encode(path: Path, plan: Plan) -> object:
    universe = universe_of(plan)
    source = open_items(path, universe.place, reading=plan.how_to_read())
    return encode_baskets(source, universe)


def main(folder: Path) -> None:
    print("file | read and split, s | read and encode, s | ratio")
    for name, items in FILES.items():
        reading = {"header": HEADERS.get(name, 0)}
        plan = plan_of({"items": items, "reading": reading}, base=folder)
        splitting = best(lambda path=folder / name: split(path))
        encoding = best(lambda path=folder / name, of=plan: encode(path, of))
        print(f"{name} | {splitting:.3f} | {encoding:.3f} | {encoding / splitting:.2f}")


if __name__ == "__main__":
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
