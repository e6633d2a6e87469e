"""A release in a scikit-learn pipeline."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import hedgerow
from hedgerow.errors import DataError
from hedgerow.release.release import load_recoding

PLAN = {
    "attributes": {
        "age": {"numeric": [0, 99]},
        "ward": {"values": ["A", "B", "C"]},
        "ill": {"role": "class", "values": ["no", "yes"]},
    },
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "hedge", "epsilon": 8},
}
WIDTH = "its width is that of the release, not that of the rows it is fitted with"
EXPECTED = {
    "check_fit_score_takes_y": WIDTH,
    "check_dont_overwrite_parameters": WIDTH,
    "check_positive_only_tag_during_fit": WIDTH,
    "check_estimators_dtypes": WIDTH,
    "check_pipeline_consistency": WIDTH,
    "check_estimators_pickle": WIDTH,
    "check_f_contiguous_array_estimator": WIDTH,
    "check_transformer_general": WIDTH,
    "check_methods_sample_order_invariance": WIDTH,
    "check_methods_subset_invariance": WIDTH,
    "check_fit2d_1sample": WIDTH,
    "check_fit2d_1feature": WIDTH,
    "check_dict_unchanged": WIDTH,
    "check_fit_idempotent": "its labels are texts, which have no difference",
}


def rows(n: int = 2000) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    age = rng.integers(0, 100, n)
    ill = np.where(age > 60, "yes", "no")
    return pd.DataFrame({"age": age, "ward": rng.choice(list("ABC"), n), "ill": ill})


@pytest.fixture(scope="module")
def made():
    return hedgerow.publish(PLAN, data=rows(), seed=2)


def test_a_recipient_s_pipeline_takes_two_lines(made):
    drawn = made.records().to_pandas()
    model = make_pipeline(hedgerow.Generaliser(made), OneHotEncoder(), DecisionTreeClassifier())
    model.fit(drawn, drawn["ill"])
    raw = rows(500)
    assert (model.predict(raw) == raw["ill"]).mean() > 0.9


def test_it_gives_what_generalise_gives_in_every_kind_of_table(made):
    raw = rows(50)
    wanted = hedgerow.generalise(made, raw).drop_columns("ill").to_pylist()
    one = hedgerow.Generaliser(made).fit(raw)
    frame = one.transform(raw.set_index(np.arange(50) + 7))
    assert frame.index[0] == 7
    assert frame.to_dict("records") == wanted
    assert one.transform(pl.from_pandas(raw)).to_dicts() == wanted
    assert one.transform(pa.Table.from_pandas(raw)).to_pylist() == wanted
    array = one.transform(raw[["age", "ward"]].to_numpy())
    assert [dict(zip(("age", "ward"), row, strict=True)) for row in array.tolist()] == wanted
    assert one.get_feature_names_out().tolist() == ["age", "ward"]


def test_rows_that_the_release_leaves_out_keep_their_place(made):
    raw = pd.DataFrame({"age": [30.0, None, 70.0], "ward": ["A", "B", None]})
    found = hedgerow.Generaliser(made).fit().transform(raw)
    assert len(found) == 3
    assert found["age"].notna().tolist() == [True, False, False]
    assert found.iloc[1].tolist() == [None, None]


def test_a_folder_and_a_recoding_will_do_and_nothing_is_learnt_from_rows(made, tmp_path):
    made.write(tmp_path / "release")
    raw = rows(20)
    texts = [
        hedgerow.Generaliser(given).fit(raw.iloc[:n]).transform(raw).to_csv()
        for given in (made, tmp_path / "release", load_recoding(tmp_path / "release"))
        for n in (1, 20)
    ]
    assert len(set(texts)) == 1


def test_rows_count_one_by_one_and_it_can_be_copied_and_kept(made):
    raw = rows(30)
    one = hedgerow.Generaliser(made).fit(raw)
    whole = one.transform(raw)
    assert whole.iloc[::-1].equals(one.transform(raw.iloc[::-1]))
    assert pd.concat([one.transform(raw.iloc[[at]]) for at in range(30)]).equals(whole)
    assert pickle.loads(pickle.dumps(one)).transform(raw).equals(whole)
    assert clone(one).fit(raw).transform(raw).equals(whole)
    one.set_output(transform="pandas")
    assert one.transform(raw[["age", "ward"]].to_numpy()).columns.tolist() == ["age", "ward"]


def test_what_cannot_be_done_is_told(made):
    with pytest.raises(NotFittedError):
        hedgerow.Generaliser(made).transform(rows(2))
    one = hedgerow.Generaliser(made).fit()
    with pytest.raises(DataError, match="needs 2 columns"):
        one.transform(np.zeros((3, 5)))
    with pytest.raises(DataError):
        one.transform(pd.DataFrame({"age": [1], "ward": ["Z"]}))


def test_it_passes_the_checks_of_scikit_learn_that_make_sense(made):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            hedgerow.Generaliser(made), expected_failed_checks=EXPECTED, on_fail="raise"
        )
    status = {each["check_name"]: each["status"] for each in found}
    assert sum(each == "passed" for each in status.values()) >= 20
    assert {name for name, each in status.items() if each == "xfail"} == set(EXPECTED)
