"""A record is in exactly one cell of every table that it belongs to, at any size a plan allows.

What a mechanism may claim of a table rests on this. A new kernel fails here until it has cases.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import replace

import numpy as np
import pytest

import hedgerow.count
import hedgerow.methods
from hedgerow.model.engine import BasketBatch, Batch, FoldedBaskets, SparseCounts
from support.kernel_cases import CASES

GIVEN = {"Batch", "BasketBatch", "FoldedBaskets", "SequenceBatch"}


def package_classes():
    """Yield all classes of the rooms that count, and of all methods."""
    for package in (hedgerow.count, hedgerow.methods):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for _, each in inspect.getmembers(module, inspect.isclass):
                if each.__module__ == module.__name__:
                    yield each


def is_kernel(each):
    """Whether a class counts a batch of records."""
    count = each.__dict__.get("count")
    if not inspect.isfunction(count):
        return False
    parameters = list(inspect.signature(count).parameters.values())[1:]
    return len(parameters) == 1 and str(parameters[0].annotation) in GIVEN


def test_every_kernel_has_cases():
    found = {each for each in package_classes() if is_kernel(each)}
    assert found == set(CASES)


def counted_cells(kernel, given):
    """Return the cells that are not 0, by number."""
    counted = kernel.count(given)
    if isinstance(counted, SparseCounts):
        return dict(zip(counted.keys.tolist(), counted.counts.tolist(), strict=True))
    assert counted.dtype == np.int64
    assert counted.shape == (kernel.size,)
    places = np.flatnonzero(counted)
    return dict(zip(places.tolist(), counted[places].tolist(), strict=True))


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("kernel", CASES, ids=lambda each: each.__name__)
def test_one_record_is_in_the_cells_that_brute_force_says_and_in_no_other(kernel, compiled):
    n_cases = 0
    for case in CASES[kernel]():
        n_cases += 1
        cells = counted_cells(case.kernel, case.given(compiled))
        if case.lots is None:
            assert cells == case.cells
        else:
            assert len(cells) == case.lots
            assert cells.items() <= case.cells.items()
    assert n_cases > 3


COPIES = 11  # compiled loops take several records at a time, and the rest one by one


def repeated(given):
    """Return a batch of the same record several times."""
    if isinstance(given, Batch):
        classes = None if given.classes is None else np.tile(given.classes, COPIES)
        codes = tuple(np.tile(column, COPIES) for column in given.codes)
        return replace(given, codes=codes, classes=classes, n_records=COPIES)
    offsets = np.arange(COPIES + 1) * given.offsets[-1]
    several = replace(given, offsets=offsets, items=np.tile(given.items, COPIES))
    if isinstance(several, BasketBatch):
        partition = np.tile(several.partition, COPIES)
        several = replace(several, partition=partition, weights=None)
    return several


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("kernel", CASES, ids=lambda each: each.__name__)
def test_equal_records_add_up_in_the_same_cells(kernel, compiled):
    for case in CASES[kernel]():
        given = case.given(compiled)
        if isinstance(given, FoldedBaskets):  # equal records are one row there
            return
        cells = counted_cells(case.kernel, repeated(given))
        assert cells == dict.fromkeys(case.cells, COPIES)
