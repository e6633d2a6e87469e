"""The set-valued data that the experiments run on: MSNBC, and a stand-in for STM.

The STM transit data are not public. In their place stands fruithut, the public set nearest
in shape, with records drawn at random, again and again, up to the number that STM has.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.figure import Scene
from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.universe import universe_of
from hedgerow.model.baskets import EncodedBaskets, item_dtype, offsets_of
from hedgerow.plan.load import plan_of
from hedgerow.read.items import open_items
from hedgerow.taxonomy.builders import context_free

MSNBC = "msnbc/msnbc990928.seq.gz"
FRUITHUT = "set-valued/fruithut.dat.gz"
FRUITHUT_ITEMS = "hierarchies/fruithut/taxonomy.txt"
BASKET_FILES = (MSNBC, FRUITHUT, FRUITHUT_ITEMS)

STM_RECORDS = 1_210_096
QUICK_RECORDS = 4_000
SAMPLE_SEED = 2011


@cache
def msnbc(scene: Scene, *, fan_out: int = 10) -> EncodedBaskets:
    """Return MSNBC as sets of the 17 categories: 989,818 records."""
    baskets = _read(_folder(scene), MSNBC, {"universe": [1, 17], "as": "sets"}, header=7)
    return regrouped(_short(baskets, scene), fan_out=fan_out)


@cache
def transit(scene: Scene, *, fan_out: int = 10) -> EncodedBaskets:
    """Return the stand-in for STM: fruithut, drawn up to 1,210,096 records of 1,265 items."""
    baskets = _read(_folder(scene), FRUITHUT, {"taxonomy": FRUITHUT_ITEMS})
    size = scene.pick(full=STM_RECORDS, quick=QUICK_RECORDS)
    return regrouped(drawn_sample(baskets, size), fan_out=fan_out)


DATA = {"MSNBC": msnbc, "STM": transit}
"""The data sets by the names that the figures give them."""


def _folder(scene: Scene) -> Path:
    if scene.folder is None:
        raise FileNotFoundError(MSNBC)
    return scene.folder


def _read(folder: Path, name: str, items: dict[str, object], *, header: int = 0) -> EncodedBaskets:
    plan = plan_of({"items": items, "reading": {"header": header}}, base=folder)
    universe = universe_of(plan)
    source = open_items(folder / name, universe.place, reading=plan.how_to_read())
    return encode_baskets(source, universe)


def _short(baskets: EncodedBaskets, scene: Scene) -> EncodedBaskets:
    return part_of(baskets, QUICK_RECORDS, seed=SAMPLE_SEED) if scene.quick else baskets


def chosen_sets(baskets: EncodedBaskets, records: NDArray[np.int64]) -> EncodedBaskets:
    """Return some records, perhaps several times."""
    lengths = baskets.lengths[records]
    offsets = offsets_of(lengths)
    places = np.arange(offsets[-1]) + np.repeat(baskets.offsets[records] - offsets[:-1], lengths)
    return EncodedBaskets(taxonomy=baskets.taxonomy, offsets=offsets, items=baskets.items[places])


def drawn_sample(baskets: EncodedBaskets, size: int) -> EncodedBaskets:
    """Return that many records, drawn with replacement."""
    rng = np.random.default_rng(SAMPLE_SEED)
    return chosen_sets(baskets, rng.integers(0, len(baskets), size))


def part_of(baskets: EncodedBaskets, size: int, *, seed: int) -> EncodedBaskets:
    """Return that many different records, in their order."""
    rng = np.random.default_rng(seed)
    which = rng.choice(len(baskets), min(size, len(baskets)), replace=False)
    return chosen_sets(baskets, np.sort(which))


def regrouped(baskets: EncodedBaskets, *, fan_out: int) -> EncodedBaskets:
    """Return the same sets over a context-free taxonomy of their items."""
    labels = [str(i) for i in range(baskets.taxonomy.n_leaves)]
    taxonomy = context_free(labels, fan_out=fan_out)
    return EncodedBaskets(taxonomy=taxonomy, offsets=baskets.offsets, items=baskets.items)


def with_limit(baskets: EncodedBaskets, n_items: int, size: int) -> EncodedBaskets:
    """Return that many records over a random part of the universe.

    As in [DiffPart, Sec. 5.2]: records lose the items outside, empty ones are left out, and
    the number of records is the same for every universe; here by drawing with replacement.
    """
    n_leaves = baskets.taxonomy.n_leaves
    kept = np.sort(np.random.default_rng(SAMPLE_SEED).permutation(n_leaves)[:n_items])
    number = np.full(n_leaves, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    codes = number[baskets.items]
    owners = np.repeat(np.arange(len(baskets)), baskets.lengths)[codes >= 0]
    lengths = np.bincount(owners, minlength=len(baskets))
    fewer = EncodedBaskets(
        taxonomy=context_free([str(i) for i in range(n_items)], fan_out=10),
        offsets=offsets_of(lengths[lengths > 0]),
        items=codes[codes >= 0].astype(item_dtype(n_items)),
    )
    return drawn_sample(fewer, size)
