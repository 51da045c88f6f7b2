"""Scores of variables and residuals of a model → p-values of the variables in this model: the score test.

Of a variable with scores x, the statistic is T = Σ x̃·u. u are the residuals of the outcome in the model of covariates,
offset and times, and x̃ what the columns C of the model leave of x, in a regression weighted by the variances w of u:
x̃ = x − C(C'WC)⁻¹C'Wx. So T has the variance Σ x̃²w and the third moment Σ x̃³κ, as in the score tests of linear,
logistic and Cox models. A test of residuals that left x as it is would take the variance of x for that of x̃: it would
lose power where a variable follows from covariates.

The tail of a linear model is that of a partial correlation, its t test. Otherwise T is normal, or skewed as the gamma
distribution of `score_test`. Where few samples carry a variable and residuals are skewed, it is neither: small p-values
then are those of `residual_tail`.

Differences between several levels have F's or χ²'s tail where levels have many samples. Where one has few, a residual
over the root of its variance is far from normal. So residuals as they are, not weighted, are also compared with their
permutations: the share R² of their squares that levels explain has a mean and a variance over all permutations
(Kazi-Aoual et al. 1995), and the tail of the beta distribution with these. The larger p-value counts.

Sums of residuals, weighted by the scores of variables → their tails, by saddlepoints.

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

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_beta_cdf, log_chi2_tail, log_f_tail
from interplay.data.study.outcomes.targets import ScoreTarget
from interplay.infer.score_test import Moments

#: If the columns of a model leave less than this share of a variable's squares, they determine it.
_NOTHING_LEFT = 1e-6

#: A level with fewer samples has few: residuals are compared with their permutations as well.
_FEW_IN_LEVEL = 20

#: From this skewness or excess kurtosis of T on, p-values up to this are those of `residual_tail`.
_SHAPED, _MAX_P_SHAPED = 0.05, 0.05

#: Numbers (variables, samples) that are in memory at once.
_AT_ONCE = 1 << 21

#: Squares of what a projection leaves of a column of its own, per square of the column.
_ROUNDING = 1e-24


@dataclass(frozen=True, eq=False)
class ResidualTarget:
    """Residuals of a model, ready to be compared with the scores of variables."""

    is_linear: bool
    #: (n_samples,): of a linear model orthogonal to its columns: ranks of residuals are not quite.
    residuals: FloatArray
    _roots: FloatArray  # (n_samples,), roots of the variances
    _thirds: FloatArray
    _basis: FloatArray  # (n_samples, n_columns), orthonormal columns of √W·C
    _plain: FloatArray  # the same of C
    _tail: ResidualTail

    @classmethod
    def of(cls, outcome: ScoreTarget) -> ResidualTarget:
        """Take the residuals of an outcome that has a model."""
        model = outcome.model
        assert model is not None
        roots = np.sqrt(np.maximum(model.variances, 0.0))
        basis, plain = (np.linalg.qr(root * model.columns)[0] for root in (roots[:, np.newaxis], 1.0))
        is_linear = model.kind == "linear"
        residuals = outcome.scores
        if is_linear:
            residuals = residuals - basis @ (basis.T @ residuals)
        n_left = len(residuals) - basis.shape[1]
        # Of a linear model, with the variance that the t test estimates.
        drawn = residuals * np.sqrt(len(residuals) / max(n_left, 1))
        tail = ResidualTail.of(model.kind, drawn, model.variances, model.thirds)
        return cls(is_linear, residuals, roots, model.thirds, basis, plain, tail)

    @property
    def _target(self) -> FloatArray:
        """Residuals over the roots of their variances, (n_samples,)."""
        return np.divide(self.residuals, self._roots, out=np.zeros(len(self._roots)), where=self._roots > 0)

    @property
    def n_fitted(self) -> int:
        """Columns of the model beyond the constant."""
        return int(self._basis.shape[1]) - 1

    def log_p(self, scores: FloatArray) -> FloatArray:
        """Return natural logarithms of two-sided p-values, (n_vars,), from scores, (n_vars, n_samples)."""
        left, length = self._left(scores)
        statistic = np.einsum("vs,s->v", left, self._target)
        is_known = (length > 0)[:, np.newaxis]
        variance = np.where(length > 0, length, 0.0)
        freedom = None
        n_left = scores.shape[1] - self.n_fitted
        plain = np.divide(left, self._roots, out=np.zeros(left.shape), where=self._roots > 0)
        if self.is_linear:
            square = float(self.residuals @ self.residuals) / max(n_left - 1, 1)
            variance = variance * square
            freedom = np.full(len(scores), float(max(n_left - 2, 1)))
            third = np.zeros(len(scores))
            skewness = np.einsum("vs,vs,vs->v", plain, plain, plain) * float((self.residuals**3).mean())
            excess = np.einsum("vs,vs->v", plain**2, plain**2) * (float((self.residuals**4).mean()) - 3 * square**2)
        else:
            third = skewness = np.einsum("vs,vs,vs,s->v", plain, plain, plain, self._thirds)
            excess = np.zeros(len(scores))
        moments = Moments(
            np.where(is_known, statistic[:, np.newaxis], 0.0),
            variance[:, np.newaxis, np.newaxis],
            np.where(is_known, third[:, np.newaxis], 0.0),
            freedom,
        )
        log_p = moments.log_p()
        with np.errstate(divide="ignore", invalid="ignore"):
            is_shaped = np.maximum(np.abs(skewness) / variance**1.5, np.abs(excess) / variance**2) > _SHAPED
        shaped = np.flatnonzero(is_shaped & (log_p < np.log(_MAX_P_SHAPED)))
        size = max(1, _AT_ONCE // scores.shape[1])
        for begin in range(0, len(shaped), size):
            some = shaped[begin : begin + size]
            drawn = self._tail.log_p(statistic[some], plain[some])
            # Classes and events come in steps, between which saddlepoints are too low.
            least = drawn if self.is_linear else np.maximum(drawn, log_p[some])
            log_p[some] = np.where(np.isnan(drawn), log_p[some], least)
        return log_p

    def level_log_p(self, codes: IntArray, n_levels: int) -> FloatArray:
        """Return ln p of differences between any levels of variables, (n_vars,), from codes, (n_vars, n_samples)."""
        if n_levels == 2:
            return self.log_p(codes.astype(np.float64))
        log_p = np.zeros(len(codes))
        target = self._target
        square = float(self.residuals @ self.residuals)
        for row, levels in enumerate(codes):
            used = np.unique(levels)
            indicators = np.asarray(levels == used[1:, np.newaxis], dtype=np.float64)
            left, length = self._left(indicators)
            left = left[length > 0]
            if not len(left):
                continue
            products = left @ left.T
            statistic = left @ target
            explained = float(statistic @ np.linalg.pinv(products, hermitian=True) @ statistic)
            df = int(np.linalg.matrix_rank(products, hermitian=True))
            df_residual = codes.shape[1] - 1 - self.n_fitted - df
            if df_residual <= 0:  # nothing is left to compare levels with
                continue
            if self.is_linear:
                f = explained / df / max((square - explained) / df_residual, 1e-300)
                by_model = float(log_f_tail(f, df, df_residual))
            else:
                by_model = float(log_chi2_tail(np.array([explained]), df)[0])
            is_small = np.bincount(levels)[used].min() < _FEW_IN_LEVEL
            log_p[row] = max(by_model, self._permuted_log_p(indicators)) if is_small else by_model
        return log_p

    def _permuted_log_p(self, indicators: FloatArray) -> float:
        """Return ln p of the residuals' R² on indicators of levels, (n_levels − 1, n_samples), over permutations."""
        plain = self._plain
        added, triangle = np.linalg.qr((indicators - (indicators @ plain) @ plain.T).T)
        added = added[:, np.abs(np.diag(triangle)) > _NOTHING_LEFT]
        left = self.residuals - plain @ (plain.T @ self.residuals)
        n, df = len(left) - self.n_fitted, added.shape[1]
        total = float(left @ left)
        if not 0 < df < n - 1 or total <= 0:
            return 0.0
        mean = df / (n - 1)
        # Of trace, trace of the square, and squares of the diagonal, of a projection and of the product u·u'.
        diagonal, fourth = float(((added**2).sum(axis=1) ** 2).sum()), float((left**4).sum()) / total**2
        variance = 2 * ((n - 1) * df - df**2) * (n - 2) / ((n - 1) ** 2 * (n + 1) * (n - 2))
        excess = (n * (n + 1) * diagonal - (n - 1) * (df**2 + 2 * df)) * (n * (n + 1) * fourth - 3 * (n - 1))
        variance += excess / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
        both = mean * (1 - mean) / max(variance, 1e-300) - 1
        if both <= 0:
            return 0.0
        share = min(float(((left @ added) ** 2).sum()) / total, 1.0)
        return float(log_beta_cdf(np.array([1 - share]), (1 - mean) * both, mean * both)[0])

    def _left(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return √w·x̃ of each variable, and its squared length; 0 where the model's columns determine the variable."""
        weighted = scores * self._roots
        # Weighted by its root, a constant may be no constant: lengths are compared with those of centred scores.
        mean = (scores @ self._roots**2) / max(float(self._roots @ self._roots), 1e-300)
        centred = (scores - mean[:, np.newaxis]) * self._roots
        left = weighted - (weighted @ self._basis) @ self._basis.T
        length = np.einsum("vs,vs->v", left, left)
        squares = np.einsum("vs,vs->v", centred, centred)
        # Of a constant, rounding errors are all that is left, here and there.
        rounded = _ROUNDING * np.einsum("vs,vs->v", weighted, weighted)
        return left, np.where(length > np.maximum(_NOTHING_LEFT * squares, rounded), length, 0.0)


#: Arguments at which the cumulants of drawn residuals are tabled: a·sinh(t), in deviations.
_TABLED = 0.01 * np.sinh(np.linspace(-10.0, 10.0, 2001))

#: Different residuals that a table is made of; of more, neighbours in the middle are taken together.
_MAX_DIFFERENT = 2000

_MAX_STEPS = 100

#: From this deviate on, a tail is not one of the centre.
_MIN_ROOT = 0.1


@dataclass(frozen=True, eq=False)
class ResidualTail:
    """What the distribution of residuals is."""

    #: That of the model: "linear", "logistic" or "cox".
    kind: str
    #: `first`, `second`, (n,): linear: residuals, of mean 0, and their shares. Else, for each sample, the chance (or
    #: the mean number) of an event, and how much an event changes the residual.
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
        with np.errstate(invalid="ignore"):  # NumPy warns of NaN here
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
            with np.errstate(over="ignore"):
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
                total = 1 - self.first + self.first * raised  # above 0 also where an event is certain
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
