"""Results of finished runs, kept one by one, so that an interrupted figure goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.figure import Figure, FigurePoint, Scene, Unit


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The points of one finished unit and the CPU seconds that it took."""

    key: str
    points: tuple[FigurePoint, ...]
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Store:
    """A file of lines, one finished unit each; short and full runs have files of their own."""

    path: Path

    @classmethod
    def of(cls, figure: Figure, scene: Scene, folder: Path) -> Store:
        """Return the store of a figure."""
        effort = "quick" if scene.quick else "full"
        return cls(path=folder / "runs" / f"{figure.id}.{effort}.jsonl")

    def load(self, units: list[Unit]) -> dict[str, Measured]:
        """Return what is known of these units; a line that was cut off is not."""
        wanted = {unit.key for unit in units}
        found: dict[str, Measured] = {}
        if not self.path.is_file():
            return found
        for line in self.path.read_text(encoding="utf-8").splitlines():
            told = _parsed(line)
            if told is not None and told.key in wanted:
                found[told.key] = told
        return found

    def add(self, told: Measured) -> None:
        """Write one finished unit at once."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line: dict[str, Any] = {"unit": told.key, "seconds": told.seconds, "points": told.points}
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._torn() + json.dumps(line) + "\n")

    def clear(self) -> None:
        """Forget everything."""
        self.path.unlink(missing_ok=True)

    def _torn(self) -> bool:
        """Whether the last line has no end, as after a power cut."""
        if not self.path.is_file() or not self.path.stat().st_size:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) != b"\n"


def _parsed(line: str) -> Measured | None:
    try:
        given = json.loads(line)
        points = tuple(
            FigurePoint(str(p), str(n), float(x), float(y)) for p, n, x, y in given["points"]
        )
        return Measured(key=given["unit"], points=points, seconds=float(given["seconds"]))
    except (ValueError, KeyError, TypeError):
        return None
