"""The figures of classification as plain facts: every measure with its floor and its ceiling."""

from __future__ import annotations

from hedgerow.evaluation.class_measures import ClassMeasures
from hedgerow.evaluation.learners import Learner
from hedgerow.report.headlines import Facts

MOST_LISTED = 50
"""Classes whose recalls are listed, the rarest first."""

ByLearner = dict[Learner, ClassMeasures]

_MEASURES = {"auc": "auc", "balanced-accuracy": "balanced", "rare-recall": "rare"}


def measure_facts(
    floor: ClassMeasures,
    boxes: ByLearner | None,
    records: ByLearner,
    ceiling: ByLearner,
    judged: ByLearner,
) -> Facts:
    """Return the measures beside accuracy, each by learner between its floor and its ceiling.

    ``judged`` are those of the boxes or of the records, whichever the release consists of.
    """
    return {
        name: {
            "floor": getattr(floor, key),
            "release": {
                "boxes": None if boxes is None else _column(boxes, key),
                "records": _column(records, key),
            },
            "ceiling": _column(ceiling, key),
            "kept": kept_of(floor, judged, ceiling, key),
        }
        for name, key in _MEASURES.items()
    }


def _column(measures: ByLearner, key: str) -> dict[Learner, float | None]:
    return {learner: getattr(each, key) for learner, each in measures.items()}


def kept_of(
    floor: ClassMeasures, release: ByLearner, ceiling: ByLearner, key: str
) -> dict[Learner, float | None]:
    """Return, by learner, the part of what raw data can teach, beyond the floor, that is left."""
    return {
        learner: _kept(getattr(floor, key), getattr(each, key), getattr(ceiling[learner], key))
        for learner, each in release.items()
    }


def _kept(floor: float | None, release: float | None, ceiling: float | None) -> float | None:
    if floor is None or release is None or ceiling is None or ceiling <= floor:
        return None
    return (release - floor) / (ceiling - floor)


def class_rows(
    labels: list[str],
    shares: list[float],
    boxes: ByLearner | None,
    records: ByLearner,
    ceiling: ByLearner,
) -> list[Facts]:
    """Return, class by class, the part of its test rows that each learner finds; rarest first."""
    there = sorted((share, at) for at, share in enumerate(shares) if share > 0)
    return [
        {
            "label": labels[at],
            "share": share,
            "release": {
                "boxes": None if boxes is None else _recalls(boxes, at),
                "records": _recalls(records, at),
            },
            "ceiling": _recalls(ceiling, at),
        }
        for share, at in there[:MOST_LISTED]
    ]


def _recalls(measures: ByLearner, at: int) -> dict[Learner, float | None]:
    return {learner: each.recalls[at] for learner, each in measures.items()}
