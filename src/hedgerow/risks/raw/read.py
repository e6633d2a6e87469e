"""The confidential table under the roles of its plan: quasi-identifiers and sensitive columns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.disclosure.confidential import Confidential, read_confidential
from hedgerow.disclosure.prepare import PreparedDisclosure, with_weights
from hedgerow.encode.schema import schema_of
from hedgerow.errors import PlanError, SettingError
from hedgerow.model.arrays import Codes
from hedgerow.model.schema import Attribute, Schema
from hedgerow.plan.disclose import ThresholdDisclose
from hedgerow.plan.mistakes import nearest
from hedgerow.plan.model import Plan
from hedgerow.progress import Progress
from hedgerow.read.open import open_table
from hedgerow.read.source import Source
from hedgerow.read.text import as_text
from hedgerow.risks.raw.identifiers import IdentifierFound, identifiers_in


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RawColumn:
    """A column of the table as codes."""

    attribute: Attribute
    codes: Codes

    @property
    def name(self) -> str:
        """The column's name."""
        return self.attribute.name

    @property
    def ordered(self) -> bool:
        """True if its values are numbers or dates."""
        return self.attribute.domain.kind != "categorical"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RawTable:
    """The records, what an attacker may know of them, and sensitive columns (confidential)."""

    ready: PreparedDisclosure
    confidential: Confidential
    quasi: tuple[RawColumn, ...]
    sensitive: tuple[RawColumn, ...]
    n_read: int
    identifiers: tuple[IdentifierFound, ...]
    person_sizes: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.confidential.table)


def read_raw(
    plan: Plan, data: Any, *, quasi: Sequence[str], sensitive: Sequence[str], progress: Progress
) -> RawTable:
    """Return the table that the plan or ``data`` names, under the plan's roles.

    Predictors are quasi-identifiers and the class is sensitive, unless ``quasi`` and ``sensitive``
    name others. Missing values count as a value, so that no record is dropped because of one.
    """
    if plan.items is not None:
        raise PlanError(
            "The risk of a raw file is computed for tables, and this plan is of items.",
            where="items",
            do="Give the plan of a table with attributes.",
        )
    counted = plan.model_copy(update={"missing": "value", "covers": None})
    chosen = _chosen(schema_of(counted), quasi, sensitive)
    if counted.class_name in chosen[0]:
        counted = _without_class(counted)
    ready = with_weights(counted, counted.disclose or ThresholdDisclose.model_validate({}))
    with ExitStack() as stack:
        source = _opened(plan, data, stack)
        progress("looking for identifiers", None)
        identifiers = identifiers_in(source)
        person_sizes = _person_sizes(source, plan.person)
    confidential = read_confidential(ready, data, None, progress=progress)
    columns = {
        attribute.name: RawColumn(attribute=attribute, codes=codes)
        for attribute, codes in zip(ready.schema.attributes, confidential.table.codes, strict=True)
    }
    target, classes = ready.schema.class_attribute, confidential.table.classes
    if target is not None and classes is not None:
        columns[target.name] = RawColumn(attribute=target, codes=classes)
    return RawTable(
        ready=ready,
        confidential=confidential,
        quasi=tuple(columns[name] for name in chosen[0]),
        sensitive=tuple(columns[name] for name in chosen[1]),
        n_read=confidential.n_read,
        identifiers=identifiers,
        person_sizes=person_sizes,
    )


def _opened(plan: Plan, data: Any, stack: ExitStack) -> Source:
    own = data is None
    if own and plan.data is None:
        raise PlanError("The plan names no data.", where="data", do="Name the file to read.")
    source = open_table(
        plan.data if own else data,
        query=plan.table_query if own else None,
        base=plan.base if own else Path(),
        reading=plan.how_to_read(),
    )
    if isinstance(source, AbstractContextManager):
        stack.enter_context(source)
    return source


def _without_class(plan: Plan) -> Plan:
    """Return the plan with its class as a further predictor, for a class that attackers know."""
    attributes = {
        name: each.model_copy(update={"role": "predictor"}) if each.role == "class" else each
        for name, each in plan.attributes.items()
    }
    return plan.model_copy(update={"attributes": attributes})


def _chosen(
    schema: Schema, quasi: Sequence[str], sensitive: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the names of the quasi-identifiers and of the sensitive columns."""
    target = schema.class_attribute
    known = [attribute.name for attribute in schema.used()]
    for name in (*quasi, *sensitive):
        if name not in known:
            near = nearest(name, known)
            hint = f"Did you mean {near!r}? " if near else ""
            raise SettingError(
                f"{name!r} is not a released column.",
                where="sensitive" if name in sensitive else "quasi",
                do=f"{hint}Give a predictor or the class of the plan: {', '.join(known)[:300]}.",
            )
    hidden = list(dict.fromkeys(sensitive)) or ([target.name] if target is not None else [])
    if both := [name for name in quasi if name in hidden]:
        raise SettingError(
            f"The column {both[0]!r} cannot be both a quasi-identifier and sensitive.",
            where="quasi",
            do="Name it once. The class is sensitive unless --sensitive names other columns.",
        )
    shown = list(dict.fromkeys(quasi)) or [name for name in known if name not in hidden]
    if not shown:
        raise SettingError(
            "No column is left that an attacker may know.",
            where="quasi",
            do="Name at least one column that is not sensitive.",
        )
    return shown, hidden


def _person_sizes(source: Source, person: Sequence[str] | None) -> NDArray[np.int64] | None:
    """Return the number of records of each person, if the plan names a person."""
    if person is None:
        return None
    parts = []
    for batch in source.batches(list(person), text=set(person)):
        columns = [as_text(column, where=source.name) for column in batch.columns]
        columns = [
            column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
            for column in columns
        ]
        parts.append(pa.table([column.cast(pa.string()) for column in columns], names=list(person)))
    if not parts:
        return np.zeros(0, dtype=np.int64)
    counted = (
        pa.concat_tables(parts).drop_null().group_by(list(person)).aggregate([([], "count_all")])
    )
    return np.asarray(counted.column("count_all"), dtype=np.int64)
