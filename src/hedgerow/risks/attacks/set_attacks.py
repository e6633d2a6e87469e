"""All attacks on a release of baskets or of sequences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from hedgerow.errors import SettingError
from hedgerow.evaluation.subject import BasketSubject
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.progress import Progress
from hedgerow.report.headlines import Facts
from hedgerow.risks.attacks.differencing import grown_scores, joined_sets, sums
from hedgerow.risks.attacks.pairs import Sample, drawn_sample, joined_sample, members_alone
from hedgerow.risks.attacks.questions import (
    NO_HOLDOUT,
    Judge,
    inference_facts,
    membership_facts,
    not_run,
)
from hedgerow.risks.attacks.set_traces import set_traces, sets_singled_out
from hedgerow.risks.attacks.sets import SetGame, basket_game, capped, sequence_game, some_sets
from hedgerow.risks.attacks.settings import AttackSettings
from hedgerow.risks.attacks.traces import Scores

NO_SHADOW = "shadow releases are made of tables only"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SetCase:
    """A release with its data, held-out records, and another release with its own data."""

    subject: BasketSubject
    holdout: BasketSubject | None
    other: BasketSubject | None
    other_data: BasketSubject | None

    @property
    def outsiders(self) -> WeightedSets:
        """Held-out records, if any."""
        if self.holdout is not None:
            return self.holdout.records
        return some_sets(self.subject.records, np.zeros(0, dtype=np.int64))


def set_sample(case: SetCase, settings: AttackSettings) -> Sample:
    """Draw the pairs, or members alone if there are no outsiders."""
    if settings.sensitive:
        raise SettingError(
            "Items cannot be marked as sensitive.",
            where="sensitive",
            do="Omit it: one item of every basket or sequence is hidden and inferred.",
        )
    n_members = len(case.subject.records)
    if case.holdout is not None:
        return drawn_sample(
            n_members, len(case.outsiders), most=settings.most_records, seed=settings.seed
        )
    return members_alone(n_members, most=settings.most_records, seed=settings.seed)


def _game(
    case: SetCase, released: WeightedSets, sample: Sample, settings: AttackSettings
) -> SetGame:
    members = some_sets(case.subject.records, sample.members)
    outsiders = some_sets(case.outsiders, sample.outsiders)
    reference = some_sets(case.outsiders, sample.reference)
    make = sequence_game if case.subject.ordered else basket_game
    return make(
        capped(released, seed=settings.seed),
        _after(members, outsiders),
        reference,
        scale=released.total / max(len(reference), 1),
        seed=settings.seed,
    )


def _after(one: WeightedSets, other: WeightedSets) -> WeightedSets:
    """Return two lists of sets as one."""
    return WeightedSets(
        n_items=one.n_items,
        offsets=np.concatenate([one.offsets, other.offsets[1:] + one.offsets[-1]]),
        items=np.concatenate([one.items, other.items]),
        weights=np.concatenate([one.weights, other.weights]),
    )


def attack_sets(
    case: SetCase, sample: Sample, settings: AttackSettings, judge: Judge, *, progress: Progress
) -> Facts:
    """Return the result of every attack, or the reason why it was not run."""
    game = _game(case, case.subject.release, sample, settings)
    scoring = judge.scoring(sample)
    traces = set_traces(game, done=partial(progress, "comparing with released records"))
    progress("singling out", None)
    alone = sets_singled_out(game)
    linked = not_run("there is nothing to link")
    return {
        "membership": membership_facts(scoring, traces.scores, NO_SHADOW),
        "singling-out": scoring.question(alone),
        "linkability": linked if traces.linked is None else scoring.question(traces.linked),
        "inference": inference_facts(scoring, traces),
        "differencing": _differencing(case, sample, settings, judge, traces.scores),
        "reconstruction": not_run("the release publishes no marginals"),
    }


def _differencing(
    case: SetCase,
    sample: Sample,
    settings: AttackSettings,
    judge: Judge,
    scores: dict[str, Scores],
) -> Facts:
    if case.other is None:
        return not_run("no other release was given (--other)")
    if case.holdout is None:
        return not_run(NO_HOLDOUT)
    if case.other.labels != case.subject.labels:
        return not_run("the other release has another universe of items")
    if case.other_data is None:
        beside = set_traces(_game(case, case.other.release, sample, settings)).scores
        both = judge.of_both(case.subject.certificate, case.other.certificate)
        found = membership_facts(both.scoring(sample), sums(scores, beside), NO_SHADOW)
        return {"of": "the same data", "membership": found}
    joined = joined_sets(
        case.subject.records, case.other_data.records, ordered=case.subject.ordered
    )
    if not len(joined):
        return not_run("no record is in the data of this release and not in the other's")
    those = joined_sample(
        joined, len(case.outsiders), most=settings.most_records, seed=settings.seed
    )
    one, two = (
        set_traces(_game(case, each.release, those, settings)).scores
        for each in (case.subject, case.other)
    )
    found = membership_facts(judge.scoring(those), grown_scores(one, two), NO_SHADOW)
    return {"of": "data that differ", "joined": len(joined), "membership": found}
