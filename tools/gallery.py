"""Write the gallery of the papers' figures, research/gallery.md, from the papers' research pages.

Run as ``python tools/gallery.py > research/gallery.md``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

RESEARCH = Path(__file__).resolve().parents[1] / "research"
PAPERS = ("diffgen", "diffmulti", "diffpart", "aruba", "supermodular")
HEAD = """# Gallery

Every figure with results of the five papers, run again on public data with the code of this
package: `make papers`, some twenty minutes. What each shows, the numbers behind it and a verdict
on each statement that the paper makes about it are on the paper's page. This page is made by
`tools/gallery.py`.
"""
_FIGURE = re.compile(r"^!\[([^\]]+)\]\((figures/[\w.-]+)\)", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def gallery() -> str:
    """Return the page."""
    parts = [HEAD]
    for name in PAPERS:
        text = (RESEARCH / "papers" / f"{name}.md").read_text(encoding="utf-8")
        title = _TITLE.search(text)
        parts.append(f"## {title[1].removeprefix('Research: ') if title else name}\n")
        parts.append(f"The page: [{name}](papers/{name}.md).\n")
        for words, figure in _FIGURE.findall(text):
            parts.append(f"**{words}**\n\n![{words}](papers/{figure})\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(gallery())
