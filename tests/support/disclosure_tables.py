"""A small hospital table for tests of disclosure: records, weights and a plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

ATTRIBUTES: dict[str, Any] = {
    "age": {"numeric": [0, 63]},
    "ward": {"taxonomy": {"*": {"surgery": ["A", "B"], "other": ["C", "D", "E"]}}},
    "sex": {"values": ["f", "m"]},
    "name": {"role": "identifier"},
    "sick": {"role": "class", "values": ["no", "yes"]},
}


def patients(n: int = 150, seed: int = 5) -> pa.Table:
    """Records with a column of weights for the ward, and a name that is never to be seen."""
    rng = np.random.default_rng(seed)
    ages = (rng.random(n) ** 2 * 64).astype(int).tolist()
    return pa.table(
        {
            "age": ages,
            "ward": ["ABCDE"[i] for i in (rng.random(n) ** 2 * 5).astype(int)],
            "sex": ["fm"[i] for i in rng.integers(0, 2, n)],
            "name": [f"SECRET{i}" for i in range(n)],
            "sick": ["no" if x < 0.7 else "yes" for x in rng.random(n)],
            "w_ward": np.round(rng.random(n), 1).tolist(),
        }
    )


def plan(**disclosure: Any) -> dict[str, Any]:
    """A confirmed plan with this ``disclose`` section."""
    return {"attributes": ATTRIBUTES, "confirmed": True, "disclose": disclosure}


OWN = {"weights": {"ward": "w_ward"}}
METHODS: dict[str, dict[str, Any]] = {
    "aruba": {"risk": OWN},
    "btda": {"method": "btda", "risk": OWN},
    "branch-and-bound": {"method": "branch-and-bound", "risk": OWN},
    "brute-force": {"method": "brute-force", "risk": OWN},
    "most utility": {"risk": {**OWN, "at-most": 0.05}},
    "balance": {"method": "branch-and-bound", "rate": 0.01},
    "model 2": {"risk": {"model": 2}},
    "model 3": {"risk": {"model": 3, **OWN}, "utility": {"measure": "log"}},
    "aggregate": {"method": "aggregate", "lambda": 8, "risk": OWN},
    "aggregate without its top": {
        "method": "aggregate",
        "lambda": 8,
        "floor": 0,
        "top": "excluded",
    },
    "approx": {"method": "approx", "risk": {"at-most": 0.1}, "width": 2},
    "approx, dual": {"method": "approx", "utility": {"at-least": "half"}, "width": 2},
}
"""Every family with some of its settings."""
