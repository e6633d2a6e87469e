"""All attacks on a released table: boxes, synthetic records, k-anonymous or disclosed rows."""

from __future__ import annotations

from functools import partial

from hedgerow.progress import Progress
from hedgerow.report.headlines import Facts
from hedgerow.risks.attacks.membership import ScoreWeights
from hedgerow.risks.attacks.questions import (
    NO_HOLDOUT,
    Judge,
    Scoring,
    inference_facts,
    membership_facts,
    not_run,
)
from hedgerow.risks.attacks.reconstruction import reconstructed
from hedgerow.risks.attacks.rows import CodeTable
from hedgerow.risks.attacks.shadow import shadow_weights
from hedgerow.risks.attacks.singling import singled_out
from hedgerow.risks.attacks.table_differencing import table_differencing
from hedgerow.risks.attacks.table_game import TableGame
from hedgerow.risks.attacks.table_traces import table_traces


def attack_table(game: TableGame, judge: Judge, *, progress: Progress) -> Facts:
    """Return the result of every attack, or the reason why it was not run."""
    settings = game.settings
    targets, reference = game.targets, game.reference
    scoring = judge.scoring(game.sample)
    progress("comparing with released rows", 0.0)
    traces = table_traces(
        game.rows,
        targets,
        reference,
        game.aims,
        done=partial(progress, "comparing with released rows"),
    )
    progress("singling out", 0.0)
    alone = singled_out(
        game.rows, targets, seed=settings.seed, done=partial(progress, "singling out")
    )
    shadow = _shadow(game, progress)
    linked = not_run("there are fewer than two columns")
    return {
        "membership": membership_facts(scoring, traces.scores, shadow),
        "singling-out": scoring.question(alone),
        "linkability": linked if traces.linked is None else scoring.question(traces.linked),
        "inference": inference_facts(scoring, traces),
        "differencing": table_differencing(game, traces.scores, judge, progress),
        "reconstruction": _reconstruction(game, targets, scoring, progress),
    }


def _shadow(game: TableGame, progress: Progress) -> ScoreWeights | str:
    if game.case.holdout is None:
        return NO_HOLDOUT
    subject = game.case.subject
    if game.with_class != (subject.groups.classes is not None):
        return "the data have no column of the class"
    return shadow_weights(
        subject.certificate,
        subject.table.schema,
        n_records=len(subject.table),
        shadows=game.settings.shadows,
        with_class=game.with_class,
        seed=game.settings.seed,
        done=partial(progress, "making shadow releases"),
    )


def _reconstruction(
    game: TableGame, targets: CodeTable, scoring: Scoring, progress: Progress
) -> Facts:
    progress("reconstructing records", None)
    subject = game.case.subject
    found = reconstructed(subject.groups, game.rows.sizes, targets, n_records=len(subject.table))
    if isinstance(found, str):
        return not_run(found)
    return {
        **scoring.question(found.hits),
        "baseline": scoring.baseline(found.guessed),
        "published-counts": found.n_counts,
    }
