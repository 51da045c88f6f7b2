"""A comparison → the tests of its variables: by counts for classes, by sums of scores for numbers, in a model.

What asks here need not know the kind of the outcome: the search of single variables, and that of several dimensions.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from interplay.ask.selection.settings import SelectionSettings
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.base.planes import BitPlanes
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import Coder
from interplay.data.codes.rank_scores import RankScores, normal_scores
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.targets import ClassTarget, ScoreTarget
from interplay.infer.conditional_test import conditional_log_p
from interplay.infer.correlation_test import (
    NumberTarget,
    correlation_log_p,
    distances,
    eighths_log_p,
    level_correlation_log_p,
    level_gain_log_p,
)
from interplay.infer.drawn_levels import DrawnLevels
from interplay.infer.given_test import GivenInModel, GivenNumbers, GivenOthers
from interplay.infer.product_maxima import (
    ProductMaxima,
    int_normal_scores,
    int_scores,
    number_products,
    product_maxima,
)
from interplay.infer.residual_test import ResidualTarget
from interplay.infer.score_test import class_targets, level_score_log_p, level_scores, score_log_p
from interplay.search.engines.tables import count_tables

#: Codes of a number outcome's variables that are in memory at once. A fixed number: results do not depend on threads.
_CODES_AT_ONCE = 1 << 22


class ExactPValues(Protocol):
    """p-values of single variables, each from the test of one discretisation after the other.

    Of several discretisations each is a test, and the smallest p-value counts, times their number (union bound).
    """

    def see_planes(self, planes: BitPlanes) -> None:
        """Test all variables as one discretisation has them; a search calls it where `needs_planes`."""

    @property
    def needs_planes(self) -> bool: ...

    def log_p(self) -> FloatArray:
        """Return natural logarithms, of the variables and then of the contrast ones if these count."""


class VariableTests(Protocol):
    """The tests of the variables of a comparison."""

    #: Whether products are compared with those of contrast variables.
    needs_contrast: ClassVar[bool]

    def alone(self, scores: RankScores, rows: slice) -> FloatArray:
        """Return ln p of the first four tests of `ScoreTests`, (4, n), of some variables; NaN where there is no test.

        That is a shift, a difference in spread, one between eighths, and the spread of the outcome.
        """

    def given(self, strong: FloatArray, strata: IntArray | None) -> GivenOthers | GivenInModel:
        """Return the tests of variables given strong ones, whose scores are (n_strong, n_samples)."""

    def products(self, sources: list[RankScores], given: GivenOthers | GivenInModel) -> ProductMaxima:
        """Return the strongest product of each variable; the first source has the variables, others the contrast."""

    def exact(self, coded: CodedComparison, settings: SelectionSettings, *, with_contrast: bool) -> ExactPValues:
        """Return the p-values of single variables; contrast variables are left out unless they are asked for."""


def variable_tests(comparison: Comparison) -> VariableTests:
    """Return the tests of the variables of a comparison: of residuals, in the model that they are of."""
    target = comparison.outcome
    if isinstance(target, ScoreTarget):
        return NumberTests(target, comparison) if target.model is None else ResidualTests(target, comparison)
    return ClassTests(target)


class ClassTests:
    """Tests of classes, by counts of samples."""

    needs_contrast: ClassVar[bool] = True

    def __init__(self, target: ClassTarget) -> None:
        self._classes = _in_order_of_appearance(target)
        self._targets = class_targets(self._classes.codes, self._classes.n_classes)

    def alone(self, scores: RankScores, rows: slice) -> FloatArray:
        found = rank, spread, shape, _ = np.full((4, rows.stop - rows.start), np.nan)
        by_samples, by_levels = _tested_by(scores, rows)
        if len(by_samples):
            values = scores.read_normal(rows)[by_samples]
            if len(self._targets) == 1:
                # Two classes are a number of two values, whose tests know the tails of permutations.
                target = NumberTarget.of(self._targets[0], scores.strata)
                rank[by_samples] = correlation_log_p(values, target)
                spread[by_samples] = correlation_log_p(values**2, target)
                shape[by_samples] = eighths_log_p(scores.read(rows)[by_samples], target)
            else:
                rank[by_samples] = score_log_p(values, self._targets, strata=scores.strata)
                spread[by_samples] = score_log_p(values**2, self._targets, strata=scores.strata)
        for number, same in by_levels:
            counts = self._counts(scores, rows.start + same, number)
            of_levels = level_scores(counts)
            rank[same] = level_score_log_p(counts, of_levels)
            if number > 2:  # of two levels there is but one difference
                spread[same] = level_score_log_p(counts, of_levels**2)
        return found

    def given(self, strong: FloatArray, strata: IntArray | None) -> GivenOthers | GivenInModel:
        return GivenOthers.of(strong, self._targets, strata)

    def products(self, sources: list[RankScores], given: GivenOthers | GivenInModel) -> ProductMaxima:
        coder = sources[0].coder
        return product_maxima(
            np.concatenate([int_scores(source.read(rows)) for source in sources for rows in source.blocks()]),
            given.residuals,
            n_vars=coder.table.n_vars,
            n_fitted=given.n_fitted,
            n_threads=coder.n_jobs,
        )

    def exact(self, coded: CodedComparison, settings: SelectionSettings, *, with_contrast: bool) -> ExactPValues:
        return _OfPlanes(settings.pseudocount, has_strata=coded.has_stratum, with_contrast=with_contrast)

    def _counts(self, scores: RankScores, variables: IntArray, n_levels: int) -> IntArray:
        """Count the samples of some few-valued variables by level, class and stratum."""
        strata, classes = scores.strata, self._classes
        n_strata = 1 if strata is None else int(strata.max(initial=0)) + 1
        group = classes.codes * n_strata + (0 if strata is None else strata)
        n_groups = classes.n_classes * n_strata
        counts = np.empty((len(variables), n_levels, classes.n_classes, n_strata), dtype=np.int64)
        for row, codes in enumerate(scores.coder.codes_of(0, variables).codes):
            flat = np.bincount(codes.astype(np.int64) * n_groups + group, minlength=n_levels * n_groups)
            counts[row] = flat.reshape(n_levels, classes.n_classes, n_strata)
        return counts


class _OfPlanes:
    """p-values of single variables from their counts."""

    needs_planes = True

    def __init__(self, pseudocount: float, *, has_strata: bool, with_contrast: bool) -> None:
        self._pseudocount, self._has_strata, self._with_contrast = pseudocount, has_strata, with_contrast
        self._of_each: list[FloatArray] = []

    def see_planes(self, planes: BitPlanes) -> None:
        n_rows = (planes.n_rows if self._with_contrast else planes.n_vars) - self._has_strata
        log_p = np.zeros(n_rows)
        rows = np.arange(n_rows)[:, np.newaxis]
        if self._has_strata:
            rows = np.column_stack([np.zeros_like(rows), rows + 1])
        for places, tables in count_tables(planes, rows):
            # (n, n_strata, n_levels, n_classes) → (n, n_levels, n_classes, n_strata)
            by_stratum = tables if self._has_strata else tables[:, np.newaxis]
            log_p[places] = conditional_log_p(np.moveaxis(by_stratum, 1, -1), pseudocount=self._pseudocount)
        self._of_each.append(log_p)

    def log_p(self) -> FloatArray:
        return _best_of(self._of_each)


class NumberTests:
    """Tests of the scores of a number outcome, by their sums."""

    needs_contrast: ClassVar[bool] = False

    def __init__(self, target: ScoreTarget, comparison: Comparison) -> None:
        strata = None if comparison.strata is None else comparison.strata.codes
        self._scores = target.scores[np.newaxis]
        self._target = NumberTarget.of(target.scores, strata)
        self._drawn = DrawnLevels(self._target.scores)
        self._distances = NumberTarget.of(distances(target.scores, strata), strata)
        self._drawn_distances = DrawnLevels(self._distances.scores)

    def alone(self, scores: RankScores, rows: slice) -> FloatArray:
        found = rank, spread, shape, noise = np.full((4, rows.stop - rows.start), np.nan)
        by_samples, by_levels = _tested_by(scores, rows)
        if len(by_samples):
            values = scores.read_normal(rows)[by_samples]
            rank[by_samples] = correlation_log_p(values, self._target)
            spread[by_samples] = correlation_log_p(values**2, self._target)
            shape[by_samples] = eighths_log_p(scores.read(rows)[by_samples], self._target)
            noise[by_samples] = correlation_log_p(values, self._distances)
        for number, same in by_levels:
            sizes, sums = _level_sums(scores.coder, 0, rows.start + same, max(number, 2), self._target)
            far = _level_sums(scores.coder, 0, rows.start + same, max(number, 2), self._distances)[1]
            of_levels = normal_scores(np.where(sizes > 0, level_scores(sizes[:, :, np.newaxis]), 0.0))
            rank[same] = level_correlation_log_p(sizes, sums, of_levels, self._target, self._drawn)
            noise[same] = level_correlation_log_p(sizes, far, of_levels, self._distances, self._drawn_distances)
            if number > 2:  # of two levels there is but one difference
                spread[same] = level_correlation_log_p(sizes, sums, of_levels**2, self._target, self._drawn)
        return found

    def given(self, strong: FloatArray, strata: IntArray | None) -> GivenOthers | GivenInModel:
        return GivenNumbers.of(strong, self._scores, strata)

    def products(self, sources: list[RankScores], given: GivenOthers | GivenInModel) -> ProductMaxima:
        scores = sources[0]
        return number_products(
            np.concatenate(
                [int_normal_scores(scores.read_normal(rows), scores.read(rows)) for rows in scores.blocks()]
            ),
            given.residuals[0],
            n_fitted=given.n_fitted,
            n_threads=scores.coder.n_jobs,
        )

    def exact(self, coded: CodedComparison, settings: SelectionSettings, *, with_contrast: bool) -> ExactPValues:
        return _OfLevels(self, coded, settings.discretizations, with_contrast=with_contrast)

    def level_log_p(self, coder: Coder, d: int, variables: IntArray, n_levels: int) -> FloatArray:
        """Return ln p of differences between the levels of variables with as many, in one discretisation."""
        sizes, sums = _level_sums(coder, d, variables, n_levels, self._target)
        return level_gain_log_p(sizes, sums, self._target, self._drawn)


class ResidualTests(NumberTests):
    """Tests of variables in the model that the residuals are of."""

    def __init__(self, target: ScoreTarget, comparison: Comparison) -> None:
        self._residuals, self._model = ResidualTarget.of(target), comparison.model

    def alone(self, scores: RankScores, rows: slice) -> FloatArray:
        found = rank, spread, _, _ = np.full((4, rows.stop - rows.start), np.nan)
        is_ordered = scores.is_ordered[rows]
        places = np.flatnonzero(is_ordered)
        if len(places):
            values = scores.read_normal(rows)[places]
            rank[places] = self._residuals.log_p(values)
            spread[places] = self._residuals.log_p(values**2)
            # Of two levels there is but one difference.
            spread[is_ordered & scores.coder.is_discrete[rows] & (scores.coder.n_levels[rows] <= 2)] = np.nan
        return found

    def given(self, strong: FloatArray, strata: IntArray | None) -> GivenOthers | GivenInModel:
        assert self._model is not None
        return GivenInModel.of(strong, self._model)

    def level_log_p(self, coder: Coder, d: int, variables: IntArray, n_levels: int) -> FloatArray:
        return self._residuals.level_log_p(coder.codes_of(d, variables).codes.astype(np.int64), n_levels)


class _OfLevels:
    """p-values of single variables about scores, from their codes."""

    needs_planes = False

    def __init__(
        self, tests: NumberTests, coded: CodedComparison, discretizations: int, *, with_contrast: bool
    ) -> None:
        self._tests, self._discretizations = tests, discretizations
        self._coders = [coded.coder, *([coded.contrast] if with_contrast and coded.contrast is not None else [])]

    def see_planes(self, planes: BitPlanes) -> None:
        """Codes are read again: planes have integers in place of the scores."""

    def log_p(self) -> FloatArray:
        of_each = [
            np.concatenate([self._of_coder(coder, d) for coder in self._coders]) for d in range(self._discretizations)
        ]
        return _best_of(of_each)

    def _of_coder(self, coder: Coder, d: int) -> FloatArray:
        """Test all variables of a coder as one discretisation has them."""
        log_p = np.empty(coder.table.n_vars)
        n_levels = np.maximum(coder.n_levels, 2)
        size = max(1, _CODES_AT_ONCE // max(coder.table.n_samples, 1))
        jobs = [
            (number, same[begin : begin + size])
            for number in np.unique(n_levels).tolist()
            for same in [np.flatnonzero(n_levels == number)]
            for begin in range(0, len(same), size)
        ]

        def test(job: tuple[int, IntArray]) -> None:
            number, variables = job
            log_p[variables] = self._tests.level_log_p(coder, d, variables, number)

        map_in_threads(test, jobs, coder.n_jobs)
        return log_p


def _best_of(of_each: list[FloatArray]) -> FloatArray:
    """Return the smallest ln p of all discretisations, times their number."""
    return np.asarray(np.minimum(np.min(of_each, axis=0) + np.log(len(of_each)), 0.0))


def _in_order_of_appearance(classes: ClassTarget) -> ClassTarget:
    """Number the classes by their first samples: what they are called then does not decide the last bits of p."""
    _, first = np.unique(classes.codes, return_index=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return DecisionClasses(place[classes.codes], [classes.labels[q] for q in np.argsort(first)], classes.kind)


def _tested_by(scores: RankScores, rows: slice) -> tuple[IntArray, list[tuple[int, IntArray]]]:
    """Return which of some variables are tested sample by sample, and which by their few levels, by number of levels.

    Variables without an order are in neither.
    """
    coder = scores.coder
    ordered, n_levels = scores.is_ordered[rows], coder.n_levels[rows]
    by_levels = ordered & coder.is_discrete[rows] & (coder.n_missing[rows] == 0)
    numbers = np.unique(n_levels[by_levels]).tolist()
    same = [(number, np.flatnonzero(by_levels & (n_levels == number))) for number in numbers]
    return np.flatnonzero(ordered & ~by_levels), same


def _level_sums(
    coder: Coder, discretization: int, variables: IntArray, n_levels: int, target: NumberTarget
) -> tuple[IntArray, FloatArray]:
    """Return sizes and sums, (n_variables, n_levels, n_strata), of variables with up to `n_levels` levels."""
    n_strata = target.n_strata
    n_cells = n_levels * n_strata
    sizes = np.empty((len(variables), n_levels, n_strata), dtype=np.int64)
    sums = np.empty((len(variables), n_levels, n_strata))
    for row, codes in enumerate(coder.codes_of(discretization, variables).codes):
        cells = codes.astype(np.int64) * n_strata + target.strata
        sizes[row] = np.bincount(cells, minlength=n_cells).reshape(n_levels, n_strata)
        sums[row] = np.bincount(cells, weights=target.scores, minlength=n_cells).reshape(n_levels, n_strata)
    return sizes, sums
