"""Every page that hedgerow writes, made from seeded, made-up data, for tests of how pages look.

``python -m support.pages FOLDER`` (with ``tests`` on the path) writes them all, a folder each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import hedgerow
from hedgerow.report.comparison import render_comparison
from support.disclosure_tables import METHODS as DISCLOSURES
from support.disclosure_tables import patients
from support.disclosure_tables import plan as disclosure_plan
from support.engine_plans import basket_plan, table_plan, write_baskets, write_table

N_WIDE = 42
SEED = 1977
APPROVED = {"by": "Ada Muster, data protection", "on": "2026-01-31", "why": "yearly release"}

REGIONS = {
    "north": ["Nether Wallop upon the Water", "Ashby-de-la-Zouch", "Blubberhouses"],
    "south": ["Llanfairpwllgwyngyll", "Barton in the Beans", "Wetwang"],
}


def wide_table(n: int = 6000, n_columns: int = N_WIDE) -> pl.DataFrame:
    """A table of 42 columns: numbers, codes, long labels, and a class that follows some of them."""
    rng = np.random.default_rng(42)
    level = rng.normal(size=n)
    columns: dict[str, Any] = {}
    places = [place for region in REGIONS.values() for place in region]
    for at in range(n_columns - 1):
        drawn = level * (1.2 if at % 3 == 0 else 0.1) + rng.normal(size=n)
        if at % 3 == 0:
            columns[f"measure {at}"] = np.clip((40 + 15 * drawn).round(), 0, 99).astype(int)
        elif at % 3 == 1:
            which = np.clip(np.floor(drawn + 3), 0, 5).astype(int)
            columns[f"place_of_event_{at}"] = [places[each] for each in which]
        else:
            columns[f"item{at}"] = np.where(drawn > 0.5, "yes", "no")
    columns["returned"] = np.where(level + 0.5 * rng.normal(size=n) > 1.2, "within 30 days", "no")
    return pl.DataFrame(columns)


def wide_plan(method: str = "hedge", *, n_columns: int = N_WIDE, **settings: Any) -> dict[str, Any]:
    """The plan of that table."""
    attributes: dict[str, Any] = {}
    for at in range(n_columns - 1):
        if at % 3 == 0:
            attributes[f"measure {at}"] = {"numeric": [0, 99], "unit": "points"}
        elif at % 3 == 1:
            attributes[f"place_of_event_{at}"] = {"taxonomy": REGIONS}
        else:
            attributes[f"item{at}"] = {"values": ["no", "yes"]}
    attributes["returned"] = {"role": "class", "values": ["no", "within 30 days"]}
    private = {} if method == "mondrian" else {"epsilon": 1}
    return {
        "attributes": attributes,
        "protects": "records",
        "confirmed": True,
        "publish": {"method": method, **private, **settings},
        "approved": APPROVED,
        "ledger": {"dataset": f"wide table, by {method}", "cap": 2},
    }


def _wide(folder: Path, method: str, n_columns: int, **settings: Any) -> Path:
    data = wide_table(n_columns=n_columns)
    plan = wide_plan(method, n_columns=n_columns, **settings)
    hedgerow.publish(plan, data=data, out=folder, seed=SEED)
    return folder / "report.html"


def _small(folder: Path, method: str, settings: dict[str, object]) -> Path:
    data = write_table(folder.with_suffix(".csv"))
    out: dict[str, Any] = {"out": folder, "records": True, "parquet": True, "seed": SEED}
    hedgerow.publish(table_plan((method, settings)), data=data, **out)
    return folder / "report.html"


def _baskets(folder: Path, settings: dict[str, object]) -> Path:
    data = write_baskets(folder.with_suffix(".dat"), n=3000)
    hedgerow.publish(basket_plan(("diffpart", settings)), data=data, out=folder, seed=SEED)
    return folder / "report.html"


def _disclosed(folder: Path) -> Path:
    settings = next(iter(DISCLOSURES.values()))
    hedgerow.disclose(disclosure_plan(**settings), data=patients(), out=folder)
    return folder / "report.html"


def _owner(folder: Path) -> Path:
    return _disclosed(folder).parent / "owner" / "report.html"


def _evaluated(folder: Path, *, n_columns: int, tasks: Any = "all") -> Path:
    data = wide_table(2000, n_columns)
    release = hedgerow.publish(wide_plan(n_columns=n_columns), data=data, seed=SEED)
    hedgerow.evaluate(release, data, out=folder, tasks=tasks)
    return folder / "evaluation.html"


def _evaluated_baskets(folder: Path) -> Path:
    data = write_baskets(folder.with_suffix(".dat"), n=1000)
    release = hedgerow.publish(basket_plan(("diffpart", {})), data=data, seed=SEED)
    hedgerow.evaluate(release, data, out=folder)
    return folder / "evaluation.html"


def _attacked(folder: Path, method: str, *, holdout: bool) -> Path:
    everybody = wide_table(1200, 5)
    data, others = everybody[:600], everybody[600:]
    release = hedgerow.publish(wide_plan(method, n_columns=5), data=data, seed=SEED)
    given: dict[str, Any] = {"holdout": others, "other": release} if holdout else {}
    hedgerow.attack(release, data, out=folder, shadows=1, **given)
    return folder / "attack.html"


def _at_risk(folder: Path) -> Path:
    plan = wide_plan("hedge", n_columns=5)
    hedgerow.risk(wide_table(1200, 5), plan=plan, fraction=0.1, out=folder)
    return folder / "risk.html"


def _compared(folder: Path) -> Path:
    """The page of a comparison, with figures of nobody."""
    folder.mkdir()
    names = ["release-of-january", "release-by-weave", "a-release-with-a-rather-long-name"]
    columns = ["", "method", "ε", "count error", "2-way error", "tree", "risk"]
    cells = [[name, "hedge", "1", "12.3 %", "21.0 %", "84.2 %", "0.1 %"] for name in names]
    page = render_comparison(
        audience="Compared on 8,000 records.",
        is_secret=True,
        columns=columns,
        cells=cells,
        ends={"floor": "75.6 %", "ceiling": "85.4 %"},
        answering_zero="47.3 %",
        names=names,
        errors={"counts": [0.12, 0.2, 0.3], "2-way tables": [0.21, None, 0.4]},
    )
    (folder / "comparison.html").write_text(page, encoding="utf-8")
    return folder / "comparison.html"


PAGES: dict[str, Callable[[Path], Path]] = {
    "hedge-wide": lambda folder: _wide(folder, "hedge", N_WIDE),
    "weave": lambda folder: _wide(folder, "weave", 9),
    "diffgen": lambda folder: _small(folder, "diffgen", {"h": 3}),
    "diffmulti": lambda folder: _small(folder, "diffmulti", {"h": 8}),
    "mondrian": lambda folder: _small(folder, "mondrian", {"k": 5}),
    "truthful": lambda folder: _small(folder, "truthful", {"delta": "1/100"}),
    "privbayes": lambda folder: _small(folder, "privbayes", {}),
    "baskets": lambda folder: _baskets(folder, {}),
    "baskets-faithful": lambda folder: _baskets(folder, {"faithful": True}),
    "disclosed": _disclosed,
    "disclosed-owner": _owner,
    "comparison": _compared,
    "risk": _at_risk,
    "attack": lambda folder: _attacked(folder, "hedge", holdout=True),
    "attack-alone": lambda folder: _attacked(folder, "weave", holdout=False),
    "evaluation-baskets": _evaluated_baskets,
    "evaluation": lambda folder: _evaluated(
        folder, n_columns=8, tasks=["counting", "loss", "risk"]
    ),
}
"""How each page is made, by name: it is given a new folder and returns the page in it."""

LARGE: dict[str, Callable[[Path], Path]] = {
    "weave-wide": lambda folder: _wide(folder, "weave", N_WIDE),
    "diffgen-wide": lambda folder: _wide(folder, "diffgen", N_WIDE, h=8),
    "mondrian-wide": lambda folder: _wide(folder, "mondrian", N_WIDE, k=50),
    "evaluation-full": lambda folder: _evaluated(folder, n_columns=8),
    "evaluation-wide": lambda folder: _evaluated(folder, n_columns=N_WIDE),
}
"""Pages that take longer to make; looked at in a browser only."""


def write_pages(folder: Path, *, large: bool = True) -> dict[str, Path]:
    """Write every page below ``folder``, and return where each is."""
    folder.mkdir(parents=True, exist_ok=True)
    makers = {**PAGES, **LARGE} if large else PAGES
    return {name: make(folder / name) for name, make in makers.items()}


if __name__ == "__main__":
    for page, place in write_pages(Path(sys.argv[1])).items():
        sys.stdout.write(f"{page}\t{place}\n")
