"""Run figures again: units in parallel, finished ones kept, then curves, verdicts and a plot."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from experiments.curves import Curves
from experiments.figure import Figure, Scene, Unit
from experiments.rule import NOT, OPEN, Answer
from experiments.store import Measured, Store
from hedgerow.errors import SettingError
from hedgerow.progress import Progress, no_progress


@dataclass(frozen=True, kw_only=True)
class StatementVerdict:
    """A statement of the paper and whether it holds here, by :mod:`~experiments.rule`.

    ``cause`` is the most likely one, where it is not found to hold.
    """

    quote: str
    answer: Answer
    found: str
    cause: str

    @property
    def words(self) -> str:
        """The verdict in words."""
        cause = self.cause if self.answer in {NOT, OPEN} else ""
        return f"{self.answer}: {self.found}" + (f". {cause}" if cause else "")

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict for JSON."""
        cause = self.cause if self.answer in {NOT, OPEN} else None
        return {"quote": self.quote, "answer": self.answer, "found": self.found, "cause": cause}


@dataclass(frozen=True, kw_only=True)
class Result:
    """A figure as it came out here."""

    figure: Figure
    quick: bool
    curves: Curves
    verdicts: tuple[StatementVerdict, ...]
    runs: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "id": self.figure.id,
            "paper": self.figure.paper,
            "title": self.figure.title,
            "printed": self.figure.printed,
            "ours": self.figure.ours,
            "quick": self.quick,
            "most-runs": self.runs,
            "cpu-seconds": round(self.seconds, 1),
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "curves": [curve.as_dict() for curve in self.curves],
        }


def run_figure(
    figure: Figure,
    scene: Scene,
    folder: Path,
    *,
    runs: int | None = None,
    jobs: Executor | None = None,
    progress: Progress = no_progress,
) -> Result:
    """Return a figure run again, and leave its plot and its JSON in ``folder``.

    Finished units found in the folder are not measured again. ``runs`` is the most runs of
    a setting, where fewer than the figure's own are to do. Without ``jobs`` everything
    happens in this process.
    """
    from experiments.plot import plot

    units = [unit for unit in figure.units(scene) if runs is None or unit.run < runs]
    store = Store.of(figure, scene, folder)
    known = store.load(units)
    left = [unit for unit in units if unit.key not in known]
    progress(figure.id, len(known) / max(len(units), 1))
    for told in _measured(figure, left, scene, jobs):
        store.add(told)
        known[told.key] = told
        progress(figure.id, len(known) / len(units))
    result = _result(figure, scene, units, [known[unit.key] for unit in units])
    text = json.dumps(result.as_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    (folder / f"{figure.id}.json").write_text(text + "\n", encoding="utf-8")
    plot(figure, result.curves, folder / f"{figure.id}.svg")
    return result


def _measured(
    figure: Figure, units: list[Unit], scene: Scene, jobs: Executor | None
) -> Iterator[Measured]:
    """Yield units as they are finished."""
    if jobs is None:
        for unit in units:
            yield measure(figure, unit, scene)
        return
    waiting = [jobs.submit(_measure_by_id, figure.id, unit, scene) for unit in units]
    try:
        for done in as_completed(waiting):
            yield done.result()
    finally:
        for one in waiting:
            one.cancel()


def measure(figure: Figure, unit: Unit, scene: Scene) -> Measured:
    """Return the points of one unit and the CPU seconds that it took."""
    start = time.process_time()
    points = [point for point in figure.measure(unit, scene) if math.isfinite(point.y)]
    return Measured(key=unit.key, points=tuple(points), seconds=time.process_time() - start)


def _measure_by_id(figure_id: str, unit: Unit, scene: Scene) -> Measured:
    from experiments.registry import figure_of

    return measure(figure_of(figure_id), unit, scene)


def _result(figure: Figure, scene: Scene, units: list[Unit], measured: list[Measured]) -> Result:
    curves = Curves.of_runs(
        (
            (unit.run // figure.folds, told.points)
            for unit, told in zip(units, measured, strict=True)
        ),
        exact=figure.exact,
    )
    return Result(
        figure=figure,
        quick=scene.quick,
        curves=curves,
        verdicts=verdicts_of(figure, curves),
        runs=1 + max(unit.run for unit in units),
        seconds=sum(told.seconds for told in measured),
    )


def verdicts_of(figure: Figure, curves: Curves) -> tuple[StatementVerdict, ...]:
    """Return what the curves say of every statement of the paper."""
    found = [(statement, statement.check(curves)) for statement in figure.statements]
    return tuple(
        StatementVerdict(
            quote=statement.quote,
            answer=outcome.answer,
            found=outcome.found,
            cause=statement.cause,
        )
        for statement, outcome in found
    )


@contextmanager
def workers(n: int | None) -> Iterator[Executor | None]:
    """Yield that many processes, all cores by default; one is this process itself.

    Each has one thread, so that runs beside each other do not share cores.
    """
    n = n if n is not None else os.cpu_count() or 1
    if n < 1:
        raise SettingError.out_of_range("jobs", n, "a whole number from 1 up")
    if n == 1:
        yield None
        return
    pool = ProcessPoolExecutor(
        max_workers=n, mp_context=get_context("spawn"), initializer=_one_thread
    )
    with _main_hidden():
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep new processes from running the calling script again.

    They would import it to find what is pickled from there, which is nothing; a script
    that does not guard its main part would then start processes of its own.
    """
    main = sys.modules["__main__"]
    names = ("__file__", "__spec__")
    kept: dict[str, Any] = {name: vars(main)[name] for name in names if name in vars(main)}
    vars(main).pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(kept)


def _one_thread() -> None:
    for name in ("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
