"""Times and two nested models of a tuple → do its levels interact in their effect on the hazard?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.models.cox import fit_cox
from interplay.statistics.interaction.beside_test import NestedModels
from interplay.statistics.survival.cox_test import nested_cox_test


class HazardInteraction(NamedTuple):
    """The interaction of two variables of two levels each, with its 95 % interval.

    Attributes
    ----------
    log_ratio : float
        Logarithm of the ratio of hazard ratios: of the one variable at the second level of the other, and at the first.
    low, high : float
    """

    log_ratio: float
    low: float
    high: float


def cox_interaction(
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    models: NestedModels,
    *,
    entry: npt.NDArray[Any] | None = None,
    strata: npt.NDArray[Any] | None = None,
    offset: FloatArray | None = None,
) -> tuple[float, int]:
    """Test the interaction of a tuple by the partial likelihoods of Cox models with and without it.

    Effects add up on the scale of log hazards. Censoring may depend on the members.

    Parameters
    ----------
    time, event, entry, strata, offset
        As in `fit_cox`, of all samples of the study.
    models : NestedModels
        Of some samples, as `nested_models` makes them.

    Returns
    -------
    chi2 : float
        Twice the difference of partial log-likelihoods.
    df : int
        0 where there is nothing to test.
    """
    if models.df <= 0 or not len(models.rows):
        return 0.0, 0
    some = [None if each is None else each[models.rows] for each in (entry, strata, offset)]
    return nested_cox_test(
        time[models.rows],
        event[models.rows],
        models.columns[:, : models.n_smaller],
        models.columns,
        entry=some[0],
        strata=some[1],
        offset=some[2],
    )


def hazard_interaction(
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    levels: IntArray,
    columns: FloatArray | None = None,
    *,
    entry: npt.NDArray[Any] | None = None,
    strata: npt.NDArray[Any] | None = None,
    offset: FloatArray | None = None,
) -> HazardInteraction:
    """Return the effect of an interaction of two variables with levels 0 and 1, beside columns of covariates.

    Parameters
    ----------
    levels : (2, n_samples) int64
    columns : (n_samples, n_columns) float64, optional
    time, event, entry, strata, offset
        As in `fit_cox`.

    Examples
    --------
    >>> levels = np.array([[0, 1, 0, 1] * 3, [0, 0, 1, 1] * 3])
    >>> time = np.array([1.0, 9, 8, 2, 3, 12, 5, 4, 6, 10, 7, 11])
    >>> [round(end, 2) for end in hazard_interaction(time, np.ones(12, dtype=bool), levels)]
    [2.18, -0.38, 4.74]
    """
    from scipy.special import ndtri

    a, b = levels.astype(np.float64)
    beside = np.empty((len(a), 0)) if columns is None else columns
    fit = fit_cox(time, event, np.column_stack([beside, a, b, a * b]), entry=entry, strata=strata, offset=offset)
    variance = float(fit.covariance[-1, -1])
    if not np.isfinite(variance):
        return HazardInteraction(np.nan, np.nan, np.nan)
    estimate, half = float(fit.coefficients[-1]), float(ndtri(0.975)) * float(np.sqrt(variance))
    return HazardInteraction(estimate, estimate - half, estimate + half)
