"""The plan file, which is the state of the studio: edited in place and replaced atomically."""

from __future__ import annotations

import difflib
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hedgerow.errors import InputError, PlanError, RefusedError
from hedgerow.pipeline.confirm import Signing
from hedgerow.plan.load import checked
from hedgerow.plan.model import Plan
from hedgerow.plan.parse import format_of, parse_text, read_plan_text
from hedgerow.plan.rewrite import replace_file, rewritten
from hedgerow.studio.folder import Folder
from hedgerow.studio.yamledit import Edit, edited, first_comments, remarks

_SEEN_MOST = 64
_seen: OrderedDict[str, str] = OrderedDict()
"""Texts shown on pages, by version, so that differences can be shown."""

_writing = threading.Lock()


class ChangedMeanwhileError(RefusedError):
    """The file was changed elsewhere since the page was shown; ``difference`` has the lines."""

    def __init__(self, name: str, difference: Sequence[str]) -> None:
        self.difference = tuple(difference)
        super().__init__(
            "The file was changed meanwhile, in another tab, an editor or by a command. Nothing"
            " was written.",
            where=name,
            do="Look at the difference, load the page again, and repeat your change.",
        )


@dataclass(frozen=True, kw_only=True)
class PlanFile:
    """A plan file as it was read; ``version`` identifies its exact text."""

    folder: Folder
    name: str
    path: Path
    text: str = field(repr=False)

    @classmethod
    def read(cls, folder: Folder, name: str) -> PlanFile:
        """Return the plan file of that name in the folder."""
        path = folder.inside(name)
        format_of(path)
        file = cls(folder=folder, name=name, path=path, text=read_plan_text(path))
        _remember(file)
        return file

    @property
    def version(self) -> str:
        """Identifier of the text that forms send back, so that they change only this text."""
        return version_of(self.text)

    @property
    def is_yaml(self) -> bool:
        """True if the file can be edited here: only edits of YAML keep comments."""
        return format_of(self.path) == "YAML"

    @property
    def data(self) -> dict[str, Any]:
        """The content of the file, not validated."""
        found = parse_text(self.text, kind=format_of(self.path), where=self.name).data
        if not isinstance(found, dict):
            raise PlanError("The plan is not a mapping of keys to values.", where=self.name)
        return found

    def plan(self) -> Plan:
        """Return the validated plan, or raise an error with all mistakes."""
        parsed = parse_text(self.text, kind=format_of(self.path), where=self.name)
        return checked(parsed.data, where=self.name, lines=parsed.lines, base=self.path.parent)

    def marks(self, *path: str) -> dict[str, str]:
        """Return the first comment of each entry of a mapping, such as the attributes."""
        return first_comments(self.text, path) if self.is_yaml else {}

    def remarks(self, *path: str) -> dict[str, str]:
        """Return the comments directly above each key of the plan, or of one section."""
        return remarks(self.text, path) if self.is_yaml else {}

    def with_edits(self, edits: Sequence[Edit]) -> PlanFile:
        """Return the edited file without writing it."""
        text = edited(self.text, edits, where=self.name)
        return PlanFile(folder=self.folder, name=self.name, path=self.path, text=text)

    def check_version(self, version: str) -> None:
        """Refuse a form for another version of the text, with the difference."""
        if self.version != version:
            raise ChangedMeanwhileError(self.name, _difference(version, self))

    def save(self, edits: Sequence[Edit], *, version: str) -> PlanFile:
        """Write the edited file, if it still has the ``version`` that was shown.

        A valid plan must stay valid; a plan with errors may be corrected in steps.
        """
        if not self.is_yaml:
            raise InputError(
                "Only plans in YAML can be edited here.",
                where=self.name,
                do="Save the plan as YAML, or edit it elsewhere.",
            )
        return self._replaced(lambda now: now.with_edits(edits), version)

    def sign(self, signing: Signing, *, version: str) -> PlanFile:
        """Write signatures into the file, if it still has the ``version`` that was signed."""
        kind = format_of(self.path)

        def signed(now: PlanFile) -> PlanFile:
            text = rewritten(now.text, kind=kind, keys=signing.keys, sources={}, where=self.name)
            return replace(now, text=text)

        return self._replaced(signed, version)

    def _replaced(self, change: Callable[[PlanFile], PlanFile], version: str) -> PlanFile:
        with _writing:
            now = PlanFile.read(self.folder, self.name)
            now.check_version(version)
            new = change(now)
            if _loads(now):
                new.plan()
            replace_file(new.path, new.text)
        _remember(new)
        return new


def version_of(text: str) -> str:
    """Return the identifier of a text."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:24]


def _loads(file: PlanFile) -> bool:
    try:
        file.plan()
    except PlanError:
        return False
    return True


def _remember(file: PlanFile) -> None:
    _seen[file.version] = file.text
    while len(_seen) > _SEEN_MOST:
        _seen.popitem(last=False)


def _difference(version: str, now: PlanFile) -> list[str]:
    before = _seen.get(version, "")
    lines = difflib.unified_diff(
        before.splitlines(), now.text.splitlines(), "as shown", "as it is now", lineterm="", n=1
    )
    return list(lines)[:200]
