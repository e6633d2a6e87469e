"""How far estimates of unique people are from the truth, on populations that are known.

``PYTHONPATH=. python benchmarks/population_unique.py`` takes Adult (and, where they are found, the
excerpts of NIST) as populations, draws samples of several fractions and compares Pitman's estimate
with the number of people who are unique in the population.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow.csv as csv
import pyarrow.parquet as parquet

from hedgerow.evaluation.distinct import row_numbers
from hedgerow.risks.raw.population import fit_pitman

DATA = Path(os.environ.get("HEDGEROW_DATA", "../shared/data"))
FRACTIONS = (0.01, 0.05, 0.1, 0.5)
RUNS = 5


def populations() -> dict[str, list[np.ndarray]]:
    """Return the columns of each population, as codes."""
    import hedgerow

    adult = Path(hedgerow.__file__).parent / "demo" / "adult"
    tables = {"Adult": parquet.read_table(next(iter(sorted(adult.glob("*.parquet")))))}
    for name in ("ma2019", "tx2019"):
        file = next(iter(sorted(DATA.glob(f"nist/**/{name}*.csv*"))), None)
        if file is not None:
            tables[name] = csv.read_csv(file)
    chosen = {
        "Adult": ["age", "education", "occupation", "race", "sex", "native-country"],
        "ma2019": ["AGEP", "SEX", "RAC1P", "MSP", "EDU", "PUMA"],
        "tx2019": ["AGEP", "SEX", "RAC1P", "MSP", "EDU", "PUMA"],
    }
    return {
        name: [
            np.unique(
                np.asarray(table.column(column).cast("string").fill_null("")), return_inverse=True
            )[1]
            for column in chosen[name]
        ]
        for name, table in tables.items()
    }


def main() -> None:
    """Print a table: truth, mean estimate and the largest error of several samples."""
    rng = np.random.default_rng(7)
    print("| population | people | unique | share in the table | estimate | largest error |")
    print("|---|---|---|---|---|---|")
    for name, columns in populations().items():
        group, _ = row_numbers(columns)
        sizes = np.bincount(group)
        truth = int((sizes == 1).sum())
        for fraction in FRACTIONS:
            found = []
            for _ in range(RUNS):
                sample = group[rng.random(len(group)) < fraction]
                fit = fit_pitman(np.bincount(sample), fraction=fraction)
                if fit is not None:
                    found.append(fit.unique)
            error = max(abs(each - truth) / truth for each in found)
            mean = np.mean(found)
            people = f"{name} | {len(group):,} | {truth:,}"
            print(f"| {people} | {fraction:.0%} | {mean:,.0f} | {error:.0%} |")


if __name__ == "__main__":
    main()
