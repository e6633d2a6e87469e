"""Certificates that tests change, sealed again as if they had been written so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hedgerow.model.sealed import SEAL, sealed


def resealed(facts: dict[str, Any]) -> str:
    """Return the text of a certificate with these facts, whatever its digest was."""
    return sealed({key: value for key, value in facts.items() if key != SEAL})


def change_certificate(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the facts of a folder's certificate, and its digest with them."""
    path = folder / "certificate.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    change(facts)
    path.write_text(resealed(facts), encoding="utf-8")
