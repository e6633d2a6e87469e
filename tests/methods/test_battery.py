"""One battery for every method that publishes tables: ledger, determinism, order, shape."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.methods.diffgen.diffgen import DiffGen
from hedgerow.methods.diffmulti.clusters import CLUSTERS
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.methods.diffmulti.scores import multi_score
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.trees.box_scores import BOX_SCORES
from hedgerow.trees.scores import SCORES
from support.method_battery import (
    EPSILONS,
    check_budget,
    check_other_seeds,
    check_ranges,
    check_same_seed,
)
from support.tables import encoded_tables

METHODS = {
    **{
        f"diffgen {score} {'faithful' if faithful else 'improved'}": DiffGen(
            specialisations=4, score=SCORES[score], faithful=faithful
        )
        for score in SCORES
        for faithful in (False, True)
        if not (faithful and score == "gini")
    },
    "diffgen to the leaves": DiffGen(specialisations=None, score=SCORES["max"], faithful=False),
    **{
        f"diffgen auto {'faithful' if faithful else 'improved'}": DiffGen(
            specialisations="auto", score=SCORES["max"], faithful=faithful
        )
        for faithful in (False, True)
    },
    **{f"hedge {score}": Hedge(score=BOX_SCORES[score]) for score in BOX_SCORES},
    **{
        f"diffmulti {score} {'faithful' if faithful else 'improved'}": DiffMulti(
            specialisations=12,
            score=multi_score(score, faithful=faithful),
            fair=True,
            depth=None,
            faithful=faithful,
        )
        for score in ("discernibility", "ncp", "max", "infogain")
        for faithful in (False, True)
    },
    **{
        f"diffmulti clusters {'faithful' if faithful else 'improved'}": DiffMulti(
            specialisations=12, score=CLUSTERS, fair=True, depth=None, faithful=faithful, clusters=3
        )
        for faithful in (False, True)
    },
}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))


@every_method
@settings(max_examples=25)
@given(
    table=encoded_tables(),
    epsilon=st.sampled_from(EPSILONS),
    seed=st.integers(0, 2**32),
)
def test_no_path_exceeds_epsilon_and_none_falls_short(method, table, epsilon, seed):
    check_budget(method, table, epsilon=epsilon, seed=seed)


@every_method
def test_the_same_seed_gives_the_same_release_whatever_counts_the_records(method, monkeypatch):
    check_same_seed(method, monkeypatch)


@every_method
def test_another_seed_gives_another_release(method):
    check_other_seeds(method)


@every_method
def test_boxes_hold_whole_ranges_of_their_domains(method):
    check_ranges(method, tile=True)
