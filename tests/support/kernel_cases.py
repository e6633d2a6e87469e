"""For every kernel, single records at the largest sizes that fit a test, and where they belong.

A case has a kernel, what it is given, and its brute force: the cells that the one record is in,
by number, each with what the record counts for. Sizes lie on both sides of what 8, 16 and 32
bits hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from hedgerow.count.basket_kernels import SplitCounts
from hedgerow.count.distinct import RowKeys, _Stage
from hedgerow.count.feature_kernels import (
    CappedItems,
    CappedPairs,
    CappedSets,
    CoreMasks,
    LengthBins,
    OtherLengthBins,
    RankedLengthBins,
    SetsHeld,
)
from hedgerow.count.folding import hashed
from hedgerow.count.joint import JointCounts
from hedgerow.count.kernels import ClassHistograms, GroupCounts
from hedgerow.count.sequence_kernels import ItemSteps, LengthCounts, PrefixCounts
from hedgerow.methods.weave.class_tree import ClassTree, LeafCounts
from hedgerow.methods.weave.pairs import PairCounts, PairLayout
from hedgerow.model.baskets import item_dtype
from hedgerow.model.engine import BasketBatch, Batch, FoldedBaskets, SequenceBatch
from hedgerow.taxonomy.domain import code_dtype

BITS = [n + d for n in (1 << 7, 1 << 8, 1 << 15, 1 << 16) for d in (-1, 0, 1)]
"""Sizes on both sides of 7, 8, 15 and 16 bits; a plan lists 65,535 classes."""

HEAVY = (1 << 52) + 1
"""A weight that 32 bits do not hold, and that a sum in floating point just holds exactly."""


@dataclass(frozen=True, kw_only=True)
class KernelCase:
    """A kernel, its one record, and the cells that the record is in, with what it counts for.

    With ``lots`` the record is in that many of the cells instead, chosen by coins of its own.
    """

    kernel: Any
    given: Callable[[bool], Any]
    cells: dict[int, int]
    lots: int | None = None


Cases = Iterator[KernelCase]


def record(sizes: tuple[int, ...], codes: list[int], n_classes: int, label: int) -> Any:
    """Return what makes a batch of one record."""

    def batch(compiled: bool) -> Batch:
        return Batch(
            codes=tuple(
                np.array([code], dtype=code_dtype(size))
                for code, size in zip(codes, sizes, strict=True)
            ),
            classes=np.array([label], dtype=code_dtype(n_classes)) if n_classes > 1 else None,
            n_records=1,
            compiled=compiled,
        )

    return batch


def corners(sizes: tuple[int, ...]) -> list[list[int]]:
    """Return records at both ends of every domain, and across."""
    last = [size - 1 for size in sizes]
    return [[0] * len(sizes), last, [code * (i % 2) for i, code in enumerate(last)]]


def class_histograms() -> Cases:
    for n in BITS:
        for sizes, n_classes in (((n, 3), 2), ((3, 2), n), ((n, 2), 1), ((257, 31), 257)):
            for codes in corners(sizes):
                label = n_classes - 1
                begins = np.cumsum([0, *sizes])[:-1] * n_classes
                cells = [
                    int(begin) + code * n_classes + label
                    for begin, code in zip(begins, codes, strict=True)
                ]
                yield KernelCase(
                    kernel=ClassHistograms(sizes=sizes, n_classes=n_classes),
                    given=record(sizes, codes, n_classes, label),
                    cells=dict.fromkeys(cells, 1),
                )


WIDE = [(n, 3) for n in BITS]
WIDE += [(1 << 16, (1 << 15) - 1), (1 << 16, 1 << 15), (1 << 16, 1 << 16), (1 << 23, 1 << 9, 3)]
WIDE += [(1 << 23, 1 << 23, 1 << 7), (1 << 16, 1 << 16, 1 << 16, 1 << 14), (1 << 22, 1 << 20, 1)]


def group_counts() -> Cases:
    for sizes in WIDE:
        for n_classes in (1, 2, 65_535):
            if prod(sizes) * n_classes > 1 << 62:
                continue
            places = tuple(np.arange(size, dtype=np.int32) for size in sizes)
            for codes in corners(sizes):
                key = 0
                for code, size in zip(codes, sizes, strict=True):
                    key = key * size + code
                key = key * n_classes + n_classes - 1
                yield KernelCase(
                    kernel=GroupCounts(places=places, n_ranges=sizes, n_classes=n_classes),
                    given=record(sizes, codes, n_classes, n_classes - 1),
                    cells={key: 1},
                )


def joint_counts() -> Cases:
    for n in BITS:
        sizes, n_classes = (n, 5, 7), 3
        places = tuple((np.arange(size, dtype=np.int32),) for size in (*sizes, n_classes))
        coarse = np.minimum(np.arange(n) // 100, 255).astype(np.int32)
        places = ((*places[0], coarse), *places[1:])
        tables = (((0, 0),), ((1, 0), (0, 0)), ((0, 1), (2, 0)), ((2, 0), (1, 0), (3, 0)))
        kernel = JointCounts(places=places, tables=tables)
        for codes in corners(sizes):
            values = [*codes, n_classes - 1]
            begin, cells = 0, []
            for table in tables:
                key = 0
                for a, level in table:
                    size = int(places[a][level].max()) + 1
                    key = key * size + int(places[a][level][values[a]])
                cells.append(begin + key)
                begin += prod(int(places[a][level].max()) + 1 for a, level in table)
            yield KernelCase(
                kernel=kernel,
                given=record(sizes, codes, n_classes, n_classes - 1),
                cells=dict.fromkeys(cells, 1),
            )


def row_keys() -> Cases:
    for sizes in WIDE:
        for codes in corners(sizes):
            rows = prod(sizes)
            for n_classes in (1, 65_535):
                if rows * n_classes > 1 << 62:
                    continue
                key = 0
                for code, size in zip(codes, sizes, strict=True):
                    key = key * size + code
                yield KernelCase(
                    kernel=RowKeys(
                        stages=(), sizes=sizes, start=0, stop=len(sizes), n_classes=n_classes
                    ),
                    given=record(sizes, codes, n_classes, n_classes - 1),
                    cells={key * n_classes + n_classes - 1: 1},
                )
    sizes = (1 << 16, 1 << 24)
    known = np.array([5, (1 << 16) - 1], dtype=np.int64)
    yield KernelCase(
        kernel=RowKeys(
            stages=(_Stage(start=0, stop=1, width=1 << 16, known=known),),
            sizes=sizes,
            start=1,
            stop=2,
            n_classes=65_535,
        ),
        given=record(sizes, [(1 << 16) - 1, (1 << 24) - 1], 65_535, 65_534),
        cells={((1 << 24) + (1 << 24) - 1) * 65_535 + 65_534: 1},
    )


def pair_counts() -> Cases:
    for n_classes in (1, 2, 1023, 1024, 1025, *BITS[6:], 65_535):
        sizes = (3, 32, 2) if n_classes < 2000 else (2, 32)
        layout = PairLayout(sizes=sizes, n_classes=n_classes)
        kernel = PairCounts(
            layout=layout, places=tuple(np.arange(size, dtype=np.int16) for size in sizes)
        )
        for codes in corners(sizes):
            cells = {
                int(start) + (codes[a] * sizes[b] + codes[b]) * n_classes + n_classes - 1: 1
                for (a, b), start in zip(layout.pairs, layout.starts, strict=False)
            }
            given = record(sizes, codes, n_classes, n_classes - 1)
            yield KernelCase(kernel=kernel, given=given, cells=cells)


def leaf_counts() -> Cases:
    for n in BITS:
        tree = ClassTree(  # first by attribute 0 at its last code, then by attribute 1 at 2
            attribute=np.array([0, -1, 1, -1, -1]),
            border=np.array([n - 1, 0, 2, 0, 0]),
            left=np.array([1, 0, 3, 0, 0]),
            leaf=np.array([-1, 0, -1, 1, 2]),
        )
        for n_classes in (1, 2, n):
            for codes, leaf in (([0, 3], 0), ([n - 1, 1], 1), ([n - 1, 3], 2)):
                yield KernelCase(
                    kernel=LeafCounts(tree=tree, n_classes=n_classes),
                    given=record((n, 4), codes, n_classes, n_classes - 1),
                    cells={leaf * n_classes + n_classes - 1: 1},
                )


def items_of(n_items: int, items: list[int]) -> tuple[Any, Any]:
    return np.array([0, len(items)]), np.array(items, dtype=item_dtype(n_items))


def split_counts() -> Cases:
    for n_items in BITS[6:]:
        for n_partitions in (1, 300, 70_000):
            for n_children in (2, 20):
                width = -(-n_items // n_children)
                slots = np.arange(n_items, dtype=np.int64) // width
                kernel = SplitCounts(
                    first=np.zeros(n_partitions, dtype=np.int32),
                    stop=np.full(n_partitions, n_items, dtype=np.int32),
                    depth=np.zeros(n_partitions, dtype=np.int32),
                    slots=slots.astype(np.uint8)[None, :],
                    bits=n_children,
                )
                items = [0, n_items // 2, n_items - 1]
                mask = sum({1 << int(slots[item]) for item in items})
                offsets, codes = items_of(n_items, items)

                def batch(
                    compiled: bool,
                    offsets: Any = offsets,
                    codes: Any = codes,
                    last: int = n_partitions - 1,
                ) -> BasketBatch:
                    return BasketBatch(
                        offsets=offsets,
                        items=codes,
                        partition=np.array([last], dtype=np.int32),
                        weights=np.array([HEAVY]),
                        compiled=compiled,
                    )

                key = ((n_partitions - 1) << n_children) | mask
                yield KernelCase(kernel=kernel, given=batch, cells={key: HEAVY})


def folded(n_items: int, items: list[int], weight: int) -> Callable[[bool], FoldedBaskets]:
    offsets, codes = items_of(n_items, items)
    return lambda _: FoldedBaskets(
        offsets=offsets,
        items=codes,
        weights=np.array([weight]),
        hashes=hashed(offsets, codes),
    )


EDGES = np.array([0, 1, 2, 5, 100])
N_TOP = 400  # the most frequent items that coterie counts pairs of


def _ranked(n_items: int) -> tuple[Any, list[int]]:
    """Return ranks of the last items of a universe, and a record that holds some of them."""
    rank = np.full(n_items, -1, dtype=np.int32)
    n_top = min(N_TOP, n_items // 2)
    rank[n_items - n_top :] = np.arange(n_top)
    return rank, [0, n_items - n_top, n_items - 2, n_items - 1]


def length_bins() -> Cases:
    for n in BITS:
        yield KernelCase(
            kernel=LengthBins(edges=EDGES),
            given=folded(n, list(range(n)), HEAVY),
            cells={4: HEAVY},
        )


def ranked_length_bins() -> Cases:
    for n in BITS:
        rank, items = _ranked(n)
        kernel = RankedLengthBins(edges=EDGES, rank=rank)
        yield KernelCase(kernel=kernel, given=folded(n, items, HEAVY), cells={2: HEAVY})


def other_length_bins() -> Cases:
    for n in BITS:
        rank, items = _ranked(n)
        classes = np.array([0, 0, 1, 1, 2])
        kernel = OtherLengthBins(edges=EDGES, rank=rank, classes=classes)
        yield KernelCase(kernel=kernel, given=folded(n, items, HEAVY), cells={5 + 1: HEAVY})


def core_masks() -> Cases:
    for n in BITS:
        core = np.array([n - 1, 0, n // 2, *range(1, 15)])
        kernel = CoreMasks(core=core, n_items=n)
        given = folded(n, sorted([n - 1, n // 2, 14]), HEAVY)
        yield KernelCase(kernel=kernel, given=given, cells={0b101 | 1 << 16: HEAVY})


def capped_items() -> Cases:
    for n in BITS:
        items = [0, n // 2, n - 1]
        kernel = CappedItems(n_items=n, cap=3, key=7)
        given = folded(n, items, HEAVY)
        yield KernelCase(kernel=kernel, given=given, cells=dict.fromkeys(items, HEAVY))
        above = dict.fromkeys([n + item for item in items], 1)
        kernel = CappedItems(n_items=n, cap=2, key=7)
        yield KernelCase(kernel=kernel, given=folded(n, items, 1), cells=above, lots=2)


def capped_pairs() -> Cases:
    for n in BITS:
        rank, items = _ranked(n)
        n_top = int(rank.max()) + 1
        order = {pair: i for i, pair in enumerate(zip(*np.triu_indices(n_top, 1), strict=True))}
        held = [int(rank[item]) for item in items if rank[item] >= 0]
        pairs = [order[a, b] for i, a in enumerate(held) for b in held[i + 1 :]]
        given = {"rank": rank, "n_top": n_top, "key": 7}
        yield KernelCase(
            kernel=CappedPairs(**given, cap=3),
            given=folded(n, items, HEAVY),
            cells=dict.fromkeys(pairs, HEAVY),
        )
        above = dict.fromkeys([len(order) + pair for pair in pairs], 1)
        kernel = CappedPairs(**given, cap=2)
        yield KernelCase(kernel=kernel, given=folded(n, items, 1), cells=above, lots=2)


def sets_held() -> Cases:
    for n in BITS:
        rank, items = _ranked(n)
        n_top = int(rank.max()) + 1
        sets = ((0,), (0, n_top - 1), (n_top - 2, n_top - 1), (n_top - 1,), (1, 2))
        edges = np.arange(6)
        kernel = SetsHeld(edges=edges, rank=rank, n_top=n_top, sets=sets)
        yield KernelCase(kernel=kernel, given=folded(n, items, HEAVY), cells={4: HEAVY})


def capped_sets() -> Cases:
    for n in BITS:
        rank, items = _ranked(n)
        n_top = int(rank.max()) + 1
        sets = ((0,), (0, n_top - 1), (n_top - 2, n_top - 1), (n_top - 1,), (1, 2))
        given = {"rank": rank, "n_top": n_top, "sets": sets, "key": 7}
        cells = dict.fromkeys(range(4), HEAVY)
        yield KernelCase(
            kernel=CappedSets(**given, cap=4), given=folded(n, items, HEAVY), cells=cells
        )
        above = dict.fromkeys(range(5, 9), 1)
        kernel = CappedSets(**given, cap=2)
        yield KernelCase(kernel=kernel, given=folded(n, items, 1), cells=above, lots=2)


def sequence(n_items: int, items: list[int]) -> Callable[[bool], SequenceBatch]:
    offsets, codes = items_of(n_items, items)
    return lambda compiled: SequenceBatch(offsets=offsets, items=codes, compiled=compiled)


def prefix_counts() -> Cases:
    """Nodes far apart, each the last child of the one before: a sequence of the last item."""
    for n_items in (2, 64, *BITS[6:]):
        width = min(n_items, 64) + 1
        slots = (np.arange(n_items) % (width - 1)).astype(np.int32)[:, None]
        steps = ItemSteps(slots=slots, n_steps=np.ones(n_items, dtype=np.int32), width=width)
        last = int(slots[n_items - 1, 0])
        for nodes in ([0, 1], [0, 127, 128, 255, 256], [0, 32_767, 32_768, 65_535, 65_536]):
            tree = np.full(nodes[-1] * width, -1, dtype=np.int32)
            tree[np.array(nodes[:-1]) * width + last] = nodes[1:]
            for length, slot in ((len(nodes), last), (len(nodes) - 1, width - 1)):
                yield KernelCase(
                    kernel=PrefixCounts(steps=steps, tree=tree, first=nodes[-1], n_counted=1),
                    given=sequence(n_items, [n_items - 1] * length),
                    cells={slot: 1},
                )
        # The sequence leaves the first forest at its root's last child, and goes on in the second.
        roots = np.full(width, -1, dtype=np.int32)
        roots[last] = 1
        yield KernelCase(
            kernel=PrefixCounts(
                steps=steps,
                tree=np.full(width, -1, dtype=np.int32),
                first=0,
                n_counted=2,
                roots=roots,
                further=np.full(2 * width, -1, dtype=np.int32),
            ),
            given=sequence(n_items, [n_items - 1] * 2),
            cells={width + last: 1},
        )


def length_counts() -> Cases:
    least = np.array([0, 1, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536, 100_000])
    for at, length in enumerate(least[1:].tolist(), start=1):
        given = sequence(3, [2] * length)
        yield KernelCase(kernel=LengthCounts(least=least), given=given, cells={at: 1})


CASES: dict[type, Callable[[], Cases]] = {
    ClassHistograms: class_histograms,
    GroupCounts: group_counts,
    JointCounts: joint_counts,
    RowKeys: row_keys,
    PairCounts: pair_counts,
    LeafCounts: leaf_counts,
    SplitCounts: split_counts,
    LengthBins: length_bins,
    RankedLengthBins: ranked_length_bins,
    OtherLengthBins: other_length_bins,
    CoreMasks: core_masks,
    CappedItems: capped_items,
    CappedPairs: capped_pairs,
    SetsHeld: sets_held,
    CappedSets: capped_sets,
    PrefixCounts: prefix_counts,
    LengthCounts: length_counts,
}
