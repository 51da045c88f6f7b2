"""One tuple in a model of covariates, offset and times → the test of its interaction, and the size of the effect."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, in_unit
from interplay.base.beta_tail import log_f_tail
from interplay.models.linear import independent_places
from interplay.statistics.interaction.beside_test import NestedModels
from interplay.statistics.model_fit import Coefficients, coefficients_of, likelihood_ratio
from interplay.statistics.nested_fits import ratio_log_p
from interplay.study.full_model import FullModel, of_samples
from interplay.study.outcomes.classes import DecisionClasses
from interplay.study.outcomes.numbers import NumberOutcome
from interplay.study.outcomes.times import Survival

#: Standard errors of a 95 % interval.
_Z95 = 1.959963984540054

#: A log hazard ratio with a larger standard error has no finite estimate.
_NO_ESTIMATE = 10.0


class ModelTest(NamedTuple):
    """The interaction of a tuple in the full model.

    Attributes
    ----------
    chi2, df : float, int
        Likelihood ratio, or F on the scale of χ².
    log_p : float
        Of χ²; of times of F, see `ratio_log_p`.
    effect, low, high : float
        Coefficient of the product of two levels each (or of dosages) with a 95 % interval: a difference of differences
        in units of the outcome, a log odds ratio, or a log hazard ratio; NaN where there is no such coefficient.
    f, df_residual : float, int
        Of a linear model, else 0.
    robust_log_p : float
        ln p of Wald's test with robust variances: HC3 of a linear model, Lin and Wei's of times, else NaN.
    """

    chi2: float
    df: int
    log_p: float
    effect: float = np.nan
    low: float = np.nan
    high: float = np.nan
    f: float = 0.0
    df_residual: int = 0
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

    Parameters
    ----------
    model : FullModel
        Of all samples.
    models : NestedModels
        The columns of the tuple, without those of the model.
    product : (n_rows,) float64, optional
        The product of the members' levels, where these are two each, or of their dosages: the one column that the
        larger model adds.
    groups : (n_samples,) int64, optional
        Of times: samples that belong together. The interval of the effect is then by robust variances.
    """
    smaller, larger = models.columns[:, : models.n_smaller], models.columns[:, models.n_smaller :]
    if not len(models.rows):
        return ModelTest(0.0, 0, 0.0)
    chi2, df = likelihood_ratio(model, smaller, larger, models.rows)
    log_p, n_left = 0.0, 1
    if df:
        times = model.outcome if isinstance(model.outcome, Survival) else None
        n_events = None if times is None else int(times.event[models.rows].sum())
        n_columns = model.columns().shape[1] + models.columns.shape[1]
        log_p = ratio_log_p(chi2, df, n_events=n_events, n_columns=n_columns)
        n_left = max((n_events or 0) - n_columns, 1)
    found = ModelTest(chi2, df, log_p)
    if not df or log_p > max_log_p:
        return found
    is_number = isinstance(model.outcome, NumberOutcome)
    if product is not None:
        effect = _effect(model, models.rows, smaller, product, groups)
        found = found._replace(effect=effect[0], low=effect[1], high=effect[2])
    if is_number:
        f, robust, df_residual = _linear_tests(model, smaller, larger, models.rows)
        found = found._replace(f=f, robust_log_p=robust, df_residual=df_residual)
    if isinstance(model.outcome, Survival):
        found = found._replace(robust_log_p=_robust_hazards(model, smaller, larger, models.rows, groups, n_left))
    return found


def _robust_hazards(
    model: FullModel, smaller: FloatArray, larger: FloatArray, rows: IntArray, groups: IntArray | None, n_left: int
) -> float:
    """Return ln p of Wald's test of the added columns with Lin and Wei's variances; NaN without finite estimates."""
    here = model if len(rows) == model.n_samples else of_samples(model, rows)
    clusters = np.arange(len(rows)) if groups is None else groups[rows]
    fit = coefficients_of(here, np.hstack([smaller, larger]), clusters=clusters)
    assert fit.robust is not None
    added = np.arange(smaller.shape[1], len(fit.estimate))
    added = added[np.isfinite(np.diag(fit.covariance)[added])]
    # A cell without events has a coefficient that grows without end, of which no variance is known.
    if not len(added) or float(np.diag(fit.covariance)[added].max()) > _NO_ESTIMATE**2:
        return np.nan
    covariance = np.linalg.pinv(fit.robust[np.ix_(added, added)], hermitian=True)
    wald = float(fit.estimate[added] @ covariance @ fit.estimate[added])
    n_free = n_left if groups is None else min(n_left, len(np.unique(clusters)) - 1)
    return float(log_f_tail(wald / len(added), len(added), max(n_free, 1)))


def _effect(
    model: FullModel, rows: IntArray, smaller: FloatArray, product: FloatArray, groups: IntArray | None = None
) -> tuple[float, float, float]:
    """Return the coefficient of the product and its interval; of numbers in their own unit."""
    here = model if len(rows) == model.n_samples else of_samples(model, rows)
    clusters = groups[rows] if groups is not None and isinstance(model.outcome, Survival) else None
    outcome, scores, unit = here.outcome, None, 1.0
    if isinstance(outcome, NumberOutcome):
        assert isinstance(model.outcome, NumberOutcome)
        scores, unit = in_unit(model.outcome.values[rows])
        if not np.isfinite(scores).all():
            return np.nan, np.nan, np.nan
    elif isinstance(outcome, DecisionClasses) and outcome.n_classes > 2:
        return np.nan, np.nan, np.nan
    columns = np.column_stack([smaller, product])
    fit: Coefficients = coefficients_of(here, columns, scores=scores, clusters=clusters)
    estimate, variance = float(fit.estimate[-1]), float(fit.covariance[-1, -1])
    if fit.robust is not None and variance <= _NO_ESTIMATE**2:
        variance = float(fit.robust[-1, -1])
    if not (np.isfinite(variance) and variance > 0):
        return np.nan, np.nan, np.nan
    width = _Z95
    if fit.df_residual is not None:
        from scipy.special import stdtrit

        width = float(stdtrit(max(fit.df_residual, 1), 0.975))
    error = width * float(np.sqrt(variance))
    return estimate * unit, (estimate - error) * unit, (estimate + error) * unit


def _linear_tests(
    model: FullModel, smaller: FloatArray, larger: FloatArray, rows: IntArray
) -> tuple[float, float, int]:
    """Return F of the added columns, ln p of Wald's test with HC3 variances, and the residual degrees of freedom."""
    assert isinstance(model.outcome, NumberOutcome)
    scores = model.outcome.scores[rows]
    known = np.hstack([model.columns()[rows], smaller])
    columns = np.hstack([known, larger])
    places = independent_places(columns)
    columns = columns[:, places]
    is_added = places >= known.shape[1]
    df, df_residual = int(is_added.sum()), len(scores) - len(places)
    if df == 0 or df_residual <= 0:
        return 0.0, np.nan, max(df_residual, 0)
    basis, triangle = np.linalg.qr(columns)
    parts = basis.T @ scores
    left = scores - basis @ parts
    # Added columns stand last, so that their parts are those beyond the others.
    explained = float((parts[is_added] ** 2).sum())
    f = explained / df / max(float(left @ left) / df_residual, 1e-300)
    leverage = np.clip((basis**2).sum(axis=1), 0.0, 1 - 1e-10)
    inverse = np.linalg.inv(triangle)
    coefficients = inverse @ parts
    half = inverse @ (basis * (left / (1 - leverage))[:, np.newaxis]).T
    covariance = (half @ half.T)[np.ix_(is_added, is_added)]
    wald = float(coefficients[is_added] @ np.linalg.pinv(covariance, hermitian=True) @ coefficients[is_added])
    return f, float(log_f_tail(wald / df, df, df_residual)), df_residual
