"""The signed content of a plan, and later changes of it.

A signature holds two things: the fingerprint of the content, which decides, and the settings that
differ from the defaults, as far as they are short, for people to read. Longer ones, such as lists
of values, are kept as digests of 64 bits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hedgerow.plan.fields import shown
from hedgerow.plan.load import plan_mapping
from hedgerow.plan.model import Plan

FROM_DATA = "data"
"""``source`` of a domain that was proposed from the data and is not confirmed yet."""

ITEMS = "items"
"""Name of the universe of set-valued data, for its source and its digest."""

NOT_SIGNED: dict[tuple[str, ...], str] = {
    ("data",): (
        "the same plan may be used for a table in another place; the ledger recognises the table"
        " by its content"
    ),
    ("confirmed",): "a signature does not sign itself",
    ("approved",): "a signature does not sign itself",
    ("ledger", "file"): "the path of the ledger on this machine; its account and cap count",
}
"""Keys of a plan that a signature does not cover, each with the reason."""

_FORMAT = "hedgerow signature 1"
_LONGEST_SHOWN = 60
_DIGEST = "sha256:"
_SECTIONS = ("items", "reading", "covers", "publish", "disclose", "ledger")


@dataclass(frozen=True, kw_only=True)
class Signable:
    """The content that is signed: the fingerprint, and the settings for people to read."""

    fingerprint: str
    parts: dict[str, Any]


def signed_content(plan: Plan) -> dict[str, Any]:
    """Return everything in the plan that a signature covers, defaults included.

    Unset optional keys are left out, so that a later version may add some.
    """
    content: dict[str, Any] = plan.model_dump(mode="json", by_alias=True, exclude_none=True)
    return _without_unsigned(content)


def signable(
    plan: Plan, domains: Mapping[str, str], arguments: Mapping[str, Any] | None = None
) -> Signable:
    """Return what a signature of the plan covers.

    ``domains`` has the SHA-256 of the content of every domain by the name of its column, in the
    order of the plan; `ITEMS` names the universe of set-valued data. ``arguments`` are the changes
    by the arguments of a run beside the settings of the plan.
    """
    arguments = dict(arguments or {})
    content = [_FORMAT, signed_content(plan), list(domains.items()), arguments]
    return Signable(fingerprint=_sha256(content), parts=_parts(plan, domains, arguments))


def _without_unsigned(mapping: dict[str, Any]) -> dict[str, Any]:
    for *outer, key in NOT_SIGNED:
        holder: Any = mapping
        for step in outer:
            holder = holder.get(step) or {}
        holder.pop(key, None)
    return mapping


def _parts(plan: Plan, domains: Mapping[str, str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that differ from the defaults, long ones as digests."""
    mapping = _without_unsigned(plan_mapping(plan))
    parts: dict[str, Any] = {}
    for key, value in mapping.items():
        if key == "attributes":
            parts[key] = {
                name: _attribute_part(each, domains.get(name)) for name, each in value.items()
            }
        elif key in _SECTIONS:
            parts[key] = {inner: _readable(each) for inner, each in value.items()}
        else:  # a query may hold confidential names
            parts[key] = _short_digest(value) if key == "query" else _readable(value)
    if ITEMS in parts:
        parts[ITEMS]["content"] = _shortened(domains[ITEMS])
    if arguments:
        parts["given"] = dict(arguments)
    return parts


def _attribute_part(settings: Mapping[str, Any], digest: str | None) -> dict[str, Any]:
    part = {key: _readable(value) for key, value in settings.items()}
    if digest is not None and ("taxonomy" in settings or "values" in settings):
        part["content"] = _shortened(digest)
    return part


def _readable(value: Any) -> Any:
    """Return a short value unchanged, else its digest."""
    text = json.dumps(value, ensure_ascii=False)
    fits = len(text) <= _LONGEST_SHOWN and not _has_null(value)  # TOML has no null
    return value if fits else _short_digest(value)


def _has_null(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_null, value.values()))
    return any(map(_has_null, value)) if isinstance(value, list) else value is None


def _short_digest(value: Any) -> str:
    return _shortened(_sha256(value))


def _shortened(digest: str) -> str:
    return _DIGEST + digest[:16]


def _sha256(content: Any) -> str:
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def differences(signed: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """Return as text the differences between the signed settings and the current ones.

    >>> differences({"publish": {"epsilon": 1}}, {"publish": {"epsilon": 20}})
    ('epsilon was 1 and is 20 now',)
    """
    return tuple(_differences(signed, now))


def _differences(signed: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in dict.fromkeys([*signed, *now]):
        before, after = signed.get(key), now.get(key)
        if before == after:
            if key == "attributes" and list(before or ()) != list(after or ()):
                yield "the order of the columns changed"
        elif key == "attributes":
            every = signed.get("missing") != now.get("missing")
            yield from _columns(_mapping(before), _mapping(after), missing_changed=every)
        elif key == "given":
            yield from _arguments(_mapping(before), _mapping(after))
        elif isinstance(before, Mapping) or isinstance(after, Mapping):
            prefix = "" if key == "publish" else f"{key}."
            yield from _settings(prefix, _mapping(before), _mapping(after))
        else:
            yield from _settings("", _only(key, before), _only(key, after))


def _columns(
    signed: Mapping[str, Any], now: Mapping[str, Any], *, missing_changed: bool
) -> Iterator[str]:
    """Yield the changes of the columns; ``missing`` changes the content of every domain."""
    n_contents = 0
    for name in dict.fromkeys([*signed, *now]):
        before, after = _mapping(signed.get(name)), _mapping(now.get(name))
        if name not in now:
            yield f"column {shown(name)} was removed"
        elif name not in signed:
            yield f"column {shown(name)} was added"
        elif missing_changed and _changed(before, after) == ["content"]:
            n_contents += 1
        elif before != after:
            yield from _settings(f"column {shown(name)}: ", before, after)
    if n_contents:
        yield f"with it the content of {n_contents} domain{'s' if n_contents > 1 else ''} changed"
    kept = [name for name in signed if name in now]
    if kept != [name for name in now if name in signed]:
        yield "the order of the columns changed"


def _settings(prefix: str, signed: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    changed = _changed(signed, now)
    for key in changed:
        if key == "content":
            if not {"taxonomy", "values", "universe", "other"} & set(changed):
                yield f"{prefix}the content of its {_holder(now)} changed"
        elif _is_digest(signed.get(key)) or _is_digest(now.get(key)):
            yield f"{prefix}{key} changed"
        elif key not in signed:
            yield f"{prefix}{key} was not set and is {_shown(now[key])} now"
        elif key not in now:
            yield f"{prefix}{key} was {_shown(signed[key])} and is not set now"
        else:
            yield f"{prefix}{key} was {_shown(signed[key])} and is {_shown(now[key])} now"


def _changed(signed: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [key for key in dict.fromkeys([*signed, *now]) if signed.get(key) != now.get(key)]


def _arguments(signed: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in dict.fromkeys([*signed, *now]):
        if signed.get(key) != now.get(key):
            yield f"the argument {key} was used, which the signature does not cover"


def _holder(part: Mapping[str, Any]) -> str:
    return "universe" if "universe" in part else "taxonomy" if "taxonomy" in part else "values"


def _only(key: str, value: Any) -> dict[str, Any]:
    return {} if value is None else {key: value}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(_DIGEST)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
