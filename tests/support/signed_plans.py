"""A folder with a signed plan, and changes of every kind to it, each with how it is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from hedgerow.pipeline.confirm_file import confirm_file

PLAN = """\
data: visits.csv
records: 20000
missing: drop
reading: {encoding: utf-8}
attributes:
  age: {numeric: [0, 99]}
  job: {taxonomy: job.csv}
  ward: {values: [A, B, C]}
  month: {role: cover, values: [jan, feb]}
  sick: {role: class, values: ["no", "yes"]}
one-record-per-person: true
covers: {column: month, values: [jan]}
confirmed: false
publish: {method: hedge, epsilon: 1}
ledger: {dataset: visits-2026, cap: 4, file: ledger.sqlite}
"""
JOBS = "nurse;care;*\ndoctor;care;*\nporter;house;*\n"

Change = Callable[[Path], None]


def replaced(old: str, new: str) -> Change:
    """Return what replaces a text of the plan outside of its signature, on one line."""

    def change(folder: Path) -> None:
        file = folder / "plan.yaml"
        text = file.read_text(encoding="utf-8")
        before, found, after = text.partition("\nconfirmed:")
        body, end, rest = after.partition("\npublish:")
        before, rest = before.replace(old, new), (end + rest).replace(old, new)
        made = before + found + body + rest
        assert made != text, old
        file.write_text(made, encoding="utf-8")

    return change


def with_label(folder: Path) -> None:
    """Add a label to the taxonomy file, which the plan names."""
    (folder / "job.csv").write_text(f"{JOBS}cook;house;*\n", encoding="utf-8")


CHANGES: dict[str, tuple[Change, str]] = {
    "epsilon": (replaced("epsilon: 1", "epsilon: 20"), "epsilon was 1 and is 20 now"),
    "method": (replaced("method: hedge", "method: diffgen"), "method was hedge and is diffgen now"),
    "cap": (replaced("cap: 4", "cap: 40"), "ledger.cap was 4 and is 40 now"),
    "account": (
        replaced("visits-2026", "visits-2027"),
        "ledger.dataset was visits-2026 and is visits-2027 now",
    ),
    "taxonomy file": (with_label, "column 'job': the content of its taxonomy changed"),
    "inline domain": (
        replaced("[A, B, C]", "[A, B, C, D]"),
        'column \'ward\': values was ["A", "B", "C"] and is ["A", "B", "C", "D"] now',
    ),
    "bounds": (
        replaced("[0, 99]", "[0, 120]"),
        "column 'age': numeric was [0, 99] and is [0, 120] now",
    ),
    "reading": (
        replaced("utf-8", "latin-1"),
        "reading.encoding was not set and is latin-1 now",
    ),
    "covers": (replaced("values: [jan]}", "values: [feb]}"), "covers.values was"),
    "person": (
        replaced("one-record-per-person: true", "person: who\nrecords-per-person: 4"),
        "one-record-per-person was true and is not set now",
    ),
    "unit": (
        replaced("one-record-per-person: true", "protects: records"),
        "protects was not set and is records now",
    ),
    "missing": (
        replaced("missing: drop", "missing: value"),
        "missing was not set and is value now",
    ),
    "role": (
        replaced("ward: {values: [A, B, C]}", "ward: {role: drop}"),
        "column 'ward': role was not set and is drop now",
    ),
    "setting": (
        replaced("epsilon: 1}", "epsilon: 1, for: counting}"),
        "for was not set and is counting now",
    ),
    "records": (replaced("records: 20000", "records: 30000"), "records was 20000 and is 30000 now"),
    "meaning": (
        replaced("numeric: [0, 99]", "numeric: [0, 99], meaning: years"),
        "column 'age': meaning was not set and is years now",
    ),
    "source": (
        replaced("numeric: [0, 99]", "numeric: [0, 99], source: law"),
        "column 'age': source was not set and is law now",
    ),
    "column": (
        replaced("  job: {taxonomy: job.csv}\n", ""),
        "column 'job' was removed",
    ),
}
"""Every kind of change that makes a signature void, and a part of how it is named."""


def signed_folder(folder: Path, **signing: object) -> Path:
    """Return a folder with a table and a plan that A. Officer signed."""
    rng = np.random.default_rng(11)
    columns = (rng.integers(0, 99, 600), rng.integers(0, 3, 600), rng.integers(0, 3, 600))
    rows = [
        f"{age},{('nurse', 'doctor', 'porter')[job]},{'ABC'[ward]},{('jan', 'feb')[age % 2]},"
        f"{('no', 'yes')[ward % 2]}"
        for age, job, ward in zip(*(each.tolist() for each in columns), strict=True)
    ]
    (folder / "visits.csv").write_text("\n".join(["age,job,ward,month,sick", *rows, ""]))
    (folder / "job.csv").write_text(JOBS, encoding="utf-8")
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    confirm_file(folder / "plan.yaml", by="A. Officer", **signing)  # type: ignore[arg-type]
    return folder
