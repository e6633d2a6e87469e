"""The shape of the package: who may import whom, and what the command line may load."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "hedgerow"

ROOMS: dict[str, str] = {
    "errors": "",
    "progress": "",
    "privacy": "errors",
    "ledger": "errors privacy",
    "taxonomy": "errors",
    "model": "errors progress privacy taxonomy",
    "plan": "errors privacy model",
    "read": "errors model",
    "encode": "errors model plan read taxonomy",
    "count": "errors model encode read taxonomy",
    "trees": "errors model privacy count taxonomy",
    "disclosure.lattice": "errors model taxonomy",
    "disclosure.solvers": "errors model disclosure.lattice",
    "methods": "errors progress model plan privacy count trees taxonomy",
    "disclosure.private": "errors progress model plan privacy count trees taxonomy"
    " disclosure.lattice",
    "baselines": "errors progress model plan privacy count trees taxonomy methods",
    "draw": "errors model taxonomy",
    "report": "errors model disclosure.lattice taxonomy draw",
    "release": "errors model plan privacy ledger read encode report taxonomy",
    "pipeline": "errors progress model plan privacy ledger read encode count methods release"
    " taxonomy",
    "disclosure": "errors progress model plan privacy ledger read encode count release report"
    " taxonomy pipeline baselines disclosure.lattice disclosure.solvers",
    "evaluation": "errors progress model plan privacy read encode release report taxonomy",
    "comparison": "errors progress model plan privacy ledger read encode count release report"
    " pipeline evaluation",
    "risks": "errors progress model plan privacy read encode count release report taxonomy"
    " pipeline disclosure disclosure.lattice evaluation comparison",
    "drafting": "errors progress model plan privacy ledger read taxonomy",
    "auditing": "errors progress model plan privacy encode count methods taxonomy pipeline",
    "demo": "errors progress model plan read encode release evaluation pipeline",
    "studio": "errors draw model plan privacy encode taxonomy release report pipeline disclosure"
    " evaluation comparison drafting",
    "handbook": "errors",
    "__main__": "cli",
    "cli": "errors model plan privacy ledger taxonomy release report pipeline disclosure evaluation"
    " comparison risks drafting auditing demo studio handbook",
}
"""The rooms that each room may use beside itself; all others are refused.

A room is a folder or file of the package, or a folder within one that has rules of its own.
"""


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


MODULES = {module_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def imports(path: Path, known: Collection[str] = MODULES) -> set[str]:
    """The modules of the package that a file imports, wherever in it it does."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [node.module or ""] + [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        inside = {name.removeprefix("hedgerow.") for name in names if name.startswith("hedgerow.")}
        found |= inside & set(known)
    return found


def room_of(module: str, rooms: Collection[str] = ROOMS) -> str:
    """The room of a module: the deepest one that it lies in."""
    parts = module.split(".")
    prefixes = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((prefix for prefix in prefixes if prefix in rooms), parts[0])


def offences(rooms: Mapping[str, str] = ROOMS) -> list[str]:
    wrong = []
    for module, path in MODULES.items():
        room = room_of(module)
        used = {room_of(name) for name in imports(path)} if module else set()
        refused = used - {room, "", *rooms.get(room, "").split()}
        wrong += [f"{module} imports hedgerow.{other}" for other in sorted(refused)]
    return wrong


def cycles(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules between cycles of imports: what is left when all others are peeled off."""
    left = {module: set(used) - {module} for module, used in graph.items()}
    while True:
        wanted = {used for module in left for used in left[module]}
        free = [m for m, used in left.items() if not used & set(left) or m not in wanted]
        if not free:
            return sorted(left)
        for module in free:
            del left[module]


def test_every_module_belongs_to_a_room_that_may_use_what_it_uses():
    rooms = {room_of(module) for module in MODULES} - {""}
    assert rooms == set(ROOMS)
    assert offences() == []


def test_the_rooms_lie_in_one_order():
    assert cycles({room: set(used.split()) for room, used in ROOMS.items()}) == []


def test_an_import_that_is_not_allowed_would_be_noticed():
    assert offences(dict.fromkeys(ROOMS, ""))


def test_no_module_imports_itself_by_way_of_others():
    graph = {module: imports(path) for module, path in MODULES.items() if module}
    assert cycles(graph) == []
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]


def public_names() -> dict[str, list[str]]:
    """Where each class, function and alias of a type that other files may use is defined."""
    homes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in parsed(path).body:
            names = []
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                names = [node.name]
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                named = isinstance(target, ast.Name) and not target.id.isupper()
                names = [target.id] if named and target.id[0].isupper() else []
            for name in names:
                if not name.startswith("_"):
                    homes.setdefault(name, []).append(module)
    return homes


def test_one_name_stands_for_one_thing():
    twice = {name: homes for name, homes in public_names().items() if len(homes) > 1}
    assert twice == {}


def test_every_package_says_who_may_come_in_and_what_leaves():
    for path in SOURCE.rglob("__init__.py"):
        said = ast.get_docstring(parsed(path))
        assert said, path
        assert said.split("\n\n")[0].rstrip().endswith("."), path


def test_nothing_in_the_package_knows_the_experiments():
    for path in SOURCE.rglob("*.py"):
        assert "experiments." not in path.read_text(encoding="utf-8"), path


HEAVY = (
    *("numba", "polars", "pyarrow", "matplotlib", "sklearn", "scipy", "pandas", "narwhals"),
    *("starlette", "uvicorn", "ruamel.yaml", "anyio"),
)


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory):
    plan = tmp_path_factory.mktemp("plan") / "plan.yaml"
    plan.write_text(
        "data: nowhere.csv\nattributes:\n  age: {numeric: [0, 99]}\n"
        "  sick: {role: class, values: ['no', 'yes']}\nprotects: records\nconfirmed: true\n"
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


def test_help_comes_without_numbers_and_models():
    code = (
        "import sys\nsys.argv = ['hedgerow', '--help']\n"
        "from hedgerow.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print(sorted({'numpy', 'pydantic', 'yaml', 'rich'} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
