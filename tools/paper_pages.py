"""Write the figures of the papers, as they came out here, into research/papers.

Run as ``python tools/paper_pages.py RESULTS``, RESULTS being the folder that
``python -m experiments run all -o RESULTS`` has filled. Everything below the heading "The figures,
run again" of each page is replaced; pages of papers without results stay as they are.
"""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.page import write_pages

if __name__ == "__main__":
    results = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("papers")
    for page in write_pages(
        results, Path(__file__).resolve().parent.parent / "research" / "papers"
    ):
        sys.stdout.write(f"{page.name}\n")
