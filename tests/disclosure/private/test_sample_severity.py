"""Severity of a generalisation is bounded by what no possible record exceeds."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow.disclosure.private.sample import _severity_bounds


@pytest.mark.parametrize(("factors", "most"), [(None, 7.5), (np.array([1.0, 3.0]), 21.5)])
def test_the_largest_factor_multiplies_the_largest_severities(factors, most):
    worth = SimpleNamespace(severity=[np.array([0.0, 2.0]), np.array([1.0, 5.0])], floor=0.5)
    assert _severity_bounds(SimpleNamespace(worth=worth, factors=factors)) == (0.5, most)


def test_without_severities_every_generalisation_has_severity_1():
    worth = SimpleNamespace(severity=None, floor=0.5)
    assert _severity_bounds(SimpleNamespace(worth=worth, factors=None)) == (1.0, 1.0)
