"""The persons of baskets in a plan: their baskets joined, or some of them."""

from __future__ import annotations

from hedgerow.plan.fields import mistake, shown
from hedgerow.plan.items import ItemsPlan
from hedgerow.plan.people import PeopleSettings

_NO_JOIN = "Remove 'join': records of a table are bounded by 'records-per-person'."


def check_person_of_items(people: PeopleSettings, items: ItemsPlan | None) -> None:
    """Refuse invalid settings on the people of baskets; ``items`` is ``None`` for a table."""
    if items is None:
        if people.join is not None:
            raise mistake(
                "This setting is for baskets, and the plan describes attributes.",
                _NO_JOIN,
                key=("join",),
            )
        return
    if people.person is None:
        return
    if items.is_file:
        raise mistake(
            "A basket file has no columns, so no column can identify a person.",
            "Give the data as a long table (items: {record: ..., column: ...}) or as a column"
            " of lists, with a column for the person; or join each person's baskets to one"
            " line and write 'one-record-per-person: true'.",
            key=("person",),
        )
    _check_columns(people.person, items)
    if items.ordered:
        _check_sequences(people)
    if people.join is not None:
        _check_join(people)
    elif people.records_per_person is None:
        raise mistake(
            "This setting is missing.",
            "Give the largest number of baskets of one person that count, such as 4, or auto;"
            " or 'join: union' instead: one basket for each person.",
            key=("records-per-person",),
        )


def _check_columns(columns: tuple[str, ...], items: ItemsPlan) -> None:
    for place, column in enumerate(columns):
        key = ("person", place) if len(columns) > 1 else ("person",)
        if column == items.column:
            raise mistake(
                f"{shown(column)} is the column of the items, which are released.",
                "Name the column that identifies the person of a basket.",
                key=key,
            )
        if column == items.order:
            raise mistake(
                f"{shown(column)} is the column of the order.",
                "Name the column that identifies the person of a sequence.",
                key=key,
            )
        if column == items.record:
            raise mistake(
                f"{shown(column)} is also the column of the records.",
                "For one basket of each person leave items.record out and write 'join: union';"
                " for several, name the column that identifies a basket in items.record.",
                key=key,
            )


def _check_sequences(people: PeopleSettings) -> None:
    if people.join is not None:
        raise mistake(
            "Sequences of one person cannot be joined: a union has no order, and one sequence"
            " after the other would contain transitions that never happened.",
            "Give 'records-per-person' instead: the largest number of sequences of one person"
            " that count, such as 4, or auto.",
            key=("join",),
        )
    if people.count == "people":
        raise mistake(
            "Sequences cannot be counted in parts of a person: the tests along their prefixes"
            " are proved for whole records.",
            "Remove 'count'.",
            key=("count",),
        )


def _check_join(people: PeopleSettings) -> None:
    for key, there in (
        ("records-per-person", people.records_per_person is not None),
        ("count", people.count is not None),
    ):
        if there:
            raise mistake(
                "All baskets of a person are joined into one, which counts once.",
                f"Remove {key}, or remove 'join'.",
                key=(key,),
            )
