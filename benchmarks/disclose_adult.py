"""All of Adult disclosed by `hedgerow.disclose`: time, memory and visited nodes.

Run as ``python benchmarks/disclose_adult.py [METHOD ...]``: eight categorical attributes, risk
model 1 with random personal weights, utility by depth of at least half for the threshold model.
The folder is written, reports included. Each method runs in a process of its own, so that memory
is its own, too.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hedgerow.demo import adult_table
from hedgerow.disclosure.disclose import disclose
from hedgerow.plan.load import load_plan, plan_mapping
from hedgerow.plan.model import Plan

SEED = 2008
ATTRIBUTES = (
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
)


def adult_plan(folder: Path, **disclosure: Any) -> Plan:
    """The demonstration's plan with eight attributes and a ``disclose`` section."""
    mapping = plan_mapping(load_plan(folder / "plan.yaml"))
    for key in ("publish", "ledger", "data"):
        mapping.pop(key, None)
    mapping["attributes"] = {
        name: {"taxonomy": str(folder / given["taxonomy"])}
        for name, given in mapping["attributes"].items()
        if name in ATTRIBUTES
    }
    return Plan.model_validate({**mapping, "disclose": disclosure}, by_alias=True)


def with_weights(table: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table with a column of random weights for each attribute, and their names."""
    drawn = np.random.default_rng(SEED).random((len(table), len(ATTRIBUTES)))
    names = {name: f"weight of {name}" for name in ATTRIBUTES}
    columns = [pl.Series(column, drawn[:, i]) for i, column in enumerate(names.values())]
    return table.with_columns(columns), names


def run(method: str) -> None:
    """Disclose the table by one method, and print what it took."""
    table, weights = with_weights(pl.DataFrame(adult_table()))
    section: dict[str, Any] = {"method": method, "risk": {"weights": weights}}
    if method == "aggregate":
        section["lambda"] = 17  # between 15, which keeps all, and 20, which suppresses all
    else:
        section["utility"] = {"at-least": "half"}
    with as_file(files("hedgerow.demo") / "adult") as folder, tempfile.TemporaryDirectory() as out:
        start, cpu = time.perf_counter(), time.process_time()
        steps: dict[str, float] = {}

        def report(step: str, fraction: float | None) -> None:
            steps.setdefault(step, time.perf_counter() - start)

        found = disclose(
            adult_plan(Path(folder), **section),
            accept_risk=True,
            data=table,
            out=Path(out) / "disclosed",
            progress=report,
        )
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    owner = found.owner
    kind = owner.problems.kind
    solving = steps["writing"] - steps["solving"]
    risk, utility = np.nanmean(owner.found.risk[kind]), np.nanmean(owner.found.utility[kind])
    print(
        f"{method:16} {len(found):,} records, {len(owner.problems):,} distinct problems:"
        f" {seconds:6.1f} s in all ({cpu:.1f} s CPU), {solving:6.1f} s solving,"
        f" {1e3 * solving / len(owner.problems):6.2f} ms a problem,"
        f" {owner.found.n_visited[kind].mean():7.0f} nodes visited, {memory:5.0f} MB at most;"
        f" mean risk {owner.before.risk[kind].mean():.4f} -> {risk:.6f},"
        f" mean utility {owner.before.utility[kind].mean():.2f} -> {utility:.2f}"
    )


def main() -> None:
    """Run each method in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=["aruba", "aggregate"])
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args()
    for method in given.methods:
        if given.here:
            run(method)
        else:
            subprocess.run([sys.executable, __file__, "--here", method], check=True)


if __name__ == "__main__":
    main()
