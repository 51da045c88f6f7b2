"""Where the thresholds of a discretisation lie: ranks in the sorted column, shares of random size.

This is the original's scheme, word for word, so that the same seed gives the same codes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from interplay.base.arrays import MAX_DISCRETIZATIONS, MAX_LEVELS, FloatArray, IntArray
from interplay.base.checks import check_int, check_real, warn
from interplay.base.seeds import first_draws

#: Below this, the discretisations are so alike that repeating them gains little.
NARROW_RANGE = 0.25


def suggest_range(n_samples: int, *, dimensions: int, divisions: int = 1, k: float = 3) -> float:
    """Suggest how far the sizes of the levels may vary between discretisations.

    Parameters
    ----------
    n_samples : int
        Number of samples. If class sizes differ much, the size of the smallest class is the safer choice.
    dimensions : int
        Number of variables in a tuple.
    divisions : int, default 1
        Thresholds per variable; there are `divisions` + 1 levels.
    k : float, default 3
        Samples that the smallest cell of a tuple's table should expect.

    Returns
    -------
    float
        A range between 0 (levels of equal size) and 1 (any size). 0 means that there are too few samples.

    Examples
    --------
    >>> round(suggest_range(2000, dimensions=2), 4)
    0.9225
    >>> round(suggest_range(100, dimensions=5), 4)
    0.0081
    """
    n_samples = check_int("n_samples", n_samples, low=1, high=2**63 - 1)
    dimensions = check_int("dimensions", dimensions, low=1)
    divisions = check_int("divisions", divisions, low=1)
    k = check_real("k", k, low=0, low_open=True)
    smallest_share: float = (k / n_samples) ** (1 / dimensions)
    span = (1 - smallest_share * (1 + divisions)) / (1 - smallest_share * (1 - divisions))
    return min(max(span, 0.0), 1.0)


def resolve_range(range_: Any, *, n_samples: int, dimensions: int, divisions: int, discretizations: int) -> float:
    """Return the range to use: the given one if it makes sense, 0 for one discretisation, else the suggested one."""
    if range_ is not None:
        span = check_real("range_", range_, low=0, high=1)
        if span == 0 and discretizations > 1:
            raise ValueError(
                f"range_=0 makes all {discretizations} discretizations the same: use one, or a higher range_"
            )
        return span
    if discretizations == 1:
        return 0.0
    span = suggest_range(n_samples, dimensions=dimensions, divisions=divisions)
    setting = f"{n_samples} samples, dimensions={dimensions} and divisions={divisions}"
    if span == 0:
        raise ValueError(
            f"range_: too few samples to vary the discretizations ({setting}): "
            "use discretizations=1, fewer dimensions or divisions, or give range_"
        )
    if span < NARROW_RANGE:
        warn(
            f"range_: only {span:.2g} leaves enough samples per cell ({setting}), so the discretizations will hardly "
            "differ: consider fewer dimensions or divisions, or discretizations=1"
        )
    return span


def check_discretization(
    n_samples: int, *, dimensions: int, divisions: Any, discretizations: Any, range_: Any
) -> dict[str, Any]:
    """Return `divisions`, `discretizations` and `range_`, checked and made definite; `dimensions` must be checked."""
    cuts = {
        "divisions": check_int("divisions", divisions, low=1, high=MAX_LEVELS - 1),
        "discretizations": check_int("discretizations", discretizations, low=1, high=MAX_DISCRETIZATIONS),
    }
    return {**cuts, "range_": resolve_range(range_, n_samples=n_samples, dimensions=dimensions, **cuts)}


def threshold_ranks(
    variables: IntArray, n_observed: IntArray, *, divisions: int, discretizations: int, range_: float, seed: int
) -> IntArray:
    """Return the ranks, in the sorted column, of the values that are the thresholds.

    - `variables` (m,): numbers of the variables, from 0; contrast variables follow the real ones.
    - `n_observed` (m,): number of values each of them has.
    - `divisions`, `discretizations`, `range_`, `seed`: see the specification of the discretisation; `seed` is a 32-bit
      word.

    Returns
    -------
    (m, discretizations, divisions) int64
        Not decreasing along the last axis, and below `n_observed` (0 where there is no value).
    """
    shares = _level_shares(variables, divisions=divisions, discretizations=discretizations, range_=range_, seed=seed)
    total = shares[..., 0].copy()
    for level in range(1, divisions + 1):  # One by one, as the original adds them: the rounding must be the same.
        total += shares[..., level]
    scale = n_observed[:, None] / total
    last = np.maximum(n_observed - 1, 0)[:, None]
    ranks = np.empty((*total.shape, divisions), dtype=np.int64)
    done = np.zeros(total.shape, dtype=np.int64)
    for i in range(divisions):
        size = shares[..., i] * scale
        whole = np.floor(size)
        done += (whole + (size - whole >= 0.5)).astype(np.int64)  # Halves go up, as C's round() does.
        np.minimum(done, last, out=done)
        ranks[..., i] = done
    return ranks


@lru_cache(maxsize=128)
def even_ranks(n_observed: int, divisions: int) -> IntArray:
    """Return the ranks of thresholds between levels of equal size, (divisions,): those of `threshold_ranks`, range 0.

    They are remembered: tables of as many samples often follow one another.

    Examples
    --------
    >>> even_ranks(9, 2)
    array([3, 6])
    """
    any_variable, any_seed = np.zeros(1, dtype=np.int64), 0  # nothing is random
    even = {"divisions": divisions, "discretizations": 1, "range_": 0}
    ranks = threshold_ranks(any_variable, np.array([n_observed]), **even, seed=any_seed).reshape(divisions)
    ranks.flags.writeable = False  # others will be given the same
    return ranks


def _level_shares(variables: IntArray, *, divisions: int, discretizations: int, range_: float, seed: int) -> FloatArray:
    """Return the relative sizes of the levels, (m, discretizations, divisions + 1)."""
    shape = (len(variables), discretizations, divisions + 1)
    if range_ == 0:
        return np.ones(shape)
    root = first_draws(np.array([seed], dtype=np.uint32), 1)[0]
    per_discretization = first_draws(root ^ np.arange(discretizations, dtype=np.uint32), 1)[0]
    seeds = variables.astype(np.uint32)[:, None] ^ per_discretization
    draws = first_draws(seeds.ravel(), 2 * (divisions + 1)).astype(np.float64)
    # Two 32-bit draws, low word first, make one fraction; should it round up to 1, the next double below 1.
    fractions = (draws[0::2] + draws[1::2] * 2.0**32) / 2.0**64
    np.minimum(fractions, np.nextafter(1.0, 0.0), out=fractions)
    return np.moveaxis((1 - range_) + fractions * (2 * range_), 0, -1).reshape(shape)
