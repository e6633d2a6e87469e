"""[DiffPart, Figs. 5 to 7]: errors by fan-out, by size of the universe and by records."""

from __future__ import annotations

from experiments import diffpart
from experiments.baskets import BASKET_FILES
from experiments.checks import all_of
from experiments.diffpart_figures import BUDGETS, LINES, SETS, STAND_IN
from experiments.figure import Figure, Panel, Scene, Statement, Unit, grid
from experiments.rule import TIMES
from experiments.trends import changes_less, falls, rises, steady

RUNS = 10
SIZE_RUNS = 30
READINGS = {
    diffpart.EXACTLY: "Queries of exactly that length, as the words say.",
    diffpart.UP_TO: "Queries of up to that length, as in Fig. 3.",
}
BOTH = (
    "50,000 queries of exactly that length; beside it those of up to that length, as"
    " in the classes of Fig. 3: so many random items are in hardly any record."
)


def _units_5(scene: Scene) -> list[Unit]:
    fan_outs = scene.pick(full=(4, 6, 8, 10, 12, 14, 16), quick=(4, 10))
    runs = 1 if scene.quick else RUNS
    return grid(runs, data=SETS, f=fan_outs, B=BUDGETS)


FIGURE_5 = Figure(
    id="diffpart-5",
    paper="DiffPart",
    title="Average relative error by fan-out",
    printed="Both data sets, B from 0.5 to 1.25, query length 60 % of the longest record.",
    ours=f"{STAND_IN} {BOTH}",
    panels=tuple(
        Panel(name=f"{data}, {reading}", x="fan-out f", y="average relative error")
        for data in SETS
        for reading in READINGS
    ),
    statements=tuple(
        Statement(
            quote="In general, DiffPart generates relatively stable results for different fan-out"
            f" values. ({words})",
            check=all_of(*(steady(f"{data}, {reading}", *LINES, by=TIMES) for data in SETS)),
            cause="MSNBC has 17 items: a fan-out decides whether there are two levels or three,"
            " and how uneven the groups are (16 and a lone item), more than it would with more"
            " items",
        )
        for reading, words in READINGS.items()
    ),
    units=_units_5,
    measure=diffpart.by_fan_out,
    needs=BASKET_FILES,
)


def _units_6(scene: Scene) -> list[Unit]:
    sizes = scene.pick(full=(200, 400, 600, 800, 1_000), quick=(200, 1_000))
    budgets = scene.pick(full=BUDGETS, quick=(0.5, 1.25))
    return grid(1 if scene.quick else RUNS, items=sizes, B=budgets)


FIGURE_6 = Figure(
    id="diffpart-6",
    paper="DiffPart",
    title="Average relative error by size of the universe",
    printed="STM limited to smaller universes, 800,000 records each, B from 0.5 to 1.25,"
    " fan-out 10, query length 10.",
    ours=f"{STAND_IN} Universes are random parts of the items, records are drawn with replacement"
    f" from those that keep one. {BOTH}",
    panels=tuple(
        Panel(name=f"{name}, {reading}", x=x, y="average relative error")
        for reading in READINGS
        for name, x in (
            ("by universe", "items in the universe"),
            ("by budget", "privacy budget B"),
        )
    ),
    statements=tuple(
        statement
        for reading, words in READINGS.items()
        for statement in (
            Statement(
                quote="We can observe that the average relative error decreases when the universe"
                " size becomes smaller, because there is a greater chance to have more records"
                f" falling into a partition. ({words})",
                check=rises(f"by universe, {reading}", *LINES),
                cause="With the sanity bound, a query that almost no record fits has almost no"
                " error whatever is released. In a large universe of rare items, as fruithut's,"
                " nearly all random queries are such",
            ),
            Statement(
                quote="We can also observe that the datasets with smaller universe sizes obtain"
                f" more stable relative error under varying privacy budgets. ({words})",
                check=changes_less(f"by budget, {reading}", "|I| = 200", "|I| = 1000"),
                cause="The error of the largest universe is close to that of answering 0 at every"
                " budget, and so hardly varies",
            ),
        )
    ),
    units=_units_6,
    measure=diffpart.by_universe,
    needs=BASKET_FILES,
)


def _units_7(scene: Scene) -> list[Unit]:
    budgets = scene.pick(full=BUDGETS, quick=(0.5, 1.25))
    sizes = scene.pick(
        full={
            "MSNBC": (200_000, 400_000, 600_000, 800_000, 989_818),
            "STM": (200_000, 500_000, 800_000, 1_210_096),
        },
        quick=dict.fromkeys(SETS, (1_000, 4_000)),
    )
    return [
        unit
        for data in SETS
        for size in sizes[data]
        for unit in grid(
            1 if scene.quick else SIZE_RUNS,
            data=(data,),
            size=(size,),
            B=budgets,
            smallest=(int(size == min(sizes[data])),),
        )
    ]


FIGURE_7 = Figure(
    id="diffpart-7",
    paper="DiffPart",
    title="Average relative error by number of records",
    printed="Random parts of both data sets, B from 0.5 to 1.25, fan-out 10, query length 60 % of"
    " the longest record.",
    ours=f"{STAND_IN} {BOTH}",
    panels=tuple(
        Panel(name=f"{name}, {reading}", x=x, y="average relative error")
        for reading in READINGS
        for name, x in (
            *((data, "records") for data in SETS),
            ("smallest set", "privacy budget B"),
        )
    ),
    statements=tuple(
        statement
        for reading, words in READINGS.items()
        for statement in (
            Statement(
                quote="The relative error of MSNBC improves significantly when the privacy budget"
                f" increases, while the change of STM's error is small. ({words})",
                check=all_of(
                    falls(f"smallest set, {reading}", "MSNBC", by=TIMES),
                    steady(f"smallest set, {reading}", "STM", by=TIMES),
                ),
                cause="With 200,000 records MSNBC's errors are about the same at every budget, and"
                " differ more between runs; the thresholds drop most partitions at each of them",
            ),
            *(
                Statement(
                    quote="When the privacy budget is small, the error is more sensitive to the"
                    f" dataset size. ({data}. {words})",
                    check=changes_less(f"{data}, {reading}", "B = 1.25", "B = 0.5"),
                    cause="From the smallest to the largest set the error changes by about as much"
                    " at every budget",
                )
                for data in SETS
            ),
        )
    ),
    units=_units_7,
    measure=diffpart.by_size,
    needs=BASKET_FILES,
)

FIGURES = (FIGURE_5, FIGURE_6, FIGURE_7)
