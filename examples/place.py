"""The folder an example works in: what its first argument names, or a scratch folder."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


def working_folder() -> Path:
    """Return the folder, with a ledger of its own, so that no real account is touched."""
    named = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="hedgerow-example-")
    folder = Path(named)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["HEDGEROW_LEDGER"] = str(folder / "ledger.sqlite")
    return folder
