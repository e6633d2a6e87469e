"""What private disclosure books, and that rates, thresholds and sizes are those of its claim."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from hedgerow.disclosure.private import sample, supermodular, truthful
from hedgerow.disclosure.private.loose import level_threshold
from hedgerow.disclosure.private.sampling import amplified_epsilon
from hedgerow.disclosure.private.synopsis import SIZE, Synopsis
from hedgerow.disclosure.private.truthful_delta import smallest_group
from hedgerow.model import run as model_run
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from support.audited import audited_subjects

ONE = Fraction(1)
RATE = Fraction(1, 3)


def named(name):
    return next(each for each in audited_subjects(ONE) if each.name.split(",")[0] == name)


def run(subject, method):
    """A release of the subject's first table, and the shares that it booked, by what for."""
    ledger = PathLedger(ONE)
    engine = subject.over[0].engine(has_record=True)
    groups = method.publish(Run(engine=engine, epsilon=ONE, ledger=ledger, source=SeededSource(1)))
    assert ledger.settled()
    return groups, {line.on: line.share for line in ledger.bookings}


@pytest.mark.parametrize("name", ["supermodular", "truthful"])
def test_the_synopsis_gets_its_share_and_cells_are_offered_by_the_plans_threshold(
    name, monkeypatch
):
    seen, layers = [], Synopsis.layers

    def noting(self, *, threshold):
        seen.append((threshold, self.share))
        return layers(self, threshold=threshold)

    monkeypatch.setattr(Synopsis, "layers", noting)
    subject = named(name)
    method = replace(subject.method, threshold=7)
    _, booked = run(subject, method)
    assert seen == [(7, booked["counts by levels"])]
    assert booked["number of records"] == method.share * SIZE
    rest = "counts" if name == "supermodular" else "sample"
    assert booked[rest] == 1 - method.share


@pytest.mark.parametrize("name", ["supermodular", "truthful"])
def test_records_are_kept_at_the_rate_that_the_claim_is_made_for(name, monkeypatch):
    subject, rates = named(name), []
    module = supermodular if name == "supermodular" else truthful
    kept_of_each = module.kept_of_each

    def noting(many, *, rate, source):
        rates.append(rate)
        return kept_of_each(many, rate=rate, source=source)

    monkeypatch.setattr(module, "kept_of_each", noting)
    method = replace(subject.method, rate=RATE)
    groups, booked = run(subject, method)
    assert rates == [RATE]
    if name == "supermodular":
        assert booked == {"all steps on a secret sample": 1}
        inner = amplified_epsilon(ONE, RATE)
        assert groups.origin.share == inner * (1 - method.share)


def test_the_smallest_truthful_group_is_that_of_the_rate_and_the_samples_share():
    method = named("truthful").method
    expected = smallest_group(
        rate=method.rate_for(ONE), epsilon=1 - method.share, delta=method.delta_given
    )
    assert method.smallest_for(ONE) == expected


def test_counts_of_supermodular_are_listed_from_the_threshold_of_their_share(monkeypatch):
    subject, asked = named("supermodular"), []
    counted = model_run.noisy_sparse_counts

    def noting(keys, counts, *, n_groups, threshold, spending):
        asked.append((n_groups, threshold))
        return counted(keys, counts, n_groups=n_groups, threshold=threshold, spending=spending)

    monkeypatch.setattr(model_run, "noisy_sparse_counts", noting)
    monkeypatch.setattr(supermodular, "level_threshold", told := Told())
    run(subject, subject.method)
    ((n_groups, threshold),) = asked
    assert told.given["epsilon"] == 1 - subject.method.share
    assert threshold == level_threshold(n_groups, **told.given)


class Told:
    """The rule of the threshold, which notes what it was asked."""

    def __call__(self, n_groups, **given):
        self.given = given
        return level_threshold(n_groups, **given)


def test_an_outline_reckons_with_the_threshold_of_the_counts_share(monkeypatch):
    subject = named("supermodular")
    monkeypatch.setattr(supermodular, "level_threshold", told := Told())
    subject.method.outline(subject.over[0].schema, ONE)
    assert told.given["epsilon"] == 1 - subject.method.share


def test_the_printed_sample_books_epsilon_and_proves_its_delta_for_it(monkeypatch):
    subject, seen = named("sample"), []
    proved_delta = sample.proved_delta

    def noting(settings):
        seen.append(settings.epsilon)
        return proved_delta(settings)

    monkeypatch.setattr(sample, "proved_delta", noting)
    _, booked = run(subject, subject.method)
    assert booked == {"algorithm 2": 1}
    subject.method.delta(subject.over[0].schema, ONE)
    assert seen == [1]
