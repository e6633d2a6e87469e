"""List the words that ``tests/words.toml`` forbids, in source, templates and documentation.

``python tools/words.py [PATH ...]`` prints every place below the given paths, or everywhere, with
what to write instead; ``--count`` prints the number per folder.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "words.toml"
TEMPLATES = ("*.j2", "*.toml")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A place where a forbidden word or name occurs."""

    file: str
    line: int
    rule: str
    text: str
    instead: str

    @property
    def key(self) -> str:
        """The key under which an exception is listed."""
        return f"{self.file}: {self.rule}"

    def __str__(self) -> str:
        """Return one line: place, text and what to write instead."""
        return f"{self.file}:{self.line}: {self.text}  ({self.instead})"


class Rules:
    """The patterns, openings and names of the list."""

    def __init__(self) -> None:
        rules = tomllib.loads(LIST.read_text(encoding="utf-8"))
        self.patterns = {
            re.compile(pattern, re.IGNORECASE): (pattern, instead)
            for pattern, instead in rules["patterns"].items()
        }
        openings = "|".join(rules["docstrings"]["openings"])
        self.opening = re.compile(rf"\s*({openings})\b")
        self.names = frozenset(rules["names"]["forbidden"])
        self.exceptions: dict[str, str] = rules["exceptions"]
        self.pending: list[str] = rules["pending"]["folders"]

    def in_text(self, text: str, *, file: str, line: int) -> Iterator[Finding]:
        """Yield the forbidden words of a text that begins at a line."""
        for pattern, (rule, instead) in self.patterns.items():
            for match in pattern.finditer(text):
                at = line + text.count("\n", 0, match.start())
                yield Finding(file=file, line=at, rule=rule, text=match[0], instead=instead)

    def in_source(self, text: str, *, file: str) -> Iterator[Finding]:
        """Yield the forbidden words, openings and names of a Python module."""
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                yield from self.in_text(token.string, file=file, line=token.start[0])
        for node in ast.walk(ast.parse(text)):
            yield from self._docstring(node, file=file)
            yield from self._name(node, file=file)

    def _docstring(self, node: ast.AST, *, file: str) -> Iterator[Finding]:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value.value, str) and self.opening.match(node.value.value):
            first = node.value.value.strip().splitlines()[0]
            instead = "say what it is or does"
            yield Finding(
                file=file, line=node.lineno, rule="docstring", text=first, instead=instead
            )

    def _name(self, node: ast.AST, *, file: str) -> Iterator[Finding]:
        name = ""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        if name.lower().strip("_") in self.names:
            instead = "name the thing"
            yield Finding(
                file=file, line=getattr(node, "lineno", 0), rule=name, text=name, instead=instead
            )


def is_pending(finding: Finding, rules: Rules) -> bool:
    """Say whether a place is in a folder that has not been rewritten yet."""
    return str(Path(finding.file).parent) in rules.pending


def findings(rules: Rules) -> Iterator[Finding]:
    """Yield every forbidden place of source, templates and documentation, exceptions too."""
    source = ROOT / "src"
    for path in sorted(source.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        yield from rules.in_source(path.read_text(encoding="utf-8"), file=file)
    for path in sorted(each for kind in TEMPLATES for each in source.rglob(kind)):
        file = path.relative_to(ROOT).as_posix()
        yield from rules.in_text(path.read_text(encoding="utf-8"), file=file, line=1)
    for path in [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]:
        file = path.relative_to(ROOT).as_posix()
        yield from rules.in_text(prose(path.read_text(encoding="utf-8")), file=file, line=1)


def prose(text: str) -> str:
    """Return a page with its code blocks and code spans blanked, line by line."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    text = re.sub(r"^```.*?^```", blank, text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", blank, text)


def main() -> int:
    """Print the places below the given paths, or their number per folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", help="beginnings of paths, such as src/hedgerow/cli")
    parser.add_argument("--count", action="store_true", help="print the number per folder")
    options = parser.parse_args()
    rules = Rules()
    found = [
        each
        for each in findings(rules)
        if each.key not in rules.exceptions
        and (not options.paths or each.file.startswith(tuple(options.paths)))
    ]
    if options.count:
        for folder, number in Counter(str(Path(each.file).parent) for each in found).items():
            print(f"{number:5} {folder}")
    else:
        print("\n".join(map(str, found)))
    print(f"{len(found)} places", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
