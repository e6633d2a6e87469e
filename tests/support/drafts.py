"""What a person adds to a draft before it can be published."""

from __future__ import annotations

import re
from typing import Any

from hedgerow.plan.model import Plan


def unit_of(plan: Plan) -> dict[str, Any]:
    """Return the answers to a draft's questions: its own unit, or that records are protected."""
    unit = {} if plan.privacy_unit is not None else {"protects": "records"}
    return {**unit, "to_do": ()}


def confirmed_text(text: str, plan: Plan) -> str:
    """Return the text of a draft as a person confirms it, with a privacy unit."""
    unit = "" if plan.privacy_unit is not None else "protects: records\n"
    answered = re.sub(r"^to-do:\n(?:  .*\n)+", "", text, flags=re.MULTILINE)
    return answered.replace("confirmed: false", f"{unit}confirmed: true")
