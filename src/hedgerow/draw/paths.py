"""Picture of the most frequent paths of sequences: a column per position, a field per prefix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.pictures import shortened
from hedgerow.model.sequences import NoisySequences, Prefixes

WIDTH, HEIGHT = 1000, 620
MOST_PLACES = 5
_LEAST_HEIGHT = 2.0
_TEXT_FROM = 15.0
_LETTERS = 18
N_SHADES = 8


@dataclass(frozen=True, kw_only=True)
class PathField:
    """Position and texts of one prefix; ``ends`` marks sequences that end at the parent prefix."""

    x: float
    y: float
    width: float
    height: float
    shade: int
    label: str
    text: str
    count_text: str
    ends: bool


@dataclass(frozen=True, kw_only=True)
class PathPicture:
    """Tree of the most frequent prefixes, from left to right."""

    fields: tuple[PathField, ...]
    n_places: int
    n_drawn: int
    n_prefixes: int
    width: int = WIDTH
    height: int = HEIGHT


def path_picture(sequences: NoisySequences) -> PathPicture | None:
    """Return the picture of the counted prefixes, or ``None`` if there are none."""
    prefixes = sequences.prefixes
    if prefixes is None or not len(prefixes):
        return None
    drawing = _Drawing(prefixes, sequences.taxonomy.leaf_labels)
    drawing.draw()
    n_drawn = sum(not field.ends for field in drawing.fields)
    return PathPicture(
        fields=tuple(drawing.fields),
        n_places=drawing.n_places,
        n_drawn=n_drawn,
        n_prefixes=len(prefixes),
    )


class _Drawing:
    """Layout of sorted prefixes, in which every prefix precedes its extensions."""

    def __init__(self, prefixes: Prefixes, labels: tuple[str, ...]) -> None:
        self.prefixes = prefixes
        self.labels = labels
        self.lengths = np.diff(prefixes.offsets)
        self.n_places = min(MOST_PLACES, int(self.lengths.max()))
        self.total = max(1, int(prefixes.counts[self.lengths == 1].sum()))
        self.parent = _parents(self.lengths)
        self.fields: list[PathField] = []

    def draw(self) -> None:
        self._below(-1, top=0.0, place=0)

    def _below(self, parent: int, *, top: float, place: int) -> None:
        """Draw the direct extensions of a prefix, the most frequent first."""
        children = np.flatnonzero(self.parent == parent)
        counts = self.prefixes.counts[children]
        for child in children[np.argsort(-counts, kind="stable")].tolist():
            height = HEIGHT * int(self.prefixes.counts[child]) / self.total
            if height < _LEAST_HEIGHT:
                break
            self._field(child, top=top, height=height, place=place)
            if place + 1 < self.n_places:
                self._below(child, top=top, place=place + 1)
            top += height
        ends = -1 if parent < 0 else int(self.prefixes.ends[parent])
        height = HEIGHT * ends / self.total
        if height >= _LEAST_HEIGHT:
            self._end(parent, ends, top=top, height=height, place=place)

    def _field(self, prefix: int, *, top: float, height: float, place: int) -> None:
        count = int(self.prefixes.counts[prefix])
        error = float(self.prefixes.errors[prefix])
        start, stop = self.prefixes.offsets[prefix : prefix + 2].tolist()
        words = [self.labels[code] for code in self.prefixes.items[start:stop].tolist()]
        share = count / self.total
        self.fields.append(
            PathField(
                **self._place(top, height, place),
                shade=1 + min(N_SHADES - 1, int(N_SHADES * min(1.0, share * 4))),
                label=" → ".join(shortened(word, _LETTERS) for word in words),
                text=shortened(words[-1], _LETTERS) if height >= _TEXT_FROM else "",
                count_text=f"{count:,} ± {error:,.0f}",
                ends=False,
            )
        )

    def _end(self, parent: int, count: int, *, top: float, height: float, place: int) -> None:
        self.fields.append(
            PathField(
                **self._place(top, height, place),
                shade=0,
                label="ends",
                text="",
                count_text=f"{count:,}",
                ends=True,
            )
        )

    def _place(self, top: float, height: float, place: int) -> dict[str, float]:
        width = WIDTH / self.n_places
        return {
            "x": round(place * width, 1),
            "y": round(top, 1),
            "width": round(width, 1),
            "height": round(height, 1),
        }


def _parents(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the parent of each sorted prefix: the last shorter one before it."""
    parents = np.full(len(lengths), -1, dtype=np.int64)
    last = np.full(int(lengths.max(initial=0)) + 1, -1, dtype=np.int64)
    for place, length in enumerate(lengths.tolist()):
        parents[place] = last[length - 1]
        last[length] = place
    return parents
