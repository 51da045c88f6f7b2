"""Variables that were found, and times → concordance and a check of proportional hazards of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.base.tails import chi2_tail
from interplay.data.models.cox import fit_in_risk_sets, hazards_at_risk
from interplay.data.models.risk_sets import RiskSets
from interplay.infer.survival.concordance import concordance


class HazardEffects(NamedTuple):
    """How variables go with the hazard; each field is (n_vars,) float64."""

    #: Harrell's C of the variable by itself, higher values first; below 0.5 where lower values have the events earlier.
    concordance: FloatArray
    #: Of the test that the hazard ratio, given the covariates, is the same at all times; NaN where these explain it.
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
    """Return how a few variables, (n_vars, n_samples), go with the hazard, each in a model of its own.

    - `design` (n_samples, n_columns): covariates.
    - `time`, `event`, `entry`, `strata`, `offset`: as in `fit_cox`.

    Examples
    --------
    >>> time, event = np.arange(1.0, 9.0), np.ones(8, dtype=bool)
    >>> found = hazard_effects(np.array([[0.0, 0, 1, 0, 1, 1, 0, 1]]), time, event)
    >>> [round(float(each[0]), 3) for each in found]
    [0.357, 0.5]
    """
    given: dict[str, Any] = {"entry": entry, "strata": strata}
    columns = np.empty((len(time), 0)) if design is None else design

    def effects(x: FloatArray) -> tuple[float, float]:
        of_model = proportional_hazards_test(time, event, np.column_stack([columns, x]), offset=offset, **given)
        return concordance(time, event, x, **given), float(of_model.p_value[-1])

    with one_blas_thread():
        found = map_in_threads(effects, list(scores), n_threads)
    return HazardEffects(*np.array(found, dtype=np.float64).reshape(len(scores), 2).T)


#: Eigenvalues of the information below this share of the largest one count as 0.
_SINGULAR = 1e-10


class ProportionalHazards(NamedTuple):
    """Tests of coefficients that do not change with time, (n_columns,) each, with one degree of freedom.

    NaN for a column that is a sum of others.
    """

    chi2: FloatArray
    p_value: FloatArray


def proportional_hazards_test(
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    columns: FloatArray,
    *,
    entry: npt.NDArray[Any] | None = None,
    strata: npt.NDArray[Any] | None = None,
    offset: FloatArray | None = None,
    ties: str = "efron",
) -> ProportionalHazards:
    """Test whether hazards are proportional (Grambsch and Therneau 1994).

    The score test of a product of each column with g(t) that is added to the model, as in R's ``cox.zph`` from version
    3.0 of survival on. g(t) is 1 minus the Kaplan–Meier estimate of all samples just before t (``transform="km"``).
    Earlier versions of ``cox.zph``, and lifelines, take one variance for all times in place of the information.

    Parameters are those of `fit_cox`.

    Examples
    --------
    >>> time, event = np.arange(1.0, 13.0), np.ones(12, dtype=bool)
    >>> column = np.array([0.0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0])  # late events only, and not the last ones
    >>> found = proportional_hazards_test(time, event, column[:, np.newaxis])
    >>> found.chi2.round(3).tolist(), found.p_value.round(3).tolist()
    ([7.143], [0.008])
    """
    sets = RiskSets(time, event, entry=entry, strata=strata, ties=ties)
    fit = fit_in_risk_sets(sets, columns, offset)
    m = columns.shape[1]
    kept = np.flatnonzero(~np.isnan(np.diag(fit.covariance)))
    chi2 = np.full(m, np.nan)
    if not len(kept):
        return ProportionalHazards(chi2, chi2)
    centred = columns[:, kept] - columns[:, kept].mean(axis=0)
    spread = np.abs(centred).max(axis=0)
    rows = np.ascontiguousarray((centred / np.where(spread > 0, spread, 1.0)).T)
    score, information = _of_products(sets, rows, fit.log_hazard, _time_scale(time, event, entry, sets))
    diagonal = np.diag(information)
    tested = diagonal > _SINGULAR * max(float(diagonal.max()), 0.0)
    safe = np.where(tested, diagonal, 1.0)
    chi2[kept] = np.where(tested, score**2 / safe, np.nan)
    p_value = np.where(np.isnan(chi2), np.nan, chi2_tail(np.nan_to_num(chi2), np.ones(m)))
    return ProportionalHazards(chi2, p_value)


def _of_products(
    sets: RiskSets, rows: FloatArray, log_hazard: FloatArray, g: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return score and information of the products of columns and g, given the columns: (m,), (m, m)."""
    hazard, at_risk = hazards_at_risk(sets, log_hazard)
    means = sets.at_events(hazard * rows) / at_risk
    score = (rows[:, sets.samples] - means) @ g

    def information(weights: FloatArray) -> FloatArray:
        expected = hazard * sets.over_events(weights / at_risk)
        return np.asarray((rows * expected) @ rows.T - (means * weights) @ means.T)

    own, joint, of_columns = information(g * g), information(g), information(np.ones(len(g)))
    explained = joint @ np.linalg.pinv(of_columns, hermitian=True)
    # At the maximum the score of the columns is 0 but for rounding.
    return score, own - explained @ joint.T


def _time_scale(
    time: npt.NDArray[Any], event: npt.NDArray[Any], entry: npt.NDArray[Any] | None, sets: RiskSets
) -> FloatArray:
    """Return 1 minus Kaplan–Meier just before each event, less its mean: (n_events,)."""
    from interplay.infer.survival.survival_curves import kaplan_meier

    curve = kaplan_meier(time, event, entry)
    before = np.concatenate([[1.0], curve.survival])[np.searchsorted(curve.time, time[sets.samples])]
    return np.asarray(before.mean() - before)
