"""A release as a step of a scikit-learn pipeline: raw rows in, the release's labels out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.encode.table import encode_accompanied
from hedgerow.errors import DataError, MissingExtraError
from hedgerow.read.open import open_table
from hedgerow.release.generalise import recoding_of, schema_for
from hedgerow.release.recoding import Recoding

if TYPE_CHECKING:
    import pyarrow as pa

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtraError("The scikit-learn transformer", extra="evaluate") from error


class Generaliser(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transformer of scikit-learn that generalises rows as a release does.

    Fitting reads the release and learns nothing from the rows. Train a model that will be
    applied to raw rows on `Release.records`.

    Parameters
    ----------
    release : Release, Recoding or path, default="release"
        The release, its folder or its recoding.

    Notes
    -----
    Privacy: none is added. The result is as confidential as the rows.

    Rows are a dataframe with the release's attributes (other columns are ignored), or an array
    with one column per attribute in the release's order; the result is the same kind of table,
    with labels. A row that the release would drop because of a missing value gets ``None``.

    Examples
    --------
    >>> import hedgerow
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]},
    ...                        "ill": {"role": "class", "values": ["no", "yes"]}},
    ...         "protects": "records", "confirmed": True,
    ...         "publish": {"method": "hedge", "epsilon": 4}}
    >>> import pyarrow as pa
    >>> rows = pa.table({"age": [20, 70] * 500, "ill": ["no", "yes"] * 500})
    >>> release = hedgerow.publish(plan, data=rows, seed=1)
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> drawn = release.records().to_pandas()
    >>> model = make_pipeline(hedgerow.Generaliser(release), OneHotEncoder(handle_unknown="ignore"),
    ...                       DecisionTreeClassifier()).fit(drawn, drawn["ill"])
    >>> model.predict(rows.to_pandas()[:2]).tolist()
    ['no', 'yes']

    """

    def __init__(self, release: Any = "release") -> None:
        self.release = release

    def fit(self, X: Any = None, y: Any = None) -> Generaliser:  # noqa: N803
        """Read the release; of ``X``, only the column names are used."""
        self.recoding_: Recoding = recoding_of(self.release)
        if X is not None:
            self.n_features_in_ = len(self._named(X).column_names)
            if hasattr(X, "columns"):
                self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Return the rows with the labels of the release, as the same kind of table."""
        check_is_fitted(self, "recoding_")
        rows = self._named(X)
        source = open_table(rows)
        schema = replace(schema_for(source, self.recoding_.schema), class_attribute=None)
        found = encode_accompanied(source, schema, numbers=())
        labels = self.recoding_.apply(found.table)
        return _like(X, _in_place(labels, found.rows, rows.num_rows))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the release's attributes."""
        check_is_fitted(self, "recoding_")
        return np.array([each.name for each in self.recoding_.schema.attributes], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = True
        tags.no_validation = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _named(self, rows: Any) -> pa.Table:
        """Return rows as an Arrow table with named columns."""
        import narwhals as nw
        import pyarrow as pa

        if isinstance(rows, pa.Table):
            return rows
        if hasattr(rows, "columns"):
            return nw.from_native(rows, eager_only=True).to_arrow()
        if hasattr(rows, "toarray"):
            raise TypeError("Sparse data was given, but a dataframe or a dense array is needed.")
        names = [each.name for each in self.recoding_.schema.attributes]
        values = np.asarray(rows)
        if values.ndim != 2 or values.shape[1] != len(names):
            raise DataError(
                f"An array of rows needs {len(names)} columns, one per attribute of the release.",
                where="rows",
                do="Give a dataframe with the names of the release's attributes, or all of them"
                " in the release's order.",
            )
        columns = [pa.array(values[:, at].tolist(), from_pandas=True) for at in range(len(names))]
        return pa.table(columns, names=names)


def _in_place(labels: pa.Table, rows: NDArray[np.int64], n_rows: int) -> pa.Table:
    """Return labels as texts in the rows they belong to, and null in rows that were dropped."""
    import pyarrow as pa

    places = np.full(n_rows, -1, dtype=np.int64)
    places[rows] = np.arange(len(rows))
    taken = pa.array(places, mask=places < 0)
    texts = [column.combine_chunks().cast(pa.string()).take(taken) for column in labels.columns]
    return pa.table(texts, names=labels.column_names)


def _like(rows: Any, labels: pa.Table) -> Any:
    """Return labels as the same kind of table as the rows."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(rows, pa.Table):
        return labels
    if not hasattr(rows, "columns"):
        columns = [np.array(column.to_pylist(), dtype=object) for column in labels.columns]
        return np.stack(columns, axis=1)
    backend = nw.get_native_namespace(nw.from_native(rows))
    table = nw.from_arrow(labels, backend=backend).to_native()
    if hasattr(rows, "index") and hasattr(table, "set_axis"):
        table = table.astype(object).where(table.notna(), None).set_axis(rows.index, axis=0)
    return table
