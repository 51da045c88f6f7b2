"""Times and nested models of hazards → likelihood-ratio tests; hazard ratios with intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.tails import chi2_tail
from interplay.data.models.cox import CoxFit, fit_in_risk_sets
from interplay.data.models.risk_sets import RiskSets


class HazardRatios(NamedTuple):
    """Hazard ratio of each column of a model, per unit of the column, with Wald's interval and test.

    All are NaN for a column that is a sum of others.

    Attributes
    ----------
    ratio, low, high, p_value : (n_columns,) float64
    """

    ratio: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray


def hazard_ratios(fit: CoxFit, *, confidence: float = 0.95) -> HazardRatios:
    """Return hazard ratios of a fitted model.

    Examples
    --------
    >>> from interplay.data.models.cox import fit_cox
    >>> fit = fit_cox(np.arange(1.0, 9.0), np.ones(8, bool), np.array([[0.0], [0], [1], [0], [1], [1], [0], [1]]))
    >>> [round(float(each[0]), 3) for each in hazard_ratios(fit)]
    [0.472, 0.103, 2.164, 0.334]
    """
    from scipy.special import ndtri

    error = np.sqrt(np.diag(fit.covariance))
    coefficients = np.where(np.isnan(error), np.nan, fit.coefficients)
    half = float(ndtri((1 + confidence) / 2)) * error
    known = np.isfinite(error) & (error > 0)
    chi2 = np.where(known, (coefficients / np.where(known, error, 1.0)) ** 2, 0.0)
    with np.errstate(over="ignore"):  # a coefficient that grows without end has an interval up to infinity
        ratio, low, high = (np.exp(each) for each in (coefficients, coefficients - half, coefficients + half))
    p_value = np.where(known, chi2_tail(chi2, np.ones(len(chi2))), np.nan)
    return HazardRatios(ratio=ratio, low=low, high=high, p_value=p_value)


def nested_cox_test(
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    smaller: FloatArray,
    larger: FloatArray,
    *,
    entry: npt.NDArray[Any] | None = None,
    strata: npt.NDArray[Any] | None = None,
    offset: FloatArray | None = None,
    ties: str = "efron",
) -> tuple[float, int]:
    """Compare two Cox models, given by their columns; the larger one contains the smaller.

    Parameters
    ----------
    smaller, larger : (n_samples, n_columns) float64
        The smaller model may have no columns. Columns that are sums of others do not count.
    time, event, entry, strata, offset, ties
        As in `fit_cox`.

    Returns
    -------
    chi2 : float
        Twice the difference of partial log-likelihoods.
    df : int
        Columns that the larger model has more; 0 where there is nothing to test.
    """
    sets = RiskSets(time, event, entry=entry, strata=strata, ties=ties)
    more, less = (fit_in_risk_sets(sets, columns, offset) for columns in (larger, smaller))
    df = more.rank - less.rank
    if df <= 0:
        return 0.0, 0
    return max(2.0 * (more.log_likelihood - less.log_likelihood), 0.0), df
