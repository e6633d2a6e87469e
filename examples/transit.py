"""Journeys through stations, in their order; a card is protected with all its trips."""

from __future__ import annotations

import numpy as np
import pandas as pd
from place import working_folder

import hedgerow

LINE = ["Harbour", "Market", "Castle", "Station", "Museum", "Hospital", "Stadium", "Airport"]


def taps(cards: int = 6_000, *, seed: int = 7) -> pd.DataFrame:
    """Return made-up trips along one line, two of each card, a row for every tap."""
    rng = np.random.default_rng(seed)
    rows = []
    for trip in range(2 * cards):
        start = int(rng.choice(len(LINE), p=[0.3, 0.1, 0.1, 0.2, 0.1, 0.1, 0.05, 0.05]))
        stops = range(start, min(start + int(rng.integers(1, 5)), len(LINE)))
        rows += [(trip // 2, trip, minute, LINE[stop]) for minute, stop in enumerate(stops)]
    return pd.DataFrame(rows, columns=["card", "trip", "minute", "station"])


folder = working_folder()
release = hedgerow.publish(
    {
        "items": {
            "universe": LINE,  # public: the map of the line
            "ordered": True,
            "record": "trip",
            "column": "station",
            "order": "minute",
        },
        "person": "card",
        "records-per-person": 2,
        "records": 12_000,
        "confirmed": True,
        "publish": {"method": "chain", "epsilon": 2},
        "ledger": {"dataset": "line-1", "cap": 2},
    },
    data=taps(),
    out=folder / "release",
)

print(release.certificate.guarantee.statement)
for begins in (["Harbour"], ["Harbour", "Market"], ["Station", "Museum"]):
    answer = release.count(begins)
    print(f"{' > '.join(begins)}: {answer.estimate:,} trips, ± {2 * answer.standard_error:,.0f}")
