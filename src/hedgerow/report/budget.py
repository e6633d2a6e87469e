"""What the report draws of the budget: its lines, and what one path spent."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from hedgerow.model.certificate import Budget, Spend

N_COLOURS = 6
LONGEST_FRACTION = 9
_MOST_STATES = 50_000
_NUMBERED = re.compile(r"[ #]*\d{1,9}$", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Payments on the whole table that differ in a number only, put together."""

    name: str
    times: int
    share: str
    cost: str
    colour: int


@dataclass(frozen=True, kw_only=True)
class BudgetCell:
    """What boxes of one level spent for one kind of thing, and how many spends there were."""

    share: str
    times: int


@dataclass(frozen=True, kw_only=True)
class BudgetPart:
    """What a path spent for one kind of thing: in per cent of the total, in ``n`` spends."""

    name: str
    cost: str
    percent: float
    n: int
    colour: int


@dataclass(frozen=True, kw_only=True)
class BudgetPicture:
    """The budget as rows, and the spends of one path that spent the total.

    A release of one cut has ``slices``; a tree has ``levels``, one row each with a cell
    (or none) per kind of spend. ``parts`` is empty where no path that spends the total can
    be told from the lines. Which of several boxes of a level spent is not in the budget, so
    a path is told by kinds of spend, not by levels.
    """

    kinds: tuple[tuple[str, int], ...]
    slices: tuple[Slice, ...]
    levels: tuple[tuple[int, tuple[BudgetCell | None, ...]], ...]
    parts: tuple[BudgetPart, ...]


def budget_picture(budget: Budget) -> BudgetPicture:
    """Return the budget as the report draws it."""
    names = list(dict.fromkeys(_kind(line) for line in budget.spends))
    colours = {name: at % N_COLOURS for at, name in enumerate(names)}
    is_tree = any(line.level for line in budget.spends)
    return BudgetPicture(
        kinds=tuple(colours.items()),
        slices=() if is_tree else _slices(budget, colours),
        levels=_levels(budget, names) if is_tree else (),
        parts=_parts(budget, colours),
    )


def dearest_path(budget: Budget) -> tuple[Spend, ...]:
    """Return lines that one path spends and that add up to the total; none if there are none.

    Every path spends the lines of level 0. Below, a path spends on every level that it passes,
    at most one share of a line on each, and numbered steps of a kind in their order. Of
    several ways to make up the total, one that goes deepest is returned.
    """
    every = [line for line in budget.spends if line.level == 0]
    left = budget.total - sum((line.share * line.times for line in every), Fraction(0))
    deeper = [line for line in budget.spends if line.level]
    if not deeper:
        return tuple(every)
    search = _Search(deeper, left)
    for depth in range(max(line.level for line in deeper), 0, -1):
        below = search.path_to(depth)
        if below is not None:
            return (*every, *below)
    return ()


class _Search:
    """A search for lines, level by level down to a given one, that make up a sum.

    Shares are whole multiples of their common part, so that sums are plain integers.
    """

    def __init__(self, lines: list[Spend], total: Fraction) -> None:
        parts = [total.denominator, *(line.share.denominator for line in lines)]
        self.unit = math.lcm(*parts)
        self.total = int(total * self.unit)
        # One entry per level and name, in the order of spend; shares that most spent first.
        by_name: dict[tuple[int, str], list[Spend]] = {}
        for line in sorted(lines, key=lambda line: line.level):
            by_name.setdefault((line.level, line.on), []).append(line)
        self.choices = [
            (level, _kind(same[0]), _number(same[0]), self._options(same))
            for (level, _), same in by_name.items()
        ]
        self.n_states = 0

    def _options(self, lines: list[Spend]) -> list[tuple[int, Spend]]:
        rare_first = sorted(lines, key=lambda line: line.times)
        return [(int(line.share * self.unit), line) for line in rare_first]

    def path_to(self, depth: int) -> tuple[Spend, ...] | None:
        """Return lines that a path spends which ends on level ``depth``, if they can be found."""
        choices = [choice for choice in self.choices if choice[0] <= depth]
        seen: set[tuple[int, _State]] = set()
        stack: list[tuple[int, _State, tuple[Spend, ...]]] = [(0, _State(self.total, 0, ()), ())]
        while stack and self.n_states < _MOST_STATES:
            at, state, taken = stack.pop()
            if state.left == 0 and state.level == depth:
                return taken
            if at == len(choices) or state.left == 0 or (at, state) in seen:
                continue
            level, kind, number, options = choices[at]
            if state.level < level - 1:  # a level was passed without a spend
                continue
            seen.add((at, state))
            self.n_states += 1
            stack.append((at + 1, state, taken))
            if state.allows(kind, number):
                stack.extend(
                    (at + 1, state.after(share, level, kind, number), (*taken, line))
                    for share, line in options
                    if share <= state.left
                )
        return None


class _State(NamedTuple):
    """How far a path has come: what is left, the last level spent on, the last step per kind."""

    left: int
    level: int
    steps: tuple[tuple[str, int], ...]

    def allows(self, kind: str, number: int | None) -> bool:
        return number is None or number > dict(self.steps).get(kind, -1)

    def after(self, share: int, level: int, kind: str, number: int | None) -> _State:
        steps = self.steps
        if number is not None:
            steps = tuple(sorted({**dict(steps), kind: number}.items()))
        return _State(self.left - share, level, steps)


def share_text(share: Fraction) -> str:
    """Return a share as people read it: exact where that is short.

    >>> share_text(Fraction(1, 20)), share_text(Fraction(12345, 678901))
    ('1/20', '≈ 0.01818')
    """
    exact = str(share)
    return exact if len(exact) <= LONGEST_FRACTION else f"≈ {float(share):.4g}"


def _kind(line: Spend) -> str:
    # What stands after a colon is what it was spent for, of many of its kind.
    return _NUMBERED.sub("", line.on.partition(": ")[0])


def _number(line: Spend) -> int | None:
    """Return the number of a step, if its name ends in one."""
    found = _NUMBERED.search(line.on.partition(": ")[0])
    return None if found is None else int(found[0].strip(" #"))


def _slices(budget: Budget, colours: dict[str, int]) -> tuple[Slice, ...]:
    times: dict[tuple[str, Fraction], int] = {}
    for line in budget.spends:
        kind = (_kind(line), line.share)
        times[kind] = times.get(kind, 0) + line.times
    return tuple(
        Slice(
            name=name,
            times=n,
            share=share_text(share),
            cost=share_text(share * n),
            colour=colours[name],
        )
        for (name, share), n in times.items()
    )


def _levels(
    budget: Budget, names: list[str]
) -> tuple[tuple[int, tuple[BudgetCell | None, ...]], ...]:
    lines: dict[tuple[int, str], list[Spend]] = {}
    for line in budget.spends:
        lines.setdefault((line.level, _kind(line)), []).append(line)
    depth = max(line.level for line in budget.spends)
    return tuple(
        (level, tuple(_cell(lines.get((level, name), [])) for name in names))
        for level in range(depth + 1)
    )


def _cell(lines: list[Spend]) -> BudgetCell | None:
    if not lines:
        return None
    shares = [line.share for line in lines]
    share = share_text(min(shares))
    if min(shares) < max(shares):
        share = f"{share} to {share_text(max(shares))}"
    return BudgetCell(share=share, times=sum(line.times for line in lines))


def _parts(budget: Budget, colours: dict[str, int]) -> tuple[BudgetPart, ...]:
    by_kind: dict[str, list[Spend]] = {}
    for line in dearest_path(budget):
        by_kind.setdefault(_kind(line), []).append(line)
    found = []
    for name in (name for name in colours if name in by_kind):
        times = {id(line): 1 if line.level else line.times for line in by_kind[name]}
        cost = sum((line.share * times[id(line)] for line in by_kind[name]), Fraction(0))
        part = BudgetPart(
            name=name,
            cost=share_text(cost),
            percent=round(float(100 * cost / budget.total), 4),
            n=sum(times.values()),
            colour=colours[name],
        )
        found.append(part)
    return tuple(found)
