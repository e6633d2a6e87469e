"""Taxonomy files that are edited in the studio: each edit is written at once and can be undone.

The state folder of the studio keeps the bytes of a file before each edit, so undo works in a
reopened page and after a restart, as long as the file was not changed elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from hedgerow.errors import InputError
from hedgerow.studio.folder import Folder
from hedgerow.taxonomy.edits import EditableTree
from hedgerow.taxonomy.formats.text import read_text, write_taxonomy_bytes
from hedgerow.taxonomy.rewrite import (
    OpenedTaxonomy,
    TaxonomyChangedError,
    difference,
    digest_of,
)

MOST_STEPS = 50
"""Maximum number of edits of a file that can be undone."""

MOST_OPENED = 8
_OPENED: OrderedDict[tuple[str, str], OpenedTaxonomy] = OrderedDict()
_WRITING = threading.Lock()

TreeEdit: TypeAlias = Callable[[EditableTree], EditableTree]
Way: TypeAlias = Literal["undo", "redo"]


@dataclass(frozen=True, kw_only=True)
class TreeFiles:
    """The taxonomy files of a folder."""

    folder: Folder

    def opened(self, name: str) -> OpenedTaxonomy:
        """Return the file of that name, read again only if it has changed."""
        path = self.folder.inside(name)
        key = (str(path), digest_of(path))
        found = _OPENED.get(key)
        if found is None:
            found = OpenedTaxonomy.read(path)
            _OPENED[key] = found
        _OPENED.move_to_end(key)
        while len(_OPENED) > MOST_OPENED:
            _OPENED.popitem(last=False)
        return found

    def edit(self, name: str, version: str, edit: TreeEdit) -> OpenedTaxonomy:
        """Write an edited file, if it still has the version that was shown."""
        with _WRITING:
            file = self._unchanged(name, version)
            before = file.path.read_bytes()
            written = file.replace(edit(EditableTree.of(file.taxonomy)).taxonomy())
            _OPENED[str(written.path), written.digest] = written
            if written.digest != file.digest:
                self._push(name, "undo", before, written.digest)
                self._clear(name, "redo")
        return self.opened(name)

    def step(self, name: str, version: str, way: Way) -> OpenedTaxonomy:
        """Undo the last edit of a file, or redo it, byte for byte."""
        with _WRITING:
            file = self._unchanged(name, version)
            found = self._steps(name, way)
            if not found or found[-1].name.partition("-")[2] != file.digest:
                raise InputError(
                    "There is no edit to undo or redo.",
                    where=name,
                    do="Edit the file again: it was changed elsewhere, or has no edits.",
                )
            content, now = found[-1].read_bytes(), file.path.read_bytes()
            write_taxonomy_bytes(file.path, content)
            found[-1].unlink()
            other: Way = "redo" if way == "undo" else "undo"
            self._push(name, other, now, hashlib.sha256(content).hexdigest())
        return self.opened(name)

    def n_steps(self, name: str, way: Way) -> int:
        """Return the number of edits of the current file that can be undone or redone."""
        found = self._steps(name, way)
        is_last = bool(found) and found[-1].name.partition("-")[2] == digest_of(
            self.folder.inside(name)
        )
        return len(found) if is_last else 0

    def create(self, name: str, write: Callable[[Path], None]) -> OpenedTaxonomy:
        """Create a new file."""
        path = self.folder.inside(name)
        if path.exists():
            raise InputError("The file already exists.", where=name, do="Give another name.")
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
        return self.opened(name)

    def marked(self, name: str) -> bool:
        """Return true if the current version of the file is marked as complete."""
        return self._marks().get(name) == digest_of(self.folder.inside(name))

    def mark(self, name: str, version: str, *, complete: bool) -> None:
        """Mark a file as complete, or remove the mark; any edit also removes it."""
        with _WRITING:
            self._unchanged(name, version)
            marks = self._marks()
            if complete:
                marks[name] = version
            else:
                marks.pop(name, None)
            place = self.folder.state() / "complete.json"
            write_taxonomy_bytes(place, json.dumps(marks).encode())

    def _unchanged(self, name: str, version: str) -> OpenedTaxonomy:
        file = self.opened(name)
        if file.digest != version:
            key = (str(file.path), version)
            seen = _OPENED[key].text if key in _OPENED else ""
            raise TaxonomyChangedError(file.path, difference(seen, read_text(file.path)))
        return file

    def _marks(self) -> dict[str, str]:
        try:
            found = json.loads((self.folder.state() / "complete.json").read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _place(self, name: str, way: Way) -> Path:
        key = hashlib.sha256(name.encode()).hexdigest()[:24]
        return self.folder.state() / "trees" / key / way

    def _steps(self, name: str, way: Way) -> list[Path]:
        place = self._place(name, way)
        return sorted(place.iterdir()) if place.is_dir() else []

    def _push(self, name: str, way: Way, content: bytes, after: str) -> None:
        place = self._place(name, way)
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        steps = self._steps(name, way)
        number = int(steps[-1].name.partition("-")[0]) + 1 if steps else 0
        (place / f"{number:08d}-{after}").write_bytes(content)
        for old in steps[: max(len(steps) + 1 - MOST_STEPS, 0)]:
            old.unlink()

    def _clear(self, name: str, way: Way) -> None:
        for step in self._steps(name, way):
            step.unlink()
