"""[DiffGen, Figs. 3 to 5]: accuracy of a decision tree, comparison, and scalability."""

from __future__ import annotations

from fractions import Fraction

from experiments.blow_up import seconds_to_publish
from experiments.checks import (
    above,
    all_of,
    comparable,
    difference_between,
    difference_near,
    most_near,
    near,
    stays_below,
)
from experiments.figure import Figure, FigurePoint, Panel, Printed, Scene, Statement, Unit, grid
from experiments.private_tree import private_tree
from experiments.releases import accuracy, bounds, diffgen, released, released_plainly, tds
from experiments.rule import POINTS
from experiments.tables import adult, fold, split
from experiments.trends import linear, ordered, rises_then_falls
from hedgerow.privacy.budget import PathLedger

EPSILONS = (0.1, 0.25, 0.5, 1.0)
STEPS = (4, 7, 10, 13, 16)
LINES = [f"ε = {epsilon:g}" for epsilon in EPSILONS]
IMPROVED = "improved, gini"
IMPROVED_MAX = "improved, Max"
RUNS = 40
NOT_THE_LEARNER = (
    "Higher than printed, and the learner is C4.5 as in the paper; what is left are the taxonomies"
    " (ARX's; those of the paper are not printed) and split points on a public grid"
)
TEXT = (
    "Adult (45,222 complete records, 6 numerical and 8 categorical attributes); 2/3 of the records"
    " are published, C4.5 learns from the release and is tested on the other third, generalised"
    " by the same cut; ε = 0.1, 0.25, 0.5, 1 and 4 ≤ h ≤ 16; 10 runs."
)
OURS = (
    "The same records and split; C4.5 as Weka's J48 has it (research/c45.md), taxonomies after ARX,"
    " a public grid for numbers. DiffGen runs as printed with the departures that privacy demands."
)


def _accuracy(unit: Unit, scene: Scene) -> list[FigurePoint]:
    train, test = split(adult(scene), unit.run)
    panel, kind = unit["panel"], unit["kind"]
    steps = scene.pick(full=STEPS, quick=(4, 7, 10))
    if kind == "raw":
        floor, ceiling = bounds(train, test)
        return [
            *(FigurePoint(panel, "BA", h, ceiling) for h in steps),
            *(FigurePoint(panel, "LA", h, floor) for h in steps),
        ]
    improved = {IMPROVED: "gini", IMPROVED_MAX: "max"}
    score = improved.get(kind, kind)
    method = diffgen(unit["h"], score=score, faithful=kind not in improved)
    epsilon = Fraction(str(unit["epsilon"]))
    groups = released(method, train, epsilon=epsilon, source=unit.source)
    line = f"ε = {unit['epsilon']:g}"
    if panel == "InfoGain" and kind == "max":
        line = f"Max, {line}"
    return [FigurePoint(panel, line, unit["h"], accuracy(groups, test))]


def _units_3a(scene: Scene) -> list[Unit]:
    if scene.quick:
        return [
            *grid(1, panel=("Max",), kind=("max",), epsilon=(0.1, 1.0), h=(4, 7, 10)),
            *grid(1, panel=("Max",), kind=("raw",)),
        ]
    return [
        *grid(RUNS, panel=("Max",), kind=("max",), epsilon=EPSILONS, h=STEPS),
        *grid(RUNS, panel=("Max",), kind=("raw",)),
        *grid(10, panel=(IMPROVED,), kind=(IMPROVED,), epsilon=EPSILONS, h=(4, 10, 16)),
        *grid(10, panel=(IMPROVED_MAX,), kind=(IMPROVED_MAX,), epsilon=EPSILONS, h=(4, 10, 16)),
    ]


def _panel(name: str) -> Panel:
    return Panel(name=name, x="number of specialisations h", y="accuracy, %")


FIGURE_3A = Figure(
    id="diffgen-3a",
    paper="DiffGen",
    title="Classification accuracy of DiffGen with the score Max",
    printed=TEXT,
    ours=f"{OURS} {RUNS} runs. Beside it the improved variant with its default score and with Max.",
    panels=(_panel("Max"), _panel(IMPROVED), _panel(IMPROVED_MAX)),
    numbers=(
        Printed(panel="Max", y=85.3, label="BA"),
        Printed(panel="Max", y=75.5, label="LA"),
        Printed(panel="Max", x=10, y=82.24, label="ε = 1, h = 10"),
        Printed(panel="Max", y=81.73, label="ε = 0.5, most"),
        Printed(panel="Max", y=80.5, label="ε = 0.5, least"),
        Printed(panel="Max", y=78.0, label="ε = 0.1, most"),
    ),
    statements=(
        Statement(
            quote="The BA and LA are 85.3% and 75.5%, respectively.",
            check=all_of(near("Max", "BA", 10, 85.3), near("Max", "LA", 10, 75.5)),
        ),
        Statement(
            quote="For ϵ = 1 and h = 10, BA − CA is around 3%.",
            check=difference_near("Max", "BA", "ε = 1", 10, 3.0),
            cause=NOT_THE_LEARNER,
        ),
        Statement(
            quote="[For ϵ = 1 and h = 10] CA − LA is 6.74%.",
            check=difference_near("Max", "ε = 1", "LA", 10, 6.74),
            cause=NOT_THE_LEARNER,
        ),
        Statement(
            quote="For ϵ = 0.5, BA − CA spans from 3.57% to 4.8%.",
            check=difference_between("Max", "BA", "ε = 0.5", 3.57, 4.8),
            cause=NOT_THE_LEARNER,
        ),
        Statement(
            quote="[For ϵ = 0.5] CA − LA spans from 5% to 6.23%.",
            check=difference_between("Max", "ε = 0.5", "LA", 5.0, 6.23),
            cause=NOT_THE_LEARNER,
        ),
        Statement(
            quote="As ϵ decreases to 0.1, CA quickly decreases to about 78% (highest point).",
            check=most_near("Max", "ε = 0.1", 78.0),
            cause=NOT_THE_LEARNER,
        ),
        Statement(
            quote="A higher budget results in better accuracy since it ensures better attribute"
            " partitioning and lowers the magnitude of noise.",
            check=ordered("Max", *LINES),
        ),
        Statement(
            quote="The classification accuracy initially increases with the increase of the number"
            " of specializations. However, after a certain threshold the accuracy decreases.",
            check=all_of(*(rises_then_falls("Max", line) for line in LINES)),
            cause="The means do so for every ε, but after their highest point they fall by less"
            " than runs differ: what a cut of h = 16 keeps depends on how many groups it has",
        ),
    ),
    units=_units_3a,
    measure=_accuracy,
)


def _units_3b(scene: Scene) -> list[Unit]:
    steps = scene.pick(full=STEPS, quick=(4, 10))
    epsilons = scene.pick(full=EPSILONS, quick=(1.0,))
    runs = 1 if scene.quick else RUNS
    return [
        *grid(runs, panel=("InfoGain",), kind=("infogain",), epsilon=epsilons, h=steps),
        *grid(runs, panel=("InfoGain",), kind=("max",), epsilon=(1.0,), h=steps),
        *grid(runs, panel=("InfoGain",), kind=("raw",)),
    ]


FIGURE_3B = Figure(
    id="diffgen-3b",
    paper="DiffGen",
    title="Classification accuracy of DiffGen with the score InfoGain",
    printed=TEXT,
    ours=f"{OURS} {RUNS} runs. Max at ε = 1 beside it.",
    panels=(_panel("InfoGain"),),
    statements=(
        Statement(
            quote="The performance of the InfoGain is not as good as Max because the difference"
            " between the scores of a good and a bad attribute is much smaller for InfoGain.",
            check=above("InfoGain", "Max, ε = 1", "ε = 1"),
        ),
        Statement(
            quote="A higher budget results in better accuracy.",
            check=ordered("InfoGain", *LINES),
            cause="With InfoGain's rate hardly any choice is better than chance at these budgets,"
            " so that more budget changes the counts only",
        ),
    ),
    units=_units_3b,
    measure=_accuracy,
)

FOLDS = 10
REPEATS = 10
BUDGETS = (0.5, 1.0, 2.0, 3.0, 4.0)


def _comparison(unit: Unit, scene: Scene) -> list[FigurePoint]:
    train, test = fold(adult(scene), unit.run, folds=FOLDS)
    budgets = scene.pick(full=BUDGETS, quick=(1.0, 4.0))
    if unit["method"] == "TDS":
        found = accuracy(released_plainly(tds(5), train, source=unit.source), test)
        return [FigurePoint("accuracy", "TDS", epsilon, found) for epsilon in budgets]
    epsilon = Fraction(str(unit["epsilon"]))
    if unit["method"] == "DiffGen":
        groups = released(diffgen(15), train, epsilon=epsilon, source=unit.source)
        found = accuracy(groups, test)
    else:
        ledger = PathLedger(epsilon)
        tree = private_tree(train, epsilon=epsilon, ledger=ledger, source=unit.source)
        found = 100 * tree.accuracy(test)
    return [FigurePoint("accuracy", unit["method"], unit["epsilon"], found)]


def _units_4(scene: Scene) -> list[Unit]:
    runs = 1 if scene.quick else REPEATS * FOLDS
    budgets = scene.pick(full=BUDGETS, quick=(1.0, 4.0))
    return [
        *grid(runs, method=("DiffGen", "DiffP-C4.5"), epsilon=budgets),
        *grid(runs, method=("TDS",)),
    ]


FIGURE_4 = Figure(
    id="diffgen-4",
    paper="DiffGen",
    title="Accuracy beside DiffP-C4.5 and TDS",
    printed="DiffGen with Max and h = 15, TDS with k = 5, 10 runs of 10-fold cross-validation;"
    " the accuracy of DiffP-C4.5 is taken from the paper of Friedman and Schuster.",
    ours=f"{OURS} DiffP-C4.5 is run, not quoted; runs of 10-fold cross-validation as printed.",
    folds=FOLDS,
    panels=(Panel(name="accuracy", x="privacy budget ε", y="accuracy, %"),),
    statements=(
        Statement(
            quote="The accuracy of DiffGen is clearly better than DiffP-C4.5 for privacy budget"
            " ϵ ≤ 2.",
            check=above("accuracy", "DiffGen", "DiffP-C4.5", by=POINTS, until=2.0),
            cause="Our DiffP-C4.5 is better than the one of 2010 that the paper quotes: it chooses"
            " attribute and split point at once and so spends on no split point apart",
        ),
        Statement(
            quote="Even for a higher budget, the accuracy of DiffGen is comparable to DiffP-C4.5.",
            check=comparable("accuracy", "DiffGen", "DiffP-C4.5", by=POINTS, since=2.5),
        ),
        Statement(
            quote="The experimental result also shows that DiffGen performs better than TDS.",
            check=above("accuracy", "DiffGen", "TDS"),
            cause="At h = 15 a cut has tens of thousands of groups, and DiffGen's counts are"
            " mostly noise at small budgets; TDS counts exactly",
        ),
    ),
    units=_units_4,
    measure=_comparison,
)


def _run_time(unit: Unit, scene: Scene) -> list[FigurePoint]:
    size = unit["size"]
    seconds = seconds_to_publish(size, method="diffgen", h=15, seed=unit.run)
    return [FigurePoint("run time", "DiffGen", size, seconds)]


def _units_5(scene: Scene) -> list[Unit]:
    if scene.quick:
        return grid(1, size=(1_000, 2_000, 3_000))
    return grid(5, size=(45_222, 200_000, 400_000, 600_000, 800_000, 1_000_000))


FIGURE_5 = Figure(
    id="diffgen-5",
    paper="DiffGen",
    title="Scalability of DiffGen",
    printed="Adult with variations of its records, 200,000 to 1 million records, h = 15, ε = 1."
    " A Core i7 of 2.7 GHz.",
    ours="CPU seconds of the whole command: reading a CSV file, publishing, writing the release"
    " with its report; Max; one value in five of a variation is redrawn.",
    panels=(Panel(name="run time", x="records", y="CPU seconds"),),
    statements=(
        Statement(
            quote="All the previous experiments can finish the anonymization process within 30"
            " seconds.",
            check=stays_below("run time", "DiffGen", 30.0, at=45_222),
        ),
        Statement(
            quote="For a fixed number of attributes the total runtime of DiffGen is"
            " O(h × |D| log |D|). (Sec. 4.3; the text gives no number for Figure 5.)",
            check=linear("run time", "DiffGen"),
            cause="Time depends on the cut that is chosen, by what the release writes, as much as"
            " on the records: two passes over a million records take less than a second",
        ),
    ),
    units=_units_5,
    measure=_run_time,
)

FIGURES = (FIGURE_3A, FIGURE_3B, FIGURE_4, FIGURE_5)
