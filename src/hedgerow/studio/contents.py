"""Contents of the folder: tables, plans and releases, listed without reading a record."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hedgerow.errors import HedgerowError
from hedgerow.model.certificate import Certificate
from hedgerow.plan.model import Plan
from hedgerow.studio.folder import Folder
from hedgerow.studio.planfile import PlanFile

TABLE_SUFFIXES = (
    *(".csv", ".tsv", ".jsonl", ".ndjson", ".xlsx", ".sav", ".zsav", ".dta", ".parquet"),
    *(".arrow", ".feather", ".dat", ".seq", ".baskets", ".csv.gz", ".tsv.gz", ".txt"),
)
CERTIFICATE = "certificate.json"
_MOST_CERTIFICATE = 5_000_000


@dataclass(frozen=True, kw_only=True)
class TableListed:
    """A file that may hold a table: its name and size."""

    name: str
    size: str


@dataclass(frozen=True, kw_only=True)
class PlanListed:
    """A plan, or the reason why it does not load."""

    name: str
    plan: Plan | None
    mistake: str | None

    @property
    def method(self) -> str | None:
        """The publishing method."""
        return None if self.plan is None or self.plan.publish is None else self.plan.publish.method

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon of the plan."""
        publish = None if self.plan is None else self.plan.publish
        return getattr(publish, "epsilon", None)


@dataclass(frozen=True, kw_only=True)
class ReleaseListed:
    """A release: its folder and its certificate, if that can be read."""

    name: str
    certificate: Certificate | None


def plans_in(folder: Folder) -> list[PlanListed]:
    """Return the plan files of the folder, without taxonomies and other YAML files."""
    found = []
    released = tuple(f"{name}/" for name in folder.folders_with(CERTIFICATE))
    for name in folder.files(".yaml", ".yml"):
        if name.startswith(released):
            continue
        try:
            file = PlanFile.read(folder, name)
            if not {"attributes", "items"} & set(file.data):
                continue
        except HedgerowError:
            continue
        try:
            found.append(PlanListed(name=name, plan=file.plan(), mistake=None))
        except HedgerowError as error:
            found.append(PlanListed(name=name, plan=None, mistake=str(error)))
    return found


def releases_in(folder: Folder) -> list[ReleaseListed]:
    """Return the releases of the folder, by their certificates."""
    return [
        ReleaseListed(name=name, certificate=_certificate(folder.root / name / CERTIFICATE))
        for name in folder.folders_with(CERTIFICATE)
    ]


def tables_in(folder: Folder) -> list[TableListed]:
    """Return the files that may hold tables, without those of releases."""
    released = tuple(f"{name}/" for name in folder.folders_with(CERTIFICATE))
    return [
        TableListed(name=name, size=size_text(folder.root / name))
        for name in folder.files(*TABLE_SUFFIXES)
        if not name.startswith(released) and "taxonom" not in name
    ]


def size_text(path: Path) -> str:
    """Return the size of a file for display."""
    try:
        size = float(path.stat().st_size)
    except OSError:
        return ""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if size >= 10 or unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return ""


def _certificate(path: Path) -> Certificate | None:
    try:
        if path.stat().st_size > _MOST_CERTIFICATE:
            return None
        return Certificate.from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, HedgerowError):
        return None
