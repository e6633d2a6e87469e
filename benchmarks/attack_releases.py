"""What `hedgerow attack` gets from releases of six public data sets: research/attack.md.

Run as ``python benchmarks/attack_releases.py [--data NAME ...] [--quick] [--write]``. Half of a
random sample of each data set is published, the other half is held out. Four are tables (UCI Adult,
diabetes-130, the NIST excerpts of Massachusetts and Texas), one is of baskets (FruitHut) and
one of sequences (MSNBC); all but Adult are read from the folder HEDGEROW_DATA or
../shared/data. Releases and attacks have seeds, so that the tables always come out alike.
``--write`` puts them into the page.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the experiments

import hedgerow
from experiments import diabetes
from experiments.tables import DIABETES

FOLDER = Path(os.environ.get("HEDGEROW_DATA", Path(__file__).parents[2] / "shared" / "data"))
SEED = 1
PAGE = Path(__file__).resolve().parent.parent / "research" / "attack.md"


@dataclass(frozen=True, kw_only=True)
class Published:
    """A data set in two halves, with the plan that half of it is published by."""

    data: Any
    others: Any
    plan: dict[str, Any]


def _halves(table: pl.DataFrame, n: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    order = np.random.default_rng(SEED).permutation(len(table))[: 2 * n]
    half = len(order) // 2
    return table[order[:half].tolist()], table[order[half:].tolist()]


def adult(n: int, folder: Path) -> Published:
    """Return UCI Adult, 13 columns and the class."""
    with as_file(files("hedgerow") / "demo" / "adult") as bundled:
        plan = hedgerow.load_plan(bundled / "plan.yaml")
        given = plan.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for column in given["attributes"].values():
            if isinstance(column.get("taxonomy"), str):
                column["taxonomy"] = str(bundled / column["taxonomy"])
        table = pl.read_parquet(bundled / "adult.parquet")
        data, others = _halves(table, n)
    return Published(data=data, others=others, plan=given)


def diabetes_130(n: int, folder: Path) -> Published:
    """Return diabetes-130, 28 columns and the class."""
    data, others = _halves(diabetes.diabetes_table(FOLDER / DIABETES), n)
    return Published(data=data, others=others, plan=dict(diabetes.PLAN))


def _nist(state: str) -> Callable[[int, Path], Published]:
    names = ("SEX", "MSP", "HISP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "INDP_CAT", "EDU")
    further = ("DREM", "DPHY", "DEYE", "DEAR", "PINCP_DECILE")

    def made(n: int, folder: Path) -> Published:
        known = json.loads((FOLDER / "nist" / "data_dictionary.json").read_text("utf-8"))
        columns: dict[str, Any] = {"AGEP": {"numeric": [0, 99]}}
        for name in (*names, *further):
            columns[name] = {"values": list(known[name]["values"])}
        columns["PINCP_DECILE"]["role"] = "class"
        file = FOLDER / "nist" / f"{state}2019.csv.gz"
        table = pl.read_csv(file, infer_schema=False).select(list(columns))
        data, others = _halves(table, n)
        return Published(data=data, others=others, plan={"attributes": columns})

    return made


def _lists(path: str, *, header: int, **items: Any) -> Callable[[int, Path], Published]:
    def made(n: int, folder: Path) -> Published:
        with gzip.open(FOLDER / path, "rt", encoding="ascii") as file:
            every = file.read().splitlines()[header:]
            lines = np.array([line for line in every if line.strip()], dtype=object)
        chosen = np.random.default_rng(SEED).permutation(len(lines))[: 2 * n]
        for name, which in (("in", chosen[:n]), ("out", chosen[n:])):
            (folder / f"{name}.dat").write_text("\n".join(lines[which].tolist()) + "\n", "ascii")
        universe = sorted({word for line in lines.tolist() for word in line.split()}, key=int)
        plan = {"items": {"universe": universe, **items}}
        return Published(data=folder / "in.dat", others=folder / "out.dat", plan=plan)

    return made


DATA: dict[str, Callable[[int, Path], Published]] = {
    "Adult": adult,
    "diabetes-130": diabetes_130,
    "NIST, Massachusetts": _nist("ma"),
    "NIST, Texas": _nist("tx"),
    "FruitHut (baskets)": _lists("set-valued/fruithut.dat.gz", header=0),
    "MSNBC (sequences)": _lists("msnbc/msnbc990928.seq.gz", header=7, ordered=True),
}

OF_TABLES: dict[str, dict[str, Any] | None] = {
    "the raw records": None,
    "Mondrian, k = 5": {"method": "mondrian", "k": 5},
    "hedge, ε = 1": {"method": "hedge", "epsilon": 1},
    "weave, ε = 1": {"method": "weave", "epsilon": 1},
    "weave, ε = 1/10": {"method": "weave", "epsilon": "1/10"},
}
OF_BASKETS: dict[str, dict[str, Any] | None] = {
    "the raw records": None,
    "coterie, ε = 1": {"method": "coterie", "epsilon": 1},
}
OF_SEQUENCES: dict[str, dict[str, Any] | None] = {
    "the raw records": None,
    "chain, ε = 1": {"method": "chain", "epsilon": 1},
}


def contenders(name: str) -> dict[str, dict[str, Any] | None]:
    """Return what is attacked of a data set."""
    if "baskets" in name:
        return OF_BASKETS
    return OF_SEQUENCES if "sequences" in name else OF_TABLES


def attacked(case: Published, section: dict[str, Any] | None, *, most: int) -> dict[str, Any]:
    """Return the figures of one release."""
    plan = {**case.plan, "confirmed": True, "ledger": {"dataset": "attacked", "cap": 50}}
    if "person" not in plan and "one-record-per-person" not in plan:
        plan["protects"] = "records"
    plan["publish"] = section or {"epsilon": 1}
    given: dict[str, Any] = {"holdout": case.others, "most_records": most, "seed": SEED}
    if section is None:
        return hedgerow.attack(case.data, case.data, plan=plan, **given).facts
    release = hedgerow.publish(plan, data=case.data, seed=SEED)
    return hedgerow.attack(release, case.data, **given).facts


def _per_cent(facts: dict[str, Any] | None) -> str:
    if facts is None or facts["rate"] is None:
        return "–"
    low, high = 100 * facts["low"], 100 * facts["high"]
    return f"{100 * facts['rate']:.0f} ({low:.0f}–{high:.0f})"


def _pair(facts: dict[str, Any]) -> str:
    """Return attack / control / bound of a question, in per cent."""
    if "not-run" in facts:
        return "not run"
    bound = "–" if facts["bound"] is None else f"{100 * facts['bound']['rate']:.0f}"
    mark = "**" if facts["beyond-bound"] or facts["beyond-control"] else ""
    shown = f"{mark}{_per_cent(facts['attack'])}{mark}"
    return f"{shown} / {100 * facts['control']['rate']:.0f} / {bound}"


def _best(facts: dict[str, Any]) -> str:
    runs = [each for each in facts["membership"]["attacks"].values() if "not-run" not in each]
    best = max(runs, key=lambda each: each["accuracy"]["rate"])
    bound = "–" if best["bound"] is None else f"{100 * best['bound']:.0f}"
    beyond = any(each["beyond-guessing"] for each in runs)
    mark = "**" if beyond else ""
    return f"{mark}{_per_cent(best['accuracy'])}{mark} / {bound}"


def lines(name: str, *, n: int, most: int) -> Iterator[str]:
    """Yield a row of the table for every release of a data set."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGEROW_LEDGER"] = str(Path(folder) / "ledger.sqlite")
        case = DATA[name](n, Path(folder))
        for release, section in contenders(name).items():
            facts = attacked(case, section, most=most)
            inferred = next(iter(facts["inference"]["columns"].values()))
            refuted = [
                key
                for key, each in {
                    **facts["membership"]["attacks"],
                    "singling-out": facts["singling-out"],
                    "linkability": facts["linkability"],
                    "inference": inferred,
                }.items()
                if each.get("beyond-bound")
            ]
            if refuted:
                print(f"{name}, {release}: beyond the bound: {refuted}", file=sys.stderr)
            cells = [
                name,
                release,
                _best(facts),
                _pair(facts["singling-out"]),
                _pair(facts["linkability"]),
                _pair(inferred),
            ]
            yield f"| {' | '.join(cells)} |"


HEADER = (
    "| data | release | membership: right / bound | singling out | linkability | inference |\n"
    "|---|---|---|---|---|---|"
)


def main() -> None:
    """Attack the releases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", choices=list(DATA), default=list(DATA))
    parser.add_argument("--quick", action="store_true", help="small samples")
    parser.add_argument(
        "--write", action="store_true", help="put the table into research/attack.md"
    )
    given = parser.parse_args()
    n, most = (600, 300) if given.quick else (3_800, 2_000)
    shown = [HEADER]
    print(HEADER)
    for name in given.data:
        for line in lines(name, n=n, most=most):
            shown.append(line)
            print(line, flush=True)
    if given.write:
        marked = re.compile(r"(<!-- releases -->\n).*?(<!-- /releases -->)", re.DOTALL)
        old = PAGE.read_text(encoding="utf-8")
        text = "\n".join(shown)
        PAGE.write_text(marked.sub(lambda found: f"{found[1]}{text}\n{found[2]}", old), "utf-8")


if __name__ == "__main__":
    main()
