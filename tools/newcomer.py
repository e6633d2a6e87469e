"""Go a newcomer's way: from a wheel in an empty environment to a release, typed as the pages say.

Run as ``python tools/newcomer.py dist/hedgerow-0.2.0-py3-none-any.whl``. The lines are those of
docs/install.md, from "See that it works" on, and of docs/tutorial.md. It needs a package index;
with ``--borrow`` all libraries but hedgerow itself are those of the interpreter that runs it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)
INSTALL = ("docs/install.md", "## See that it works")
TUTORIAL = ("docs/tutorial.md", "")


def typed(page: str, after: str) -> list[tuple[str, str]]:
    """Return what a page tells its reader to type after a heading: shell lines and Python."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = text[text.index(after) :]
    found = []
    for kind, block in BLOCK.findall(text):
        if kind == "python" and ">>>" not in block:
            found.append((kind, block))
        elif kind == "console":
            lines = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
            found.append((kind, "\n".join(lines)))
    return found


def environment(folder: Path, wheel: Path, *, borrow: bool) -> Path:
    """Make an environment with the wheel and what it needs, and return its folder of programs."""
    place = folder / "hedgerow-env"
    venv.create(place, with_pip=not borrow)
    programs = place / ("Scripts" if os.name == "nt" else "bin")
    if not borrow:
        pip = [programs / "python", "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, f"{wheel}[evaluate]", "pandas"], check=True)  # as the tutorial says
        return programs
    kept = sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)})
    pip = [sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", wheel], check=True, capture_output=True)
    # Appended, so that what lies in the environment itself is found first.
    Path(kept, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return programs


def script(steps: list[tuple[str, str]]) -> str:
    """Return one shell script of all steps, so that folders are changed as a reader would."""
    lines = ["set -eu"]
    for kind, block in steps:
        lines.append(block if kind == "console" else f"python - <<'PYTHON'\n{block}PYTHON")
    return "\n".join(lines) + "\n"


def walk(steps: list[tuple[str, str]], folder: Path, programs: Path) -> str:
    """Type all steps in a folder and return what was said; a step that fails ends it."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own = {"PATH": path, "HEDGEROW_LEDGER": str(folder / "ledger.sqlite")}
    own |= {"XDG_CACHE_HOME": str(folder / "cache"), "HEDGEROW_PROGRESS": ""}
    done = subprocess.run(
        ["bash", "-c", script(steps)],
        cwd=folder,
        env=kept | own,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"it ended with {done.returncode}:\n{done.stdout[-3000:]}")
    return done.stdout


def main() -> int:
    """Install the wheel, type everything, and show what was said."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("wheel", type=Path)
    options.add_argument("--borrow", action="store_true", help="libraries of this interpreter")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        programs = environment(folder, given.wheel.resolve(), borrow=given.borrow)
        print(walk([*typed(*INSTALL), *typed(*TUTORIAL)], folder, programs))
    print("All typed as written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
