"""Arguments of MDFSSelector.fit() → arguments of select(), checked by scikit-learn's rules and by ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from interplay.base.arrays import IntArray
from interplay.base.checks import shown
from interplay.base.user_warnings import warn
from interplay.codes.coder import BLOCK_BYTES, MIN_BLOCK_COLUMNS
from interplay.codes.survey import column_blocks
from interplay.study.anndata_table import is_anndata
from interplay.study.columns import ColumnKind
from interplay.study.groups import Groups
from interplay.study.number_outcome import is_number
from interplay.study.outcome import MIN_CLASS_SIZE, decision_column, is_continuous
from interplay.study.strata import Strata
from interplay.study.subsets import RowSubset
from interplay.study.table import Table


def collected(X: Any) -> Any:
    """Return a lazy frame as an eager one, anything else as it is."""
    import narwhals.stable.v2 as nw

    if is_frame(X) or not hasattr(type(X), "columns"):
        return X
    frame = nw.from_native(X, pass_through=True)
    return frame.collect().to_native() if isinstance(frame, nw.LazyFrame) else X


def refuse_name(argument: str, given: Any) -> None:
    """Refuse the name of a column of X: `transform` must see all columns that `fit` saw."""
    if isinstance(given, str):
        raise TypeError(
            f"{argument} must hold one value per sample, not the text {shown(given)}: give the column itself"
        )


def is_frame(X: Any) -> bool:
    """Say whether X is a dataframe of any library."""
    import narwhals.stable.v2 as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def checked_array(X: Any, *, must_be_finite: bool) -> Any:
    """Return an array or sparse matrix as scikit-learn checks it, of the dtype it has."""
    try:
        return check_array(
            with_own_types(X), dtype=None, accept_sparse="csc", ensure_all_finite=must_be_finite, input_name="X"
        )
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
        raise ValueError("X contains NaN: fill the gaps, or use missing='level' or missing='impute'") from None


def with_own_types(X: Any) -> Any:
    """Return a list of rows such as [1.5, "a"] as objects: NumPy would turn the number into text."""
    if not isinstance(X, list | tuple):
        return X
    try:
        holds_text = np.asarray(X).dtype.kind in "UST"
    except ValueError:  # rows of different lengths, which check_array refuses with a message
        return X
    return np.array(X, dtype=object) if holds_text else X


def without_rare_classes(
    table: Table,
    y: Any,
    strata: Strata | None,
    groups: Groups | None,
    decision: str,
    decision_divisions: int | None,
) -> tuple[Table, Any, Strata | None, Groups | None, IntArray | None]:
    """Leave out the samples of classes that are too small for `select`; the numbers of samples that are kept come last.

    `select` refuses a class of one sample as a likely mistake in the data. Here cross-validation may have left one
    sample of a small class, and one of many fits must not fail for it.
    """
    column = decision_column(y)
    values = column.read()
    if decision in ("number", "continuous"):
        return table, y, strata, groups, None
    is_cut = decision_divisions is not None and column.kind == ColumnKind.NUMBER and is_continuous(values)
    if decision == "auto" and (is_cut or (decision_divisions is None and is_number(y, decision))):
        return table, y, strata, groups, None
    if len(values) != table.n_samples or (values.dtype.kind == "f" and np.isnan(values).any()):
        return table, y, strata, groups, None  # select refuses such an outcome
    codes, sizes = np.unique(values, return_inverse=True, return_counts=True)[1:]
    is_rare = sizes < MIN_CLASS_SIZE
    if not is_rare.any() or (~is_rare).sum() < 2:
        return table, y, strata, groups, None
    rows = np.flatnonzero(~is_rare[codes])
    warn(
        f"y has {is_rare.sum()} of {len(sizes)} classes with fewer than {MIN_CLASS_SIZE} samples, which are left out: "
        "merge small classes, or use decision='number' if y is a measurement"
    )
    kept = values[rows]
    labels = kept if column.levels is None else [column.levels[int(level)] for level in kept]
    of_strata = None if strata is None else strata.of_samples(rows)
    return RowSubset(table, rows), labels, of_strata, None if groups is None else groups.of_samples(rows), rows


def refuse_fit_params(fit_params: dict[str, Any]) -> None:
    """Refuse unknown arguments of fit(); weights with a reason."""
    given = [name for name, value in fit_params.items() if not (name == "sample_weight" and value is None)]
    if "sample_weight" in given:
        raise TypeError(
            "sample_weight is not supported: gains and p-values are computed from counts of samples: leave it out"
        )
    if given:
        raise TypeError(
            f"fit() got an unexpected keyword argument {given[0]!r}: it takes X, y, strata, groups, covariates, offset "
            "and entry only"
        )


def refuse_tables_of_files(X: Any) -> None:
    """Refuse tables of which transform() cannot return a subset of columns."""
    if isinstance(X, Table) or is_anndata(X):
        advice = "use interplay.select, or give a matrix or frame (of an AnnData, .X or .to_df())"
        raise TypeError(f"X must be an array or frame, of which transform() can return columns: {advice}")


def refuse_infinite(table: Table) -> None:
    """Refuse infinities in a frame, as check_array does in an array; select refuses NaN."""
    if table.dtype.kind != "f":
        return
    block_columns = max(MIN_BLOCK_COLUMNS, BLOCK_BYTES // (table.n_samples * table.dtype.itemsize))
    for block in column_blocks(table, block_columns):
        holds_infinity = np.isinf(table.columns(block)).any(axis=1)
        if holds_infinity.any():
            name = table.names[block.start + int(np.argmax(holds_infinity))]
            raise ValueError(f"column {shown(name)} of X holds infinity: replace it by a finite number")
