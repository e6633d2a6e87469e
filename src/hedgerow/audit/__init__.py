"""Audits: a guarantee that anyone can try to break.

A differentially private method is run many times on two tables that differ in one record.
Whatever happens more than e^epsilon times as often on one as on the other refutes its claim.
Here are tables that are built to hurt, a search for the worst event, and bounds that hold.

The package can be called: ``hedgerow.audit(["hedge"])`` is
:func:`hedgerow.audit.run.audit`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """A package with the name of its main function, which is called by that name."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Audit methods or a plan: see :func:`hedgerow.audit.run.audit`."""
        from hedgerow.audit.run import audit

        return audit(*given, **named)


sys.modules[__name__].__class__ = _CallablePackage
