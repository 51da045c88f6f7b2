"""Tables → their maximum-likelihood fit under H0, and G² = 2 Σ n ln(n/μ).

The start is Kirkwood's product of the margins, normalised in every cell: a member of H0's family, so that its G² is an
upper bound, and iterative proportional fitting (IPF), each sweep of which lowers the bound. IPF goes the first, long
way cheaply; it slows down where the fit has zeros, and Newton's method, which does not, goes the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.null_model import (
    chunks_of_tables,
    information,
    is_large,
    null_design,
    per_table,
    supported_entries,
    weighted_design,
)
from interplay.infer.interaction.proportional_fit import NullModelFit, fit_proportionally
from interplay.infer.interaction.two_level_fit import fit_two_levels, is_two_level

#: G² is within this of its minimum, times 1 + G².
TOLERANCE = 1e-10

#: IPF before Newton's method takes over.
_FIRST_SWEEPS = 30
_FIRST_TOLERANCE = 1e-3

#: IPF alone, where tables have too many columns for Newton's method.
_MAX_SWEEPS = 20_000

_MAX_NEWTON_STEPS = 100


def fit_null_model(tables: IntArray) -> NullModelFit:
    """Fit H0 to every table: in closed form for two levels and two classes, else by IPF and Newton's method.

    Examples
    --------
    >>> import numpy as np
    >>> xor = np.array([[[[30, 10], [10, 30]], [[10, 30], [30, 10]]]])
    >>> fit = fit_null_model(xor)
    >>> fit.mu[0, 0].round(6).tolist(), round(float(fit.g2[0]), 3)
    ([[20.0, 20.0], [20.0, 20.0]], 41.86)
    """
    if is_two_level(tables.shape[1:]):
        mu = fit_two_levels(tables)
        return NullModelFit(mu, likelihood_ratio(tables, mu), np.ones(len(tables), dtype=np.bool_))
    if is_large(tables.shape[1:]):
        return fit_proportionally(tables, tolerance=TOLERANCE, max_sweeps=_MAX_SWEEPS)
    return _newton(tables, fit_proportionally(tables, tolerance=_FIRST_TOLERANCE, max_sweeps=_FIRST_SWEEPS).mu)


def likelihood_ratio(tables: npt.NDArray[Any], mu: FloatArray) -> FloatArray:
    """Return 2 Σ n ln(n/μ) of every table, for μ that has the tables' cell sizes."""
    n = tables.reshape(per_table(tables))
    fitted = mu.reshape(n.shape)
    ratio = np.divide(n, fitted, out=np.ones(n.shape), where=n > 0)
    # Σ (μ − n) is 0; with it every term is positive, and rounding of μ has no effect of first order.
    terms = n * np.log(ratio) + (fitted - n)
    return np.asarray(np.maximum(2 * terms.sum(axis=1), 0.0))


def smallest_expected(tables: IntArray, mu: FloatArray) -> FloatArray:
    """Return the smallest fitted count of every table among the entries whose margins are positive; NaN if none are."""
    fitted = np.where(supported_entries(tables), mu, np.inf).reshape(per_table(tables)).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(fitted), fitted, np.nan)


def _scaled(mu: FloatArray, tables: npt.NDArray[Any], axis: int) -> FloatArray:
    """Give μ the margins of the tables that are sums over one axis."""
    fitted = mu.sum(axis=axis, keepdims=True)
    wanted = tables.sum(axis=axis, keepdims=True)
    return np.asarray(mu * np.divide(wanted, fitted, out=np.zeros(fitted.shape), where=fitted > 0))


def _newton(tables: IntArray, start: FloatArray) -> NullModelFit:
    """Go on from a member of H0's family by Newton's method in the bᵢ, a(x) following from the cell sizes.

    Where the fit has zeros among entries with positive margins, some bᵢ go to −∞, by about 1 in each step, and G² falls
    to its infimum by a factor e each time.
    """
    mu = start.copy()
    g2 = likelihood_ratio(tables, mu)
    converged = np.zeros(len(tables), dtype=np.bool_)
    for chunk in chunks_of_tables(tables):
        active = np.arange(len(tables))[chunk]
        for _ in range(_MAX_NEWTON_STEPS):
            if len(active) == 0:
                break
            counts = tables[active]
            direction, gain = _newton_direction(counts, mu[active])
            new_mu, new_g2 = _best_step(counts, mu[active], g2[active], direction)
            # The step that was just made leaves much less than it gained.
            done = (gain <= TOLERANCE * (1 + new_g2)) | (new_g2 >= g2[active])
            better = new_g2 < g2[active]
            mu[active[better]], g2[active[better]] = new_mu[better], new_g2[better]
            converged[active[done]] = gain[done] <= 1e4 * TOLERANCE * (1 + new_g2[done])
            active = active[~done]
    return NullModelFit(mu, g2, converged)


def _newton_direction(counts: IntArray, mu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the change of ln μ, up to a(x), and by how much G² should fall."""
    design = null_design(counts.shape[1:]).reshape(-1, null_design(counts.shape[1:]).shape[-1])
    # One product per table: BLAS would round one product of all of them by their number.
    gradient = np.matmul((counts - mu).reshape(len(mu), 1, -1), design)[:, 0]
    coefficients = np.linalg.solve(information(weighted_design(mu)), gradient[..., np.newaxis])
    change = np.matmul(design, coefficients)[..., 0]
    return change.reshape(mu.shape), np.maximum((gradient * coefficients[..., 0]).sum(axis=1), 0.0)


def _best_step(
    counts: IntArray, mu: FloatArray, g2: FloatArray, direction: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Halve the step of the tables whose G² would not fall, a few times."""
    largest = np.abs(direction).reshape(len(mu), -1).max(axis=1)
    length = np.minimum(1.0, 20.0 / np.maximum(largest, 1.0))
    new_mu, new_g2 = mu.copy(), np.full(len(mu), np.inf)
    trying = np.arange(len(mu))
    for _ in range(12):
        scale = length[trying].reshape(-1, *[1] * (mu.ndim - 1))
        moved = _scaled(mu[trying] * np.exp(scale * direction[trying]), counts[trying], -1)
        new_mu[trying], new_g2[trying] = moved, likelihood_ratio(counts[trying], moved)
        length[trying] /= 2
        trying = trying[new_g2[trying] > g2[trying]]
        if len(trying) == 0:
            break
    return new_mu, new_g2
