"""An audit that finds nothing may be blind: it must certify a good part of what is spent."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from hedgerow.auditing.cases import subjects
from hedgerow.auditing.run import audit_subject


@pytest.mark.audit
@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("hedge, gini", "T0"),
        ("diffgen, gini, improved", "T0"),
        ("diffmulti, discernibility, improved", "T0"),
        ("diffpart, improved", "T5"),
    ],
)
def test_at_least_three_tenths_of_epsilon_are_certified_on_the_worst_pair(name, pair):
    subject = next(each for each in subjects([], epsilon=Fraction(1), seed=1) if each.name == name)
    verdict = audit_subject(subject, runs=300, pairs=[pair], seed=21)
    assert 0.3 <= verdict.certified <= 1


def listed(root):
    text = (root / "docs" / "audit.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ε = ([\d.]+)[^|]* \| ([\d.]+) \| ([\d,]+) \|", text, re.M)
    return {name: (float(claimed), float(found)) for name, claimed, found, _ in rows}


def test_the_documented_table_lists_everything_that_is_audited_and_refutes_nothing(root):
    table = listed(root)
    names = [each.name for each in subjects([], epsilon=Fraction(1), seed=1)]
    claiming = [name for name in names if name not in {"mondrian", "tds", "full-domain"}]
    assert sorted(table) == sorted(claiming), (
        "run: hedgerow audit -o audit && python tools/audit_table.py audit/audit.json"
    )
    assert all(found <= claimed for claimed, found in table.values())


def test_the_documented_table_shows_that_the_audit_can_see(root):
    table = listed(root)
    assert table["noise"][1] >= 0.8
    for method in ("hedge", "diffgen", "diffmulti", "diffpart"):
        assert max(found for name, (_, found) in table.items() if name.startswith(method)) >= 0.3
