"""What a person adds to a draft before it can be published."""

from __future__ import annotations

from hedgerow.plan.model import Plan


def unit_of(plan: Plan) -> dict[str, str]:
    """Return the privacy unit for a plan that states none: each record is protected."""
    return {} if plan.privacy_unit is not None else {"protects": "records"}


def confirmed_text(text: str, plan: Plan) -> str:
    """Return the text of a draft as a person confirms it, with a privacy unit."""
    lines = "".join(f"{key}: {value}\n" for key, value in unit_of(plan).items())
    return text.replace("confirmed: false", f"{lines}confirmed: true")
