"""Sums of an outcome's scores over levels of which each sample gets one at random → tails, exact to 1e-6 and beyond.

A column of few values divides the samples into levels of given sizes. Under chance all divisions into these sizes are
equally likely. T = Σ s·u, where s is the score of a sample's level and u that of its outcome, has a distribution that
depends on the sizes and the scores alone. Where divisions are few (two levels), all sums are listed. Otherwise the tail
is a double saddlepoint approximation (Robinson 1982; Booth and Butler 1990): levels are drawn independently, with
chances e^(φ + θ·s·u), given that their sizes come out as observed. Its relative error stays small in the far tail,
whatever outliers, ties and rare levels there are, where the normal distribution errs by orders of magnitude.
"""

from __future__ import annotations

from math import comb, lgamma, log

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray

#: Divisions into two levels that are listed: all sums are kept, 8 bytes each.
_MAX_LISTED = 400_000

#: Numbers (variables, samples, levels) that are in memory at once.
_AT_ONCE = 1 << 21

_MAX_STEPS = 60


class DrawnLevels:
    """Tails of T for one outcome.

    `scores` (n_samples,): of the outcome, centred.
    """

    def __init__(self, scores: FloatArray) -> None:
        self._scores = np.sort(scores - scores.mean())
        self._listed: dict[int, FloatArray] = {}

    def log_p(
        self, statistic: FloatArray, sizes: IntArray, level_scores: FloatArray, *, step: FloatArray | float = 0.0
    ) -> FloatArray:
        """Return ln P(|T| ≥ statistic), (n_vars,); NaN where the approximation does not hold.

        - `statistic` (n_vars,): not negative, and not near 0: where p is small.
        - `sizes` (n_vars, n_levels): samples of each level.
        - `level_scores` (n_vars, n_levels): any, up to a constant.
        - `step` (n_vars,) or float: the smallest step of T, by half of which it is reduced where divisions are not
          listed.

        Examples
        --------
        >>> drawn = DrawnLevels(np.arange(8.0))
        >>> p = np.exp(drawn.log_p(np.array([8.0]), np.array([[4, 4]]), np.array([[0.0, 1.0]])))
        >>> round(float(p[0]) * 70)  # of 70 divisions, the two with all high scores in one level
        2
        """
        n_vars, n_levels = sizes.shape
        log_p = np.full(n_vars, np.nan)
        n_samples = len(self._scores)
        smaller = sizes.min(axis=1)
        if n_levels == 2 and comb(n_samples, min(int(smaller.min(initial=n_samples)), n_samples)) <= _MAX_LISTED:
            for v in range(n_vars):
                gap = abs(float(level_scores[v, 1] - level_scores[v, 0]))
                if gap > 0 and smaller[v] > 0 and comb(n_samples, int(smaller[v])) <= _MAX_LISTED:
                    log_p[v] = self._listed_log_p(float(statistic[v]) / gap, int(smaller[v]))
        rest = np.flatnonzero(np.isnan(log_p))
        reduced = np.maximum(statistic - 0.5 * np.asarray(step), 0.0)
        size = max(1, _AT_ONCE // (n_samples * n_levels))
        for begin in range(0, len(rest), size):
            some = rest[begin : begin + size]
            tails = [
                _saddlepoint_log_tail(sign * reduced[some], sizes[some], level_scores[some], self._scores)
                for sign in (1.0, -1.0)
            ]
            with np.errstate(invalid="ignore"):  # NaN where there is no saddlepoint
                log_p[some] = np.logaddexp(*tails)
        return np.asarray(np.minimum(log_p, 0.0))

    def _listed_log_p(self, statistic: float, chosen: int) -> float:
        if chosen not in self._listed:
            self._listed[chosen] = np.sort(np.abs(_all_sums(self._scores, chosen)))
        sums = self._listed[chosen]
        rounding = 1e-9 * float(sums[-1])
        n_reached = len(sums) - int(np.searchsorted(sums, statistic - rounding))
        return log(max(n_reached, 1)) - log(len(sums))


def _all_sums(scores: FloatArray, chosen: int) -> FloatArray:
    """Return the sums of all subsets of scores with a given size."""
    sums: list[FloatArray] = [np.zeros(1)] + [np.empty(0)] * chosen
    for place, score in enumerate(scores.tolist()):
        for number in range(min(chosen, place + 1), 0, -1):
            sums[number] = np.concatenate([sums[number], sums[number - 1] + score])
    return sums[chosen]


def _saddlepoint_log_tail(
    statistic: FloatArray, sizes: IntArray, level_scores: FloatArray, outcome: FloatArray
) -> FloatArray:
    """Return ln P(T ≥ statistic) where it is positive, ln P(T ≤ statistic) where it is negative; NaN where unsolved."""
    from scipy.special import log_ndtr

    n_samples = len(outcome)
    share = sizes / n_samples
    # In standard deviations of T, so that θ is of the order of the deviate.
    centre = (share * level_scores).sum(axis=1, keepdims=True)
    spread = np.sqrt((share * (level_scores - centre) ** 2).sum(axis=1))
    deviation = spread * np.sqrt(n_samples * float(outcome @ outcome) / max(n_samples - 1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (level_scores - centre) / deviation[:, np.newaxis]
        target = statistic / deviation
    usable = np.isfinite(target)
    s, target = np.where(usable[:, np.newaxis], s, 0.0), np.where(usable, target, 0.0)
    w, u, is_solved = _Saddlepoint(s, share, outcome, target, sizes).solved()
    largest, log_chance = _ends(np.sign(statistic)[:, np.newaxis] * s, sizes, outcome)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_tail = np.asarray(log_ndtr(-(np.abs(w) + np.log(np.abs(u / w)) / np.abs(w))))
    log_tail = np.where(is_solved & ~np.isnan(log_tail), np.maximum(log_tail, log_chance), np.nan)
    # At the largest sum there is no saddlepoint.
    rounding = 1e-9 * np.maximum(largest, 1.0)
    log_tail = np.where(np.abs(target) > largest - rounding, log_chance, log_tail)
    log_tail = np.where(np.abs(target) > largest + rounding, -np.inf, log_tail)
    return np.where(usable, log_tail, np.nan)


def _ends(s: FloatArray, sizes: IntArray, outcome: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the largest T of some variables, and the logarithm of its chance; the outcome is ascending."""
    ties = np.unique(outcome, return_counts=True)[1]
    group = np.repeat(np.arange(len(ties)), ties)
    log_factorial = np.array([lgamma(n + 1) for n in range(len(outcome) + 1)])
    largest, log_chance = np.empty(len(s)), np.empty(len(s))
    for v, (scores, of_levels) in enumerate(zip(s, sizes, strict=True)):
        order = np.argsort(scores, kind="stable")
        level = np.repeat(order, of_levels[order])
        largest[v] = scores[level] @ outcome
        within = np.bincount(group * len(scores) + level, minlength=len(ties) * len(scores))
        n_ways = log_factorial[ties].sum() - log_factorial[within].sum()
        log_chance[v] = n_ways - (log_factorial[-1] - log_factorial[of_levels].sum())
    return largest, log_chance


class _Saddlepoint:
    """Newton's method for θ and φ of some variables at a time: the maximum of a concave function."""

    def __init__(
        self,
        s: FloatArray,
        share: FloatArray,
        outcome: FloatArray,
        target: FloatArray,
        sizes: IntArray,
    ) -> None:
        n_vars, n_levels = s.shape
        self._s, self._outcome, self._target = s, outcome, target
        self._empty = share == 0
        with np.errstate(divide="ignore"):
            self._log_share = np.log(share)
        self._sizes = sizes.astype(np.float64)
        self._parameters = np.zeros((n_vars, n_levels))  # θ, then φ of all levels but the first
        self._parameters[:, 0] = target

    def solved(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return the signed root and the standardised θ of the Lugannani–Rice formula, and whether they are solved."""
        at_zero = self._derivatives(np.zeros_like(self._parameters))[2]
        parameters = self._parameters
        value, gradient, hessian = self._derivatives(parameters)
        for _ in range(_MAX_STEPS):
            step = np.linalg.solve(hessian + 1e-12 * np.eye(hessian.shape[1]), gradient[..., np.newaxis])[..., 0]
            left = np.einsum("vp,vp->v", gradient, step)  # twice what the objective can still gain
            is_solved = left < 1e-14
            if is_solved.all():
                break
            factor = np.where(is_solved, 0.0, 1.0)
            for _ in range(30):
                trial = self._derivatives(parameters + factor[:, np.newaxis] * step)
                worse = (trial[0] < value - 1e-10) & (factor > 0)
                if not worse.any():
                    break
                factor[worse] /= 2
            parameters = parameters + factor[:, np.newaxis] * step
            value, gradient, hessian = trial
        theta = parameters[:, 0]
        w = np.sign(theta) * np.sqrt(np.maximum(2 * value, 0.0))
        log_determinants = np.linalg.slogdet(hessian)[1] - np.linalg.slogdet(at_zero[:, 1:, 1:])[1]
        return w, theta * np.exp(np.clip(0.5 * log_determinants, -350, 350)), is_solved

    def _derivatives(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return θ·t + φ·n − K, its gradient, and the Hessian of K."""
        theta, phi = parameters[:, 0], np.concatenate([np.zeros((len(parameters), 1)), parameters[:, 1:]], axis=1)
        scaled = theta[:, np.newaxis] * self._s
        logits = scaled[:, np.newaxis, :] * self._outcome[:, np.newaxis] + (phi + self._log_share)[:, np.newaxis, :]
        highest = logits.max(axis=2, keepdims=True)
        chance = np.exp(logits - highest)
        total = chance.sum(axis=2, keepdims=True)
        chance /= total
        cumulant = (np.log(total[..., 0]) + highest[..., 0]).sum(axis=1)
        value = theta * self._target + (phi * self._sizes).sum(axis=1) - cumulant
        mean = np.einsum("vil,vl->vi", chance, self._s)
        of_levels = chance.sum(axis=1)
        gradient = np.concatenate(
            [
                (self._target - mean @ self._outcome)[:, np.newaxis],
                np.where(self._empty, 0.0, self._sizes - of_levels)[:, 1:],
            ],
            axis=1,
        )
        n_levels = self._s.shape[1]
        hessian = np.empty((len(theta), n_levels, n_levels))
        second = np.einsum("vil,vl->vi", chance, self._s**2) - mean**2
        hessian[:, 0, 0] = second @ self._outcome**2
        weighted = np.einsum("vil,i->vl", chance, self._outcome) * self._s
        cross = weighted - np.einsum("vil,vi->vl", chance, mean * self._outcome)
        hessian[:, 0, 1:] = hessian[:, 1:, 0] = cross[:, 1:]
        inner = -np.einsum("vil,vim->vlm", chance, chance)[:, 1:, 1:]
        places = np.arange(n_levels - 1)
        inner[:, places, places] += of_levels[:, 1:] + self._empty[:, 1:]
        hessian[:, 1:, 1:] = inner
        return value, gradient, hessian
