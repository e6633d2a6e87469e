"""Text files as people have them: delimiters, marks, gaps and codes of all kinds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from support.strangers import CITIES, TOWNS, Columns, Dice, N, Stranger, delimited, grouped


def tabs(folder: Path) -> Stranger:
    """Tabs, UTF-8 with a byte order mark, a point before decimals."""
    dice = Dice(1)
    columns: Columns = {
        "age": dice.age,
        "city": dice.named(CITIES),
        "monthly_income": [f"{x:.2f}" for x in dice.income],
        "owns_home": dice.told("no", "yes", dice.flag),
        "churn": dice.told("stays", "leaves"),
    }
    path = delimited(folder / "people.tsv", columns, delimiter="\t", encoding="utf-8-sig")
    kinds = {"age": "number", "city": "listed", "monthly_income": "number"}
    kinds |= {"owns_home": "listed", "churn": "listed"}
    return Stranger(data=path, kinds=kinds, class_name="churn", reading={"delimiter": "tab"})


def bars(folder: Path) -> Stranger:
    """Bars between fields, Latin-1."""
    dice = Dice(2)
    columns: Columns = {
        "alter": dice.age,
        "stadt": dice.named(TOWNS),
        "stunden": dice.hours,
        "rente": dice.told("N", "J", dice.flag),
        "klasse": dice.told("niedrig", "hoch"),
    }
    path = delimited(folder / "umfrage.txt", columns, delimiter="|", encoding="latin-1")
    kinds = {"alter": "number", "stadt": "listed", "stunden": "number", "rente": "listed"}
    reading = {"delimiter": "bar", "encoding": "windows-1252"}
    return Stranger(
        data=path, kinds=kinds | {"klasse": "listed"}, class_name="klasse", reading=reading
    )


def headless(folder: Path) -> Stranger:
    """No line of column names."""
    dice = Dice(3)
    columns: Columns = {
        "column-1": dice.age,
        "column-2": dice.named(CITIES),
        "column-3": dice.hours,
        "column-4": dice.told("f", "t", dice.flag),
        "column-5": dice.told("<=50K", ">50K"),
    }
    path = delimited(folder / "adult.data", columns, header=False)
    kinds = dict.fromkeys(columns, "listed") | {"column-1": "number", "column-3": "number"}
    return Stranger(data=path, kinds=kinds, class_name="column-5")


def gzipped(folder: Path) -> Stranger:
    """A gzipped CSV with semicolons and decimal commas."""
    dice = Dice(4)
    columns: Columns = {
        "Datum": dice.dates("%d.%m.%Y"),
        "Filiale": dice.named(TOWNS),
        "Umsatz": [f"{x:.2f}".replace(".", ",") for x in dice.income],
        "Alter": dice.age,
        "Karte": dice.told("nein", "ja", dice.flag),
        "Ergebnis": dice.told("offen", "bezahlt"),
    }
    path = delimited(folder / "umsatz.csv.gz", columns, delimiter=";")
    kinds = dict.fromkeys(columns, "listed")
    kinds |= {"Datum": "date", "Umsatz": "number", "Alter": "number"}
    return Stranger(data=path, kinds=kinds, class_name="Ergebnis", reading={"decimal": "comma"})


def survey(folder: Path) -> Stranger:
    """Answers as codes, 8 and 9 for none; 97 to 99 among numbers; weights."""
    dice = Dice(7)
    answers = {
        f"Q{i}": dice.pick([1, 2, 3, 4, 5, 8, 9], [0.2] * 4 + [0.1, 0.05, 0.05])
        for i in range(1, 9)
    }
    columns: Columns = {
        "respid": dice.rng.permutation(90_000)[:N] + 10_000,
        "AGE": dice.some(dice.some(dice.age.tolist(), 998, 0.02), 999, 0.02),
        "SEX": dice.pick([1, 2]),
        "REGION": dice.town + 1,
        "CHILDREN": dice.some(np.minimum(dice.rng.poisson(1.2, N), 12).tolist(), 99, 0.03),
        "EDUC_CODE": dice.pick([0, 10, 20, 30, 35, 40, 50]),
        **answers,
        "SURVEY_WEIGHT": [f"{x:.4f}" for x in dice.rng.gamma(4, 0.25, N)],
        "OUTCOME": dice.yes.astype(int) + 1,
    }
    columns["Q1"] = np.where(dice.flag, 1, dice.rng.choice([2, 3, 4, 5, 8, 9], N))
    path = delimited(folder / "survey.csv", columns)
    kinds = dict.fromkeys(columns, "listed")
    kinds |= {"respid": "out", "SURVEY_WEIGHT": "out", "AGE": "number", "CHILDREN": "number"}
    kinds |= dict.fromkeys(answers, "either")
    return Stranger(data=path, kinds=kinds, class_name="OUTCOME")


def wide(folder: Path) -> Stranger:
    """A hundred columns."""
    dice = Dice(8)
    columns: Columns = {"age": dice.age, "flag": dice.told("0", "1", dice.flag)}
    for i in range(48):
        columns[f"measure_{i}"] = np.round(dice.rng.normal(i, 1 + i / 5, N), 2)
        columns[f"group_{i}"] = dice.pick([f"g{j}" for j in range(2 + i % 7)])
    columns["income_k"] = np.round(dice.income / 1000, 1)
    columns["class"] = dice.told("a", "b")
    kinds = dict.fromkeys(columns, "listed") | {"age": "number", "income_k": "number"}
    kinds |= {f"measure_{i}": "number" for i in range(48)}
    return Stranger(data=delimited(folder / "wide.csv", columns), kinds=kinds, class_name="class")


def classless(folder: Path) -> Stranger:
    """Nothing to predict: numbers and dates alone."""
    dice = Dice(9)
    columns: Columns = {
        "taken_on": dice.dates("%Y-%m-%d"),
        "temperature": np.round(dice.rng.normal(12, 8, N), 1),
        "humidity": np.round(dice.rng.beta(4, 2, N) * 100, 1),
        "pressure": np.round(dice.rng.normal(1013, 9, N), 1),
    }
    kinds = dict.fromkeys(columns, "number") | {"taken_on": "date"}
    return Stranger(data=delimited(folder / "weather.csv", columns), kinds=kinds)


def skewed(folder: Path) -> Stranger:
    """A class that one in thirty has."""
    dice = Dice(10)
    fraud = dice.rng.random(N) < np.where(dice.flag & (dice.income > 3200), 0.25, 0.008)
    columns: Columns = {
        "amount": np.round(dice.income, 2),
        "merchant_code": dice.pick(["5411", "5812", "5999", "4111", "7995"]),
        "abroad": dice.told("False", "True", dice.flag),
        "hour": dice.rng.integers(0, 24, N),
        "fraud": fraud.astype(int),
    }
    kinds = {"amount": "number", "merchant_code": "listed", "abroad": "listed"}
    kinds |= {"hour": "number", "fraud": "listed"}
    return Stranger(data=delimited(folder / "fraud.csv", columns), kinds=kinds, class_name="fraud")


def gaps(folder: Path) -> Stranger:
    """Every word for a missing value that there is, and a few typing errors."""
    dice = Dice(11)
    weight = dice.some([f"{x:.1f}" for x in dice.rng.normal(78, 14, N)], "not measured", 0.05)
    weight[17], weight[99] = "78kg", "8o.5"
    columns: Columns = {
        "age": dice.some(dice.some(dice.age.tolist(), "unknown", 0.03), "-", 0.02),
        "weight": weight,
        "income": dice.some(
            dice.some(np.round(dice.income).astype(int).tolist(), "n/a", 0.04), -9, 0.03
        ),
        "visits": dice.some(dice.some(dice.rng.poisson(3, N).tolist(), 99, 0.02), "NULL", 0.03),
        "city": dice.some(dice.named(CITIES), "?", 0.06),
        "member": dice.some(dice.told("no", "yes", dice.flag), "", 0.04),
        "outcome": dice.told("well", "ill"),
    }
    kinds = dict.fromkeys(("age", "weight", "income", "visits"), "number")
    kinds |= dict.fromkeys(("city", "member", "outcome"), "listed")
    return Stranger(data=delimited(folder / "gaps.csv", columns), kinds=kinds, class_name="outcome")


def american(folder: Path) -> Stranger:
    """Month first, commas between thousands, in quotes."""
    dice = Dice(12)
    columns: Columns = {
        "Order Date": dice.dates("%m/%d/%Y"),
        "Ship Date": dice.dates("%m/%d/%Y", "2019-03-04"),
        "State": dice.pick(["TX", "CA", "NY", "WA", "FL"]),
        "Zip Code": [f"{z:05d}" for z in dice.rng.choice(dice.rng.integers(501, 99950, 600), N)],
        "Sales": grouped(dice.income * 3, 2, ",", "."),
        "Units": grouped(np.round(dice.rng.lognormal(6.5, 1, N)), 0, ",", "."),
        "Customer Age": dice.age,
        "Gift": dice.told("N", "Y", dice.flag),
        "Target": dice.told("Kept", "Returned"),
    }
    kinds = dict.fromkeys(columns, "listed")
    kinds |= {"Order Date": "date", "Ship Date": "date"}
    kinds |= dict.fromkeys(("Sales", "Units", "Customer Age"), "number")
    reading = {"decimal": "point", "thousands": "comma"}
    path = delimited(folder / "orders.csv", columns)
    return Stranger(data=path, kinds=kinds, class_name="Target", reading=reading)
