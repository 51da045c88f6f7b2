"""Variables that were found, and times → Harrell's concordance and a check of proportional hazards of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, numbered, places_of_each
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.base.tails import chi2_tail
from interplay.data.models.cox import fit_in_risk_sets, hazards_at_risk
from interplay.data.models.risk_sets import RiskSets


def concordance(
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    risk: FloatArray,
    *,
    entry: npt.NDArray[Any] | None = None,
    strata: npt.NDArray[Any] | None = None,
) -> float:
    """Return Harrell's C of risks, higher ones expected to have their event earlier; NaN where no pair is comparable.

    The share of comparable pairs (the event is seen in one sample while the other one is at risk, and stays without it)
    in which the sample with the higher risk has its event first; pairs of equal risks count one half.

    - `time`, `event`, `entry`, `strata`: as in `fit_cox`. Pairs of different strata are not compared.
    - `risk` (n_samples,).

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, False, True])
    >>> round(concordance(time, event, np.array([3.0, 1.0, 2.0, 1.0])), 3)
    0.7
    """
    strata = np.zeros(len(time), dtype=np.int64) if strata is None else numbered(strata)
    pairs = np.zeros(3, dtype=np.int64)
    for rows in places_of_each(strata):
        pairs += _pairs(time[rows], event[rows], risk[rows], None if entry is None else entry[rows])
    concordant, discordant, comparable = pairs.tolist()
    return 0.5 + (concordant - discordant) / (2 * comparable) if comparable else float("nan")


def _pairs(
    time: npt.NDArray[Any], event: npt.NDArray[Any], risk: FloatArray, entry: npt.NDArray[Any] | None
) -> IntArray:
    """Return the numbers of concordant, discordant and all comparable pairs."""
    event = np.asarray(event, dtype=bool)
    n = len(time)
    moments = numbered(np.concatenate([time, time if entry is None else entry]).astype(np.float64))
    # A time that is censored where an event is seen lies after the event; two events at the same time have no order.
    stop = 2 * moments[:n] + ~event
    rank = numbered(risk)
    at = np.flatnonzero(event)
    found = np.zeros(3, dtype=np.int64)
    # Where no risks are equal, pairs that are not concordant are discordant.
    all_differ = int(rank.max(initial=-1)) + 1 == n

    def add(later: IntArray, sign: int) -> None:
        for row, ranks in enumerate((rank, None if all_differ else -rank, None)):
            found[row] += sign * _n_after_and_below(stop[at], later, at, ranks)

    add(stop, 1)
    if entry is not None:  # a sample that enters at the time of the event, or after it, is not at risk
        add(2 * moments[n:] + 1, -1)
    if all_differ:
        found[1] = found[2] - found[0]
    return found


def _n_after_and_below(moment: IntArray, later: IntArray, at: IntArray, rank: IntArray | None) -> int:
    """Count the pairs of an event and a sample that lies after it and has a lower rank.

    - `moment` (n_events,).
    - `later` (n_samples,): moments of the samples, to be compared with those of events.
    - `at` (n_events,): sample of each event.
    - `rank` (n_samples,): without ranks, all pairs with the sample after the event.
    """
    if rank is None:
        return int((len(later) - np.searchsorted(np.sort(later), moment, side="right")).sum())
    n_events = len(moment)
    n = n_events + len(later)
    here = np.arange(n)
    is_sample = here >= n_events
    # Equal moments: the sample first, which is not after the event. Equal ranks: the event first, which is not above.
    by_moment = np.lexsort((~is_sample, np.concatenate([moment, later])))
    members = np.lexsort((is_sample, np.concatenate([rank[at], rank])))
    place = np.empty(n, dtype=np.int64)
    place[by_moment] = here
    n_pairs = 0
    # Halves of halves of the order of moments, each with its members in the order of ranks: pairs of an event in the
    # first half and a sample in the second one are counted by cumulative sums, and the halves become the wholes.
    for bit in reversed(range(max(n - 1, 0).bit_length())):
        in_second = (place[members] >> bit & 1).astype(bool)
        start = here >> (bit + 1) << (bit + 1)
        samples = np.concatenate([[0], np.cumsum(in_second & is_sample[members])])
        n_pairs += int((samples[:-1] - samples[start])[~in_second & ~is_sample[members]].sum())
        second_before = np.concatenate([[0], np.cumsum(in_second)])
        n_second = second_before[:-1] - second_before[start]
        first_size = np.minimum(1 << bit, np.minimum(start + (2 << bit), n) - start)
        goes_to = start + np.where(in_second, first_size + n_second, here - start - n_second)
        moved = np.empty(n, dtype=np.int64)
        moved[goes_to] = members
        members = moved
    return n_pairs


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
