"""Releases that are shown: read once from their folders and checked against their certificates."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from hedgerow.errors import HedgerowError, ReleaseError
from hedgerow.model.certificate import Certificate
from hedgerow.model.groups import Groups
from hedgerow.model.leaf_groups import leaf_groups
from hedgerow.model.sequences import NoisySequences
from hedgerow.release.baskets import BasketRelease
from hedgerow.release.folder import file_names, load_certificate, vouch
from hedgerow.release.release import Release
from hedgerow.release.sequences import SequenceRelease
from hedgerow.release.signature import SIGNATURE
from hedgerow.release.write import CERTIFICATE
from hedgerow.studio.folder import Folder

ReleaseKind: TypeAlias = Literal["table", "baskets", "sequences", "records", "other"]

FileState: TypeAlias = Literal["certified", "changed", "itself", "signature", "unknown"]

MOST_KEPT = 3
_KEPT: OrderedDict[tuple[str, int, int], ShownRelease] = OrderedDict()


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownRelease:
    """A release folder; all its files except those in `owner` may be published."""

    name: str
    path: Path
    certificate: Certificate
    kind: ReleaseKind
    table: Release | None
    baskets: BasketRelease | None

    @cached_property
    def pictured(self) -> Groups:
        """The groups of maps and trees: those of the leaf table, if there is one."""
        release = self.release
        groups = release.groups
        if groups.tree is None and groups.leaves is not None:
            sizes = [attribute.domain.size for attribute in release.schema.attributes]
            has_class = release.schema.class_attribute is not None
            return leaf_groups(groups.leaves, sizes, has_class=has_class)
        return groups

    @property
    def sequences(self) -> NoisySequences | None:
        """The sequences of the release, or ``None`` for another kind."""
        found = None if self.baskets is None else self.baskets.baskets
        return found if isinstance(found, NoisySequences) else None

    @property
    def release(self) -> Release:
        """The release of a table; an error for another kind."""
        if self.table is None:
            raise ReleaseError(
                "This is not a release of a table.", where=self.name, do="Choose another view."
            )
        return self.table

    def files(self) -> list[ReleasedHere]:
        """Return the files for recipients with the result of their check."""
        found = []
        for name in file_names(self.path):
            if name.startswith("owner/"):
                continue
            state: FileState = "certified"
            if name == CERTIFICATE:
                state = "itself"
            elif name == SIGNATURE:
                state = "signature"
            elif name not in self.certificate.files:
                state = "unknown"
            else:
                try:
                    vouch(self.path / name, self.certificate, name=name)
                except HedgerowError:
                    state = "changed"
            size = (self.path / name).stat().st_size
            found.append(ReleasedHere(name=name, size=size, state=state))
        return found


@dataclass(frozen=True, kw_only=True)
class ReleasedHere:
    """A file of a release folder."""

    name: str
    size: int
    state: FileState


def shown_release(folder: Folder, name: str) -> ShownRelease:
    """Return the release of that name in the folder; a modified one is refused."""
    path = folder.inside(name)
    status = (path / CERTIFICATE).stat() if (path / CERTIFICATE).is_file() else None
    if status is None:
        raise ReleaseError(
            "The folder has no release.", where=name, do="Choose a release of the list."
        )
    key = (str(path), status.st_mtime_ns, status.st_size)
    found = _KEPT.get(key)
    if found is None:
        found = _loaded(path, name)
        _KEPT[key] = found
    _KEPT.move_to_end(key)
    while len(_KEPT) > MOST_KEPT:
        _KEPT.popitem(last=False)
    return found


def _loaded(path: Path, name: str) -> ShownRelease:
    certificate = load_certificate(path)
    kind: ReleaseKind = "other"
    table: Release | None = None
    baskets: BasketRelease | None = None
    if certificate.disclosure is not None or (path / "disclosed.csv").is_file():
        kind = "records"
    elif certificate.data.items is not None and (path / "universe.json").is_file():
        if certificate.data.items.ordered:
            baskets, kind = SequenceRelease.load(path), "sequences"
        else:
            baskets, kind = BasketRelease.load(path), "baskets"
    elif (path / "recoding.json").is_file():
        table, kind = Release.load(path), "table"
    return ShownRelease(
        name=name, path=path, certificate=certificate, kind=kind, table=table, baskets=baskets
    )
