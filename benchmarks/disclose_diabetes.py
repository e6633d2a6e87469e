"""Diabetes-130 with up to 45 attributes: the aggregate model, and searches where they reach.

Run as ``python benchmarks/disclose_diabetes.py PART [--records N] [--figure FILE]``; parts:

- ``aggregate``: records by minimum cuts at 10 to 45 attributes, time each [TKDE, Fig. 3(a)];
- ``searches``: ARUBA, BTDA and branch and bound at the sizes they reach;
- ``utility``: the aggregate's utility against the threshold optimum's [TKDE, Fig. 3(b)].

All 101,766 records are the dictionary. Attributes come in the order of the plan.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from diabetes import DRUG, PLAN, diabetes_table
from hedgerow.disclosure.disclose import disclose
from hedgerow.disclosure.plane import Frontier, frontier_of
from hedgerow.plan.load import plan_of
from hedgerow.plan.model import Plan

SEED = 2014
RARE_DRUGS = (
    "repaglinide",
    "nateglinide",
    "chlorpropamide",
    "acetohexamide",
    "tolbutamide",
    "acarbose",
    "miglitol",
    "troglitazone",
    "tolazamide",
    "examide",
    "citoglipton",
    "glyburide-metformin",
    "glipizide-metformin",
    "glimepiride-pioglitazone",
    "metformin-rosiglitazone",
    "metformin-pioglitazone",
)
WEIGHTS = ["[0-25)", "[25-50)", "[50-75)", "[75-100)", "[100-125)", "[125-150)"]
SIZES = (10, 20, 30, 45)


FEW = ("race", "gender", "age", "max_glu_serum", "A1Cresult", "metformin", "glimepiride")
FEW = (*FEW, "glipizide", "glyburide", "pioglitazone", "insulin", "change", "diabetesMed")
"""Attributes few of whose combinations are rare: the aggregate model has something to trade."""


def attributes(n: int | tuple[str, ...]) -> dict[str, Any]:
    """The first ``n`` of 45 attributes, or those that are named."""
    known = {name: given for name, given in PLAN["attributes"].items() if name != "readmitted"}
    rare = {drug: {"values": DRUG} for drug in RARE_DRUGS}
    weight = {"weight": {"values": WEIGHTS, "other": "more"}}
    every = {**known, **rare, **weight}
    if isinstance(n, tuple):
        return {name: every[name] for name in n}
    return dict(list(every.items())[:n])


def plan(n: int | tuple[str, ...], **disclosure: Any) -> Plan:
    """A plan with these attributes, or so many."""
    return plan_of(
        {
            "attributes": attributes(n),
            "missing": "value",
            "confirmed": True,
            "disclose": disclosure,
        }
    )


def timed(
    table: pl.DataFrame, some: pl.DataFrame, n: int | tuple[str, ...], **disclosure: Any
) -> dict[str, Any]:
    """Disclose some records against all; what one distinct record took, in wall time."""
    begun: dict[str, float] = {}

    def report(step: str, fraction: float | None) -> None:
        begun.setdefault(step, time.perf_counter())
        begun.setdefault(f"{step} cpu", time.process_time())
        begun[f"{step} last"] = time.perf_counter()
        begun[f"{step} cpu last"] = time.process_time()

    found = disclose(
        plan(n, **disclosure), data=some, against=table, accept_risk=True, progress=report
    )
    owner = found.owner
    n_problems = len(owner.problems)
    return {
        "seconds": begun["solving last"] - begun["solving"],
        "cpu solving": begun["solving cpu last"] - begun["solving cpu"],
        "distinct": n_problems,
        "milliseconds": 1e3 * (begun["solving last"] - begun["solving"]) / n_problems,
        "utility": float(owner.found.utility.mean()),
        "most": float(owner.before.utility.mean()),
        "risk": float(owner.found.risk.mean()),
        "visited": owner.found.n_visited,
        "found": found,
    }


def sample(table: pl.DataFrame, n_records: int) -> pl.DataFrame:
    chosen = np.random.default_rng(SEED).choice(len(table), n_records, replace=False)
    return table[np.sort(chosen)]


def aggregate(table: pl.DataFrame, n_records: int, figure: Path | None) -> None:
    """Time a record by the number of attributes: all of them at 30 and 45, else a tenth.

    Without weights the best forms lie well inside the lattice; with weights a tenth shows that
    it takes no longer.
    """
    lines: dict[str, list[float]] = {}
    for name, settings in {
        "no weights (model 2)": {"lambda": 60, "risk": {"model": 2}, "floor": 0},
        "harmonic weights": {"lambda": 60, "floor": 1},
    }.items():
        for n in SIZES:
            warm = timed(table, sample(table, 3), n, method="aggregate", **settings)
            assert warm["distinct"]  # compiled and loaded
            whole = n >= 30 and "risk" in settings
            some = sample(table, n_records if whole else n_records // 10)
            told = timed(table, some, n, method="aggregate", **settings)
            lines.setdefault(name, []).append(1e3 * told["cpu solving"] / told["distinct"])
            print(
                f"{name:22} {n:3} attributes, {told['distinct']:,} distinct records:"
                f" {1e3 * told['cpu solving'] / told['distinct']:6.1f} ms CPU and"
                f" {told['milliseconds']:6.1f} ms wall a record ({told['seconds']:.0f} s in all),"
                f" {told['visited'].mean():8.1f} cuts or nodes"
                f" (most {told['visited'].max()}), utility {told['utility']:.1f} of"
                f" {told['most']:.1f}",
                flush=True,
            )
    if figure is not None:
        plot(SIZES, lines, figure)


def searches(table: pl.DataFrame, n_records: int) -> None:
    """Time a record for the searches of the threshold model, at sizes they reach in seconds."""
    settings = {"utility": {"at-least": "half"}}
    reach = {"btda": (6, 8, 10), "branch-and-bound": (6, 8, 10, 12), "aruba": (6, 8, 10, 12)}
    for method, sizes in reach.items():
        for n in sizes:
            some = sample(table, n_records)
            timed(table, sample(table, 2), min(n, 8), method=method, **settings)
            told = timed(table, some, n, method=method, **settings)
            nodes = np.prod(
                [1.0 + chain.heights.mean() for chain in told["found"].owner.ready.chains]
            )
            print(
                f"{method:18} {n:3} attributes, {told['distinct']} distinct records, about"
                f" {nodes:,.0f} nodes: {1e3 * told['cpu solving'] / told['distinct']:9.1f} ms CPU a"
                " record,"
                f" {told['visited'].mean():10.0f} nodes visited",
                flush=True,
            )


def utility(table: pl.DataFrame, n_records: int, figure: Path | None) -> None:
    """The aggregate's utility, and the most utility at the risks that it ends up with."""
    print(f"{len(FEW)} attributes, model 2; utility kept, as a share of the records' own")
    frontiers: list[Frontier] = []
    points: list[tuple[float, float]] = []
    for risk_weight in (4, 8, 12, 13, 14, 15, 16, 18, 20, 30):
        settings = {"lambda": risk_weight, "floor": 0, "risk": {"model": 2}}
        told = timed(table, sample(table, n_records), FEW, method="aggregate", **settings)
        owner = told["found"].owner
        frontiers = frontiers or _frontiers(owner)
        limits = np.asarray(owner.found.risk)
        best = np.mean([_most(each, limits[job]) for job, each in enumerate(frontiers)])
        points.append((told["risk"], told["utility"] / told["most"]))
        print(
            f"lambda {risk_weight:3}: mean risk {told['risk']:9.6f}, utility by aggregate"
            f" {points[-1][1]:6.1%}, by the threshold model at the same risks"
            f" {best / told['most']:6.1%}",
            flush=True,
        )
    limits = np.geomspace(1e-5, 1, 11)
    curve = [np.mean([_most(each, limit) for each in frontiers]) / told["most"] for limit in limits]
    for limit, share in zip(limits, curve, strict=True):
        print(
            f"risk of each record at most {limit:8.5f}: utility by the threshold model {share:6.1%}"
        )
    if figure is not None:
        _plot_utility(points, (limits, curve), figure)


def _frontiers(owner: Any) -> list[Frontier]:
    found = (
        frontier_of(owner.ready, owner.given, owner.problems, job)
        for job in range(len(owner.problems))
    )
    return [each for each in found if each is not None]


def _most(frontier: Frontier, risk: float) -> float:
    """The most utility of one record at a risk of at most ``risk``; 0 where it is withheld."""
    within = frontier.utility[frontier.risk <= risk * (1 + 1e-9)]
    return float(within.max(initial=0.0))


def _plot_utility(points: Any, curve: Any, figure: Path) -> None:
    axes, save = _axes(figure)
    axes.plot(*curve, marker=".", label="threshold model, risk of each record at most")
    axes.scatter(*zip(*points, strict=True), color="C1", zorder=3, label="aggregate, mean risk")
    axes.set(xlabel="risk (model 2)", ylabel="utility kept", xscale="log")
    axes.legend()
    save()


def _axes(figure: Path) -> tuple[Any, Any]:
    """Axes to draw on, and what saves them as SVG that is the same each time."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "hedgerow"
    drawing, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axes.grid(alpha=0.3)
    return axes, lambda: drawing.savefig(figure, metadata={"Date": None})


def plot(x: Sequence[float], lines: dict[str, list[float]], figure: Path) -> None:
    """Draw time a record over the number of attributes."""
    axes, save = _axes(figure)
    for name, values in lines.items():
        axes.plot(list(x), values, marker="o", label=name)
    axes.set(xlabel="attributes", ylabel="milliseconds of CPU time a record", ylim=(0, None))
    axes.legend()
    save()


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["aggregate", "searches", "utility"])
    parser.add_argument("--records", type=int)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    table = diabetes_table()
    if given.part == "aggregate":
        aggregate(table, given.records or 2000, given.figure)
    elif given.part == "searches":
        searches(table, given.records or 20)
    else:
        utility(table, given.records or 60, given.figure)


if __name__ == "__main__":
    main()
