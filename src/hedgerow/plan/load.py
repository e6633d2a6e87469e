"""Plans from files and mappings, and back into text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from hedgerow.errors import PlanError
from hedgerow.plan.mistakes import keys_of, plan_error
from hedgerow.plan.model import Plan
from hedgerow.plan.parse import FLOAT, KeyPath, format_of, parse_text, read_plan_text


def load_plan(path: str | Path) -> Plan:
    r"""Read and check a plan file.

    Parameters
    ----------
    path : path
        YAML, TOML or JSON file. Relative paths in it start from its folder.

    Returns
    -------
    Plan
        The checked plan.

    Raises
    ------
    PlanError
        If the file cannot be read or has mistakes. The error lists all of them, with their
        line and key and the values that are allowed.

    Notes
    -----
    Privacy: no record is read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "plan.yaml")
    ...     _ = file.write_text("attributes:\n  age: {numeric: [0, 99]}\n")
    ...     load_plan(file).predictors
    ('age',)

    """
    file = Path(path)
    kind = format_of(file)
    parsed = parse_text(read_plan_text(file), kind=kind, where=str(file))
    return checked(parsed.data, where=str(file), lines=parsed.lines, base=file.parent)


def plan_of(mapping: Mapping[str, Any], *, where: str = "plan", base: Path | None = None) -> Plan:
    """Return the checked plan of a mapping with the keys of a plan file.

    >>> plan_of({"attributes": {"age": {"numeric": [0, 100]}}}).predictors
    ('age',)
    """
    return checked(mapping, where=where, lines={}, base=base or Path())


def plan_mapping(plan: Plan) -> dict[str, Any]:
    """Return ``plan`` as plain objects with the keys of a plan file, without defaults."""
    mapping = plan.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if plan.publish is not None:
        mapping["publish"] = {"method": plan.publish.method, **mapping["publish"]}
    if plan.disclose is not None:
        mapping["disclose"] = {"method": plan.disclose.method, **mapping["disclose"]}
    return mapping


def dump_plan(plan: Plan) -> str:
    """Return ``plan`` as the YAML text of a plan file that loads as the same plan."""
    return yaml.dump(
        plan_mapping(plan),
        Dumper=PlanDumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )


def plan_digest(plan: Plan) -> str:
    """Return the SHA-256 of the whole plan, defaults included.

    The format and folder of its file do not count; the order of attributes, values and taxonomy
    children does, since releases depend on it.
    """
    content = plan.model_dump(mode="json", by_alias=True)
    # Unset optional parts do not count, so that new ones leave digests unchanged.
    kinds = ("publish", "items", "ledger", "reading", "approved", "covers")
    parts = [content[key] for key in kinds]
    sections = (*parts, *content["attributes"].values(), content)
    for section in sections:
        for key in [key for key, value in (section or {}).items() if value is None]:
            del section[key]
    if not content["to-do"]:
        del content["to-do"]
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def checked(data: Any, *, where: str, lines: Mapping[KeyPath, int], base: Path) -> Plan:
    """Return the plan in ``data``, or raise with all of its mistakes."""
    if not isinstance(data, Mapping):
        raise PlanError(
            "The plan is not a mapping of keys to values.",
            where=where,
            do=f"Begin with one of the keys: {', '.join(keys_of(Plan))}.",
        )
    try:
        plan = Plan.model_validate(dict(data), by_alias=True, by_name=False)
    except ValidationError as error:
        raise plan_error(error, where=where, lines=lines) from None
    return plan.at(base)


class PlanDumper(yaml.SafeDumper):
    """Writer of YAML with the same meaning in versions 1.1 and 1.2: ambiguous texts get quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated objects in full, since plans have no aliases."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their key."""
        super().increase_indent(flow, False)


PlanDumper.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-.0123456789"))
