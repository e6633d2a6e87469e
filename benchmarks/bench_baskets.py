"""The speed of DiffPart and coterie against reading the file and splitting it, in one run.

Run as ``python benchmarks/bench_baskets.py [--only METHOD] [--plot FILE]``. Of DiffPart: MSNBC
(target: 4 times the reading), fruithut resampled to the size of the paper's STM (target: 10
times), and how time grows with records and with the universe, which ``--plot`` draws as SVG. Of
coterie: the sparse data as they are, and fruithut resampled (target: 6 times).
All times are CPU seconds, the best of several runs, compiled loops loaded.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np

from basket_data import FILES, context_free_of, encoded, lines
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.encode.baskets import encode_baskets
from hedgerow.methods.coterie.coterie import Coterie
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.model.baskets import EncodedBaskets, offsets_of
from hedgerow.model.method import BasketMethod
from hedgerow.model.run import Run
from hedgerow.model.universe import ItemsPlace, Universe
from hedgerow.privacy.source import SystemSource
from hedgerow.read.items import open_items
from hedgerow.taxonomy.builders import context_free

STM_RECORDS = 1_210_096
PARTS = (0.25, 0.5, 0.75, 1.0)
UNIVERSES = (0.5, 1, 2, 4, 8)
VARIANTS = {"faithful": DiffPart(faithful=True), "default": DiffPart()}
COTERIE = {"coterie": Coterie()}


def best_of(run: Callable[[], object], times: int = 7) -> float:
    """Return the shortest of several runs, in CPU seconds."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        run()
        spent.append(time.process_time() - start)
    return min(spent)


def read_and_split(path: Path) -> int:
    """Read every line into items: what a publisher has to do at the very least."""
    with path.open(encoding="ascii") as file:
        return sum(len(line.split()) for line in file)


def publish(method: BasketMethod, baskets: EncodedBaskets) -> None:
    method.publish(
        Run.start(BasketMemory(baskets=baskets), epsilon=Fraction(1), source=SystemSource())
    )


def chosen(baskets: EncodedBaskets, records: np.ndarray) -> EncodedBaskets:
    """Return some records, perhaps several times."""
    lengths = baskets.lengths[records]
    offsets = offsets_of(lengths)
    places = np.arange(offsets[-1]) + np.repeat(baskets.offsets[records] - offsets[:-1], lengths)
    return EncodedBaskets(taxonomy=baskets.taxonomy, offsets=offsets, items=baskets.items[places])


def over_universe(baskets: EncodedBaskets, n_items: int) -> EncodedBaskets:
    """Return as many records over so many items: the first ones, or some more that none has."""
    inside = baskets.items < n_items
    owners = np.repeat(np.arange(len(baskets)), baskets.lengths)[inside]
    kept, lengths = np.unique(owners, return_counts=True)
    fewer = EncodedBaskets(
        taxonomy=context_free([str(i) for i in range(n_items)], fan_out=10),
        offsets=offsets_of(lengths),
        items=baskets.items[inside],
    )
    return chosen(fewer, np.random.default_rng(1).integers(0, len(kept), len(baskets)))


def against_reading(
    name: str,
    text: str,
    baskets: EncodedBaskets,
    target: int,
    variants: Mapping[str, BasketMethod] = VARIANTS,
) -> None:
    """Print how long publishing a file takes, from the file to the baskets, in readings of it."""
    universe = Universe(
        taxonomy=baskets.taxonomy, place=ItemsPlace(column=None, record=None, separators=b" ,\t")
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baskets.dat"
        path.write_text(text, encoding="ascii")
        reading = best_of(lambda: read_and_split(path))
        encoding = best_of(lambda: encode_baskets(open_items(path, universe.place), universe))
    print(f"{name}: {len(baskets):,} records, {baskets.taxonomy.n_leaves:,} items")
    print(f"  reading and splitting {reading:.3f} s, our reading and encoding {encoding:.3f} s")
    for variant, method in variants.items():
        publish(method, baskets)  # compiled loops are loaded, not timed
        seconds = best_of(lambda method=method: publish(method, baskets))
        whole = encoding + seconds
        print(
            f"  {variant:9} {seconds:5.3f} s, from the file {whole:5.3f} s:"
            f" {whole / reading:5.2f} x reading and splitting (target {target}),"
            f" {whole / encoding:5.2f} x reading and encoding",
            flush=True,
        )


def growth(baskets: EncodedBaskets) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """Return, for records and items, each variant's (size, seconds)."""
    rng = np.random.default_rng(2)
    n_items = baskets.taxonomy.n_leaves
    order = rng.permutation(len(baskets))
    sizes = [int(part * len(baskets)) for part in PARTS]
    universes = [int(part * n_items) for part in UNIVERSES]
    subjects = {
        "records": [(size, chosen(baskets, order[:size])) for size in sizes],
        "items": [(size, over_universe(baskets, size)) for size in universes],
    }
    return {
        axis: {
            variant: [
                (size, best_of(lambda m=method, b=part: publish(m, b))) for size, part in parts
            ]
            for variant, method in VARIANTS.items()
        }
        for axis, parts in subjects.items()
    }


def draw(measured: dict[str, dict[str, list[tuple[int, float]]]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams["svg.fonttype"] = "none"  # text stays text, and the file small
    plt.rcParams["svg.hashsalt"] = "hedgerow"
    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axis, (name, variants) in zip(axes, measured.items(), strict=True):
        for variant, points in variants.items():
            axis.plot(*zip(*points, strict=True), marker="o", label=variant)
        axis.set(xlabel=name, ylabel="CPU seconds", ylim=(0, None), xlim=(0, None))
        axis.legend()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--only", choices=("diffpart", "coterie"))
    given = parser.parse_args()
    fruithut = encoded("fruithut", context_free_of("fruithut"))
    rng = np.random.default_rng(0)
    which = rng.integers(0, len(fruithut), STM_RECORDS)
    written = lines("fruithut")
    text = "\n".join([written[i] for i in which.tolist()])
    large = chosen(fruithut, which)
    if given.only != "diffpart":
        for name in FILES:
            if name != "msnbc":
                baskets = encoded(name, context_free_of(name))
                against_reading(name, "\n".join(lines(name)), baskets, 6, COTERIE)
        against_reading("fruithut, resampled", text, large, 6, COTERIE)
    if given.only != "coterie":
        of_diffpart(large, text, given.plot)


def of_diffpart(large: EncodedBaskets, text: str, plot: Path | None) -> None:
    """Print DiffPart's times, and how they grow."""
    msnbc = encoded("msnbc", context_free_of("msnbc"))
    against_reading("msnbc", "\n".join(lines("msnbc")), msnbc, target=4)
    against_reading("fruithut, resampled", text, large, target=10)
    measured = growth(large)
    for axis, variants in measured.items():
        for variant, points in variants.items():
            told = ", ".join(f"{size:,}: {seconds:.2f} s" for size, seconds in points)
            print(f"time by {axis}, {variant}: {told}")
    if plot:
        draw(measured, plot)


if __name__ == "__main__":
    main()
