"""The nine pages: from requests about the folder to pages."""

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
"""All pages."""
