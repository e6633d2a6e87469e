"""List the messages that are not a sentence: errors, notices and mistakes of a plan, in the source.

``python tools/messages.py [PATH ...]`` prints every message below the given paths, or everywhere,
that does not begin with a capital letter or does not end with a full stop or a question mark.
Advice (``do``) may end in a command to type. A text in braces may stand at the beginning: it is a
name or a value in the user's spelling. ``--count`` prints the number per folder.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "hedgerow"
ERRORS = SOURCE / "errors.py"

Function = ast.FunctionDef | ast.AsyncFunctionDef

_VALUE = "\0"
"""Stands for a value that the message inserts."""

_COMMAND = re.compile(r":\s\S.*$", re.DOTALL)
"""A command or an example after a colon, with which advice may end."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """A text that a user may see: what happened, or what to do."""

    file: str
    line: int
    text: str
    is_advice: bool

    @property
    def fault(self) -> str | None:
        """Why the text is not a sentence; ``None`` if it is one."""
        text = self.text.strip()
        if not text or text == _VALUE:
            return None
        if text[0].islower():
            return "begins with a small letter"
        if text.endswith((".", "?", _VALUE) if self.is_advice else (".", "?")):
            return None
        if self.is_advice and _COMMAND.search(re.split(r"[.?]\s", text)[-1]):
            return None
        return "does not end with a full stop"

    def __str__(self) -> str:
        """Return one line: place, fault and text."""
        shown = " ".join(self.text.replace(_VALUE, "{}").split())
        return f"{self.file}:{self.line}: {self.fault}: {shown}"


@dataclass(frozen=True)
class Maker:
    """A class or function whose arguments become the text of an error: ``what`` and ``do``."""

    what: int | None
    do: int | None


@cache
def error_makers() -> dict[str, Maker]:
    """Return all classes of errors and notices of the package, each with its text arguments."""
    makers = {"HedgerowError": Maker(0, None), "mistake": Maker(0, 1)}
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    before = 0
    while len(makers) > before:
        before = len(makers)
        for node in classes:
            bases = [_name(base) for base in node.bases if _name(base) in makers]
            if bases and node.name not in makers:
                makers[node.name] = _initialised(node) or makers[bases[0]]
    return makers


def _initialised(node: ast.ClassDef) -> Maker | None:
    """Return the text arguments of a class with an initialiser of its own."""
    for each in node.body:
        if isinstance(each, Function) and each.name == "__init__":
            names = [argument.arg for argument in each.args.args[1:]]
            return Maker(*(names.index(key) if key in names else None for key in ("what", "do")))
    return None


class Collector:
    """The messages of a module: arguments of errors, and of functions that build errors."""

    def __init__(self, tree: ast.Module, makers: dict[str, Maker], file: str) -> None:
        self.tree, self.file = tree, file
        self.makers = dict(makers)
        for node in ast.walk(tree):
            if isinstance(node, Function) and (maker := self._maker(node)) is not None:
                self.makers[node.name] = maker

    def _maker(self, function: Function) -> Maker | None:
        """Return a function's text arguments, if an error in its body is built from them."""
        names = [each.arg for each in function.args.args if each.arg not in ("self", "cls")]
        passed = {
            argument.id
            for call in ast.walk(function)
            if isinstance(call, ast.Call) and _name(call.func) in self.makers
            for argument in _texts_of(call)
            if isinstance(argument, ast.Name)
        }
        found = [
            names.index(name) if name in names and name in passed else None
            for name in ("what", "do")
        ]
        return None if found == [None, None] else Maker(*found)

    def messages(self) -> Iterator[Message]:
        """Yield every message whose text is written in the module."""
        for call in ast.walk(self.tree):
            if not isinstance(call, ast.Call):
                continue
            name = _name(call.func)
            if name == "add_note":
                yield from self._texts(call.args[0], is_advice=True)
            elif name in self.makers:
                maker = self.makers[name]
                for key, place, is_advice in (("what", maker.what, False), ("do", maker.do, True)):
                    node = _argument(call, key, place)
                    if node is not None:
                        yield from self._texts(node, is_advice=is_advice)

    def _texts(self, node: ast.expr, *, is_advice: bool) -> Iterator[Message]:
        if isinstance(node, ast.IfExp):
            yield from self._texts(node.body, is_advice=is_advice)
            yield from self._texts(node.orelse, is_advice=is_advice)
        elif (text := _text(node)) is not None:
            yield Message(file=self.file, line=node.lineno, text=text, is_advice=is_advice)


def _argument(call: ast.Call, key: str, place: int | None) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == key:
            return keyword.value
    return call.args[place] if place is not None and place < len(call.args) else None


def _texts_of(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call that may be what happened and what to do."""
    named = [each.value for each in call.keywords if each.arg in ("what", "do")]
    return [*call.args[:2], *named]


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr) -> str | None:
    """Return a text as written, each inserted value as one character; ``None`` for other code."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else _VALUE for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return None if left is None and right is None else (left or _VALUE) + (right or _VALUE)
    return None


def messages_in(text: str, *, file: str, makers: dict[str, Maker]) -> Iterator[Message]:
    """Yield the messages of a module."""
    return Collector(ast.parse(text), makers, file).messages()


def messages() -> Iterator[Message]:
    """Yield every message of the package."""
    makers = error_makers()
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        yield from messages_in(path.read_text(encoding="utf-8"), file=file, makers=makers)


def main() -> int:
    """Print the messages below the given paths that are not sentences, or their number."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", help="beginnings of paths, such as src/hedgerow/cli")
    parser.add_argument("--count", action="store_true", help="print the number per folder")
    options = parser.parse_args()
    every = [
        each
        for each in messages()
        if not options.paths or each.file.startswith(tuple(options.paths))
    ]
    found = [each for each in every if each.fault is not None]
    if options.count:
        for folder, number in Counter(str(Path(each.file).parent) for each in found).items():
            print(f"{number:5} {folder}")
    else:
        print("\n".join(map(str, found)))
    print(f"{len(found)} of {len(every)} messages", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
