"""Persons of the raw records: a release that protects people is also compared with people.

For the data owner: figures come from the raw table and are not private.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.encode.batch import BatchEncoder, table_of_columns
from hedgerow.encode.people import Gathered, PeopleEncoder, people_batches
from hedgerow.evaluation.marginals import marginal_errors
from hedgerow.model.certificate import CertifiedPerson
from hedgerow.model.groups import Groups
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Done, stretch, unheard
from hedgerow.read.source import ReadProgress, Source
from hedgerow.report.headlines import Facts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PeopleOfRecords:
    """Person number of each record (confidential), and the guarantee for people."""

    promised: CertifiedPerson
    persons: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of records of each person."""
        return np.bincount(self.persons)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each record if every person weighs 1.

        A release that counts people estimates these weights: of a person's c records some are
        sampled and share the weight 1, so each has 1 / c on average.
        """
        return np.asarray(1.0 / self.sizes[self.persons], dtype=np.float64)

    @property
    def counted(self) -> NDArray[np.float64] | None:
        """Weights of the records in the counts of the release; None if each weighs 1."""
        return self.weights if self.promised.counted == "people" else None


def encode_with_people(
    source: Source,
    schema: Schema,
    promised: CertifiedPerson,
    *,
    progress: ReadProgress | None = None,
) -> tuple[EncodedTable, PeopleOfRecords]:
    """Return all complete records as codes, and the person of each (confidential)."""
    rule = PeopleRule(columns=promised.columns, most=promised.records, counted=promised.counted)
    keyed = KeyedRule(rule=rule, key=SampleKey(words=(0, 0)))
    encode = PeopleEncoder(BatchEncoder(schema, name=source.name), keyed)
    gathered = Gathered.of(list(people_batches(source, encode, progress=progress)), encode)
    table = table_of_columns(schema, gathered.codes)
    return table, PeopleOfRecords(promised=promised, persons=gathered.persons)


def people_facts(
    groups: Groups,
    table: EncodedTable,
    people: PeopleOfRecords,
    *,
    with_class: bool,
    seed: int,
    done: Done = unheard,
) -> Facts:
    """Return numbers of people and records, the effect of the bound, and both kinds of errors."""
    sizes, bound = people.sizes, people.promised.records
    errors: dict[str, list[Facts]] = {"people": [], "records": []}
    deepest = min(2, len(table.schema.attributes) + with_class)
    steps = [(name, ways) for name in errors for ways in range(1, deepest + 1)]
    for at, (name, ways) in enumerate(steps):
        found = marginal_errors(
            groups,
            table,
            ways=ways,
            with_class=with_class,
            seed=seed,
            weights=people.weights if name == "people" else None,
            done=stretch(done, at, len(steps)),
        )
        errors[name].append({key.replace("_", "-"): each for key, each in asdict(found).items()})
    return {
        "columns": list(people.promised.columns),
        "counted": people.promised.counted,
        "records-per-person": bound,
        "n-people": len(sizes),
        "n-records": len(table),
        "most-records": int(sizes.max(initial=0)),
        "people-whole": float((sizes <= bound).mean()) if len(sizes) else 1.0,
        "records-kept": float(np.minimum(sizes, bound).sum() / max(len(table), 1)),
        "total": int(groups.counts.sum()),
        "marginals-of-people": errors["people"],
        "marginals-of-records": errors["records"],
    }
