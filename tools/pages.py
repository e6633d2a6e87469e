"""Look at every page that hedgerow writes in Chromium, with axe-core: ``python tools/pages.py``.

Light and dark, 1280 and 390 pixels wide, folded and opened. It fails where axe-core finds a thing,
where something runs off the page or over something else, where it asks another host for something,
or where a wide table's page is too long.
Node.js, npm and Chromium must be there (CHROMIUM names the browser); playwright-core and axe-core
(both development tools that are not shipped) are installed in a scratch folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = Path(__file__).with_name("pages.mjs")
PACKAGES = ("playwright-core@1.65.0", "axe-core@4.14.0")
MOST_SCREENS = 6.0
"""Screens of 1280 x 800 that a report of a wide table may have before anything is opened."""


class NotThereError(Exception):
    """Something that looking at pages needs is not installed."""


def chromium() -> str:
    """Return the browser's program."""
    named = os.environ.get("CHROMIUM")
    for name in (named, "chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise NotThereError("there is no Chromium: install it, or name it in CHROMIUM")


def packages(scratch: Path) -> Path:
    """Return a folder with playwright-core and axe-core, installed if they are not there."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise NotThereError(f"there is no {program}")
    if not (scratch / "node_modules" / "axe-core" / "axe.min.js").is_file():
        scratch.mkdir(parents=True, exist_ok=True)
        (scratch / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotThereError("npm could not install playwright-core and axe-core")
    return scratch


def look(
    pages: dict[str, Path], *, scratch: Path, shots: Path | None = None
) -> list[dict[str, Any]]:
    """Return what the browser found on every page, at every size and in every colour scheme."""
    browser, folder = chromium(), packages(scratch)
    listed = folder / "pages.json"
    listed.write_text(json.dumps({name: str(path) for name, path in pages.items()}), "utf-8")
    command = ["node", str(SCRIPT), str(listed), *([str(shots.resolve())] if shots else [])]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "CHROMIUM": browser},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the browser failed: {done.stderr[-2000:]}")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def complaints(found: list[dict[str, Any]]) -> list[str]:
    """Return what is wrong, a line each."""
    lines = []
    for view in found:
        where = f"{view['page']}, {view['scheme']}, {view['width']} px"
        lines += [
            f"{where}: {each['impact']}: {each['id']} at {each['at'][0]}"
            for each in view["violations"]
        ]
        if view["sideways"] > 0 or view["outside"]:
            lines.append(f"{where}: runs off the page: {', '.join(view['outside'])}")
        lines += [f"{where}: runs together: {each}" for each in view["over"]]
        lines += [f"{where}: asks the network for {each}" for each in view["asked"]]
        is_report = not view["page"].startswith("evaluation")
        is_wide = is_report and view["page"].endswith("-wide") and view["width"] == 1280
        if is_wide and view["screens"] > MOST_SCREENS:
            lines.append(f"{where}: {view['screens']:.1f} screens")
    return lines


def main() -> int:
    """Write the pages, look at them, and say what is wrong."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scratch", type=Path, default=ROOT / ".pages", help="for npm packages")
    options.add_argument("--shots", type=Path, help="a folder for pictures of the pages")
    given = options.parse_args()
    sys.path[:0] = [str(ROOT / "tests")]
    from support.pages import write_pages

    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEDGEROW_LEDGER"] = str(Path(folder) / "ledger.sqlite")
        try:
            chromium()
            packages(given.scratch)
            found = look(write_pages(Path(folder)), scratch=given.scratch, shots=given.shots)
        except NotThereError as error:
            print(f"skipped: {error}")
            return 0
    wrong = complaints(found)
    longest = {view["page"]: view["screens"] for view in found if view["width"] == 1280}
    for name, screens in longest.items():
        print(f"{name:20} {screens:4.1f} screens of 1280 x 800")
    print(*wrong, f"{len(found)} views, {len(wrong)} complaints", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
