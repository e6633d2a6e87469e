"""Files of other kinds than text: Parquet, SQLite, Excel, SPSS, Stata, JSON lines."""

from __future__ import annotations

import json
import sqlite3
from datetime import date
from pathlib import Path

import numpy as np

from support.file_kinds import write_labelled, write_sheet
from support.strangers import CITIES, Columns, Dice, N, Stranger, grouped


def parquet(folder: Path) -> Stranger:
    """Parquet with moments, days, truth values, categories and gaps."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    dice = Dice(5)
    start = np.datetime64("2020-01-01T08:00", "us")
    moments = start + (dice.days * 86_400_000_000 + dice.hours * 3_600_000_000).astype("m8[us]")
    columns = {
        "visited": pa.array(moments),
        "signed": pa.array(dice.days + 18_000, pa.int32()).cast(pa.date32()),
        "returning": pa.array(dice.flag),
        "shop": pa.array(dice.named(CITIES)).dictionary_encode(),
        "spent": pa.array(dice.some(dice.income.tolist(), None, 0.05)),
        "age": pa.array(dice.age, pa.int16()),
        "target": pa.array(dice.yes.astype(np.int8)),
    }
    pq.write_table(pa.table(columns), folder / "visits.parquet")
    kinds = {"visited": "date", "signed": "date", "returning": "listed", "shop": "listed"}
    kinds |= {"spent": "number", "age": "number", "target": "listed"}
    return Stranger(data=folder / "visits.parquet", kinds=kinds, class_name="target")


def sqlite(folder: Path) -> Stranger:
    """A table of a SQLite database; dates and sums of money are texts there."""
    dice = Dice(6)
    columns: Columns = {
        "customer_id": list(range(1, N + 1)),
        "age": dice.age.tolist(),
        "joined": dice.dates("%Y-%m-%d"),
        "city": dice.named(CITIES),
        "balance": grouped(dice.income, 2, ",", "."),
        "premium": dice.flag.astype(int).tolist(),
        "label": dice.told("good", "bad"),
    }
    base = sqlite3.connect(folder / "shop.db")
    base.execute(f"create table customers ({', '.join(columns)})")
    marks = ", ".join("?" * len(columns))
    base.executemany(f"insert into customers values ({marks})", zip(*columns.values(), strict=True))
    base.commit()
    base.close()
    kinds = {"customer_id": "out", "age": "number", "joined": "date", "city": "listed"}
    kinds |= {"balance": "number", "premium": "listed", "label": "listed"}
    return Stranger(
        data=f"sqlite:///{folder / 'shop.db'}",
        query="select * from customers",
        kinds=kinds,
        class_name="label",
    )


def workbook(folder: Path) -> Stranger:
    """An Excel sheet with date cells, and numbers that somebody typed as text."""
    dice = Dice(21)
    days = [date.fromordinal(737_000 + int(day)) for day in dice.days]
    columns: Columns = {
        "Nr": list(range(1, N + 1)),
        "Datum": days,
        "Ort": dice.named(CITIES),
        "Betrag": [float(x) for x in np.round(dice.income, 2)],
        "Alter": dice.age.tolist(),
        "Konto": dice.pick(["0815", "4711", "0042"]),
        "Rabatt": dice.told("nein", "ja", dice.flag),
        "Ergebnis": dice.told("offen", "bezahlt"),
    }
    path = write_sheet(folder / "kasse.xlsx", [list(columns), *zip(*columns.values(), strict=True)])
    kinds = dict.fromkeys(columns, "listed")
    kinds |= {"Nr": "out", "Datum": "date", "Betrag": "number", "Alter": "number"}
    return Stranger(data=path, kinds=kinds, class_name="Ergebnis")


def _survey(folder: Path, name: str, seed: int) -> Stranger:
    dice = Dice(seed)
    columns = {
        "caseid": [float(i + 1) for i in range(N)],
        "age": dice.age.astype(float).tolist(),
        "region": (dice.town + 1.0).tolist(),
        "owner": dice.flag.astype(float).tolist(),
        "hours": dice.hours.astype(float).tolist(),
        "pweight": np.round(dice.rng.gamma(4, 0.25, N), 4).tolist(),
        "vote": dice.yes.astype(float).tolist(),
    }
    labels = {
        "region": {i + 1: town for i, town in enumerate(CITIES)},
        "owner": {0: "no", 1: "yes"},
        "vote": {0: "against", 1: "for"},
    }
    path = write_labelled(folder / name, columns, labels=labels)
    kinds = dict.fromkeys(columns, "listed")
    kinds |= {"caseid": "out", "pweight": "out", "age": "number", "hours": "number"}
    return Stranger(data=path, kinds=kinds, class_name="vote")


def spss(folder: Path) -> Stranger:
    """An SPSS file with value labels."""
    return _survey(folder, "survey.sav", 22)


def stata(folder: Path) -> Stranger:
    """A Stata file with value labels."""
    return _survey(folder, "survey.dta", 23)


def objects(folder: Path) -> Stranger:
    """An object in every line, as services export them."""
    dice = Dice(24)
    columns: Columns = {
        "id": [f"{x:012x}" for x in dice.rng.integers(1, 2**47, N)],
        "created_at": [f"{day}T12:30:00Z" for day in dice.dates("%Y-%m-%d")],
        "age": dice.age.tolist(),
        "city": dice.named(CITIES),
        "spent": np.round(dice.income, 2).tolist(),
        "active": dice.flag.tolist(),
        "label": dice.told("stay", "leave"),
    }
    lines = [
        json.dumps(dict(zip(columns, row, strict=True)))
        for row in zip(*columns.values(), strict=True)
    ]
    path = folder / "users.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    kinds = dict.fromkeys(columns, "listed")
    kinds |= {"id": "out", "created_at": "date", "age": "number", "spent": "number"}
    return Stranger(data=path, kinds=kinds, class_name="label")
