"""Counts with error bars from a census table, and a ledger that refuses the third release."""

from __future__ import annotations

from place import working_folder

import hedgerow
from hedgerow.demo import adult_table
from hedgerow.errors import CapError
from hedgerow.model.precision import sum_within

folder = working_folder()
people = adult_table()  # UCI Adult, 48,842 records, bundled


def plan(*columns: str) -> dict[str, object]:
    """Return a plan for some columns; their bounds and values are those of the questionnaire."""
    attributes = {
        "age": {"numeric": [17, 90]},
        "hours-per-week": {"numeric": [1, 99]},
        "sex": {"values": ["Female", "Male"]},
        "race": {"values": ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]},
    }
    return {
        "attributes": {name: attributes[name] for name in columns},
        "records": 50_000,
        "one-record-per-person": True,  # one record for each respondent
        "confirmed": True,
        "publish": {"method": "hedge", "epsilon": "1/2", "for": "counting"},
        "ledger": {"dataset": "census-1994", "cap": 1},
    }


release = hedgerow.publish(plan("age", "sex", "race"), data=people, out=folder / "by-age")
table, counts = release.to_pandas(), release.certificate.counts
for sex, rows in table.groupby("sex", observed=True):
    bar = sum_within(counts.share, n_counts=len(rows))
    print(f"{sex}: {rows['count'].sum():,} ± {bar} in 95 of 100 cases")

hedgerow.publish(plan("hours-per-week", "sex"), data=people, out=folder / "by-hours")
try:
    hedgerow.publish(plan("race", "hours-per-week"), data=people, out=folder / "by-race")
except CapError as error:
    print(f"refused: {error}")
