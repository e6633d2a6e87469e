"""A simulated hospital export with the formats of real ones, to try `draft` on.

Semicolons, decimal commas with points between thousands, dates as dd.mm.yyyy, codes of diagnoses
and postcodes, and the word ``unbekannt`` among heights. All persons are fictitious.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ReleaseError

FILE = "patients.csv"
N_PATIENTS = 8000
_SEED = 20260131

_DIAGNOSES = (
    "I10",
    "I21.0",
    "I50.1",
    "E11.9",
    "J18.9",
    "J44.1",
    "S72.0",
    "K80.2",
    "C34.1",
    "N39.0",
)
_WEIGHTS = (0.16, 0.07, 0.12, 0.15, 0.12, 0.09, 0.08, 0.08, 0.05, 0.08)
_RISKY = (0.0, 0.7, 1.3, 0.4, 0.3, 1.1, 0.2, -0.4, 1.2, -0.1)
_WARDS = ("cardiology", "medicine", "surgery", "geriatrics")


def write_hospital(folder: Path, *, n: int = N_PATIENTS, force: bool = False) -> Path:
    """Write `patients.csv` to a folder, the same text each time, and return its path."""
    path = folder / FILE
    if path.exists() and not force:
        raise ReleaseError(
            "The file exists.", where=str(path), do="Give another folder, or --force to replace it."
        )
    columns = _columns(np.random.default_rng(_SEED), n)
    lines = [";".join(row) for row in zip(*columns.values(), strict=True)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = "\n".join([";".join(columns), *lines]) + "\n"
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ReleaseError(
            f"The file cannot be written: {(error.strerror or str(error)).lower()}.",
            where=str(path),
            do="Give a folder that you may write to.",
        ) from error
    return path


def _columns(rng: np.random.Generator, n: int) -> dict[str, list[str]]:
    """Return the columns as texts; readmission depends on age, diagnosis and stay."""
    which = rng.choice(len(_DIAGNOSES), size=n, p=_WEIGHTS)
    risk = np.array(_RISKY)[which]
    age = np.clip(rng.normal(58, 19, n) + 6 * risk, 18, 98)
    stay = np.clip(rng.gamma(2.0, 2.2, n) + 1.5 * risk, 0, 40).astype(int)
    ward = np.where(age > 78, 3, np.where(which < 3, 0, np.where(which == 6, 2, 1)))
    admitted = np.datetime64("2023-01-01") + rng.integers(0, 1000, n)
    chance = 1 / (1 + np.exp(3.6 - 1.1 * risk - 0.03 * (age - 58) - 0.08 * stay))
    unknown = rng.random(n) < 0.03
    heights = np.where(unknown, "unbekannt", rng.normal(171, 9, n).round().astype(int).astype(str))
    return {
        "patient": [f"P{number:06}" for number in rng.permutation(n) + 100_000],
        "birth": _days(admitted - (age * 365.25).astype(int)),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "postcode": [f"0{area}{place:03}" for area, place in zip(*_places(rng, n), strict=True)],
        "ward": np.array(_WARDS)[ward].tolist(),
        "diagnosis": np.array(_DIAGNOSES)[which].tolist(),
        "admitted": _days(admitted),
        "discharged": _days(admitted + stay),
        "height": heights.tolist(),
        "cost": _amounts(600 + 900 * stay * rng.gamma(8, 1 / 8, n) + 400 * (risk + 1)),
        "returned": np.where(rng.random(n) < chance, "yes", "no").tolist(),
    }


def _places(rng: np.random.Generator, n: int) -> tuple[list[int], list[int]]:
    return rng.choice([1, 4, 6], n).tolist(), (rng.integers(0, 12, n) * 9).tolist()


def _days(days: NDArray[Any]) -> list[str]:
    parts = (text.split("-") for text in days.astype("datetime64[D]").astype(str).tolist())
    return [f"{day}.{month}.{year}" for year, month, day in parts]


def _amounts(values: NDArray[np.float64]) -> list[str]:
    """Return amounts in continental notation: 1.234,56."""
    swap = str.maketrans(",.", ".,")
    return [f"{value:,.2f}".translate(swap) for value in values.tolist()]
