"""Put the documentation into the wheel as Markdown, which `hedgerow docs` renders.

Markdown and pictures take 0.8 MB. The HTML that Sphinx builds is four times as large and would
require Sphinx to build a wheel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSIDE = "hedgerow/handbook/pages"
WANTED = {".md", ".svg", ".png", ".jpg", ".json"}
BESIDE = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


class DocumentationHook(BuildHookInterface[Any]):
    """Add docs/ to wheels; an editable install reads them from the clone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to add."""
        if version == "editable":
            return
        root = Path(self.root)
        pages = [path for path in sorted((root / "docs").rglob("*")) if path.suffix in WANTED]
        for path in [*pages, *(root / name for name in BESIDE)]:
            name = path.relative_to(root).as_posix()
            build_data["force_include"][str(path)] = f"{INSIDE}/{name}"
