"""Every fact of a certificate changed by itself, with all digests made anew."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.certificates import resealed

Path_ = tuple[str | int, ...]

_DIGESTS = ("files", "own-sha256")
_FRACTION = re.compile(r"\d+(/\d+)?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def leaves(facts: Any, above: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Yield every leaf: numbers, texts, nulls, and lists and mappings without anything in them."""
    inside = facts.items() if isinstance(facts, dict) else enumerate(facts)
    for key, value in inside:
        if isinstance(value, dict | list) and value:
            yield from leaves(value, (*above, key))
        else:
            yield (*above, key), value


def others(value: Any) -> list[Any]:
    """Return values that a forger could put in the place of one."""
    if value is None:
        return ["forged", 1, "1", {}, "0" * 64]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, max(value - 1, 0), value * 10 + 7]
    if isinstance(value, float):
        return [value + 1, value * 2]
    if isinstance(value, dict | list):
        return [{"forged": "1"}, ["forged"], ["age"]]
    return _other_texts(value)


def _other_texts(value: str) -> list[str]:
    if _DIGEST.fullmatch(value):
        return [value[::-1], "0" * 64]
    if _DAY.fullmatch(value):
        return ["2020-02-02"]
    if _FRACTION.fullmatch(value):
        return [f"{value.partition('/')[0]}1/1000003", "1/7", "99"]
    return [f"{value} and forged", "forged"]


def forged(
    facts: dict[str, Any], *, most: int | None = None
) -> Iterator[tuple[Path_, dict[str, Any]]]:
    """Yield the certificate with one leaf changed: every leaf, to ``most`` of its other values.

    Of long lists the first entries and the last are enough. What each file's digest is, the
    forger does not change: the files are there to be compared.
    """
    found = [(path, value) for path, value in leaves(facts) if path[0] not in _DIGESTS]
    by_name: dict[str, list[Path_]] = {}
    for path, _ in found:
        by_name.setdefault(pattern(path), []).append(path)
    kept = {path for same in by_name.values() for path in (*same[:2], same[-1])}
    for path, value in found:
        for other in others(value)[:most] if path in kept else ():
            if other == value:
                continue
            changed = copy.deepcopy(facts)
            place: Any = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = other
            yield path, changed


def pattern(path: Path_) -> str:
    """Return the name of a field: positions in lists are left out."""
    return ".".join("[]" if isinstance(step, int) else step for step in path)


def with_package(folder: Path, changed: dict[str, Any]) -> str:
    """Write the data package that a careful forger would, and return the certificate's text."""
    path = folder / "datapackage.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    promised = changed["guarantee"]
    stored["title"], stored["description"] = changed["data"]["name"], promised["statement"]
    own = stored["hedgerow"]
    own["method"] = changed["method"]["name"]
    own |= {key: promised[key] for key in ("epsilon", "delta", "private")}
    own["certified"] = {
        key: value for key, value in changed.items() if key not in ("files", "engine", "own-sha256")
    }
    content = (json.dumps(stored, indent=1, ensure_ascii=False) + "\n").encode()
    path.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    changed["files"]["datapackage.json"] = {"sha256": digest, "bytes": len(content)}
    return resealed(changed)
