"""Attacks on two releases of a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.progress import Progress
from hedgerow.report.headlines import Facts
from hedgerow.risks.attacks.differencing import grown_scores, joined_rows, sums
from hedgerow.risks.attacks.pairs import joined_sample
from hedgerow.risks.attacks.questions import NO_HOLDOUT, Judge, membership_facts, not_run
from hedgerow.risks.attacks.rows import CodeTable, ReleasedRows, code_table, rows_of_groups
from hedgerow.risks.attacks.table_game import TableGame
from hedgerow.risks.attacks.table_traces import SHARPNESS, TableAims, table_traces
from hedgerow.risks.attacks.traces import Scores

MOST_VALUES = 50
"""Maximum number of values of a column that differencing tries one by one."""

NOT_REPEATED = "shadow releases are not made for two releases together"


def table_differencing(
    game: TableGame, scores: dict[str, Scores], judge: Judge, progress: Progress
) -> Facts:
    """Return the results of attacks on the difference of two releases."""
    other = game.case.other
    if other is None:
        return not_run("no other release was given (--other)")
    if game.case.holdout is None:
        return not_run(NO_HOLDOUT)
    if [each.name for each in other.table.schema.attributes] != [
        each.name for each in game.case.subject.table.schema.attributes
    ]:
        return not_run("the other release has other columns")
    progress("comparing two releases", None)
    rows = rows_of_groups(other.groups, game.columns, seed=game.settings.seed)
    if game.case.other_data is None:
        return _added_up(game, rows, scores, judge)
    return _subtracted(game, rows, judge)


def _added_up(
    game: TableGame, rows: ReleasedRows, scores: dict[str, Scores], judge: Judge
) -> Facts:
    """Return membership by the evidence of two releases of the same data."""
    beside = _scores(game, rows, game.targets)
    case = game.case
    also = None if case.other is None else case.other.certificate
    scoring = judge.of_both(case.subject.certificate, also).scoring(game.sample)
    found = membership_facts(scoring, sums(scores, beside), NOT_REPEATED)
    return {"of": "the same data", "membership": found}


def _subtracted(game: TableGame, rows: ReleasedRows, judge: Judge) -> Facts:
    """Return membership and inference for records that are in one data set only."""
    case, settings = game.case, game.settings
    if case.other_data is None or case.subject.people is not None:
        return not_run("records of people are not compared between two files")
    if game.with_class and case.other_data.table.classes is None:
        return not_run("the data of the other release have no column of the class")
    others = code_table(case.other_data.table, with_class=game.with_class)
    joined = joined_rows(game.members, others)
    if not len(joined):
        return not_run("no record is in the data of this release and not in the other's")
    sample = joined_sample(
        joined, len(game.outsiders), most=settings.most_records, seed=settings.seed
    )
    those = replace(game, sample=sample)
    scoring = judge.scoring(sample)
    one = _scores(those, game.rows, those.targets)
    two = _scores(those, rows, those.targets)
    grown = grown_scores(one, two)
    return {
        "of": "data that differ",
        "joined": len(joined),
        "membership": membership_facts(scoring, grown, NOT_REPEATED),
        "inference": {
            "columns": {
                game.columns[at].name: scoring.question(_grown_most(those, rows, at))
                for at in game.aims.sensitive
                if game.columns[at].domain.size <= MOST_VALUES
            }
        },
    }


def _no_aims(game: TableGame) -> TableAims:
    return TableAims(halves=game.aims.halves, sensitive=(), seed=game.settings.seed)


def _scores(game: TableGame, rows: ReleasedRows, targets: CodeTable) -> dict[str, Scores]:
    return table_traces(rows, targets, game.reference, _no_aims(game)).scores


def _grown_most(game: TableGame, rows: ReleasedRows, column: int) -> NDArray[np.bool_]:
    """Return for whom the hidden value is the one whose records grew most between releases."""
    targets = game.targets
    grown = []
    for value in range(game.columns[column].domain.size):
        supposed = targets.copy()
        supposed[:, column] = value
        one, two = (_around(each, supposed) for each in (game.rows, rows))
        grown.append(one - two)
    tie = np.random.default_rng([game.settings.seed, 10]).random(len(grown)) * 1e-9
    guess = (np.stack(grown, axis=1) + tie).argmax(axis=1)
    return np.asarray(guess == targets[:, column])


def _around(rows: ReleasedRows, targets: CodeTable) -> Scores:
    """Return the number of released records in the cells of each target."""
    found = np.zeros(len(targets))
    for block in rows.blocks(len(targets)):
        away = rows.distances(targets[block], range(rows.n_columns))
        found[block] = np.exp(-SHARPNESS * away) @ rows.counts
    return found
