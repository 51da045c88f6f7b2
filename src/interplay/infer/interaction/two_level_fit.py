"""Two levels and two classes, any number of members: all tables with the margins that H0 keeps lie on one line.

They are n + s·t, with s = ±1 by the parity of Σx + y, so the test has one degree of freedom and no nuisance parameter.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from interplay.base.arrays import FloatArray, IntArray

#: Newton's method below needs about ten.
_MAX_STEPS = 100

#: Fitted counts below exp of this would underflow.
_LOWEST_LOG = -700.0


def is_two_level(shape: tuple[int, ...]) -> bool:
    """Say whether all members have two levels, and the outcome two classes, for (levels …, classes)."""
    return set(shape) == {2}


@lru_cache(maxsize=32)
def parity_signs(shape: tuple[int, ...]) -> IntArray:
    """Return s of every entry, (n_entries,): +1 where all members and the class are 1."""
    ones = np.indices(shape).sum(axis=0).ravel()
    signs: IntArray = 1 - 2 * ((len(shape) - ones) % 2)
    signs.flags.writeable = False  # others will be given the same
    return signs


def step_range(flat: IntArray, signs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the lowest and the highest t for which n + s·t has no negative entry."""
    return -flat[:, signs > 0].min(axis=1), flat[:, signs < 0].min(axis=1)


def fit_two_levels(tables: IntArray) -> FloatArray:
    """Return the fit of H0, n + s·t where Σ s·ln(n + s·t) = 0.

    The sum grows from −∞ to ∞ over the range of t, so there is one root. With u the distance of t from the nearer end
    of the range, the sum is a convex function of ln u, and Newton's method from the middle of the range goes straight
    to the root. Entries near 0 keep all their digits, as the end of the range is a whole number.
    """
    shape = tables.shape[1:]
    signs = parity_signs(shape)
    flat = tables.reshape(len(tables), signs.size)
    low, high = step_range(flat, signs)
    fit = flat.astype(np.float64)
    free = np.flatnonzero(high > low)
    if len(free) == 0:
        return fit.reshape(tables.shape)
    half = (high - low)[free, np.newaxis] / 2
    middle = flat[free] + signs * (low[free, np.newaxis] + half)
    from_low = (signs * np.log(middle)).sum(axis=1, keepdims=True) >= 0
    end = flat[free] + signs * np.where(from_low, low[free, np.newaxis], high[free, np.newaxis])
    direction = np.where(from_low, signs, -signs)
    log_u = np.log(half)
    moving = np.ones(log_u.shape, dtype=np.bool_)  # a table that has arrived stays, whatever the others need
    for _ in range(_MAX_STEPS):
        mu = end + direction * np.exp(log_u)
        slope = (np.exp(log_u) / mu).sum(axis=1, keepdims=True)
        step = (direction * np.log(mu)).sum(axis=1, keepdims=True) / slope
        log_u = np.maximum(log_u - np.where(moving, step, 0.0), _LOWEST_LOG)
        moving &= np.abs(step) > 1e-14 * (1 + np.abs(log_u))
        if not moving.any():
            break
    fit[free] = end + direction * np.exp(np.minimum(log_u, np.log(half)))
    return fit.reshape(tables.shape)
