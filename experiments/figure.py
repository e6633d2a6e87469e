"""What a figure of a paper is: what was printed, how it is run again, how the two compare.

A figure is cut into *units*, one run of one setting each, which are measured apart, in any
order and in any process. A unit gives points; points of the same line and place are
averaged over runs into curves, and every statement of the paper is checked on the curves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from experiments.curves import Curves
from experiments.rule import Answer
from hedgerow.privacy.source import SeededSource

Setting = str | int | float
PaperKey = Literal["DiffGen", "DiffPart", "DiffMulti", "ARUBA", "TKDE"]
Scale = Literal["linear", "log"]

PAGES: dict[str, str] = {
    "DiffGen": "diffgen",
    "DiffPart": "diffpart",
    "DiffMulti": "diffmulti",
    "ARUBA": "aruba",
    "TKDE": "supermodular",
}
"""The page of each paper, by the same name in docs/papers and research/papers."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Where a figure is run: the folder of public data sets, if any, and whether in short."""

    folder: Path | None
    quick: bool

    def pick(self, *, full: Any, quick: Any) -> Any:
        """Return what this scene wants."""
        return quick if self.quick else full


class FigurePoint(NamedTuple):
    """One measurement: the panel and line it belongs to, and its place."""

    panel: str
    line: str
    x: float
    y: float


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One run of one setting; ``key`` names it in the store of results.

    >>> Unit(settings={"h": 4}, run=0).key
    '{"h": 4, "run": 0}'
    """

    settings: Mapping[str, Setting]
    run: int

    @property
    def key(self) -> str:
        """The settings and the run, as text."""
        return json.dumps({**self.settings, "run": self.run}, sort_keys=True)

    @property
    def source(self) -> SeededSource:
        """Random words of the unit's own: a figure that is run again is the same figure."""
        digest = hashlib.sha256(self.key.encode()).digest()
        return SeededSource(int.from_bytes(digest[:8], "big"))

    @property
    def rng(self) -> np.random.Generator:
        """A generator of the unit's own, for everything that is not private."""
        digest = hashlib.sha256(f"data {self.key}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))

    def __getitem__(self, name: str) -> Any:
        return self.settings[name]


def grid(runs: int, **axes: Iterable[Setting]) -> list[Unit]:
    """Return a unit for every run of every combination of settings; runs vary first.

    >>> [unit.key for unit in grid(1, h=(4, 10))]
    ['{"h": 4, "run": 0}', '{"h": 10, "run": 0}']
    """
    combinations = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [Unit(settings=chosen, run=run) for chosen in combinations for run in range(runs)]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """How a panel is drawn; lines ``second`` have an x axis of their own, at the top."""

    name: str
    x: str
    y: str
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    x_second: str = ""
    second: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A number that the paper's text gives, drawn beside the lines: a mark, or a level."""

    panel: str
    y: float
    label: str
    x: float | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The answer of a check, and what was found."""

    answer: Answer
    found: str


Check = Callable[[Curves], Outcome]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Words of the paper, the check that decides on them, and why it may fail.

    ``cause`` is the most likely cause where the statement is not found to hold here.
    """

    quote: str
    check: Check
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a paper that can be run again.

    ``printed`` are the settings of the paper and what its figure shows; ``ours`` says what
    is different here, and ``remark`` what the figure shows beyond the paper's statements.
    ``needs`` are files below the data folder without which the figure is skipped; what is
    bundled is not listed. ``exact`` lines depend on no seed. Where runs are ``folds`` of cross
    validation, so many together make one value. ``numbers`` are those that the text prints.
    """

    id: str
    paper: PaperKey
    title: str
    printed: str
    ours: str
    panels: tuple[Panel, ...]
    statements: tuple[Statement, ...]
    units: Callable[[Scene], list[Unit]]
    measure: Callable[[Unit, Scene], list[FigurePoint]]
    needs: tuple[str, ...] = ()
    remark: str = ""
    exact: tuple[str, ...] = ()
    folds: int = 1
    numbers: tuple[Printed, ...] = ()

    def absent(self, scene: Scene) -> list[str]:
        """Return the files that the figure needs and the data folder lacks."""
        if scene.folder is None:
            return list(self.needs)
        return [name for name in self.needs if not (scene.folder / name).is_file()]
