"""Records follow the published marginals inside the ranges of their boxes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from hedgerow.errors import InternalError, ReleaseError
from hedgerow.privacy.source import SeededSource
from hedgerow.release.marginals import marginals_from, marginals_text
from hedgerow.release.records import weighted_codes
from hedgerow.release.release import Release

FALSE_ALARM = 1e-6  # chance that a correct sampler would fail under a fresh seed
DRAWS = 60_000

WEIGHTS = np.array([[1.0, 0.0], [2.5, 3.0], [0.0, 1.0], [4.0, 0.0], [0.5, 0.0], [1e3, 7.0]])


class FixedSource:
    """A source that says the same word over and over."""

    reproducible = True

    def __init__(self, word: int) -> None:
        self.word = word

    def words(self, n: int) -> np.ndarray:
        return np.full(n, self.word, dtype=np.uint64)


def drawn(first: int, stop: int, *, of_class: int = 0, weights=WEIGHTS, seed: int = 11):
    firsts, stops = (np.full(DRAWS, end, np.int32) for end in (first, stop))
    classes = np.full(DRAWS, of_class, np.int32)
    return weighted_codes(firsts, stops, weights, classes=classes, source=SeededSource(seed))


def fit(codes, expected):
    observed = np.bincount(codes, minlength=len(WEIGHTS))
    assert (observed[expected == 0] == 0).all()
    kept = expected > 0
    return chisquare(observed[kept], DRAWS * expected[kept] / expected.sum()).pvalue


@pytest.mark.parametrize(
    ("first", "stop", "of_class"), [(0, 5, 0), (1, 5, 0), (2, 5, 0), (0, 3, 1), (1, 6, 1)]
)
def test_values_are_drawn_in_proportion_to_their_weight_in_the_range(first, stop, of_class):
    inside = np.zeros(len(WEIGHTS))
    inside[first:stop] = WEIGHTS[first:stop, of_class]
    codes = drawn(first, stop, of_class=of_class)
    assert fit(codes, inside) > FALSE_ALARM
    # Negative control: the test must notice a weight that is a fifth too large.
    wrong = inside.copy()
    wrong[np.flatnonzero(wrong)[0]] *= 1.2
    assert fit(codes, wrong) < FALSE_ALARM


def test_a_range_without_weight_is_uniform():
    codes = drawn(3, 5, of_class=1)
    observed = np.bincount(codes, minlength=6)[3:5]
    assert chisquare(observed).pvalue > FALSE_ALARM


def test_one_column_serves_all_classes():
    for of_class in (0, 1):
        codes = drawn(0, 5, of_class=of_class, weights=WEIGHTS[:, :1])
        expected = np.append(WEIGHTS[:5, 0], 0.0)
        assert fit(codes, expected) > FALSE_ALARM


@pytest.mark.parametrize("word", [0, 2**64 - 1, 2**63])
def test_the_ends_of_the_unit_interval_stay_in_the_range_and_meet_no_empty_value(word):
    first = np.array([0, 2, 1, 0, 3], np.int32)
    stop = np.array([3, 5, 3, 1, 6], np.int32)
    classes = np.array([0, 0, 0, 0, 1], np.int32)
    codes = weighted_codes(first, stop, WEIGHTS, classes=classes, source=FixedSource(word))
    assert ((codes >= first) & (codes < stop)).all()
    assert (WEIGHTS[codes, classes] > 0).all()


def test_tiny_weights_beside_large_ones_stay_in_their_ranges():
    weights = np.array([[1e18], [1e-9], [0.3], [1e17], [0.1]])
    first = np.tile(np.array([1, 2, 4, 0], np.int32), 500)
    stop = np.tile(np.array([3, 5, 5, 2], np.int32), 500)
    codes = weighted_codes(first, stop, weights, classes=None, source=SeededSource(2))
    assert ((codes >= first) & (codes < stop)).all()


@pytest.fixture
def marginals(schema):
    rng = np.random.default_rng(4)
    age, job = (each.domain.size for each in schema.attributes)
    return (np.round(rng.exponential(50, (age, 2))), rng.exponential(1 / 3, (job, 1)))


def test_marginals_survive_the_folder_and_so_does_the_law_of_the_records(
    release, marginals, tmp_path
):
    release = replace(release, groups=replace(release.groups, marginals=marginals))
    written = release.write(tmp_path / "release", records=True, source=SeededSource(9))
    assert "marginals.json" in written.files
    again = Release.load(tmp_path / "release")
    for mine, yours in zip(again.groups.marginals, marginals, strict=True):
        assert np.array_equal(mine, yours)
    one, other = (each.records(source=SeededSource(5)) for each in (release, again))
    assert one.equals(other)


def test_a_release_without_marginals_has_no_such_file(release, tmp_path):
    assert "marginals.json" not in release.write(tmp_path / "release").files
    assert Release.load(tmp_path / "release").groups.marginals is None


def test_marginals_that_were_changed_or_lost_are_refused(release, marginals, tmp_path):
    replace(release, groups=replace(release.groups, marginals=marginals)).write(tmp_path / "out")
    path = tmp_path / "out" / "marginals.json"
    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
    with pytest.raises(ReleaseError, match="not the one"):
        Release.load(tmp_path / "out")
    path.unlink()
    with pytest.raises(ReleaseError, match="cannot be read"):
        Release.load(tmp_path / "out")


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.update({"format-version": 9}),
        lambda facts: facts["attributes"].pop(),
        lambda facts: facts["attributes"].reverse(),
        lambda facts: facts["attributes"][0]["weights"][0].pop(),
        lambda facts: facts["attributes"][1]["weights"][0].pop(),
        lambda facts: facts["attributes"][0]["weights"][0].__setitem__(0, -1),
        lambda facts: facts["attributes"][0]["weights"].append(
            facts["attributes"][0]["weights"][0]
        ),
    ],
)
def test_a_file_that_holds_no_marginals_is_refused(schema, marginals, change):
    facts = json.loads(marginals_text(schema, marginals))
    assert facts["classes"] == ["<=50K", ">50K"]
    assert len(marginals_from(json.dumps(facts), schema)) == 2
    change(facts)
    with pytest.raises(ReleaseError, match="not marginals"):
        marginals_from(json.dumps(facts), schema)


def test_weights_that_are_no_weights_are_not_written(schema, marginals):
    for wrong in (np.nan, np.inf, -1.0):
        age = marginals[0].copy()
        age[3, 0] = wrong
        with pytest.raises(InternalError, match="negative or infinite weights"):
            marginals_text(schema, (age, marginals[1]))
