"""One small table and one small basket file, with plans for every publishing method."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hedgerow.plan.registry import METHODS

SETTINGS: dict[str, dict[str, object]] = {
    "diffgen": {"h": 3},
    "diffmulti": {"h": 8},
    "mondrian": {"k": 5},
    "tds": {"k": 5},
    "full-domain": {"k": 5},
    "truthful": {"delta": "1/100"},
    "sample": {"faithful": True, "least-records": 100},
}
"""What a method needs beside epsilon to run on the small data."""

JOBS = {"office": ["clerk", "lawyer"], "outside": ["farmer", "baker", "nurse"]}


def methods(kind: str) -> list[str]:
    return [name for name, model in METHODS.items() if model.publishes == kind]


def variants(kind: str) -> list[tuple[str, dict[str, object]]]:
    """Every method, and its faithful form where there is one."""
    listed: list[tuple[str, dict[str, object]]] = []
    for name in methods(kind):
        settings = SETTINGS.get(name, {})
        listed.append((name, settings))
        if "faithful" in METHODS[name].model_fields and "faithful" not in settings:
            listed.append((name, {**settings, "faithful": True}))
        if name == "diffmulti":  # labels every record before it counts
            listed.append((name, {**settings, "for": "clustering", "clusters": 3}))
    return listed


def name_of(variant: tuple[str, dict[str, object]]) -> str:
    method, settings = variant
    if "for" in settings:
        return f"{method} for {settings['for']}"
    return f"{method} faithful" if settings.get("faithful") else method


def _section(method: str, settings: dict[str, object]) -> dict[str, object]:
    private = "epsilon" in METHODS[method].model_fields
    return {"method": method, **({"epsilon": 2} if private else {}), **settings}


def table_plan(variant: tuple[str, dict[str, object]]) -> dict[str, object]:
    without_class = variant[0] == "sample"
    return {
        "missing": "drop",
        "attributes": {
            "age": {"numeric": [0, 31]},
            "job": {"taxonomy": JOBS, "other": "else"},
            "sex": {"values": ["f", "m"]},
            "ill": {
                "role": "drop" if without_class else "class",
                **({} if without_class else {"values": ["no", "yes"]}),
            },
        },
        "protects": "records",
        "confirmed": True,
        "publish": _section(*variant),
        "ledger": {"dataset": "small", "cap": 20, "delta-cap": "1/2"},
    }


def date_plan(variant: tuple[str, dict[str, object]]) -> dict[str, object]:
    """Dates, and what follows from them; the birth is read and never released."""
    plan = table_plan(variant)
    ill = plan["attributes"]["ill"]  # type: ignore[index]
    bounds = {"from": "2019-11-15", "to": "2021-03-31", "step": "month"}
    came = {"column": "birth", "format": "dd.mm.yyyy"}
    return plan | {
        "missing": "value",
        "attributes": {
            "came": {"date": bounds},
            "birth": {"role": "drop"},
            "age": {"from": came, "years-until": "came", "numeric": [0, 99], "step": 10},
            "stay": {"from": "came", "days-until": "left", "edges": [0, 1, 3, 10]},
            "ill": ill,
        },
    }


def basket_plan(variant: tuple[str, dict[str, object]]) -> dict[str, object]:
    n_items = 12 if variant[0] == "basic" else 30
    return {
        "items": {"universe": [1, n_items], "fan-out": 3},
        "protects": "records",
        "confirmed": True,
        "publish": _section(*variant),
        "ledger": {"dataset": "small", "cap": 20},
    }


def sequence_plan(variant: tuple[str, dict[str, object]]) -> dict[str, object]:
    return {
        "items": {"universe": [1, 12], "ordered": True},
        "protects": "records",
        "confirmed": True,
        "publish": _section(*variant),
        "ledger": {"dataset": "small", "cap": 20},
    }


def write_table(path: Path, *, n: int = 400) -> Path:
    """A CSV with quoted, missing, unlisted and clamped values; nothing random about it."""
    rng = np.random.default_rng(11)
    jobs = ["clerk", "lawyer", "farmer", "baker", "nurse", "piper", "", "?"]
    lines = ["age,job,sex,ill,note"]
    for _ in range(n):
        age = int(rng.integers(-2, 36))
        job = jobs[int(rng.integers(len(jobs)))]
        ill = "yes" if age > 20 and rng.random() < 0.7 else "no"
        lines.append(f'{age},{job},{"fm"[int(rng.integers(2))]},{ill},"a, note"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_stays(path: Path, *, n: int = 400) -> Path:
    """A CSV of dates in two formats, some missing, early or late; nothing random about it."""
    rng = np.random.default_rng(13)
    lines = ["birth,came,left,ill"]
    for _ in range(n):
        came = np.datetime64("2019-10-01") + int(rng.integers(600))
        left = came + int(rng.integers(12))
        year, month, day = str(came - int(rng.integers(30_000))).split("-")
        ill = "yes" if came > np.datetime64("2020-06-30") and rng.random() < 0.8 else "no"
        hour = f"T{int(rng.integers(24)):02}:30:00" if rng.random() < 0.5 else ""
        birth = f"{day}.{month}.{year}" if rng.random() < 0.9 else "unknown"
        lines.append(f"{birth},{came}{hour},{left if rng.random() < 0.95 else '?'},{ill}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_baskets(path: Path, *, n: int = 300) -> Path:
    rng = np.random.default_rng(12)
    kinds = ["1 2 3", "1 2", "4,5 6 99", "7\t8 7", "12", "", "1 2 3 4 5 6 7 8 9"]
    lines = [kinds[int(rng.integers(len(kinds)))] for _ in range(n)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_shop(path: Path, *, n_items: int, n: int = 6000) -> Path:
    """Baskets of items 1 to ``n_items``: frequent ones together, some baskets of very many."""
    rng = np.random.default_rng(13)
    held = rng.random((n, n_items)) < 0.5 / np.arange(1, n_items + 1) ** 0.9
    together = rng.random(n) < 0.3
    held[:, :6] |= together[:, None] & (rng.random((n, 6)) < 0.8)
    held[:40] |= rng.random((40, n_items)) < 0.6
    lines = [" ".join(map(str, np.flatnonzero(row) + 1)) for row in held]
    path.write_text("\n".join(line for line in lines if line) + "\n", encoding="utf-8")
    return path


def write_journeys(path: Path, *, n: int = 12_000) -> Path:
    """Sequences of places 1 to 12 that follow habits; some of them long, many of them equal."""
    rng = np.random.default_rng(14)
    follows = rng.permuted(np.tile(np.arange(12), (12, 1)), axis=1)
    place, lines = rng.integers(0, 4, n), [[] for _ in range(n)]
    going = np.arange(n)
    for step in range(40):
        for row, at in zip(going.tolist(), place[going].tolist(), strict=True):
            lines[row].append(str(at + 1))
        going = going[rng.random(len(going)) < (0.75 if step else 0.95)]
        rank = np.minimum(rng.geometric(0.55, len(going)) - 1, 11)
        place[going] = follows[place[going], rank]
    lines += [[str(at + 1) for at in range(12)] * 2] * 900
    path.write_text("\n".join(map(" ".join, lines)) + "\n", encoding="utf-8")
    return path
