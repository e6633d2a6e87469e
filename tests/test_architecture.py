"""The shape of the package: who may import whom, and what the command line may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "hedgerow"

LAYERS = [
    "errors",
    "privacy",
    "plan",
    "taxonomy",
    "read",
    "encode",
    "count",
    "partition",
    "optimise",
    "baselines",
    "disclosing",
    "registry",
    "release",
    "evaluate",
    "draft",
    "prepared",
    "pipeline",
    "disclosure",
    "check",
    "audit",
    "papers",
    "demo",
    "cli",
]
"""From the top down: a module imports only from layers above its own, and its own."""

APART = {("partition", "optimise"), ("optimise", "partition"), ("release", "evaluate")}
"""Pairs that must not know each other although one lies above."""


def layer_of(path: Path) -> str | None:
    first = path.relative_to(SOURCE).parts[0]
    name = first.removesuffix(".py")
    return None if name == "__init__" else name


def imported_layers(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            base = node.module or ""
            names = (
                [f"{base}.{alias.name}" for alias in node.names] if base == "hedgerow" else [base]
            )
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("hedgerow.")}
    return found


def offences() -> list[str]:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        layer = layer_of(path)
        if layer is None:
            continue
        for other in imported_layers(path) - {layer}:
            upwards = LAYERS.index(other) > LAYERS.index(layer)
            if upwards or (layer, other) in APART:
                wrong.append(f"{path.relative_to(SOURCE)} imports hedgerow.{other}")
    return wrong


def test_every_module_belongs_to_a_layer():
    layers = {layer_of(path) for path in SOURCE.rglob("*.py")} - {None}
    assert layers <= set(LAYERS)


def test_imports_point_one_way():
    assert offences() == []


def test_an_import_that_points_the_other_way_would_be_noticed(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "LAYERS", list(reversed(LAYERS)))
    assert offences()


HEAVY = ("numba", "polars", "pyarrow", "matplotlib", "sklearn", "scipy", "pandas", "narwhals")


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory):
    plan = tmp_path_factory.mktemp("plan") / "plan.yaml"
    plan.write_text(
        "data: nowhere.csv\nattributes:\n  age: {numeric: [0, 99]}\n"
        "  sick: {role: class, values: ['no', 'yes']}\nconfirmed: true\n"
        "publish: {method: diffgen, epsilon: 1, h: 3}\n"
    )
    return plan


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["publish", "--help"], ["check", "PLAN", "--json"], ["taxonomy", "--help"]],
    ids=" ".join,
)
def test_the_command_line_answers_without_loading_anything_heavy(arguments, plan_file):
    given = [str(plan_file) if argument == "PLAN" else argument for argument in arguments]
    code = (
        "import sys\n"
        f"sys.argv = ['hedgerow', *{given!r}]\n"
        "from hedgerow.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
