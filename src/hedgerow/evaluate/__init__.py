"""What a release keeps, measured against the raw data, for the data owner.

The package can be called: ``hedgerow.evaluate(release, data)`` is
:func:`hedgerow.evaluate.run.evaluate`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """A package with the name of its main function, which is called by that name."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Evaluate a release: see :func:`hedgerow.evaluate.run.evaluate`."""
        from hedgerow.evaluate.run import evaluate

        return evaluate(*given, **named)


sys.modules[__name__].__class__ = _CallablePackage
