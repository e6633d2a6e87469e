"""Draw the README's picture from a real release: ``python tools/picture.py``.

Publishes the demonstration (UCI Adult at epsilon 1, by the default method) in a scratch folder and
puts the report's map of boxes beside its first page, in docs/pictures/release.png. Noise is drawn
afresh, so the picture is another one each time. Needs what tools/pages.py needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import ROOT, chromium, packages

SCRIPT = Path(__file__).with_name("picture.mjs")
PICTURE = ROOT / "docs" / "pictures" / "release.png"


def main() -> int:
    """Publish, draw, and say where the picture is."""
    folder = packages(ROOT / ".pages")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        from hedgerow.demo import run_demo

        run_demo(Path(scratch) / "demo")
        report = Path(scratch) / "demo" / "release" / "report.html"
        subprocess.run(
            ["node", str(SCRIPT), str(report), str(PICTURE)],
            cwd=folder,
            env={**os.environ, "CHROMIUM": chromium()},
            check=True,
        )
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
