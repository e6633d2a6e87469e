"""The signatures in a plan: who confirmed its domains, and who approved the release.

A signature holds the fingerprint of the plan for which it was given. The certificate and the report
repeat who signed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    Tag,
    WithJsonSchema,
)

from hedgerow.model.certificate import LONGEST_APPROVER, LONGEST_REASON
from hedgerow.plan.fields import Name, PlanModel, mistake, plain_content

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_SIGN = "Sign the plan with 'hedgerow confirm PLAN --by NAME'."


def _day(value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):  # from TOML
        return value
    try:
        if isinstance(value, str) and _ISO.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise mistake("This is not a day.", "Give a date such as 2026-01-31.")


def _at_most(length: int) -> tuple[Any, ...]:
    """Return the checks of one line of text, short enough for a page."""

    def check(text: str) -> str:
        if len(text) > length:
            raise mistake(f"The text is longer than {length} characters.", "Give a shorter text.")
        return text

    schema = {"type": ["string", "integer"], "minLength": 1, "maxLength": length}
    return AfterValidator(check), WithJsonSchema(schema)


Day = Annotated[
    date,
    PlainValidator(_day),
    PlainSerializer(date.isoformat),
    WithJsonSchema({"type": "string", "format": "date"}),
]


ShortText = Annotated[Name, *_at_most(LONGEST_APPROVER)]
Sentence = Annotated[Name, *_at_most(LONGEST_REASON)]


def _fingerprint(value: object) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise mistake("This is not the fingerprint of a plan.", _SIGN)
    return value


def _signed_parts(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise mistake("This is not a mapping of keys to values.", _SIGN)
    content = plain_content(value)
    return content if isinstance(content, dict) else {}


Fingerprint = Annotated[
    str,
    PlainValidator(_fingerprint),
    WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
]
SignedParts = Annotated[
    dict[str, Any], PlainValidator(_signed_parts), WithJsonSchema({"type": "object"})
]


class ConfirmedPlan(PlanModel):
    """The person who confirmed that the domains are public, the day, and the plan."""

    by: ShortText = Field(description="the person who confirmed the plan; published")
    on: Day = Field(description="the day, such as 2026-01-31")
    plan: Fingerprint = Field(
        description="the fingerprint of the plan that was confirmed, as 'hedgerow confirm' writes"
        " it: 64 digits 0 to f"
    )
    public: tuple[Name, ...] = Field(
        (),
        description=(
            "the list of columns whose domains came from the data and are public knowledge"
            " according to the signer"
        ),
    )
    signed: SignedParts | None = Field(
        None,
        description=(
            "the settings that were signed, as 'hedgerow confirm' writes them, to show later"
            " changes"
        ),
    )


def _kind_of_confirmation(value: object) -> str:
    return "signed" if isinstance(value, Mapping | ConfirmedPlan) else "flag"


Confirmation = Annotated[
    Annotated[StrictBool, Tag("flag")] | Annotated[ConfirmedPlan, Tag("signed")],
    Discriminator(_kind_of_confirmation),
]
"""``true`` or ``false`` typed by hand, or a signature."""


class ApprovedPlan(PlanModel):
    """The person who approved the release, the day, and the reason; all of it is published."""

    by: ShortText = Field(description="the person who approved the release; published")
    on: Day = Field(description="the day, such as 2026-01-31")
    why: Sentence | None = Field(None, description="the reason in a sentence; published")
    plan: Fingerprint | None = Field(
        None,
        description="the fingerprint of the plan that was approved, as 'hedgerow confirm' writes"
        " it: 64 digits 0 to f",
    )
    signed: SignedParts | None = Field(
        None,
        description="the settings that were signed, if they differ from those of confirmed",
    )
