"""Whose baskets they are, as a plan says it: joined to one for each person, or some of them."""

from __future__ import annotations

from hedgerow.plan.fields import mistake, shown
from hedgerow.plan.items import ItemsPlan
from hedgerow.plan.people import SaidOfPeople

_NO_JOIN = "Remove join: records of a table are bounded by records-per-person."


def check_person_of_items(given: SaidOfPeople, items: ItemsPlan | None) -> None:
    """Refuse what a plan cannot mean by the people of its baskets; ``None``: it has a table."""
    if items is None:
        if given.join is not None:
            raise mistake("is for baskets, and these are attributes", _NO_JOIN, key=("join",))
        return
    if given.person is None:
        return
    if items.is_file:
        raise mistake(
            "a basket file has no columns, so nothing in it says whose a basket is",
            "Give the data as a long table (items: {record: ..., column: ...}) or as a column of"
            " lists, with a column for the person; or join each person's baskets to one line and"
            " write 'one-record-per-person: true'.",
            key=("person",),
        )
    _check_columns(given.person, items)
    if items.ordered:
        _check_sequences(given)
    if given.join is not None:
        _check_join(given)
    elif given.records_per_person is None:
        raise mistake(
            "is missing",
            "Say how many baskets of one person count at most, such as 4, or auto; or, in its"
            " place, 'join: union': one basket for each person.",
            key=("records-per-person",),
        )


def _check_columns(columns: tuple[str, ...], items: ItemsPlan) -> None:
    for place, column in enumerate(columns):
        key = ("person", place) if len(columns) > 1 else ("person",)
        if column == items.column:
            raise mistake(
                f"{shown(column)} is the column of the items, which are released",
                "Name the column that says whose a basket is.",
                key=key,
            )
        if column == items.order:
            raise mistake(
                f"{shown(column)} is the column of the order",
                "Name the column that says whose a sequence is.",
                key=key,
            )
        if column == items.record:
            raise mistake(
                f"{shown(column)} is the column of the records, too",
                "For one basket of each person leave items.record out and write 'join: union'; for"
                " several, name the column that tells baskets apart in items.record.",
                key=key,
            )


def _check_sequences(given: SaidOfPeople) -> None:
    if given.join is not None:
        raise mistake(
            "sequences of one person cannot be joined: a union has no order, and one sequence"
            " behind the other would make transitions that nobody made",
            "Give records-per-person in its place: how many sequences of one person count at most,"
            " such as 4, or auto.",
            key=("join",),
        )
    if given.count == "people":
        raise mistake(
            "sequences are counted whole: the tests along their prefixes are proved for records,"
            " not for parts of a person",
            "Remove count.",
            key=("count",),
        )


def _check_join(given: SaidOfPeople) -> None:
    for key, there in (
        ("records-per-person", given.records_per_person is not None),
        ("count", given.count is not None),
    ):
        if there:
            raise mistake(
                "all baskets of a person are joined to one, which counts once",
                f"Remove {key}, or remove join.",
                key=(key,),
            )
