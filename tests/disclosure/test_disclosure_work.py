"""Work is estimated before it begins; progress is told in records and in time."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from hedgerow.disclosure.confidential import Problems, read_confidential
from hedgerow.disclosure.disclose import disclose
from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.prepare import prepare_disclosure
from hedgerow.disclosure.work import TooLongError, Watch, expected_seconds, forms_of
from hedgerow.errors import SettingError
from hedgerow.progress import no_progress
from support.disclosure_tables import METHODS, patients, plan


def problems_of(section, n=40):
    ready = prepare_disclosure(plan(**section))
    given = read_confidential(ready, patients(n), None, progress=no_progress)
    return ready, Problems.of(ready, given)


def test_forms_are_the_nodes_of_each_lattice():
    ready, problems = problems_of(METHODS["aruba"])
    found = forms_of(ready, problems)
    for job in range(len(problems)):
        codes = [int(column[job]) for column in problems.records.codes]
        assert found[job] == Lattice.of(codes, ready.chains).n_nodes


def test_searches_are_estimated_and_other_methods_tell_by_themselves():
    ready, problems = problems_of(METHODS["aruba"])
    one, two = (expected_seconds(ready, problems, cores) for cores in (1, 2))
    assert np.allclose(one, 2 * two)
    assert (one > 0).all()
    ready, problems = problems_of(METHODS["brute-force"])
    assert np.allclose(*(expected_seconds(ready, problems, cores) for cores in (1, 2)))
    for name in ("aggregate", "approx", "branch-and-bound"):
        assert expected_seconds(*problems_of(METHODS[name]), 2) is None


def test_a_run_that_would_take_too_long_is_refused_before_it_begins(tmp_path):
    with pytest.raises(TooLongError, match="longer than 1e-09 hours") as caught:
        disclose(plan(), data=patients(), out=tmp_path / "out", hours=1e-9)
    assert caught.value.exit_code == 2
    assert "aggregate" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SettingError, match="hours"):
        disclose(plan(), data=patients(), out=tmp_path / "out", hours=0)
    assert list(tmp_path.iterdir()) == []


def ticking(step: float):
    ticks = count()
    return lambda: next(ticks) * step


def test_progress_is_told_in_records_and_in_time():
    told: list[tuple[str, float | None]] = []
    watch = Watch(
        many=np.array([3.0, 1.0, 1.0, 5.0]),
        seconds=np.array([100.0, 100.0, 50.0, 50.0]),
        hours=1,
        progress=lambda step, part: told.append((step, part)),
        clock=ticking(20.0),
    )
    assert watch.block(0, 120.0, 64) == 1
    assert watch.block(0, 220.0, 64) == 2
    assert watch.block(0, 1.0, 64) == 1
    watch.tell(0)
    watch.tell(1)
    assert told[0] == ("solving, 0 of 10 records, about 5 minutes left", 0.0)
    assert told[1][0].startswith("solving, 3 of 10 records, about")
    assert told[1][1] == 0.3


def test_a_run_that_proves_too_slow_is_refused_on_the_way_and_keeps_its_answers():
    watch = Watch(
        many=np.ones(1000), seconds=None, hours=1, progress=no_progress, clock=ticking(30.0)
    )
    watch.tell(0)
    assert watch.left(0) is None
    watch.tell(1)  # the first block says nothing: programs are loaded in it
    with pytest.raises(TooLongError):
        watch.tell(2)


def test_a_whole_run_tells_its_records():
    told: list[str] = []
    disclose(plan(), data=patients(90), progress=lambda step, part: told.append(step))
    assert any(step.startswith("solving, 0 of 90 records") for step in told)


def test_many_attributes_begin_with_few_records_at_a_time():
    ready, problems = problems_of(METHODS["aruba"])
    seconds = np.full(len(problems), 5.0)
    watch = Watch(
        many=problems.many.astype(np.float64), seconds=seconds, hours=6, progress=no_progress
    )
    assert watch.block(0, 2.0, 64) == 1
    assert len(ready.chains) == 3
