"""[DiffMulti, Figs. 5 to 8 and 11]: what they print, how they are run again, what must hold."""

from __future__ import annotations

from experiments import diffmulti
from experiments.checks import all_of, stays_above, times_larger
from experiments.figure import Figure, Panel, Scene, Statement, Unit, grid
from experiments.trends import above, falls, ordered, steady

EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0)
LINES = [f"ε = {epsilon:g}" for epsilon in EPSILONS]
IMPROVED = "improved"
OURS = (
    "Adult, 45,222 complete records, 14 predictors, |g| = 64. DiffMulti runs as printed with the"
    " departures that privacy demands; taxonomies after ARX, a public grid for numbers."
)
TREE = "scikit-learn's decision tree (entropy, pruned) stands for C4.5."
EQUATION_10 = (
    "Eq. (10) hands specialisations down by noisy counts of scale 396 at ε = 1: boxes of a few"
    " hundred records and empty ones get theirs nearly at random, and a larger h is mostly not"
    " used. Without that noise, which is not private, the curves come close to the reported ones"
    " (see above, *Against the authors' DiffMulti*)"
)


def _penalty_units(measure: str, scene: Scene) -> list[Unit]:
    ranks = scene.pick(full=(1, 2, 3, 4), quick=(1, 3))
    methods = ("DiffMulti", "DiffGen", "DiffMulti, improved")
    runs = 1 if scene.quick else 20
    return grid(runs, measure=(measure,), method=methods, rank=ranks)


def _units_5(scene: Scene) -> list[Unit]:
    return _penalty_units("discernibility", scene)


def _units_6(scene: Scene) -> list[Unit]:
    return _penalty_units("ncp", scene)


RANKS = "DiffMulti h = 300, 1k, 3k, 10k; DiffGen h = 4, 8, 12, 16"
PENALTIES = (
    f"{OURS} ε = 1; penalties of the true records in the published boxes. The paper's"
    " numbers of specialisations are not in its text; DiffGen has no such score and runs with Max."
)

FIGURE_5 = Figure(
    id="diffmulti-5",
    paper="DiffMulti",
    title="Discernibility penalty beside DiffGen",
    printed="Adult, 20 runs, number of specialisations varied for both methods; discernibility is"
    " the score of DiffMulti.",
    ours=PENALTIES,
    panels=(Panel(name="penalty", x=RANKS, y="discernibility, millions", y_scale="log"),),
    statements=(
        Statement(
            quote="Fig. 5 suggests that DiffMulti is able to significantly reduce the"
            " discernibility penalty by at least one order of magnitude than DiffGen.",
            check=times_larger("penalty", "DiffGen", "DiffMulti", 10.0),
            cause="The closest pair sets DiffGen's largest h against DiffMulti's smallest: a cut of"
            " tens of thousands of boxes against a few hundred. From h = 12 down it is an order of"
            " magnitude or nearly, and the improved variant is further ahead",
        ),
        Statement(
            quote="Both figures suggest that DiffMulti is robust with respect to the number of"
            " specializations as the incurred distortion does not change significantly.",
            check=steady("penalty", "DiffMulti", ratio=2.0),
            cause="Here the penalty keeps falling with h, if slowly",
        ),
    ),
    units=_units_5,
    measure=diffmulti.penalty,
)

FIGURE_6 = Figure(
    id="diffmulti-6",
    paper="DiffMulti",
    title="Normalised certainty penalty beside DiffGen",
    printed="As Fig. 5, with NCP as measure and as score; 0 ≤ NCP ≤ 1, and 1 means that every"
    " attribute is generalised to its topmost value.",
    ours=PENALTIES,
    panels=(Panel(name="penalty", x=RANKS, y="NCP"),),
    statements=(
        Statement(
            quote="Again, DiffMulti manages to maintain significantly less generalized output data"
            " thanks to its multidimensional approach.",
            check=above("penalty", "DiffGen", "DiffMulti"),
            cause="DiffGen with h = 12 and 16 makes cuts of thousands to tens of thousands of"
            " boxes; DiffMulti's are at most a few thousand. " + EQUATION_10,
        ),
        Statement(
            quote="Both figures suggest that DiffMulti is robust with respect to the number of"
            " specializations.",
            check=steady("penalty", "DiffMulti", ratio=1.5),
        ),
    ),
    units=_units_6,
    measure=diffmulti.penalty,
)


def _units_7(scene: Scene) -> list[Unit]:
    steps = scene.pick(full=(300, 600, 900, 1_200, 1_500), quick=(300, 1_500))
    runs = 1 if scene.quick else 20
    printed = [
        *grid(runs, variant=("as printed",), epsilon=EPSILONS, h=steps),
        *grid(runs, variant=("raw",)),
    ]
    if scene.quick:
        return printed
    return [*printed, *grid(5, variant=(IMPROVED,), epsilon=EPSILONS, h=(300, 1_500))]


FIGURE_7 = Figure(
    id="diffmulti-7",
    paper="DiffMulti",
    title="Accuracy by privacy budget",
    printed="Adult, C4.5, 2/3 of the records published and 1/3 tested, Max, 0.1 ≤ ε ≤ 1 and"
    " 300 ≤ h ≤ 1500; 20 runs.",
    ours=f"{OURS} {TREE} The improved variant beside it.",
    panels=tuple(
        Panel(name=name, x="number of specialisations h", y="accuracy, %")
        for name in ("as printed", IMPROVED)
    ),
    statements=(
        Statement(
            quote="Higher privacy budgets result in more accurate classification because the"
            " differentially-private operations of the algorithm incur less noisy outputs.",
            check=ordered("as printed", *LINES, slack=0.15),
        ),
        Statement(
            quote="Fig. 7 and 8 show that as the number of specializations increases, the"
            " classification accuracy of DiffMulti decreases.",
            check=falls("as printed", *LINES, slack=0.5),
            cause="Between h = 300 and 1,500 the differences are within the noise of the runs."
            " Most of a larger h is not used here (Eq. (10)), and what is published of empty"
            " boxes is pruned away by the tree",
        ),
    ),
    units=_units_7,
    measure=diffmulti.by_budget,
)


def _units_8(scene: Scene) -> list[Unit]:
    ranks = scene.pick(full=(1, 2, 3, 4, 5), quick=(1, 5))
    if scene.quick:
        return [
            *grid(1, method=("DiffMulti",), rank=ranks),
            *grid(1, method=("DiffGen",), rank=(1, 3)),
            *grid(1, method=("Mondrian, InfoGain", "raw")),
        ]
    return [
        *grid(20, method=("DiffMulti",), rank=ranks),
        *grid(10, method=("DiffGen",), rank=ranks),
        *grid(5, method=("DiffMulti, improved",), rank=ranks),
        *grid(5, method=("Mondrian", "Mondrian, InfoGain", "raw")),
    ]


FIGURE_8 = Figure(
    id="diffmulti-8",
    paper="DiffMulti",
    title="Accuracy beside DiffGen and Mondrian",
    printed="C4.5, ε = 1, Max; DiffMulti with 1k ≤ h ≤ 10k, DiffGen with 2 ≤ h ≤ 20, Mondrian"
    " with k = 60.",
    ours=f"{OURS} {TREE} Mondrian both by medians and"
    " by information gain; the paper cites both papers and does not say which.",
    panels=(
        Panel(
            name="accuracy",
            x="DiffMulti h = 1k, 3k, 5k, 7k, 10k; DiffGen h = 2, 6, 10, 14, 18",
            y="accuracy, %",
        ),
    ),
    statements=(
        Statement(
            quote="We observe that DiffMulti is dominant in achieving higher accuracy, especially"
            " at lower numbers of specializations.",
            check=all_of(
                ordered("accuracy", "DiffGen", "DiffMulti", at=1),
                ordered("accuracy", "Mondrian", "DiffMulti", at=1),
                ordered("accuracy", "Mondrian, InfoGain", "DiffMulti", at=1),
            ),
            cause="Mondrian by information gain counts exactly and chooses by the class without"
            " noise; at k = 60 nothing private reaches it here",
        ),
        Statement(
            quote="However, for higher values of h, Mondrian achieves up to 2% better accuracy"
            " than DiffMulti.",
            check=all_of(
                above("accuracy", "Mondrian, InfoGain", "DiffMulti"),
                above("accuracy", "DiffMulti", "Mondrian, InfoGain", slack=2.0),
            ),
            cause="The gap to Mondrian by information gain is larger than printed; to Mondrian by"
            " medians it is smaller",
        ),
        Statement(
            quote="DiffGen obtained improved accuracy at ϵ = 1. However, the latter was constantly"
            " surpassed by DiffMulti for h ≤ 10k.",
            check=above("accuracy", "DiffMulti", "DiffGen"),
            cause="DiffGen as printed reaches 82 to 83 % with h from 10 on (its own paper prints"
            " 82.2 %), which DiffMulti reaches too but does not surpass. " + EQUATION_10,
        ),
    ),
    units=_units_8,
    measure=diffmulti.beside_others,
)


def _units_11(scene: Scene) -> list[Unit]:
    steps = scene.pick(full=(1_000, 3_000, 5_000, 7_000), quick=(1_000, 7_000))
    return grid(1 if scene.quick else 20, line=("ClusterMP", "DistortMP"), h=steps)


FIGURE_11 = Figure(
    id="diffmulti-11",
    paper="DiffMulti",
    title="Match Point of clusters",
    printed="Bisecting k-means of CLUTO, k = 2, ε = 1, 1k ≤ h ≤ 7k. The cluster of the raw record"
    " is the class of DiffMulti: with Max (ClusterMP) and with discernibility (DistortMP).",
    ours=f"{OURS} scikit-learn's bisecting k-means with Euclidean distances over leaves, numbers"
    " from 0 to 1.",
    panels=(Panel(name="match", x="number of specialisations h", y="Match Point, %"),),
    statements=(
        Statement(
            quote="DiffMulti is able to ... significantly improve cluster quality under the"
            " workload-aware partitioning strategy (ClusterMP) over the general-purpose"
            " partitioning strategy (DistortMP).",
            check=above("match", "ClusterMP", "DistortMP"),
        ),
        Statement(
            quote="The experiments in ClusterMP constantly achieve Match Point ≥ 90%.",
            check=stays_above("match", "ClusterMP", 90.0),
            cause="The mean is of runs that find the same two clusters and of a few that find quite"
            " other ones. Clusters depend on how values are scaled, which the paper does not tell"
            " (CLUTO compares by the cosine)",
        ),
        Statement(
            quote="As the number of specializations increases, the similarity between the"
            " clustering solutions before and after anonymization begins to decrease.",
            check=falls("match", "ClusterMP", slack=1.0),
            cause="It ends lower than it begins, but the means of the runs are not that smooth:"
            " a run that finds other clusters costs dozens of points",
        ),
    ),
    units=_units_11,
    measure=diffmulti.clusters,
)

FIGURES = (FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_11)
