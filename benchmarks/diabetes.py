"""Diabetes-130, from the folder HEDGEROW_DATA or ../shared/data."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from experiments import diabetes
from experiments.diabetes import DRUG, PLAN
from experiments.tables import DIABETES

__all__ = ["DRUG", "FILE", "PLAN", "diabetes_table"]

FOLDER = Path(os.environ.get("HEDGEROW_DATA", Path(__file__).parents[2] / "shared" / "data"))
FILE = FOLDER / DIABETES


def diabetes_table() -> pl.DataFrame:
    """Return the table with diagnoses as chapters and the class as yes or no."""
    return diabetes.diabetes_table(FILE)
