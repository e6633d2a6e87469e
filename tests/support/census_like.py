"""A table like the census extracts that people hold: 42 columns, most of them codes and lists.

Seeded, made of nothing but dice. One person in sixteen earns much; most questions do not apply to
most people ("Not in universe"); a survey weight stands in the middle, as it does in such files.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

UNIVERSE = "Not in universe"
EDUCATION = [
    "Children",
    "Less than 1st grade",
    "5th or 6th grade",
    "9th grade",
    "10th grade",
    "12th grade no diploma",
    "High school graduate",
    "Some college but no degree",
    "Associates degree-academic program",
    "Bachelors degree(BA AB BS)",
    "Masters degree(MA MS MEng MEd MSW MBA)",
    "Doctorate degree(PhD EdD)",
]
COUNTRIES = ["United-States", "Mexico", "Germany", "Philippines", "Cuba", "India", "Italy", "?"]
REGIONS = ["South", "West", "Midwest", "Northeast", UNIVERSE]

NUMBERS = {
    *("age", "wage per hour", "capital gains", "capital losses", "dividends from stocks"),
    *("num persons worked for employer", "weeks worked in year"),
}
EITHER = {"year", "own business or self employed", "veterans benefits"}
"""Few whole numbers: a list of them does as well as bounds."""

LEFT_OUT = {"instance weight"}
CLASS = "taxable income"


def census_columns(n: int, seed: int) -> dict[str, list[str]]:
    """Return the columns by name, as texts."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(3.2, 11, n), 0, 90).astype(int)
    is_adult = age >= 16
    works = is_adult & (rng.random(n) < np.where(age < 65, 0.75, 0.15))
    level = np.where(is_adult, np.clip(rng.normal(6.6, 2.2, n), 1, 11), 0).astype(int)
    weeks = np.where(works, np.where(rng.random(n) < 0.75, 52, rng.integers(1, 52, n)), 0)
    occupation = np.where(works, np.clip(level * 3 + rng.integers(0, 12, n), 1, 46), 0)
    gains = np.where(rng.random(n) < 0.04, rng.choice([3103, 5178, 7298, 15024, 99999], n), 0)
    male = rng.random(n) < 0.48
    strength = (
        -8.6
        + 0.65 * level
        + 1.5 * (weeks > 48)
        + 1.2 * male
        + 2.5 * (gains > 5000)
        + 0.9 * (age > 38)
        - 6.0 * ~works
    )
    rich = rng.random(n) < 1 / (1 + np.exp(-1.8 * strength))

    def pick(values: list[str], share: list[float] | None = None) -> np.ndarray:
        return rng.choice(np.array(values, dtype=object), n, p=share)

    def applies(mask: np.ndarray, values: np.ndarray, other: str = UNIVERSE) -> np.ndarray:
        return np.where(mask, values, other)

    status = pick(["Never married", "Married-civilian spouse present", "Divorced", "Widowed"])
    moved = rng.random(n) < 0.5
    columns: dict[str, np.ndarray] = {
        "age": age,
        "class of worker": applies(
            works, pick(["Private", "Local government", "State government", "Self-employed"])
        ),
        "detailed industry recode": np.where(works, rng.integers(1, 52, n), 0),
        "detailed occupation recode": occupation,
        "education": np.array(EDUCATION, dtype=object)[level],
        "wage per hour": np.where(works & (rng.random(n) < 0.12), rng.integers(400, 3000, n), 0),
        "enroll in edu inst last wk": applies(
            (age > 15) & (age < 25), pick(["High school", "College or university"])
        ),
        "marital stat": applies(is_adult, status, "Never married"),
        "major industry code": applies(
            works,
            pick(
                [
                    "Retail trade",
                    "Construction",
                    "Education",
                    "Finance",
                    "Manufacturing",
                    "Hospital",
                ]
            ),
            "Not in universe or children",
        ),
        "major occupation code": applies(
            works, pick(["Sales", "Professional specialty", "Executive admin", "Other service"])
        ),
        "race": pick(
            ["White", "Black", "Asian or Pacific Islander", "Other"], [0.83, 0.1, 0.05, 0.02]
        ),
        "hispanic origin": pick(
            ["All other", "Mexican-American", "Puerto Rican", "NA"], [0.86, 0.1, 0.03, 0.01]
        ),
        "sex": np.where(male, "Male", "Female"),
        "member of a labor union": applies(works & (rng.random(n) < 0.1), pick(["No", "Yes"])),
        "reason for unemployment": applies(
            rng.random(n) < 0.03, pick(["Job loser - on layoff", "Re-entrant", "New entrant"])
        ),
        "full or part time employment stat": np.where(
            works, "Full-time schedules", "Children or Armed Forces"
        ),
        "capital gains": gains,
        "capital losses": np.where(rng.random(n) < 0.02, rng.integers(200, 4000, n), 0),
        "dividends from stocks": np.where(rng.random(n) < 0.1, rng.integers(1, 20000, n), 0),
        "tax filer stat": np.where(works, pick(["Joint both under 65", "Single"]), "Nonfiler"),
        "region of previous residence": applies(rng.random(n) < 0.08, pick(REGIONS[:4])),
        "state of previous residence": applies(
            rng.random(n) < 0.08, pick(["California", "Utah", "Florida", "Abroad", "?"])
        ),
        "detailed household and family stat": applies(
            is_adult,
            pick(["Householder", "Spouse of householder", "Nonfamily householder"]),
            "Child <18 never marr not in subfamily",
        ),
        "detailed household summary": pick(
            ["Householder", "Child under 18 never married", "Spouse"]
        ),
        "instance weight": np.round(rng.gamma(3, 580, n) + 40, 2),
        "migration code-change in msa": applies(moved, pick(["Nonmover", "MSA to MSA"]), "?"),
        "migration code-change in reg": applies(moved, pick(["Nonmover", "Same county"]), "?"),
        "migration code-move within reg": applies(moved, pick(["Nonmover", "Same county"]), "?"),
        "live in this house 1 year ago": applies(
            moved, pick(["Yes", "No"], [0.9, 0.1]), "Not in universe under 1 year old"
        ),
        "migration prev res in sunbelt": applies(moved, pick(["Yes", "No"]), "?"),
        "num persons worked for employer": np.where(works, rng.integers(1, 7, n), 0),
        "family members under 18": applies(
            ~is_adult, pick(["Both parents present", "Mother only present"])
        ),
        "country of birth father": pick(COUNTRIES, [0.8, 0.06, 0.03, 0.02, 0.02, 0.02, 0.02, 0.03]),
        "country of birth mother": pick(COUNTRIES, [0.8, 0.06, 0.03, 0.02, 0.02, 0.02, 0.02, 0.03]),
        "country of birth self": pick(COUNTRIES, [0.88, 0.04, 0.02, 0.01, 0.01, 0.01, 0.01, 0.02]),
        "citizenship": pick(
            ["Native- Born in the United States", "Foreign born- Not a citizen of U S "], [0.9, 0.1]
        ),
        "own business or self employed": rng.choice(3, n, p=[0.9, 0.02, 0.08]),
        "fill inc questionnaire for veteran's admin": applies(
            rng.random(n) < 0.02, pick(["Yes", "No"])
        ),
        "veterans benefits": np.where(is_adult, rng.choice([1, 2], n, p=[0.02, 0.98]), 0),
        "weeks worked in year": weeks,
        "year": rng.choice([94, 95], n),
        CLASS: np.where(rich, "50000+.", "- 50000."),
    }
    return {name: [str(value) for value in values] for name, values in columns.items()}


def write_census(path: Path, n: int = 20_000, seed: int = 42) -> dict[str, str]:
    """Write the table, its fields apart by a comma and a blank; return what each column is."""
    columns = census_columns(n, seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            file.write(", ".join(row) + "\r\n")
    kinds = dict.fromkeys(columns, "listed")
    kinds |= dict.fromkeys(NUMBERS, "number") | dict.fromkeys(EITHER, "either")
    return kinds | dict.fromkeys(LEFT_OUT, "out")
