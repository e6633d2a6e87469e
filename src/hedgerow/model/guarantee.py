"""The guarantee of a release, exactly and as one plain sentence."""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from hedgerow.model.people import Join, PeopleRule, noun_of
from hedgerow.model.unit import (
    NEIGHBOURS,
    PrivacyUnit,
    person_words,
    protection,
    several_cost,
    stated_once,
)
from hedgerow.privacy.budget import delta_text
from hedgerow.taxonomy.labels import displayed

NOT_PRIVATE = "reproducible, not private"

PURE = Fraction(0)
_MOST_VALUES = 12
_FRACTION = re.compile(r"\d+(/[1-9]\d*)?", re.ASCII)


def _fraction(value: object) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        return Fraction(value)
    raise ValueError("not an exact fraction such as 1 or 1/10")


ExactFraction = Annotated[
    Fraction,
    BeforeValidator(_fraction),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9]+(/[1-9][0-9]*)?$"}),
]
"""A budget as exact text, ``"1"`` or ``"1/10"``."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class CertificatePart(BaseModel):
    """A part of a certificate: validated once, written with hyphens."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=lambda name: name.replace("_", "-"),
        populate_by_name=True,
        allow_inf_nan=False,
    )


class CertifiedPerson(CertificatePart):
    """The persons who are protected with all their records, and how many of these count."""

    columns: tuple[str, ...] = Field(
        description="the columns that identify a person; never released"
    )
    records: int = Field(ge=1, description="the largest number of records of one person that count")
    counted: Literal["records", "people"] = Field(
        description="the unit of the counts: records, or people, whose records share one weight"
    )
    join: Join | None = Field(
        default=None,
        description="union: a person's baskets are joined into one; null: they are not joined",
    )

    @property
    def noun(self) -> str:
        """Noun for one protected person, from the column's name."""
        return noun_of(self.columns)

    @property
    def counts_people(self) -> bool:
        """Return whether counts are of people, not of records."""
        return self.counted == "people" or self.join is not None

    @classmethod
    def of(cls, people: PeopleRule) -> CertifiedPerson:
        """Return the certificate's part for a rule."""
        return cls(
            columns=people.columns,
            records=people.most,
            counted=people.counted,
            join=people.join,
        )


class Guarantee(CertificatePart):
    """The guarantee, exactly and as one plain sentence."""

    kind: Literal["differential privacy", "none"]
    epsilon: ExactFraction | None = Field(description="exact, as text; null without a guarantee")
    epsilon_decimal: float | None = Field(description="the same, rounded, for reading")
    delta: ExactFraction | None
    neighbours: str | None = Field(description="the two tables that the guarantee compares")
    person: CertifiedPerson | None = Field(
        default=None, description="who is protected with all their records; null: see unit"
    )
    unit: PrivacyUnit | None = Field(
        default=None,
        description=(
            "the privacy unit, as the plan states it: a person with all their records, the one"
            " record of a person, or each record; omitted: certificates of earlier versions, and"
            " no guarantee"
        ),
        exclude_if=lambda unit: unit is None,
    )
    private: bool = Field(description="false for seeded runs and methods without a guarantee")
    statement: str

    @classmethod
    def differential_privacy(
        cls,
        epsilon: Fraction,
        *,
        reproducible: bool,
        delta: Fraction = PURE,
        caveat: str | None = None,
        unit: PrivacyUnit,
        people: PeopleRule | None = None,
        called: str = "records",
        rests_on: str | None = None,
    ) -> Guarantee:
        """Return the guarantee of ``epsilon`` and ``delta``; a reproducible run has none.

        ``unit`` is the privacy unit that the plan states, ``people`` the rule of the unit
        ``person``, and ``called`` the name of the records. ``rests_on`` is a condition that others
        answer for.
        """
        kept = (
            _statement(epsilon, unit, people, called)
            if delta == 0
            else _loose_statement(epsilon, delta, unit, caveat)
        )
        kept = kept if rests_on is None else f"{kept} {rests_on}"
        return cls(
            kind="differential privacy",
            epsilon=epsilon,
            epsilon_decimal=float(epsilon),
            delta=delta,
            neighbours=NEIGHBOURS[unit],
            person=None if people is None else CertifiedPerson.of(people),
            unit=unit,
            private=not reproducible,
            statement=_seeded_statement(epsilon) if reproducible else kept,
        )

    @classmethod
    def none(cls, statement: str) -> Guarantee:
        """Return the certificate of a method that is not differentially private."""
        return cls(
            kind="none",
            epsilon=None,
            epsilon_decimal=None,
            delta=None,
            neighbours=None,
            person=None,
            private=False,
            statement=statement,
        )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        promised = self.kind == "differential privacy"
        if promised != (self.epsilon is not None) or (self.private and not promised):
            raise ValueError(
                "Epsilon is required for differential privacy, and allowed only there."
            )
        if self.unit is not None and (
            not promised or (self.unit == "person") != (self.person is not None)
        ):
            raise ValueError("The privacy unit does not agree with the rest of the guarantee.")
        return self

    def protects(self, records: str = "records") -> str | None:
        """Return the protection as text, or ``None`` without a guarantee or a unit.

        ``records`` is the name of the records. Certificates of earlier versions state no unit.
        """
        if self.unit is None:
            return None
        columns = () if self.person is None else self.person.columns
        return protection(self.unit, columns, records=records, pure=not self.delta)


def _statement(
    epsilon: Fraction, unit: PrivacyUnit, people: PeopleRule | None, records: str
) -> str:
    record = records.removesuffix("s")
    whose = f"any one {record} as without it. {several_cost(records)}"
    if people is not None:
        whose = (
            f"any one {person_words(people.columns)}, with all their {records}, as without them."
        )
    elif unit == "one record per person":
        whose = f"any one person's {record} as without it. {stated_once(records)}"
    return (
        f"Differentially private with epsilon = {epsilon} and delta = 0: whatever anyone"
        f" concludes from this release is at most {factor_text(epsilon)} times, and at least"
        f" {inverse_factor_text(epsilon)} times, as likely with {whose}"
    )


def _loose_statement(
    epsilon: Fraction, delta: Fraction, unit: PrivacyUnit, caveat: str | None
) -> str:
    single = unit == "one record per person"
    whose = "person's record" if single else "record"
    statement = (
        f"Differentially private with epsilon = {epsilon} and delta = {delta_text(delta)}: no"
        f" outcome is more than {factor_text(epsilon)} times as likely with any one {whose} as"
        " without it, or without it as with it, up to an added probability of delta."
        f" {stated_once() if single else several_cost(pure=False)}"
    )
    return statement if caveat is None else f"{statement} {caveat}"


def _seeded_statement(epsilon: Fraction) -> str:
    return (
        "Reproducible, not private: the random numbers came from a seed, so whoever knows or"
        f" guesses it can take the noise away; the guarantee of epsilon = {epsilon} does not"
        " hold."
    )


def listed(values: tuple[str, ...]) -> str:
    """Return values as a readable list of at most twelve.

    >>> listed(("2026-10", "2026-11"))
    "'2026-10' or '2026-11'"
    """
    shown = [displayed(value) for value in values[:_MOST_VALUES]]
    if len(values) > _MOST_VALUES:
        shown.append(f"one of {len(values) - _MOST_VALUES:,} more")
    return " or ".join(shown)


def factor_text(epsilon: Fraction) -> str:
    """Return e to the ``epsilon``, rounded up, for "at most".

    >>> factor_text(Fraction(1)), factor_text(Fraction(1, 4)), factor_text(Fraction(100))
    ('2.72', '1.29', '2.7e+43')
    """
    with localcontext(_OUTWARD) as context:
        factor = _exact_exp(epsilon).next_plus(context)
        if factor < _PLAIN_BELOW:
            return f"{factor.quantize(Decimal('0.01'), ROUND_CEILING):,}"
        return _scientific(factor, ROUND_CEILING)


def inverse_factor_text(epsilon: Fraction) -> str:
    """Return e to minus ``epsilon``, rounded down to two digits, for "at least".

    >>> inverse_factor_text(Fraction(1)), inverse_factor_text(Fraction(1, 10))
    ('0.36', '0.90')
    >>> inverse_factor_text(Fraction(4)), inverse_factor_text(Fraction(20))
    ('0.018', '2.0e-9')
    """
    with localcontext(_OUTWARD) as context:
        factor = _exact_exp(-epsilon).next_minus(context)
        if factor < _PLAIN_ABOVE:
            return _scientific(factor, ROUND_FLOOR)
        step = Decimal(1).scaleb(factor.adjusted() - 1)
        return f"{factor.quantize(step, ROUND_FLOOR):f}"


_OUTWARD = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
_PLAIN_BELOW, _PLAIN_ABOVE = Decimal(10**6), Decimal("0.0001")


def _exact_exp(exponent: Fraction) -> Decimal:
    """Return e to an exponent, to fifty digits."""
    return (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()


def _scientific(number: Decimal, rounding: str) -> str:
    """Return a number with two digits and a power of ten."""
    power = number.adjusted()
    digits = number.scaleb(-power).quantize(Decimal("0.1"), rounding)
    if digits >= 10:
        digits, power = Decimal("1.0"), power + 1
    return f"{digits}e{power:+d}"
