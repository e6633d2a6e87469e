"""The counts of a cut's groups: one pass over the data, with noise on all, empty or not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.kernels import GroupCounts
from hedgerow.errors import SettingError
from hedgerow.model.engine import Engine
from hedgerow.model.groups import CountOrigin, Groups, Ranges
from hedgerow.model.run import Run
from hedgerow.trees.projection import on_simplex

MOST_GROUPS = 1 << 62
"""Maximum number of groups, which have 64-bit numbers."""

MOST_ROWS = 20_000_000
"""Maximum expected number of rows of a release because of noise alone."""

DENSE_GROUPS = 1 << 16
"""Maximum number of groups whose noisy counts, including negative ones, are all projected."""

SPURIOUS_ROWS = 2_000_000
"""Maximum expected number of rows because of noise alone, if a threshold can be set."""


def group_kernel(ranges: tuple[Ranges, ...], engine: Engine) -> GroupCounts:
    """Return the kernel that counts the groups of a cut."""
    attributes = engine.schema.attributes
    sizes = [attribute.domain.size for attribute in attributes]
    classes = engine.schema.class_attribute
    return GroupCounts(
        places=tuple(
            each.partition_of(size) if len(each) > 1 else np.zeros(0, dtype=np.int32)
            for each, size in zip(ranges, sizes, strict=True)
        ),
        n_ranges=tuple(len(each) for each in ranges),
        n_classes=1 if classes is None else classes.domain.size,
    )


def expected_spurious(n_groups: int, *, epsilon: Fraction, threshold: int) -> float:
    """Return the mean number of empty groups that reach the threshold.

    >>> round(expected_spurious(1000, epsilon=Fraction(1), threshold=1))
    269
    """
    a = math.exp(-float(epsilon))
    return n_groups * a**threshold / (1 + a)


def public_threshold(n_groups: int, *, epsilon: Fraction) -> int:
    """Return the smallest count to list, from public numbers alone, at least 1."""
    excess = expected_spurious(n_groups, epsilon=epsilon, threshold=0) / SPURIOUS_ROWS
    return max(1, math.ceil(math.log(max(excess, 1.0)) / float(epsilon)))


def counts_fit(n_groups: int, *, epsilon: Fraction, keep_all: bool) -> bool:
    """Return whether a release of this number of groups can be numbered, drawn and written.

    ``keep_all`` keeps every positive count; otherwise a threshold bounds the rows.
    """
    if n_groups > MOST_GROUPS:
        return False
    return not keep_all or expected_spurious(n_groups, epsilon=epsilon, threshold=1) <= MOST_ROWS


def refuse_too_many(n_groups: int) -> None:
    """Raise because a release of this number of groups would be too large."""
    raise SettingError(
        f"The cut has about {float(n_groups):.1e} groups, too many to publish.",
        where="publish.h",
        do="Allow fewer specialisations, drop attributes, or use coarser grids.",
    )


def printed_groups(run: Run[Engine], ranges: tuple[Ranges, ...], *, share: Fraction) -> Groups:
    """Return the groups with noisy counts cut at zero [DiffGen, Alg. 1, line 12; Sec. 4.2].

    Privacy: costs ``share``; every group gets noise, empty ones included.
    """
    kernel = group_kernel(ranges, run.engine)
    tally = run.engine.tally(kernel)
    keys, noisy = run.noisy_above(
        tally.keys, tally.counts, n_groups=kernel.n_groups, threshold=1, share=share, on="counts"
    )
    origin = CountOrigin(share=share, threshold=1, lowered_by=None)
    return _groups_of_keys(keys, noisy, origin, kernel=kernel, ranges=ranges, engine=run.engine)


def noisy_groups(run: Run[Engine], ranges: tuple[Ranges, ...], *, total_share: Fraction) -> Groups:
    """Return the groups with noisy counts, projected on the simplex of a noisy total.

    The counts get all that the path has left after the total; if ``total_share`` is 0,
    the total is the sum of the noisy counts.

    Departs: cutting noisy counts at zero [DiffGen, Sec. 4.2] adds about one phantom
    record per empty group; the projection adds none.

    Privacy: costs what the path has left. Every group gets noise, empty ones included;
    threshold and projection use noisy counts only.
    """
    kernel = group_kernel(ranges, run.engine)
    tally = run.engine.tally(kernel)
    total = None
    if total_share:
        total = run.noisy_total(tally.counts, share=total_share, on="total")
    share = run.left()
    dense = kernel.n_groups <= DENSE_GROUPS
    threshold = None if dense else public_threshold(kernel.n_groups, epsilon=share)
    if threshold is None:
        keys = np.arange(kernel.n_groups, dtype=np.int64)
        everywhere = np.zeros(kernel.n_groups, dtype=np.int64)
        everywhere[tally.keys] = tally.counts
        noisy = run.noisy(everywhere, share=share, on="counts")
    else:
        keys, noisy = run.noisy_above(
            tally.keys,
            tally.counts,
            n_groups=kernel.n_groups,
            threshold=threshold,
            share=share,
            on="counts",
        )
    goal = int(noisy.sum()) if total is None else total
    counts, shift = on_simplex(noisy, goal, only_down=not dense, source=run.source)
    origin = CountOrigin(share=share, threshold=threshold, lowered_by=shift)
    return _groups_of_keys(keys, counts, origin, kernel=kernel, ranges=ranges, engine=run.engine)


def _groups_of_keys(
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    origin: CountOrigin,
    *,
    kernel: GroupCounts,
    ranges: tuple[Ranges, ...],
    engine: Engine,
) -> Groups:
    """Convert keys of groups into boxes and classes, without counts of zero."""
    kept = counts > 0
    keys = keys[kept]
    index = tuple(
        ((keys // stride) % n).astype(np.int32)
        for n, stride in zip(kernel.n_ranges, kernel.strides(), strict=True)
    )
    has_class = engine.schema.class_attribute is not None
    classes = (keys % kernel.n_classes).astype(np.int32) if has_class else None
    return Groups(
        ranges=ranges,
        index=index,
        classes=classes,
        counts=counts[kept],
        is_cut=True,
        origin=origin,
    )
