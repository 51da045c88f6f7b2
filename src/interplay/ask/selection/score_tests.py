"""An outcome + rank scores of its table → tests of single variables, and the strongest products."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from interplay.ask.selection.level_sums import level_sums
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.data.codes.rank_scores import RankScores, normal_scores
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.targets import ClassTarget, ScoreTarget, Target
from interplay.files.types import Check
from interplay.infer.correlation_test import NumberTarget, correlation_log_p, level_correlation_log_p
from interplay.infer.drawn_levels import DrawnLevels
from interplay.infer.given_test import GivenInModel, GivenOthers, choose_strong
from interplay.infer.product_maxima import (
    ProductMaxima,
    int_normal_scores,
    int_scores,
    is_small_enough,
    number_products,
    product_maxima,
)
from interplay.infer.residual_test import ResidualTarget
from interplay.infer.score_test import class_targets, level_score_log_p, level_scores, score_log_p


@dataclass(frozen=True, eq=False)
class ScoreTests:
    """What rank scores say about each variable."""

    #: `rank`, `spread`, `given`, (n_vars,): natural logarithms of p-values: a shift between classes, a difference in
    #: spread (a U shape), a shift given other variables. Of a number outcome, its correlation with ranks, with their
    #: squares, and with ranks given other variables. NaN where a test does not apply.
    rank: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    spread: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    given: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: None where pairs were not asked for, are too many, or have no column that was cut.
    product: ProductMaxima | None


def run_score_tests(
    scores: RankScores,
    outcome: Target,
    *,
    names: Collection[str],
    contrast: RankScores | None = None,
    model: FullModel | None = None,
) -> ScoreTests:
    """Test every variable by its scores, as far as the tests in `names` need it.

    `contrast` are the scores of the contrast variables, for products. Of an outcome that is residuals, `model` is the
    model that they are of: variables are tested in it.
    """
    coder = scores.coder
    n_vars, n_samples = coder.table.n_vars, coder.table.n_samples
    blocks = list(scores.blocks())
    alone: Callable[[slice], tuple[FloatArray, FloatArray]]
    adjusted: ResidualTarget | None = None
    if isinstance(outcome, ScoreTarget) and outcome.model is not None:
        adjusted = ResidualTarget.of(outcome)
        alone = partial(_alone_adjusted, scores, target=adjusted)
    elif isinstance(outcome, ScoreTarget):
        targets = outcome.scores[np.newaxis]
        target = NumberTarget.of(outcome.scores, scores.strata)
        alone = partial(_alone_number, scores, target=target, drawn=DrawnLevels(target.scores))
    else:
        classes = _in_order_of_appearance(outcome)
        targets = class_targets(classes.codes, classes.n_classes)
        alone = partial(_alone, scores, classes=classes, targets=targets)

    is_number = isinstance(outcome, ScoreTarget)
    n_contrast = 0 if contrast is None or is_number else contrast.coder.table.n_vars
    wants_product = (
        "product 2" in names and not coder.is_discrete.all() and is_small_enough(n_vars, n_contrast, n_samples)
    )
    nothing = np.full(n_vars, np.nan)
    if not ({"rank", "spread", "given"} & set(names) or wants_product):
        return ScoreTests(nothing, nothing, nothing, None)
    parts = map_in_threads(alone, blocks, coder.n_jobs)
    rank, spread = (np.concatenate([part[i] for part in parts]) for i in range(2))
    strong = choose_strong(rank, n_samples)
    strong_scores = np.array([scores.read_normal(slice(v, v + 1))[0] for v in strong.tolist()])
    strong_scores = strong_scores.reshape(len(strong), n_samples)
    with one_blas_thread():
        given_others: GivenOthers | GivenInModel
        if adjusted is None:
            given_others = GivenOthers.of(strong_scores, targets, scores.strata, is_number=is_number)
        else:
            assert model is not None
            given_others = GivenInModel.of(strong_scores, model)
        given = nothing
        if "given" in names:
            parts_given = map_in_threads(
                lambda rows: given_others.log_p(scores.read_normal(rows)), blocks, coder.n_jobs
            )
            given = np.where(np.isnan(rank), np.nan, np.concatenate(parts_given))
            given[strong[given_others.is_kept]] = given_others.log_p_of_kept()
    product = None
    if wants_product and isinstance(outcome, ScoreTarget):
        product = number_products(
            np.concatenate([int_normal_scores(scores.read_normal(rows), scores.read(rows)) for rows in blocks]),
            given_others.residuals[0],
            n_fitted=given_others.n_fitted,
            n_threads=coder.n_jobs,
        )
    elif wants_product:
        sources = [scores] if contrast is None else [scores, contrast]
        rows_of_all = [int_scores(source.read(rows)) for source in sources for rows in source.blocks()]
        product = product_maxima(
            np.concatenate(rows_of_all),
            given_others.residuals,
            n_vars=n_vars,
            n_fitted=given_others.n_fitted,
            n_threads=coder.n_jobs,
        )
    return ScoreTests(rank, spread, given, product)


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


def _alone(scores: RankScores, rows: slice, classes: ClassTarget, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ln p of a shift and of a difference in spread, of some variables."""
    rank, spread = np.full((2, rows.stop - rows.start), np.nan)
    by_samples, by_levels = _tested_by(scores, rows)
    if len(by_samples):
        values = scores.read(rows)[by_samples]
        # The statistic goes in steps of one rank.
        rank[by_samples] = score_log_p(values, targets, strata=scores.strata, step=2.0 / values.shape[1])
        spread[by_samples] = score_log_p(values**2, targets, strata=scores.strata)
    for number, same in by_levels:
        counts = _counts(scores, rows.start + same, number, classes)
        of_levels = level_scores(counts)
        rank[same] = level_score_log_p(counts, of_levels)
        if number > 2:  # of two levels there is but one difference
            spread[same] = level_score_log_p(counts, of_levels**2)
    return rank, spread


def _alone_number(
    scores: RankScores, rows: slice, target: NumberTarget, drawn: DrawnLevels
) -> tuple[FloatArray, FloatArray]:
    """Return ln p of the correlation of a number outcome with normal scores and their squares, of some variables."""
    rank, spread = np.full((2, rows.stop - rows.start), np.nan)
    by_samples, by_levels = _tested_by(scores, rows)
    if len(by_samples):
        values = scores.read_normal(rows)[by_samples]
        rank[by_samples] = correlation_log_p(values, target)
        spread[by_samples] = correlation_log_p(values**2, target)
    for number, same in by_levels:
        sizes, sums = level_sums(scores.coder, 0, rows.start + same, max(number, 2), target)
        of_levels = np.where(sizes > 0, level_scores(sizes[:, :, np.newaxis]), 0.0)
        of_levels = normal_scores(of_levels)
        rank[same] = level_correlation_log_p(sizes, sums, of_levels, target, drawn)
        if number > 2:  # of two levels there is but one difference
            spread[same] = level_correlation_log_p(sizes, sums, of_levels**2, target, drawn)
    return rank, spread


def _alone_adjusted(scores: RankScores, rows: slice, target: ResidualTarget) -> tuple[FloatArray, FloatArray]:
    """Return ln p of normal scores and of their squares in the model of residuals, of some variables."""
    rank, spread = np.full((2, rows.stop - rows.start), np.nan)
    is_ordered = scores.is_ordered[rows]
    places = np.flatnonzero(is_ordered)
    if len(places):
        values = scores.read_normal(rows)[places]
        rank[places] = target.log_p(values)
        spread[places] = target.log_p(values**2)
        # Of two levels there is but one difference.
        spread[is_ordered & scores.coder.is_discrete[rows] & (scores.coder.n_levels[rows] <= 2)] = np.nan
    return rank, spread


def _counts(scores: RankScores, variables: IntArray, n_levels: int, classes: ClassTarget) -> IntArray:
    """Count the samples of some few-valued variables by level, class and stratum."""
    strata = scores.strata
    n_strata = 1 if strata is None else int(strata.max(initial=0)) + 1
    group = classes.codes * n_strata + (0 if strata is None else strata)
    n_groups = classes.n_classes * n_strata
    counts = np.empty((len(variables), n_levels, classes.n_classes, n_strata), dtype=np.int64)
    for row, codes in enumerate(scores.coder.codes_of(0, variables).codes):
        flat = np.bincount(codes.astype(np.int64) * n_groups + group, minlength=n_levels * n_groups)
        counts[row] = flat.reshape(n_levels, classes.n_classes, n_strata)
    return counts
