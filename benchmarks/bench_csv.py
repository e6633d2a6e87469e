"""Processor time to read a large CSV file, with the compiled reader and without it.

Run as ``python benchmarks/bench_csv.py [RECORDS]``; the file is Adult-like, 15 columns, and is
removed afterwards. Each way is run once to load its libraries, then three times.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from adult_like import write
from hedgerow.read.open import open_table


def seconds(path: Path, *, compiled: bool) -> float:
    """Return the processor time of one reading of all columns."""
    with patch("hedgerow.read.delimited.blocks_compiled", lambda n_bytes: compiled):
        source = open_table(path)
        start = time.process_time()
        for _ in source.batches(source.columns):
            pass
        return time.process_time() - start


def main() -> None:
    """Print the least of three runs for either way."""
    n_records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "adult.csv"
        write(path, n_records)
        print(f"{n_records:,} records, {path.stat().st_size / 1e6:.0f} MB")
        for compiled in (False, True):
            seconds(path, compiled=compiled)
            least = min(seconds(path, compiled=compiled) for _ in range(3))
            print(f"{'compiled' if compiled else 'Arrow':>8}: {least:.2f} s of processor time")


if __name__ == "__main__":
    main()
