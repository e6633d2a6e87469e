"""Write the studio's glossary anew from docs/glossary.md: ``python tools/glossary.py``."""

from __future__ import annotations

import json
from pathlib import Path

from hedgerow.studio.shared import words_in

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "src" / "hedgerow" / "studio" / "glossary.json"


def glossary_text() -> str:
    """Return what the file must hold."""
    words = words_in((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    return json.dumps(words, ensure_ascii=False, indent=0) + "\n"


if __name__ == "__main__":
    PLACE.write_text(glossary_text(), encoding="utf-8")
