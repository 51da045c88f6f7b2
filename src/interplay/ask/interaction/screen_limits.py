"""Limits of the screens of all outcomes: the pseudocount, the most cells and degrees of freedom, the longest list."""

from __future__ import annotations

from math import prod

import numpy as np

from interplay.base.arrays import IntArray

#: What engines add to counts while they screen: as little as their bounds can do with. Without pseudocounts an empty
#: cell would make these divide by zero.
PSEUDOCOUNT = 1e-6

#: Tuples that one screen may list.
MAX_LISTED = 20_000_000


def most_df(n_levels: IntArray, n_classes: int, n_strata: int, dimensions: int) -> int:
    """Return the most degrees of freedom that a tuple can have."""
    return max(1, n_strata * (n_classes - 1) * prod(int(c) - 1 for c in np.sort(n_levels)[-dimensions:]))


def most_cells(n_levels: IntArray, n_strata: int, dimensions: int) -> float:
    """Return the most cells that a tuple can have."""
    return n_strata * float(np.prod(np.sort(n_levels)[-dimensions:].astype(float)))


def check_listed(n_kept: int, max_listed: int) -> None:
    """Refuse a list that is too long."""
    if n_kept > max_listed:
        raise ValueError(
            f"more than {max_listed} tuples may be significant at max_p: lower max_p, or look at fewer variables"
        )
