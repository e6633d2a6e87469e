"""Risk at equal utility: the best forms of Adult's records against k-anonymous tables.

Run as ``python benchmarks/disclose_anonymity.py [--records N] [--figure FILE]``: [ARUBA, Fig. 9]
with all three risk models, random personal weights and utility by depth. For every k from 1 to
100 there are three k-anonymous tables by full-domain generalisation, the cheapest by each of
discernibility, certainty penalty and height. Each is compared twice with the least risk that
records can have:

- *record by record*: every record keeps at least the utility that it has in that table;
- *one threshold*, as in the paper: every record keeps at least the table's mean utility.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from disclose_adult import adult_plan, with_weights
from hedgerow.baselines.kanonymity.level_search import Cost
from hedgerow.demo import adult_table
from hedgerow.disclosure.confidential import Confidential, Problems, read_confidential
from hedgerow.disclosure.lattice.lattice import Lattice, parts_of
from hedgerow.disclosure.prepare import PreparedDisclosure, prepare_disclosure
from hedgerow.disclosure.uniform import UniformForms
from hedgerow.progress import no_progress

COSTS: tuple[Cost, ...] = ("discernibility", "ncp", "height")
KS = range(1, 101)
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A k-anonymous table: its risks and utilities, and those of the best forms."""

    names: list[tuple[int, Cost]]
    risk: Floats
    utility: Floats


def anonymous_tables(forms: UniformForms) -> list[Table]:
    """The different tables among those for all k and costs."""
    found: dict[bytes, Table] = {}
    for cost in COSTS:
        for k, form in forms.anonymous(KS, cost=cost).items():
            key = b"".join(level.tobytes() for level in form.levels)
            if key not in found:
                valued = forms.valued(form)
                found[key] = Table(names=[], risk=valued.risk, utility=valued.utility)
            found[key].names.append((k, cost))
    return list(found.values())


def least_risks(
    ready: PreparedDisclosure, given: Confidential, problems: Problems, thresholds: Floats
) -> Floats:
    """The least risk of each distinct record at each of its thresholds, by a look at all nodes."""
    least = np.empty_like(thresholds)
    exposure = ready.model.exposure(given.dictionary.n_records)
    before: list[int] = []
    for job in range(len(problems)):
        codes = [int(column[job]) for column in problems.records.codes]
        if codes != before:
            before = codes
            counter = given.dictionary.counter(codes)
            lattice = Lattice.of(codes, ready.chains)
            utility = lattice.totals(parts_of(codes, ready.utility, lattice)).reshape(-1)
            order = np.argsort(-utility, kind="stable")
            falling = -utility[order]
            exposed = exposure[counter.cube().reshape(-1)[order]]
        risk = exposed
        if ready.model.personal:
            parts = problems.severities.parts(codes, lattice, job)
            risk = lattice.totals(parts).reshape(-1)[order] * exposed
        best = np.minimum.accumulate(risk)
        n_useful = np.searchsorted(falling, 1e-9 - thresholds[job], side="right")
        least[job] = best[np.maximum(n_useful - 1, 0)]
    return least


def compare(number: int, folder: Path, n_records: int | None) -> list[dict[str, float]]:
    """Compare the tables with the best forms, for one risk model."""
    start = time.process_time()
    frame, weights = with_weights(pl.DataFrame(adult_table()))
    if n_records is not None:
        frame = frame.sample(n_records, seed=number)
    risk = {"model": number} if number == 2 else {"model": number, "weights": weights}
    ready = prepare_disclosure(adult_plan(folder, risk=risk))
    given = read_confidential(ready, frame, None, progress=no_progress)
    problems = Problems.of(ready, given)
    tables = anonymous_tables(UniformForms(ready=ready, given=given, problems=problems))
    many = problems.many
    means = np.array([np.average(table.utility, weights=many) for table in tables])
    own = np.stack([table.utility for table in tables], axis=1)
    common = np.broadcast_to(means, own.shape)
    least = least_risks(ready, given, problems, np.hstack([own, common]))
    anonymous = np.stack([table.risk for table in tables], axis=1)
    above = int((least[:, : len(tables)] > anonymous * (1 + 1e-9)).sum())
    rows = [
        {
            "k": min(k for k, _ in table.names),
            "utility": float(means[i]),
            "anonymous": float(np.average(anonymous[:, i], weights=many)),
            "records": float(np.average(least[:, i], weights=many)),
            "threshold": float(np.average(least[:, len(tables) + i], weights=many)),
        }
        for i, table in enumerate(tables)
    ]
    worse = sum(row["records"] > row["anonymous"] * (1 + 1e-9) for row in rows)
    also = sum(row["threshold"] > row["anonymous"] * (1 + 1e-9) for row in rows)
    print(
        f"model {number}: {len(tables)} different tables for k = 1..100 and {len(COSTS)} costs,"
        f" {len(given.table):,} records; record by record: {above} risks above, {worse} mean risks"
        f" above; one threshold: {also} mean risks above ({time.process_time() - start:.0f} s CPU)",
        flush=True,
    )
    for row in sorted(rows, key=lambda row: (row["k"], row["utility"])):
        print(
            f"  k from {row['k']:3.0f}, utility {row['utility']:5.2f}: k-anonymous"
            f" {row['anonymous']:.3e}, best record by record {row['records']:.3e},"
            f" at one threshold {row['threshold']:.3e}"
        )
    return rows


def plot(by_model: dict[int, list[dict[str, float]]], figure: Path) -> None:
    """Draw risk against utility for the three models, as [ARUBA, Fig. 9]."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "hedgerow"
    drawing, panels = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    for panel, (number, rows) in zip(panels, by_model.items(), strict=True):
        utility = [row["utility"] for row in rows]
        for key, marker, label in (
            ("anonymous", "s", "k-anonymous tables"),
            ("records", "o", "least risk, record by record"),
            ("threshold", "x", "least risk, one threshold"),
        ):
            panel.scatter(utility, [row[key] for row in rows], marker=marker, label=label, s=22)
        panel.set(title=f"risk model {number}", xlabel="mean utility (depth)", yscale="symlog")
        low = min(row["records"] for row in rows if row["records"] > 0)
        panel.set_yscale("symlog", linthresh=low)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("mean risk")
    panels[0].legend(fontsize=8)
    drawing.savefig(figure, metadata={"Date": None})


def main() -> None:
    """Compare for all three models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, help="a random part of the table")
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    with as_file(files("hedgerow.demo") / "adult") as folder:
        rows = {number: compare(number, Path(folder), given.records) for number in (1, 2, 3)}
    if given.figure is not None:
        plot(rows, given.figure)


if __name__ == "__main__":
    main()
