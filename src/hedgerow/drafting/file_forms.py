"""Forms of files other than CSV: a sheet, objects in lines, coded values."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hedgerow.drafting.form import encoding_of
from hedgerow.drafting.text import fits_a_plan, quoted, wrapped
from hedgerow.errors import DataError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.jsonlines import JsonLinesSource, open_json_lines
from hedgerow.read.open import is_url, is_workbook
from hedgerow.read.source import LABELLED


def file_form_of(path: Path) -> Reading | None:
    """Return the apparent form of a workbook, a file of objects or one with value labels.

    ``None`` for CSV, TSV and data that need no such section.

    Privacy: as confidential as the data, until a person confirms that it is public knowledge.
    """
    if not path.is_file():
        return None
    if is_workbook(path):
        return Reading(sheet=_sheets(path)[0])
    if path.name.lower().endswith(LABELLED):
        return PLAIN
    return _of_objects(path) if PLAIN.holds_objects(path) else None


def file_form_text(data: Any, form: Reading) -> str | None:
    """Return the ``reading`` section of a form; ``None`` for other kinds of data."""
    if not isinstance(data, str | Path) or is_url(data):
        return None
    path = Path(data)
    if form.sheet is not None:
        header = json.dumps(form.header, ensure_ascii=False)
        sheet = json.dumps(form.sheet, ensure_ascii=False)
        return f"reading: {{sheet: {sheet}, header: {header}, malformed: {form.malformed}}}"
    if path.name.lower().endswith(LABELLED):
        return f"reading: {{value-labels: {form.value_labels}}}"
    if form.format == "json-lines":
        said = f"encoding: {form.encoding}, malformed: {form.malformed}"
        if not isinstance(form.header, tuple):
            return f"reading: {{format: json-lines, {said}}}"
        names = wrapped(f"[{', '.join(map(quoted, form.header))}]}}", indent="  ")
        return f"reading: {{format: json-lines, {said}, header:\n{names}"
    return None


def file_notes(data: Any) -> list[str]:
    """Return notices about a file that holds more than the draft reads."""
    if not isinstance(data, str | Path) or is_url(data) or not Path(data).is_file():
        return []
    path = Path(data)
    if is_workbook(path) and len(_sheets(path)) > 1:
        return ["The workbook has several sheets, and the plan names the first."]
    if PLAIN.holds_objects(path) and _opened(path).nested:
        return ["Some keys hold lists or objects, and are left out."]
    return []


def _sheets(path: Path) -> list[str]:
    from hedgerow.read.workbook import sheet_names

    names = [name for name in sheet_names(path) if name.isprintable()]
    if not names:
        raise DataError(
            "The workbook has no sheet with cells.", where=path.name, do="Save the table in one."
        )
    return names


def _of_objects(path: Path) -> Reading:
    form = Reading(format="json-lines", encoding=encoding_of(path))
    try:
        source = open_json_lines(path, form)
        for _ in source.batches(source.columns):
            pass
    except DataError:
        # The columns are listed: if records may be dropped, a misspelt name would not be noticed.
        form = replace(form, malformed="drop")
        names = open_json_lines(path, form).columns
        return replace(form, header=tuple(name for name in names if fits_a_plan(name)))
    return form


def _opened(path: Path) -> JsonLinesSource:
    return open_json_lines(path, replace(_of_objects(path), header=True))
