"""The table of research/attack.md names every release that the benchmark attacks."""

from __future__ import annotations

import re

import pytest


@pytest.fixture
def benchmark(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import attack_releases

    return attack_releases


def test_the_page_shows_every_data_set_and_release(benchmark, root):
    page = (root / "research" / "attack.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- releases -->\n(.*?)<!-- /releases -->", page, re.DOTALL)[1]
    assert benchmark.HEADER in shown
    rows = [
        f"| {name} | {release} | "
        for name in benchmark.DATA
        for release in benchmark.contenders(name)
    ]
    assert len(rows) == shown.count("\n") - 2
    for row in rows:
        assert row in shown


def test_a_raw_table_is_attacked_as_the_page_says(benchmark, tmp_path):
    case = benchmark.adult(150, tmp_path)
    facts = benchmark.attacked(case, None, most=60)
    assert facts["targets"]["pairs"] == 60
    assert "**" in benchmark._pair(facts["linkability"])
    assert benchmark._best(facts).endswith(" / –")
