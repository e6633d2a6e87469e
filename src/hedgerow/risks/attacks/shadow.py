"""Shadow releases: the same method on public tables, to learn what reveals membership.

The attacker knows how the release was made. Tables are simulated from the public domains alone,
half of each is released in the same way, and the weights of the membership scores are learnt from
these releases.

Privacy: the confidential data are not read; nothing is booked.
"""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import HedgerowError
from hedgerow.evaluation.placing import rows_of
from hedgerow.model.certificate import Certificate
from hedgerow.model.groups import Groups
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.pipeline.simulate import simulated_table
from hedgerow.plan.registry import METHODS
from hedgerow.privacy.source import SeededSource
from hedgerow.progress import Done, unheard
from hedgerow.risks.attacks.membership import (
    ScoreWeights,
    pair_differences,
    score_weights,
    standardised_scores,
)
from hedgerow.risks.attacks.rows import (
    attacked_columns,
    code_table,
    rows_of_groups,
    rows_of_records,
)
from hedgerow.risks.attacks.table_traces import TableAims, table_traces

MOST_RECORDS = 5_000
"""Maximum number of records of a table for shadow releases."""

PAIRS = 300
"""Number of pairs of each shadow release from which weights are learnt."""


def shadow_weights(
    certificate: Certificate | None,
    schema: Schema,
    *,
    n_records: int,
    shadows: int,
    with_class: bool,
    seed: int,
    done: Done = unheard,
) -> ScoreWeights | str:
    """Return weights of the scores learnt from shadow releases, or why there are none."""
    if shadows == 0:
        return "shadow releases were turned off"
    if certificate is None or certificate.method.name not in METHODS:
        return "the way in which the release was made is unknown"
    if n_records > MOST_RECORDS:
        return f"shadow releases are made for tables of up to {MOST_RECORDS:,} records"
    differences = []
    for at in range(shadows):
        table = simulated_table(schema, 2 * n_records, seed=1000 * seed + at)
        try:
            learnt = _differences(certificate, table, with_class=with_class, seed=seed + at)
        except (HedgerowError, ValueError):
            return "the method cannot be run again with the settings of the certificate"
        differences.append(learnt)
        done((at + 1) / shadows)
    return score_weights(np.concatenate(differences))


def _differences(
    certificate: Certificate, table: EncodedTable, *, with_class: bool, seed: int
) -> Any:
    half = len(table) // 2
    inside = rows_of(table, np.arange(half))
    groups = _released(certificate, inside, seed)
    columns = attacked_columns(table, with_class=with_class)
    codes = code_table(table, with_class=with_class)
    pairs = min(PAIRS, half // 2)
    targets = np.concatenate([codes[:pairs], codes[half : half + pairs]])
    known = codes[half + pairs :][: 3 * PAIRS]
    reference = rows_of_records(known, columns, weight=half / max(len(known), 1))
    aims = TableAims.of(len(columns), sensitive=(), seed=seed)
    traces = table_traces(rows_of_groups(groups, columns, seed=seed), targets, reference, aims)
    return pair_differences(standardised_scores(traces.scores))


def _released(certificate: Certificate, table: EncodedTable, seed: int) -> Groups:
    """Return the method's release of a table that is not secret."""
    epsilon: Fraction | None = certificate.guarantee.epsilon
    person = certificate.guarantee.person
    if epsilon is not None and person is not None and person.counted == "records":
        epsilon /= person.records
    settings = {**certificate.method.settings, "method": certificate.method.name}
    model = METHODS[certificate.method.name].model_validate(settings, by_alias=True)
    method: Any = model.build(has_class=table.classes is not None)
    source = SeededSource(seed)
    with closing(MemoryEngine(table=table)) as engine:
        if epsilon is None:
            groups: Groups = method.publish(engine, source=source)
        else:
            groups = method.publish(Run.start(engine, epsilon=epsilon, source=source))
    return groups
