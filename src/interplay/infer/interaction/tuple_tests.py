"""Tests of the interactions of tuples, one row per tuple, of every kind of outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_choice, check_int, check_numbers, shown
from interplay.base.tails import log_chi2_tail
from interplay.data.study.outcomes.words import WORDS, Words
from interplay.files.types import Check
from interplay.infer.interaction.effect import class_scale_words
from interplay.infer.interaction.interaction_test import chi2_log_tail
from interplay.infer.number_interaction.cell_moments import scale_words
from interplay.infer.p_values import ADJUSTMENTS, LISTED_METHODS, relevant_mask

#: Method where samples are too few for any p-value: it is 1.
SPARSE = "sparse"

#: Sources of p-values, in the order of their numbers in `TupleTests.method`.
METHODS = ("exact", "chi2", "bootstrap", SPARSE, "permutations", "f", "model")

#: Ways to test a tuple, in the order of their numbers in `TupleTests.way`.
WAYS = ("levels", "product", "shape")

#: All products that are significant in a search have together this share of its significance level in second tests.
SECOND_SHARE = 0.1

#: Fields with one entry per member, and fields of whole numbers.
_WIDE = ("tuples", "residual_cell", "gain", "gain_alone", "df_alone", "estimate_alone")

#: Columns that explain a tuple, at most.
MAX_EXPLAINING = 8

#: Tuples that are tested beside other columns at most, those of the smallest p-values: 4 to 7 ms each.
MAX_BESIDE = 2000
_WHOLE = (
    "tuples", "discretization", "n_samples", "df", "method", "residual_cell", "residual_stratum", "df_alone",
    "residual_class", "df_residual", "way", "explained_by",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TupleTests:
    """Tests of tuples, sorted by their members or by p-value; each field has one entry, or one row, per tuple.

    Some fields are there for some kinds of outcomes only (`Words.columns`), and None for others.
    """

    #: The kind of the outcome, which `words` belong to.
    kind: Annotated[str, Check(among=tuple(WORDS))]
    #: (n, k): numbers of the members, ascending.
    tuples: Annotated[IntArray, Check("n k", low=0, below="n_vars")]
    #: (n,): the discretisation that the tuple was tested in: of several, where it has the smallest p-value.
    discretization: Annotated[IntArray, Check("n", low=0, below=2**31)]
    #: (n,): samples of its table: samples with a value of every member, where missing values are left out.
    n_samples: Annotated[IntArray, Check("n")]
    #: (n,): effective degrees of freedom.
    df: Annotated[IntArray, Check("n", low=0)]
    #: (n,): larger for more evidence at equal degrees of freedom: G² = 2 Σ n ln(n/μ) of classes, the likelihood ratio
    #: of Cox's model of times, F of the scores of numbers (with dosages, of one product).
    statistic: Annotated[FloatArray, Check("n")]
    #: (n,): natural logarithm of the p-value; of several discretisations, of the p-value times their number.
    log_p: Annotated[FloatArray, Check("n", high=0)]
    #: (n,): adjusted for all tuples that were searched; NaN before that.
    p_adjusted: Annotated[FloatArray, Check("n")]
    #: (n,): number of the method in `METHODS`.
    method: Annotated[IntArray, Check("n", low=0, below=len(METHODS))]
    #: (n,): the size of the effect, for two levels each, else NaN: the log odds ratio of two classes, the log hazard
    #: ratio of times, the difference of differences of numbers in their unit; with dosages the coefficient of the
    #: product.
    estimate: Annotated[FloatArray, Check("n")]
    #: (n, k): the same of each member of two levels by itself, else NaN.
    estimate_alone: Annotated[FloatArray, Check("n k")]
    #: `ci_low`, `ci_high`, (n,): 95 % interval of `estimate`.
    ci_low: Annotated[FloatArray, Check("n")]
    ci_high: Annotated[FloatArray, Check("n")]
    #: (n,): largest residual, in its standard errors, where there is no such effect, else NaN.
    residual: Annotated[FloatArray, Check("n")]
    #: (n, k): levels of the members there; −1 where there is none.
    residual_cell: Annotated[IntArray, Check("n k")]
    #: (n,): stratum there.
    residual_stratum: Annotated[IntArray, Check("n")]
    #: `cell_effect`, `cell_low`, `cell_high`, (n,): how much that cell departs from the separate effects of the
    #: members, with a 95 % interval: a log odds ratio of the class, or a difference of means in the unit of the
    #: outcome. NaN where there is none, and of classes in tuples that could not be significant.
    cell_effect: Annotated[FloatArray, Check("n")]
    cell_low: Annotated[FloatArray, Check("n")]
    cell_high: Annotated[FloatArray, Check("n")]
    #: (n, k): information of each member beyond the others, bits × samples, without pseudocounts.
    gain: Annotated[FloatArray, Check("n k")]
    #: (n, k): information of each member by itself.
    gain_alone: Annotated[FloatArray, Check("n k")]
    #: (n, k): degrees of freedom of `gain_alone`.
    df_alone: Annotated[IntArray, Check("n k")]
    #: (n,): ln p of the interaction beside smooth effects of the numbers themselves, for significant tuples whose
    #: members are numbers that were cut; NaN for others.
    smooth_log_p: Annotated[FloatArray, Check("n", high=0, nan=True)]
    #: (n,): the same adjusted as `p_adjusted`; NaN before that, and for others.
    smooth_adjusted: Annotated[FloatArray, Check("n", nan=True)]
    #: (n,): ln p of the interaction beside the effects of other columns of the table, for significant tuples whose
    #: members are correlated with columns that have effects of their own; NaN for others.
    beside_log_p: Annotated[FloatArray, Check("n", high=0, nan=True)]
    #: (n,): the same adjusted as `p_adjusted`; NaN before that, and for others.
    beside_adjusted: Annotated[FloatArray, Check("n", nan=True)]
    #: (n, 8): numbers of these columns, the strongest first, then −1.
    explained_by: Annotated[IntArray, Check(f"n {MAX_EXPLAINING}", low=-1, below="n_vars")]
    #: (n,): smallest fitted count.
    min_expected: Annotated[FloatArray | None, Check("n")] = None
    #: `reri`, `reri_low`, `reri_high`, (n,): relative excess risk due to interaction and its 95 % interval, for pairs
    #: of two levels and two classes, else NaN.
    reri: Annotated[FloatArray | None, Check("n")] = None
    reri_low: Annotated[FloatArray | None, Check("n")] = None
    reri_high: Annotated[FloatArray | None, Check("n")] = None
    #: (n,): class of the largest adjusted residual.
    residual_class: Annotated[IntArray | None, Check("n")] = None
    #: (n,): samples less parameters.
    df_residual: Annotated[IntArray | None, Check("n", low=0)] = None
    #: (n,): `estimate` in standard deviations of the outcome.
    estimate_sd: Annotated[FloatArray | None, Check("n")] = None
    #: (n,): ln p of the same hypothesis with variances that assume less: HC3 of numbers, Lin and Wei's of times. Of
    #: several discretisations, of p times their number; NaN where not tested.
    robust_log_p: Annotated[FloatArray | None, Check("n", high=0, nan=True)] = None
    #: `robust_adjusted`, `other_adjusted`, (n,): these p-values, adjusted as those of the first test; NaN before that.
    robust_adjusted: Annotated[FloatArray | None, Check("n")] = None
    #: (n,): ln p of F on the other scale: of the values where scores are ranks, else of ranks.
    other_log_p: Annotated[FloatArray | None, Check("n", high=0, nan=True)] = None
    other_adjusted: Annotated[FloatArray | None, Check("n")] = None
    #: (n,): number in `WAYS` of how the tuple was tested, where products of scores were tested; p-values are then
    #: multiplied by the number of ways. `df`, `statistic` and `estimate` are those of the product. None where only
    #: levels were.
    way: Annotated[IntArray | None, Check("n", low=0, below=len(WAYS))] = None

    __test__ = False  # pytest: no test

    def __len__(self) -> int:
        return len(self.tuples)

    def is_consistent(self) -> bool:
        """Say whether just the fields are there that tests of this kind have, which a file may violate."""
        return self._columns().keys() - {"way"} == _names(self.kind)

    @property
    def words(self) -> Words:
        """The words of this kind of outcome."""
        return WORDS[self.kind]

    @property
    def choosing_log_p(self) -> FloatArray:
        """Logarithms of the p-values by which the discretisation of a tuple is chosen.

        Those of χ² for counts, which all tuples have: exact tests and bootstraps are made of the chosen ones.
        """
        if not self.words.counts_classes:
            return self.log_p
        return np.where(self.df > 0, log_chi2_tail(self.statistic, np.maximum(self.df, 1)), 0.0)

    @classmethod
    def none(cls, kind: str, dimensions: int) -> Self:
        """Return an empty list of tuples with this number of members."""
        arrays: dict[str, Any] = {}
        for name in _names(kind):
            width = dimensions if name in _WIDE else MAX_EXPLAINING if name == "explained_by" else 0
            shape = (0, width) if width else (0,)
            arrays[name] = np.empty(shape, dtype=np.int64 if name in _WHOLE else np.float64)
        return cls(kind, **arrays)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Put lists of one kind, one at least, one after the other."""
        if any(part.way is not None for part in parts):
            parts = [part if part.way is not None else part.of_way("levels") for part in parts]
        columns = [part._columns() for part in parts]
        return cls(parts[0].kind, **{name: np.concatenate([each[name] for each in columns]) for name in columns[0]})

    def of_way(self, way: str) -> Self:
        """Say that all tuples were tested in one way of several."""
        return self.with_fields(way=np.full(len(self), WAYS.index(way), dtype=np.int64))

    @property
    def are_products(self) -> BoolArray:
        """Which tuples were tested by products of their scores, one or those of a shape."""
        return np.zeros(len(self), dtype=bool) if self.way is None else np.asarray(self.way > 0)

    @property
    def are_shapes(self) -> BoolArray:
        """Which tuples were tested by the shape of their scores."""
        return np.zeros(len(self), dtype=bool) if self.way is None else np.asarray(self.way == WAYS.index("shape"))

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return the fields that there are, by name."""
        return {name: values for name in _arrays() if (values := getattr(self, name)) is not None}

    def chosen(self, rows: npt.NDArray[Any]) -> Self:
        """Keep some rows, in that order."""
        return type(self)(self.kind, **{name: values[rows] for name, values in self._columns().items()})

    def of_other_kind(self, kind: str, **changed: npt.NDArray[Any]) -> Self:
        """Return tests of another kind of outcome; fields that it lacks are left out."""
        columns = self._columns() | changed
        way = {"way"} & columns.keys()
        return type(self)(kind, **{name: columns[name] for name in _names(kind) | way})

    def by_p_value(self) -> Self:
        """Sort by p-value, then statistic (largest first), then members: the order of all lists.

        Tuples that were not tested for lack of samples come last, by their members alone.
        """
        is_sparse = self.method == METHODS.index(SPARSE)
        keys = (*self.tuples.T[::-1], np.where(is_sparse, 0.0, -self.statistic), is_sparse, self.log_p)
        return self.chosen(np.lexsort(keys))

    def adjusted(self, adjust: Callable[[FloatArray], FloatArray]) -> Self:
        """Fill in the adjusted p-values, also of other tests; those beside other effects have to be judged again."""
        unknown = np.full(len(self), np.nan)
        changed = {"p_adjusted": adjust(self.p_value), "smooth_adjusted": unknown, "beside_adjusted": unknown}
        for name in ("robust", "other"):
            if (log_p := getattr(self, f"{name}_log_p")) is not None:
                if name == "robust" and self.words.needs_robust:
                    log_p = np.maximum(log_p, self.log_p)  # the claim is one, and so is its adjustment
                changed[f"{name}_adjusted"] = _adjusted_known(np.exp(log_p), adjust)
        return self.with_fields(**changed)

    def with_fields(self, **changed: npt.NDArray[Any]) -> Self:
        """Return the same tests with other arrays in these fields."""
        return type(self)(self.kind, **self._columns() | changed)

    def of_discretization(self, discretization: IntArray) -> Self:
        """Say in which discretisation each tuple was tested."""
        return replace(self, discretization=discretization)

    def multiplied(self, log_factor: float | FloatArray) -> Self:
        """Multiply p-values of all tests by a factor, the number of discretisations or ways."""
        names = [name for name in ("log_p", "robust_log_p", "other_log_p") if getattr(self, name) is not None]
        return self.with_fields(**{name: np.minimum(getattr(self, name) + log_factor, 0.0) for name in names})

    @property
    def p_value(self) -> FloatArray:
        return np.exp(self.log_p)

    @property
    def p_smooth(self) -> FloatArray:
        return np.exp(self.smooth_log_p)

    @property
    def p_beside(self) -> FloatArray:
        return np.exp(self.beside_log_p)

    @property
    def p_robust(self) -> FloatArray:
        """p-values with robust variances; NaN where there are none."""
        return np.full(len(self), np.nan) if self.robust_log_p is None else np.exp(self.robust_log_p)

    @property
    def p_other_scale(self) -> FloatArray:
        """p-values on the other scale of the outcome; NaN where there are none."""
        return np.full(len(self), np.nan) if self.other_log_p is None else np.exp(self.other_log_p)

    def holds_robust(self, level: float) -> BoolArray:
        """Say which tuples are significant with robust variances."""
        assert self.robust_adjusted is not None
        return np.asarray(self.robust_adjusted < level)

    def scales(self, level: float, scale: str | None) -> list[str]:
        """Say on which scales each significant tuple is an interaction; see `class_scale_words` and `scale_words`."""
        words = [""] * len(self)
        if self.other_adjusted is not None:
            words = scale_words(self.p_other_scale, self.other_adjusted, scale=scale or "ranks", level=level)
        elif self.reri is not None and self.reri_low is not None and self.reri_high is not None:
            words = class_scale_words(self.estimate, self.reri, self.reri_low, self.reri_high)
        return [word if known else "" for word, known in zip(words, self.is_significant(level).tolist(), strict=True)]

    def is_significant(self, level: float) -> BoolArray:
        """Say which adjusted p-values are below the significance level, in all tests that decide."""
        return relevant_mask(self.p_decisive, level=level)

    def is_of_cutting(self, level: float) -> BoolArray:
        """Say which tuples are significant only because numbers were cut: not so beside their smooth effects."""
        return relevant_mask(self.p_adjusted, level=level) & np.asarray(self.smooth_adjusted >= level)

    def is_explained(self, level: float) -> BoolArray:
        """Say which tuples are significant, but not so beside the effects of other columns of the table."""
        others = replace(self, beside_adjusted=np.full(len(self), np.nan))
        return others.is_significant(level) & np.asarray(self.beside_adjusted >= level)

    def is_of_spread(self, level: float) -> BoolArray:
        """Say which tuples are significant only if all cells have one variance, where that may not be assumed."""
        if not self.words.needs_robust or self.robust_adjusted is None:
            return np.zeros(len(self), dtype=bool)
        return relevant_mask(self.p_adjusted, level=level) & np.asarray(self.robust_adjusted >= level)

    @property
    def p_decisive(self) -> FloatArray:
        """The largest of the adjusted p-values that decide: beside other effects and with robust variances, too."""
        both = np.fmax(np.fmax(self.p_adjusted, self.smooth_adjusted), self.beside_adjusted)
        if not self.words.needs_robust or self.robust_adjusted is None:
            return both
        return np.fmax(both, self.robust_adjusted)

    @property
    def standard_error(self) -> FloatArray:
        """The standard errors of `estimate`, from the intervals: normal ones, or t's of numbers."""
        from scipy.special import ndtri, stdtrit

        reach = ndtri(0.975) if self.df_residual is None else stdtrit(np.maximum(self.df_residual, 1), 0.975)
        return np.asarray((self.ci_high - self.ci_low) / (2 * reach))

    def strengths(self) -> dict[str, FloatArray]:
        """Return the logarithm to base 10 of each likelihood ratio, and of numbers the share of variance in percent."""
        if self.df_residual is None:
            return {"lod": self.statistic / (2 * np.log(10))}
        ratio = self.statistic * self.df / np.maximum(self.df_residual, 1)
        return {
            "lod": self.n_samples / 2 * np.log10(1 + ratio),
            "explained_percent": 100 * ratio / (1 + ratio),
        }

    def smooth_judged(self, adjust: Callable[[FloatArray], FloatArray], level: float) -> Self:
        """Fill in the adjusted p-values beside smooth effects.

        `adjust` gets p-values of all significant tuples: those of the search where nothing was cut. Of K significant
        products, one whose second test has p < `level` / (10 K) holds; else the larger p-value of both tests counts.
        """
        p_smooth, rows = self.p_smooth, np.flatnonzero(self.are_products & ~np.isnan(self.smooth_log_p))
        rows = rows[relevant_mask(self.p_adjusted[rows], level=level)]
        holds = p_smooth[rows] * len(rows) < SECOND_SHARE * level
        p_smooth[rows] = np.where(holds, self.p_value[rows], np.maximum(p_smooth[rows], self.p_value[rows]))
        return replace(self, smooth_adjusted=self._judged(p_smooth, self.p_value, adjust, level))

    def beside_judged(self, adjust: Callable[[FloatArray], FloatArray], level: float) -> Self:
        """Fill in the adjusted p-values beside the effects of other columns, in the same way."""
        before = np.fmax(self.p_value, self.p_smooth)
        return replace(self, beside_adjusted=self._judged(self.p_beside, before, adjust, level))

    def _judged(
        self, p_again: FloatArray, before: FloatArray, adjust: Callable[[FloatArray], FloatArray], level: float
    ) -> FloatArray:
        rows = np.flatnonzero(relevant_mask(self.p_adjusted, level=level))
        again = ~np.isnan(p_again[rows])
        adjusted = np.full(len(self), np.nan)
        if again.any():
            adjusted[rows] = np.where(again, adjust(np.where(again, p_again[rows], before[rows])), np.nan)
        return adjusted

    def method_names(self) -> list[str]:
        return [METHODS[number] for number in self.method.tolist()]

    def rows_of(self, tuples: IntArray) -> IntArray:
        """Return the row of each of these tuples, −1 where it was not tested."""
        row_of = {tuple(members): row for row, members in enumerate(self.tuples.tolist())}
        return np.array([row_of.get(tuple(members), -1) for members in tuples.tolist()], dtype=np.int64)


@cache
def _arrays() -> tuple[str, ...]:
    """Return the fields of arrays, in order."""
    return tuple(field.name for field in fields(TupleTests) if field.name != "kind")


@cache
def _names(kind: str) -> frozenset[str]:
    """Return the fields of tests of a kind of outcome."""
    of_some = {name for words in WORDS.values() for name in words.columns}
    return frozenset(_arrays()) - {"way"} - of_some | set(WORDS[kind].columns)


def _adjusted_known(p_value: FloatArray, adjust: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Adjust p-values of which some are not known (NaN): these stay so, and count as 1."""
    known = ~np.isnan(p_value)
    return np.where(known, adjust(np.where(known, p_value, 1.0)), np.nan)


def corrected_p_values(
    again: TupleTests, chi2: FloatArray, df: IntArray, discretizations: int | IntArray
) -> FloatArray:
    """Return p-values of second tests, where each G², or likelihood ratio of times, is corrected as in the search."""
    factor = np.ones(len(chi2))
    if again.words.corrected:
        factor = _correction(again, discretizations)
    return np.asarray(np.minimum(np.exp(chi2_log_tail(chi2 * np.minimum(factor, 1.0), df)) * discretizations, 1.0))


def _correction(again: TupleTests, discretizations: int | IntArray) -> FloatArray:
    """Return what exact tests or bootstraps made of each G², or F of the events of times, as a factor."""
    from scipy.special import chdtri

    p_in_one = np.exp(again.log_p) / discretizations
    # What exact test, bootstrap or F make of G², as a G² of χ²'s distribution; p-values that underflow stay.
    corrected = chdtri(np.maximum(again.df, 1), np.minimum(p_in_one, 1.0))
    return np.where(
        np.isfinite(corrected) & (again.statistic > 0), corrected / np.maximum(again.statistic, 1e-300), 1.0
    )


def adjust_listed(p_values: npt.ArrayLike, method: str = "holm", *, n_tests: int) -> FloatArray:
    """Adjust some of the p-values of `n_tests` tests for all of them.

    If the listed p-values are the smallest of all, "bonferroni" and "holm" are exact. Otherwise, and for "hochberg",
    "BH" and "BY" which look at larger p-values too, the result is never smaller than if all were known.

    - `p_values` (n_listed,) array_like.
    - `method`: as in `interplay.infer.p_values.adjust`: "holm", "hochberg", "bonferroni", "BH" or "fdr", "BY", "none".
    - `n_tests`: all tests that were made, listed or not.

    Examples
    --------
    Three of the 4950 pairs of 100 variables.

    >>> adjust_listed([1e-6, 2e-5, 0.001], "holm", n_tests=4950).round(6).tolist()
    [0.00495, 0.09898, 1.0]
    >>> adjust_listed([1e-6, 2e-5, 0.001], "BH", n_tests=4950).round(6).tolist()
    [0.00495, 0.0495, 1.0]
    """
    check_choice("p_adjust", method, LISTED_METHODS)
    p = check_numbers("p_values", p_values, (None,))
    n_tests = check_int("n_tests", n_tests, low=0)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p_values must lie between 0 and 1")
    if len(p) > n_tests:
        raise ValueError(f"n_tests must count all tests, at least the {len(p)} listed, not {shown(n_tests)}")
    method = ADJUSTMENTS[method].method
    if method == "none" or len(p) == 0:
        return p
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, len(p) + 1, dtype=np.float64)
    if method == "bonferroni":
        in_order = p[order] * n_tests
    elif method == "holm":
        in_order = np.maximum.accumulate(p[order] * (n_tests - rank + 1))
    elif method == "simes-hochberg":
        in_order = _smallest_from_here(p[order] * (n_tests - rank + 1))
    else:
        factor = n_tests * (harmonic_number(n_tests) if method == "fdr_by" else 1.0)
        in_order = _smallest_from_here(p[order] * (factor / rank))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(in_order, 1.0)
    return adjusted


def _smallest_from_here(values: FloatArray) -> FloatArray:
    return np.minimum.accumulate(values[::-1])[::-1]


def harmonic_number(n: int) -> float:
    """1 + 1/2 + … + 1/n, also for the number of all tuples of a large table."""
    from scipy.special import digamma

    return float(digamma(n + 1.0)) + np.euler_gamma
