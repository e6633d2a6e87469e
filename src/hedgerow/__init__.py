"""Publish confidential data so that nobody in it can be singled out.

>>> import hedgerow
>>> sorted(hedgerow.__all__)  # doctest: +NORMALIZE_WHITESPACE
['BasketRelease', 'Disclosure', 'Ledger', 'Plan', 'Release', 'Taxonomy', 'audit',
 'disclose', 'evaluate', 'load_plan', 'publish', 'read_taxonomy']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.auditing.run import audit
    from hedgerow.disclosure.disclose import disclose
    from hedgerow.disclosure.result import Disclosure
    from hedgerow.evaluation.run import evaluate
    from hedgerow.pipeline.publish import publish
    from hedgerow.plan.load import load_plan
    from hedgerow.plan.model import Plan
    from hedgerow.privacy.ledger import Ledger
    from hedgerow.release.baskets import BasketRelease
    from hedgerow.release.release import Release
    from hedgerow.taxonomy.files import read_taxonomy
    from hedgerow.taxonomy.tree import Taxonomy

__all__ = [
    "BasketRelease",
    "Disclosure",
    "Ledger",
    "Plan",
    "Release",
    "Taxonomy",
    "audit",
    "disclose",
    "evaluate",
    "load_plan",
    "publish",
    "read_taxonomy",
]

_HOMES = {
    "BasketRelease": "hedgerow.release.baskets",
    "Disclosure": "hedgerow.disclosure.result",
    "Ledger": "hedgerow.privacy.ledger",
    "Plan": "hedgerow.plan.model",
    "Release": "hedgerow.release.release",
    "Taxonomy": "hedgerow.taxonomy.tree",
    "audit": "hedgerow.auditing.run",
    "disclose": "hedgerow.disclosure.disclose",
    "evaluate": "hedgerow.evaluation.run",
    "load_plan": "hedgerow.plan.load",
    "publish": "hedgerow.pipeline.publish",
    "read_taxonomy": "hedgerow.taxonomy.files",
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for, so that importing hedgerow costs nothing."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")
