"""What protecting people costs: bounds on their records, counted as records and as people.

Run as ``python benchmarks/people.py [diabetes|visits] [--splits N] [--method NAME]``.

- ``diabetes``: diabetes-130 with `patient_nbr`, 101,766 encounters of 71,518 patients. Two thirds
  of the patients are published; a tree is tested on the encounters of the others.
- ``visits``: a made-up table in the manner of MSNBC, a million page visits of 100,000 people
  whose numbers of visits have a long tail; the class is whether a visit is on the front page.

Accuracy on all records of the other people and on one record of each; beside it the mean
total-variation error of single values, against records or, where people are counted, people.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import numpy as np
import polars as pl

import hedgerow
from diabetes import PLAN, diabetes_table
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.evaluation.classification import release_accuracies
from hedgerow.evaluation.marginals import marginal_errors
from hedgerow.model.table import EncodedTable
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table

SETTINGS: list[dict[str, Any]] = [
    {},
    *({"records-per-person": m, "count": "records"} for m in (1, 2, 4, 8, "auto")),
    *({"records-per-person": m, "count": "people"} for m in (1, 2, 4, 8)),
]

PAGES = ["frontpage", "news", "tech", "local", "opinion", "on-air", "misc", "weather", "sports"]
VISITS: dict[str, Any] = {
    "attributes": {
        "hour": {"numeric": [0, 23]},
        "before": {"values": ["start", *PAGES]},
        "seconds": {"numeric": [0, 600], "step": 10},
        "weekday": {"values": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]},
        "page": {"values": PAGES},
        "stayed": {"role": "class", "values": ["no", "yes"]},
    },
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "hedge", "epsilon": 1},
}


def visits(n_people: int = 100_000, seed: int = 1) -> pl.DataFrame:
    """Return visits of people, ten each on average with a long tail; tastes differ."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(rng.zipf(1.6, n_people), 500)
    sizes = np.maximum(1, np.round(sizes * 10 * n_people / sizes.sum())).astype(np.int64)
    who = np.repeat(np.arange(n_people), sizes)
    taste = rng.dirichlet(np.full(len(PAGES), 0.4), n_people).cumsum(axis=1)
    page = (rng.random(len(who))[:, None] > taste[who]).sum(axis=1).clip(0, len(PAGES) - 1)
    first = np.concatenate([[True], who[1:] != who[:-1]])
    before = np.where(first, 0, np.concatenate([[0], page[:-1]]) + 1)
    seconds = np.minimum(rng.gamma(1.5, 30 + 15 * page), 600).astype(np.int64)
    hour = ((who * 7919) % 24 + rng.integers(-2, 3, len(who))) % 24
    chance = 1 / (1 + np.exp(-(seconds / 60 - 1.2 + 0.8 * (page == 0) - 0.6 * (before == 0))))
    names = np.array(["start", *PAGES])
    return pl.DataFrame(
        {
            "patient_nbr": who,
            "hour": hour,
            "before": names[before],
            "seconds": seconds,
            "weekday": np.array(VISITS["attributes"]["weekday"]["values"])[(who + hour) % 7],
            "page": names[page + 1],
            "stayed": np.where(rng.random(len(who)) < chance, "yes", "no"),
        }
    )


def encoded(frame: pl.DataFrame, plan: dict[str, Any]) -> EncodedTable:
    """Return a frame as codes."""
    return encode_table(open_table(frame), schema_of(plan_of(plan)))


def one_each(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return one record of every person, drawn by lot."""
    return frame.sample(fraction=1, shuffle=True, seed=seed).unique("patient_nbr", keep="first")


def measured(frame: pl.DataFrame, plan: dict[str, Any], split: int) -> tuple[float, ...]:
    """Return accuracies on records and on people, the error of single values, and the bound."""
    people = frame["patient_nbr"].unique().sort()
    chosen = np.random.default_rng(split).random(len(people)) < 2 / 3
    training = frame["patient_nbr"].is_in(people.filter(chosen).implode())
    train, test = frame.filter(training), frame.filter(~training)
    release = hedgerow.publish(plan, data=train, seed=split)
    bare = {key: value for key, value in plan.items() if key in ("attributes", "missing")}
    found = [
        release_accuracies(release.groups, test=encoded(each, bare), learners=("tree",))["tree"]
        for each in (test, one_each(test, split))
    ]
    counted = one_each(train, split) if plan.get("count") == "people" else train
    error = marginal_errors(release.groups, encoded(counted, bare), ways=1).mean
    person = release.certificate.guarantee.person
    return *found, error, 0 if person is None else person.records


def main() -> None:
    """Print a line for each bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", choices=["diabetes", "visits"], default="diabetes")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--method", default="hedge")
    parser.add_argument("--epsilon", default="1")
    given = parser.parse_args()
    frame, base = (diabetes_table(), PLAN) if given.data == "diabetes" else (visits(), VISITS)
    print("bound  counted   on records  on people  1-way TV  bound kept")
    for setting in SETTINGS:
        person = {"protects": None, "person": "patient_nbr", **setting} if setting else {}
        plan = {**base, **person, "publish": {"method": given.method, "epsilon": given.epsilon}}
        found = list(
            zip(*(measured(frame, plan, split) for split in range(given.splits)), strict=True)
        )
        records, everybody, error, kept = (statistics.mean(each) for each in found)
        bound, counted = setting.get("records-per-person", "-"), setting.get("count", "-")
        print(
            f"{bound!s:>5}  {counted:<8}  {records:10.2%}  {everybody:9.2%}  {error:8.4f}"
            f"  {kept:10.1f}"
        )


if __name__ == "__main__":
    main()
