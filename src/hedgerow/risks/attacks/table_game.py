"""Targets of attacks on a table: pairs of a member and an outsider, and released rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.errors import DataError, SettingError
from hedgerow.evaluation.subject import TableSubject
from hedgerow.model.schema import Attribute
from hedgerow.risks.attacks.pairs import Sample, drawn_sample, members_alone
from hedgerow.risks.attacks.rows import (
    CodeTable,
    ReleasedRows,
    attacked_columns,
    code_table,
    rows_of_groups,
    rows_of_records,
)
from hedgerow.risks.attacks.settings import AttackSettings
from hedgerow.risks.attacks.table_traces import TableAims


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableCase:
    """A release with its data, held-out records, and another release with its own data."""

    subject: TableSubject
    holdout: TableSubject | None
    other: TableSubject | None
    other_data: TableSubject | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableGame:
    """Targets, released rows and the reference of one run (confidential)."""

    case: TableCase
    settings: AttackSettings
    columns: tuple[Attribute, ...]
    members: CodeTable
    outsiders: CodeTable
    rows: ReleasedRows
    sample: Sample
    aims: TableAims

    @property
    def n_members(self) -> int:
        """Number of members: people or records."""
        return len(self.members)

    @property
    def targets(self) -> CodeTable:
        """Members first, then their outsiders."""
        return np.concatenate(
            [self.members[self.sample.members], self.outsiders[self.sample.outsiders]]
        )

    @property
    def reference(self) -> ReleasedRows:
        """Outsiders in no pair, scaled to the size of the data."""
        known = self.outsiders[self.sample.reference]
        return rows_of_records(
            known, self.columns, weight=self.rows.counts.sum() / max(len(known), 1)
        )

    @property
    def with_class(self) -> bool:
        """True if the class is among the columns."""
        return len(self.columns) > len(self.case.subject.groups.ranges)


def table_game(case: TableCase, settings: AttackSettings) -> TableGame:
    """Draw the pairs and prepare the rows of a release."""
    tables = [case.subject.table]
    if case.holdout is not None:
        tables.append(case.holdout.table)
        _refuse_members(case.subject, case.holdout)
    has_class = case.subject.groups.classes is not None
    with_class = has_class and all(table.classes is not None for table in tables)
    columns = attacked_columns(tables[0], with_class=with_class)
    members = _units(case.subject, with_class=with_class, seed=settings.seed)
    outsiders = members[:0]
    if case.holdout is not None:
        outsiders = _units(case.holdout, with_class=with_class, seed=settings.seed)
    sample = _sample(len(members), len(outsiders), settings)
    aims = TableAims.of(
        len(columns),
        sensitive=_sensitive(columns, settings.sensitive, with_class=with_class),
        seed=settings.seed,
    )
    return TableGame(
        case=case,
        settings=settings,
        columns=columns,
        members=members,
        outsiders=outsiders,
        rows=rows_of_groups(case.subject.groups, columns, seed=settings.seed),
        sample=sample,
        aims=aims,
    )


def _sample(n_members: int, n_outsiders: int, settings: AttackSettings) -> Sample:
    if n_outsiders:
        return drawn_sample(n_members, n_outsiders, most=settings.most_records, seed=settings.seed)
    return members_alone(n_members, most=settings.most_records, seed=settings.seed)


def _sensitive(
    columns: tuple[Attribute, ...], named: tuple[str, ...], *, with_class: bool
) -> tuple[int, ...]:
    """Return which columns are inferred: those named, or the class."""
    names = [attribute.name for attribute in columns]
    unknown = [name for name in named if name not in names]
    if unknown:
        raise SettingError(
            f"{', '.join(map(repr, unknown))} is not a column of the release.",
            where="sensitive",
            do=f"Give some of: {', '.join(names)}.",
        )
    if not named:
        return (len(columns) - 1,) if with_class else ()
    return tuple(dict.fromkeys(names.index(name) for name in named))


def _units(subject: TableSubject, *, with_class: bool, seed: int) -> CodeTable:
    """Return one record for each person that the release protects, or all records.

    Which record of a person it is depends on the seed and on that person's records alone.
    """
    codes = code_table(subject.table, with_class=with_class)
    certificate = subject.certificate
    if certificate is None or certificate.guarantee.person is None:
        return codes
    if subject.people is None:
        named = ", ".join(certificate.guarantee.person.columns)
        raise DataError(
            f"The release protects people, and the file does not name them by {named!r}.",
            where="attack",
            do="Give data and held-out records with the columns that name people.",
        )
    order = np.random.default_rng([seed, 9]).permutation(len(codes))
    _, first = np.unique(subject.people.persons[order], return_index=True)
    return codes[order[first]]


def _refuse_members(subject: TableSubject, holdout: TableSubject) -> None:
    """Refuse held-out records that are the data."""
    inside, outside = subject.table, holdout.table
    if len(inside) == len(outside) and all(
        np.array_equal(one, other) for one, other in zip(inside.codes, outside.codes, strict=True)
    ):
        raise SettingError(
            "The held-out records are the data itself.",
            where="holdout",
            do="Give records of the same population that the release was not made from.",
        )
