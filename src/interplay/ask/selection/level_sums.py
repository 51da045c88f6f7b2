"""Codes of some variables + scores of a number outcome → samples, and sums of scores, of each level and stratum."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.codes.coder import Coder
from interplay.infer.correlation_test import NumberTarget


def level_sums(
    coder: Coder, discretization: int, variables: IntArray, n_levels: int, target: NumberTarget
) -> tuple[IntArray, FloatArray]:
    """Return sizes and sums, (n_variables, n_levels, n_strata), of variables with up to `n_levels` levels."""
    n_strata = target.n_strata
    n_cells = n_levels * n_strata
    sizes = np.empty((len(variables), n_levels, n_strata), dtype=np.int64)
    sums = np.empty((len(variables), n_levels, n_strata))
    for row, codes in enumerate(coder.codes_of(discretization, variables).codes):
        cells = codes.astype(np.int64) * n_strata + target.strata
        sizes[row] = np.bincount(cells, minlength=n_cells).reshape(n_levels, n_strata)
        sums[row] = np.bincount(cells, weights=target.scores, minlength=n_cells).reshape(n_levels, n_strata)
    return sizes, sums
