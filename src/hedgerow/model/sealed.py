"""Canonical JSON that ends in its own digest.

The text is UTF-8, indented by two blanks, letters unescaped, with one line end after the last
brace. Its last key holds the SHA-256 of all lines before that key, so that anybody can check it:
``head -n -2 certificate.json | sha256sum``. In this form there is only one text for the same facts,
so every changed byte is noticed. An attacker can compute the digest anew: it finds damage and
mix-ups, and a signature finds the rest.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Never

SEAL = "own-sha256"
"""Last key: the digest of everything before it."""


class SealError(ValueError):
    """A text is not JSON, not in its canonical form, or was modified after it was sealed."""


def canonical(facts: dict[str, Any]) -> str:
    r"""Return the one text with these facts in this order.

    >>> canonical({"a": [1], "b": "é"})
    '{\n  "a": [\n    1\n  ],\n  "b": "é"\n}\n'
    """
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def sealed(facts: dict[str, Any]) -> str:
    r"""Return the canonical text of the facts with their digest as its end.

    >>> sealed({"a": 1})[:32]
    '{\n  "a": 1,\n  "own-sha256": "258'
    >>> unsealed(sealed({"a": 1}))
    {'a': 1}
    """
    text = canonical({**facts, SEAL: ""})
    return canonical({**facts, SEAL: _digest(text)})


def _digest(text: str) -> str:
    """Return the digest of all lines but the last two."""
    head = text[: text.rindex("\n", 0, text.rindex("\n", 0, len(text) - 1)) + 1]
    return hashlib.sha256(head.encode()).hexdigest()


def facts_in(text: str) -> dict[str, Any]:
    """Return the facts of a JSON object; refuse one with a key twice."""
    try:
        facts = json.loads(text, object_pairs_hook=_once, parse_constant=_refused)
    except RecursionError as error:
        raise SealError("it is nested too deeply") from error
    except SealError:
        raise
    except ValueError as error:
        raise SealError("it is not JSON") from error
    if not isinstance(facts, dict):
        raise SealError("it is not a JSON object")
    return facts


def unsealed(text: str) -> dict[str, Any]:
    """Return the facts of a sealed text without the digest; any other text is refused."""
    facts = facts_in(text)
    if not facts or next(reversed(facts)) != SEAL:
        raise SealError(f"it does not end in its digest, {SEAL!r}")
    if not _is_canonical(text, facts):
        raise SealError("it is not written in hedgerow's canonical form")
    if facts.pop(SEAL) != _digest(text):
        raise SealError("its digest does not fit its content")
    return facts


def _is_canonical(text: str, facts: dict[str, Any]) -> bool:
    try:
        return canonical(facts) == text and bool(text.encode())
    except (ValueError, RecursionError):  # letters that are not valid text
        return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    facts = dict(pairs)
    if len(facts) != len(pairs):
        raise SealError("it has a key twice")
    return facts


def _refused(name: str) -> Never:
    raise SealError(f"{name} is not a number of JSON")
