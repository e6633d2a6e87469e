"""A simulated network of 300 stations, and what the taxonomy of its lines brings to chain.

Everything is made up: 20 lines of 15 stations, of which every line has some that are linked to
stations of others. A trip begins at a station by its popularity, passes stations of its line in
one direction, may change lines at a link, and ends with an even chance at every stop, or at the
end of a line. Trips are published twice, over the same stations: grouped by lines, and in the
order of their names, which says nothing.

    python benchmarks/transit_network.py [SEEDS [TRIPS]]
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.baskets import EncodedBaskets, item_dtype, offsets_of
from hedgerow.taxonomy.tree import Taxonomy
from sequence_figures import HEADINGS, Truth, shown_figures
from sequence_quality import run

N_LINES, ON_A_LINE = 20, 15
LINKS = 60
CHANGES = 0.5
"""The part of all who pass a link that change there."""
STOPS = 0.22
"""The chance that a trip ends at a station."""
LONGEST = 40


def trips(n: int, *, seed: int = 5) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return offsets and stations of simulated trips; station ``15 * line + place``."""
    rng = np.random.default_rng(seed)
    n_stations = N_LINES * ON_A_LINE
    linked = np.full(n_stations, -1)
    ends = rng.permutation(n_stations)[: 2 * LINKS].reshape(2, LINKS)
    linked[ends[0]], linked[ends[1]] = ends[1], ends[0]
    popular = 1 / np.arange(1, n_stations + 1) ** 0.8
    start = rng.permutation(n_stations)
    at = start[rng.choice(n_stations, n, p=popular / popular.sum())]
    way = np.where(rng.random(n) < 0.5, -1, 1)
    active = np.arange(n)
    owners, stations = [active], [at]
    for _ in range(LONGEST - 1):
        changes = (linked[at] >= 0) & (rng.random(len(at)) < CHANGES)
        place = at % ON_A_LINE + way
        stays = (rng.random(len(at)) >= STOPS) & (changes | ((place >= 0) & (place < ON_A_LINE)))
        at = np.where(changes, linked[at], at + way)[stays]
        turned = np.where(rng.random(len(way)) < 0.5, -1, 1)
        way, active = np.where(changes, turned, way)[stays], active[stays]
        owners.append(active)
        stations.append(at)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return offsets_of(np.bincount(owner, minlength=n)), np.concatenate(stations)[order]


def by_lines() -> Taxonomy:
    """Return lines and their stations."""
    return Taxonomy.from_nested(
        "Any",
        {
            f"line {line}": [f"s{ON_A_LINE * line + place}" for place in range(ON_A_LINE)]
            for line in range(N_LINES)
        },
    )


def by_names() -> Taxonomy:
    """Return stations in an order that says nothing of lines."""
    order = np.random.default_rng(9).permutation(N_LINES * ON_A_LINE)
    return Taxonomy.flat([f"s{station}" for station in order.tolist()])


def encoded(taxonomy: Taxonomy, offsets: NDArray[np.int64], stations: NDArray[np.int64]):
    code = np.array([taxonomy.leaf_code[f"s{station}"] for station in range(taxonomy.n_leaves)])
    items = code[stations].astype(item_dtype(taxonomy.n_leaves))
    return EncodedBaskets(taxonomy=taxonomy, offsets=offsets, items=items)


def main() -> None:
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    n_trips = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    made = trips(n_trips)
    print(f"{n_trips:,} trips of {np.diff(made[0]).mean():.1f} stations on average")
    print(f"epsilon | taxonomy | {HEADINGS}")
    for name, taxonomy in (("lines and stations", by_lines()), ("none", by_names())):
        records = encoded(taxonomy, *made)
        truth = Truth(records)
        for epsilon in (Fraction(4), Fraction(1)):
            rows = [
                truth.figures(WeightedSets.of_release(run(records, epsilon, seed=100 + seed)))
                for seed in range(n_seeds)
            ]
            shown = shown_figures(np.mean(np.array(rows), axis=0))
            print(f"{float(epsilon):g} | {name} | {shown}", flush=True)


if __name__ == "__main__":
    main()
