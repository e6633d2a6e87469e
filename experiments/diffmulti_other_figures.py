"""[DiffMulti, Figs. 9, 10, 12, 13 and Sec. 5.1]: what they print and what must hold."""

from __future__ import annotations

from experiments import diffmulti_others
from experiments.checks import (
    above,
    any_above,
    comparable,
    most_near,
    near,
    stays_below,
    times_larger,
)
from experiments.diffmulti_figures import GEN_AXIS, MULTI_AXIS, OURS, TREE
from experiments.diffmulti_others import (
    BUDGETS,
    FOLDS,
    HEIGHTS,
    RUN_TIME_GEN_STEPS,
    RUN_TIME_STEPS,
)
from experiments.figure import Figure, Panel, Printed, Scene, Statement, Unit, grid
from experiments.rule import CPU_TIME, POINTS
from experiments.trends import linear, ordered, steady


def _units_9(scene: Scene) -> list[Unit]:
    budgets = scene.pick(full=BUDGETS, quick=(0.1, 1.0))
    return [
        *grid(1 if scene.quick else 20, method=("DiffMulti", "DPCube"), epsilon=budgets),
        *grid(1, method=("raw",)),
    ]


ACCURACY = Panel(name="accuracy", x="privacy budget ε", y="accuracy, %")

FIGURE_9 = Figure(
    id="diffmulti-9",
    paper="DiffMulti",
    title="Accuracy beside DPCube",
    printed="ID3; 30,162 records for training and 15,060 for testing; the attributes workclass,"
    " marital-status, race and sex.",
    ours="The same records and attributes, the two files of UCI; ID3, which does not prune"
    " (research/c45.md); DiffMulti as printed with h = 1k; DPCube with at most 10,000 cells. The"
    " paper does not give h and the budgets. The files divide the records, so that the raw records"
    " give one number and only the noise differs between runs.",
    exact=("BA", "LA"),
    panels=(ACCURACY,),
    statements=(
        Statement(
            quote="We can see that DiffMulti achieves slightly better classification accuracy than"
            " DPCube.",
            check=ordered("accuracy", "DPCube", "DiffMulti"),
            cause="What tells them apart is ε = 0.1, where DPCube, which begins with a noisy count"
            " of each of 560 combinations, is ahead; from ε = 0.25 on they differ by less than a"
            " tenth of a point",
        ),
        Statement(
            quote="While both methods achieve comparable accuracy, ...",
            check=comparable("accuracy", "DiffMulti", "DPCube", by=POINTS),
        ),
        Statement(
            quote="We also observe that in some cases DiffMulti is able to perform better than the"
            " BA.",
            check=any_above("accuracy", "DiffMulti", "BA"),
            cause="ID3 does not prune, and still learns no noise here: 560 combinations for 30,162"
            " records leave little to learn by heart. What generalisation and noise take away is"
            " lost, the less the larger ε is",
        ),
    ),
    units=_units_9,
    measure=diffmulti_others.beside_dpcube,
)


def _units_10(scene: Scene) -> list[Unit]:
    budgets = scene.pick(full=BUDGETS, quick=(0.1, 1.0))
    runs = 1 if scene.quick else 10
    return [
        *grid(runs, method=("DiffMulti", "PrivBayes"), epsilon=budgets),
        *grid(runs, method=("raw",)),
    ]


FIGURE_10 = Figure(
    id="diffmulti-10",
    paper="DiffMulti",
    title="Accuracy beside PrivBayes",
    printed="SVM, 4/5 of the records for training and 1/5 for testing; DiffMulti with h = 10k,"
    " PrivBayes with its default parameters (degree 3); 5 budgets, 0.1 ≤ ε ≤ 1.",
    ours=f"{OURS} A linear support vector machine, for DiffMulti on the boxes' ranges, for"
    " PrivBayes on its invented records.",
    panels=(ACCURACY, Panel(name="run time", x="privacy budget ε", y="CPU seconds")),
    statements=(
        Statement(
            quote="DiffMulti constantly performs more accurate predictions than PrivBayes even at"
            " low privacy budgets (noisy output data).",
            check=above("accuracy", "DiffMulti", "PrivBayes"),
            cause="Our PrivBayes is not the authors' program: it sizes its marginals by the budget"
            " (theta-usefulness) rather than by a fixed degree. With more budget its invented"
            " records, which have single values, teach a linear machine as much as DiffMulti's"
            " coarse boxes, or more",
        ),
        Statement(
            quote="For the experiments in Fig. 10, our method took 10s to complete compared to a"
            " few minutes for PrivBayes.",
            check=stays_below("run time", "DiffMulti", 10.0),
        ),
    ),
    units=_units_10,
    measure=diffmulti_others.beside_privbayes,
)


REPEATS = 10


def _units_rps(scene: Scene) -> list[Unit]:
    heights = scene.pick(full=HEIGHTS, quick=(4, 8))
    runs = 1 if scene.quick else REPEATS * FOLDS
    return [
        *grid(runs, method=("RPS",), height=heights),
        *grid(runs, method=("DiffMulti", "raw")),
    ]


FIGURE_RPS = Figure(
    id="diffmulti-rps",
    paper="DiffMulti",
    title="Accuracy beside RPS (Sec. 5.1, no figure)",
    printed="Adult, 30,162 records and 11 attributes, 5-fold cross-validation, ε = 1, DiffMulti"
    " with h = 1k; the accuracy of RPS is taken from its paper.",
    ours=f"{OURS} UCI's training file; the 11 attributes are not listed: fnlwgt, capital-gain and"
    " capital-loss are left out here. RPS is run, not quoted; the text gives no height of its"
    f" tree, so that all even ones from {HEIGHTS[0]} to {HEIGHTS[-1]} are. {TREE} {REPEATS} times"
    " 5-fold cross-validation.",
    folds=FOLDS,
    numbers=(
        Printed(panel="accuracy", y=82.96, label="BA"),
        Printed(panel="accuracy", y=81.54, label="DiffMulti"),
        Printed(panel="accuracy", y=79.0, label="RPS, highest"),
    ),
    panels=(Panel(name="accuracy", x="height of RPS's tree", y="accuracy, %"),),
    statements=(
        Statement(
            quote="The accuracy of the raw data BA = 82.96%.",
            check=near("accuracy", "BA", HEIGHTS[0], 82.96),
        ),
        Statement(
            quote="For RPS, 79% was the highest achieved accuracy.",
            check=most_near("accuracy", "RPS", 79.0),
            cause="RPS's own paper has other settings, which this one does not repeat; with every"
            " height from 6 to 14 it is above 79 % here",
        ),
        Statement(
            quote="DiffMulti achieved 81.54% when the number of specializations was set to 1k.",
            check=near("accuracy", "DiffMulti", HEIGHTS[0], 81.54),
            cause="The attributes may not be those of the paper, and 24,000 records are published"
            " where scores must beat the noise",
        ),
        Statement(
            quote="(81.54 % against 79 %: DiffMulti is more accurate than RPS.)",
            check=above("accuracy", "DiffMulti", "RPS"),
        ),
    ),
    units=_units_rps,
    measure=diffmulti_others.beside_rps,
)


def _units_12(scene: Scene) -> list[Unit]:
    multi_steps = scene.pick(full=RUN_TIME_STEPS, quick=RUN_TIME_STEPS[:2])
    gen_steps = scene.pick(full=RUN_TIME_GEN_STEPS, quick=RUN_TIME_GEN_STEPS[:2])
    runs = 1 if scene.quick else 10
    return [
        *grid(runs, method=("DiffMulti",), h=multi_steps),
        *grid(runs, method=("DiffGen",), h=gen_steps),
    ]


FIGURE_12 = Figure(
    id="diffmulti-12",
    paper="DiffMulti",
    title="Run time beside DiffGen",
    printed="Max, ε = 1, 10k ≤ h ≤ 100k for DiffMulti and 2 ≤ h ≤ 20 for DiffGen; C++ on a Core i5"
    " of 2.4 GHz.",
    ours=f"{OURS} CPU seconds from encoded records to the noisy groups.",
    panels=(
        Panel(
            name="run time",
            x=MULTI_AXIS,
            y="CPU seconds",
            x_second=GEN_AXIS,
            second=("DiffGen",),
        ),
    ),
    remark="The paper's 30 s at h = 100k, on another machine, is a bound here and is not drawn.",
    statements=(
        Statement(
            quote="The runtime of DiffMulti when performing 100k specializations is nearly 30s.",
            check=stays_below("run time", "DiffMulti", 30.0),
        ),
        Statement(
            quote="Results suggest that our method, though it runs a few seconds longer than"
            " DiffGen, ...",
            check=times_larger("run time", "DiffMulti", "DiffGen", 1.0),
            cause="DiffGen with h = 20 writes noise for millions of groups, empty ones included,"
            " as privacy demands",
        ),
        Statement(
            quote="... is insensitive to the number of specializations as the increase in runtime"
            " is insignificant.",
            check=steady("run time", "DiffMulti", by=CPU_TIME),
        ),
    ),
    units=_units_12,
    measure=diffmulti_others.growth_run_time,
)


def _units_13(scene: Scene) -> list[Unit]:
    if scene.quick:
        return grid(1, size=(1_000, 2_000, 3_000))
    return grid(5, size=(200_000, 400_000, 600_000, 800_000, 1_000_000))


FIGURE_13 = Figure(
    id="diffmulti-13",
    paper="DiffMulti",
    title="Scalability of DiffMulti",
    printed="Adult with variations of its records, 200,000 to 1 million, Max, ε = 1; time for"
    " reading, anonymising and writing, one run each.",
    ours="CPU seconds of the whole command: reading a CSV file, publishing with h = 1k (not"
    " stated in the paper) as printed, writing the release with its report; one value in five of"
    " a variation is redrawn.",
    panels=(Panel(name="run time", x="records", y="CPU seconds"),),
    statements=(
        Statement(
            quote="Anonymizing an Adult-variant data set with 1 million records finishes in less"
            " than 120s.",
            check=stays_below("run time", "DiffMulti", 120.0),
        ),
        Statement(
            quote="Fig. 13 suggests that the runtime of DiffMulti increases reasonably as the"
            " number of records increases.",
            check=linear("run time", "DiffMulti"),
        ),
    ),
    units=_units_13,
    measure=diffmulti_others.scalability,
)

FIGURES = (FIGURE_9, FIGURE_10, FIGURE_RPS, FIGURE_12, FIGURE_13)
