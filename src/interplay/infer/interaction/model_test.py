"""One tuple in a model of covariates, offset and times → the test of its interaction, and the size of the effect."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import NO_ESTIMATE, CellTests
from interplay.infer.interaction.beside_test import NestedModels
from interplay.infer.interaction.null_model import parity_signs

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
