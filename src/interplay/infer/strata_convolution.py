"""Null distributions of the gain within each stratum → the p-value of the sum of gains.

Given the sizes of levels and classes in every stratum, the tables of the strata are independent, and the gain of a
variable is the sum of theirs. The gain of each stratum is rounded to a grid, in the observed table as in all others, so
that sums are whole numbers and their distribution is a product of Fourier transforms. Rounding makes the test one of a
slightly different statistic, not an approximate one: its p-values are exact, however coarse the grid.

The tail of the distribution is summed up without going back from the transform: Σ_d e^(−s·d) P(observed + d) is a sum
over frequencies of the transform times a geometric series. Of sums over many strata few frequencies are left.

Sums over frequencies have an absolute error. So that small p-values keep their digits, chances are tilted by
e^(t·gain) first, with t such that the observed gain is about the mean, and the tilt is taken off the sum in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.margin_tables import GainNull, GammaNull

#: Places of the grid.
N_PLACES = 4096

#: Length of the grid where the largest sum is beyond it: standard deviations of a sum under chance, plus bits.
DEVIATIONS, BITS = 16.0, 64.0

#: Tilts, in nats per bit: χ² has none above ln 2, and the few values of a sparse table need more.
TILTS = np.array([0, .02, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .8, .9, 1, 1.25, 1.5, 2, 3, 4, 8, 16, 64])  # fmt: skip  # noqa: E501

#: Variables that are summed up at once.
_BLOCK = 256

#: Frequencies with less than e to this power are left out.
_LOG_NEGLIGIBLE = -20.0
_NEGLIGIBLE_END = 1e-12

#: Places above the observed gain of a stratum with too many tables to list go on until this is left.
_GAMMA_TAIL = 1e-30


def grid_step(largest_sum: float, df: float) -> float:
    """Return the step of the grid, in bits, for gains with `df` degrees of freedom and of at most `largest_sum`."""
    deviation = np.sqrt(2 * df) / (2 * np.log(2))
    return float(min(largest_sum * (N_PLACES / (N_PLACES - 8)), DEVIATIONS * deviation + BITS)) / N_PLACES


def places_of(gains: FloatArray, step: float) -> IntArray:
    """Round gains to the grid."""
    return np.asarray(np.rint(gains / step), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class StratumNull:
    """Places on the grid that the gain of a stratum can have, and the logarithms of their chances."""

    place: IntArray
    log_chance: FloatArray

    @classmethod
    def of(cls, null: GainNull | GammaNull, step: float) -> StratumNull:
        if isinstance(null, GammaNull):
            return cls._of_gamma(null, step)
        places = places_of(null.gain, step)
        order = np.argsort(places, kind="stable")
        starts = np.flatnonzero(np.diff(places[order], prepend=-1))
        return cls(places[order[starts]], np.logaddexp.reduceat(null.log_chance[order], starts))

    @classmethod
    def _of_gamma(cls, null: GammaNull, step: float) -> StratumNull:
        from scipy.special import gammaincc, gammainccinv

        last = int(np.ceil(gammainccinv(null.shape, _GAMMA_TAIL) * null.scale / step)) + 1
        edges = np.append(0.0, (np.arange(last) + 0.5) * step)
        tail = np.append(gammaincc(null.shape, edges / null.scale), 0.0)
        with np.errstate(divide="ignore"):
            log_chance = np.log(-np.diff(tail))
        possible = np.isfinite(log_chance)
        return cls(np.flatnonzero(possible), log_chance[possible])


def log_p_of_sums(nulls: Sequence[StratumNull], times: IntArray, observed: IntArray, *, step: float) -> FloatArray:
    """Return ln P(sum ≥ observed) of each variable.

    Parameters
    ----------
    nulls : sequence of StratumNull
    times : (n_vars, n_nulls)
        In how many strata a variable has each of them.
    observed : (n_vars,) int64
        Sums of the places of its strata.
    step : float
        Of the grid, in bits.
    """
    log_norm, mean = _moments(nulls, step)
    means = times @ mean
    # The lowest tilt whose mean is not below the observed sum.
    tilt_of = np.argmax(np.append(means, np.full((len(times), 1), np.inf), axis=1) >= observed[:, np.newaxis], axis=1)
    tilt_of = np.minimum(tilt_of, len(TILTS) - 1)
    highest = times @ np.array([null.place[-1] for null in nulls])
    log_p = np.zeros(len(times))
    for number in np.unique(tilt_of):
        chosen = np.flatnonzero(tilt_of == number)
        used = np.flatnonzero(times[chosen].any(axis=0))
        slope = TILTS[number] * step
        transforms = _transforms([nulls[i] for i in used.tolist()], log_norm[used, number], slope)
        with np.errstate(divide="ignore"):
            log_size = np.maximum(np.log(np.abs(transforms)), -700.0)
        turns = np.angle(transforms) / (2 * np.pi)
        for start in range(0, len(chosen), _BLOCK):
            rows = chosen[start : start + _BLOCK]
            powers = times[np.ix_(rows, used)].astype(np.float64)
            log_sizes = powers @ log_size
            kept = np.flatnonzero((log_sizes > _LOG_NEGLIGIBLE).any(axis=0))
            size = np.exp(log_sizes[:, kept], dtype=np.float32, casting="same_kind")
            tail = _tilted_tail(size, powers @ turns[:, kept], kept, observed[rows], highest[rows], slope)
            log_p[rows] = np.log(np.maximum(tail, 1e-16)) + times[rows] @ log_norm[:, number] - slope * observed[rows]
    return np.minimum(log_p, 0.0)


def _moments(nulls: Sequence[StratumNull], step: float) -> tuple[FloatArray, FloatArray]:
    """Of each null under each tilt: the logarithm of Σ chance·e^(tilt·gain), and the mean of the place."""
    log_norm, mean = np.empty((len(nulls), len(TILTS))), np.empty((len(nulls), len(TILTS)))
    for i, null in enumerate(nulls):
        tilted = null.log_chance + (TILTS * step)[:, np.newaxis] * null.place
        top = tilted.max(axis=1)
        weight = np.exp(tilted - top[:, np.newaxis])
        total = weight.sum(axis=1)
        log_norm[i] = top + np.log(total)
        mean[i] = weight @ null.place / total
    return log_norm, mean


def _transforms(nulls: Sequence[StratumNull], log_norm: FloatArray, slope: float) -> npt.NDArray[np.complex128]:
    """Fourier transforms of the tilted chances, (n_nulls, N_PLACES / 2 + 1)."""
    on_grid = np.empty((len(nulls), N_PLACES))
    for i, null in enumerate(nulls):
        chance = np.exp(null.log_chance + slope * null.place - log_norm[i])
        on_grid[i] = np.bincount(null.place % N_PLACES, weights=chance, minlength=N_PLACES)
    return np.asarray(np.fft.rfft(on_grid, axis=1))


def _tilted_tail(
    size: npt.NDArray[np.float32],
    turns: FloatArray,
    number: IntArray,
    observed: IntArray,
    highest: IntArray,
    slope: float,
) -> FloatArray:
    """Return Σ chance·e^(−slope·(place − observed)) over the places from the observed one upwards.

    `size` and `turns`, the angle, are of the transforms, (n_vars, n_frequencies), at the frequencies of these numbers.
    Sums beyond the grid come round to its beginning. Where this happens, half of the grid stands for places above the
    observed sum, and the other half for places below.
    """
    ratio = np.exp(-slope + 2j * np.pi * number / N_PLACES)
    twice = np.where((number == 0) | (number == N_PLACES // 2), 1.0, 2.0) / N_PLACES
    with np.errstate(divide="ignore", invalid="ignore"):
        endless = np.where(ratio == 1, 0.0, twice / (1 - ratio))
    # A geometric series ends after half of the grid, or after what is left of it.
    half = endless * (1 - np.exp(-slope * N_PLACES / 2) * np.where(number % 2, -1.0, 1.0))
    is_within = highest < N_PLACES
    series = np.stack([endless, half], axis=1)
    at_observed = turns + (number / N_PLACES) * observed[:, np.newaxis]
    sums = _real_sums(size, at_observed, series)
    tail: FloatArray = np.where(is_within, sums[:, 0], sums[:, 1])
    left = np.maximum(N_PLACES - observed, 0)  # negative only where sums come round
    end = np.where(is_within, np.exp(-slope * left), 0.0)
    if end.max() > _NEGLIGIBLE_END:
        tail -= end * _real_sums(size, turns, series)[:, 0]
    if slope == 0:  # all terms of the first series are 1
        tail += size[:, 0] / N_PLACES * np.where(is_within, left, N_PLACES // 2)
    return np.asarray(tail)


def _real_sums(size: npt.NDArray[np.float32], turns: FloatArray, factors: npt.NDArray[np.complex128]) -> FloatArray:
    """Real parts of Σ size·e^(2πi·turns)·factor over the frequencies, for each column of factors.

    Sines and cosines of single precision take a thirtieth of the time. A millionth is enough: the sums are of a
    tilted distribution near its middle.
    """
    angle = (2 * np.pi * (turns - np.rint(turns))).astype(np.float32)
    cosine = (size * np.cos(angle)).astype(np.float64)
    sine = (size * np.sin(angle)).astype(np.float64)
    return np.asarray(cosine @ factors.real - sine @ factors.imag)
