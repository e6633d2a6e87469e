"""Files as people have them: one seeded maker each, with what every column is.

Kinds of columns: ``number``, ``date``, ``listed`` (values or a taxonomy), ``either`` (a few whole
numbers, which may be listed or bounded), ``age`` (a birth that an age follows from) and ``out``.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

N = 5000
Columns = dict[str, Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class Stranger:
    """A table that somebody has: where it is, what its columns are, and what it is for."""

    data: Any
    kinds: Mapping[str, str]
    class_name: str | None = None
    query: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)


class Dice:
    """Draws the columns of a table, and a class that follows from some of them."""

    def __init__(self, seed: int, n: int = N) -> None:
        self.rng, self.n = np.random.default_rng(seed), n
        self.age = np.clip(self.rng.normal(46, 17, n), 18, 95).astype(int)
        self.income = self.rng.lognormal(7.6, 0.55, n)
        self.hours = np.clip(self.rng.normal(37, 9, n), 0, 80).round().astype(int)
        self.town = self.rng.choice(6, n, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
        self.flag = self.rng.random(n) < 0.35
        self.days = self.rng.integers(0, 4 * 365, n)
        strength = (self.age > 50) * 2.2 + self.flag * 1.6 + (self.income > 2600) * 1.6 - 2.8
        self.yes = self.rng.random(n) < 1 / (1 + np.exp(-1.6 * strength))

    def pick(self, values: Sequence[Any], share: Sequence[float] | None = None) -> list[Any]:
        """Return values drawn at random."""
        places = self.rng.choice(len(values), self.n, p=share)
        return [values[place] for place in places]

    def some(self, values: Sequence[Any], word: Any, share: float) -> list[Any]:
        """Return values, some of them replaced by a word."""
        gone = self.rng.random(self.n) < share
        return [word if lost else value for value, lost in zip(values, gone, strict=True)]

    def named(self, words: Sequence[str]) -> list[str]:
        """Return the town of every record, by these names."""
        return [words[place] for place in self.town]

    def told(self, no: str, yes: str, truth: np.ndarray | None = None) -> list[str]:
        """Return the class, or another truth, in these words."""
        return [yes if each else no for each in (self.yes if truth is None else truth)]

    def dates(self, form: str, first: str = "2019-03-01") -> list[str]:
        """Return the days of the records, written like this."""
        days = (np.datetime64(first) + self.days.astype("timedelta64[D]")).astype(object)
        return [day.strftime(form) for day in days]


def delimited(
    path: Path,
    columns: Columns,
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    header: bool = True,
    quoting: int = csv.QUOTE_MINIMAL,
) -> Path:
    """Write columns as a text file; gzipped where the name says so."""
    folder = path.with_suffix(".part")
    with folder.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]
        if header:
            writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    data = folder.read_bytes()
    folder.unlink()
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def grouped(numbers: np.ndarray, decimals: int, thousands: str, decimal: str) -> list[str]:
    """Return numbers with marks between thousands and before decimals."""
    marks = str.maketrans(",.", "\0\1")
    texts = (f"{number:,.{decimals}f}".translate(marks) for number in numbers)
    return [text.replace("\0", thousands).replace("\1", decimal) for text in texts]


TOWNS = ["Köln", "Zürich", "Genève", "München", "Wien", "Graz"]
CITIES = ["Boston", "Austin", "Denver", "Seattle", "Miami", "Reno"]
