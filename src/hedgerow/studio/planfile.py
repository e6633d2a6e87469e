"""The plan file, which is the studio's state: read whole, edited in place, replaced by rename."""

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
"""Texts that pages were made from, by version, so that a difference can be shown."""

_writing = threading.Lock()


class ChangedMeanwhileError(RefusedError):
    """Somebody else changed the file since the page was shown; ``difference`` is how."""

    def __init__(self, name: str, difference: Sequence[str]) -> None:
        self.difference = tuple(difference)
        super().__init__(
            "the file was changed meanwhile, in another tab, an editor or by a command;"
            " nothing was written",
            where=name,
            do="Look at the difference, load the page again, and repeat what you did.",
        )


@dataclass(frozen=True, kw_only=True)
class PlanFile:
    """A plan file as it was when it was read; ``version`` is that of its very bytes."""

    folder: Folder
    name: str
    path: Path
    text: str = field(repr=False)

    @classmethod
    def read(cls, folder: Folder, name: str) -> PlanFile:
        """Return the plan file of that name in the folder."""
        path = folder.inside(name)
        format_of(path)
        made = cls(folder=folder, name=name, path=path, text=read_plan_text(path))
        _remember(made)
        return made

    @property
    def version(self) -> str:
        """What a form sends back, so that it changes no other text than the one it shows."""
        return version_of(self.text)

    @property
    def is_yaml(self) -> bool:
        """Whether it can be edited here: YAML alone has comments to keep and a way to do so."""
        return format_of(self.path) == "YAML"

    @property
    def data(self) -> dict[str, Any]:
        """The plain objects of the file, unchecked."""
        found = parse_text(self.text, kind=format_of(self.path), where=self.name).data
        if not isinstance(found, dict):
            raise PlanError("the plan is not a mapping of keys to values", where=self.name)
        return found

    def plan(self) -> Plan:
        """Return the checked plan; raises with every mistake in it."""
        parsed = parse_text(self.text, kind=format_of(self.path), where=self.name)
        return checked(parsed.data, where=self.name, lines=parsed.lines, base=self.path.parent)

    def marks(self, *path: str) -> dict[str, str]:
        """Return the first comment of every entry of a mapping, such as of each attribute."""
        return first_comments(self.text, path) if self.is_yaml else {}

    def remarks(self, *path: str) -> dict[str, str]:
        """Return the comments right above each key of the whole plan, or of one section of it."""
        return remarks(self.text, path) if self.is_yaml else {}

    def with_edits(self, edits: Sequence[Edit]) -> PlanFile:
        """Return the file as it would be; nothing is written."""
        text = edited(self.text, edits, where=self.name)
        return PlanFile(folder=self.folder, name=self.name, path=self.path, text=text)

    def check_version(self, version: str) -> None:
        """Refuse a form that was made for another text than this one, and tell the difference."""
        if self.version != version:
            raise ChangedMeanwhileError(self.name, _difference(version, self))

    def save(self, edits: Sequence[Edit], *, version: str) -> PlanFile:
        """Write the file with the edits, if it still is the ``version`` that somebody saw.

        A plan that loaded before must load afterwards; one with mistakes may be mended in steps.
        """
        if not self.is_yaml:
            raise InputError(
                "only plans in YAML can be edited here",
                where=self.name,
                do="Save it as YAML, or edit it elsewhere.",
            )
        return self._replaced(lambda now: now.with_edits(edits), version)

    def sign(self, made: Signing, *, version: str) -> PlanFile:
        """Write signatures into the file, if it still is the ``version`` that was signed."""
        kind = format_of(self.path)

        def signed(now: PlanFile) -> PlanFile:
            text = rewritten(now.text, kind=kind, keys=made.keys, sources={}, where=self.name)
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
    """Return the name of one state of a text."""
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
