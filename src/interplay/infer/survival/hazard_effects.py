"""Variables that were found, and times → hazard ratio, concordance and a check of proportional hazards of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.base.tails import chi2_tail
from interplay.data.models.cox import fit_cox
from interplay.infer.survival.concordance import concordance
from interplay.infer.survival.cox_test import hazard_ratios
from interplay.infer.survival.proportional_hazards import proportional_hazards_test


class HazardEffects(NamedTuple):
    """What each variable does to the hazard, in a Cox model with the covariates; each field is (n_vars,) float64.

    Attributes
    ----------
    ratio, low, high
        Hazard ratio per unit of the variable, and its 95 % interval (Wald); NaN for a variable that covariates explain.
    p_value
        Of the likelihood ratio of models with and without the variable.
    concordance, concordance_error
        Harrell's C of the variable by itself, higher values first, and its standard error; below 0.5 where lower values
        have the events earlier.
    p_proportional
        Of the test that the hazard ratio is the same at all times.
    """

    ratio: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    concordance: FloatArray
    concordance_error: FloatArray
    p_proportional: FloatArray


def hazard_effects(
    scores: FloatArray,
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    *,
    design: FloatArray | None = None,
    entry: npt.NDArray[Any] | None = None,
    strata: npt.NDArray[Any] | None = None,
    offset: FloatArray | None = None,
    n_threads: int = 1,
) -> HazardEffects:
    """Return the effects of a few variables, each in a model of its own with the covariates.

    Parameters
    ----------
    scores : (n_vars, n_samples) float64
        Divide by the standard deviation for hazard ratios per standard deviation.
    design : (n_samples, n_columns) float64, optional
        Covariates.
    time, event, entry, strata, offset
        As in `fit_cox`.

    Examples
    --------
    >>> time, event = np.arange(1.0, 9.0), np.ones(8, dtype=bool)
    >>> found = hazard_effects(np.array([[0.0, 0, 1, 0, 1, 1, 0, 1]]), time, event)
    >>> [round(float(each[0]), 3) for each in found]
    [0.472, 0.103, 2.164, 0.331, 0.357, 0.101, 0.5]
    """
    given: dict[str, Any] = {"entry": entry, "strata": strata}
    columns = np.empty((len(time), 0)) if design is None else design
    smaller = fit_cox(time, event, columns, offset=offset, **given)

    def effects(x: FloatArray) -> list[float]:
        larger_columns = np.column_stack([columns, x])
        larger = fit_cox(time, event, larger_columns, offset=offset, **given)
        ratios = hazard_ratios(larger)
        chi2 = max(2.0 * (larger.log_likelihood - smaller.log_likelihood), 0.0)
        p_value = float(chi2_tail(np.array([chi2]), np.ones(1))[0]) if larger.rank > smaller.rank else np.nan
        c = concordance(time, event, x, **given)
        proportional = proportional_hazards_test(time, event, larger_columns, offset=offset, **given)
        of_ratio = [float(each[-1]) for each in (ratios.ratio, ratios.low, ratios.high)]
        return [*of_ratio, p_value, c.value, c.standard_error, float(proportional.p_value[-1])]

    with one_blas_thread():
        found = map_in_threads(effects, list(scores), n_threads)
    return HazardEffects(*np.array(found, dtype=np.float64).reshape(len(scores), 7).T)
