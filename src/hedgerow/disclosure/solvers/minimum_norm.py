"""The best node of any supermodular function, by the minimum-norm point of Fujishige and Wolfe.

Maximising a supermodular ``g`` is minimising the submodular ``F = g(∅) - g`` on sets of steps.
Vectors whose sum is at most ``F(X)`` on any set ``X`` and all of ``F`` on the full set form its
base polytope; the negative coordinates of the point nearest to the origin are a minimiser of
``F``, and for *every* point ``x`` of the polytope ``Σ min(x_v, 0)`` is a lower bound on ``F``
[Fujishige05]. Wolfe's algorithm reaches that point over vertices, which one sorted pass finds.

Two measures keep it right where a plain version goes wrong (it fails near 300 steps): the nearest
point of a set of vertices is a least-squares solution of an updated QR factorisation, not of
normal equations, which square the condition number; and the answer does not rely on the
signs of coordinates near 0. Every set that a sorted pass visits is a candidate, the best one is
kept, and the bound limits its distance from the optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.disclosure.lattice.lattice import Node
from hedgerow.disclosure.solvers.ring_family import Extension, RingFamily, SetFunction
from hedgerow.errors import InternalError, MissingExtraError
from hedgerow.model.arrays import Floats, Ints

TINY = 1e-12
"""Relative weight below which a vertex is dropped."""

REFRESH_EVERY = 50
"""Number of updates after which the factorisation is recomputed."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SupermodularOptimum:
    """The best node found; none is better by more than ``gap``. Confidential."""

    node: Node
    value: float
    gap: float
    n_steps: int


def maximise_supermodular(
    values: SetFunction,
    heights: Sequence[int],
    *,
    extension: Extension = "marginals",
    tolerance: float = 1e-9,
    whole: bool = False,
    most_steps: int | None = None,
) -> SupermodularOptimum:
    """Return the best node of a supermodular function on a product of chains.

    ``values`` gives the function at many nodes, one row of levels each. The walk ends when
    no node can be better by more than ``tolerance`` times the size of the values; with
    ``whole`` (integer) values, as soon as none can be better by 1, which is then exact. It also
    ends when rounding prevents progress: check ``gap``.

    >>> nodes_in_common = lambda x: (x.min(axis=1) * 2 - x.sum(axis=1)).astype(float)
    >>> optimum = maximise_supermodular(nodes_in_common, (3, 3), whole=True)
    >>> optimum.value
    0.0
    """
    walk = _Walk(RingFamily(values, heights, extension=extension))
    limit = 50 * len(walk.family) + 100 if most_steps is None else most_steps
    for _ in range(limit):
        enough = max(tolerance * walk.size, (1 - 1e-6) * whole)
        if walk.gap <= enough or not walk.step():
            break
    return SupermodularOptimum(
        node=walk.node, value=walk.value, gap=max(walk.gap, 0.0), n_steps=walk.n_steps
    )


class _Walk:
    """Wolfe's algorithm, with the best node and the best bound so far."""

    def __init__(self, family: RingFamily) -> None:
        self.family = family
        self.n_steps = 0
        self.node: Node = (0,) * len(family.heights)
        self.value = -np.inf
        self.bound = np.inf
        self.bottom_value, self.size = 0.0, 0.0
        self.point = self._vertex(np.zeros(len(family)))
        self.corral = _Corral(self.point, scale=self.size)
        self._note_bound()

    @property
    def gap(self) -> float:
        """Upper bound on how much better another node can be."""
        return self.bound - self.value

    def _vertex(self, point: Floats) -> Floats:
        """Return the vertex with the smallest product with a point, by one sorted pass."""
        order: Ints = np.argsort(point, kind="stable")
        nodes, values, extended = self.family.along(order)
        best = int(np.argmax(values))
        if values[best] > self.value:
            self.value = float(values[best])
            self.node = tuple(int(level) for level in nodes[best])
        self.bottom_value = float(values[0])
        self.size = max(self.size, float(np.abs(values).max()))
        vertex = np.empty(len(self.family))
        vertex[order] = extended[:-1] - extended[1:]
        return vertex

    def _note_bound(self) -> None:
        bound = self.bottom_value - float(np.minimum(self.point, 0.0).sum())
        self.bound = min(self.bound, bound)

    def step(self) -> bool:
        """Add one vertex and go to the nearest point; return whether that made progress."""
        vertex = self._vertex(self.point)
        self.n_steps += 1
        if self.point @ (self.point - vertex) <= 1e-15 * self.size**2:
            self._note_bound()
            return False
        norm = float(np.linalg.norm(self.point))
        if not self.corral.add(vertex):
            return False
        self.corral.settle()
        self.point = self.corral.point()
        self._note_bound()
        return float(np.linalg.norm(self.point)) < norm


class _Corral:
    """Vertices in general position, and the weights of a point of their convex hull.

    The nearest point of their affine hull to the origin has weights proportional to the
    least-squares solution of ``A v = e_0``, where ``A`` is the matrix of vertices under a
    row of ones; ``A`` is kept as a QR factorisation, updated column by column.
    """

    def __init__(self, vertex: Floats, *, scale: float) -> None:
        self.linalg = _linalg()
        self.scale = max(float(np.linalg.norm(vertex)), scale) or 1.0
        self.columns = np.append(1.0, vertex / self.scale)[:, None]
        self.weights = np.ones(1)
        self._refresh()

    def _refresh(self) -> None:
        self.q, self.r = self.linalg.qr(self.columns, mode="economic")
        self.n_updates = 0

    def point(self) -> Floats:
        """Return the point with these weights."""
        return np.asarray(self.columns[1:] @ self.weights * self.scale)

    def add(self, vertex: Floats) -> bool:
        """Add a vertex with weight 0, unless it lies in the affine hull of the others."""
        column = np.append(1.0, vertex / self.scale)
        n = self.columns.shape[1]
        if n == len(column):
            return False
        q, r = self.linalg.qr_insert(self.q, self.r, column, n, which="col")
        if abs(r[n, n]) <= TINY * float(np.linalg.norm(column)):
            return False
        self.q, self.r = q, r
        self.columns = np.hstack([self.columns, column[:, None]])
        self.weights = np.append(self.weights, 0.0)
        self._updated()
        return True

    def _updated(self) -> None:
        self.n_updates += 1
        if self.n_updates >= REFRESH_EVERY:
            self._refresh()

    def _drop(self, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        for place in np.flatnonzero(~kept)[::-1]:
            self.q, self.r = self.linalg.qr_delete(self.q, self.r, int(place), which="col")
            self.columns = np.delete(self.columns, place, axis=1)
            self._updated()
        self.weights = self.weights[kept] / self.weights[kept].sum()

    def settle(self) -> None:
        """Go to the nearest point of the convex hull, dropping vertices that block the way."""
        for _ in range(self.columns.shape[1] + 1):
            solution = self.linalg.solve_triangular(self.r, self.q[0])
            nearest = solution / solution.sum()
            if (nearest >= -TINY).all():
                self.weights = np.maximum(nearest, 0.0)
                kept = self.weights > TINY
                if not kept.all():
                    self._drop(kept)
                self.weights = self.weights / self.weights.sum()
                return
            # Move towards it until the first weight falls to 0.
            falling = np.flatnonzero(nearest < -TINY)
            reach = self.weights[falling] / (self.weights[falling] - nearest[falling])
            first = falling[int(np.argmin(reach))]
            self.weights += float(reach.min()) * (nearest - self.weights)
            self.weights[first] = 0.0
            self._drop(self.weights > TINY)
        raise InternalError("A corral of vertices did not settle.")


def _linalg() -> Any:
    try:
        from scipy import linalg
    except ModuleNotFoundError:
        raise MissingExtraError("The minimum-norm point", extra="disclose") from None
    return linalg
