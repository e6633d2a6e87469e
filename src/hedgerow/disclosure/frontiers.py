"""Frontiers of some records, for thresholds that are moved interactively, as in both papers.

[ARUBA, Figs. 1 and 2] use the lowest risk at a utility, or the highest utility at a risk;
[TKDE, Fig. 1(a)] uses the best sum of both. In all cases, only Pareto-optimal generalisations can
win, and only these few are kept. Everything here is confidential.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.baselines.kanonymity.level_search import Cost
from hedgerow.disclosure.explain import FOR_OWNER, ReadyToExplain, lattice_size
from hedgerow.disclosure.lattice.matches import CUBE_UP_TO
from hedgerow.disclosure.lattice.threshold import RecordLandscape
from hedgerow.disclosure.plane import ANONYMITIES, MOST_NODES, MOST_RECORDS, Frontier
from hedgerow.disclosure.uniform import UniformForms
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Floats, Ints
from hedgerow.pipeline.prepare import PlanLike
from hedgerow.plan.disclose import AggregateDisclose
from hedgerow.progress import Progress, no_progress

_SEED = 2014


def explain_plane(
    plan: PlanLike,
    *,
    data: Any = None,
    against: Any = None,
    most_records: int = MOST_RECORDS,
    progress: Progress = no_progress,
    **settings: Any,
) -> dict[str, object]:
    """Return the frontiers of records at equal distances. Confidential: for the owner alone.

    ``aruba`` lists the generalisations of each record with the lowest risk at their utility,
    ``tkde`` those with the most matches per severity, the criterion of the aggregate model.
    """
    known = ReadyToExplain.of(
        plan, data=data, against=against, progress=progress, settings=settings
    )
    if known.ready.disclose.risk.consistency != "hierarchical":
        raise SettingError(
            "Generalisations matched by similarity have no frontier that can be computed soon.",
            where="disclose.risk.consistency",
            do="Set consistency: hierarchical to see the plane.",
        )
    jobs = _sample(known, most_records)
    frontiers = []
    for at, job in enumerate(jobs.tolist()):
        progress("frontiers", at / len(jobs))
        frontiers.append(_record(known, job))
    return {
        "for": FOR_OWNER,
        "records": len(jobs),
        "of": len(known.confidential.rows),
        "method": known.ready.disclose.method,
        "model": known.ready.disclose.risk.model,
        "measure": known.ready.disclose.utility.measure,
        "frontiers": frontiers,
        "anonymous": _anonymous(known, jobs),
    }


def _sample(known: ReadyToExplain, most: int) -> Ints:
    """Return some distinct records, or none if all lattices are too large."""
    n_rows = len(known.confidential.rows)
    rng = np.random.default_rng(_SEED)
    order = rng.permutation(n_rows) if n_rows > most else np.arange(n_rows)
    jobs: list[int] = []
    n_nodes = 0
    for job in known.problems.kind[order].tolist():
        size = lattice_size(known, job)
        if size > CUBE_UP_TO:
            continue
        n_nodes += size
        if len(jobs) == most or (n_nodes > MOST_NODES and len(jobs) >= 20):
            break
        jobs.append(job)
    if not jobs:
        raise SettingError(
            "Every record has too many generalisations to examine all of them.",
            where="attributes",
            do="Drop attributes, or give taxonomies of fewer levels, to see the plane.",
        )
    return np.array(jobs, dtype=np.int64)


def _record(known: ReadyToExplain, job: int) -> dict[str, object]:
    landscape = known.landscape(job)
    risk, utility = landscape.risks().reshape(-1), landscape.utilities().reshape(-1)
    steps = Frontier(risk, utility)
    facts: dict[str, object] = {
        "before": {
            "risk": float(landscape.risk(landscape.lattice.bottom)),
            "utility": float(landscape.utility(landscape.lattice.bottom)),
        },
        "aruba": {"risk": steps.risk.tolist(), "utility": steps.utility.tolist()},
    }
    if known.ready.disclose.risk.model == 3:
        return facts
    hidden = _hidden(known, landscape)
    best = _undominated(-hidden, utility)
    return {
        **facts,
        "tkde": {
            "hidden": hidden[best].tolist(),
            "risk": risk[best].tolist(),
            "utility": utility[best].tolist(),
        },
    }


def _hidden(known: ReadyToExplain, landscape: RecordLandscape) -> Floats:
    """Return |ρ| / Φ of every generalisation, over the dictionary's size [TKDE, Eq. (2)]."""
    disclose = known.ready.disclose
    floor = float(disclose.floor) if isinstance(disclose, AggregateDisclose) else 1.0
    parts = landscape.severity_parts
    severity = np.full(landscape.lattice.shape, floor + (1.0 if parts is None else 0.0))
    if parts is not None:
        severity = severity + landscape.lattice.totals(parts)
    matches = landscape.counter.cube() / max(known.confidential.dictionary.n_records, 1)
    hidden: Floats = (matches / np.maximum(severity, 1e-12)).reshape(-1)
    return hidden


def _undominated(cost: Floats, utility: Floats) -> Ints:
    """Return the generalisations with less cost than all that are at least as useful."""
    order = np.lexsort((cost, -utility))
    least = np.minimum.accumulate(cost[order])
    better = np.concatenate([[True], least[1:] < least[:-1]])
    kept: Ints = order[better]
    return kept


def _anonymous(known: ReadyToExplain, jobs: Ints) -> list[dict[str, float]]:
    """Return the positions of the same records in k-anonymous tables."""
    forms = UniformForms(
        ready=known.ready, confidential=known.confidential, problems=known.problems
    )
    if not forms.searchable:
        return []
    cost: Cost = "height" if known.ready.measure == "depth" else "ncp"
    found = []
    for k, form in forms.anonymous(ANONYMITIES, cost=cost).items():
        valued = forms.valued(form)
        found.append(
            {
                "k": k,
                "risk": float(valued.risk[jobs].mean()),
                "utility": float(valued.utility[jobs].mean()),
            }
        )
    return found
