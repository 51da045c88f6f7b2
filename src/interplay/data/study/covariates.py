"""Covariates, the properties of samples beside the variables (age, sex, components) → columns of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import naming_argument, shown
from interplay.base.ranks import normal_scores
from interplay.data.models.linear import spline_columns
from interplay.data.study.columns import Column, ColumnKind, check_length, decision_column
from interplay.data.study.table import as_table

#: The model has at most one column for this number of samples: those of the rarest class, events, or all of numbers.
_SAMPLES_PER_COLUMN = 10

#: Columns of the spline of a covariate, beside its values.
_SPLINE_COLUMNS = 4

#: More columns than this are variables, not covariates: a model of them would describe the samples one by one.
MAX_COLUMNS = 200


@dataclass(frozen=True, eq=False)
class Covariates:
    """Covariates as columns of a model."""

    #: The user's names of the covariates.
    names: list[str]
    #: (n_samples, n_columns): numbers, with mean 0 and standard deviation 1; for labels, one column of 0 and 1 for each
    #: label but the first.
    design: FloatArray
    #: The last columns, which are splines of others.
    n_splines: int = 0

    @property
    def plain(self) -> FloatArray:
        """The columns without splines."""
        return self.design[:, : self.design.shape[1] - self.n_splines]

    def smooth(self, n_informative: int) -> Covariates:
        """Add splines of normal scores of the numbers to the columns.

        An outcome may be linear in a covariate as it is, and its ranks then are not. Splines of ranks follow both, and
        outliers do not move them. Where samples are few, splines have fewer columns, or there are none.

        `n_informative`: samples of the rarest class, events of times, or samples of numbers.
        """
        numbers = [column for column in self.design.T if len(np.unique(column)) > 2]
        room = n_informative // _SAMPLES_PER_COLUMN - self.design.shape[1]
        n_columns = min(room // max(len(numbers), 1), _SPLINE_COLUMNS)
        if n_columns < 1 or not numbers:
            return self
        splines = np.hstack([spline_columns(normal_scores(each), n_columns) for each in numbers])
        return Covariates(self.names, np.hstack([self.design, splines]), splines.shape[1])

    def of_samples(self, rows: IntArray) -> Covariates:
        """Return the covariates of some samples."""
        return Covariates(self.names, self.design[rows], self.n_splines)


def make_covariates(covariates: Any, *, n_samples: int) -> Covariates | None:
    """Return covariates as columns of a model.

    - `covariates` (n_samples,) array-like, table-like, list of Column: numbers count as they are and by splines, bool,
      categorical and text columns by their levels.
    - `n_samples`: samples of X, which `covariates` must match.

    Examples
    --------
    >>> import pandas as pd
    >>> known = pd.DataFrame({"age": [30, 50] * 3, "sex": ["f", "m"] * 3})
    >>> found = make_covariates(known, n_samples=6)
    >>> found.names, found.design[:2].tolist()
    (['age', 'sex'], [[-1.0, 0.0], [1.0, 1.0]])
    """
    if covariates is None or isinstance(covariates, Covariates):
        return covariates
    columns = _columns(covariates)
    if not columns:
        raise ValueError("covariates has no columns: name one at least, or leave it out")
    parts: list[FloatArray] = []
    for name, column in columns.items():
        values = column.read()
        check_length("covariates", values, n_samples)
        parts.append(_design(name, column, values))
    design = np.column_stack(parts)
    if design.shape[1] > min(MAX_COLUMNS, n_samples // 3):
        raise ValueError(
            f"covariates give a model with {design.shape[1]} columns (one for each level of a label but the first), "
            f"too many for {n_samples} samples: give fewer, or merge levels"
        )
    return Covariates(list(columns), design)


def _columns(covariates: Any) -> dict[str, Column]:
    if isinstance(covariates, dict):
        return {str(name): decision_column(values, "covariates") for name, values in covariates.items()}
    shape: tuple[int, ...] = getattr(covariates, "shape", ())
    is_rows = isinstance(covariates, list | tuple) and any(isinstance(row, list | tuple) for row in covariates)
    if len(shape) == 2 or is_rows:
        with naming_argument("covariates"):
            table = as_table(covariates)
        return {name: table.column(v) for v, name in enumerate(table.names)}
    name = getattr(covariates, "name", None)
    return {name if isinstance(name, str) else "covariate": decision_column(covariates, "covariates")}


def _design(name: str, column: Column, values: Any) -> FloatArray:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        first = int(np.argmin(np.isfinite(values)))
        raise ValueError(
            f"covariates: column {shown(name)} has missing or infinite values (the first at sample {first}): leave "
            "those samples out, or fill in the values"
        )
    if column.kind == ColumnKind.NUMBER:
        numbers = values.astype(np.float64)
        # Times a power of two, which changes no bit of the result: squares neither overflow nor vanish.
        numbers = np.ldexp(numbers, -np.frexp(np.abs(numbers).max())[1])
        spread = numbers.std()
        if spread == 0:
            raise ValueError(f"covariates: column {shown(name)} has one value only: leave it out")
        return np.asarray((numbers - numbers.mean()) / spread)[:, np.newaxis]
    levels, codes = np.unique(values, return_inverse=True)
    if len(levels) < 2:
        raise ValueError(f"covariates: column {shown(name)} has one value only: leave it out")
    return np.asarray(codes.reshape(-1)[:, np.newaxis] == np.arange(1, len(levels)), dtype=np.float64)
