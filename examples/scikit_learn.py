"""A classifier that learns from a release and is asked about raw rows, beside one that saw all."""

from __future__ import annotations

import pandas as pd
from place import working_folder
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import hedgerow
from hedgerow.demo import lay_out

folder = working_folder()
lay_out(folder / "adult", force=True)  # the demonstration's plan, taxonomies, and the data in two
release = hedgerow.publish(folder / "adult" / "plan.yaml", out=folder / "release")

# Rows drawn from the release are generalised by its boxes, and so is every row that is asked about.
drawn = release.records().to_pandas()
model = make_pipeline(
    hedgerow.Generaliser(release),
    OneHotEncoder(handle_unknown="ignore"),
    DecisionTreeClassifier(min_samples_leaf=20),
).fit(drawn.drop(columns="income"), drawn["income"])

raw, held_out = (
    pd.read_parquet(folder / "adult" / f"adult-{part}.parquet").dropna()
    for part in ("train", "test")
)
numbers = [name for name in raw if name != "income" and raw[name].dtype.kind in "if"]
texts = [name for name in raw if name not in (*numbers, "income")]
ceiling = make_pipeline(
    make_column_transformer(
        ("passthrough", numbers), (OneHotEncoder(handle_unknown="ignore"), texts)
    ),
    DecisionTreeClassifier(min_samples_leaf=20),
).fit(raw.drop(columns="income"), raw["income"])

asked, truth = held_out.drop(columns="income"), held_out["income"]
print(f"most frequent class: {truth.value_counts(normalize=True).max():.1%}")
print(f"from the release:    {model.score(asked, truth):.1%}")
print(f"from raw records:    {ceiling.score(asked, truth):.1%}")
