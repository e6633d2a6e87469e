"""`datapackage.json`: the files of a release as a Frictionless data package.

Source: Data Package 2.0 and its Table Schema (datapackage.org/standard), whose terms are the keys
here. Digests are left to the certificate, which covers this file as well.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from pathlib import PurePosixPath

from hedgerow.model.certificate import Certificate
from hedgerow.model.sealed import SEAL
from hedgerow.release.dictionary import DictionaryColumn, DictionaryFile
from hedgerow.release.table import spreadsheet_safe

PACKAGE = "datapackage.json"
PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"

_MEDIA = {
    ".csv": "text/csv",
    ".dat": "text/plain",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
}


def package_text(files: Sequence[DictionaryFile], certificate: Certificate) -> str:
    """Return the text of `datapackage.json`."""
    promised = certificate.guarantee
    facts: dict[str, object] = {
        "$schema": PROFILE,
        "name": package_name(certificate.data.name),
        "title": certificate.data.name,
        "description": promised.statement,
        "hedgerow": {
            "method": certificate.method.name,
            "epsilon": None if promised.epsilon is None else str(promised.epsilon),
            "delta": None if promised.delta is None else str(promised.delta),
            "private": promised.private,
            "certificate": "certificate.json",
            "certified": certified_facts(certificate),
        },
        "resources": _resources(files),
    }
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


def certified_facts(certificate: Certificate) -> dict[str, object]:
    """Return all facts of a certificate except its list of files, which includes the package.

    They are stored in two files, so that a certificate edited alone contradicts the package. The
    engine is left out: the package is the same for every engine, and the report names it.
    """
    facts: dict[str, object] = json.loads(certificate.to_json())
    return {key: value for key, value in facts.items() if key not in ("files", "engine", SEAL)}


def package_name(title: str) -> str:
    """Return an identifier: letters from a to z, digits, ``.``, ``_`` and ``-``.

    >>> package_name("Visits 2026, Köln"), package_name("病院")
    ('visits-2026-koln', 'release')
    """
    ascii_only = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9._]+", "-", ascii_only.lower()).strip("-.") or "release"


def _resources(files: Sequence[DictionaryFile]) -> list[dict[str, object]]:
    taken: set[str] = set()
    found = []
    for file in files:
        name = base = package_name(str(PurePosixPath(file.path)))
        number = 2
        while name in taken:
            name, number = f"{base}-{number}", number + 1
        taken.add(name)
        found.append(_resource(name, file))
    return found


def _resource(name: str, file: DictionaryFile) -> dict[str, object]:
    suffix = PurePosixPath(file.path).suffix
    facts: dict[str, object] = {
        "name": name,
        "path": file.path,
        "description": file.what,
        "format": suffix.removeprefix("."),
        "mediatype": _MEDIA.get(suffix, "application/octet-stream"),
    }
    if suffix != ".parquet":
        facts["encoding"] = "utf-8"
    if suffix == ".csv" and file.columns:
        facts["type"] = "table"
        facts["dialect"] = {"delimiter": ",", "header": True, "lineTerminator": "\n"}
        fields = [_field(column) for column in file.columns]
        facts["schema"] = {"fields": fields, "missingValues": [""]}
    return facts


def _field(column: DictionaryColumn) -> dict[str, object]:
    constraints: dict[str, object] = {"required": True} if column.required else {}
    if column.type != "string":
        bounds = {"minimum": column.low, "maximum": column.high}
        constraints |= {key: _bound(column, text) for key, text in bounds.items() if text}
    elif column.labels and not column.n_more:
        constraints["enum"] = [spreadsheet_safe(label) for label, _ in column.labels]
    facts: dict[str, object] = {
        "name": spreadsheet_safe(column.name),
        "type": column.type,
        "description": column.meaning,
    }
    if column.unit:
        facts["unit"] = column.unit
    if constraints:
        facts["constraints"] = constraints
    return facts


def _bound(column: DictionaryColumn, text: str) -> int | float | str:
    if column.type == "date":
        return text
    number = Fraction(text)
    return floor(number) if column.type == "integer" else float(number)
