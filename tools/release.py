"""Make a release of the package: everything but the upload.

Run as ``python tools/release.py [--version 0.2.0] [--skip-checks]`` in a clean clone. It checks
that version, changelog and citation agree and that nothing is uncommitted, runs ``make check``,
builds wheel and source archive, installs the wheel in an empty environment, goes a newcomer's way
with it, and leaves both in ``dist/`` with their digests. What to do next is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"


class NotReadyError(Exception):
    """The clone is not what can be released; the message says what to do."""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command, show it, and return what it printed; a failure ends the release."""
    print("$", *command, flush=True)
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, text=True, stdout=subprocess.PIPE, check=False
    )
    if done.returncode:
        print(done.stdout)
        raise NotReadyError(f"it ended with {done.returncode}; mend what it says")
    return done.stdout


def version_of(root: Path = ROOT) -> str:
    """Return the version that the package states."""
    facts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    version: str = facts["project"]["version"]
    return version


def check_words(version: str, root: Path = ROOT) -> None:
    """Refuse a version that changelog and citation do not have."""
    log = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## (\S+), (.+)$", log, flags=re.MULTILINE)
    if heading is None or heading[1] != version:
        raise NotReadyError(f"CHANGELOG.md does not begin with {version}")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", heading[2]):
        raise NotReadyError(f"CHANGELOG.md says {heading[2]!r} where the date should be")
    cited = (root / "CITATION.cff").read_text(encoding="utf-8")
    if f"\nversion: {version}\n" not in cited:
        raise NotReadyError(f"CITATION.cff does not have version {version}")


def check_clone(version: str) -> None:
    """Refuse changes that are not committed, and a version that has been released."""
    if run("git", "status", "--porcelain").strip():
        raise NotReadyError("there are changes that are not committed")
    if f"v{version}" in run("git", "tag", "--list").split():
        head = run("git", "rev-parse", "HEAD").strip()
        if run("git", "rev-list", "-n", "1", f"v{version}").strip() != head:
            raise NotReadyError(f"v{version} has been released: raise the version")


def build() -> list[Path]:
    """Build wheel and source archive anew."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        tools = environment(Path(folder))
        run(tools, "-m", "pip", "install", "--quiet", "build")
        run(tools, "-m", "build", "--outdir", DIST, ROOT)
    made = sorted(DIST.iterdir())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    return made


def environment(folder: Path) -> Path:
    """Make an empty environment and return its interpreter."""
    venv.create(folder / "venv", with_pip=True)
    return folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def try_out(wheel: Path, version: str) -> None:
    """Install the wheel where nothing else is, and go a newcomer's way with it."""
    with tempfile.TemporaryDirectory() as folder:
        python = environment(Path(folder))
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[evaluate]")
        hedgerow = python.with_name("hedgerow")
        if run(hedgerow, "--version", cwd=Path(folder)).strip() != f"hedgerow {version}":
            raise NotReadyError("the wheel has another version")
        run(hedgerow, "demo", "--out", "demo", cwd=Path(folder))
        run(hedgerow, "check", "demo/plan.yaml", cwd=Path(folder))


def main() -> None:
    """Make the release that the clone describes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--version", help="refuse unless the package has this version")
    parser.add_argument(
        "--skip-checks",
        action="store_true",
        help="build and try the package alone: for trials, not for a release",
    )
    asked = parser.parse_args()
    version = version_of()
    try:
        if asked.version and asked.version != version:
            raise NotReadyError(f"the package has version {version}")
        if not asked.skip_checks:
            check_words(version)
            check_clone(version)
            run("make", "check")
        made = build()
        (wheel,) = (path for path in made if path.suffix == ".whl")
        try_out(wheel, version)
    except NotReadyError as error:
        sys.exit(f"not released: {error}")
    print(f"\nhedgerow {version} is in dist/:")
    for path in made:
        print(f"  {path.name}  {path.stat().st_size / 1e6:.1f} MB")
    print(
        f"\nNext: git tag -s v{version}, and push the tag; .github/workflows/publish.yml uploads."
    )


if __name__ == "__main__":
    main()
