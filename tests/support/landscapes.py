"""Small problems of disclosure for tests: random ones, and the example of the ARUBA paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Lattice, Node
from hedgerow.disclosure.lattice.matches import Matches
from hedgerow.disclosure.lattice.risk import RiskModel
from hedgerow.disclosure.lattice.threshold import RecordLandscape


@dataclass(frozen=True, kw_only=True, eq=False)
class TableLandscape:
    """Risk and utility as given for each node."""

    lattice: Lattice
    risk_of: NDArray[np.float64]
    utility_of: NDArray[np.float64]
    monotone: bool = True

    def risk(self, node: Node) -> float:
        return float(self.risk_of[node])

    def utility(self, node: Node) -> float:
        return float(self.utility_of[node])

    def risks(self) -> NDArray[np.float64]:
        return self.risk_of

    def utilities(self) -> NDArray[np.float64]:
        return self.utility_of


def falling(rng: np.random.Generator, n: int, *, ties: bool) -> NDArray[np.float64]:
    """What the levels of one attribute add: less and less, often the same if ``ties``."""
    drawn = rng.integers(0, 4, n).astype(np.float64) if ties else rng.random(n)
    return -np.sort(-drawn)


def random_landscape(seed: int) -> RecordLandscape:
    """A record of up to 4 attributes of up to 4 levels, against up to 40 others."""
    rng = np.random.default_rng(seed)
    heights = tuple(int(h) for h in rng.integers(0, 4, rng.integers(1, 5)))
    n_records = int(rng.integers(0, 41))
    vectors = [rng.integers(0, h + 1, n_records) for h in heights]
    model = RiskModel(number=(1, 2, 3)[seed % 3])
    ties = bool(rng.random() < 0.5)
    severity = [falling(rng, h + 1, ties=ties) for h in heights]
    for part in severity:
        part[-1] = 0
    return RecordLandscape(
        counter=Matches.of(Lattice(heights=heights), np.stack(vectors, axis=1).astype(np.uint8)),
        utility_parts=[falling(rng, h + 1, ties=ties) for h in heights],
        severity_parts=severity if model.personal else None,
        exposure=model.exposure(n_records),
    )


LETTERS = "abcdefghijklmnopqrst"

# [ARUBA, Fig. 5] is a lattice of 5 x 4 nodes, lettered along its diagonals from the bottom.
NODE_OF = dict(
    zip(
        LETTERS,
        sorted(((x, y) for x in range(5) for y in range(4)), key=lambda n: (sum(n), -n[0])),
        strict=True,
    )
)
LETTER_OF = {node: letter for letter, node in NODE_OF.items()}

# Risk and utility as printed in Fig. 6.
PRINTED = {
    **{"t": (0, 0), "s": (10, 4), "r": (12, 2), "p": (15, 7), "q": (21, 9), "o": (14, 5)},
    **{"k": (16, 8), "l": (22, 11), "j": (55, 17), "e": (60, 21), "f": (62, 18), "b": (63, 23)},
}
# What Fig. 6 leaves out: any values that are monotone and make the queue grow as printed.
FILLED_IN = {
    **{"g": (24, 13), "m": (28, 12), "n": (33, 13), "h": (40, 15), "i": (45, 16), "d": (50, 17)},
    **{"c": (70, 25), "a": (80, 30)},
}


def paper_example() -> TableLandscape:
    """The lattice of [ARUBA, Fig. 5]."""
    risks, utilities = np.empty((5, 4)), np.empty((5, 4))
    for letter, (risk, utility) in {**PRINTED, **FILLED_IN}.items():
        risks[NODE_OF[letter]], utilities[NODE_OF[letter]] = risk, utility
    return TableLandscape(lattice=Lattice(heights=(4, 3)), risk_of=risks, utility_of=utilities)
