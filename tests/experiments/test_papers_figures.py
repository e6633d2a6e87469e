"""Every figure runs in short, and every statement of a paper can be found wrong."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from experiments.curves import Curve, Curves
from experiments.figure import PAGES, Scene
from experiments.registry import FIGURES, chosen_figures
from experiments.rule import HOLDS, LEAST_RUNS, NOT, UNMEASURED
from experiments.run import StatementVerdict, run_figure, verdicts_of

NAMED = {
    "DiffGen": ["3a", "3b", "4", "5"],
    "DiffPart": ["3", "4", "5", "6", "7", "8"],
    "DiffMulti": ["5", "6", "7", "8", "9", "10", "11", "12", "13", "rps"],
    "ARUBA": ["7", "9"],
    "TKDE": ["3", "4"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("papers")


def test_every_figure_of_the_papers_is_there_in_their_order():
    wanted = [f"{paper.lower()}-{number}" for paper, numbers in NAMED.items() for number in numbers]
    assert list(FIGURES) == wanted


SLOW = {"diffgen-4", "diffgen-5", "diffpart-3", "diffpart-5", "aruba-7", "tkde-3"} | {
    f"diffmulti-{n}" for n in (5, 7, 10, 11, 12, 13)
}
SHORT = [pytest.param(name, marks=pytest.mark.audit if name in SLOW else ()) for name in FIGURES]


@pytest.mark.parametrize("name", SHORT)
def test_a_figure_runs_in_short_with_a_plot_numbers_and_a_verdict_on_every_statement(
    name, folder, request
):
    figure = FIGURES[name]
    data = request.getfixturevalue("shared_data") if figure.needs else None
    result = run_figure(figure, Scene(folder=data, quick=True), folder)
    told = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    assert told["quick"]
    assert [verdict["quote"] for verdict in told["verdicts"]] == [
        s.quote for s in figure.statements
    ]
    drawn = (folder / f"{name}.svg").read_text(encoding="utf-8")
    for curve in result.curves:
        assert curve.panel in {panel.name for panel in figure.panels}
        assert np.isfinite(curve.y).all()
    names = {curve.panel for curve in result.curves}
    seconds = sum(bool(panel.second) for panel in figure.panels if panel.name in names)
    assert drawn.count('<g id="axes_') == len(names) + seconds
    # A short run leaves few statements without their points, and its one run decides nothing.
    assert any(verdict.answer != UNMEASURED for verdict in result.verdicts)


PLACES = [1.0, 2.0, 5.0, 50.0, 10_000.0]


class AnyCurves(Curves):
    """Curves that have every line that is asked for, drawn at random around some levels."""

    def __init__(self, seed, levels):
        object.__setattr__(self, "curves", ())
        object.__setattr__(self, "seed", seed)
        object.__setattr__(self, "levels", levels)

    def line(self, panel, line):
        rng = np.random.default_rng([self.seed, *f"{panel}/{line}".encode()])
        level = rng.choice(self.levels) * rng.choice([1, 1, 1, 0.01, 30])
        x = np.linspace(0, 1, 5)
        shape = rng.normal() * x - rng.choice([0, 0, 2]) * (x - 0.5) ** 2
        y = np.maximum(level * (1 + rng.choice([0, 0.01, 0.3, 3]) * shape), 1e-6)
        none = np.zeros(5)
        samples = tuple({(run, 0): float(value) for run in range(LEAST_RUNS)} for value in y)
        return Curve(
            panel=panel,
            line=line,
            x=np.array(PLACES),
            y=y,
            spread=none,
            runs=none.astype(np.int64),
            samples=samples,
        )

    def places(self, panel, *lines):
        return PLACES

    def _samples(self, panel, line, x):
        at = PLACES.index(x) if x in PLACES else int(x) % len(PLACES)
        return self.line(panel, line).samples[at], False


def numbers_in(text):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text) if float(number) > 0]


@pytest.mark.parametrize("name", FIGURES)
def test_every_statement_can_be_found_not_to_hold(name):
    figure = FIGURES[name]
    levels = [1.0, *numbers_in(" ".join(s.quote for s in figure.statements))]
    seen = [set() for _ in figure.statements]
    for seed in range(60):
        for found, verdict in zip(seen, verdicts_of(figure, AnyCurves(seed, levels)), strict=True):
            found.add(verdict.answer)
        if all(NOT in found for found in seen):
            break
    for statement, found in zip(figure.statements, seen, strict=True):
        assert NOT in found, f"nothing speaks against: {statement.quote}"


def test_a_verdict_tells_by_how_much_and_why():
    figure = FIGURES["diffgen-3a"]
    points = [("Max", "BA", 10.0, 85.3), ("Max", "LA", 10.0, 75.5), ("Max", "ε = 1", 10.0, 79.0)]
    runs = [(run, points) for run in range(LEAST_RUNS)]
    both, around, above_floor, *_ = verdicts_of(figure, Curves.of_runs(runs))
    assert both.words == "holds: BA at 10: 85.3; LA at 10: 75.5"
    assert around.words.startswith("does not: BA − ε = 1 at 10: 6.3")
    assert above_floor.answer == NOT
    told = StatementVerdict(quote="It is.", answer=NOT, found="It is not", cause="Because")
    assert told.words == "does not: It is not. Because"
    assert replace(told, answer=HOLDS).words == "holds: It is not"
    assert replace(told, answer=HOLDS).as_dict()["cause"] is None


def test_a_figure_is_chosen_by_its_id_and_a_paper_by_its_name():
    assert [figure.id for figure in chosen_figures("tkde-3")] == ["tkde-3"]
    assert [figure.id for figure in chosen_figures("aruba")] == ["aruba-7", "aruba-9"]
    assert len(chosen_figures("all")) == len(FIGURES) == 24


def test_the_pages_name_every_figure_with_its_verdicts(root):
    for figure in FIGURES.values():
        page = root / "research" / "papers" / f"{PAGES[figure.paper]}.md"
        text = page.read_text(encoding="utf-8")
        assert f"### `{figure.id}`: {figure.title}" in text
        assert f"(figures/{figure.id}.svg)" in text
        for statement in figure.statements:
            assert statement.quote.replace("|", "\\|") in text, (
                f"run tools/paper_pages.py: {figure.id}"
            )
