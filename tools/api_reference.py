"""Write the reference of the library, docs/api.md, from the docstrings of the public names.

Run as ``python tools/api_reference.py > docs/api.md``; ``tools/goldens.py`` does the same.
"""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

from pydantic import BaseModel

import hedgerow

HEAD = """# The library

This page is made from the docstrings by `tools/api_reference.py`; `help(hedgerow.publish)` shows
the same, with examples. How to begin: [use it from Python](how-to/python.md). Plans are files, or
mappings with the [keys of a plan file](plan.md).
"""

JOBS: dict[str, tuple[str, ...]] = {
    "Prepare a plan": (
        "draft",
        "load_plan",
        "Plan",
        "check",
        "Forecast",
        "confirm",
        "read_taxonomy",
        "Taxonomy",
    ),
    "Publish data": (
        "publish",
        "Output",
        "EngineSettings",
        "Release",
        "BasketRelease",
        "SequenceRelease",
        "Certificate",
        "recover",
        "Ledger",
    ),
    "Use a release": ("verify", "sign", "generalise", "Generaliser"),
    "Judge a release": (
        "evaluate",
        "Evaluation",
        "compare",
        "Comparison",
        "attack",
        "AttackReport",
        "risk",
        "RiskAssessment",
        "audit",
    ),
    "Disclose single records": ("disclose", "Disclosure"),
    "Extend": ("register", "OwnUtility", "try_utility"),
}
"""Public names by what they are for."""


def reference() -> str:
    """Return the page."""
    parts = [HEAD, _contents()]
    for job, names in JOBS.items():
        parts.append(f"## {job}\n")
        parts += [_entry(name) for name in names]
    return "\n".join(parts)


def sections(doc: str) -> dict[str, str]:
    """Return the sections of a docstring by their titles; the text before them is under ''."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", doc, flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def _contents() -> str:
    rows = [
        f"| {job} | {', '.join(f'[`{name}`](#{name.lower()})' for name in names)} |"
        for job, names in JOBS.items()
    ]
    return "\n".join(("| job | names |", "|---|---|", *rows, ""))


def _entry(name: str) -> str:
    target = getattr(hedgerow, name)
    found = sections(inspect.getdoc(target) or "")
    lines = [f"### {name}", "", "```text", _signature(name, target), "```", "", _prose(found[""])]
    for title in ("Parameters", "Returns", "Raises"):
        if title in found:
            lines += ["", f"**{title}**", "", *_items(found[title])]
    if inspect.isclass(target):
        lines += _methods(target)
    return "\n".join([*lines, "", _prose(found["Notes"]), ""])


def _signature(name: str, target: Any) -> str:
    """Return the signature with one parameter on each line, without types."""
    shown = []
    star = False
    for each in inspect.signature(target).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not star:
            star = True
            shown.append("*")
        if each.kind is each.VAR_KEYWORD:
            shown.append(f"**{each.name}")
        elif each.default is each.empty or _is_model(target):
            shown.append(each.name)
        else:
            shown.append(f"{each.name}={_default(each.default)}")
    return _wrapped(f"hedgerow.{name}(", shown)


def _is_model(target: Any) -> bool:
    """Return whether a name is a pydantic model, whose defaults the text states."""
    return inspect.isclass(target) and issubclass(target, BaseModel)


def _default(value: Any) -> str:
    return "..." if callable(value) else repr(value)


def _wrapped(start: str, words: list[str]) -> str:
    lines, line = [], start
    for at, word in enumerate(words):
        piece = word + (", " if at < len(words) - 1 else ")")
        if len(line + piece) > 88:
            lines.append(line.rstrip())
            line = "    "
        line += piece
    return "\n".join([*lines, line if words else f"{start})"])


def _prose(text: str) -> str:
    """Return paragraphs on one line each, with Markdown's code marks."""
    text = re.sub(r"\n*\.\. deprecated::.*", "", text, flags=re.S)
    paragraphs = [" ".join(part.split()) for part in text.strip().split("\n\n")]
    return "\n\n".join(_marked(part) for part in paragraphs)


def _marked(text: str) -> str:
    return text.replace("``", "`")


def _items(section: str) -> list[str]:
    """Return the entries of a section as a list."""
    entries: list[list[str]] = []
    for line in section.rstrip().splitlines():
        if line and not line.startswith(" "):
            entries.append([line])
        elif line.strip():
            entries[-1].append(line.strip())
    found = []
    for head, *words in entries:
        name, colon, kind = head.partition(" : ")
        kind = f" ({_marked(kind)})" if colon else ""
        names = ", ".join(f"`{each.strip()}`" for each in name.split(","))
        found.append(f"- {names}{kind}: {_marked(' '.join(words))}")
    return found


def _methods(target: Any) -> list[str]:
    """Return the methods and properties of a class with their first lines."""
    found = []
    for name, value in vars(target).items():
        inner = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
        if name.startswith("_") or not inspect.isfunction(inner):
            continue
        if not inner.__module__.startswith("hedgerow") or not inner.__doc__:
            continue
        call = "" if isinstance(value, property) or hasattr(value, "attrname") else "()"
        first = " ".join(inner.__doc__.strip().split("\n\n")[0].split())
        found.append(f"- `{name}{call}`: {_marked(first)}")
    return ["", "**Methods and properties**", "", *found] if found else []


if __name__ == "__main__":
    sys.stdout.write(reference())
