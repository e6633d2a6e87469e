"""Diabetes-130 in the place of the Wal-Mart item table of [ARUBA] and [TKDE].

No public copy of that table (400,000 records, 70 attributes) is known. Attributes are taken
in a fixed order, long and short taxonomies mixed, of heights from 1 to 5 as in the papers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from experiments.figure import Scene
from experiments.tables import classless, diabetes, with_attributes
from hedgerow.disclosure.lattice.dictionary import Dictionary, DistinctRecords
from hedgerow.disclosure.lattice.lattice import Lattice, Parts, parts_of
from hedgerow.disclosure.lattice.matches import levels_of_columns
from hedgerow.disclosure.lattice.risk import RiskModel, Severities
from hedgerow.disclosure.lattice.threshold import RecordLandscape
from hedgerow.disclosure.lattice.utility import utility_tables
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective, AggregateProblem
from hedgerow.model.table import EncodedTable

ModelNumber: TypeAlias = Literal[1, 2, 3]

ATTRIBUTES = [
    "diag_1",
    "age",
    "num_lab_procedures",
    "admission_source_id",
    "discharge_disposition_id",
    "race",
    "time_in_hospital",
    "gender",
    "admission_type_id",
    "num_medications",
    "insulin",
    "A1Cresult",
    "diag_2",
    "metformin",
    "number_inpatient",
    "change",
]
"""In the order in which they are taken."""

WEIGHT_SEED = 2008


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemTable:
    """A table to disclose, itself the attacker's dictionary, with random weights of persons."""

    table: EncodedTable
    dictionary: Dictionary
    utility: Parts
    severities: Severities

    def codes(self, record: int) -> list[int]:
        """Return the codes of one record."""
        return [int(column[record]) for column in self.table.codes]

    def sample(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return some distinct records."""
        return rng.permutation(DistinctRecords.of(self.table).first)[:n]

    def landscape(self, record: int) -> RecordLandscape:
        """Return risk (model I) and utility over the lattice of one record, matches counted."""
        return self.landscapes(record, (1,))[0]

    def landscapes(
        self, record: int, models: tuple[ModelNumber, ...]
    ) -> tuple[RecordLandscape, ...]:
        """Return the landscape of one record under several risk models, counted once."""
        codes = self.codes(record)
        counter = self.dictionary.counter(codes)
        counter.cube()
        return tuple(
            RecordLandscape.of(
                codes,
                counter,
                utility=self.utility,
                severities=self.severities,
                model=RiskModel(number=model),
                person=record,
            )
            for model in models
        )

    def aggregate(self, record: int, *, risk_weight: float, floor: float) -> AggregateProblem:
        """Return the aggregate problem of one record."""
        codes = self.codes(record)
        dictionary = self.dictionary
        lattice = Lattice.of(codes, dictionary.chains)
        objective = AggregateObjective(
            lattice=lattice,
            utility_parts=parts_of(codes, self.utility, lattice),
            severity_parts=self.severities.parts(codes, lattice, record),
            risk_weight=risk_weight,
            floor=floor,
        )
        many = dictionary.many
        vectors = levels_of_columns(codes, dictionary.chains, dictionary.columns, len(many))
        return AggregateProblem(objective=objective, vectors=vectors, multiplicities=many)


@lru_cache(maxsize=4)
def item_table(scene: Scene, n_attributes: int, weights: int) -> ItemTable:
    """Return the table with that many attributes; ``weights`` numbers the persons' weights."""
    table = classless(with_attributes(diabetes(scene), ATTRIBUTES[:n_attributes]))
    dictionary = Dictionary.of(table)
    personal = np.random.default_rng([WEIGHT_SEED, weights]).random((len(table), n_attributes))
    return ItemTable(
        table=table,
        dictionary=dictionary,
        utility=utility_tables("depth", dictionary.chains),
        severities=Severities.of(dictionary.chains, personal=personal),
    )
