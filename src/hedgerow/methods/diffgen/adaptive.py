"""Number of specialisations of a table: a public rule over a noisy number of records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

AUTO: Literal["auto"] = "auto"
"""In place of a number of specialisations: as many as the records are worth."""

SIZE = Fraction(1, 50)
"""The part of epsilon that the noisy number of records costs."""

NOISE_SCALES = 6.6
"""The least size of an average box, in scales of the noise on its counts.

In such a box, with three records of one class to one of another, noise makes the wrong
class the more frequent one with a chance of one in twenty.
"""


def chance_of_turning(scales: float) -> float:
    """Return the chance that noise turns a majority of three to one over.

    The counts of a box of ``scales`` / epsilon records differ by half of them; the difference
    of two Laplace variables of scale 1 / epsilon exceeds that with this chance.

    >>> round(chance_of_turning(NOISE_SCALES), 2)
    0.05
    """
    distance = scales / 2
    return (1 + distance / 2) / 2 * math.exp(-distance)


@dataclass(frozen=True, kw_only=True)
class Course:
    """Extent of a run: its specialisations, and the maximum boxes of a cut."""

    specialisations: int
    most_boxes: int

    @classmethod
    def of(cls, counts: Fraction, n_records: int) -> Course:
        """Return the course for ``counts``, the share of the counts, and noisy records.

        A binary specialisation at most doubles the boxes: as many are made as take one box
        to those that the records fill.

        [DiffGen, Sec. 5] leaves an adaptive number of specialisations to future work.

        >>> Course.of(Fraction(49, 100), 30_000)
        Course(specialisations=11, most_boxes=2227)
        >>> Course.of(Fraction(49, 1000), 30_000)
        Course(specialisations=7, most_boxes=222)
        """
        boxes = max(2, int(float(counts) * max(n_records, 1) / NOISE_SCALES))
        return cls(specialisations=int(math.log2(boxes)), most_boxes=boxes)
