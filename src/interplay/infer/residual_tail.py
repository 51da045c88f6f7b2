"""Sums of residuals, weighted by the scores of variables → their tails, by saddlepoints.

T = Σ x̃ᵢ·uᵢ is normal where many samples have a share in it, or where residuals are normal. It is not where few samples
carry a variable and residuals are skewed: most outcomes zero, few cases, few events. Its tail then is that of the
distribution that residuals have under the model: drawn from all residuals (linear models, whose residuals may change
places), two values with the chances of a logistic model, or events minus a Poisson mean (times). The cumulants of T
are sums over samples, K(θ) = Σ Kᵢ(θ·x̃ᵢ), and the tail is Lugannani and Rice's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from interplay.base.arrays import FloatArray

#: Arguments at which the cumulants of drawn residuals are tabled: a·sinh(t), in deviations.
_TABLED = 0.01 * np.sinh(np.linspace(-10.0, 10.0, 2001))

#: Different residuals that a table is made of; of more, neighbours in the middle are taken together.
_MAX_DIFFERENT = 2000

_MAX_STEPS = 100

#: From this deviate on, a tail is not one of the centre.
_MIN_ROOT = 0.1


@dataclass(frozen=True, eq=False)
class ResidualTail:
    """What the distribution of residuals is.

    Attributes
    ----------
    kind : str
        That of the model: "linear", "logistic" or "cox".
    first, second : (n,) float64
        Linear: residuals, of mean 0, and their shares. Else, for each sample, the chance (or the mean number) of an
        event, and how much an event changes the residual.
    """

    kind: str
    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, kind: str, residuals: FloatArray, variances: FloatArray, thirds: FloatArray) -> ResidualTail:
        """Take residuals as they are drawn, or, for other models than linear ones, the moments of each."""
        if kind == "linear":
            return cls(kind, *_few(np.sort(residuals - residuals.mean())))
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(variances > 0, thirds / variances, 0.0)
            if kind == "cox":
                return cls(kind, np.where(variances > 0, variances / slope**2, 0.0), slope)
            step = np.sqrt(4 * variances + slope**2)
            return cls(kind, np.where(variances > 0, (1 - slope / step) / 2, 0.0), step)

    def log_p(self, statistic: FloatArray, scores: FloatArray) -> FloatArray:
        """Return ln P(|T| ≥ |statistic|), (n_vars,), for scores x̃, (n_vars, n_samples); NaN where it is not solved.

        Examples
        --------
        >>> residuals = np.r_[np.zeros(90), np.linspace(1, 3, 10)] - 0.2
        >>> tail = ResidualTail.of("linear", residuals, np.empty(0), np.empty(0))
        >>> carriers = (np.arange(100) < 4) + 0.05 * np.sin(np.arange(100.0))  # four samples, and a little of all
        >>> p = np.exp(tail.log_p(np.array([5.0]), carriers[np.newaxis] - carriers.mean()))
        >>> bool(0.002 < p[0] < 0.004)  # permutations: .002; the normal distribution: 6e-5
        True
        """
        sign = np.where(statistic < 0, -1.0, 1.0)[:, np.newaxis]
        observed, other = (self._log_tail(np.abs(statistic), side * sign * scores) for side in (1.0, -1.0))
        # T cannot be as large on the other side where there is no saddlepoint.
        return np.minimum(np.logaddexp(observed, np.where(np.isnan(other), -np.inf, other)), 0.0)

    def _log_tail(self, statistic: FloatArray, scores: FloatArray) -> FloatArray:
        """Return ln P(T ≥ statistic)."""
        from scipy.special import log_ndtr

        low = np.zeros(len(statistic))
        theta = statistic / np.maximum(self._cumulants(low, scores)[2], 1e-300)
        high = np.full(len(statistic), np.inf)
        is_solved = np.zeros(len(statistic), dtype=bool)
        value, slope, curve = self._cumulants(theta, scores)
        for _ in range(_MAX_STEPS):
            off = slope - statistic
            is_solved = np.abs(off) <= 1e-7 * np.maximum(statistic, 1e-300)
            if is_solved.all():
                break
            low, high = np.where(off < 0, theta, low), np.where(off > 0, theta, high)
            step = theta - off / np.maximum(curve, 1e-300)
            halved = np.where(np.isinf(high), 2 * theta, (low + high) / 2)
            step = np.where((step > low) & (step < np.minimum(high, 4 * theta)), step, halved)
            theta = np.where(is_solved, theta, step)
            value, slope, curve = self._cumulants(theta, scores)
        root = np.sqrt(np.maximum(2 * (theta * statistic - value), 0.0))
        standardised = theta * np.sqrt(curve)
        with np.errstate(divide="ignore", invalid="ignore"):
            tail = log_ndtr(-(root + np.log(standardised / root) / root))
        return np.where(is_solved & (root > _MIN_ROOT), tail, np.nan)

    def _cumulants(self, theta: FloatArray, scores: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return K and its first two derivatives at θ, (n_vars,) each."""
        if self.kind == "linear":
            at, of_table = self._table
            s = theta[:, np.newaxis] * scores
            inside = np.clip(s, at[0], at[-1])
            value, slope, curve = (np.interp(inside, at, row) for row in of_table)
            value = value + (s - inside) * slope  # beyond the table, the largest residual is all there is
        else:
            s = np.clip(theta[:, np.newaxis] * scores * self.second, -700.0, 700.0)
            raised = np.exp(s)
            if self.kind == "cox":
                value = self.first * (raised - 1 - s)
                slope, curve = (self.second * self.first * (raised - 1), self.second**2 * self.first * raised)
            else:
                total = 1 + self.first * (raised - 1)
                chance = self.first * raised / total
                value = np.log(total) - self.first * s
                slope, curve = (self.second * (chance - self.first), self.second**2 * chance * (1 - chance))
        return value.sum(axis=1), (slope * scores).sum(axis=1), (curve * scores**2).sum(axis=1)

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Arguments, and K with its first two derivatives at them, of drawn residuals."""
        spread = float(np.sqrt((self.first**2 * self.second).sum()))
        at = _TABLED / spread
        products = at[:, np.newaxis] * self.first
        highest = products.max(axis=1, keepdims=True)
        chance = np.exp(products - highest) * self.second
        total = chance.sum(axis=1)
        mean = chance @ self.first / total
        curve = chance @ self.first**2 / total - mean**2
        return at, np.stack([np.log(total) + highest[:, 0], mean, curve])


def _few(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sorted values and their shares; of many different ones, means of neighbours in the middle."""
    used, sizes = np.unique(values, return_counts=True)
    if len(used) > _MAX_DIFFERENT:
        ends = _MAX_DIFFERENT // 4
        middle = np.linspace(ends, len(used) - ends, _MAX_DIFFERENT - 2 * ends + 1).astype(np.int64)
        starts = np.concatenate([np.arange(ends), middle[:-1], np.arange(len(used) - ends, len(used))])
        used, sizes = (
            np.add.reduceat(used * sizes, starts) / np.add.reduceat(sizes, starts),
            np.add.reduceat(sizes, starts),
        )
    return used, sizes / len(values)
