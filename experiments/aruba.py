"""[ARUBA, Figs. 7 and 9]: what searches cost, and risk beside k-anonymous tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from experiments.aruba_branching import heuristic_branch_and_bound
from experiments.figure import FigurePoint, Scene, Unit
from experiments.item_table import ItemTable, ModelNumber, item_table
from hedgerow.disclosure.lattice.lattice import Node
from hedgerow.disclosure.lattice.matches import row_keys
from hedgerow.disclosure.lattice.threshold import MinimiseRisk, RecordLandscape
from hedgerow.disclosure.solvers.aruba import aruba
from hedgerow.disclosure.solvers.branch_and_bound import branch_and_bound
from hedgerow.disclosure.solvers.btda import btda
from hedgerow.disclosure.solvers.climb import Climb

ARUBA, SQUARES, BTDA = "ARUBA", "ARUBA, k² + k moves", "BTDA"
HEURISTIC, EXACT = "branch and bound, heuristic", "branch and bound, exact"

SEARCHES: dict[str, Callable[[Climb], Node | None]] = {
    ARUBA: partial(aruba, moves="cube"),
    SQUARES: aruba,
    BTDA: btda,
    HEURISTIC: heuristic_branch_and_bound,
    EXACT: branch_and_bound,
}
"""The searches of the paper by its names, and two of ours beside them.

ARUBA is as printed, with the adjacency cube of Def. 10; the branch and bound of the paper is a
heuristic, which prints no bound, and ours is exact.
"""

SHARES = tuple(c / 250 for c in range(30, 241, 30))
"""The printed thresholds, 30 to 240, as parts of the utility of a record, which was about 250."""

ANONYMITY_ATTRIBUTES = 6
RECORDS = 60
SUPPRESSED = 0.02
"""The share of the records that a k-anonymous table may leave out."""

ROUNDING = 1e-9
"""What is taken off a share, so that no record misses its own utility by rounding."""

TABLES = 10
"""k-anonymous tables for each k."""

MODELS: tuple[ModelNumber, ...] = (1, 2, 3)


def frontier_share(landscape: RecordLandscape, at_least: float) -> float:
    """Return the percentage of frontier nodes: feasible, with a generalisation that is not.

    [ARUBA, Def. 9].
    """
    feasible = landscape.utilities() >= at_least
    frontier = np.zeros(feasible.shape, dtype=np.bool_)
    for axis, size in enumerate(feasible.shape):
        if size > 1:
            here = [slice(None)] * feasible.ndim
            above = list(here)
            here[axis], above[axis] = slice(0, -1), slice(1, None)
            frontier[tuple(here)] |= feasible[tuple(here)] & ~feasible[tuple(above)]
    return 100 * float(frontier.mean())


def searches(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return frontier, CPU time and visited nodes of a few records [Fig. 7]."""
    k, share = unit["attributes"], unit["share"]
    items = item_table(scene, k, unit.run)
    by_share = unit["by"] == "threshold"
    x = 100 * share if by_share else k
    records = items.sample(scene.pick(full=4, quick=1), unit.rng)
    points = []
    for record in records.tolist():
        landscape = items.landscape(record)
        if by_share:
            most = landscape.utility(landscape.lattice.bottom)
            found = frontier_share(landscape, share * most)
            points.append(FigurePoint("(a) frontier", "frontier nodes", x, found))
        for name, search in SEARCHES.items():
            start = time.process_time()
            climb = Climb(landscape, MinimiseRisk(at_least=share, of_most=True))
            answer = climb.answer(search(climb))
            milliseconds = 1e3 * (time.process_time() - start)
            if by_share:
                points.append(FigurePoint("(b) time", name, x, milliseconds))
            else:
                points.append(FigurePoint("(c) time", name, x, milliseconds))
                points.append(FigurePoint("(d) visited", name, x, answer.n_visited))
    return points


def beside_k_anonymity(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return mean risks of optimal disclosure and of k-anonymous tables [Fig. 9]."""
    k = unit["k"]
    items = item_table(scene, ANONYMITY_ATTRIBUTES, unit.run)
    records = items.sample(scene.pick(full=RECORDS, quick=10), unit.rng)
    vectors = random_anonymous_vectors(items, k, scene.pick(full=TABLES, quick=2), unit.rng)
    points = []
    by_model = zip(*(items.landscapes(record, MODELS) for record in records.tolist()), strict=True)
    for model, landscapes in zip(MODELS, by_model, strict=True):
        most = float(np.mean([each.utility(each.lattice.bottom) for each in landscapes]))
        told = [_of_vector(landscapes, vector, k) for vector in vectors]
        utility, risk = np.mean(told, axis=0).tolist()
        panel = f"risk model {model}"
        points.append(FigurePoint(panel, "k-anonymity", k, risk))
        for name in (SQUARES, HEURISTIC, EXACT):
            share = utility / most - ROUNDING
            line = ARUBA if name == SQUARES else name  # the same form, found sooner
            points.append(
                FigurePoint(panel, line, k, _mean_risk(landscapes, share, SEARCHES[name]))
            )
        if model == 1:
            points.append(FigurePoint("utility", "k-anonymity", k, utility))
    return points


def _of_vector(
    landscapes: Sequence[RecordLandscape], vector: NDArray[np.int64], k: int
) -> tuple[float, float]:
    """Return mean utility and mean risk of records that are all generalised alike.

    A record that fewer than ``k`` fit is suppressed: its node says nothing.
    """
    nodes = []
    for each in landscapes:
        node = tuple(int(level) for level in np.minimum(vector, each.lattice.heights))
        nodes.append(node if each.counter.count(node) >= k else each.lattice.top)
    told = [
        (each.utility(node), each.risk(node)) for each, node in zip(landscapes, nodes, strict=True)
    ]
    utility, risk = np.mean(told, axis=0).tolist()
    return utility, risk


def _mean_risk(
    landscapes: Sequence[RecordLandscape], share: float, search: Callable[[Climb], Node | None]
) -> float:
    """Return the mean of the risks that a search finds at this share of each record's utility."""
    objective = MinimiseRisk(at_least=share, of_most=True)
    climbs = [Climb(each, objective) for each in landscapes]
    return float(np.mean([climb.answer(search(climb)).risk for climb in climbs]))


def random_anonymous_vectors(
    items: ItemTable, k: int, n: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return random full-domain generalisations of the whole table that are k-anonymous.

    Levels are raised one by one in a random order until all records but a few are in groups
    of ``k``: the paper's "arbitrary k-anonymity rules".
    """
    tallest = [chain.tallest for chain in items.dictionary.chains]
    steps = np.repeat(np.arange(len(tallest)), tallest)
    found = []
    for _ in range(n):
        order = rng.permutation(steps)
        low, high = 0, len(order)  # groups only merge, so that the first that holds is found
        while low < high:
            middle = (low + high) // 2
            vector = np.bincount(order[:middle], minlength=len(tallest))
            if _share_in_small_groups(items, vector, k) <= SUPPRESSED:
                high = middle
            else:
                low = middle + 1
        found.append(np.bincount(order[:low], minlength=len(tallest)))
    return found


def _share_in_small_groups(items: ItemTable, vector: NDArray[np.int64], k: int) -> float:
    """Return the share of the records in groups of fewer than ``k`` at these levels."""
    dictionary = items.dictionary
    columns = [
        chain.nodes[column, level]
        for chain, column, level in zip(
            dictionary.chains, dictionary.columns, vector.tolist(), strict=True
        )
    ]
    sizes = [chain.taxonomy.n_nodes for chain in dictionary.chains]
    keys = row_keys(tuple(columns), sizes, len(dictionary.many))
    _, kind = np.unique(keys, return_inverse=True)
    sizes_of_groups = np.bincount(kind, weights=dictionary.many)
    return float(sizes_of_groups[sizes_of_groups < k].sum()) / dictionary.n_records
