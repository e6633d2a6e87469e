"""Source, templates and documentation use the words of the field.

``tests/words.toml`` lists the patterns and the exceptions; ``tools/words.py`` prints the places.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from words import Finding, Rules, findings, is_pending, prose  # noqa: E402

MOST_EXCEPTIONS = 40


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules()


@pytest.fixture(scope="module")
def found(rules: Rules) -> list[Finding]:
    return list(findings(rules))


def test_no_forbidden_word_outside_the_exceptions(rules: Rules, found: list[Finding]) -> None:
    rest = [
        str(each)
        for each in found
        if each.key not in rules.exceptions and not is_pending(each, rules)
    ]
    assert not rest, "\n".join(rest)


def test_folders_without_findings_are_not_pending(rules: Rules, found: list[Finding]) -> None:
    folders = {str(Path(each.file).parent) for each in found if each.key not in rules.exceptions}
    assert set(rules.pending) <= folders


def test_exceptions_are_few_used_and_have_a_reason(rules: Rules, found: list[Finding]) -> None:
    assert len(rules.exceptions) < MOST_EXCEPTIONS
    assert set(rules.exceptions) <= {each.key for each in found}
    assert all(len(reason) > 10 for reason in rules.exceptions.values())


@pytest.mark.parametrize(
    "source",
    [
        "# the budget is told in the plan",
        'x = "What was reckoned."',
        'def f():\n    """How far it lies."""',
        'class A:\n    b: int\n    """What is kept."""',
        "def told(): ...",
        "def f(*, together): ...",
        "made = 1",
    ],
)
def test_a_forbidden_word_in_source_is_found(rules: Rules, source: str) -> None:
    assert list(rules.in_source(source, file="a.py"))


def test_plain_source_has_no_finding(rules: Rules) -> None:
    source = 'def forecast():\n    """Return the expected error."""  # per column\n'
    assert not list(rules.in_source(source, file="a.py"))


def test_code_in_a_page_is_not_prose(rules: Rules) -> None:
    page = "Text\n```python\ntold = 1\n```\nand `told`.\n"
    assert not list(rules.in_text(prose(page), file="a.md", line=1))
    assert prose(page).count("\n") == page.count("\n")
