"""The public set-valued data sets, from the folder HEDGEROW_DATA or ../shared/data."""

from __future__ import annotations

import gzip
import os
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from hedgerow.model.baskets import EncodedBaskets, item_dtype, offsets_of
from hedgerow.taxonomy.builders import context_free
from hedgerow.taxonomy.tree import Taxonomy

FOLDER = Path(
    os.environ.get(
        "HEDGEROW_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    )
)
FILES = {
    "msnbc": "msnbc/msnbc990928.seq.gz",
    "fruithut": "set-valued/fruithut.dat.gz",
    "bms-webview-2": "set-valued/bms-webview-2.dat.gz",
    "retail": "set-valued/retail.dat.gz",
}
MSNBC_HEADER = 7


@cache
def lines(name: str) -> list[str]:
    """Return the lines of a data set, its header left out."""
    with gzip.open(FOLDER / FILES[name], "rt", encoding="ascii") as file:
        every = file.read().splitlines()
    return every[MSNBC_HEADER if name == "msnbc" else 0 :]


@cache
def records(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths of the records and their item numbers, increasing and distinct."""
    sets = [sorted(set(map(int, line.split()))) for line in lines(name) if line.strip()]
    flat = np.fromiter((item for each in sets for item in each), dtype=np.int64)
    return np.array([len(each) for each in sets]), flat


def context_free_of(name: str, *, fan_out: int = 10) -> Taxonomy:
    """Return the context-free taxonomy of a data set's items, by number."""
    return context_free([str(i) for i in np.unique(records(name)[1])], fan_out=fan_out)


def real_taxonomy(name: str) -> Taxonomy:
    """Return the hierarchy that comes with fruithut or bms-webview-2."""
    if name == "fruithut":
        text = (FOLDER / "hierarchies/fruithut/taxonomy.txt").read_text(encoding="ascii")
        pairs = dict(line.split(",") for line in text.split())
    else:
        pairs = {}
        path = FOLDER / "hierarchies/bms-webview-2/treefile_BMS.txt.gz"
        with gzip.open(path, "rt", encoding="ascii") as file:
            for line in file:
                way = line.strip().split(";")
                pairs.update(pairwise(way))
    items = {str(i) for i in np.unique(records(name)[1])}
    pairs = {child: parent for child, parent in pairs.items() if child != parent}
    kept = set(items)
    while above := {pairs[label] for label in kept if label in pairs} - kept:
        kept |= above
    labels = ["all items", *sorted(kept, key=lambda label: (len(label), label))]
    number = {label: i for i, label in enumerate(labels)}
    parents = [-1, *(number.get(pairs.get(label, ""), 0) for label in labels[1:])]
    return Taxonomy.from_parents(labels, parents)


def encoded(name: str, taxonomy: Taxonomy) -> EncodedBaskets:
    """Return a data set as codes of a taxonomy."""
    lengths, flat = records(name)
    numbers = np.unique(flat)
    code = np.array([taxonomy.leaf_code[str(i)] for i in numbers])
    codes = code[np.searchsorted(numbers, flat)]
    owners = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((codes, owners))
    return EncodedBaskets(
        taxonomy=taxonomy,
        offsets=offsets_of(lengths),
        items=codes[order].astype(item_dtype(taxonomy.n_leaves)),
    )
