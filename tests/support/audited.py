"""Everything that is audited, made once for all tests of a run."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from hedgerow.auditing.cases import Unclaimed, subjects
from hedgerow.auditing.subject import Subject


@cache
def audited_subjects(epsilon: Fraction) -> tuple[Subject | Unclaimed, ...]:
    """Every method with every score and variant, and the mechanisms."""
    return tuple(subjects([], epsilon=epsilon, seed=1))
