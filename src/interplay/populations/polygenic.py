"""Genotypes and an outcome → what all variants predict, without each chromosome: offsets for a search.

Ridge regression in two levels. Level 0: of each block of variants, ridge regressions at several penalties; a sample's
predictions are made without its fold. Level 1: a ridge regression on all these predictions, by the likelihood of the
outcome, again without the fold of the sample that it predicts (Mbatchou et al. 2021, REGENIE). Penalties are those of
a heritability h²: effects of m standardised columns, each of variance h²/m beside noise of variance 1 − h², have the
penalty m(1 − h²)/h².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_int
from interplay.base.progress import Progress, check_progress, show_progress
from interplay.base.seeds import resolve_seed
from interplay.data.study.design import Design
from interplay.data.study.outcomes.outcome import Outcome
from interplay.data.study.positions import make_positions
from interplay.data.study.study import make_study
from interplay.data.study.table import Table
from interplay.populations.components import blocks, genotype_numbers, pruned_variants, sample_index, standardised
from interplay.populations.kinship import genotype_codes, related_pairs

if TYPE_CHECKING:
    import pandas as pd

#: Heritabilities whose penalties are tried, at both levels.
HERITABILITIES = (0.01, 0.25, 0.5, 0.75, 0.99)

#: Newton's steps of level 1, and the change of a prediction, in its standard deviations, that ends them.
_MAX_STEPS, _TOLERANCE = 30, 1e-5

#: Known parts of some samples, (n,), → slopes of the log-likelihood there, and minus the second derivatives.
Slopes = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def penalties(n_columns: int) -> FloatArray:
    """Return the penalties of so many standardised columns, by heritability.

    Examples
    --------
    >>> penalties(100).round(1).tolist()
    [9900.0, 300.0, 100.0, 33.3, 1.0]
    """
    h2 = np.array(HERITABILITIES)
    return np.asarray(n_columns * (1 - h2) / h2)


def fold_predictions(columns: FloatArray, target: FloatArray, folds: list[slice], strengths: FloatArray) -> FloatArray:
    """Return predictions of ridge regressions, each fold's from the other folds, (n_samples, n_strengths).

    - `columns` (n_columns, n_samples): centred.
    - `target` (n_samples,): centred.
    - `folds`: samples of each fold; together all.
    - `strengths` (n_strengths,): penalties.
    """
    from scipy.linalg import cho_factor, cho_solve

    grams = [columns[:, fold] @ columns[:, fold].T for fold in folds]
    moments = [columns[:, fold] @ target[fold] for fold in folds]
    gram, moment = np.sum(grams, axis=0), np.sum(moments, axis=0)
    found = np.empty((columns.shape[1], len(strengths)))
    diagonal = np.arange(len(columns))
    for fold, of_fold, moment_of_fold in zip(folds, grams, moments, strict=True):
        others = gram - of_fold
        for place, strength in enumerate(strengths.tolist()):
            raised = others.copy()
            raised[diagonal, diagonal] += strength
            factor = cho_factor(raised, lower=True, overwrite_a=True, check_finite=False)
            effects = cho_solve(factor, moment - moment_of_fold, check_finite=False)
            found[fold, place] = effects @ columns[:, fold]
    return found


def level_one(
    predictors: FloatArray, folds: list[slice], slopes: Slopes, slopes_of_rows: Callable[[IntArray], Slopes]
) -> FloatArray:
    """Return coefficients of level 1 for each fold, fitted to the other folds, (n_folds, n_predictors).

    All are 0 where no penalty predicts better than nothing does.

    - `predictors` (n_samples, n_predictors): predictions of level 0, standardised.
    - `slopes`: of all samples.
    - `slopes_of_rows`: returns those of some samples.
    """
    n_samples, m = predictors.shape
    left, curvature = slopes(np.zeros(n_samples))
    strengths = penalties(m) * float(curvature.mean())
    chosen = _best_strength(predictors, folds, left, curvature, strengths)
    coefficients = np.zeros((len(folds), m))
    if chosen is None:
        return coefficients
    for number, fold in enumerate(folds):
        rows = np.flatnonzero(_outside(fold, n_samples))
        coefficients[number] = _fitted(predictors[rows], slopes_of_rows(rows), chosen)
    return coefficients


def _best_strength(
    predictors: FloatArray, folds: list[slice], left: FloatArray, curvature: FloatArray, strengths: FloatArray
) -> float | None:
    """Return the penalty whose predictions of the other folds are best by the likelihood, to the second order."""
    loss = np.zeros(len(strengths))
    for fold in folds:
        known = _outside(fold, len(left))
        gram = (predictors[known] * curvature[known, np.newaxis]).T @ predictors[known]
        values, vectors = np.linalg.eigh(gram)
        moment = vectors.T @ (predictors[known].T @ left[known])
        effects = vectors @ (moment[:, np.newaxis] / (np.maximum(values, 0)[:, np.newaxis] + strengths))
        fitted = predictors[fold] @ effects
        loss += curvature[fold] @ fitted**2 - 2 * (left[fold] @ fitted)
    best = int(loss.argmin())
    return float(strengths[best]) if loss[best] < 0 else None


def _fitted(predictors: FloatArray, slopes: Slopes, strength: float) -> FloatArray:
    """Return the coefficients of a ridge regression by Newton's steps."""
    effects: FloatArray = np.zeros(predictors.shape[1])
    known: FloatArray = np.zeros(len(predictors))
    penalty = strength * np.eye(len(effects))
    for _ in range(_MAX_STEPS):
        left, curvature = slopes(known)
        weighted = predictors * curvature[:, np.newaxis]
        effects = np.asarray(
            np.linalg.solve(weighted.T @ predictors + penalty, weighted.T @ known + predictors.T @ left)
        )
        before, known = known, predictors @ effects
        if np.abs(known - before).max() <= _TOLERANCE * max(float(known.std()), 1e-300):
            break
    return np.asarray(effects)


def slope_of(prediction: FloatArray, slopes: Slopes) -> float:
    """Return the coefficient of predictions that were made in other folds, by the likelihood; 0 where it is negative.

    Level 1 is fitted to predictions of level 0 that have seen the fold it predicts, so that its own are somewhat large:
    by up to a quarter for classes of 600 samples. Where the known part is too large, variances p(1 − p) are too small.
    """
    slope = 1.0
    if not prediction.any():
        return slope
    for _ in range(_MAX_STEPS):
        left, curvature = slopes(slope * prediction)
        step = float(prediction @ left) / float(curvature @ prediction**2)
        slope += step
        if abs(step) < _TOLERANCE:
            break
    return max(slope, 0.0)


def _outside(fold: slice, n_samples: int) -> BoolArray:
    outside = np.ones(n_samples, dtype=np.bool_)
    outside[fold] = False
    return outside


#: Genotypes from which on progress is shown.
_MIN_SHOWN = 50_000_000

#: Fewest samples of a fold.
_MIN_IN_FOLD = 10

#: Of so many samples at most relatives are looked for, by so many variants; more are in folds at random.
_MAX_COMPARED, _N_COMPARED, _MAX_R2 = 20_000, 2000, 0.2

#: Pairs count as related where their kinship is so many standard deviations above 0; that of one variant.
_DEVIATIONS, _SPREAD = 3.5, 0.8


def polygenic_offsets(
    X: Any,
    y: Any,
    covariates: Any = None,
    *,
    strata: Any = None,
    entry: Any = None,
    decision: str = "auto",
    positions: Any = None,
    block_size: int = 500,
    n_folds: int = 5,
    random_state: Any = 0,
    progress: Progress = None,
) -> pd.DataFrame:
    """Predict the outcome by all variants but those of one chromosome, for each chromosome: offsets for `interactions`.

    Ridge regression in two levels, cross-fitted in folds, as in REGENIE. Relatives and a polygenic background then do
    not pass for interactions, and the noise that other variants make is smaller.

    Parameters
    ----------
    X : table-like
        Genotypes, 0, 1 and 2, as in the search.
    y, covariates, strata, entry, decision
        As in `interactions`; y may be numbers, two classes, or times as (time, event). What covariates explain is not
        part of the predictions: give them to the search, too.
    positions
        Chromosome and position of each variant, as in `interactions`. Files of genotypes have their own.
    block_size : int
        Variants of a block, all of one chromosome.
    n_folds : int
        A sample is predicted from the other folds.
    random_state
        Seed of the folds.
    progress : bool or callable, optional
        As in `interactions`.

    Returns
    -------
    DataFrame
        One row per sample, one column per chromosome, as `read_loco` returns it: means of numbers, log odds of the
        second class, or log hazards. `interactions` takes it as `offset`. All are 0 where variants together predict
        nothing.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.binomial(2, 0.4, size=(400, 100))
    >>> background = X @ rng.normal(size=100)
    >>> y = background / background.std() + rng.normal(size=400)
    >>> positions = [(str(v // 25 + 1), 1000.0 * v) for v in range(100)]
    >>> offsets = polygenic_offsets(X, y, positions=positions)
    >>> offsets.columns.tolist()
    ['1', '2', '3', '4']
    >>> bool(np.corrcoef(offsets["1"], background)[0, 1] > 0.5)
    True
    """
    import pandas as pd

    block_size = check_int("block_size", block_size, low=1)
    n_folds = check_int("n_folds", n_folds, low=2)
    check_progress(progress)
    study = make_study(
        X, y, covariates=covariates, strata=strata, entry=entry, decision=decision, scale="values", times=True
    )
    study.outcome.check_offset()
    table = study.table
    if table.n_samples < _MIN_IN_FOLD * n_folds:
        raise ValueError(
            f"X has {table.n_samples} samples, too few for n_folds={n_folds}: at least {_MIN_IN_FOLD} a fold"
        )
    by_chromosome = _variants_by_chromosome(table, positions)
    sizes = [-(-len(numbers) // block_size) for numbers in by_chromosome.values()]
    design = study.design.smoothed(study.outcome.n_informative)
    design = Design(table.n_samples, design.strata, None, design.covariates)
    fold_of = _folds(table, n_folds, np.random.RandomState(resolve_seed(random_state)))
    rows = np.argsort(fold_of, kind="stable")
    ends = np.cumsum([0, *np.bincount(fold_of, minlength=n_folds)])
    folds = [slice(begin, end) for begin, end in pairwise(ends.tolist())]
    outcome, unit = study.outcome.of_samples(rows).in_unit()
    design = design.of_samples(rows)
    work = table.n_samples * sum(map(len, by_chromosome.values()))
    with show_progress(
        progress, n_tuples=work, what="polygenic offsets", min_tuples=_MIN_SHOWN, unit="genotypes"
    ) as show:
        predictors = _level_zero(table, by_chromosome, block_size, outcome, design, rows, folds, show)
    slopes = _slopes(outcome, design)
    coefficients = level_one(predictors, folds, slopes, _SlopesOfRows(outcome, design))
    of_chromosome = np.repeat(np.arange(len(sizes)), np.array(sizes) * len(HERITABILITIES))
    parts = np.empty((len(sizes), table.n_samples))
    for c in range(len(sizes)):
        mine = of_chromosome == c
        for fold, effects in zip(folds, coefficients, strict=True):
            parts[c, rows[fold]] = predictors[fold][:, mine] @ effects[mine]
    parts *= slope_of(parts.sum(axis=0)[rows], slopes)
    left_out = parts.sum(axis=0) - parts
    return pd.DataFrame(left_out.T * unit, index=sample_index(X), columns=list(by_chromosome))


def _folds(table: Table, n_folds: int, rng: np.random.RandomState) -> IntArray:
    """Return the fold of each sample, (n_samples,): relatives are in different folds, as far as that is possible.

    Relatives in one fold do not predict each other, and stay as alike as they were: with folds at random the rest of
    sibs' outcomes had a correlation of 0.06 to 0.18, with these of 0.00 to 0.08.
    """
    order = rng.permutation(table.n_samples)
    most = -(-table.n_samples // n_folds)
    fold_of = np.full(table.n_samples, -1, dtype=np.int64)
    codes = None
    if table.n_samples <= _MAX_COMPARED:
        variants = pruned_variants(table, most=_N_COMPARED, max_r2=_MAX_R2)
        codes = genotype_codes(table, variants)
    if codes is None:
        fold_of[order] = np.arange(table.n_samples) % n_folds
        return fold_of
    first, second, kinship = related_pairs(codes, _DEVIATIONS * _SPREAD / np.sqrt(len(codes)))
    here, there, weight = (np.concatenate(both) for both in ((first, second), (second, first), (kinship, kinship)))
    by_sample = np.argsort(here, kind="stable")
    there, weight = there[by_sample], weight[by_sample]
    begin = np.searchsorted(here[by_sample], np.arange(table.n_samples + 1))
    sizes = np.zeros(n_folds)
    for sample in order.tolist():
        mine = slice(begin[sample], begin[sample + 1])
        folds = fold_of[there[mine]]
        load = np.bincount(folds[folds >= 0], weights=weight[mine][folds >= 0] ** 2, minlength=n_folds)
        # Of folds with as little kinship, the smallest; full ones last.
        chosen = int(np.lexsort((sizes, load, sizes >= most))[0])
        fold_of[sample] = chosen
        sizes[chosen] += 1
    return fold_of


def _variants_by_chromosome(table: Table, positions: Any) -> dict[str, IntArray]:
    """Return the numbers of the variants of each chromosome."""
    where = make_positions(positions, table)
    numbers = genotype_numbers(table)
    found = {}
    for c, label in enumerate(where.labels):
        here = numbers[where.chromosome[numbers] == c]
        if len(here):
            found[label] = here
    if len(found) < 2:
        raise ValueError(
            "X has variants of fewer than two chromosomes: without its own, nothing is left that predicts; give "
            "principal components as covariates instead"
        )
    return found


def _level_zero(
    table: Table,
    by_chromosome: dict[str, IntArray],
    block_size: int,
    outcome: Outcome,
    design: Design,
    rows: IntArray,
    folds: list[slice],
    show: Any,
) -> FloatArray:
    """Return the predictions of all blocks at all penalties, standardised, (n_samples, n_blocks × n_penalties).

    `outcome`, `design` and `folds` are of the samples in the order of `rows`.
    """
    columns = design.columns()
    target = outcome.slopes(columns, design)[0]
    target = target / target.std()
    basis = np.linalg.qr(columns)[0]
    strengths = penalties(sum(map(len, by_chromosome.values())))
    found: list[FloatArray] = []
    n_read = 0
    for numbers in by_chromosome.values():
        size = -(-len(numbers) // -(-len(numbers) // block_size))  # blocks of a chromosome are about equal
        for some, values in blocks(table, numbers, size):
            scaled = standardised(np.take(values, rows, axis=1))
            scaled -= (scaled @ basis) @ basis.T
            predicted = fold_predictions(scaled, target, folds, strengths)
            predicted -= predicted.mean(axis=0)
            spread = predicted.std(axis=0)
            found.append(np.asarray(predicted / np.where(spread > 1e-12, spread, 1.0), dtype=np.float32))
            n_read += len(some)
            if show is not None:
                show(n_read * table.n_samples)
    return np.asarray(np.hstack(found), dtype=np.float64)


def _slopes(outcome: Outcome, design: Design) -> Slopes:
    """Return the function that gives the slopes of the log-likelihood at known parts of the outcome."""
    columns = design.columns()
    return lambda known: outcome.slopes(columns, replace(design, offset=known))


class _SlopesOfRows:
    """Gives the slopes of some samples."""

    def __init__(self, outcome: Outcome, design: Design) -> None:
        self._outcome, self._design = outcome, design

    def __call__(self, rows: IntArray) -> Slopes:
        return _slopes(self._outcome.of_samples(rows), self._design.of_samples(rows))
