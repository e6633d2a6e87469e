"""The budget as pictures: all expenses, and the expenses of one path."""

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
    """Equal expenses on the whole table, whose names differ only in a number."""

    name: str
    times: int
    share: str
    cost: str
    colour: int


@dataclass(frozen=True, kw_only=True)
class BudgetCell:
    """Expenses of one kind by the boxes of one level, and their number."""

    share: str
    times: int


@dataclass(frozen=True, kw_only=True)
class BudgetPart:
    """Expenses of one kind on a path: in per cent of the total, in ``n`` spends."""

    name: str
    cost: str
    percent: float
    n: int
    colour: int


@dataclass(frozen=True, kw_only=True)
class BudgetPicture:
    """The budget as rows, and the expenses of one path that spent the total.

    A release of one cut has ``slices``; a tree has ``levels``, one row each with a cell
    (or none) per kind of expense. ``parts`` is empty if no path that spends the total can be
    derived from the lines. The budget does not record which box of a level spent a share, so a
    path is described by kinds of expenses, not by levels.
    """

    kinds: tuple[tuple[str, int], ...]
    slices: tuple[Slice, ...]
    levels: tuple[tuple[int, tuple[BudgetCell | None, ...]], ...]
    parts: tuple[BudgetPart, ...]


def budget_picture(budget: Budget) -> BudgetPicture:
    """Return the pictures of a budget."""
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
    """Return the lines of one path that spends the total, or none if no such path is found.

    Every path spends the lines of level 0. Below, a path spends on every level that it passes, at
    most one share of a line per level, and numbered steps of a kind in ascending order. Among
    several such paths, one of the deepest is returned.
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
    """Search for lines, level by level, that add up to a sum.

    Shares are expressed as integer multiples of a common unit.
    """

    def __init__(self, lines: list[Spend], total: Fraction) -> None:
        parts = [total.denominator, *(line.share.denominator for line in lines)]
        self.unit = math.lcm(*parts)
        self.total = int(total * self.unit)
        # One entry per level and name, in the order of spending; the most frequent shares first.
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
        """Return the lines of a path that ends on level ``depth``, or ``None``."""
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
            if state.level < level - 1:  # a level was passed without spending
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
    """State of a path: remaining budget, last level with an expense, last step per kind."""

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
    """Return a share for display: exact if it is short, rounded otherwise.

    >>> share_text(Fraction(1, 20)), share_text(Fraction(12345, 678901))
    ('1/20', '≈ 0.01818')
    """
    exact = str(share)
    return exact if len(exact) <= LONGEST_FRACTION else f"≈ {float(share):.4g}"


def _kind(line: Spend) -> str:
    # After a colon follows the object of the expense, which differs within a kind.
    return _NUMBERED.sub("", line.on.partition(": ")[0])


def _number(line: Spend) -> int | None:
    """Return the number of a step if its name ends in one."""
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
