"""The taxonomies of a plan's columns: their origin, and whether they are complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

from hedgerow.errors import HedgerowError
from hedgerow.studio.folder import Folder, OutsideError
from hedgerow.studio.planfile import PlanFile
from hedgerow.studio.runs import CommandRun, Runs
from hedgerow.studio.treefile import TreeFiles
from hedgerow.taxonomy.builders import flat
from hedgerow.taxonomy.load import KEYWORDS, taxonomy_of
from hedgerow.taxonomy.ready.catalogue import ready_name
from hedgerow.taxonomy.tree import Taxonomy

COVERAGE = "coverage"
"""Kind of the runs that compare a taxonomy with a column."""

Origin: TypeAlias = Literal["file", "outside", "ready", "built", "written", "values", "none"]
CoverageVerdict: TypeAlias = Literal["complete", "incomplete", "running", "unknown"]


@dataclass(frozen=True, kw_only=True)
class ColumnTree:
    """One column of a plan with its taxonomy; ``file`` is its name in the folder, if any."""

    column: str
    origin: Origin
    file: str | None
    named: str
    n_values: int | None
    verdict: CoverageVerdict
    marked: bool
    fault: str | None = None


def column_trees(plan: PlanFile, files: TreeFiles, runs: Runs) -> list[ColumnTree]:
    """Return the columns with values that can be grouped, in the order of the plan."""
    attributes = plan.data.get("attributes")
    if not isinstance(attributes, Mapping):
        return []
    found = []
    for column, spec in attributes.items():
        if isinstance(spec, Mapping) and spec.get("role") not in ("identifier", "drop"):
            tree = _column(str(column), spec, plan, files, runs)
            if tree is not None:
                found.append(tree)
    return found


def _column(
    column: str, spec: Mapping[str, Any], plan: PlanFile, files: TreeFiles, runs: Runs
) -> ColumnTree | None:
    origin, file, named = origin_of(spec, plan)
    if origin == "none":
        return None
    try:
        tree: Taxonomy | None = own_tree(spec, plan, files)
        fault = None
    except HedgerowError as error:
        tree, fault = None, error.what
    verdict: CoverageVerdict = "unknown"
    marked = False
    if file is not None and tree is not None:
        run = last_coverage(runs, files, file, column)
        verdict = verdict_of(run)
        marked = files.marked(file)
    return ColumnTree(
        column=column,
        origin=origin,
        file=file,
        named=named,
        n_values=None if tree is None else tree.n_leaves,
        verdict=verdict,
        marked=marked,
        fault=fault,
    )


def origin_of(spec: Mapping[str, Any], plan: PlanFile) -> tuple[Origin, str | None, str]:
    """Return the origin of a column's taxonomy, its file in the folder, and its name."""
    tree = spec.get("taxonomy")
    if tree is None:
        return ("values", None, "") if isinstance(spec.get("values"), list) else ("none", None, "")
    if ready_name(tree) is not None:
        return "ready", None, str(tree)
    path = tree if isinstance(tree, str) else None
    if isinstance(tree, Mapping) and set(tree) == {"file"} and isinstance(tree["file"], str):
        path = tree["file"]
    if path is not None:
        name = file_in_folder(plan, path)
        return ("outside" if name is None else "file"), name, path
    if isinstance(tree, Mapping) and len(tree) == 1 and next(iter(tree)) in KEYWORDS:
        return "built", None, str(next(iter(tree)))
    return "written", None, ""


def file_in_folder(plan: PlanFile, path: str) -> str | None:
    """Return the name in the folder of a file named by a plan, if it is inside."""
    place = plan.path.parent / path
    if PurePosixPath(path).is_absolute() or not plan.folder.holds(place):
        return None
    try:
        return plan.folder.name_of(Path(place.resolve()))
    except ValueError:
        return None


def own_tree(spec: Mapping[str, Any], plan: PlanFile, files: TreeFiles) -> Taxonomy:
    """Return a column's taxonomy; files outside the folder are not opened."""
    origin, file, named = origin_of(spec, plan)
    if origin == "file" and file is not None:
        return files.opened(file).taxonomy
    places = _files_named(spec.get("taxonomy"))
    if origin == "outside" or any(file_in_folder(plan, place) is None for place in places):
        raise OutsideError
    if origin == "values":
        return flat([str(value) for value in spec["values"]])
    return taxonomy_of(spec.get("taxonomy"), base=plan.path.parent, where=named or "taxonomy")


def _files_named(spec: object) -> list[str]:
    """Return the files that a builder reads."""
    if not isinstance(spec, Mapping) or len(spec) != 1 or next(iter(spec)) not in KEYWORDS:
        return []
    settings = next(iter(spec.values()))
    places = [settings]
    if isinstance(settings, Mapping):
        places = [settings.get(key) for key in ("path", "values", "items")]
    return [place for place in places if isinstance(place, str)]


def last_coverage(runs: Runs, files: TreeFiles, file: str, column: str) -> CommandRun | None:
    """Return the last comparison of the current version of a file with a column."""
    version = files.opened(file).digest
    found = runs.all(COVERAGE, file=file, column=column, version=version)
    return found[0] if found else None


def verdict_of(run: CommandRun | None) -> CoverageVerdict:
    """Return the result of a comparison."""
    if run is None:
        return "unknown"
    if run.is_running:
        return "running"
    if run.answer.get("complete") is True:
        return "complete"
    return "incomplete" if run.answer.get("complete") is False else "unknown"


def listed_files(folder: Folder, plan: PlanFile | None) -> list[str]:
    """Return the taxonomy files that can be opened: those of the plan and of `taxonomies`."""
    named: list[str] = []
    if plan is not None:
        attributes = plan.data.get("attributes")
        for spec in (attributes or {}).values() if isinstance(attributes, Mapping) else ():
            if isinstance(spec, Mapping):
                file = origin_of(spec, plan)[1]
                named += [file] if file else []
    endings = (".csv", ".yaml", ".yml", ".json", ".csv.gz", ".txt")
    inside = [
        name
        for name in folder.files(*endings)
        if any(part.lower().startswith("taxonom") for part in name.split("/"))
    ]
    return list(dict.fromkeys([*named, *inside]))
