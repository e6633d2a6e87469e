"""The privacy unit that a plan must state, and what else keeps a plan from being published."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow.errors import MissingPrivacyUnitError, RefusedError
from hedgerow.model.unit import protection
from hedgerow.pipeline.prepare import Prepared
from hedgerow.pipeline.signed import check_signed
from hedgerow.plan.fields import shown
from hedgerow.plan.model import Plan
from hedgerow.plan.people import names_people

_PLAIN = re.compile(r"\w[\w .-]*", re.ASCII)


def check_unit(plan: Plan) -> None:
    """Refuse a private plan that does not state what its guarantee protects.

    Nobody can read it off the data: whether two records are of one person is not in them.
    """
    if plan.privacy_unit is None:
        raise MissingPrivacyUnitError(
            "The plan does not state its privacy unit: whether the guarantee protects each"
            " person or each record.",
            where="privacy unit",
            do="Add one of these to the plan:\n" + "\n".join(_choices(plan)),
        )


def unit_words(ready: Prepared) -> str | None:
    """Return what a plan protects, in words; ``None`` if it states no unit or has no guarantee."""
    plan = ready.plan
    if plan.privacy_unit is None or not ready.private:
        return None
    return protection(
        plan.privacy_unit, plan.person or (), records=_records(plan), pure=not ready.delta
    )


def blockers(ready: Prepared) -> tuple[RefusedError, ...]:
    """Return what `publish` refuses a plan for, of what the plan itself says, in its order."""
    found: list[RefusedError] = []
    if ready.private:
        with _collecting(found):
            check_unit(ready.plan)
    with _collecting(found):
        check_signed(ready.plan, ready.domain)
    return tuple(found)


@contextmanager
def _collecting(found: list[RefusedError]) -> Iterator[None]:
    """Add a refusal to the list."""
    try:
        yield
    except RefusedError as error:
        found.append(error)


def likely_person(plan: Plan) -> str | None:
    """Return the first identifier column that is called like a person's, if there is one."""
    found = (
        name
        for name, attribute in plan.attributes.items()
        if attribute.role == "identifier" and names_people(name)
    )
    return next(found, None)


def _records(plan: Plan) -> str:
    """Return what records of the plan are called."""
    items = plan.items
    return "records" if items is None else "sequences" if items.ordered else "baskets"


def _choices(plan: Plan) -> list[str]:
    """Return the three lines that a plan can have, and what each of them means."""
    records = _records(plan)
    column = likely_person(plan) or "COLUMN"
    column = column if _PLAIN.fullmatch(column) else shown(column)
    bound = "'records-per-person: 4' (or auto)"
    if records == "baskets":
        bound += " or 'join: union'"
    note = ""
    if plan.items is not None and plan.items.is_file:
        note = " (for a table with a column that identifies persons)"
    return [
        f"'person: {column}' and {bound}{note}. Protects each person with all their {records}.",
        f"'one-record-per-person: true', if nobody can have more than one"
        f" {records.removesuffix('s')}. Protects each person.",
        f"'protects: records'. {protection('records', records=records)}",
    ]
