"""Plans with changed settings, from the command line and the library."""

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

    Settings that are ``None`` stay. A change of method under which a setting would have no meaning
    is refused, not ignored.
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

    Settings are keys of the section, or ``utility`` and ``risk`` with mappings of changes; those
    that are ``None`` stay.
    """
    changes = _without_nothing(settings)
    if not changes:
        return plan
    mapping = plan_mapping(plan)
    section = {"method": DEFAULT_DISCLOSURE, **mapping.get("disclose", {})}
    for key, value in changes.items():
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
    old: MethodSettings | None, new: type[MethodSettings], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of method ``new``: those of ``old`` that it has, then ``changes``.

    Raises ``PlanError`` if ``changes`` or a setting of ``old`` has no meaning for ``new``.
    """
    keys = {name: field.alias or name for name, field in new.model_fields.items()}
    method = str(new.model_fields["method"].default)
    kept: dict[str, Any] = {}
    if old is not None:
        kept = old.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        kept.pop("method", None)
    if lost := [key for key in kept if key not in keys.values()]:
        raise PlanError(
            f"The method {method!r} has no setting {lost[0]!r}, which is in the plan.",
            where=f"publish.{lost[0]}",
            do=f"Remove it from the plan. {_settings_of(new)}",
            paths=tuple(f"publish.{key}" for key in lost),
        )
    for name, value in changes.items():
        if name not in keys and name not in keys.values():
            guess = nearest(name, list(keys.values()))
            hint = f"Did you mean {guess!r}? " if guess else ""
            one = Mistake(
                path=("publish", name),
                what=f"The method {method!r} does not have this setting.",
                do=hint + _settings_of(new),
            )
            raise error_of([one], where="settings")
        kept[keys.get(name, name)] = value
    return kept


def _settings_of(method: type[MethodSettings]) -> str:
    return f"Its settings: {', '.join(key for key in keys_of(method) if key != 'method')}."
