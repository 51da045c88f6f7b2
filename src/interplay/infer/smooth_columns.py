"""Numbers of the members of a tuple → columns of a model: smooth effects of each, and products of proper subsets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray

#: Products of proper subsets beyond this number are left out, those of small subsets first come first.
MAX_PRODUCTS = 60

#: Strata have smooth effects of their own while every column has as many samples.
_SAMPLES_PER_COLUMN = 20


def smooth_columns(
    splines: Sequence[FloatArray | None], levels: IntArray, stratum: IntArray | None = None
) -> FloatArray:
    """Return the smooth effects of the members of a tuple that are numbers, as columns of a model.

    The splines of each such member; and of every proper subset of two or more members with such a member, the product
    of their linear terms, for each combination of levels of its other members, `MAX_PRODUCTS` at most. In each stratum
    effects are its own, where that leaves 20 samples a column.

    - `splines`, sequence of (n_samples, n_columns): as `spline_columns` makes them; None for members that are no cut
      numbers.
    - `levels` (k, n_samples): levels of the members.
    - `stratum` (n_samples,).

    Returns
    -------
    (n_samples, n_columns) float64
    """
    k, n = levels.shape
    columns = [each for each in splines if each is not None]
    room = MAX_PRODUCTS
    for size in range(2, k):
        for subset in combinations(range(k), size):
            numbers = [spline[:, 0] for i in subset if (spline := splines[i]) is not None and spline.shape[1]]
            if not numbers:
                continue
            product = np.prod(numbers, axis=0)[:, np.newaxis]
            for i in subset:
                if splines[i] is None:
                    inside = np.asarray(levels[i][:, np.newaxis] == np.unique(levels[i]), dtype=np.float64)
                    product = (product[:, :, np.newaxis] * inside[:, np.newaxis]).reshape(n, -1)
            columns.append(product[:, :room])
            room -= product.shape[1]
            if room <= 0:
                return _in_strata(np.hstack(columns), stratum)
    return _in_strata(np.hstack(columns) if columns else np.empty((n, 0)), stratum)


def _in_strata(columns: FloatArray, stratum: IntArray | None) -> FloatArray:
    if stratum is None:
        return columns
    inside = np.asarray(stratum[:, np.newaxis] == np.unique(stratum), dtype=np.float64)
    if columns.shape[1] * inside.shape[1] * _SAMPLES_PER_COLUMN > len(columns):
        return columns
    return np.asarray((columns[:, :, np.newaxis] * inside[:, np.newaxis]).reshape(len(columns), -1))
