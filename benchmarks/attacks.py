"""Three attacks, played against k-anonymous releases and against ours: docs/attacks.md.

Run as ``python benchmarks/attacks.py [--quick] [--write]``. The table is UCI Adult. In the first
and last attack each record has a secret that is a coin toss, so that nothing can be learnt of it
from anybody else: whatever is guessed better than by half, the release gave away.

- **differencing**: one person joins between two releases. Which side did their coin fall on?
- **membership**: somebody's whole record is known, and so is the population. Were they in?
- **reconstruction**: ten releases of other columns each. What was everybody's coin?

``--write`` puts the table into the page.
"""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import lsqr

from adult_records import adult, rows
from experiments.tables import with_attributes
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.evaluation.placing import places
from hedgerow.model.groups import Groups
from hedgerow.model.run import Run
from hedgerow.model.table import EncodedTable
from hedgerow.plan.registry import METHODS
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource

Counts = dict[tuple[int, ...], NDArray[np.int64]]
Made = tuple[Groups, Counts]


@dataclass(frozen=True, kw_only=True)
class Release:
    """How a contender publishes: a plan's section without its epsilon, and the epsilon."""

    name: str
    section: dict[str, object]
    epsilon: Fraction | None = None

    def made(self, table: EncodedTable, seed: int, *, part: int = 1) -> Made:
        """Return the groups, and the counts by class of every box, of one release.

        With ``part`` the release has that part of epsilon only: one of so many.
        """
        source, engine = SeededSource(seed), MemoryEngine(table=table)
        given = {} if self.epsilon is None else {"epsilon": str(self.epsilon / part)}
        plan = METHODS[str(self.section["method"])].model_validate(
            {**self.section, **given}, by_alias=True
        )
        method = plan.build(has_class=True)
        if self.epsilon is None:
            groups = method.publish(engine, source=source)
        else:
            budget = self.epsilon / part
            ledger = PathLedger(budget)
            groups = method.publish(
                Run(engine=engine, epsilon=budget, ledger=ledger, source=source)
            )
        return groups, _counts(groups)


def _counts(groups: Groups) -> Counts:
    found: Counts = {}
    if groups.classes is None:
        raise SystemExit("the release has no class")
    boxes = zip(*(index.tolist() for index in groups.index), strict=True)
    for box, label, count in zip(boxes, groups.classes, groups.counts, strict=True):
        found.setdefault(box, np.zeros(2, dtype=np.int64))[label] += count
    return found


CONTENDERS = (
    Release(name="Mondrian, k = 5", section={"method": "mondrian", "k": 5}),
    Release(name="Mondrian, k = 50", section={"method": "mondrian", "k": 50}),
    Release(name="TDS, k = 5", section={"method": "tds", "k": 5}),
    Release(name="hedge, ε = 1", section={"method": "hedge"}, epsilon=Fraction(1)),
    Release(name="hedge, ε = 1/10", section={"method": "hedge"}, epsilon=Fraction(1, 10)),
)


def boxes_of(made: Made, table: EncodedTable) -> list[tuple[int, ...]]:
    """Return the box that a release has for every record of a table."""
    return [tuple(each) for each in places(made[0], table).tolist()]


def with_coins(table: EncodedTable, rng: np.random.Generator) -> EncodedTable:
    """Return the table with a fair coin for a class."""
    coins = rng.integers(0, 2, len(table)).astype(np.uint8)
    return EncodedTable(schema=table.schema, codes=table.codes, classes=coins)


def differencing(release: Release, table: EncodedTable, *, n: int, seed: int) -> float:
    """Return how often the coin of somebody who joined between two releases is guessed rightly.

    The attacker takes the class whose count grew more, in all boxes together or in the target's
    box alone: what did better against the first half of the targets is measured on the second.
    """
    rng = np.random.default_rng(seed)
    right = np.zeros((n, 2), dtype=np.bool_)
    none = np.zeros(2, dtype=np.int64)
    for at in range(n):
        whole = with_coins(rows(table, rng.permutation(len(table))), rng)
        last = len(whole) - 1
        before = release.made(whole.without(last), seed + 2 * at)
        after = release.made(whole, seed + 2 * at + 1)
        target, coin = rows(whole, np.array([last])), int(whole.classes[last])
        (old,), (new,) = boxes_of(before, target), boxes_of(after, target)
        total = sum(after[1].values(), none) - sum(before[1].values(), none)
        grown = after[1].get(new, none) - before[1].get(old, none)
        right[at] = _larger(total, rng) == coin, _larger(grown, rng) == coin
    first, second = right[: n // 2], right[n // 2 :]
    return float(second[:, int(first.mean(axis=0).argmax())].mean())


def _larger(counts: NDArray[np.int64], rng: np.random.Generator) -> int:
    return int(rng.integers(2)) if counts[0] == counts[1] else int(counts[1] > counts[0])


def membership(release: Release, whole: EncodedTable, *, n: int, runs: int, seed: int) -> float:
    """Return how well members are told from others by somebody who knows the population.

    ``n`` records are published. Targets are these and as many others; the rest stands for the
    population, by which the attacker knows how many records of the target's class its box would
    have without the target. The score is how many more there are. What is returned is the chance
    that of a member and another the member has the higher score.
    """
    auc = []
    for run in range(runs):
        order = np.random.default_rng(seed + run).permutation(len(whole))
        inside, outside, rest = np.split(order, [n, 2 * n])
        made = release.made(rows(whole, inside), seed + run)
        expected = _population(made, rows(whole, rest), n / len(rest))
        member, other = (_scores(made, rows(whole, which), expected) for which in (inside, outside))
        auc.append(_auc(member, other))
    return float(np.mean(auc))


def _population(made: Made, population: EncodedTable, scale: float) -> dict[tuple[int, ...], float]:
    found: dict[tuple[int, ...], float] = {}
    for box, label in zip(boxes_of(made, population), population.classes.tolist(), strict=True):
        key = (*box, label)
        found[key] = found.get(key, 0.0) + scale
    return found


def _scores(
    made: Made, targets: EncodedTable, expected: dict[tuple[int, ...], float]
) -> NDArray[np.float64]:
    none = np.zeros(2, dtype=np.int64)
    found = []
    for box, label in zip(boxes_of(made, targets), targets.classes.tolist(), strict=True):
        usual = expected.get((*box, label), 0.0)
        found.append((made[1].get(box, none)[label] - usual) / np.sqrt(usual + 1))
    return np.array(found)


def _auc(member: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    ordered = np.sort(other)
    below = np.searchsorted(ordered, member, side="left")
    upto = np.searchsorted(ordered, member, side="right")
    return float((below + upto).mean() / (2 * len(other)))


def reconstruction(
    release: Release, table: EncodedTable, *, releases: int, runs: int, seed: int
) -> float:
    """Return how many coins are found from several releases of the same people.

    Each release has six columns of its own, chosen by lot; epsilon is shared out over them. The
    attacker knows those columns of everybody, and looks for coins, between 0 and 1, whose sums in
    all boxes are nearest to what was published.
    """
    right = []
    names = [attribute.name for attribute in table.schema.attributes]
    for run in range(runs):
        rng = np.random.default_rng(seed + run)
        secret = with_coins(table, rng)
        sums, heads = [], []
        for at in range(releases):
            part = with_attributes(secret, sorted(rng.choice(names, 6, replace=False)))
            made = release.made(part, seed + releases * run + at, part=releases)
            equations, published = _equations(made, part)
            sums.append(equations)
            heads.append(published)
        found = _coins(sums, heads, len(table))
        right.append(float(((found > 0.5) == secret.classes).mean()))
    return float(np.mean(right))


def _equations(made: Made, table: EncodedTable) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return every record's box, and the share of heads in each box by the release."""
    boxes = boxes_of(made, table)
    numbers = {box: at for at, box in enumerate(dict.fromkeys(boxes))}
    none = np.zeros(2, dtype=np.int64)
    heads = []
    for box in numbers:
        tails, count = made[1].get(box, none)
        heads.append(count / (tails + count) if tails + count else 0.5)
    return np.array([numbers[box] for box in boxes]), np.array(heads)


def _coins(sums: list[NDArray[np.int64]], heads: list[NDArray[np.float64]], n: int) -> NDArray:
    """Return the coins, by least squares, that make the published shares of heads."""
    offset, at, values, wanted = 0, [], [], []
    for boxes, share in zip(sums, heads, strict=True):
        sizes = np.bincount(boxes, minlength=len(share))
        at.append(boxes + offset)
        values.append(1 / np.sqrt(sizes[boxes]))
        wanted.append((share - 0.5) * np.sqrt(sizes))
        offset += len(share)
    columns = np.tile(np.arange(n), len(sums))
    matrix = coo_matrix(
        (np.concatenate(values), (np.concatenate(at), columns)), shape=(offset, n)
    ).tocsr()
    return lsqr(matrix, np.concatenate(wanted), damp=1e-3)[0] + 0.5


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is played."""

    records: int = 2_000
    targets: int = 2_000
    members: int = 10_000
    runs: int = 5
    people: int = 2_000
    releases: int = 10


def played(release: Release, size: Size, *, seed: int = 1) -> tuple[float, float, float]:
    """Return what the three attacks get from one contender."""
    whole = adult()
    order = np.random.default_rng(seed).permutation(len(whole))
    some, few = rows(whole, order[: size.records]), rows(whole, order[: size.people])
    # Exact counts leave nothing to chance.
    targets = size.targets if release.epsilon else max(size.targets // 10, 20)
    return (
        differencing(release, some, n=targets, seed=seed),
        membership(release, whole, n=size.members, runs=size.runs, seed=seed),
        reconstruction(release, few, releases=size.releases, runs=size.runs, seed=seed),
    )


def bound(epsilon: Fraction) -> float:
    """Return the largest expected share of right answers of any attack in these three games.

    In each of them the attacker chooses between two tables that differ by a replacement: another
    coin, or the outsider in place of the member, who are exchangeable. A replacement is one record
    removed and one added, so the odds of an answer move by a factor of at most e^(2 epsilon).
    """
    return 1 / (1 + math.exp(-2 * epsilon))


def table_of(size: Size) -> str:
    """Return the table, a row for every contender."""
    lines = [
        "| release | differencing: coins guessed | membership: distinguished from others"
        " | reconstruction: coins found |",
        "|---|---|---|---|",
        "| *without any release* | 50 % | 50 % | 50 % |",
    ]
    for release in CONTENDERS:
        lines.append(_line(release.name, played(release, size)))
        if release.epsilon is not None:
            lines.append(_line("*upper bound for any attack*", (bound(release.epsilon),) * 3))
        print(*lines[-2:], sep="\n", flush=True)
    return "\n".join(lines)


def _line(name: str, values: tuple[float, ...]) -> str:
    return f"| {name} | {' | '.join(f'{100 * value:.0f} %' for value in values)} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small tables, in seconds")
    parser.add_argument("--write", action="store_true", help="put the table into docs/attacks.md")
    given = parser.parse_args()
    few = Size(records=1_000, targets=20, members=2_000, runs=1, people=500, releases=10)
    text = table_of(few if given.quick else Size())
    print(text)
    if given.write:
        path = Path(__file__).resolve().parent.parent / "docs" / "attacks.md"
        marked = re.compile(r"(<!-- attacks -->\n).*?(<!-- /attacks -->)", re.DOTALL)
        old = path.read_text(encoding="utf-8")
        path.write_text(marked.sub(lambda found: f"{found[1]}{text}\n{found[2]}", old), "utf-8")


if __name__ == "__main__":
    main()
