"""A plan with other settings, as the command line and the library change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hedgerow.errors import PlanError
from hedgerow.plan.disclose import DEFAULT_DISCLOSURE
from hedgerow.plan.load import checked, plan_mapping
from hedgerow.plan.mistakes import Mistake, error_of, keys_of, nearest
from hedgerow.plan.model import Plan
from hedgerow.plan.registry import METHODS, with_method
from hedgerow.plan.settings import MethodSettings


def override(plan: Plan, *, method: str | None = None, **settings: Any) -> Plan:
    """Return the plan with other ``publish`` settings, checked again.

    Settings that are ``None`` stay as they are. A change of method that would leave a
    setting without meaning is refused rather than ignored.
    """
    changes = {name: value for name, value in settings.items() if value is not None}
    if method is None and not changes:
        return plan
    chosen = method or (plan.publish.method if plan.publish else _default(plan, changes))
    known = METHODS.get(chosen)
    publish = changes if known is None else merged_settings(plan.publish, known, changes)
    mapping = {**plan_mapping(plan), "publish": {"method": chosen, **publish}}
    return checked(mapping, where="settings", lines={}, base=plan.base)


def _default(plan: Plan, changes: Mapping[str, Any]) -> str:
    """Return the method of a plan without a ``publish`` section, with these settings."""
    written = {"for" if name == "purpose" else name: value for name, value in changes.items()}
    return str(with_method({**plan_mapping(plan), "publish": written})["publish"]["method"])


def override_disclosure(plan: Plan, **settings: Any) -> Plan:
    """Return the plan with other ``disclose`` settings, checked again.

    Settings are keys of the section, or ``utility`` and ``risk`` with mappings of what
    changes there; those that are ``None`` stay as they are.
    """
    given = _without_nothing(settings)
    if not given:
        return plan
    mapping = plan_mapping(plan)
    section = {"method": DEFAULT_DISCLOSURE, **mapping.get("disclose", {})}
    for key, value in given.items():
        nested = isinstance(value, Mapping) and key in ("utility", "risk")
        section[key] = {**section.get(key, {}), **value} if nested else value
    return checked({**mapping, "disclose": section}, where="settings", lines={}, base=plan.base)


def _without_nothing(settings: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in settings.items():
        inner = _without_nothing(value) if isinstance(value, Mapping) else value
        if inner is not None and inner != {}:
            kept[key] = inner
    return kept


def merged_settings(
    old: MethodSettings | None, new: type[MethodSettings], given: Mapping[str, Any]
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


def _settings_of(method: type[MethodSettings]) -> str:
    return f"Its settings: {', '.join(key for key in keys_of(method) if key != 'method')}."
