"""Walk through the studio in Chromium, through all nine pages: ``python tools/studio.py``.

From a table to a release, its views, a taxonomy, one record, a comparison and the ledger, with the
mouse and by keyboard; every page light and dark, 1280 and 390 pixels wide, with axe-core.
It fails where axe-core finds a thing, something runs off the page, the browser complains (of the
content policy, too), another host is asked, or a page is heavier than 300 KB. ``--pictures`` makes
those of docs/studio.md. Node.js, npm and Chromium must be there, as for tools/pages.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pages import NotThereError, chromium, packages

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = Path(__file__).with_name("studio.mjs")
HEAVIEST = 300_000
PICTURES = {
    **{"start-after": "start", "table": "table", "budget": "budget", "published": "publish"},
    **{"tree": "taxonomies", "map": "map", "disclose": "disclose"},
}


@contextmanager
def started(folder: Path) -> Iterator[str]:
    """Yield the address of a studio for a folder, with a ledger of its own."""
    words = [sys.executable, "-P", "-c", "from hedgerow.cli.main import main; main()"]
    process = subprocess.Popen(
        [*words, "studio", str(folder), "--no-open", "--json"],
        env={**os.environ, "HEDGEROW_LEDGER": str(folder.parent / "ledger.sqlite")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout is None:
            raise RuntimeError("the studio says nothing")
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.communicate(timeout=30)


def hospital(folder: Path) -> None:
    """Put a made-up hospital's table into a folder."""
    from hedgerow.demo.hospital import write_hospital

    write_hospital(folder, force=True)


def walked(way: str, *, scratch: Path, shots: Path | None = None) -> dict[str, Any]:
    """Return what a walk through the studio found, with the mouse or by keyboard."""
    browser, installed = chromium(), packages(scratch)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "register"
        folder.mkdir()
        hospital(folder)
        with started(folder) as address:
            command = [
                "node",
                str(SCRIPT),
                address,
                way,
                *([str(shots.resolve())] if shots else []),
            ]
            done = subprocess.run(
                command,
                cwd=installed,
                env={**os.environ, "CHROMIUM": browser},
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            raise RuntimeError(f"the walk failed: {done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def complaints(found: dict[str, Any]) -> list[str]:
    """Return what is wrong, a line each."""
    lines = [f"the browser complains: {each}" for each in found["complaints"]]
    for view in found["views"]:
        where = f"{view['page']}, {view['scheme']}, {view['width']} px"
        lines += [
            f"{where}: {each['impact']}: {each['id']} at {each['at']}"
            for each in view["violations"]
        ]
        if view["sideways"] > 0 or view["outside"]:
            lines.append(f"{where}: runs off the page: {', '.join(view['outside'])}")
    lines += [f"{name}: {size:,} bytes" for name, size in found["bytes"].items() if size > HEAVIEST]
    if len(found["hosts"]) > 1:
        lines.append(f"other hosts are asked: {found['hosts']}")
    return lines


def main() -> int:
    """Walk both ways, and say what is wrong."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scratch", type=Path, default=ROOT / ".pages", help="for npm packages")
    options.add_argument("--shots", type=Path, help="a folder for pictures of the pages")
    options.add_argument("--pictures", action="store_true", help="make those of docs/studio.md")
    options.add_argument("--way", choices=["mouse", "keyboard"], action="append")
    given = options.parse_args()
    shots = given.shots or (Path(tempfile.mkdtemp()) if given.pictures else None)
    wrong = []
    try:
        for way in given.way or ["mouse", "keyboard"]:
            found = walked(way, scratch=given.scratch, shots=shots if way == "mouse" else None)
            wrong += [f"{way}: {each}" for each in complaints(found)]
            print(
                f"{way}: {', '.join(found['steps'])}; first paints {found['paints']} ms;"
                f" bytes {found['bytes']}; slider {found['live']} ms"
            )
    except NotThereError as error:
        print(f"skipped: {error}")
        return 0
    if given.pictures and shots is not None:
        for name, page in PICTURES.items():
            shutil.copy(shots / f"{name}.jpg", ROOT / "docs" / "studio" / f"{page}.jpg")
    print(*wrong, f"{len(wrong)} complaints", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
