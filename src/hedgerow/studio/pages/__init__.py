"""The nine pages: requests for what lies in the folder come in, pages leave."""

from __future__ import annotations

from hedgerow.studio.pages import (
    budget,
    compare,
    disclose,
    ledger,
    publish,
    release,
    start,
    table,
    taxonomies,
)

ORDER = (
    "start",
    "table",
    "taxonomies",
    "budget",
    "publish",
    "release",
    "compare",
    "disclose",
    "ledger",
)
"""The pages as the navigation lists them."""

PAGES = (
    start.PAGE,
    table.PAGE,
    taxonomies.PAGE,
    budget.PAGE,
    publish.PAGE,
    release.PAGE,
    compare.PAGE,
    disclose.PAGE,
    ledger.PAGE,
)
"""The pages that there are."""
