"""Arguments of fit() with a value per sample → arguments of select() and interactions(), and their descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.ask.estimators.input import collected, refuse_fit_params, refuse_name, refuse_tables_of_files
from interplay.base.arguments import ARGUMENTS, arguments_in
from interplay.base.arrays import IntArray
from interplay.base.checks import warn
from interplay.data.study.columns import ColumnKind, decision_column
from interplay.data.study.covariates import make_covariates
from interplay.data.study.design import Groups, make_groups, make_offset, make_strata
from interplay.data.study.named_columns import refuse_decision_in_table, warn_of_another_order
from interplay.data.study.outcomes.classes import MIN_CLASS_SIZE, is_continuous
from interplay.data.study.outcomes.numbers import is_number
from interplay.data.study.outcomes.times import split_survival
from interplay.data.study.subsets import RowSubset
from interplay.data.study.table import Table

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
