"""One column of a plan: its role, and the public domain of its values."""

from __future__ import annotations

from fractions import Fraction
from math import floor, lcm
from typing import Literal, Self

from pydantic import Field, model_validator

from hedgerow.model.derive import DatePart
from hedgerow.model.reading import Decimal, NumberMarks, Reading, Thousands
from hedgerow.plan.approval import Sentence, ShortText
from hedgerow.plan.dates import Date, DatePlan
from hedgerow.plan.derive import HOW, DateColumnGiven, check_derived
from hedgerow.plan.fields import (
    MAX_BOUND,
    MAX_CELLS,
    Bounds,
    Edges,
    Label,
    Letters,
    PlanModel,
    TaxonomyGiven,
    Texts,
    Values,
    Width,
    mistake,
)

MAX_CLASSES = 65_535
_DOMAINS = "numeric, edges, date, taxonomy, values"
_ORDERED = ("numeric", "edges", "date")
_OF_TEXTS = ("other", "letters")
_OF_NUMBERS = ("unreadable", "decimal", "thousands")


class AttributePlan(PlanModel):
    """One column: its role, and the public domain of its values."""

    role: Literal["predictor", "class", "cover", "drop", "identifier"] = Field(
        "predictor",
        description="predictor, class, cover (read for covers alone), drop (left out) or"
        " identifier (never read)",
    )
    numeric: Bounds | None = Field(
        None, description="[low, high], the public bounds of a number; values outside are clamped"
    )
    step: Width = Field(
        Fraction(1), description="the width of a cell between the bounds of numeric"
    )
    edges: Edges | None = Field(
        None, description="the edges of a number's cells, increasing, instead of numeric and step"
    )
    date: DatePlan | None = Field(
        None,
        description="a mapping with the public bounds of a date, such as"
        " {from: 2010-01-01, to: 2030-12-31, step: month}",
    )
    taxonomy: TaxonomyGiven | None = Field(
        None,
        description="a taxonomy file, hedgerow:NAME for a ready one, a nested mapping of labels,"
        " or a builder",
    )
    values: Values | None = Field(
        None, description="the list of all values, as texts: a taxonomy of one level"
    )
    other: Label | None = Field(
        None, description="the label of the leaf for all values that are not listed"
    )
    letters: Letters | None = Field(
        None,
        description=(
            "the number of leading characters of a value that count, 1 to 1,000: with 3, the"
            " postcode 01234 is the value 012"
        ),
    )
    missing_values: Texts | None = Field(
        None, description="the list of further texts that mean a missing value in this column"
    )
    unreadable: Literal["refuse", "missing"] | None = Field(
        None,
        description=(
            "refuse (the default: nothing is published) or missing (a missing value), for a text"
            " that is not a number or date"
        ),
    )
    decimal: Decimal | None = Field(
        None,
        description="the decimal mark in this column, if it differs from reading: point or comma",
    )
    thousands: Thousands | None = Field(
        None,
        description=(
            "the thousands separator in this column, if it differs from reading: none, point,"
            " comma, blank or apostrophe"
        ),
    )
    from_: DateColumnGiven | None = Field(
        None,
        alias="from",
        description=(
            "the column of dates from which the value is computed, or"
            " {column: birth, format: dd.mm.yyyy}; it is read, and not released"
        ),
    )
    years_at: Date | None = Field(
        None, description="the date at which completed years since 'from' are counted: an age"
    )
    years_until: DateColumnGiven | None = Field(
        None, description="the column of dates up to which completed years are counted"
    )
    days_until: DateColumnGiven | None = Field(
        None, description="the column of dates up to which days are counted: a length of stay"
    )
    part: DatePart | None = Field(
        None, description="the part of the date in 'from': year, quarter, month or weekday"
    )
    unit: ShortText | None = Field(
        None, description="the unit of the values, such as years, for the data dictionary"
    )
    meaning: Sentence | None = Field(
        None, description="the description of the column for the data dictionary; published"
    )
    source: Sentence | None = Field(
        None,
        description="the public source of the domain, such as 'code book p. 4'; data: proposed from"
        " the data and not confirmed yet",
    )

    @property
    def is_read(self) -> bool:
        """Return whether the column's values are read."""
        return self.role in ("predictor", "class", "cover")

    @property
    def is_released(self) -> bool:
        """Return whether the column is a part of the release."""
        return self.role in ("predictor", "class")

    @property
    def domains(self) -> tuple[str, ...]:
        """The keys that give the domain: exactly one if the column is read, else none."""
        names = ("numeric", "edges", "date", "taxonomy", "values")
        return tuple(name for name in names if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.is_read:
            self._check_domain()
            check_derived(self)
        elif extra_keys := [*self.domains, *self._extras()]:
            raise mistake(
                f"The role {self.role!r} needs no domain.",
                "Remove this key, or change the role to predictor or class.",
                key=(extra_keys[0],),
            )
        if self.role == "class":
            self._check_class()
        return self

    def _extras(self) -> list[str]:
        keys = ("step", *_OF_TEXTS, "missing-values", *_OF_NUMBERS, *HOW)
        names = {key: key.replace("-", "_") for key in keys} | {"from": "from_"}
        extra_keys = {name for name in self.model_fields_set if getattr(self, name) is not None}
        return [key for key, name in names.items() if name in extra_keys]

    def _check_domain(self) -> None:
        if not self.domains:
            raise mistake(
                "The column has no domain.",
                f"Give one of: {_DOMAINS}; or leave the column out with 'role: drop'.",
            )
        if len(self.domains) > 1:
            raise mistake(
                f"{' and '.join(self.domains)} are both set.", f"Keep one of: {_DOMAINS}."
            )
        if "step" in self.model_fields_set and self.numeric is None:
            inside = "Write it inside 'date'." if self.date is not None else "Remove 'step'."
            raise mistake("'step' needs 'numeric'.", inside, key=("step",))
        if self.other is not None and self.domains[0] in _ORDERED:
            what = "Dates" if self.date is not None else "Numbers"
            raise mistake(
                f"{what} outside the bounds are clamped, so 'other' has no meaning.",
                "Remove 'other', or give 'taxonomy' or 'values'.",
                key=("other",),
            )
        if self.letters is not None and self.domains[0] in _ORDERED:
            raise mistake(
                "Only texts can be shortened, not numbers and dates.",
                "Remove 'letters'.",
                key=("letters",),
            )
        if self.domains[0] not in ("numeric", "edges"):
            self._check_no_number(is_date=self.date is not None)
        if self.numeric is not None:
            self._check_grid(*self.numeric)

    def _check_no_number(self, *, is_date: bool) -> None:
        for name in _OF_NUMBERS[is_date:]:
            if name in self.model_fields_set:
                raise mistake(
                    "This setting is for columns of numbers.",
                    f"Remove {name}, or give 'numeric'.",
                    key=(name,),
                )

    def _check_grid(self, low: Fraction, high: Fraction) -> None:
        if floor((high - low) / self.step) + 1 > MAX_CELLS:
            raise mistake(
                f"The grid has more than {MAX_CELLS:,} cells.",
                "Give a wider step or narrower bounds.",
                key=("step",),
            )
        unit = lcm(low.denominator, self.step.denominator)
        if unit * max(Fraction(1), abs(low), abs(high) + self.step) > MAX_BOUND:
            raise mistake(
                "The grid is finer than the floating-point numbers of the data.",
                "Give a step and bounds with fewer digits.",
                key=("step",),
            )

    def _check_class(self) -> None:
        if self.domains[0] in _ORDERED:
            raise mistake(
                f"The class cannot be a {'date' if self.date is not None else 'number'}.",
                "List its values in 'values', or give a taxonomy.",
                key=(self.domains[0],),
            )
        if self.values is not None and len(self.values) > MAX_CLASSES:
            raise mistake(
                f"There are more than {MAX_CLASSES:,} class values.",
                "Give fewer values.",
                key=("values",),
            )

    def marks(self, rules: Reading) -> NumberMarks:
        """Return the number marks of the column: its own, or those of ``rules``."""
        return NumberMarks(
            decimal=self.decimal or rules.decimal, thousands=self.thousands or rules.thousands
        )
