"""X of fit() and transform() → a table, checked by scikit-learn's rules and by ours; parameters that all share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import validate_data

from interplay.base.checks import shown
from interplay.data.codes.coder import BLOCK_BYTES, MIN_BLOCK_COLUMNS
from interplay.data.codes.survey import column_blocks
from interplay.data.study.anndata_table import is_anndata
from interplay.data.study.outcomes.classes import DECISION_CHOICES
from interplay.data.study.outcomes.numbers import SCALE_CHOICES
from interplay.data.study.table import Table, as_table, is_sparse, sound_sparse

#: Parameters that all transformers have, with their values.
SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "divisions": [Interval(Integral, 1, 255, closed="both")],
    "level": [Interval(Real, 0, 1, closed="neither")],
    "decision": [StrOptions(set(DECISION_CHOICES))],
    "decision_divisions": [Interval(Integral, 1, 255, closed="both"), None],
    "scale": [StrOptions(set(SCALE_CHOICES))],
    "n_permutations": [Interval(Integral, 1, None, closed="left")],
    "discrete": [StrOptions({"auto", "none", "all"}), "array-like"],
    "random_state": ["random_state", np.random.Generator, np.random.BitGenerator, np.random.SeedSequence],
    "engine": [str, HasMethods(["max_gains", "describe"])],  # which names there are, the engines know
    "n_jobs": [Integral, None],
    "progress": ["boolean", callable, None],
}


#: Values beside finite numbers that an array may hold, in the words of scikit-learn; with other choices, any.
_ALLOWED = {"error": "finite", "auto": "allow-nan"}


def checked_table(estimator: Any, X: Any, y: Any = None, *, is_fit: bool = True) -> Table:
    """Check X as scikit-learn does, but leave frames as they are: their columns differ in kind.

    In `fit` this sets n_features_in_ and feature_names_in_ of the estimator, and refuses ``y=None``.
    """
    frame = as_table(X) if is_frame(X) else None  # its messages on frames are more precise
    if is_fit:
        validate_data(estimator, X, y, skip_check_array=True)
    if frame is None:
        frame = as_table(checked_array(X, allowed=_ALLOWED.get(estimator.missing, "any")))
    elif estimator.missing in _ALLOWED:
        refuse_infinite(frame)
    if not is_fit:
        validate_data(estimator, X, skip_check_array=True, reset=False)
    return frame


def refuse_few_variables(dimensions: Any, needed: int, n_vars: int) -> None:
    """Refuse tuples of more variables than X has, with the words that scikit-learn's checks look for."""
    if n_vars < needed:
        raise ValueError(
            f"dimensions={dimensions} needs at least {needed} variables, and X has n_features={n_vars}: "
            "lower dimensions"
        )


def tags_of_input(tags: Any, *, allows_missing: bool) -> Any:
    """Set scikit-learn's tags for the arguments of `fit`."""
    tags.target_tags.required = True
    tags.input_tags.allow_nan = allows_missing
    tags.input_tags.sparse = True
    # Categories in a frame are fine, but the tag "categorical" says that X holds little else, as for CategoricalNB, and
    # scikit-learn would then test with whole numbers alone.
    tags.input_tags.string = True
    return tags


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


def checked_array(X: Any, *, allowed: str = "any") -> Any:
    """Return an array or sparse matrix as scikit-learn checks it, of the dtype it has."""
    try:
        return check_array(
            with_own_types(X),
            dtype=None,
            accept_sparse="csc",
            ensure_all_finite={"finite": True, "any": False}.get(allowed, allowed),
            input_name="X",
        )
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
        raise ValueError("X contains NaN: fill the gaps, or use missing='level' or missing='impute'") from None


def with_own_types(X: Any) -> Any:
    """Return a list of rows such as [1.5, "a"] as objects: NumPy would turn the number into text.

    A sparse matrix is checked: scikit-learn would convert it, whatever its indices.
    """
    if is_sparse(X):
        return sound_sparse(X)
    if not isinstance(X, list | tuple):
        return X
    try:
        holds_text = np.asarray(X).dtype.kind in "UST"
    except ValueError:  # rows of different lengths, which check_array refuses with a message
        return X
    return np.array(X, dtype=object) if holds_text else X


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
