"""Text files as people have them: logs, codes, truth values, identifiers, notes."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from support.strangers import CITIES, Columns, Dice, N, Stranger, delimited, grouped


def stamps(folder: Path) -> Stranger:
    """A log with ISO moments, free text and a token for every line."""
    dice = Dice(13)
    words = ["user", "opened", "page", "with", "error", "then", "left", "basket", "again"]
    days = dice.dates("%Y-%m-%d")
    seconds = dice.rng.integers(0, 86_400, N)
    columns: Columns = {
        "timestamp": [
            f"{d}T{s // 3600:02d}:{s % 3600 // 60:02d}:{s % 60:02d}Z"
            for d, s in zip(days, seconds, strict=True)
        ],
        "session": [f"{x:016x}" for x in dice.rng.integers(1, 2**62, N)],
        "message": [" ".join(dice.rng.choice(words, 7)) + f" {i}" for i in range(N)],
        "status": dice.pick([200, 301, 404, 500], [0.8, 0.1, 0.07, 0.03]),
        "user_age": dice.age,
        "bytes": np.round(dice.income * 10).astype(int),
        "mobile_app": dice.told("false", "true", dice.flag),
        "result": dice.told("bounce", "sale"),
    }
    kinds = {"timestamp": "date", "session": "out", "message": "out", "status": "listed"}
    kinds |= {"user_age": "number", "bytes": "number", "mobile_app": "listed", "result": "listed"}
    return Stranger(data=delimited(folder / "log.csv", columns), kinds=kinds, class_name="result")


def codes(folder: Path) -> Stranger:
    """Codes with noughts in front, of fixed lengths, and small numbers that are codes by name."""
    dice = Dice(14)
    counties = [f"{c:05d}" for c in dice.rng.integers(1001, 56_045, 300)]
    columns: Columns = {
        "fips": dice.pick(counties),
        "industry": dice.pick([f"{c:04d}" for c in dice.rng.integers(100, 9999, 40)]),
        "icd10": dice.pick(
            [f"{a}{b:02d}.{c}" for a in "AEIJ" for b in (1, 11, 50) for c in (0, 9)]
        ),
        "drg_code": dice.pick([101, 102, 207, 208, 309, 870, 871]),
        "admission_type": dice.town + 1,
        "plan_type_id": dice.pick([1, 2, 3]),
        "age": dice.age,
        "insured": dice.told("0", "1", dice.flag),
        "readmitted": dice.told("NO", "YES"),
    }
    kinds = dict.fromkeys(columns, "listed") | {"age": "number"}
    path = delimited(folder / "codes.csv", columns)
    return Stranger(data=path, kinds=kinds, class_name="readmitted")


def truths(folder: Path) -> Stranger:
    """Yes and no in every spelling."""
    dice = Dice(15)
    pairs = [
        ("no", "yes"),
        ("N", "Y"),
        ("FALSE", "TRUE"),
        ("nein", "ja"),
        ("0", "1"),
        ("non", "oui"),
    ]
    columns: Columns = {
        f"flag_{no}": dice.told(no, yes, dice.rng.random(N) < 0.3) for no, yes in pairs
    }
    columns["ticked"] = dice.told("", "x", dice.flag)
    columns["age"] = dice.age
    columns["died"] = dice.told("F", "T")
    kinds = dict.fromkeys(columns, "listed") | {"age": "number"}
    return Stranger(data=delimited(folder / "flags.csv", columns), kinds=kinds, class_name="died")


def points(folder: Path) -> Stranger:
    """Points between thousands of whole numbers, decimal commas elsewhere."""
    dice = Dice(16)
    columns: Columns = {
        "Einwohner": grouped(np.round(dice.rng.lognormal(8.5, 1.2, N)), 0, ".", ","),
        "Einkommen": grouped(np.round(dice.income), 0, ".", ","),
        "Quote": [f"{x:.1f}".replace(".", ",") for x in dice.rng.beta(3, 4, N) * 100],
        "Alter": dice.age,
        "Land": dice.pick(["BY", "NW", "SN", "HH"]),
        "Förderung": dice.told("nein", "ja", dice.flag),
        "Klasse": dice.told("A", "B"),
    }
    kinds = dict.fromkeys(columns, "listed")
    kinds |= dict.fromkeys(("Einwohner", "Einkommen", "Quote", "Alter"), "number")
    path = delimited(folder / "gemeinden.csv", columns, delimiter=";", encoding="cp1252")
    reading = {"decimal": "comma", "thousands": "point"}
    return Stranger(data=path, kinds=kinds, class_name="Klasse", reading=reading)


def french(folder: Path) -> Stranger:
    """Blanks that do not break between thousands, decimal commas, accents."""
    dice = Dice(17)
    columns: Columns = {
        "prix": grouped(dice.income * 4, 2, "\u00a0", ","),
        "âge": dice.age,
        "ville": dice.pick(["Orléans", "Nîmes", "Besançon", "Lyon"]),
        "inscrit le": dice.dates("%d/%m/%Y"),
        "marié": dice.told("non", "oui", dice.flag),
        "target": dice.told("faible", "élevé"),
    }
    kinds = dict.fromkeys(columns, "listed")
    kinds |= {"prix": "number", "âge": "number", "inscrit le": "date"}
    path = delimited(folder / "ventes.csv", columns, delimiter=";", encoding="cp1252")
    reading = {"decimal": "comma", "thousands": "blank"}
    return Stranger(data=path, kinds=kinds, class_name="target", reading=reading)


def swiss(folder: Path) -> Stranger:
    """Apostrophes between thousands."""
    dice = Dice(18)
    columns: Columns = {
        "Prämie": grouped(dice.income, 2, "'", "."),
        "Kanton": dice.pick(["ZH", "BE", "VD", "TI", "GE"]),
        "Jahrgang": 2024 - dice.age,
        "Franchise": dice.pick(["300", "500", "1'000", "2'500"]),
        "Unfall": dice.told("nein", "ja", dice.flag),
        "Ergebnis": dice.told("bleibt", "wechselt"),
    }
    kinds = dict.fromkeys(columns, "listed")
    kinds |= {"Prämie": "number", "Jahrgang": "number", "Franchise": "either"}
    path = delimited(folder / "police.csv", columns, delimiter="\t")
    reading = {"decimal": "point", "thousands": "apostrophe"}
    return Stranger(data=path, kinds=kinds, class_name="Ergebnis", reading=reading)


def numbered(folder: Path) -> Stranger:
    """An index without a name, a row number, and identifiers of three kinds."""
    dice = Dice(19)
    columns: Columns = {
        "": range(N),
        "row": range(1, N + 1),
        "uuid": [
            f"{x:08x}-{y:04x}"
            for x, y in zip(dice.rng.integers(0, 2**32, N), range(N), strict=True)
        ],
        "account": dice.rng.integers(10**9, 10**10, N),
        "email": [f"user{i}@example.org" for i in range(N)],
        "age": dice.age,
        "city": dice.named(CITIES),
        "premium": dice.told("no", "yes", dice.flag),
        "response": dice.told("no", "yes"),
    }
    kinds = dict.fromkeys(("row", "uuid", "account", "email"), "out")
    kinds |= {"age": "number", "city": "listed", "premium": "listed", "response": "listed"}
    path = delimited(folder / "numbered.csv", columns)
    return Stranger(data=path, kinds=kinds, class_name="response")


def notes(folder: Path) -> Stranger:
    """Quoted fields with line ends in them, and births."""
    dice = Dice(20)
    born = np.datetime64("2024-01-01") - (dice.age * 365.25 + dice.rng.integers(0, 365, N)).astype(
        "m8[D]"
    )
    remarks = [f'seen on day {i},\nno change; "stable" since' for i in range(N)]
    columns: Columns = {
        "patient": [f"P{i:06d}" for i in dice.rng.permutation(N)],
        "date_of_birth": born.astype(str),
        "admitted": dice.dates("%Y-%m-%d"),
        "remark": remarks,
        "ward": dice.pick(["A1", "A2", "B1", "ICU"]),
        "smoker": dice.told("No", "Yes", dice.flag),
        "outcome": dice.told("home", "died"),
    }
    kinds = dict.fromkeys(columns, "listed")
    kinds |= {"patient": "out", "remark": "out", "date_of_birth": "age", "admitted": "date"}
    path = delimited(folder / "notes.csv", columns, quoting=csv.QUOTE_ALL)
    return Stranger(data=path, kinds=kinds, class_name="outcome", reading={"quote": "multi-line"})
