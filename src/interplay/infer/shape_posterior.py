"""Censored values of a Weibull tail → the posterior of its shape → the probability that a further value is as small.

A fitted tail is known only as well as its reference variables are many, and the farther a p-value lies beyond them the
more this matters. Instead of taking the most likely shape for the true one, the p-value is averaged over all shapes, by
how well they explain the reference variables. ln T of a Weibull variable has a location and a scale. With the invariant
prior of these (uniform in the location and in the logarithm of the scale) such averages are exact: of values that truly
are Weibull distributed, a share α gets p ≤ α, with any number of reference variables.

Given the shape δ, the rate γ can be integrated by hand: with r values seen and S the sum of T^δ over all, the censored
ones at the point of censoring, p = 1 − (1 + T^δ / S)^(−r). The shape is left to a sum over nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from interplay.base.arrays import FloatArray

#: Number of nodes, evenly spaced in ln δ, and standard errors to each side. The error of the sum is below 1e-6.
_N_NODES = 41
_N_ERRORS = 6.0


@dataclass(frozen=True, eq=False)
class ShapePosterior:
    """Shapes of the tail, and how likely they are.

    Attributes
    ----------
    delta : (n_nodes,) float64
        Shapes, ascending.
    log_sum : (n_nodes,) float64
        ln S of each.
    weight : (n_nodes,) float64
        Their posterior probabilities.
    n_seen : int
        Reference variables that were not censored, r.
    """

    delta: FloatArray
    log_sum: FloatArray
    weight: FloatArray
    n_seen: int

    def is_consistent(self) -> bool:
        """Say whether the arrays belong together: a file may say anything."""
        return (
            self.delta.ndim == 1
            and len(self.delta) > 0
            and self.delta.shape == self.log_sum.shape == self.weight.shape
            and bool(np.isfinite([self.delta, self.log_sum, self.weight]).all())
            and bool((self.delta > 0).all() and (self.weight >= 0).all())
            and abs(float(self.weight.sum()) - 1.0) < 1e-6
            and self.n_seen > 0
        )

    def to_array(self) -> FloatArray:
        """Return shapes, ln S and weights, (3, n_nodes)."""
        return np.stack([self.delta, self.log_sum, self.weight])

    def shifted(self, by: float) -> ShapePosterior:
        """Return the same for T larger by a factor, of which this is the logarithm."""
        return replace(self, log_sum=self.log_sum - self.delta * by)

    def log_p(self, log_t: FloatArray) -> FloatArray:
        """Return ln of the probability that a further value is at most T, from ln T; finite however small it is."""
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.weight)
        total = np.full(np.shape(log_t), -np.inf)
        for delta, log_sum, log_w in zip(self.delta, self.log_sum, log_weight, strict=True):
            log_u = delta * log_t - log_sum
            direct = np.log(-np.expm1(-self.n_seen * np.log1p(np.exp(np.clip(log_u, -40.0, 700.0)))))
            # Of 1 − (1 + u)^(−r), r·u remains where u is tiny, and can be told where u itself is 0 as a double.
            log_p = np.where(log_u < -40.0, np.log(self.n_seen) + log_u, direct)
            with np.errstate(invalid="ignore"):  # NaN stands for a variable without a gain
                total = np.logaddexp(total, log_w + log_p)
        return np.where(np.isposinf(log_t), 0.0, np.minimum(total, 0.0))  # V = 1 is no evidence at all


def shape_posterior(
    log_t: FloatArray, n_seen: int, *, delta: float, delta_error: float, max_delta: float = np.inf
) -> ShapePosterior:
    """Return the posterior of the shape around its most likely value.

    Parameters
    ----------
    log_t : (n,) float64
        ln T, ascending; those after the first `n_seen` all at the point of censoring.
    n_seen : int
    delta, delta_error : float
        The most likely shape and its standard error.
    max_delta : float
        Larger shapes are ruled out.
    """
    cut = log_t[-1]
    x = log_t[:n_seen] - cut
    width = _N_ERRORS * min(delta_error / delta, 0.5)
    highest = min(np.log(delta) + width, np.log(max_delta))
    nodes = np.exp(np.linspace(np.log(delta) - width, highest, _N_NODES))
    log_sum = np.log(np.exp(np.multiply.outer(nodes, x)).sum(axis=1) + (len(log_t) - n_seen))
    # The invariant prior of ln T's location and scale is 1/(γ·δ²) in γ and δ; nodes are even in ln δ, hence one δ less.
    log_weight = (n_seen - 1) * np.log(nodes) + nodes * x.sum() - n_seen * log_sum
    weight = np.exp(log_weight - log_weight.max())
    weight[[0, -1]] /= 2  # trapezoids
    return ShapePosterior(nodes, log_sum + nodes * cut, weight / weight.sum(), n_seen)
