"""Tests of the interactions of tuples, one row per tuple: the fields and methods of every kind of outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.types import Check
from interplay.statistics.p_values import relevant_mask

#: Method where samples are too few for any p-value: it is 1.
SPARSE = "sparse"

#: Sources of p-values, in the order of their numbers in `TupleTests.method`.
METHODS = ("exact", "chi2", "bootstrap", SPARSE, "permutations", "f", "model")

Tests = TypeVar("Tests", bound="TupleTests")
Robust = TypeVar("Robust", bound="RobustTupleTests")


@dataclass(frozen=True, eq=False)
class TupleTests:
    """Tests of tuples, sorted by their members or by p-value; each field has one entry, or one row, per tuple.

    Attributes
    ----------
    tuples : (n, k) int64
        Numbers of the members, ascending.
    discretization : (n,) int64
        The discretisation that the tuple was tested in: of several, where it has the smallest p-value.
    n_samples : (n,) int64
        Samples of its table: samples with a value of every member, where missing values are left out.
    df : (n,) int64
        Effective degrees of freedom.
    log_p : (n,) float64
        Natural logarithm of the p-value; of several discretisations, of the p-value times their number.
    p_adjusted : (n,) float64
        Adjusted for all tuples that were searched; NaN before that.
    method : (n,) int64
        Number of the method in `METHODS`.
    ci_low, ci_high : (n,) float64
        95 % interval of the effect (`estimate`), where there is one, else NaN.
    residual : (n,) float64
        Largest residual, in its standard errors, where there is no such effect, else NaN.
    residual_cell : (n, k) int64
        Levels of the members there; −1 where there is none.
    residual_stratum : (n,) int64
        Stratum there.
    cell_effect, cell_low, cell_high : (n,) float64
        How much that cell departs from the separate effects of the members, with a 95 % interval: a log odds ratio of
        the class, or a difference of means in the unit of the outcome. NaN where there is none, and of classes in
        tuples that could not be significant.
    gain : (n, k) float64
        Information of each member beyond the others, bits × samples, without pseudocounts.
    gain_alone : (n, k) float64
        Information of each member by itself.
    df_alone : (n, k) int64
        Degrees of freedom of `gain_alone`.
    smooth_log_p : (n,) float64
        ln p of the interaction beside smooth effects of the numbers themselves, for significant tuples whose members
        are numbers that were cut; NaN for others.
    smooth_adjusted : (n,) float64
        The same adjusted as `p_adjusted`; NaN before that, and for others.
    """

    tuples: Annotated[IntArray, Check("n k", low=0, below="n_vars")]
    discretization: Annotated[IntArray, Check("n", low=0, below=2**31)]
    n_samples: Annotated[IntArray, Check("n")]
    df: Annotated[IntArray, Check("n", low=0)]
    log_p: Annotated[FloatArray, Check("n", high=0)]
    p_adjusted: Annotated[FloatArray, Check("n")]
    method: Annotated[IntArray, Check("n", low=0, below=len(METHODS))]
    ci_low: Annotated[FloatArray, Check("n")]
    ci_high: Annotated[FloatArray, Check("n")]
    residual: Annotated[FloatArray, Check("n")]
    residual_cell: Annotated[IntArray, Check("n k")]
    residual_stratum: Annotated[IntArray, Check("n")]
    cell_effect: Annotated[FloatArray, Check("n")]
    cell_low: Annotated[FloatArray, Check("n")]
    cell_high: Annotated[FloatArray, Check("n")]
    gain: Annotated[FloatArray, Check("n k")]
    gain_alone: Annotated[FloatArray, Check("n k")]
    df_alone: Annotated[IntArray, Check("n k")]
    smooth_log_p: Annotated[FloatArray, Check("n", high=0, nan=True)]
    smooth_adjusted: Annotated[FloatArray, Check("n", nan=True)]

    __test__ = False  # pytest: no test

    #: Fields with one entry per member, and fields of whole numbers.
    wide: ClassVar[tuple[str, ...]] = ("tuples", "residual_cell", "gain", "gain_alone", "df_alone")
    whole: ClassVar[tuple[str, ...]] = (
        "tuples", "discretization", "n_samples", "df", "method", "residual_cell", "residual_stratum", "df_alone",
    )  # fmt: skip

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def statistic(self) -> FloatArray:
        """The statistic of the test, larger for more evidence at equal degrees of freedom."""
        raise NotImplementedError

    @property
    def estimate(self) -> FloatArray:
        """The size of the effect, on the scale of `ci_low` and `ci_high`; NaN where there is none."""
        raise NotImplementedError

    @classmethod
    def none(cls: type[Tests], dimensions: int) -> Tests:
        """Return an empty list of tuples with this number of members."""
        arrays: dict[str, Any] = {}
        for field in fields(cls):
            shape = (0, dimensions) if field.name in cls.wide else (0,)
            arrays[field.name] = np.empty(shape, dtype=np.int64 if field.name in cls.whole else np.float64)
        return cls(**arrays)

    @classmethod
    def joined(cls: type[Tests], parts: Sequence[Tests]) -> Tests:
        """Put lists of one kind, one at least, one after the other."""
        kind = type(parts[0])
        return kind(
            **{field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(kind)}
        )

    def chosen(self: Tests, rows: npt.NDArray[Any]) -> Tests:
        """Keep some rows, in that order."""
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def by_p_value(self: Tests) -> Tests:
        """Sort by p-value, then statistic (largest first), then members: the order of all lists.

        Tuples that were not tested for lack of samples come last, by their members alone.
        """
        is_sparse = self.method == METHODS.index(SPARSE)
        keys = (*self.tuples.T[::-1], np.where(is_sparse, 0.0, -self.statistic), is_sparse, self.log_p)
        return self.chosen(np.lexsort(keys))

    def adjusted(self: Tests, adjust: Callable[[FloatArray], FloatArray]) -> Tests:
        """Fill in the adjusted p-values; those beside smooth effects have to be judged again."""
        return replace(self, p_adjusted=adjust(self.p_value), smooth_adjusted=np.full(len(self), np.nan))

    def of_discretization(self: Tests, discretization: IntArray) -> Tests:
        """Say in which discretisation each tuple was tested."""
        return replace(self, discretization=discretization)

    @property
    def p_value(self) -> FloatArray:
        return np.exp(self.log_p)

    @property
    def p_smooth(self) -> FloatArray:
        return np.exp(self.smooth_log_p)

    def is_significant(self, level: float) -> BoolArray:
        """Say which adjusted p-values are below the significance level, beside smooth effects too where tested so."""
        return relevant_mask(self.p_adjusted, level=level) & ~self.is_of_cutting(level)

    def is_of_cutting(self, level: float) -> BoolArray:
        """Say which tuples are significant only because numbers were cut: not so beside their smooth effects."""
        return relevant_mask(self.p_adjusted, level=level) & np.asarray(self.smooth_adjusted >= level)

    @property
    def p_decisive(self) -> FloatArray:
        """The larger one of both adjusted p-values, where there are two."""
        return np.fmax(self.p_adjusted, self.smooth_adjusted)

    def smooth_judged(self: Tests, adjust: Callable[[FloatArray], FloatArray], level: float) -> Tests:
        """Fill in the adjusted p-values beside smooth effects.

        `adjust` gets p-values of all significant tuples: those of the search where nothing was cut.
        """
        rows = np.flatnonzero(relevant_mask(self.p_adjusted, level=level))
        again = ~np.isnan(self.smooth_log_p[rows])
        adjusted = np.full(len(self), np.nan)
        if again.any():
            adjusted[rows] = np.where(again, adjust(np.where(again, self.p_smooth[rows], self.p_value[rows])), np.nan)
        return replace(self, smooth_adjusted=adjusted)

    def method_names(self) -> list[str]:
        return [METHODS[number] for number in self.method.tolist()]

    def rows_of(self, tuples: IntArray) -> IntArray:
        """Return the row of each of these tuples, −1 where it was not tested."""
        row_of = {tuple(members): row for row, members in enumerate(self.tuples.tolist())}
        return np.array([row_of.get(tuple(members), -1) for members in tuples.tolist()], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class RobustTupleTests(TupleTests):
    """Tests of tuples of which each has a second one, with variances that assume less.

    Attributes
    ----------
    robust_log_p : (n,) float64
        ln p of the same hypothesis with robust variances: HC3 of numbers, Lin and Wei's of times. Of several
        discretisations, of p times their number; NaN where not tested.
    robust_adjusted : (n,) float64
        These p-values, adjusted as those of the first test; NaN before that.
    """

    robust_log_p: Annotated[FloatArray, Check("n", high=0, nan=True)]
    robust_adjusted: Annotated[FloatArray, Check("n")]

    def adjusted(self: Robust, adjust: Callable[[FloatArray], FloatArray]) -> Robust:
        """Fill in the adjusted p-values, also of the robust tests of the listed tuples."""
        return replace(super().adjusted(adjust), robust_adjusted=adjusted_known(self.p_robust, adjust))

    def holds_robust(self, level: float) -> BoolArray:
        """Say which tuples are significant with robust variances."""
        return np.asarray(self.robust_adjusted < level)

    @property
    def p_robust(self) -> FloatArray:
        return np.exp(self.robust_log_p)


def adjusted_known(p_value: FloatArray, adjust: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Adjust p-values of which some are not known (NaN): these stay so, and count as 1."""
    known = ~np.isnan(p_value)
    return np.where(known, adjust(np.where(known, p_value, 1.0)), np.nan)
