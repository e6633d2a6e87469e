"""Small faults for the code that keeps releases private: where they fit, and how they read.

A *site* is a place in a module where one of the operators below applies. Sites are found in the
syntax tree in a fixed order, so that a name (file, function, operator, number) means the same
fault for as long as the function stays as it is.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

PRIVATE = (
    "planted",
    "dropped-booking",
    "reused-draw",
    "no-draw",
    "doubled-rate",
    "halved-sensitivity",
    "claimed-monotone",
    "dropped-bound",
    "dropped-weights",
    "moved-threshold",
)
"""Operators that break privacy rather than arithmetic: all their sites are taken."""

TOLD = {"about", "outline", "validate", "steps", "delta_text", "epsilon_text", "__repr__"}
TOLD |= {"_overdraft", "_shown", "departures", "_sensitivity_words", "choice_probabilities"}
"""Functions that tell people something, or serve tests alone."""

COMPARE = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
SWAPPED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "minimum": "maximum",
    "maximum": "minimum",
    "floor": "ceil",
    "ceil": "floor",
    "next_minus": "next_plus",
    "next_plus": "next_minus",
}


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One fault: its name, what it puts in place of what, and the module with it.

    ``text`` is the module without the fault, which is planted at its site number ``at``, or with
    it, where that is none.
    """

    name: str
    operator: str
    change: str
    text: str
    at: int | None

    @functools.cached_property
    def source(self) -> str:
        """The module with the fault."""
        if self.at is None:
            return ast.unparse(ast.parse(self.text))
        return _mutated(self.text, self.at)


def mutants_of(text: str, *, file: str) -> Iterator[Mutant]:
    """Yield every fault that fits into a module, in the order of its text."""
    sites = list(_sites(ast.parse(text)))
    numbers: dict[tuple[str, str], int] = {}
    for at, (function, operator, before, after) in enumerate(sites):
        number = numbers[function, operator] = numbers.get((function, operator), -1) + 1
        yield Mutant(
            name=f"{file} {function} {operator} {number}",
            operator=operator,
            change=f"{_short(before)} -> {_short(after)}",
            text=text,
            at=at,
        )


def planted(text: str, name: str, before: str, after: str) -> Mutant:
    """Return a fault that was written by hand: another text for one that stands once."""
    if text.count(before) != 1:
        raise ValueError(f"{name}: the text to replace stands {text.count(before)} times, not once")
    change = f"{' '.join(before.split())} -> {' '.join(after.split())}"
    faulty = text.replace(before, after)
    return Mutant(name=name, operator="planted", change=change, text=faulty, at=None)


def chosen(found: list[Mutant], most: int) -> list[Mutant]:
    """Return those that break privacy, and of the others as many as are wanted, by their hash."""
    first = [each for each in found if each.operator in PRIVATE]
    rest = [each for each in found if each.operator not in PRIVATE]
    rest.sort(key=lambda each: hashlib.sha256(each.name.encode()).hexdigest())
    kept = {each.name for each in [*first, *rest[: max(most - len(first), 0)]]}
    return [each for each in found if each.name in kept]


def without_docstrings(text: str) -> str:
    """Return a module without the texts that stand alone as statements."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            lines = getattr(node, field, None)
            if isinstance(lines, list):
                setattr(node, field, [each for each in lines if not _is_alone(each)])
    return ast.unparse(tree)


def _is_alone(node: ast.AST) -> bool:
    is_expression = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_expression and isinstance(node.value.value, str)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


Site = tuple[str, str, ast.AST, ast.AST]


def _sites(tree: ast.Module) -> Iterator[Site]:
    for function, parent, field, _, node in _places(tree, "module"):
        for operator, after in _variants(node, parent, field):
            yield function, operator, node, after


def _mutated(text: str, wanted: int) -> str:
    tree, at = ast.parse(text), -1
    for _, parent, field, index, node in _places(tree, "module"):
        for _, after in _variants(node, parent, field):
            at += 1
            if at == wanted:
                if index is None:
                    setattr(parent, field, after)
                else:
                    getattr(parent, field)[index] = after
                return ast.unparse(ast.fix_missing_locations(tree))
    raise IndexError(wanted)


Place = tuple[str, ast.AST, str, int | None, ast.AST]


def _places(node: ast.AST, function: str) -> Iterator[Place]:
    """Yield every node with where it hangs, but for annotations, messages and docstrings."""
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
            continue
        many = isinstance(value, list)
        for index, each in enumerate(value if many else [value]):
            if not isinstance(each, ast.AST) or isinstance(each, ast.Raise | ast.JoinedStr):
                continue
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                continue
            inner = function
            if isinstance(each, ast.FunctionDef | ast.ClassDef):
                if each.name in TOLD:
                    continue
                inner = each.name if function == "module" else f"{function}.{each.name}"
            if isinstance(each, ast.Import | ast.ImportFrom):
                continue
            yield function, node, field, index if many else None, each
            yield from _places(each, inner)


def _variants(node: ast.AST, parent: ast.AST, field: str) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.keyword):
        yield from _keywords(node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARE:
        after = copy.deepcopy(node)
        after.ops = [COMPARE[type(node.ops[0])]()]
        yield "off-by-one", after
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        if not _is_text(node):
            swapped = copy.deepcopy(node)
            swapped.op = ARITHMETIC[type(node.op)]()
            yield "swapped-operator", swapped
    elif isinstance(node, ast.UnaryOp):
        yield "dropped-sign", node.operand
    elif isinstance(node, ast.BoolOp):
        other = copy.deepcopy(node)
        other.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "swapped-operator", other
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    if field == "test" and isinstance(parent, ast.If | ast.IfExp):
        yield "turned-condition", ast.UnaryOp(op=ast.Not(), operand=node)  # type: ignore[arg-type]


def _is_text(node: ast.BinOp | ast.AugAssign) -> bool:
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )


def _constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.value, bool):
        yield "turned-condition", ast.Constant(value=not node.value)
    elif isinstance(node.value, int):
        yield "off-by-one", ast.Constant(value=node.value + 1)
    elif isinstance(node.value, float) and node.value:
        yield "doubled-number", ast.Constant(value=2 * node.value)


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = node.func.id if isinstance(node.func, ast.Name) else name
    if name == "book" and isinstance(node.func, ast.Attribute):
        yield "dropped-booking", ast.Attribute(node.func.value, "epsilon", ast.Load())
    if name == "spend" and node.args:
        yield "dropped-booking", node.args[0]
    if name == "spend_rest" and isinstance(node.func, ast.Attribute):
        nodes = [word.value for word in node.keywords if word.arg == "nodes"]
        left = ast.Attribute(node.func.value, "left", ast.Load())
        yield "dropped-booking", ast.Call(left, nodes, [])
    if name in {"words", "discrete_laplace", "geometric"} and _are_many(node.args):
        once = copy.deepcopy(node)
        once.args = [ast.Constant(value=1)]
        repeat = ast.Attribute(ast.Name("np", ast.Load()), "repeat", ast.Load())
        yield "reused-draw", ast.Call(repeat, [once, node.args[0]], [])
    if name == "below" and len(node.args) == 1:
        zeros = ast.Attribute(ast.Name("np", ast.Load()), "zeros_like", ast.Load())
        yield "no-draw", ast.Call(zeros, [node.args[0]], [])
    if name in SWAPPED:
        swapped = copy.deepcopy(node)
        if isinstance(swapped.func, ast.Attribute):
            swapped.func.attr = SWAPPED[name]
        elif isinstance(swapped.func, ast.Name):
            swapped.func.id = SWAPPED[name]
        yield "swapped-function", swapped


def _are_many(arguments: list[ast.expr]) -> bool:
    """Say whether draws are asked for by a number that is not written down, as 1 may be."""
    return len(arguments) == 1 and not isinstance(arguments[0], ast.Constant)


def _keywords(node: ast.keyword) -> Iterator[tuple[str, ast.AST]]:
    two = ast.Constant(value=2)
    if node.arg in {"epsilon", "share", "rate"}:
        doubled = ast.BinOp(node.value, ast.Mult(), two)
        yield "doubled-rate", ast.keyword(node.arg, doubled)
    if node.arg in {"sensitivity", "span"}:
        halved = ast.BinOp(node.value, ast.Div(), two)
        yield "halved-sensitivity", ast.keyword(node.arg, halved)
    if node.arg == "monotone" and not isinstance(node.value, ast.Constant):
        yield "claimed-monotone", ast.keyword(node.arg, ast.Constant(value=True))
    if node.arg == "per_record":
        yield "dropped-bound", ast.keyword(node.arg, ast.Constant(value=1))
    if node.arg == "weights" and not isinstance(node.value, ast.Constant):
        yield "dropped-weights", ast.keyword(node.arg, ast.Constant(value=None))
    if node.arg == "threshold":
        lower = ast.BinOp(node.value, ast.Sub(), ast.Constant(value=1))
        yield "moved-threshold", ast.keyword(node.arg, lower)
