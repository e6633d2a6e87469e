"""Budgets as exact fractions, and the path ledger on which every mechanism call is booked.

A release grows a tree of boxes. Children split the records of their parent, so one record is read
by the mechanisms of one path only, from the root to a leaf. If no path spends more than epsilon,
the whole release is epsilon-differentially private: the *path ledger* (docs/privacy.md, "Path
ledger"). The other half is up to the callers: every decision, the size of a share included, may
depend on the earlier answers of mechanisms and on nothing else of the data.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError, OverdraftError, SettingError

MAX_EPSILON = Fraction(50)
MIN_EPSILON = Fraction(1, 10**9)

_MAX_DENOMINATOR = 10**30
_MAX_TEXT = 60
_NUMBER = re.compile(
    # Longer exponents are refused: the fraction of 1e999999999 would fill the memory.
    r"[+-]?(?:\d+\s*/\s*\d+|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?)",
    re.ASCII | re.IGNORECASE,
)
_ALLOWED = "a number from 1e-9 to 50, such as 1, 0.5 or '1/2'"

EpsilonLike = int | float | str | Decimal | Fraction


def parse_epsilon(value: EpsilonLike, *, where: str = "epsilon") -> Fraction:
    """Return ``value`` as the exact fraction that was meant.

    A float counts as its shortest decimal text, so 0.1 is one tenth. At an epsilon above 50 one
    record may change the odds of a release by a factor of e**50, which is no protection, so it is
    refused; below 1e-9 the noise hides any table.

    >>> parse_epsilon(0.1), parse_epsilon("1/2")
    (Fraction(1, 10), Fraction(1, 2))
    """
    exact = _exact(value, where)
    if exact <= 0:
        raise SettingError.out_of_range(where, _shown(value), _ALLOWED)
    if exact > MAX_EPSILON:
        raise SettingError(
            f"{_shown(value)} is too large: above {MAX_EPSILON} nothing is protected.",
            where=where,
            do=f"Give {_ALLOWED}.",
        )
    if exact < MIN_EPSILON:
        raise SettingError(
            f"{_shown(value)} is too small: the noise would hide any table.",
            where=where,
            do=f"Give {_ALLOWED}.",
        )
    if exact.denominator > _MAX_DENOMINATOR:
        raise SettingError(
            f"{_shown(value)} has too many digits.",
            where=where,
            do="Give at most 30 decimal places, or a fraction of small numbers.",
        )
    return exact


def parse_delta(value: EpsilonLike, *, where: str = "delta") -> Fraction:
    """Return ``value``, from 0 to below 1, as the exact fraction that was meant.

    >>> parse_delta("1e-6"), parse_delta(0)
    (Fraction(1, 1000000), Fraction(0, 1))
    """
    allowed = "a number from 0 to below 1, such as 1e-6"
    exact = _exact(value, where, allowed)
    if not 0 <= exact < 1:
        raise SettingError.out_of_range(where, _shown(value), allowed)
    if exact.denominator > _MAX_DENOMINATOR:
        raise SettingError(
            f"{_shown(value)} has too many digits.",
            where=where,
            do="Give at most 30 decimal places, or a fraction of small numbers.",
        )
    return exact


def epsilon_text(value: Fraction) -> str:
    """Return ``value`` as text: the exact fraction and a decimal.

    >>> epsilon_text(Fraction(1, 20)), epsilon_text(Fraction(1, 3)), epsilon_text(Fraction(4))
    ('1/20 (0.05)', '1/3 (about 0.3333)', '4')
    """
    if value.denominator == 1:
        return str(value)
    short = f"{float(value):.6g}"
    exact = Fraction(short) == value
    return f"{value} ({short})" if exact else f"{value} (about {float(value):.4g})"


def delta_text(value: Fraction) -> str:
    """Return a delta as a short decimal that is not below it.

    >>> delta_text(Fraction(1, 10**6)), delta_text(Fraction(1, 3)), delta_text(Fraction(0))
    ('1e-06', '0.334', '0')
    """
    return upward_text(value)


def upward_text(value: Fraction | float, *, digits: int = 3) -> str:
    """Return a number as a short decimal that is not below it, for use as a bound.

    >>> upward_text(Fraction(2, 3)), upward_text(0.25), upward_text(Fraction(10**9 + 1), digits=2)
    ('0.667', '0.25', '1.1e+09')
    """
    exact = Fraction(value)
    short = f"{float(exact):.{digits}g}"
    if exact == 0 or Fraction(short) >= exact:
        return short
    step = Decimal(1).scaleb(Decimal(short).adjusted() - digits + 1)
    return f"{float(Decimal(short) + step):.{digits}g}"


def round_down(share: Fraction) -> float:
    """Return the largest float that is not above ``share``.

    The only place where a share becomes a float: a mechanism that computes in floats may get a
    little less than was booked, but never more.
    """
    nearest = float(share)
    return math.nextafter(nearest, -math.inf) if Fraction(nearest) > share else nearest


@dataclass(frozen=True, kw_only=True)
class Booking:
    """A line of the certificate: the purpose, the share and the level at which it was spent.

    ``level`` is the depth of the boxes in the tree (the whole table is level 0), ``times`` the
    number of boxes of that level that spent the share.
    """

    on: str
    share: Fraction
    level: int
    times: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Shares(Sequence[Fraction]):
    """One share per box, in the order of the boxes.

    Equal shares are stored once: box ``i`` has ``values[which[i]]``.
    """

    values: tuple[Fraction, ...]
    which: NDArray[np.int64]

    def __post_init__(self) -> None:
        self.which.flags.writeable = False

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, at: int) -> Fraction: ...
    @overload
    def __getitem__(self, at: slice) -> Shares: ...
    def __getitem__(self, at: int | slice) -> Fraction | Shares:
        if isinstance(at, slice):
            return Shares(values=self.values, which=self.which[at])
        return self.values[int(self.which[at])]

    def groups(self) -> Iterator[tuple[Fraction, NDArray[np.int64]]]:
        """Yield every distinct share with the positions that hold it, for one draw each."""
        for position, value in enumerate(self.values):
            yield value, np.flatnonzero(self.which == position)


class PathLedger:
    """A budget that no path from the root to a leaf can overdraw.

    Boxes are nodes numbered from 0, the root, which is the whole table. The spending of a path is
    kept as an index into the few distinct sums, so that one booking on hundreds of thousands of
    boxes is a handful of array operations.

    Privacy: neighbours differ in one record. Shares of one path add up (sequential
    composition), shares of boxes that hold no record in common do not (parallel
    composition); the release costs ``worst_path()``, which is never above ``epsilon``.

    >>> ledger = PathLedger(Fraction(1))
    >>> share = ledger.spend(Fraction(1, 4), on="specialisation 1")
    >>> halves = ledger.branch(0, 2)
    >>> list(ledger.spend_rest(on="counts", nodes=halves))
    [Fraction(3, 4), Fraction(3, 4)]
    >>> ledger.settled()
    True
    """

    def __init__(self, epsilon: Fraction) -> None:
        self.epsilon = _share(epsilon)
        self._sums = [Fraction(0)]
        self._position = {Fraction(0): 0}
        self._n_nodes = 1
        self._spent = np.zeros(16, dtype=np.int64)  # a position in _sums for every node
        self._level = np.zeros(16, dtype=np.int32)
        self._branched = np.zeros(16, dtype=np.bool_)
        self._lines: dict[tuple[str, Fraction, int], int] = {}

    def __repr__(self) -> str:
        return f"PathLedger({self.epsilon}: {self._n_nodes} nodes, worst path {self.worst_path()})"

    @property
    def n_nodes(self) -> int:
        """Number of boxes so far, the root included."""
        return self._n_nodes

    @property
    def bookings(self) -> tuple[Booking, ...]:
        """Return everything spent so far, in the order of first spending, equal lines summed."""
        return tuple(
            Booking(on=on, share=share, level=level, times=times)
            for (on, share, level), times in self._lines.items()
        )

    def branch(
        self, parents: NDArray[np.int64] | int, counts: NDArray[np.int64] | int
    ) -> NDArray[np.int64]:
        """Return new nodes that split the records of ``parents``, in their order.

        ``counts`` is the number of children of each parent. Children inherit the spending of their
        parent's path; the parent can spend nothing more.
        """
        boxes = self._leaves(parents)
        children = np.asarray(counts)
        if not np.issubdtype(children.dtype, np.integer) or (children < 1).any():
            raise InternalError("A branched box needs at least one child.")
        children = np.broadcast_to(children, boxes.shape)
        first, stop = self._n_nodes, self._n_nodes + int(children.sum())
        self._reserve(stop)
        self._spent[first:stop] = np.repeat(self._spent[boxes], children)
        self._level[first:stop] = np.repeat(self._level[boxes] + 1, children)
        self._branched[boxes] = True
        self._n_nodes = stop
        return np.arange(first, stop, dtype=np.int64)

    def spend(self, share: Fraction, *, on: str, nodes: NDArray[np.int64] | int = 0) -> Fraction:
        """Book ``share`` on every one of ``nodes`` and return it, or book nothing.

        Raises ``OverdraftError`` if any of the paths has less left.

        Privacy: the nodes are leaves, so they have no record in common, and a mechanism
        that runs on each of them at ``share`` costs every path ``share``.
        """
        share = _share(share)
        boxes = self._leaves(nodes)
        before, which = np.unique(self._spent[boxes], return_inverse=True)
        after = [self._sums[position] + share for position in before]
        if after and max(after) > self.epsilon:
            raise self._overdraft(on, needed=str(share), left=self.epsilon + share - max(after))
        self._book(on, boxes, which, shares=[share] * len(after), after=after)
        return share

    @overload
    def spend_rest(self, *, on: str, nodes: int = 0) -> Fraction: ...
    @overload
    def spend_rest(self, *, on: str, nodes: NDArray[np.int64]) -> Shares: ...
    def spend_rest(self, *, on: str, nodes: NDArray[np.int64] | int = 0) -> Fraction | Shares:
        """Book everything that the paths of ``nodes`` have left and return it for each of them.

        One node gives one fraction, an array of nodes gives their ``Shares``. A path with nothing
        left raises ``OverdraftError``: no mechanism could run.
        """
        boxes = self._leaves(nodes)
        shares = self._left(boxes)
        if not all(shares.values):
            raise self._overdraft(on, needed="the rest", left=Fraction(0))
        after = [self.epsilon] * len(shares.values)
        self._book(on, boxes, shares.which, shares=shares.values, after=after)
        return shares if isinstance(nodes, np.ndarray) else shares[0]

    @overload
    def left(self, nodes: int = 0) -> Fraction: ...
    @overload
    def left(self, nodes: NDArray[np.int64]) -> Shares: ...
    def left(self, nodes: NDArray[np.int64] | int = 0) -> Fraction | Shares:
        """Return what the paths of ``nodes`` (leaves) have left; book nothing."""
        shares = self._left(self._leaves(nodes))
        return shares if isinstance(nodes, np.ndarray) else shares[0]

    def worst_path(self) -> Fraction:
        """Return the largest spending of any path: the cost of the release so far."""
        return max(self._leaf_sums())

    def settled(self) -> bool:
        """Return whether every path has spent exactly ``epsilon``."""
        return all(total == self.epsilon for total in self._leaf_sums())

    def _leaf_sums(self) -> list[Fraction]:
        leaves = ~self._branched[: self._n_nodes]
        return [self._sums[at] for at in np.unique(self._spent[: self._n_nodes][leaves])]

    def _left(self, boxes: NDArray[np.int64]) -> Shares:
        before, which = np.unique(self._spent[boxes], return_inverse=True)
        values = tuple(self.epsilon - self._sums[position] for position in before)
        return Shares(values=values, which=which)

    def _leaves(self, nodes: NDArray[np.int64] | int) -> NDArray[np.int64]:
        """Return ``nodes`` as an array, after checking that they are distinct leaves."""
        boxes = np.atleast_1d(np.asarray(nodes))
        if boxes.ndim != 1 or not (np.issubdtype(boxes.dtype, np.integer) or boxes.size == 0):
            raise InternalError("Boxes are numbered by whole numbers, in one dimension.")
        boxes = boxes.astype(np.int64, copy=False)
        if boxes.size and (boxes.min() < 0 or boxes.max() >= self._n_nodes):
            raise InternalError("A box is not known to the path ledger.")
        if not (np.diff(boxes) > 0).all() and np.unique(boxes).size != boxes.size:
            raise InternalError("A box occurs twice in one booking.")
        if self._branched[boxes].any():
            raise InternalError("A branched box has passed its records on to its children.")
        return boxes

    def _book(
        self,
        on: str,
        boxes: NDArray[np.int64],
        which: NDArray[np.int64],
        *,
        shares: Sequence[Fraction],
        after: Sequence[Fraction],
    ) -> None:
        """Record a booking: ``shares`` and ``after`` per distinct sum, ``which`` per box."""
        positions = np.array([self._sum_position(total) for total in after], dtype=np.int64)
        if boxes.size == 0:
            return
        self._spent[boxes] = positions[which]
        levels = self._level[boxes].astype(np.int64)
        width = int(levels.max()) + 1
        keys, times = np.unique(which * width + levels, return_counts=True)
        for key, n in zip(keys.tolist(), times.tolist(), strict=True):
            line = (on, shares[key // width], key % width)
            self._lines[line] = self._lines.get(line, 0) + n

    def _sum_position(self, total: Fraction) -> int:
        if total not in self._position:
            self._position[total] = len(self._sums)
            self._sums.append(total)
        return self._position[total]

    def _reserve(self, n: int) -> None:
        """Make room for ``n`` nodes; doubling keeps growth one by one linear."""
        if n <= self._spent.size:
            return
        more = max(n, 2 * self._spent.size) - self._spent.size
        self._spent = np.pad(self._spent, (0, more))
        self._level = np.pad(self._level, (0, more))
        self._branched = np.pad(self._branched, (0, more))

    def _overdraft(self, on: str, *, needed: str, left: Fraction) -> OverdraftError:
        return OverdraftError(
            f"{on!r} needs {needed}, but a path has only {left} of {self.epsilon} left.",
            where="budget",
            do="Give the steps smaller shares, or the release a larger epsilon.",
        )


def _share(value: object) -> Fraction:
    """Return ``value`` if it can be booked; a float would spoil the sums of its path."""
    if not isinstance(value, Fraction) or value <= 0:
        raise InternalError("A share of the budget is not a fraction above 0.")
    return value


def _exact(value: EpsilonLike, where: str, allowed: str = _ALLOWED) -> Fraction:
    if isinstance(value, bool | np.bool_) or not isinstance(value, str | numbers.Number):
        kind = type(value).__name__
        raise SettingError(f"The {kind} is not a number.", where=where, do=f"Give {allowed}.")
    if isinstance(value, numbers.Rational):
        return Fraction(value)
    text = str(value).strip()
    try:
        if len(text) <= _MAX_TEXT and _NUMBER.fullmatch(text):
            return Fraction("".join(text.split()))
    except ZeroDivisionError:
        pass
    raise SettingError(
        f"{_shown(value)} is not a usable number.", where=where, do=f"Give {allowed}."
    )


def _shown(value: object) -> str:
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except ValueError:  # Python prints no integer of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:37]}..."
