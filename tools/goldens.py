"""Write the files that tests compare with the code: JSON schemas, CLI and API pages, digests.

``python tools/goldens.py`` writes ``docs/plan.schema.json``, ``docs/certificate.schema.json``,
``docs/cli.md`` and ``docs/api.md``. ``--releases`` also writes ``tests/golden/releases.json``; use
it only for a change that is meant to change releases (CONTRIBUTING.md, "Releases").
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import api_reference
import cli_reference

from hedgerow.model.certificate import certificate_schema_text
from hedgerow.plan.schema import plan_schema_text

ROOT = Path(__file__).resolve().parent.parent


def write_pages() -> None:
    """Write the schemas and the CLI page, and print the names of those that changed."""
    pages = {
        "docs/plan.schema.json": plan_schema_text(),
        "docs/certificate.schema.json": certificate_schema_text(),
        "docs/cli.md": cli_reference.reference(),
        "docs/api.md": api_reference.reference(),
    }
    for name, text in pages.items():
        path = ROOT / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"Changed {name}.")


def write_releases() -> int:
    """Write the digests of releases; return the exit code of their tests."""
    environment = {**os.environ, "HEDGEROW_GOLDEN": "write"}
    command = [sys.executable, "-m", "pytest", "-q", "tests/test_golden.py"]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def main() -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", action="store_true", help="write the release digests, too")
    options = parser.parse_args()
    write_pages()
    return write_releases() if options.releases else 0


if __name__ == "__main__":
    sys.exit(main())
