"""Messages for people from failed checks: place in the file, mistake, allowed values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from hedgerow.errors import PlanError
from hedgerow.plan.approval import ApprovedPlan, ConfirmedPlan
from hedgerow.plan.attribute import AttributePlan
from hedgerow.plan.covers import CoversPlan, PeopleDisjointPlan
from hedgerow.plan.dates import DatePlan
from hedgerow.plan.derive import DateColumnPlan
from hedgerow.plan.disclose import DISCLOSE_FAMILIES, DISCLOSE_METHODS
from hedgerow.plan.disclose_parts import RiskPlan, UtilityPlan
from hedgerow.plan.fields import PlanModel, shown
from hedgerow.plan.items import ItemsPlan
from hedgerow.plan.model import LedgerPlan, Plan
from hedgerow.plan.parse import KeyPath
from hedgerow.plan.reading import ReadingPlan
from hedgerow.plan.registry import METHODS

MAX_SHOWN = 10

_SECTIONS: dict[str, type[PlanModel]] = {
    "items": ItemsPlan,
    "reading": ReadingPlan,
    "ledger": LedgerPlan,
    "covers": CoversPlan,
    "confirmed": ConfirmedPlan,
    "approved": ApprovedPlan,
}

_ATTRIBUTE_PARTS: dict[str | int, type[PlanModel]] = {
    "date": DatePlan,
    "from": DateColumnPlan,
    "years-until": DateColumnPlan,
    "days-until": DateColumnPlan,
}

_DISCLOSE_PARTS: dict[KeyPath, type[PlanModel]] = {("utility",): UtilityPlan, ("risk",): RiskPlan}

_METHODS: dict[KeyPath, Collection[str]] = {
    ("publish", "method"): METHODS,
    ("disclose", "method"): DISCLOSE_METHODS,
}

_EXPECTED = {
    "model_type": "This is not a mapping of keys to values.",
    "dict_type": "This is not a mapping of keys to values.",
    "list_type": "This is not a list.",
    "tuple_type": "This is not a list.",
    "string_type": "This is not a text.",
    "string_unicode": "The text holds half a character.",
    "bool_type": "This is neither true nor false.",
}


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One mistake in a plan: the path inside the file, what is wrong, what to do."""

    path: KeyPath
    what: str
    do: str

    @property
    def place(self) -> str:
        """The path as text: ``attributes.age.numeric[0]``."""
        text = ""
        for step in self.path:
            if isinstance(step, int):
                text += f"[{step}]"
            else:
                text += ("." if text else "") + _shown_key(step)
        return text


def plan_error(error: ValidationError, *, where: str, lines: Mapping[KeyPath, int]) -> PlanError:
    """Return one error that lists the mistakes found by pydantic."""
    mistakes = [_explain(detail) for detail in error.errors(include_url=False)]
    return error_of(mistakes, where=where, lines=lines)


def error_of(
    mistakes: Sequence[Mistake], *, where: str, lines: Mapping[KeyPath, int] | None = None
) -> PlanError:
    """Return one error for all of ``mistakes``, one line each if there are several."""
    paths = tuple(one.place for one in mistakes)
    if len(mistakes) == 1:
        one = mistakes[0]
        file = ", ".join(part for part in (where, _line_of(one, lines or {})) if part)
        place = ": ".join(part for part in (file, one.place) if part)
        return PlanError(one.what, where=place, do=one.do or None, paths=paths)
    rows = [_row(one, lines or {}) for one in mistakes[:MAX_SHOWN]]
    if len(mistakes) > MAX_SHOWN:
        rows.append(f"  and {len(mistakes) - MAX_SHOWN} more")
    return PlanError(
        f"The plan has {len(mistakes)} mistakes.", where=where, do="\n".join(rows), paths=paths
    )


def nearest(word: str, choices: Sequence[str]) -> str | None:
    """Return the choice that ``word`` was probably meant to be."""
    plain = {choice.casefold(): choice for choice in choices}
    found = get_close_matches(word.casefold().replace("_", "-"), plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def keys_of(model: type[PlanModel]) -> list[str]:
    """Return the keys that ``model`` has in a file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _row(one: Mistake, lines: Mapping[KeyPath, int]) -> str:
    place = ", ".join(part for part in (_line_of(one, lines), one.place) if part)
    what = one.what if one.what.endswith((".", "?")) else f"{one.what}."
    return f"  {place}: {what} {one.do}".rstrip()


def _line_of(one: Mistake, lines: Mapping[KeyPath, int]) -> str:
    for length in range(len(one.path), 0, -1):
        if line := lines.get(one.path[:length]):
            return f"line {line}"
    return ""


def _shown_key(key: str) -> str:
    text = key if key.isprintable() and key else repr(key)
    return text if len(text) <= 60 else text[:59] + "…"


def _explain(detail: ErrorDetails) -> Mistake:
    kind, context = detail["type"], detail.get("ctx", {})
    path, model = _locate(detail["loc"])
    if kind == "plan":
        return Mistake(path=(*path, *context["key"]), what=context["what"], do=context["do"])
    if kind == "extra_forbidden":
        return _unknown_key(path, model)
    if kind == "missing":
        what = "This setting is missing."
    elif kind in ("literal_error", "union_tag_invalid") or kind == "union_tag_not_found":
        return _not_a_choice(path, model, detail["input"])
    else:
        what = _EXPECTED.get(kind, "The value does not fit.")
    return Mistake(path=path, what=what, do=_give(path, model))


def _locate(loc: tuple[str | int, ...]) -> tuple[KeyPath, type[PlanModel]]:
    """Return the path in the file of a place in the model, and the part that contains it."""
    if loc[:1] == ("publish",) and len(loc) > 1:
        # pydantic names the method after 'publish'; the file has no such level.
        return ("publish", *loc[2:]), METHODS[str(loc[1])]
    if loc[:1] == ("disclose",) and len(loc) > 1:
        inside = loc[2:-1] if loc[-1] == "[key]" else loc[2:]
        family = DISCLOSE_FAMILIES[str(loc[1])]
        model = _DISCLOSE_PARTS.get(inside[:1], family) if len(inside) > 1 else family
        return ("disclose", *inside), model
    if loc[:1] == ("confirmed",) and len(loc) > 1:
        loc = ("confirmed", *loc[2:])  # pydantic names the kind of confirmation
    path = loc[:-1] if loc[-1:] == ("[key]",) else loc
    if loc[:1] == ("attributes",) and len(path) > 2:
        return path, _ATTRIBUTE_PARTS.get(path[2], AttributePlan) if len(
            path
        ) > 3 else AttributePlan
    if loc[:2] == ("covers", "people-disjoint") and len(path) > 2:
        return path, PeopleDisjointPlan
    for section, part in _SECTIONS.items():
        if loc[:1] == (section,) and len(path) > 1:
            return path, part
    return path, Plan


def _give(path: KeyPath, model: type[PlanModel]) -> str:
    """Return what is allowed at ``path``, in the words of the nearest field above it."""
    if len(path) == 2 and path[0] == "attributes":
        return "Give a mapping, for example {numeric: [0, 100]} or {role: drop}."
    for step in reversed(path):
        for name, field in [*model.model_fields.items(), *Plan.model_fields.items()]:
            if step in (name, field.alias) and field.description:
                return f"Give {field.description}."
    return ""


def _unknown_key(path: KeyPath, model: type[PlanModel]) -> Mistake:
    key, allowed = str(path[-1]), keys_of(model)
    guess = nearest(key, allowed)
    hint = _belongs(key, model) or (f"Did you mean {guess!r}? " if guess else "")
    return Mistake(
        path=path, what="The key is unknown.", do=f"{hint}Allowed here: {', '.join(allowed)}."
    )


def _belongs(key: str, model: type[PlanModel]) -> str:
    publish = {name for method in METHODS.values() for name in keys_of(method)}
    disclose = {name for method in DISCLOSE_FAMILIES.values() for name in keys_of(method)}
    named = {section: set(keys_of(part)) for section, part in _SECTIONS.items()}
    nested = {f"disclose.{step}": set(keys_of(part)) for (step,), part in _DISCLOSE_PARTS.items()}
    top = {"": set(keys_of(Plan))}
    if model in (*DISCLOSE_FAMILIES.values(), *_DISCLOSE_PARTS.values()):
        sections = {"disclose": disclose, **nested, "publish": publish, **named, **top}
    else:
        sections = {"publish": publish, **named, "disclose": disclose, **nested, **top}
    for section, keys in sections.items():
        if key in keys and model is not Plan:
            place = f"under {section!r}" if section else "at the top of the plan"
            return f"It belongs {place}. "
        if key in keys and section:
            return f"It belongs under {section!r}. "
    return ""


def _not_a_choice(path: KeyPath, model: type[PlanModel], value: Any) -> Mistake:
    if path in (("publish",), ("disclose",)):
        path = (*path, "method")
        value = value.get("method") if isinstance(value, Mapping) else value
    choices = list(_METHODS[path]) if path in _METHODS else _choices(path, model)
    guess = nearest(value, choices) if isinstance(value, str) else None
    hint = f"Did you mean {guess!r}? " if guess and guess != value else ""
    what = (
        f"{shown(value)} is not among the choices."
        if isinstance(value, str)
        else "The value is not among the choices."
    )
    return Mistake(path=path, what=what, do=f"{hint}Allowed: {', '.join(choices)}.")


def _choices(path: KeyPath, model: type[PlanModel]) -> list[str]:
    for name, field in model.model_fields.items():
        if path[-1] in (name, field.alias):
            return _literals(field.annotation)
    return []


def _literals(annotation: Any) -> list[str]:
    """Return the texts of a ``Literal``, also of an optional one."""
    found: list[str] = []
    for choice in getattr(annotation, "__args__", ()):
        found += [str(choice)] if isinstance(choice, str | int) else _literals(choice)
    return found
