"""Tests of the interactions of tuples, one row per tuple, as results keep them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.types import Check
from interplay.statistics.p_values import relevant_mask

#: Method where samples are too few for any p-value: it is 1.
SPARSE = "sparse"

#: Sources of p-values, in the order of their numbers in `TestedTuples.method`.
METHODS = ("exact", "chi2", "bootstrap", SPARSE, "permutations")


@dataclass(frozen=True, eq=False)
class TestedTuples:
    """Tests of tuples, sorted by their members or by p-value; each field has one entry, or one row, per tuple.

    Attributes
    ----------
    tuples : (n, k) int64
        Numbers of the members, ascending.
    discretization : (n,) int64
        The discretisation that the tuple was tested in: of several, where χ² gives it the smallest p-value.
    n_samples : (n,) int64
        Samples of its table: samples with a value of every member, where missing values are left out.
    chi2 : (n,) float64
        G² = 2 Σ n ln(n/μ).
    df : (n,) int64
        Effective degrees of freedom.
    log_p : (n,) float64
        Natural logarithm of the p-value; of several discretisations, of the p-value times their number.
    p_adjusted : (n,) float64
        Adjusted for all tuples that were searched; NaN before that.
    method : (n,) int64
        Number of the method in `METHODS`.
    min_expected : (n,) float64
        Smallest fitted count.
    log_or, ci_low, ci_high : (n,) float64
        Log odds ratio of the interaction and its 95 % interval, for two levels and two classes, else NaN.
    residual : (n,) float64
        Largest adjusted residual, for other tables, else NaN.
    residual_cell : (n, k) int64
        Levels of the members there; −1 where there is none.
    residual_class, residual_stratum : (n,) int64
        Class and stratum there.
    gain : (n, k) float64
        Information of each member beyond the others, bits × samples, without pseudocounts.
    gain_alone : (n, k) float64
        Information of each member by itself.
    df_alone : (n, k) int64
        Degrees of freedom of `gain_alone`.
    log_or_alone : (n, k) float64
        Log odds ratio of each member by itself, for two levels and two classes, else NaN.
    """

    tuples: Annotated[IntArray, Check("n k", low=0, below="n_vars")]
    discretization: Annotated[IntArray, Check("n", low=0, below=2**31)]
    n_samples: Annotated[IntArray, Check("n")]
    chi2: Annotated[FloatArray, Check("n")]
    df: Annotated[IntArray, Check("n", low=0)]
    log_p: Annotated[FloatArray, Check("n", high=0)]
    p_adjusted: Annotated[FloatArray, Check("n")]
    method: Annotated[IntArray, Check("n", low=0, below=len(METHODS))]
    min_expected: Annotated[FloatArray, Check("n")]
    log_or: Annotated[FloatArray, Check("n")]
    ci_low: Annotated[FloatArray, Check("n")]
    ci_high: Annotated[FloatArray, Check("n")]
    residual: Annotated[FloatArray, Check("n")]
    residual_cell: Annotated[IntArray, Check("n k")]
    residual_class: Annotated[IntArray, Check("n")]
    residual_stratum: Annotated[IntArray, Check("n")]
    gain: Annotated[FloatArray, Check("n k")]
    gain_alone: Annotated[FloatArray, Check("n k")]
    df_alone: Annotated[IntArray, Check("n k")]
    log_or_alone: Annotated[FloatArray, Check("n k")]

    __test__ = False  # pytest: no test

    def __len__(self) -> int:
        return len(self.tuples)

    @classmethod
    def none(cls, dimensions: int) -> TestedTuples:
        """Return an empty list of tuples with this number of members."""
        wide = ("tuples", "residual_cell", "gain", "gain_alone", "df_alone", "log_or_alone")
        whole = ("tuples", "discretization", "n_samples", "df", "method", "residual_cell", "residual_class",
                 "residual_stratum", "df_alone")  # fmt: skip
        arrays: dict[str, Any] = {}
        for field in fields(cls):
            shape = (0, dimensions) if field.name in wide else (0,)
            arrays[field.name] = np.empty(shape, dtype=np.int64 if field.name in whole else np.float64)
        return cls(**arrays)

    @classmethod
    def joined(cls, parts: Sequence[TestedTuples]) -> TestedTuples:
        """Put lists, one at least, one after the other."""
        return cls(
            **{field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)}
        )

    def chosen(self, rows: npt.NDArray[Any]) -> TestedTuples:
        """Keep some rows, in that order."""
        return TestedTuples(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def by_p_value(self) -> TestedTuples:
        """Sort by p-value, then G² (largest first), then members: the order of all lists.

        Tuples that were not tested for lack of samples come last, by their members alone.
        """
        is_sparse = self.method == METHODS.index(SPARSE)
        keys = (*self.tuples.T[::-1], np.where(is_sparse, 0.0, -self.chi2), is_sparse, self.log_p)
        return self.chosen(np.lexsort(keys))

    def adjusted(self, adjust: Callable[[FloatArray], FloatArray]) -> TestedTuples:
        """Fill in the adjusted p-values."""
        return replace(self, p_adjusted=adjust(self.p_value))

    @property
    def p_value(self) -> FloatArray:
        return np.exp(self.log_p)

    def is_significant(self, level: float) -> BoolArray:
        """Say which adjusted p-values are below the significance level."""
        return relevant_mask(self.p_adjusted, level=level)

    def method_names(self) -> list[str]:
        return [METHODS[number] for number in self.method.tolist()]

    def rows_of(self, tuples: IntArray) -> IntArray:
        """Return the row of each of these tuples, −1 where it was not tested."""
        row_of = {tuple(members): row for row, members in enumerate(self.tuples.tolist())}
        return np.array([row_of.get(tuple(members), -1) for members in tuples.tolist()], dtype=np.int64)
