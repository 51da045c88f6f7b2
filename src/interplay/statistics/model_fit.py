"""A model of covariates, offset and times, with more columns → coefficients, likelihood ratios, p-values of these.

The one place where a kind of outcome meets its regression: linear for numbers, logistic or multinomial for classes,
Cox's for times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.beta_tail import log_f_tail
from interplay.base.chi_squared import log_chi2_tail
from interplay.models.classes import fit_classes
from interplay.models.cox import fit_in_risk_sets, sandwich_covariance
from interplay.models.linear import fit_linear, independent_places
from interplay.models.risk_sets import RiskSets
from interplay.statistics.nested_fits import ModelFits, f_as_chi2
from interplay.study.full_model import FullModel
from interplay.study.outcomes.numbers import NumberOutcome
from interplay.study.outcomes.times import Survival


class Coefficients(NamedTuple):
    """Coefficients of columns that were added to a model, with their covariance.

    Attributes
    ----------
    estimate : (n,) float64
        Differences of means, log odds ratios (of the second class) or log hazard ratios; NaN for a column that is a
        sum of others.
    covariance : (n, n) float64
    df_residual : int or None
        Of a linear model.
    robust : (n, n) float64 or None
        Of times, where clusters are given: Lin and Wei's covariance.
    """

    estimate: FloatArray
    covariance: FloatArray
    df_residual: int | None = None
    robust: FloatArray | None = None


def coefficients_of(
    model: FullModel, more: FloatArray, *, scores: FloatArray | None = None, clusters: IntArray | None = None
) -> Coefficients:
    """Fit a model with more columns, (n_samples, n), and return their coefficients.

    `scores` take the place of those of an outcome of numbers. With `clusters`, (n_samples,), times have a robust
    covariance as well.
    """
    known = model.columns()
    columns = np.hstack([known, more])
    chosen = slice(known.shape[1], None)
    outcome = model.outcome
    if isinstance(outcome, NumberOutcome):
        linear = fit_linear(outcome.scores if scores is None else scores, columns)
        return Coefficients(linear.coefficients[chosen], linear.covariance[chosen, chosen], linear.df_residual)
    if isinstance(outcome, Survival):
        n_constants = 1 if model.strata is None else model.strata.n_strata
        strata = None if model.strata is None else model.strata.codes
        sets = RiskSets(outcome.time, outcome.event, entry=outcome.entry, strata=strata)
        cox = fit_in_risk_sets(sets, columns[:, n_constants:], model.offset)
        of_more = slice(known.shape[1] - n_constants, None)
        robust = None
        if clusters is not None:
            robust = sandwich_covariance(sets, columns[:, n_constants:], cox, clusters)[of_more, of_more]
        return Coefficients(cox.coefficients[of_more], cox.covariance[of_more, of_more], robust=robust)
    assert outcome.n_classes == 2
    fit = fit_classes(outcome.codes, columns, 2, offset=model.offset)
    return Coefficients(fit.coefficients[0, chosen], fit.covariance[chosen, chosen])


def coefficient_log_p(model: FullModel, more: FloatArray) -> FloatArray:
    """Return ln p of columns, (n_samples, n), each given the others, by their standard errors, (n,)."""
    if not more.shape[1]:
        return np.empty(0)
    fit = coefficients_of(model, more)
    variance = np.diag(fit.covariance)
    usable = np.isfinite(variance) & (variance > 0)
    ratio = np.where(usable, fit.estimate**2 / np.where(usable, variance, 1.0), 0.0)
    if fit.df_residual is None:
        return np.where(usable, log_chi2_tail(ratio, 1), 0.0)
    return np.where(usable, log_f_tail(ratio, 1, max(fit.df_residual, 1)), 0.0)


def likelihood_ratio(
    model: FullModel, smaller: FloatArray, larger: FloatArray, rows: IntArray | None = None
) -> tuple[float, int]:
    """Compare the model with the columns of `larger`, which contain those of `smaller`, and with these alone.

    Parameters
    ----------
    smaller, larger : (n, n_columns) float64
        Columns beside those of the model.
    rows : (n,) int64, optional
        The samples; all if not given.

    Returns
    -------
    chi2 : float
        Twice the difference of log-likelihoods; of numbers, F on the scale of χ².
    df : int
    """
    known = model.columns() if rows is None else model.columns()[rows]
    columns = np.hstack([known, smaller, larger])
    places = independent_places(columns)
    n_smaller = int(np.count_nonzero(places < known.shape[1] + smaller.shape[1]))
    if len(places) == n_smaller:
        return 0.0, 0
    fits = ModelFits(model, rows)
    less = fits.fit(columns[:, places[:n_smaller]])
    return fits.ratio(less, fits.fit(columns[:, places], less))


def linear_ratio(scores: FloatArray, columns: FloatArray, n_smaller: int) -> tuple[float, int]:
    """Compare linear models of scores, with all columns and with the first ones: F on the scale of χ², and its df."""
    df, df_residual = columns.shape[1] - n_smaller, len(scores) - columns.shape[1]
    if df <= 0 or df_residual <= 0:
        return 0.0, 0
    basis = np.linalg.qr(columns)[0]
    parts = basis.T @ scores
    left = float(((scores - basis @ parts) ** 2).sum())
    return f_as_chi2(float((parts[n_smaller:] ** 2).sum()), left, df, df_residual), df
