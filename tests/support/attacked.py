"""Small tables, baskets and sequences for tests of attacks: members, and others like them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

REGIONS = [f"region {number}" for number in range(12)]
JOBS = [f"job {number}" for number in range(8)]


def population(n: int, *, seed: int = 3) -> pl.DataFrame:
    """People of six columns: most are unique in all of them together, few in any two."""
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n)
    return pl.DataFrame(
        {
            "age": np.clip((32 + 12 * level + 8 * rng.normal(size=n)).round(), 0, 63).astype(int),
            "region": [REGIONS[each] for each in rng.integers(0, len(REGIONS), n)],
            "job": [JOBS[min(int(abs(each) * 3), 7)] for each in level + rng.normal(size=n)],
            "rooms": np.clip(rng.poisson(8 + 3 * np.abs(level)), 0, 29),
            "sex": [["f", "m"][each] for each in rng.integers(0, 2, n)],
            "sick": np.where(level + rng.normal(size=n) > 0.7, "yes", "no"),
        }
    )


def people_plan(method: str = "hedge", **settings: Any) -> dict[str, Any]:
    """The plan of that table."""
    return {
        "attributes": {
            "age": {"numeric": [0, 63]},
            "region": {"values": REGIONS},
            "job": {"values": JOBS},
            "rooms": {"numeric": [0, 29]},
            "sex": {"values": ["f", "m"]},
            "sick": {"role": "class", "values": ["no", "yes"]},
        },
        "protects": "records",
        "confirmed": True,
        "publish": {"method": method, **(settings or {"epsilon": 1})},
        "ledger": {"dataset": "people", "cap": 50, "delta-cap": "1/2"},
    }


def write_lists(path: Path, n: int, *, ordered: bool, seed: int = 4) -> Path:
    """Write baskets of 30 items, or sequences of 12, one a line."""
    rng = np.random.default_rng(seed)
    n_items = 12 if ordered else 30
    shares = 1 / np.arange(1, n_items + 1)
    lines = []
    for _ in range(n):
        size = int(rng.integers(2, 8))
        items = rng.choice(n_items, size, replace=ordered, p=shares / shares.sum()) + 1
        lines.append(" ".join(str(item) for item in (items if ordered else sorted(items))))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
