"""The utility of a generalised record: a sum over attributes, each falling with its level.

The measures of [ARUBA, Sec. IV-A]. A *loss* is subtracted from 1 per attribute, so that a record of
``k`` attributes and loss ``L`` has utility ``k - L``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Chains
from hedgerow.errors import SettingError

Measure: TypeAlias = Literal["depth", "leaves", "log-leaves", "lm", "xiao-tao"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

MEASURE_NAMED: dict[str, Measure] = {
    "depth": "depth",
    "leaves": "leaves",
    "log": "log-leaves",
    "lm": "lm",
    "xiao-tao": "xiao-tao",
}
"""Measures by their names in plans."""


def utility_tables(measure: Measure, chains: Sequence[Chains]) -> tuple[NDArray[np.float64], ...]:
    """Return the utility of every level above every code, one table per attribute.

    With ``n`` the leaves below the node that is disclosed and ``m`` those of the taxonomy:

    - ``depth``: the steps from the node up to the root [ARUBA, Def. 1];
    - ``leaves``: ``1 / n`` [ARUBA, Eq. (5)];
    - ``log-leaves``: ``ln(m / n)`` [ARUBA, Eq. (6)];
    - ``lm``: ``1 - (n - 1) / (m - 1)``, from Iyengar's loss metric;
    - ``xiao-tao``: ``1 - (n - 1) / m``, from the loss of Xiao and Tao.

    >>> from hedgerow.taxonomy.domain import CategoricalDomain
    >>> from hedgerow.taxonomy.tree import Taxonomy
    >>> jobs = Taxonomy.from_nested("Any", {"Indoor": ["office", "shop"], "Outdoor": ["farm"]})
    >>> (table,) = utility_tables("leaves", [Chains.of(CategoricalDomain(taxonomy=jobs))])
    >>> table[0].round(2).tolist()
    [1.0, 0.5, 0.33]
    """
    if measure not in _MEASURES:
        raise SettingError(
            f"{measure!r} is not a measure of utility.",
            where="utility > measure",
            do=f"Choose one of: {', '.join(MEASURES)}.",
        )
    return tuple(_MEASURES[measure](chain) for chain in chains)


def _depth(chain: Chains) -> NDArray[np.float64]:
    steps = chain.heights[:, None].astype(np.float64) - np.arange(chain.tallest + 1)
    return np.maximum(steps, 0)


def _leaves(chain: Chains) -> NDArray[np.float64]:
    return 1 / chain.n_leaves


def _log_leaves(chain: Chains) -> NDArray[np.float64]:
    return np.log(chain.taxonomy.n_leaves / chain.n_leaves)


def _lm(chain: Chains) -> NDArray[np.float64]:
    # With a single leaf nothing can be lost.
    return 1 - (chain.n_leaves - 1) / max(chain.taxonomy.n_leaves - 1, 1)


def _xiao_tao(chain: Chains) -> NDArray[np.float64]:
    return 1 - (chain.n_leaves - 1) / chain.taxonomy.n_leaves


_MEASURES: dict[Measure, Callable[[Chains], NDArray[np.float64]]] = {
    "depth": _depth,
    "leaves": _leaves,
    "log-leaves": _log_leaves,
    "lm": _lm,
    "xiao-tao": _xiao_tao,
}
