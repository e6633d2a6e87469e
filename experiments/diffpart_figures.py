"""[DiffPart, Figs. 3 to 8]: what they print, how they are run again, what must hold."""

from __future__ import annotations

from itertools import product

from experiments import diffpart
from experiments.baskets import BASKET_FILES
from experiments.checks import above, all_of, stays_above, stays_below
from experiments.figure import Figure, Panel, Printed, Scene, Statement, Unit, grid
from experiments.rule import TIMES
from experiments.trends import changes_less, falls, linear, ordered

BUDGETS = (0.5, 0.75, 1.0, 1.25)
LINES = [f"B = {budget}" for budget in BUDGETS]
SETS = ("MSNBC", "STM")
STAND_IN = (
    "STM is not public: *STM* here is fruithut (retail baskets, 1,265 items, mean 3.6, longest 36),"
    " drawn with replacement up to STM's 1,210,096 records. DiffPart runs as printed where that is"
    " private; the factors of its thresholds, which the paper leaves to trial, follow from"
    " the rules above."
)
SPARSE = (
    "Fruithut is not STM: it has fewer items per record and most of its sets are rare, so that"
    " thresholds drop most records and little is left to be in error about"
)


def _runs(scene: Scene) -> int:
    return 1 if scene.quick else 10


def _units_3(scene: Scene) -> list[Unit]:
    budgets = scene.pick(full=BUDGETS, quick=(0.5, 1.0))
    few = 1 if scene.quick else 3
    return [
        *grid(_runs(scene), data=("MSNBC",), method=("DiffPart", "Basic"), B=budgets),
        *grid(few, data=("MSNBC",), method=("hedgerow's default",), B=budgets),
        *grid(_runs(scene), data=("STM",), method=("DiffPart",), B=budgets),
        *grid(few, data=("STM",), method=("hedgerow's default",), B=budgets),
        *grid(1, data=SETS, method=("answering 0",), B=budgets),
    ]


def _panels_3() -> tuple[Panel, ...]:
    errors = [
        Panel(
            name=f"{data}, B = {budget}",
            x="longest query, % of the longest record",
            y="average relative error",
            y_scale="log",
        )
        for data, budget in product(SETS, BUDGETS)
    ]
    means = [
        Panel(name=f"{data}, all lengths", x="privacy budget B", y="mean of the five classes")
        for data in SETS
    ]
    return (*errors, *means)


FIGURE_3 = Figure(
    id="diffpart-3",
    paper="DiffPart",
    title="Average relative error by query length and privacy budget",
    printed=(
        "MSNBC and STM, 50,000 random counting queries in five classes of lengths, fan-out 10,"
        " B from 0.5 to 1.25, sanity bound 0.1 % of the records, average of 10 runs; DiffPart, and"
        " on MSNBC also Basic (Laplace noise on every possible itemset)."
    ),
    ours=(
        f"{STAND_IN} Beside it hedgerow's default variant, and the error of"
        " answering 0 to everything."
    ),
    panels=_panels_3(),
    statements=(
        Statement(
            quote="The relative error decreases when the privacy budget increases because less"
            " noise is added.",
            check=all_of(*(falls(f"{data}, all lengths", "DiffPart") for data in SETS)),
            cause=SPARSE,
        ),
        Statement(
            quote="The error of Basic is significantly larger than that of DiffPart in all cases.",
            check=all_of(
                *(
                    above(f"MSNBC, B = {budget}", "Basic", "DiffPart", by=TIMES)
                    for budget in BUDGETS
                )
            ),
        ),
        Statement(
            quote="When the query length decreases, the performance of Basic deteriorates"
            " substantially because the queries cover exponentially more itemsets that never"
            " appear in the original dataset.",
            check=all_of(*(falls(f"MSNBC, B = {budget}", "Basic", by=TIMES) for budget in BUDGETS)),
        ),
        Statement(
            quote="In contrast, our approach is more stable with different query lengths.",
            check=all_of(
                *(changes_less(f"MSNBC, B = {budget}", "DiffPart", "Basic") for budget in BUDGETS)
            ),
        ),
    ),
    units=_units_3,
    measure=diffpart.by_length,
    needs=BASKET_FILES,
    exact=("answering 0",),
)


def _units_4(scene: Scene) -> list[Unit]:
    if scene.quick:
        return [
            *grid(1, data=SETS, size=(1_000, 2_000, 4_000), items=(0,)),
            *grid(1, data=("STM",), size=(2_000,), items=(100, 500, 1_000)),
        ]
    return [
        *grid(10, data=("MSNBC",), size=(200_000, 400_000, 600_000, 800_000, 989_818), items=(0,)),
        *grid(10, data=("STM",), size=(200_000, 500_000, 800_000, 1_210_096), items=(0,)),
        *grid(10, data=("STM",), size=(800_000,), items=(200, 400, 600, 800, 1_000)),
    ]


FIGURE_4 = Figure(
    id="diffpart-4",
    paper="DiffPart",
    title="Run time by number of records and by size of the universe",
    printed="B = 1, fan-out 10; random parts of both data sets; STM limited to smaller universes"
    " with 800,000 records each. C++ on a Core 2 Duo of 2.26 GHz.",
    ours=f"{STAND_IN} CPU seconds from encoded records to the release, reading not included."
    " Smaller universes are random parts of the items, and 800,000 records are drawn"
    " with replacement from those that keep an item.",
    panels=(
        Panel(name="by records", x="records", y="CPU seconds"),
        Panel(name="by universe", x="items in the universe", y="CPU seconds"),
    ),
    statements=(
        Statement(
            quote="As expected, the runtime is linear to the dataset size.",
            check=all_of(linear("by records", "MSNBC"), linear("by records", "STM")),
            cause="A fixed cost of some milliseconds outweighs what grows at these sizes",
        ),
        Statement(
            quote="It can be observed again that the runtime scales linearly with the universe"
            " size.",
            check=linear("by universe", "STM"),
            cause="Our implementation visits only sub-partitions that hold records or pass by"
            " noise, all of a level in one pass, so that its time follows what passes and not"
            " the size of the universe",
        ),
        Statement(
            quote="It takes less than 35 seconds to sanitize the STM dataset, whose"
            " |D| = 1,210,096 and |I| = 1,012.",
            check=stays_below("by records", "STM", 35.0),
        ),
    ),
    units=_units_4,
    measure=diffpart.basket_run_time,
    needs=BASKET_FILES,
)


def _units_8(scene: Scene) -> list[Unit]:
    if scene.quick:
        return grid(1, data=("MSNBC",), method=("DiffPart",), B=(0.5, 1.25))
    return [
        *grid(10, data=SETS, method=("DiffPart",), B=BUDGETS),
        *grid(3, data=SETS, method=("hedgerow's default",), B=(1.0,)),
    ]


FIGURE_8 = Figure(
    id="diffpart-8",
    paper="DiffPart",
    title="Utility for frequent itemset mining",
    printed="Utility of the K most frequent itemsets (1: the same sets with the same supports),"
    " K from 20 to 100, B from 0.5 to 1.25, fan-out 10.",
    ours=f"{STAND_IN} All itemsets are mined, not the maximal ones of MAFIA."
    " Beside it hedgerow's default variant at B = 1.",
    panels=tuple(Panel(name=data, x="K", y="utility of the top K") for data in SETS),
    numbers=(
        *(Printed(panel=data, y=0.7, label="B above 0.5, at least") for data in SETS),
        *(Printed(panel=data, x=100, y=0.78, label="B = 1.25, at least") for data in SETS),
    ),
    statements=(
        Statement(
            quote="A higher budget results in better utility since the partitioning process is more"
            " accurate and less noise is added to leaf partitions.",
            check=all_of(*(ordered(data, *LINES) for data in SETS)),
        ),
        Statement(
            quote="We can observe that the utility loss is less than 30% except the case B = 0.5"
            " for STM.",
            check=all_of(
                *(stays_above("MSNBC", line, 0.70) for line in LINES),
                *(stays_above("STM", line, 0.70) for line in LINES[1:]),
            ),
            cause="It holds on MSNBC. Fruithut's baskets are too rare for the printed thresholds,"
            " which drop three quarters of the records; hedgerow's default variant, drawn beside,"
            " keeps most of the same itemsets",
        ),
        Statement(
            quote="Second, utility decreases when K value increases.",
            check=all_of(*(falls(data, *LINES) for data in SETS)),
            cause="Where next to nothing is kept, the utility is near 0 for every K",
        ),
        Statement(
            quote="Nevertheless, the utility loss is still less than 22% when K = 100 and B > 1.0"
            " on both datasets.",
            check=all_of(
                *(stays_above(data, LINES[-1], 0.78, at=100) for data in SETS),
            ),
            cause="As above: fruithut is sparser than STM, and the printed thresholds drop most of"
            " it",
        ),
    ),
    units=_units_8,
    measure=diffpart.by_top,
    needs=BASKET_FILES,
    remark="On both data sets the default variant at B = 1 loses less than the 22 % that the paper"
    " states for B > 1.",
)

FIGURES = (FIGURE_3, FIGURE_4, FIGURE_8)
