"""All figures that can be run again, by their ids."""

from __future__ import annotations

import re

from experiments import (
    aruba_figures,
    diffgen,
    diffmulti_figures,
    diffmulti_other_figures,
    diffpart_figures,
    diffpart_growth,
    supermodular_figures,
)
from experiments.figure import PAGES, Figure
from hedgerow.errors import SettingError

_MODULES = (
    diffgen,
    diffpart_figures,
    diffpart_growth,
    diffmulti_figures,
    diffmulti_other_figures,
    aruba_figures,
    supermodular_figures,
)


def _place(figure: Figure) -> tuple[int, int, str]:
    """Return where a figure stands: by paper, then by number, what has none last."""
    name = figure.id.partition("-")[2]
    number = re.match(r"\d+", name)
    return list(PAGES).index(figure.paper), int(number[0]) if number else 10**6, name


FIGURES: dict[str, Figure] = {
    figure.id: figure
    for figure in sorted((one for module in _MODULES for one in module.FIGURES), key=_place)
}
"""The figures in the order of the papers."""


def figure_of(name: str) -> Figure:
    """Return a figure by its id."""
    try:
        return FIGURES[name]
    except KeyError:
        raise SettingError(
            f"there is no figure {name!r}",
            where="papers",
            do=f"Give 'all' or one of: {', '.join(FIGURES)}.",
        ) from None


def chosen_figures(name: str) -> list[Figure]:
    """Return all figures, those of a paper by its key, or one by its id."""
    if name == "all":
        return list(FIGURES.values())
    of_paper = [figure for figure in FIGURES.values() if figure.paper.lower() == name.lower()]
    return of_paper or [figure_of(name)]
