"""The compiled aggregate model answers as the plain one, record for record."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.lattice import Lattice, parts_of, total
from hedgerow.disclosure.lattice.risk import Severities
from hedgerow.disclosure.lattice.utility import utility_tables
from hedgerow.disclosure.solvers.aggregate import best_in_cube
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective
from hedgerow.disclosure.solvers.cubes import AggregateSettings, best_of_records
from hedgerow.errors import SettingError
from hedgerow.model.table import EncodedTable
from support.tables import grid, schema_of, values

SCHEMA = schema_of(values(9, fan_out=3), values(4, fan_out=2), grid(12), values(3), classes=None)


def random_table(seed: int, n_records: int) -> EncodedTable:
    rng = np.random.default_rng(seed)
    sizes = [attribute.domain.size for attribute in SCHEMA.attributes]
    codes = [(rng.random(n_records) ** 3 * size).astype(np.int64) for size in sizes]
    return EncodedTable.from_codes(SCHEMA, codes)


@pytest.mark.parametrize("measure", ["depth", "lm"])
@pytest.mark.parametrize("power", [0, 1, 2, 1.5])
@pytest.mark.parametrize("weighed", [True, False])
def test_the_compiled_search_answers_as_the_plain_one(measure, power, weighed):
    table = random_table(31, 80)
    dictionary = Dictionary.of(random_table(32, 200))
    utility = utility_tables(measure, dictionary.chains)
    personal = np.random.default_rng(33).random((80, 4))
    severities = Severities.of(dictionary.chains, personal=personal if weighed else None)
    for risk_weight in (0.001, 0.03, 0.2):
        settings = AggregateSettings(
            risk_weight=risk_weight, power=power, floor=0.5, weighed=weighed
        )
        found = best_of_records(
            table.codes,
            dictionary,
            settings,
            utility=utility,
            weights=severities.tables,
            personal=severities.personal,
            workers=2,
        )
        for job in range(0, 80, 3):
            codes = [int(column[job]) for column in table.codes]
            lattice = Lattice.of(codes, dictionary.chains)
            weights = severities.parts(codes, lattice, job)
            objective = AggregateObjective(
                lattice=lattice,
                utility_parts=parts_of(codes, utility, lattice),
                severity_parts=weights if weighed else None,
                risk_weight=risk_weight,
                power=power,
                floor=0.5,
            )
            counter = dictionary.matches(codes)
            best = best_in_cube(objective, counter.cube())
            assert tuple(found.levels[job]) == best.node
            assert found.n_matches[job] == counter.count(best.node)
            assert found.utility[job] == total(objective.utility_parts, best.node)
            assert found.severity[job] == pytest.approx(total(weights, best.node))
            assert found.n_nodes[job] == lattice.n_nodes


def test_weights_without_a_floor_are_refused():
    with pytest.raises(SettingError, match="floor"):
        AggregateSettings(risk_weight=1, power=1, floor=0, weighed=True)
    assert AggregateSettings(risk_weight=1, power=1, floor=0, weighed=False).constant == 1
