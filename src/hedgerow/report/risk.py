"""The owner's page about the risk of a raw table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hedgerow.report.headlines import per_cent
from hedgerow.report.page import rendered

_LISTED = 10
"""Maximum number of sets of columns on the page."""

ATTACKS_PAGE = "https://github.com/hedgerow/hedgerow/blob/main/docs/attacks.md"
"""The page of the documentation about attacks on tables without a guarantee."""


def render_risk(facts: Mapping[str, Any], *, for_owner: str) -> str:
    """Return the page as self-contained HTML."""
    worst = sorted(facts["sets"]["worst"], key=lambda each: -each["share"])
    by_size = [
        next((each for each in worst if len(each["columns"]) == size), None) for size in (1, 2, 3)
    ]
    return rendered(
        "risk.html.j2",
        facts=facts,
        for_owner=for_owner,
        attacks_page=ATTACKS_PAGE,
        headline=risk_headline(facts),
        by_size=[each for each in by_size if each is not None],
        worst=worst[:_LISTED],
        per_cent=per_cent,
        largest=max((bar["records"] for bar in facts["sizes"]), default=0) or 1,
    )


def risk_headline(facts: Mapping[str, Any]) -> str:
    """Return a summary of the figures in one or two sentences.

    >>> risk_headline({"records": 0})
    'The table has no records.'
    """
    if not facts["records"]:
        return "The table has no records."
    share, n = per_cent(facts["unique"]["share"]), len(facts["quasi-identifiers"])
    text = f"{share} of the {facts['records']:,} records are unique on the {n} quasi-identifiers."
    worst = max(facts["sets"]["worst"], key=lambda each: each["share"], default=None)
    if worst is not None and worst["unique"]:
        columns = " and ".join(
            filter(None, [", ".join(worst["columns"][:-1]), worst["columns"][-1]])
        )
        text += f" {columns} alone single out {per_cent(worst['share'])}."
    return text
