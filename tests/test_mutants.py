"""The planted faults: what the tool finds in a module, and that the list can be read."""

from __future__ import annotations

import sys
import tomllib

import pytest

MODULE = '''
def noisy(counts, *, spending, source):
    """Return 1 count or more."""
    epsilon = spending.book() / 3
    if len(counts) < 2:
        raise ValueError(f"{1 + 1} is too few")
    return counts + discrete_laplace(len(counts), epsilon=epsilon, source=source)
'''


@pytest.fixture
def mutations(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "tools"))
    import mutations

    yield mutations
    sys.modules.pop("mutations")


def test_faults_are_found_in_a_fixed_order_and_change_one_thing_each(mutations):
    found = list(mutations.mutants_of(MODULE, file="m.py"))
    assert [(each.name, each.change.split(" -> ")[1]) for each in found][:6] == [
        ("m.py noisy swapped-operator 0", "spending.book() * 3"),
        ("m.py noisy dropped-booking 0", "spending.epsilon"),
        ("m.py noisy off-by-one 0", "4"),
        ("m.py noisy off-by-one 1", "len(counts) <= 2"),
        ("m.py noisy turned-condition 0", "not len(counts) < 2"),
        ("m.py noisy off-by-one 2", "3"),
    ]
    assert [each.operator for each in found[6:]] == [
        "swapped-operator",
        "reused-draw",
        "doubled-rate",
    ]
    assert len({each.source for each in found}) == len(found)
    assert "np.repeat(discrete_laplace(1, epsilon=epsilon" in found[7].source
    assert "epsilon=epsilon * 2" in found[8].source


def test_faults_that_break_privacy_are_always_taken(mutations):
    found = list(mutations.mutants_of(MODULE, file="m.py"))
    few = mutations.chosen(found, 4)
    assert len(few) == 4
    assert {"dropped-booking", "reused-draw", "doubled-rate"} < {each.operator for each in few}
    assert few == mutations.chosen(list(reversed(found)), 4)[::-1]


def test_at_least_300_faults_are_listed_and_every_equivalent_one_has_a_reason(root):
    told = tomllib.loads((root / "tests" / "mutants.toml").read_text(encoding="utf-8"))
    assert len(told["mutants"]) >= 300
    for name, reason in told["equivalent"].items():
        assert len(reason) > 20, name
        assert name in told["mutants"], name
    for file, room in told["rooms"].items():
        assert (root / "src" / "hedgerow" / file).is_file()
        assert all(
            (root / path.split("::")[0]).exists() for path in told["tests"][room["tests"]]["files"]
        )


def test_faults_written_by_hand_replace_a_text_that_stands_once(root, mutations):
    told = tomllib.loads((root / "tests" / "mutants.toml").read_text(encoding="utf-8"))
    assert told["planted"]
    for name, fault in told["planted"].items():
        file = name.split(" ")[0]
        assert file in told["rooms"]
        text = (root / "src" / "hedgerow" / file).read_text(encoding="utf-8")
        found = mutations.planted(text, name, fault["before"], fault["after"])
        assert found.operator in mutations.PRIVATE
    with pytest.raises(ValueError, match="2 times"):
        mutations.planted("a = 1\na = 1\n", "a twice", "a = 1", "a = 2")


def test_a_module_without_docstrings_keeps_its_code(mutations):
    text = '"""One."""\nx = "two"\n"""Three."""\n\ndef f() -> str:\n    """Four."""\n    return x\n'
    bare = mutations.without_docstrings(text)
    assert bare == mutations.without_docstrings(text.replace("Four", "Five"))
    assert "One" not in bare
    assert "Three" not in bare
    assert "return x" in bare
    assert bare != mutations.without_docstrings(text.replace("two", "three"))
