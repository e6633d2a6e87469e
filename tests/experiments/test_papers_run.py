"""Running figures: averages over runs, results that are kept, processes side by side."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import accuracy_table, page
from experiments.curves import Curves
from experiments.diffgen import EPSILONS
from experiments.figure import Figure, FigurePoint, Panel, Scene, Statement, Unit, grid
from experiments.registry import FIGURES
from experiments.rule import OPEN
from experiments.run import run_figure, workers
from experiments.store import Measured, Store
from experiments.trends import rises
from hedgerow.errors import InputError, SettingError

SCENE = Scene(folder=None, quick=True)


class Counted:
    """A figure of two places and two runs that counts how often it is measured."""

    def __init__(self, fail_at=None):
        self.measured = []
        self.fail_at = fail_at

    def __call__(self, unit, scene):
        if len(self.measured) == self.fail_at:
            raise KeyboardInterrupt
        self.measured.append(unit.key)
        return [FigurePoint("p", "line", unit["x"], unit["x"] + unit.run)]

    def figure(self):
        return Figure(
            id="diffgen-0",
            paper="DiffGen",
            title="Counted",
            printed="printed",
            ours="ours",
            panels=(Panel(name="p", x="x", y="y"),),
            statements=(Statement(quote="It rises.", check=rises("p", "line")),),
            units=lambda scene: grid(2, x=(1, 5)),
            measure=self,
        )


def test_points_are_averaged_over_runs_with_their_spread(tmp_path):
    result = run_figure(Counted().figure(), SCENE, tmp_path)
    line = result.curves.line("p", "line")
    assert line.x.tolist() == [1, 5]
    assert line.y.tolist() == [1.5, 5.5]
    assert line.spread == pytest.approx([0.5**0.5] * 2)
    assert line.runs.tolist() == [2, 2]
    assert [verdict.answer for verdict in result.verdicts] == [OPEN]  # two runs tell nothing
    assert result.as_dict()["curves"][0]["values"] == [[1, 2], [5, 6]]


def test_an_interrupted_figure_goes_on_where_it_was(tmp_path):
    broken = Counted(fail_at=3)
    with pytest.raises(KeyboardInterrupt):
        run_figure(broken.figure(), SCENE, tmp_path)
    rest = Counted()
    result = run_figure(rest.figure(), SCENE, tmp_path)
    assert len(broken.measured) == 3
    assert len(rest.measured) == 1
    assert not set(broken.measured) & set(rest.measured)
    assert result.curves.line("p", "line").runs.tolist() == [2, 2]
    again = Counted()
    run_figure(again.figure(), SCENE, tmp_path)
    assert again.measured == []


def test_fewer_runs_may_be_asked_for_and_more_later(tmp_path):
    few, more = Counted(), Counted()
    told = run_figure(few.figure(), SCENE, tmp_path, runs=1)
    assert told.curves.line("p", "line").y.tolist() == [1, 5]
    assert told.as_dict()["most-runs"] == 1
    told = run_figure(more.figure(), SCENE, tmp_path)
    assert len(more.measured) == 2
    assert told.curves.line("p", "line").y.tolist() == [1.5, 5.5]
    assert told.as_dict()["most-runs"] == 2


def test_short_and_full_runs_are_kept_apart(tmp_path):
    run_figure(Counted().figure(), SCENE, tmp_path)
    full = Counted()
    run_figure(full.figure(), Scene(folder=None, quick=False), tmp_path)
    assert len(full.measured) == 4
    told = json.loads((tmp_path / "diffgen-0.json").read_text(encoding="utf-8"))
    assert told["quick"] is False


def test_a_line_that_was_cut_off_is_measured_again(tmp_path):
    first = Counted()
    run_figure(first.figure(), SCENE, tmp_path)
    store = Store.of(first.figure(), SCENE, tmp_path)
    text = store.path.read_text(encoding="utf-8")
    store.path.write_text(text[:-10], encoding="utf-8")
    again = Counted()
    run_figure(again.figure(), SCENE, tmp_path)
    assert again.measured == first.measured[-1:]
    known = store.load([Unit(settings={"x": 5}, run=1)])
    assert [told.points for told in known.values()] == [(FigurePoint("p", "line", 5.0, 6.0),)]


def test_the_store_forgets_on_demand(tmp_path):
    unit = Unit(settings={}, run=0)
    store = Store(path=tmp_path / "runs.jsonl")
    store.add(Measured(key=unit.key, points=(), seconds=0.0))
    assert store.load([unit])
    store.clear()
    assert store.load([unit]) == {}


def test_units_draw_the_same_words_again_and_differ_from_each_other():
    one, same, other = (Unit(settings={"h": h}, run=0) for h in (1, 1, 2))
    assert one.source.words(4).tolist() == same.source.words(4).tolist()
    assert one.source.words(4).tolist() != other.source.words(4).tolist()
    assert one.rng.random() == same.rng.random() != other.rng.random()


@pytest.mark.audit  # a quarter of a minute
def test_processes_side_by_side_give_what_one_process_gives(tmp_path, shared_data):
    """The calling script has no guard around its main part, and is run only once."""
    figure, scene = FIGURES["aruba-7"], Scene(folder=shared_data, quick=True)
    alone = run_figure(figure, scene, tmp_path)
    script = tmp_path / "script.py"
    script.write_text("from experiments.__main__ import app\napp()\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    options = ["--quick", "--jobs", "2", "--json", "--data", shared_data, "-o", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, script, "run", "aruba-7", *map(str, options)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["figures"][0]["id"] == "aruba-7"
    told = json.loads((tmp_path / "out" / "aruba-7.json").read_text(encoding="utf-8"))
    together = {(c["panel"], c["line"]): c for c in told["curves"]}
    # Times differ, what else is measured does not.
    for name in [("(a) frontier", "frontier nodes"), ("(d) visited", "BTDA")]:
        assert together[name] == alone.curves.line(*name).as_dict()


def test_no_process_at_all_is_refused():
    with pytest.raises(SettingError), workers(0):
        pass


def test_a_figure_says_which_data_it_lacks(tmp_path):
    figure = FIGURES["diffpart-3"]
    assert figure.absent(SCENE) == list(figure.needs)
    assert figure.absent(Scene(folder=tmp_path, quick=True)) == list(figure.needs)
    for name in figure.needs:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert figure.absent(Scene(folder=tmp_path, quick=True)) == []


def test_pages_keep_what_others_wrote_and_replace_the_figures(tmp_path, monkeypatch):
    figure = Counted().figure()
    monkeypatch.setattr(page, "FIGURES", {figure.id: figure})
    results, pages = tmp_path / "results", tmp_path / "pages"
    results.mkdir()
    pages.mkdir()
    run_figure(figure, SCENE, results)
    (pages / "diffgen.md").write_text("# DiffGen\n\nWords.\n", encoding="utf-8")
    assert page.write_pages(results, pages) == [pages / "diffgen.md"]
    first = (pages / "diffgen.md").read_text(encoding="utf-8")
    page.write_pages(results, pages)
    assert (pages / "diffgen.md").read_text(encoding="utf-8") == first
    assert first.startswith("# DiffGen\n\nWords.\n\n## The figures, run again")
    assert "| It rises. | **cannot be told**: line, 5 − 1: 4 (2 runs) |" in first
    assert "- line (2 runs): 1: 1.5, 5: 5.5" in first
    assert (pages / "figures" / "diffgen-0.svg").is_file()


def test_a_result_that_is_no_json_is_refused(tmp_path, monkeypatch):
    figure = Counted().figure()
    monkeypatch.setattr(page, "FIGURES", {figure.id: figure})
    (tmp_path / "diffgen-0.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not a result"):
        page.write_pages(tmp_path, tmp_path)


def test_lines_that_share_no_place_cannot_be_compared():
    told = Curves.of([("p", "a", 1, 1.0), ("p", "b", 2, 1.0)])
    with pytest.raises(LookupError):
        told.places("p", "a", "b")


def test_the_table_of_accuracies_is_written_from_the_results(tmp_path):
    def curve(panel, epsilon):
        mean = [80.0, 81.0, 82.0]
        spread, runs = [1.5] * 3, [20] * 3
        told = {"panel": panel, "line": f"ε = {epsilon:g}", "x": [4, 10, 16], "mean": mean}
        return {**told, "standard-deviation": spread, "runs": runs}

    page_text = f"before\n{accuracy_table.BEGIN}\nold\n{accuracy_table.END}\nafter"
    assert accuracy_table.with_table(page_text, tmp_path) == page_text
    for figure in ("diffgen-3a", "diffgen-3b"):
        panels = [panel for name, panel in accuracy_table.VARIANTS.values() if name == figure]
        curves = [curve(panel, epsilon) for panel in panels for epsilon in EPSILONS]
        (tmp_path / f"{figure}.json").write_text(json.dumps({"curves": curves}), encoding="utf-8")
    told = accuracy_table.with_table(page_text, tmp_path)
    assert told.startswith("before\n")
    assert told.endswith("\nafter")
    assert "old" not in told
    assert "| faithful, infogain | 16 | " + "82.0 ± 1.5 | " * 4 + "20 |" in told
    assert accuracy_table.with_table(told, tmp_path) == told
