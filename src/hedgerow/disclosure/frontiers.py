"""Frontiers of some records, to move thresholds over: the plane of both papers, live.

[ARUBA, Figs. 1 and 2] ask for the least risk at a utility, or the most utility at a risk;
[TKDE, Fig. 1(a)] for the best sum of both. Whatever is asked, only forms that no other form beats
in both can win, and these few are all that is kept. Everything here is confidential.
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
) -> dict[str, Any]:
    """Return the frontiers of some records, drawn evenly. Confidential: for the owner alone.

    ``aruba`` are the forms of each record that have the least risk at their utility, ``tkde``
    those with the most matches per severity, by which the aggregate model judges.
    """
    known = ReadyToExplain.of(
        plan, data=data, against=against, progress=progress, settings=settings
    )
    if known.ready.disclose.risk.consistency != "hierarchical":
        raise SettingError(
            "forms that look alike have no frontier that could be drawn soon",
            where="disclose.risk.consistency",
            do="Set consistency: hierarchical to see the plane.",
        )
    jobs = _sample(known, most_records)
    told = []
    for at, job in enumerate(jobs.tolist()):
        progress("frontiers", at / len(jobs))
        told.append(_record(known, job))
    return {
        "for": FOR_OWNER,
        "records": len(jobs),
        "of": len(known.given.rows),
        "method": known.ready.disclose.method,
        "model": known.ready.disclose.risk.model,
        "measure": known.ready.disclose.utility.measure,
        "frontiers": told,
        "anonymous": _anonymous(known, jobs),
    }


def _sample(known: ReadyToExplain, most: int) -> Ints:
    """Return some records, by what they are; none where all lattices are too large."""
    n_rows = len(known.given.rows)
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
            "every record has too many forms to look at all of them",
            where="attributes",
            do="Drop attributes, or give taxonomies of fewer levels, to see the plane.",
        )
    return np.array(jobs, dtype=np.int64)


def _record(known: ReadyToExplain, job: int) -> dict[str, Any]:
    landscape = known.landscape(job)
    risk, utility = landscape.risks().reshape(-1), landscape.utilities().reshape(-1)
    steps = Frontier(risk, utility)
    told = {
        "before": {
            "risk": float(landscape.risk(landscape.lattice.bottom)),
            "utility": float(landscape.utility(landscape.lattice.bottom)),
        },
        "aruba": {"risk": steps.risk.tolist(), "utility": steps.utility.tolist()},
    }
    if known.ready.disclose.risk.model == 3:
        return told
    hidden = _hidden(known, landscape)
    best = _undominated(-hidden, utility)
    return {
        **told,
        "tkde": {
            "hidden": hidden[best].tolist(),
            "risk": risk[best].tolist(),
            "utility": utility[best].tolist(),
        },
    }


def _hidden(known: ReadyToExplain, landscape: RecordLandscape) -> Floats:
    """Return |ρ| / Φ of every form, over the size of the dictionary [TKDE, Eq. (2)]."""
    disclose = known.ready.disclose
    floor = float(disclose.floor) if isinstance(disclose, AggregateDisclose) else 1.0
    parts = landscape.severity_parts
    severity = np.full(landscape.lattice.shape, floor + (1.0 if parts is None else 0.0))
    if parts is not None:
        severity = severity + landscape.lattice.totals(parts)
    matches = landscape.counter.cube() / max(known.given.dictionary.n_records, 1)
    hidden: Floats = (matches / np.maximum(severity, 1e-12)).reshape(-1)
    return hidden


def _undominated(cost: Floats, utility: Floats) -> Ints:
    """Return the forms that have less cost than all that are as useful."""
    order = np.lexsort((cost, -utility))
    least = np.minimum.accumulate(cost[order])
    better = np.concatenate([[True], least[1:] < least[:-1]])
    kept: Ints = order[better]
    return kept


def _anonymous(known: ReadyToExplain, jobs: Ints) -> list[dict[str, Any]]:
    """Return where k-anonymous tables put the same records."""
    forms = UniformForms(ready=known.ready, given=known.given, problems=known.problems)
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
