"""Levels of one tuple's members and columns of a model → the interaction of the levels, tested beside the columns.

Columns are smooth effects of numbers that were cut, or covariates; times and offsets have their full model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, cast

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.tails import chi2_of_log_tail
from interplay.data.models.linear import cell_columns, independent_columns
from interplay.data.study.design import Design
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import NO_ESTIMATE, CellTests, Outcome
from interplay.data.study.outcomes.targets import Target
from interplay.infer.interaction.interaction_test import chi2_log_tail
from interplay.infer.interaction.null_model import parity_signs
from interplay.infer.smooth_columns import smooth_columns

#: Products of covariates and members enter a model while it has at most a column for so many samples of the rarest
#: class, events, or samples of numbers.
_SAMPLES_PER_COLUMN = 5


class TupleSamples(NamedTuple):
    """The samples that have a level of every member of a tuple."""

    #: (n_known,): their numbers.
    known: IntArray
    levels: IntArray  #: (k, n_known)
    stratum: IntArray | None = None  #: (n_known,)
    #: sequence of (n_known,): where the product of dosages is tested in place of cells.
    dosages: Sequence[FloatArray] | None = None

    @classmethod
    def of_levels(cls, levels: IntArray, stratum: IntArray | None = None) -> TupleSamples:
        """Return all samples, of levels (k, n_samples)."""
        return cls(np.arange(levels.shape[1]), levels, stratum)


class NestedModels(NamedTuple):
    """Columns of two models of a tuple, the interaction of its levels in the larger one alone."""

    #: (n, n_columns): of the larger model; none is a sum of others.
    columns: FloatArray
    #: The first ones are those of the smaller model.
    n_smaller: int
    #: (n,): numbers of their samples.
    rows: IntArray

    @property
    def df(self) -> int:
        return int(self.columns.shape[1]) - self.n_smaller


def nested_models(outcome: Target, samples: TupleSamples, columns: FloatArray) -> NestedModels:
    """Return models with and without the interaction of a tuple, which both have `columns` beside.

    The smaller model has the effects of all proper subsets of the members, in each stratum its own; the larger one has
    an effect of every cell. Of numbers, samples in cells of few samples are left out, as in the search.

    - `outcome`: of all samples.
    - `columns` (n_known, n_columns): of these samples.
    """
    known, levels, stratum, dosages = samples
    if dosages is not None:
        smaller, larger = _products(dosages, stratum)
        return models_of(np.hstack([smaller, columns]), larger, known)
    cells = cells_of(levels, stratum)
    if outcome.fewest_in_cell > 1:
        rows = np.flatnonzero(np.bincount(cells)[cells] >= outcome.fewest_in_cell)
        levels, columns, known, cells = levels[:, rows], columns[rows], known[rows], cells[rows]
        stratum = None if stratum is None else stratum[rows]
    if not len(known):
        return NestedModels(np.empty((0, 0)), 0, known)
    parts = [cell_columns(cells_of(np.array(part), stratum)) for part in combinations(levels, len(levels) - 1)]
    return models_of(np.hstack([*parts, columns]), cell_columns(cells), known)


def with_covariates(columns: FloatArray, model: FullModel, samples: TupleSamples) -> FloatArray:
    """Return columns of both models of a tuple , those of its full model, and products of covariates with effects."""
    products = covariate_products(model, samples, columns.shape[1])
    return np.hstack([columns, model.columns()[samples.known], products])


def covariate_products(model: FullModel, samples: TupleSamples, n_beside: int) -> FloatArray:
    """Return products of covariates with effects of the other members, (n_known, n), for both models of a tuple.

    A member that goes with a covariate stands in for it: where the effect of another member depends on the covariate,
    the two look like an interaction (Keller 2014). So each covariate (its values, or labels) is multiplied by the
    effects of all members but one, unless that one goes with covariates no more than it would by chance. Where samples
    are few, products of covariates that a left-out member goes with most come first.

    `n_beside`: columns of the models beside those of `model` and the cells of the tuple.
    """
    known, levels, _, dosages = samples
    covariates = model.design.plain[known]
    n = len(known)
    if not covariates.shape[1] or not n:
        return np.empty((n, 0))
    covariates = covariates - covariates.mean(axis=0)
    of_all = np.linalg.qr(independent_columns(covariates))[0]
    total = np.maximum((covariates**2).sum(axis=0), 1e-300)
    members = levels if dosages is None else np.array([x - x.mean() for x in dosages])
    found: list[tuple[float, FloatArray]] = []
    for j, left_out in enumerate(members):
        others = np.delete(members, j, axis=0)
        if dosages is None:
            effects, own = cell_columns(cells_of(others))[:, 1:], cell_columns(left_out)
            own = own[:, 1:] - own[:, 1:].mean(axis=0)
        else:
            effects, own = np.prod(others, axis=0)[:, np.newaxis], left_out[:, np.newaxis]
        basis = np.linalg.qr(independent_columns(own))[0]
        if ((basis.T @ of_all) ** 2).sum() > basis.shape[1] * of_all.shape[1] / max(n - 1, 1):
            shares = ((basis.T @ covariates) ** 2).sum(axis=0) / total
            found += [(share, effects * c[:, np.newaxis]) for share, c in zip(shares, covariates.T, strict=True)]
    n_cells = int(cells_of(levels).max()) + 1 if dosages is None else 2 ** len(levels)
    room = model.outcome.n_informative // _SAMPLES_PER_COLUMN - model.columns().shape[1] - n_cells - n_beside
    chosen = [np.empty((n, 0))]
    for _, columns in sorted(found, key=lambda one: -one[0]):
        room -= columns.shape[1]
        if room < 0:
            break
        chosen.append(columns)
    return np.hstack(chosen)


def models_of(smaller: FloatArray, more: FloatArray, rows: IntArray) -> NestedModels:
    """Return two models by their columns, those of the smaller one and those that the larger one has beside."""
    smaller = independent_columns(smaller)
    return NestedModels(independent_columns(np.hstack([smaller, more])), smaller.shape[1], rows)


def _products(dosages: Sequence[FloatArray], stratum: IntArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the products of dosages of proper subsets, the constant among them, and that of all; in each stratum."""
    centred = [x - x.mean() for x in dosages]
    inside = np.ones((len(dosages[0]), 1)) if stratum is None else np.eye(int(stratum.max()) + 1)[stratum]
    subsets = [some for size in range(len(dosages) + 1) for some in combinations(centred, size)]
    columns = [inside * np.prod([np.ones(len(inside)), *some], axis=0)[:, np.newaxis] for some in subsets]
    return np.hstack(columns[:-1]), columns[-1]


def cells_of(levels: IntArray, stratum: IntArray | None = None) -> IntArray:
    """Number the combinations of levels, (k, n_samples), within strata."""
    cells = np.zeros(levels.shape[1], dtype=np.int64) if stratum is None else numbered(stratum)
    for codes in levels:
        cells = numbered(cells * (int(codes.max(initial=0)) + 1) + codes)
    return cells


#: The level on the other scale, as a share of the significance level. With 1, additive effects that one scale bends are
#: called an interaction in 3.3 % of tables, beside the errors that the search makes elsewhere.
OTHER_SCALE_SHARE = 0.1


def smooth_test(
    outcome: Target,
    samples: TupleSamples,
    splines: Sequence[FloatArray | None],
    *,
    model: FullModel | None = None,
    more: FloatArray | None = None,
    robust_in: Design | None = None,
) -> tuple[tuple[float, int], tuple[float, int] | None]:
    """Test the interaction of levels beside smooth effects of the members that are cut numbers.

    - `splines`, sequence of (n_known, n_columns): of each member, as `spline_columns` makes them; None for members that
      were not cut.
    - `outcome`, `samples`: as in `nested_models`.
    - `model`: with covariates, an offset or times, of all samples: its columns are in both models.
    - `more` (n_known, n_columns): effects of other columns of the table, in both models as well.
    - `robust_in`: for numbers: take the test with robust variances where its p-value is larger; the design of all
      samples.

    Returns
    -------
    (chi2, df) : (float, int)
        Of the classes, or of the scores of numbers.
    on_other_scale : (float, int) or None
        The same of the values of numbers, where scores are those of ranks, and of probits of two classes; None where
        the user has chosen the scale, and for more classes.
    """
    columns = smooth_columns(splines, samples.levels, samples.stratum)
    if more is not None:
        columns = np.hstack([columns, more])
    if model is not None:
        columns = with_covariates(columns, model, samples)
    models = nested_models(outcome, samples, columns)
    smaller, larger = models.columns[:, : models.n_smaller], models.columns[:, models.n_smaller :]
    if model is not None:
        found = model.likelihood_ratio(smaller, larger, models.rows) if len(models.rows) else (0.0, 0)
        modelled, offset = model.outcome, model.design.offset
    else:
        modelled, offset = cast("Outcome", outcome), None  # without a model it is a target itself
        found = modelled.nested_ratio(models.columns, models.n_smaller, models.rows)
    if robust_in is not None and found[1]:
        second = modelled.second_test(robust_in, smaller, larger, models.rows, None).robust_log_p
        if np.isfinite(second):
            found = min(found[0], float(chi2_of_log_tail(second, found[1]))), found[1]
    return found, modelled.ratio_on_other_scale(models.columns, models.n_smaller, models.rows, offset)


def smooth_log_p(p_values: FloatArray, on_other_scale: Sequence[tuple[float, int] | None], level: float) -> FloatArray:
    """Return logarithms of p-values beside smooth effects, (n,), from those of one scale and tests on the other.

    Ranks bend a sum of effects, and log odds bend a sum of probits. So an interaction must show on the other scale as
    well: p < `level` / 10, not adjusted. Where it does not, the p-value is the larger one of both scales.
    """
    others = [(np.inf, 1) if other is None else other for other in on_other_scale]
    p_other = np.exp(chi2_log_tail(np.array([chi2 for chi2, _ in others]), np.array([df for _, df in others])))
    p = np.where(p_other >= OTHER_SCALE_SHARE * level, np.maximum(p_values, p_other), p_values)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.where(np.isnan(p), 1.0, p)))


#: Standard errors of a 95 % interval.
_Z95 = 1.959963984540054


class ModelTest(NamedTuple):
    """The interaction of a tuple in the full model."""

    #: `chi2`, `df`: likelihood ratio, or F on the scale of χ².
    chi2: float
    df: int
    #: Of χ²; of times of F, see `Fits.ratio_log_p`.
    log_p: float
    #: `effect`, `low`, `high`: coefficient of the product of two levels each (or of dosages) with a 95 % interval: a
    #: difference of differences in units of the outcome, a log odds ratio, or a log hazard ratio; NaN where there is no
    #: such coefficient, or no finite one.
    effect: float = np.nan
    low: float = np.nan
    high: float = np.nan
    #: `f`, `df_residual`: of a linear model, else 0.
    f: float = 0.0
    df_residual: int = 0
    #: ln p of Wald's test with robust variances: HC3 of a linear model, Lin and Wei's of times, else NaN.
    robust_log_p: float = np.nan


def model_test(
    model: FullModel,
    models: NestedModels,
    product: FloatArray | None,
    *,
    max_log_p: float = 0.0,
    groups: IntArray | None = None,
) -> ModelTest:
    """Test the interaction of a tuple; effects are left out where ln p is above `max_log_p`.

    - `model`: of all samples.
    - `models`: the columns of the tuple, without those of the model.
    - `product` (n_rows,): the product of the members' levels, where these are two each, or of their dosages: the one
      column that the larger model adds.
    - `groups` (n_samples,): of times: samples that belong together. The interval of the effect is then by robust
      variances.
    """
    smaller, larger = models.columns[:, : models.n_smaller], models.columns[:, models.n_smaller :]
    if not len(models.rows):
        return ModelTest(0.0, 0, 0.0)
    fits, (chi2, df) = model.compared(smaller, larger, models.rows)
    n_columns = model.columns().shape[1] + models.columns.shape[1]
    log_p = fits.ratio_log_p(chi2, df, n_columns) if fits is not None and df else 0.0
    found = ModelTest(chi2, df, log_p)
    if not df or log_p > max_log_p:
        return found
    if product is not None:
        effect = _effect(model, models.rows, smaller, product, groups)
        found = found._replace(effect=effect[0], low=effect[1], high=effect[2])
    second = model.outcome.second_test(model.design, smaller, larger, models.rows, groups)
    return found._replace(**second._asdict())


def _effect(
    model: FullModel, rows: IntArray, smaller: FloatArray, product: FloatArray, groups: IntArray | None = None
) -> tuple[float, float, float]:
    """Return the coefficient of the product and its interval; of numbers in their own unit."""
    here = model if len(rows) == model.n_samples else model.of_samples(rows)
    fit = here.effects(np.column_stack([smaller, product]), None if groups is None else groups[rows])
    if fit is None:
        return np.nan, np.nan, np.nan
    estimate, variance = float(fit.estimate[-1]), float(fit.covariance[-1, -1])
    if fit.robust is not None and variance <= NO_ESTIMATE**2:
        variance = float(fit.robust[-1, -1])
    # Log odds and hazards that grow without end, as in separated classes, cannot be estimated; their test holds.
    is_endless = fit.df_residual is None and variance > NO_ESTIMATE**2
    if is_endless or not (np.isfinite(variance) and variance > 0):
        return np.nan, np.nan, np.nan
    width = _Z95
    if fit.df_residual is not None:
        from scipy.special import stdtrit

        width = float(stdtrit(max(fit.df_residual, 1), 0.975))
    error = width * float(np.sqrt(variance))
    return estimate * fit.unit, (estimate - error) * fit.unit, (estimate + error) * fit.unit


def models_of_cells(tests: CellTests, levels: tuple[int, ...], max_log_p: float) -> list[ModelTest]:
    """Return the test of each of many tuples of `levels`; effects are left out where ln p is above `max_log_p`."""
    df = math.prod(n - 1 for n in levels)
    found = [ModelTest(chi2, df, log_p) for chi2, log_p in zip(tests.chi2.tolist(), tests.log_p.tolist(), strict=True)]
    effects = [(np.nan, np.nan, np.nan)] * len(found)
    if set(levels) == {2}:
        product = parity_signs(levels)
        estimate = tests.estimate @ product
        error = _Z95 * np.sqrt(product @ tests.covariance @ product)
        effects = list(zip(estimate.tolist(), (estimate - error).tolist(), (estimate + error).tolist(), strict=True))
    return [
        one if one.log_p > max_log_p else one._replace(effect=b, low=low, high=high, robust_log_p=robust)
        for one, (b, low, high), robust in zip(found, effects, tests.robust_log_p.tolist(), strict=True)
    ]
