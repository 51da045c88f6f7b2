"""Arguments of fit() and transform() → tables, checked by scikit-learn's rules and ours, and arguments of searches."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import validate_data

from interplay.base.arguments import ARGUMENTS, arguments_in
from interplay.base.arrays import IntArray
from interplay.base.checks import shown, warn
from interplay.data.codes.coder import BLOCK_BYTES, MIN_BLOCK_COLUMNS
from interplay.data.codes.survey import column_blocks
from interplay.data.study.anndata_table import is_anndata
from interplay.data.study.columns import ColumnKind, decision_column
from interplay.data.study.design import Groups, make_covariates, make_groups, make_offset, make_strata
from interplay.data.study.named_columns import refuse_decision_in_table, warn_of_another_order
from interplay.data.study.outcomes.classes import DECISION_CHOICES, MIN_CLASS_SIZE, is_continuous
from interplay.data.study.outcomes.numbers import SCALE_CHOICES, is_number
from interplay.data.study.outcomes.times import split_survival
from interplay.data.study.subsets import RowSubset
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


#: Arguments of `fit` in all transformers.
FIT_ARGUMENTS = arguments_in(
    """
    X : table-like, (n_samples, n_features)
        numpy, lists, pandas, polars (also lazy), pyarrow or scipy sparse.
    y : (n_samples,) array-like
        The outcome: labels of any kind, or numbers (see `decision`). Times that may be censored are a structured array,
        as scikit-survival's, or a pair (time, event).
    strata : (n_samples,) array-like or table-like, optional
        Groups of samples, such as batch, sex or population, within which the outcome is analysed. With several columns,
        each combination of values is a stratum. Pipelines and searches pass it on after
        ``set_fit_request(strata=True)``, with metadata routing enabled.
    groups : (n_samples,) array-like or table-like, optional
        Samples that belong together and are not independent of each other: the donor of each cell, the family or
        patient of each sample. p-values then come from permutations of whole groups. Passed on by pipelines after
        ``set_fit_request(groups=True)``; those that split data by groups (``GroupKFold``) take the same ones.
    order : (n_samples,) array-like or False, optional
        The place of each sample in the order of its group, or False where samples of a group have none; see `select`.
    covariates : (n_samples,) array-like or table-like, optional
        Covariates of each sample (age, sex, principal components): the answer is given these. Passed on by pipelines
        after ``set_fit_request(covariates=True)``.
    offset : (n_samples,) array-like, optional
        The known part of the outcome of each sample: means, log odds or log hazards.
    entry : (n_samples,) array-like, optional
        With times: from when on each sample was observed.
    **fit_params
        No other argument is accepted. ``sample_weight`` is refused, with the reason.
    """,
    ARGUMENTS,
)


@dataclass(frozen=True, eq=False)
class FitSamples:
    """The samples of a fit, as a search takes them: without those of rare classes."""

    table: Table
    #: Their outcome.
    y: Any
    #: (n_samples,) int: their numbers in X.
    rows: IntArray
    groups: Groups | None
    #: Strata, groups with their order, covariates, offset and entry.
    beside: dict[str, Any]


def checked_fit(X: Any, y: Any, of_samples: dict[str, Any], fit_params: dict[str, Any]) -> Any:
    """Refuse arguments of fit() that no transformer takes; return X, a lazy frame as an eager one."""
    refuse_fit_params(fit_params)
    refuse_tables_of_files(X)
    for name, given in {"y": y, **of_samples}.items():
        refuse_name(name, given)
    return collected(X)


def fit_samples(
    X: Any, table: Table, y: Any, of_samples: dict[str, Any], *, decision: str, decision_divisions: int | None
) -> FitSamples:
    """Return the samples of a fit; `of_samples` has strata, groups and the like as they were given."""
    refuse_decision_in_table(table, y)
    warn_of_another_order(X, y=y, **of_samples)
    n_samples = table.n_samples
    strata = make_strata(of_samples["strata"], n_samples=n_samples)
    order = of_samples["order"]
    groups = make_groups(of_samples["groups"], n_samples=n_samples, order=None if order is False else order)
    covariates = make_covariates(of_samples["covariates"], n_samples=n_samples)
    offset = make_offset(of_samples["offset"], n_samples=n_samples)
    rows = (
        None if split_survival(y) is not None else _rows_of_common_classes(y, n_samples, decision, decision_divisions)
    )
    if rows is not None:
        column = decision_column(y)
        labels = column.read()[rows]
        y = labels if column.levels is None else [column.levels[int(level)] for level in labels]
        table = RowSubset(table, rows)
        strata = None if strata is None else strata.of_samples(rows)
        groups = None if groups is None else groups.of_samples(rows)
        covariates = None if covariates is None else covariates.of_samples(rows)
        offset = None if offset is None else offset[rows]
    beside: dict[str, Any] = {"strata": strata, "groups": groups, "covariates": covariates, "offset": offset}
    beside |= {"entry": of_samples["entry"], "order": False if order is False else None}
    return FitSamples(table, y, np.arange(n_samples) if rows is None else rows, groups, beside)


def _rows_of_common_classes(y: Any, n_samples: int, decision: str, decision_divisions: int | None) -> IntArray | None:
    """Return the samples of classes that are large enough for `select`; None where all classes are.

    `select` refuses a class of one sample as a likely mistake in the data. Here cross-validation may have left one
    sample of a small class, and one of many fits must not fail for it.
    """
    column = decision_column(y)
    values = column.read()
    if decision in ("number", "continuous"):
        return None
    is_cut = decision_divisions is not None and column.kind == ColumnKind.NUMBER and is_continuous(values)
    if decision == "auto" and (is_cut or (decision_divisions is None and is_number(y, decision))):
        return None
    if len(values) != n_samples or (values.dtype.kind == "f" and np.isnan(values).any()):
        return None  # select refuses such an outcome
    codes, sizes = np.unique(values, return_inverse=True, return_counts=True)[1:]
    is_rare = sizes < MIN_CLASS_SIZE
    if not is_rare.any() or (~is_rare).sum() < 2:
        return None
    warn(
        f"y has {is_rare.sum()} of {len(sizes)} classes with fewer than {MIN_CLASS_SIZE} samples, which are left out: "
        "merge small classes, or use decision='number' if y is a measurement"
    )
    return np.flatnonzero(~is_rare[codes])
