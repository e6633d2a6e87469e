"""Who signed for a release: public words in the plan, repeated by certificate and report."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)

from hedgerow.model.certificate import LONGEST_APPROVER, LONGEST_REASON
from hedgerow.plan.fields import Name, PlanModel, mistake

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _day(value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):  # as TOML reads it
        return value
    try:
        if isinstance(value, str) and _ISO.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise mistake("is not a day", "Give a date such as 2026-01-31.")


def _at_most(length: int) -> tuple[Any, ...]:
    """Return the checks of one line of text that is not too long for a page."""

    def check(text: str) -> str:
        if len(text) > length:
            raise mistake(f"is longer than {length} characters", "Give a shorter text.")
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


class ApprovedPlan(PlanModel):
    """Who answers for the release, since when, and why. All of it is published."""

    by: ShortText = Field(description="who signed for the release, as everybody may read it")
    on: Day = Field(description="the day, such as 2026-01-31")
    why: Sentence | None = Field(
        None, description="the reason in a sentence, as everybody may read it"
    )
