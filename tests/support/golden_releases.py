"""What every method and every disclosure gives for fixed seeds, as digests.

Releases of methods that fit in floating point have no digests, but all else.

`tests/golden/releases.json` holds what they gave when it was last reviewed. A change of any
of it is a change of releases: it is announced in the changelog, and the file is written anew
by running `test_golden.py` with ``HEDGEROW_GOLDEN=write``.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hedgerow
from support.disclosure_tables import METHODS as DISCLOSURES
from support.disclosure_tables import patients
from support.disclosure_tables import plan as disclosure_plan
from support.engine_plans import (
    basket_plan,
    date_plan,
    name_of,
    sequence_plan,
    table_plan,
    variants,
    write_baskets,
    write_journeys,
    write_shop,
    write_stays,
    write_table,
)

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "releases.json"
SEED = 1977

ADULT: dict[str, dict[str, Any]] = {
    "hedge": {},
    "hedge for clustering": {"purpose": "clustering"},
    "hedge for counting": {"purpose": "counting", "epsilon": "1/4"},
    "hedge for general": {"purpose": "general"},
    "diffgen": {"method": "diffgen"},
    "diffgen infogain": {"method": "diffgen", "score": "infogain", "h": 6},
    "diffgen faithful": {"method": "diffgen", "faithful": True, "h": 4},
    "diffgen auto": {"method": "diffgen", "h": "auto"},
    "diffmulti": {"method": "diffmulti", "h": 60},
    "diffmulti for clustering": {
        "method": "diffmulti",
        "purpose": "clustering",
        "clusters": 3,
        "h": 60,
    },
    "diffmulti for classification": {"method": "diffmulti", "purpose": "classification", "h": 60},
    "diffmulti for counting": {"method": "diffmulti", "purpose": "counting", "h": 60},
    "diffmulti infogain, even": {
        "method": "diffmulti",
        "score": "infogain",
        "distribution": "even",
        "depth": 5,
        "h": 30,
    },
    "diffmulti faithful": {"method": "diffmulti", "faithful": True, "h": 40},
    "rps": {"method": "rps", "height": 5},
    "dpcube": {"method": "dpcube", "cells": 4096},
    "privbayes": {"method": "privbayes", "degree": 2},
    "basic-table": {"method": "basic-table", "cells": 2000},
}
"""Settings for the bundled table, which is large enough for every kind of level."""

DATED = ("hedge", "diffgen", "diffmulti", "rps", "dpcube", "privbayes", "mondrian", "full-domain")
"""Methods that divide dates each in their own manner."""

FLOATING = ("weave",)
"""Methods that fit in floating point: another processor may draw other records for the same seed,
so that their files are not recorded. Their noise is exact: guarantee, budget and counts are."""

FILES = (
    "release.csv",
    "release.dat",
    "prefixes.csv",
    "recoding.json",
    "records.csv",
    "marginals.json",
    "dictionary.csv",
)
"""`datapackage.json` repeats words of the certificate, and is read where those are tested."""


def cases() -> dict[str, Callable[[Path], dict[str, Any]]]:
    """Return what makes each entry of the file, by name; a folder to work in is handed in."""
    found: dict[str, Callable[[Path], dict[str, Any]]] = {}
    for variant in variants("table"):
        plan = table_plan(variant)
        found[f"table, {name_of(variant)}"] = lambda folder, plan=plan: _published(
            plan, write_table(folder / "table.csv"), folder
        )
    for variant in variants("table"):
        if variant[0] in DATED and not variant[1].get("faithful"):
            plan = date_plan(variant)
            found[f"dates, {name_of(variant)}"] = lambda folder, plan=plan: _published(
                plan, write_stays(folder / "stays.csv"), folder
            )
    for variant in variants("baskets"):
        plan = basket_plan(variant)
        found[f"baskets, {name_of(variant)}"] = lambda folder, plan=plan: _published(
            plan, write_baskets(folder / "sets.dat"), folder
        )
    for variant in variants("sequences"):
        plan = sequence_plan(variant)
        found[f"sequences, {name_of(variant)}"] = lambda folder, plan=plan: _published(
            plan, write_baskets(folder / "sets.dat", n=900), folder
        )
    for name, (plan, write_data) in _larger().items():
        found[f"larger, {name}"] = lambda folder, plan=plan, write_data=write_data: _published(
            plan, write_data(folder / "larger.dat"), folder
        )
    for name, settings in ADULT.items():
        found[f"adult, {name}"] = lambda folder, given=settings: _adult(given, folder)
    for name, settings in DISCLOSURES.items():
        found[f"disclosed, {name}"] = lambda folder, given=settings: _disclosed(given, folder)
    return found


def _larger() -> dict[str, tuple[dict[str, Any], Callable[[Path], Path]]]:
    """Return baskets and sequences enough for pairs, sets and long prefixes to be measured."""
    few, many = ({**basket_plan(("coterie", {})), "items": {"universe": [1, n]}} for n in (150, 60))
    return {
        "coterie": (many, lambda path: write_shop(path, n_items=60)),
        "coterie of few records": (few, lambda path: write_shop(path, n_items=150)),
        "chain": (sequence_plan(("chain", {})), write_journeys),
    }


def _published(plan: Any, data: Any, folder: Path, **settings: Any) -> dict[str, Any]:
    out = folder / "release"
    hedgerow.publish(
        plan, data=data, out=hedgerow.Output(folder=out, records=True), seed=SEED, **settings
    )
    assert hedgerow.verify(out).faults == ()
    certificate = json.loads((out / "certificate.json").read_text(encoding="utf-8"))
    promised, counts = certificate["guarantee"], certificate["counts"]
    return {
        "files": {} if certificate["method"]["name"] in FLOATING else dict(_digests(out)),
        "guarantee": {key: promised[key] for key in ("kind", "epsilon", "delta", "private")},
        "budget": [
            [line["share"], line["times"], line["level"], line["of-epsilon"]]
            for line in certificate["budget"]["spends"]
        ],
        "counts": counts
        and {key: counts[key] for key in ("share", "within-95", "threshold", "lowered-by")},
        "noisy-total": certificate["data"]["noisy-total"],
    }


def _adult(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    from hedgerow.demo import lay_out

    lay_out(folder / "adult")
    plan = hedgerow.load_plan(folder / "adult" / "plan.yaml")
    changed = plan.model_copy(update={"publish": None}).at(plan.base)
    given = {"method": "hedge", "epsilon": 1, **settings}
    return _published(changed, None, folder, **given)


def _disclosed(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    out = folder / "disclosed"
    hedgerow.disclose(disclosure_plan(**settings), data=patients(), out=out)
    assert hedgerow.verify(out).faults == ()
    return {"files": dict(_digests(out, ("disclosed.csv", "dictionary.csv")))}


def _digests(folder: Path, names: tuple[str, ...] = FILES) -> Iterator[tuple[str, str]]:
    for name in names:
        if (folder / name).exists():
            yield name, hashlib.sha256((folder / name).read_bytes()).hexdigest()


def write() -> None:
    """Record what the methods give now."""
    given = {}
    for name, make in cases().items():
        with tempfile.TemporaryDirectory() as folder:
            given[name] = make(Path(folder))
    GOLDEN.parent.mkdir(exist_ok=True)
    lines = [f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in given.items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
