"""Run one of our own methods on a table of the benchmark; started by run.py.

Run as ``python own_tool.py TABLE OUT.npz METHOD EPSILON SEED``. OUT gets the codes of records
drawn from the release. Prints processor seconds and megabytes as JSON, those of starting Python
and reading the table left out of the seconds.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for the experiments

from peer_tables import peer_table

from experiments.tables import split
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.evaluation.placing import drawn
from hedgerow.model.run import Run
from hedgerow.plan.registry import METHODS
from hedgerow.privacy.source import SeededSource


def main() -> None:
    name, target, method, epsilon, seed = sys.argv[1:]
    train, _ = split(peer_table(name), int(seed))
    settings = METHODS[method].model_validate({"method": method, "epsilon": epsilon})
    began = time.process_time()
    groups = settings.build(has_class=True).publish(
        Run.start(
            MemoryEngine(table=train), epsilon=Fraction(epsilon), source=SeededSource(int(seed))
        )
    )
    records = drawn(groups, train.schema, seed=int(seed))
    seconds = time.process_time() - began
    if records.classes is None:
        raise SystemExit("the release has no class")
    np.savez_compressed(target, codes=np.stack([*records.codes, records.classes], axis=1))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"seconds": seconds, "megabytes": usage.ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
