"""Maps of the boxes: the distribution of records over two attributes, by density and class.

Boxes overlap when projected on two of many attributes, so a map shows the cells between all
borders of the two. The records of a box are spread evenly over its cells. Neighbouring cells of
equal density are drawn as one rectangle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.axis import PictureAxis, by_splits, density_steps
from hedgerow.draw.pictures import shortened
from hedgerow.model.groups import Groups
from hedgerow.model.labels import leaf_labels
from hedgerow.model.schema import Schema

MOST_ATTRIBUTES = 5
CLASS_COLOURS = 6
STRENGTHS = (0.6, 0.8)
"""Shares of the majority class of a cell from which its colour is stronger."""

WIDTH, HEIGHT = 1200, 840
X_ROOM, Y_ROOM = 90.0, 30.0
"""Minimum distance between the labels of two borders, on either axis."""

SLANTED_ROOM = 36.0
LETTER = 15.0
"""Upper estimate of the width of a letter; labels across are slanted by 35 degrees."""

SLANT_COSINE, SLANT_SINE = 0.82, 0.58
_BLOCK = 1 << 14


@dataclass(frozen=True, kw_only=True)
class MapMark:
    """A label beside an axis."""

    at: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Shape:
    """All rectangles of one colour: a density, a class and the strength of its majority."""

    density: int
    group: int
    strength: int
    outline: str


@dataclass(frozen=True, kw_only=True)
class BoxMap:
    """Map of two attributes; ``left`` and ``below`` are the margins for labels and titles."""

    across: str
    down: str
    slanted: bool
    left: int
    below: int
    shapes: tuple[Shape, ...]
    across_marks: tuple[MapMark, ...]
    down_marks: tuple[MapMark, ...]
    n_rectangles: int
    stretched: bool
    thinned: bool


@dataclass(frozen=True, kw_only=True)
class Maps:
    """Maps of all pairs of the most split attributes, and the names of the classes."""

    maps: tuple[BoxMap, ...]
    classes: tuple[str, ...]
    other_classes: int
    n_attributes: int
    n_omitted: int


def box_maps(schema: Schema, groups: Groups) -> Maps:
    """Return the maps of a release of boxes; none if fewer than two attributes are split."""
    split = by_splits(groups)
    shown = split[:MOST_ATTRIBUTES]
    axes = {at: PictureAxis.of(schema.attributes[at], groups.ranges[at]) for at in shown}
    ranks, classes = _classes(schema, groups)
    pairs = [_oriented(one, other, axes) for one, other in combinations(shown, 2)]
    return Maps(
        maps=tuple(_map(groups, pair, axes, ranks) for pair in pairs),
        classes=classes[:CLASS_COLOURS],
        other_classes=max(len(classes) - CLASS_COLOURS, 0),
        n_attributes=len(shown),
        n_omitted=len(split) - len(shown),
    )


def one_map(schema: Schema, groups: Groups, pair: tuple[int, int]) -> BoxMap:
    """Return the map of two attributes, given by their positions, the first across."""
    axes = {at: PictureAxis.of(schema.attributes[at], groups.ranges[at]) for at in pair}
    return _map(groups, pair, axes, _classes(schema, groups)[0])


def class_names(schema: Schema, groups: Groups) -> tuple[tuple[str, ...], int]:
    """Return the classes with a colour, most frequent first, and the number of those without."""
    names = _classes(schema, groups)[1]
    return names[:CLASS_COLOURS], max(len(names) - CLASS_COLOURS, 0)


def map_borders(
    schema: Schema, groups: Groups, pair: tuple[int, int]
) -> tuple[list[int], list[int]]:
    """Return the positions of the cell borders of a map, from the left and from the top."""
    across, down = (PictureAxis.of(schema.attributes[at], groups.ranges[at]) for at in pair)
    x = (across.at * WIDTH).round().astype(int).tolist()
    return x, _heights(down).round().astype(int).tolist()


def _classes(schema: Schema, groups: Groups) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the rank of each class by noisy total, and the names in that order."""
    target = schema.class_attribute
    if target is None or groups.classes is None:
        return np.zeros(1, dtype=np.int64), ()
    totals = np.bincount(groups.classes, weights=groups.counts, minlength=target.domain.size)
    order = np.argsort(-totals, kind="stable")
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    labels = leaf_labels(target.domain)
    return ranks, tuple(shortened(labels[at], 30) for at in order.tolist())


def _oriented(one: int, other: int, axes: dict[int, PictureAxis]) -> tuple[int, int]:
    """Return the pair with numbers across and categories down, where labels have room."""

    def fit(at: int) -> tuple[bool, int]:
        axis = axes[at]
        return axis.attribute.domain.kind == "categorical", len(axis)

    return (other, one) if fit(other) < fit(one) else (one, other)


def cell_counts(
    groups: Groups, pair: tuple[int, int], axes: tuple[PictureAxis, PictureAxis], n_classes: int
) -> NDArray[np.float64]:
    """Return the records in each cell of two axes, by class, spread evenly in their boxes."""
    one, other = pair
    sizes = (len(groups.ranges[one]), len(groups.ranges[other]))
    classes = groups.classes if groups.classes is not None else np.zeros(len(groups), np.int32)
    flat = np.ravel_multi_index(
        (classes, groups.index[one], groups.index[other]), (n_classes, *sizes)
    )
    keys, which = np.unique(flat, return_inverse=True)
    counts = np.bincount(which, weights=groups.counts, minlength=len(keys))
    of_class, first, second = np.unravel_index(keys, (n_classes, *sizes))
    parts = [axis.overlaps(groups.ranges[at]) for at, axis in zip(pair, axes, strict=True)]
    cells = np.zeros((n_classes, len(axes[0]), len(axes[1])))
    for each in range(n_classes):
        rows = np.flatnonzero(of_class == each)
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            spread = parts[0][first[some]] * counts[some, None]
            cells[each] += spread.T @ parts[1][second[some]]
    return cells


def _map(
    groups: Groups, pair: tuple[int, int], axes: dict[int, PictureAxis], ranks: NDArray[np.int64]
) -> BoxMap:
    across, down = axes[pair[0]], axes[pair[1]]
    cells = cell_counts(groups, pair, (across, down), len(ranks))
    shapes, n_rectangles = _shapes(cells, across, down, ranks)
    slanted = across.attribute.domain.kind == "categorical"
    across_marks = _marks(across, across.at * WIDTH, SLANTED_ROOM if slanted else X_ROOM)
    down_marks = _marks(down, _heights(down), Y_ROOM)
    left, below = _margins(across_marks, down_marks, slanted=slanted)
    return BoxMap(
        across=shortened(across.attribute.name, 40),
        down=shortened(down.attribute.name, 40),
        slanted=slanted,
        left=left,
        below=below,
        shapes=shapes,
        across_marks=across_marks,
        down_marks=down_marks,
        n_rectangles=n_rectangles,
        stretched=across.stretched or down.stretched,
        thinned=across.n_cells > len(across) or down.n_cells > len(down),
    )


def _margins(
    across: tuple[MapMark, ...], down: tuple[MapMark, ...], *, slanted: bool
) -> tuple[int, int]:
    """Return the distances of the titles from the axes, so that they clear the labels."""
    longest = max((len(mark.text) for mark in down), default=0) * LETTER
    lowest = max((len(mark.text) for mark in across), default=0) * LETTER if slanted else 0.0
    left = max(longest + 90, lowest * SLANT_COSINE + 20, 120)
    return round(left), round(lowest * SLANT_SINE + 84)


def _heights(axis: PictureAxis) -> NDArray[np.float64]:
    """Return the vertical positions of borders: numbers rise upwards, names read downwards."""
    rising = axis.attribute.domain.kind == "numeric"
    return HEIGHT * (1 - axis.at if rising else axis.at)


def _shapes(
    cells: NDArray[np.float64], across: PictureAxis, down: PictureAxis, ranks: NDArray[np.int64]
) -> tuple[tuple[Shape, ...], int]:
    areas = across.widths[:, None] * down.widths[None, :]
    steps, group, strength = _colours(cells, areas, ranks)
    x = (across.at * WIDTH).round().astype(int).tolist()
    y = _heights(down).round().astype(int).tolist()
    outlines: dict[tuple[int, int, int], list[str]] = {}
    n_rectangles = 0
    for left, right, top, bottom in rectangles(_alike(cells / areas)):
        width, height = x[right] - x[left], y[bottom] - y[top]
        if steps[left][top] and width and height:
            colour = steps[left][top], group[left][top], strength[left][top]
            outline = f"M{x[left]} {y[top]}h{width}v{height}h{-width}z"
            outlines.setdefault(colour, []).append(outline)
            n_rectangles += 1
    shapes = tuple(
        Shape(density=density, group=at, strength=strong, outline="".join(outline))
        for (density, at, strong), outline in sorted(outlines.items())
    )
    return shapes, n_rectangles


def _colours(
    cells: NDArray[np.float64], areas: NDArray[np.float64], ranks: NDArray[np.int64]
) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """Return density step, rank of the majority class and its strength for each cell."""
    sums = cells.sum(axis=0)
    lead = np.divide(cells.max(axis=0), sums, out=np.zeros_like(sums), where=sums > 0)
    steps = density_steps(sums / (float(sums.sum()) or 1.0), areas)
    group = np.minimum(ranks[cells.argmax(axis=0)], CLASS_COLOURS)
    strength = np.searchsorted(STRENGTHS, lead, side="right")
    return steps.tolist(), group.tolist(), strength.tolist()


def _alike(densities: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a number per cell, equal for cells with equal densities of all classes."""
    n_classes, n_across, n_down = densities.shape
    scaled = (densities / (densities.max() or 1.0)).round(12)
    _, which = np.unique(scaled.reshape(n_classes, -1).T, axis=0, return_inverse=True)
    return which.reshape(n_across, n_down).astype(np.int64)


def rectangles(cells: NDArray[np.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Yield rectangles of equal cells that tile the array: first and last row and column."""
    grid = cells.tolist()
    n_rows, n_columns = cells.shape
    done = [[False] * n_columns for _ in range(n_rows)]
    for row in range(n_rows):
        for column in range(n_columns):
            if done[row][column]:
                continue
            value, stop = grid[row][column], column + 1
            while stop < n_columns and grid[row][stop] == value and not done[row][stop]:
                stop += 1
            run, below = grid[row][column:stop], row + 1
            while below < n_rows and grid[below][column:stop] == run:
                if any(done[below][column:stop]):
                    break
                below += 1
            for each in range(row, below):
                done[each][column:stop] = [True] * (stop - column)
            yield row, below, column, stop


def _marks(axis: PictureAxis, at: NDArray[np.float64], room: float) -> tuple[MapMark, ...]:
    """Return labels for borders of numbers or cells of categories, as far as there is room."""
    if axis.attribute.domain.kind == "categorical":
        named = [
            MapMark(at=round(float(middle), 1), text=shortened(axis.label(cell), 20))
            for cell, middle in enumerate((at[1:] + at[:-1]) / 2)
        ]
        return tuple(_spaced(named, room))
    named = [
        MapMark(at=round(float(place), 1), text=axis.border_text(border))
        for border, place in enumerate(at)
    ]
    last = named.pop()
    kept = [mark for mark in _spaced(named, room) if abs(mark.at - last.at) >= room]
    return (*kept, last)


def _spaced(marks: list[MapMark], room: float) -> list[MapMark]:
    kept: list[MapMark] = []
    for mark in marks:
        if not kept or abs(mark.at - kept[-1].at) >= room:
            kept.append(mark)
    return kept
