"""The public tables of the peers' benchmark, with the same public domains for every tool.

Adult comes with the package; diabetes-130 and NIST's excerpts of 2019 are looked for in the folder
HEDGEROW_DATA, or ../shared/data. Domains of the excerpts are those of NIST's data dictionary;
long numbers are counted in steps, which every tool is given.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import polars as pl

from experiments import tables
from experiments.figure import Scene
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.model.table import EncodedTable
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table

TEN = ("AGEP", "SEX", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
"""Nine predictors of NIST's task of ten columns; the tenth, MSP, is the class."""

CLASS = "MSP"
"""Marital status: what the learners are asked for."""

NUMBERS = {
    "AGEP": {"numeric": [0, 99]},
    "NOC": {"numeric": [0, 19]},
    "NPF": {"numeric": [2, 20]},
    "DENSITY": {"numeric": [0, 53000], "step": 100},
    "INDP": {"numeric": [170, 9920], "step": 10},
    "PINCP": {"numeric": [-9000, 1341000], "step": 1000},
    "POVPIP": {"numeric": [0, 501]},
    "PWGTP": {"numeric": [0, 9999], "step": 10},
    "WGTP": {"numeric": [0, 9999], "step": 10},
}
VALUES = {
    "SEX": ["1", "2"],
    "MSP": [*"123456"],
    "HISP": [*"01234"],
    "RAC1P": [*"123456789"],
    "HOUSING_TYPE": [*"123"],
    "OWN_RENT": [*"012"],
    "INDP_CAT": [str(code) for code in range(19)],
    "EDU": [str(code) for code in range(1, 13)],
    "PINCP_DECILE": [*"0123456789"],
    "DVET": [*"123456"],
    "DREM": ["1", "2"],
    "DPHY": ["1", "2"],
    "DEYE": ["1", "2"],
    "DEAR": ["1", "2"],
}
AREAS = {
    "ma2019": ["25-00503", "25-00703", "25-01000", "25-01300", "25-02800"],
    "tx2019": ["48-02101", "48-02102", "48-02507", "48-02510", "48-02515", "48-02516"],
}
ALL = (
    *("PUMA", "AGEP", "SEX", "HISP", "RAC1P", "NOC", "NPF", "HOUSING_TYPE", "OWN_RENT", "DENSITY"),
    *("INDP", "INDP_CAT", "EDU", "PINCP", "PINCP_DECILE", "POVPIP", "DVET", "DREM", "DPHY"),
    *("DEYE", "DEAR", "PWGTP", "WGTP"),
)
"""The 23 predictors of an excerpt; with MSP all 24 columns."""


def data_folder() -> Path:
    """Return the folder of public data sets."""
    place = os.environ.get("HEDGEROW_DATA")
    return Path(place) if place else Path(__file__).resolve().parents[3] / "shared" / "data"


def excerpt(name: str, columns: tuple[str, ...]) -> EncodedTable:
    """Return some columns of one of NIST's excerpts, with the class MSP."""
    return excerpts((name,), columns)


def excerpts(names: tuple[str, ...], columns: tuple[str, ...]) -> EncodedTable:
    """Return some columns of NIST's excerpts as one table, with the class MSP."""
    values = {**VALUES, "PUMA": [area for name in names for area in AREAS[name]]}
    attributes = {
        column: NUMBERS[column] if column in NUMBERS else {"values": values[column]}
        for column in columns
    }
    plan = plan_of(
        {
            "missing": "value",
            "missing-values": ["N"],
            "attributes": {
                **attributes,
                CLASS: {"role": "class", "values": ["under 15", *VALUES[CLASS]]},
            },
            "protects": "records",
            "confirmed": True,
            "publish": {"method": "weave", "epsilon": 1},
            "ledger": {"dataset": " and ".join(names), "cap": 1},
        }
    )
    files = [data_folder() / "nist" / f"{name}.csv.gz" for name in names]
    raw = pl.concat([pl.read_csv(file, infer_schema=False) for file in files]).with_columns(
        pl.col(CLASS).replace("N", "under 15")  # a class is never missing
    )
    return encode_table(open_table(raw), schema_of(plan))


def _adult() -> EncodedTable:
    return tables.adult(Scene(folder=None, quick=False))


def _diabetes() -> EncodedTable:
    return tables.diabetes(Scene(folder=data_folder(), quick=False))


TABLES = {
    "adult": _adult,
    "diabetes-130": _diabetes,
    "ma2019-10": lambda: excerpt("ma2019", TEN),
    "tx2019-10": lambda: excerpt("tx2019", TEN),
    "ma2019-24": lambda: excerpt("ma2019", ALL),
    "tx2019-24": lambda: excerpt("tx2019", ALL),
}
"""Names of the tables, in the order of the page."""


@cache
def peer_table(name: str) -> EncodedTable:
    """Return an encoded table by its name."""
    return TABLES[name]()
