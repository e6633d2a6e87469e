"""The protected persons: each with all their records, of which a public number count.

Without such a rule the guarantee is for one record, which is a person's only one if the plan states
so (model/unit.py). With it, neighbouring tables differ in all records of one person. Each person
keeps at most ``most`` records, selected by a rule that sees that person alone, and mechanisms run
at epsilon / ``cost`` for one counted unit (docs/privacy.md, lemma L3): with ``records`` a unit is a
record and a person has at most ``most`` of them; with ``people`` a person's k kept records share
the weight 1, each ``unit // k`` units of 1 / ``unit``. Baskets can be joined instead: a person is
then one record, the union of all baskets.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

MOST_UNITS = 840
"""Largest number of units of a person: the least common multiple of 1 to 8."""

MOST_RECORDS = 1024
"""Largest bound on the records of a person in a plan."""

CANDIDATES = (1, 2, 4, 8, 16, 32, 64)
"""Bounds among which ``auto`` chooses."""

BOUND_CHOSEN = "records per person"
"""Name of the choice of a bound by ``auto`` in the budget."""

_NOUNS = re.compile(
    "account|beneficiary|borrower|card|citizen|client|customer|donor|driver|employee|family|guest"
    "|household|member|owner|participant|passenger|patient|pupil|recipient|resident|respondent"
    "|rider|student|subscriber|taxpayer|tenant|traveller|user|visitor|voter|worker"
)
_KEYS = re.compile("ids?|n|no|nr|nbr|num|number|code|key|ref|uu?id|pseudonym|hash")

Counted = Literal["records", "people"]

Join = Literal["union"]
"""Rule by which all baskets of a person become one."""


def noun_of(columns: tuple[str, ...]) -> str:
    """Return the noun for one person, from a column's name.

    >>> noun_of(("patient_nbr",)), noun_of(("CustomerID",)), noun_of(("clinic", "nr"))
    ('patient', 'customer', 'person')
    """
    if len(columns) != 1:
        return "person"
    separated = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", columns[0])
    words = [word.lower() for word in re.split(r"[\W_]+", separated) if word]
    left = [word for word in words if not _KEYS.fullmatch(word)]
    return left[0] if len(left) == 1 and _NOUNS.fullmatch(left[0]) else "person"


@dataclass(frozen=True, kw_only=True)
class PeopleRule:
    """The columns that identify a person, and which of a person's records count.

    At most ``most`` records of a person count, in units of ``counted``. With ``join`` a person's
    baskets are joined into one, and ``most`` is 1.
    """

    columns: tuple[str, ...]
    most: int
    counted: Counted = "records"
    join: Join | None = None

    @property
    def noun(self) -> str:
        """Noun for one protected person."""
        return noun_of(self.columns)

    @property
    def counts_people(self) -> bool:
        """Return whether counts are of people, not of records."""
        return self.counted == "people" or self.join is not None

    @property
    def unit(self) -> int:
        """Number of units of a whole person: 1 if records are counted.

        >>> PeopleRule(columns=("id",), most=4, counted="people").unit
        12
        >>> PeopleRule(columns=("id",), most=50, counted="people").unit
        840
        """
        if self.counted == "records":
            return 1
        return math.lcm(*range(1, self.most + 1)) if self.most <= 8 else MOST_UNITS

    @property
    def cost(self) -> int:
        """Largest number of units by which one person moves the counts: the divisor of epsilon."""
        return self.most if self.counted == "records" else self.unit

    def weights(self) -> NDArray[np.int64]:
        """Return the units of one record, by the number of records that its person keeps.

        >>> PeopleRule(columns=("id",), most=4, counted="people").weights().tolist()
        [0, 12, 6, 4, 3]
        """
        kept = np.arange(1, self.most + 1, dtype=np.int64)
        weights = np.ones_like(kept) if self.counted == "records" else self.unit // kept
        return np.concatenate([np.zeros(1, dtype=np.int64), weights])


@dataclass(frozen=True, kw_only=True, repr=False)
class SampleKey:
    """Key of the sample of each person's records: two words of a random stream of its own."""

    words: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class KeyedRule:
    """A rule with the key of the run."""

    rule: PeopleRule
    key: SampleKey
