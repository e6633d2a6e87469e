"""Taxonomies built by rules: flat, context-free, numeric, prefixes, dates."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, product
from typing import Literal, TypeAlias, get_args

from hedgerow.errors import SettingError, TaxonomyError
from hedgerow.taxonomy.calendar import CalendarGrid
from hedgerow.taxonomy.domain import DateDomain, NumericDomain
from hedgerow.taxonomy.labels import MOST_LEVELS, ROOT, displayed, first_repeated
from hedgerow.taxonomy.numbers import NumberLike, exact, written
from hedgerow.taxonomy.paths import from_paths
from hedgerow.taxonomy.tree import Taxonomy

MOST_LEAVES = 2_000_000
"""Largest number of leaves that a builder makes."""

DateLevel: TypeAlias = Literal["day", "month", "quarter", "year"]
DATE_LEVELS: tuple[DateLevel, ...] = get_args(DateLevel)


def flat(values: Sequence[str], *, root: str = ROOT) -> Taxonomy:
    """Return the taxonomy of values directly under one root.

    >>> flat(["red", "green", "blue"])
    Taxonomy('*', 3 leaves, 4 nodes, height 1)
    """
    _check_values(values, setting="flat")
    return Taxonomy.flat(values, root=root)


def context_free(items: Sequence[str], *, fan_out: int, root: str = ROOT) -> Taxonomy:
    """Return the taxonomy that groups items by ``fan_out``, in order, until one root is left.

    The tree of [DiffPart, Def. 3.1], built as in its Section 4.1: it does not depend on the meaning
    of items. The last group of a level may be smaller; a group of one is its member. Groups are
    named after their first and last item.

    >>> context_free(["a", "b", "c", "d", "e"], fan_out=2).labels
    ('*', 'a..d', 'a..b', 'a', 'b', 'c..d', 'c', 'd', 'e')
    """
    _check_values(items, setting="items")
    if fan_out < 2:
        raise SettingError.out_of_range("fan-out", fan_out, "a whole number from 2 up")
    return _grouped(
        items,
        _powers(fan_out, len(items)),
        lambda first, stop: f"{items[first]}..{items[stop - 1]}",
        root=root,
    )


def numeric(
    *,
    low: NumberLike,
    high: NumberLike,
    step: NumberLike,
    fan_out: int | None = None,
    widths: Sequence[NumberLike] = (),
    root: str = ROOT,
) -> Taxonomy:
    """Return the taxonomy of the cells of an even grid, ``high`` included.

    Cells are grouped by ``fan_out`` until one root is left, or into groups of ``widths`` (each a
    multiple of the one before), or are directly under the root.

    >>> numeric(low=0, high=19, step=5, widths=[10]).labels
    ('*', '[0, 10)', '[0, 5)', '[5, 10)', '[10, 19]', '[10, 15)', '[15, 19]')
    """
    domain = NumericDomain.even(low=low, high=high, step=step)
    if widths and fan_out is not None:
        raise SettingError(
            "Both are set.", where="fan-out and widths", do="Give one of them, or none."
        )
    if not widths:
        return _numeric(domain, _fan_out_sizes(fan_out, domain.size), root)
    return _numeric(domain, _cells_per_width(widths, step), root)


def numeric_edges(
    edges: Sequence[NumberLike], *, fan_out: int | None = None, root: str = ROOT
) -> Taxonomy:
    """Return the taxonomy of the cells between edges, in groups of ``fan_out`` or under the root.

    >>> numeric_edges([0, 18, 65, 120]).leaf_labels
    ('[0, 18)', '[18, 65)', '[65, 120]')
    """
    domain = NumericDomain.from_edges(edges)
    return _numeric(domain, _fan_out_sizes(fan_out, domain.size), root)


def prefixes(values: Sequence[str], *, mask: str = "*", root: str = ROOT) -> Taxonomy:
    """Return the taxonomy that masks codes from the right, one character at a time.

    >>> tree = prefixes(["12345", "12399"])
    >>> [tree.labels[node] for node in tree.path(tree.find("12345"))]
    ['*', '1****', '12***', '123**', '1234*', '12345']
    """
    _check_values(values, setting="values")
    if len(mask) != 1:
        raise SettingError.out_of_range("mask", repr(mask), "one character")
    for value in values:
        if mask in value or len(value) > MOST_LEVELS:
            raise TaxonomyError(
                f"{displayed(value)} holds the mask {mask!r}, or is longer than {MOST_LEVELS}.",
                where="values",
                value=value,
                do="Give plain codes, and a mask that occurs in none of them.",
            )
    return from_paths(
        (
            [
                root,
                *(value[:kept] + mask * (len(value) - kept) for kept in range(1, len(value) + 1)),
            ]
            for value in values
        ),
    )


def prefix_codes(length: int, *, alphabet: str = "0123456789") -> list[str]:
    """Return all codes of ``length`` characters, in order, as input of :func:`prefixes`."""
    if not 1 <= length <= MOST_LEVELS or len(alphabet) ** length > MOST_LEAVES:
        raise SettingError.out_of_range(
            "length", length, f"a length from 1 up that makes at most {MOST_LEAVES:,} codes"
        )
    if not alphabet or len(set(alphabet)) < len(alphabet):
        raise SettingError.out_of_range(
            "alphabet", repr(alphabet), ("characters that are all different")
        )
    return ["".join(characters) for characters in product(alphabet, repeat=length)]


def dates(
    start: datetime.date | str,
    end: datetime.date | str,
    *,
    levels: Sequence[str] = DATE_LEVELS,
    root: str = ROOT,
) -> Taxonomy:
    """Return the taxonomy of all days from ``start`` to ``end``, by month, quarter and year.

    ``end`` is included. ``levels`` may leave some out; the first of them are the leaves.

    >>> tree = dates("2020-01-31", "2020-02-01")
    >>> tree.labels
    ('*', '2020', '2020-Q1', '2020-01', '2020-01-31', '2020-02', '2020-02-01')
    """
    first, last = _date(start, "from"), _date(end, "to")
    kept = [level for level in DATE_LEVELS if level in levels]
    if not kept or list(levels) != kept:
        choices = ", ".join(DATE_LEVELS)
        raise SettingError.out_of_range("levels", list(levels), f"some of {choices}, in this order")
    n_days = (last - first).days + 1
    if not 1 <= n_days <= MOST_LEAVES:
        raise SettingError.out_of_range("to", last, f"a date from {first} on")
    days = (first + datetime.timedelta(days=day) for day in range(n_days))
    paths = ([root, *(_DATE_LABELS[level](day) for level in reversed(kept))] for day in days)
    return from_paths(paths)


_DATE_LABELS: dict[DateLevel, Callable[[datetime.date], str]] = {
    "day": lambda day: day.isoformat(),
    "month": lambda day: day.isoformat()[:7],
    "quarter": lambda day: f"{day.isoformat()[:4]}-Q{(day.month + 2) // 3}",
    "year": lambda day: day.isoformat()[:4],
}


def _date(value: datetime.date | str, setting: str) -> datetime.date:
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise SettingError.out_of_range(setting, repr(value), "a date such as 2020-01-31") from None


def _check_values(values: Sequence[str], *, setting: str) -> None:
    if not values:
        raise TaxonomyError("The list is empty.", where=setting, do="Give at least one value.")
    if len(values) > MOST_LEAVES:
        raise SettingError.out_of_range(setting, len(values), f"at most {MOST_LEAVES:,} values")
    if len(set(values)) < len(values):
        twice = first_repeated(values)
        raise TaxonomyError(
            f"{displayed(twice)} is listed twice.", where=setting, value=twice, do="List it once."
        )


def _powers(fan_out: int, n_leaves: int) -> list[int]:
    """Return the group sizes ``f, f^2, ...`` below the number of leaves."""
    sizes, size = [], fan_out
    while size < n_leaves:
        sizes.append(size)
        size *= fan_out
    return sizes


def _fan_out_sizes(fan_out: int | None, n_cells: int) -> list[int]:
    if fan_out is None:
        return []
    if fan_out < 2:
        raise SettingError.out_of_range("fan-out", fan_out, "a whole number from 2 up")
    return _powers(fan_out, n_cells)


def _cells_per_width(widths: Sequence[NumberLike], step: NumberLike) -> list[int]:
    sizes = []
    before = exact(step, setting="step")
    for width in widths:
        wide = exact(width, setting="widths")
        if wide <= before or (wide / before).denominator != 1:
            raise SettingError.out_of_range(
                "widths", written(wide), f"a multiple of {written(before)} above it"
            )
        sizes.append(int(wide / exact(step, setting="step")))
        before = wide
    return sizes


def _numeric(domain: NumericDomain, sizes: Iterable[int], root: str) -> Taxonomy:
    if domain.size > MOST_LEAVES:
        raise SettingError.out_of_range(
            "step", domain.size, f"a larger step: at most {MOST_LEAVES:,} cells"
        )
    cells = [domain.label(cell, cell + 1) for cell in range(domain.size)]
    return _grouped(cells, sizes, domain.label, root=root)


def calendar(grid: CalendarGrid, *, root: str = ROOT) -> Taxonomy:
    """Return the taxonomy of a calendar's cells by month, quarter and year.

    >>> first, last = datetime.date(2020, 11, 1), datetime.date(2021, 1, 31)
    >>> calendar(DateDomain.between(first, last, step="month").grid).labels[:3]
    ('*', '[2020-11-01, 2021-01-01)', '[2020-11-01, 2020-12-01)')
    """
    known = DateDomain(grid=grid)
    if known.size > MOST_LEAVES:
        raise SettingError.out_of_range(
            "step", known.size, f"a larger step: at most {MOST_LEAVES:,} cells"
        )
    cells = [known.label(cell, cell + 1) for cell in range(known.size)]
    ranges = {pair for level in known.levels for pair in pairwise(level.tolist())}
    return _nested(cells, ranges, known.label, root=root)


def _grouped(
    leaves: Sequence[str], sizes: Iterable[int], name: Callable[[int, int], str], *, root: str
) -> Taxonomy:
    """Return leaves in groups of the given sizes, level by level, without groups of one child."""
    n_leaves = len(leaves)
    ranges = {
        (first, min(first + size, n_leaves)) for size in sizes for first in range(0, n_leaves, size)
    }
    return _nested(leaves, ranges, name, root=root)


def _nested(
    leaves: Sequence[str],
    ranges: Iterable[tuple[int, int]],
    name: Callable[[int, int], str],
    *,
    root: str,
) -> Taxonomy:
    """Return leaves under ranges of them that are nested or disjoint."""
    n_leaves = len(leaves)
    groups = {node for node in ranges if 1 < node[1] - node[0] < n_leaves}
    cells = {(code, code + 1) for code in range(n_leaves)}
    labels, parents = [root], [-1]
    path = [(n_leaves, 0)]  # end of each open group, and its node
    for first, stop in sorted(groups | cells, key=lambda node: (node[0], -node[1])):
        while path[-1][0] <= first:
            path.pop()
        parents.append(path[-1][1])
        path.append((stop, len(labels)))
        labels.append(leaves[first] if stop - first == 1 else name(first, stop))
    return Taxonomy.from_parents(labels, parents)
