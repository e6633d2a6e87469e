"""Run MST or AIM of dpmm on a table of codes; started by run.py in an environment of its own.

Run as ``python dpmm_tool.py IN.npz OUT.npz mst|aim EPSILON SEED``. IN has ``codes`` (records,
columns) and ``sizes``, the public domain of each column; OUT gets the synthetic codes, as many
records as IN. Settings are dpmm's own defaults, delta 1e-5 among them; no preprocessing, since
the columns are discrete. Prints processor seconds and megabytes as JSON.
"""

from __future__ import annotations

import json
import resource
import sys

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.mst import MSTGM
from dpmm.pipelines.base import GenerativePipeline

MODELS = {"mst": MSTGM, "aim": AIMGM}
DELTA = 1e-5


def main() -> None:
    source, target, model, epsilon, seed = sys.argv[1:]
    with np.load(source) as file:
        codes, sizes = file["codes"], file["sizes"]
    names = [f"c{at}" for at in range(len(sizes))]
    frame = pd.DataFrame(codes, columns=names)
    pipeline = GenerativePipeline(
        gen=MODELS[model](epsilon=float(epsilon), delta=DELTA, n_jobs=1), proc=None
    )
    domain = dict(zip(names, (int(size) for size in sizes), strict=True))
    pipeline.fit(frame, domain=domain, random_state=int(seed))
    drawn = pipeline.generate(n_records=len(frame), random_state=int(seed))
    np.savez_compressed(target, codes=drawn[names].to_numpy().astype(np.int64))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = usage.ru_utime + usage.ru_stime
    print(json.dumps({"seconds": seconds, "megabytes": usage.ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
