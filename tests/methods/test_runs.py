"""Methods reach budget and noise through their run alone."""

from __future__ import annotations

import ast

import pytest

ROOMS = ("methods", "trees", "baselines", "disclosure/private")
BUDGET = {"PathLedger", "Spending", "noisy_counts", "noisy_rest", "choose_by_score", "path_tests"}
BUDGET |= {"noisy_sparse_counts", "noisy_sparse_blocks"}
OUTLINED = {"methods/diffpart/diffpart.py"}
"""Books the planned steps on a ledger of its own, without data."""


def imported(source):
    """Names that a module imports from the budget and the mechanisms."""
    rooms = ("hedgerow.privacy.budget", "hedgerow.privacy.mechanisms")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in rooms:
            yield from (name.name for name in node.names)


def files(root):
    for room in ROOMS:
        for path in sorted((root / "src/hedgerow" / room).rglob("*.py")):
            name = path.relative_to(root / "src/hedgerow").as_posix()
            if name not in OUTLINED:
                yield name, path


def test_no_method_takes_a_ledger_or_draws_noise_beside_its_run(root):
    found = {
        name: taken
        for name, path in files(root)
        if (taken := BUDGET & set(imported(path.read_text(encoding="utf-8"))))
    }
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "from hedgerow.privacy.budget import PathLedger",
        "from hedgerow.privacy.mechanisms import Spending, noisy_counts",
    ],
)
def test_a_module_that_takes_a_ledger_is_found(line):
    assert BUDGET & set(imported(line))
