"""The part of a plan for set-valued data: baskets, clicks, journeys."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    WithJsonSchema,
    model_validator,
)

from hedgerow.plan.approval import Sentence
from hedgerow.plan.fields import (
    MAX_BOUND,
    MAX_FAN_OUT,
    MAX_TEXT,
    FanOut,
    Name,
    PlanModel,
    TaxonomyGiven,
    check_printable,
    mistake,
    shown,
)

CONTEXT_FREE = "context-free"
MAX_ITEMS = 2_000_000


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _universe(value: object) -> str | tuple[int, int] | tuple[str, ...]:
    if isinstance(value, str):
        if not value.strip():
            raise mistake("The text is empty.", "Give the path of a file with one item per line.")
        return check_printable(value)
    if not isinstance(value, list | tuple):
        raise mistake(
            "This is neither a file, a range nor a list.",
            "Give the path of a file with one item per line, [first, last], or the items.",
        )
    if len(value) == 2 and all(map(_whole, value)):
        return _range(*value)
    return _items(value)


def _range(first: int, last: int) -> tuple[int, int]:
    if not -MAX_BOUND <= first <= last <= MAX_BOUND:
        raise mistake(
            f"The first ({shown(first)}) is above the last ({shown(last)}), or one is too large.",
            "Give [first, last], both included; two items that are numbers go in quotes.",
        )
    if last - first >= MAX_ITEMS:
        raise mistake(
            f"The universe has more than {MAX_ITEMS:,} items.", "Give a smaller universe."
        )
    return first, last


def _items(value: list[Any] | tuple[Any, ...]) -> tuple[str, ...]:
    if not value:
        raise mistake("The list is empty.", "List every item that may be published.")
    items = tuple(_item(each, place) for place, each in enumerate(value))
    seen: set[str] = set()
    for place, item in enumerate(items):
        if item in seen:
            raise mistake(
                f"The list has {shown(item)} twice.", "List each item once.", key=(place,)
            )
        seen.add(item)
    return items


def _item(value: object, place: int) -> str:
    if not _whole(value) and not isinstance(value, str):
        raise mistake("An item is not a text.", "Write it in quotes.", key=(place,))
    text = str(value)
    if not text or text != text.strip():
        raise mistake("An item is empty or has blanks around it.", "Remove them.", key=(place,))
    return check_printable(text)


_TEXT: dict[str, Any] = {"type": ["string", "integer"], "minLength": 1, "maxLength": MAX_TEXT}

UniverseGiven = Annotated[
    str | tuple[int, int] | tuple[str, ...],
    PlainValidator(_universe),
    PlainSerializer(lambda universe: universe if isinstance(universe, str) else list(universe)),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "minItems": 1, "items": _TEXT},
            ]
        }
    ),
]


class ItemsPlan(PlanModel):
    """Set-valued data: the public universe of items, its taxonomy, and the place of the items."""

    universe: UniverseGiven | None = Field(
        None,
        description=(
            "all possible items: a file with one per line, [first, last] for whole numbers, or a"
            " list"
        ),
    )
    taxonomy: TaxonomyGiven = Field(
        CONTEXT_FREE,
        description="context-free (items grouped by fan-out, in the universe's order), a taxonomy"
        " file, a nested mapping of labels, or a builder",
    )
    fan_out: FanOut = Field(
        10,
        description=f"the number of nodes that a context-free taxonomy groups, 2 to {MAX_FAN_OUT}",
    )
    column: Name | None = Field(
        None, description="the column of items: lists, or one item per row if record is set"
    )
    record: Name | None = Field(
        None, description="the column that identifies the record of a row, in a long table"
    )
    ordered: StrictBool = Field(
        False,
        description="true for sequences: the order of a record's items and repeats are kept; else"
        " false",
    )
    order: Name | None = Field(
        None,
        description=(
            "the column with the position of a row in its record, in a long table of sequences: a"
            " number, or a text whose sorted order is that of the times"
        ),
    )
    separator: Literal["auto", "space", "comma", "tab"] = Field(
        "auto", description="the separator between the items of a line: auto, space, comma or tab"
    )
    as_: Literal["sets"] | None = Field(
        None,
        alias="as",
        description=(
            "sets, for a file of sequences: order and repeats are dropped; reading gives the"
            " number of header lines"
        ),
    )
    source: Sentence | None = Field(
        None,
        description="the public source of the universe, such as 'price list 2026'; data: proposed"
        " from the data and not confirmed yet",
    )

    @property
    def publishes(self) -> Literal["baskets", "sequences"]:
        """Kind of the records for a publisher: sets of items, or sequences."""
        return "sequences" if self.ordered else "baskets"

    @property
    def is_context_free(self) -> bool:
        """Return whether the taxonomy is computed from the order of the universe alone."""
        return self.taxonomy == CONTEXT_FREE

    @property
    def is_file(self) -> bool:
        """Return whether the data is a basket file: one record per line."""
        return self.column is None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.is_context_free and self.universe is None:
            raise mistake(
                "This setting is missing.",
                "Give the universe, for example [1, 17] or items.txt, or a taxonomy of the items.",
                key=("universe",),
            )
        if not self.is_context_free and "fan_out" in self.model_fields_set:
            raise mistake(
                "The taxonomy determines how items are grouped.",
                "Remove 'fan-out', or give 'taxonomy: context-free'.",
                key=("fan-out",),
            )
        self._check_layout()
        self._check_order()
        return self

    def _check_order(self) -> None:
        if self.ordered and self.as_ is not None:
            raise mistake(
                "'as: sets' drops the order that 'ordered: true' keeps.",
                "Keep one of the two.",
                key=("as",),
            )
        if self.order is not None and not self.ordered:
            raise mistake(
                "Sets have no order.", "Remove it, or give 'ordered: true'.", key=("order",)
            )
        if self.order is not None and self.record is None:
            raise mistake(
                "Only the rows of a long table have a column for their order.",
                "Give 'record', the column that identifies a sequence, or remove 'order':"
                " lists and lines are in order already.",
                key=("order",),
            )
        if self.ordered and self.record is not None and self.order is None:
            raise mistake(
                "The rows of a long table have no order of their own.",
                "Name the column with the position of a row in its sequence, such as a time.",
                key=("order",),
            )
        if self.order is not None and self.order in (self.record, self.column):
            raise mistake(
                "This is the column of the records or of the items.",
                "Give a column of its own.",
                key=("order",),
            )

    def _check_layout(self) -> None:
        if self.record is not None and self.column is None:
            raise mistake(
                "A long table needs the column of its items as well.",
                "Give 'column' beside 'record'.",
                key=("record",),
            )
        if self.record is not None and self.record == self.column:
            raise mistake(
                "This is the column of the items.", "Give two different columns.", key=("record",)
            )
        for key, is_set in (("separator", self.separator != "auto"), ("as", self.as_ is not None)):
            if is_set and self.column is not None:
                raise mistake(
                    "This setting is for basket files, and 'column' names a column of a table.",
                    f"Remove {key}, or remove 'column'.",
                    key=(key,),
                )
