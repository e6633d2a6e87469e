"""Plans from files and mappings, back into text, and changed by the command line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from hedgerow.errors import PlanError
from hedgerow.plan.disclose import DEFAULT_DISCLOSURE
from hedgerow.plan.methods import (
    DEFAULT_BASKET_METHOD,
    DEFAULT_METHOD,
    PUBLISH_METHODS,
)
from hedgerow.plan.mistakes import Mistake, error_of, keys_of, nearest, plan_error
from hedgerow.plan.model import Plan
from hedgerow.plan.parse import FLOAT, KeyPath, format_of, parse_text, read_text
from hedgerow.plan.publishing import PublishPlan


def load_plan(path: str | Path) -> Plan:
    """Return the plan in a YAML, TOML or JSON file, checked.

    Relative paths in it start from the file's own folder. Raises ``PlanError`` with every
    mistake: the line and the path inside the file, what is wrong and what is allowed.
    """
    file = Path(path)
    kind = format_of(file)
    parsed = parse_text(read_text(file), kind=kind, where=str(file))
    return _checked(parsed.data, where=str(file), lines=parsed.lines, base=file.parent)


def plan_of(mapping: Mapping[str, Any], *, where: str = "plan", base: Path | None = None) -> Plan:
    """Return the plan that ``mapping`` writes, with the keys of a plan file.

    >>> plan_of({"attributes": {"age": {"numeric": [0, 100]}}}).predictors
    ('age',)
    """
    return _checked(mapping, where=where, lines={}, base=base or Path())


def plan_mapping(plan: Plan) -> dict[str, Any]:
    """Return ``plan`` as plain objects with the keys of a plan file, defaults left out."""
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
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )


def plan_digest(plan: Plan) -> str:
    """Return the SHA-256 of all that the plan says, defaults included.

    The format and folder of its file do not count; the order of attributes, values and
    taxonomy children does, since releases follow it.
    """
    content = plan.model_dump(mode="json", by_alias=True)
    # Optional parts that are not there do not count, so that new ones leave digests alone.
    parts = [content[key] for key in ("publish", "items", "ledger")]
    sections = (*parts, *content["attributes"].values(), content)
    for section in sections:
        for key in [key for key, value in (section or {}).items() if value is None]:
            del section[key]
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def overridden(plan: Plan, *, method: str | None, settings: Mapping[str, Any]) -> Plan:
    """Return ``plan`` with other ``publish`` settings; see ``Plan.override``."""
    default = DEFAULT_METHOD if plan.items is None else DEFAULT_BASKET_METHOD
    chosen = method or (plan.publish.method if plan.publish else default)
    given = {name: value for name, value in settings.items() if value is not None}
    if method is None and not given:
        return plan
    if chosen in PUBLISH_METHODS:
        publish = merged_settings(plan.publish, PUBLISH_METHODS[chosen], given)
    else:
        publish = given
    mapping = {**plan_mapping(plan), "publish": {"method": chosen, **publish}}
    return _checked(mapping, where="settings", lines={}, base=plan.base)


def overridden_disclosure(plan: Plan, settings: Mapping[str, Any]) -> Plan:
    """Return ``plan`` with other ``disclose`` settings; see ``Plan.override_disclosure``."""
    given = _without_nothing(settings)
    if not given:
        return plan
    mapping = plan_mapping(plan)
    section = {"method": DEFAULT_DISCLOSURE, **mapping.get("disclose", {})}
    for key, value in given.items():
        nested = isinstance(value, Mapping) and key in ("utility", "risk")
        section[key] = {**section.get(key, {}), **value} if nested else value
    return _checked({**mapping, "disclose": section}, where="settings", lines={}, base=plan.base)


def _without_nothing(settings: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in settings.items():
        inner = _without_nothing(value) if isinstance(value, Mapping) else value
        if inner is not None and inner != {}:
            kept[key] = inner
    return kept


def merged_settings(
    old: PublishPlan | None, new: type[PublishPlan], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of method ``new``: those of ``old`` that carry over, then ``given``.

    Raises ``PlanError`` if ``given`` or what was set for ``old`` has no meaning for ``new``.
    """
    keys = {name: field.alias or name for name, field in new.model_fields.items()}
    method = str(new.model_fields["method"].default)
    kept: dict[str, Any] = {}
    if old is not None:
        kept = old.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        kept.pop("method", None)
    if lost := [key for key in kept if key not in keys.values()]:
        raise PlanError(
            f"the method {method!r} has no setting {lost[0]!r}, which the plan gives",
            where=f"publish.{lost[0]}",
            do=f"Remove it from the plan. {_settings_of(new)}",
            paths=tuple(f"publish.{key}" for key in lost),
        )
    for name, value in given.items():
        if name not in keys and name not in keys.values():
            guess = nearest(name, list(keys.values()))
            hint = f"Did you mean {guess!r}? " if guess else ""
            one = Mistake(
                path=("publish", name),
                what=f"the method {method!r} has no such setting",
                do=hint + _settings_of(new),
            )
            raise error_of([one], where="settings")
        kept[keys.get(name, name)] = value
    return kept


def _settings_of(method: type[PublishPlan]) -> str:
    return f"Its settings: {', '.join(key for key in keys_of(method) if key != 'method')}."


def _checked(data: Any, *, where: str, lines: Mapping[KeyPath, int], base: Path) -> Plan:
    if not isinstance(data, Mapping):
        raise PlanError(
            "the plan is not a mapping of keys to values",
            where=where,
            do=f"Begin with one of the keys: {', '.join(keys_of(Plan))}.",
        )
    try:
        plan = Plan.model_validate(dict(data), by_alias=True, by_name=False)
    except ValidationError as error:
        raise plan_error(error, where=where, lines=lines) from None
    return plan.at(base)


class _Dumper(yaml.SafeDumper):
    """Writes YAML that means the same by versions 1.1 and 1.2: doubtful texts get quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated objects out, since plans have no aliases."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their key."""
        super().increase_indent(flow, False)


_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-.0123456789"))
