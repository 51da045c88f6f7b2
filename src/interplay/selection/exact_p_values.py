"""The bit planes of a search in 1D → exact p-values of all variables."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import BitPlanes, FloatArray
from interplay.engines.tables import count_tables
from interplay.statistics.conditional_test import conditional_log_p


class ExactPValues:
    """p-values of single variables from their counts, gathered from one discretisation after the other.

    Of several discretisations each is a test, and the smallest p-value counts, times their number (union bound).
    Contrast variables are left out unless they are asked for: only the gains of these are needed by other searches.
    """

    def __init__(self, *, pseudocount: float, has_strata: bool, with_contrast: bool = True) -> None:
        self._pseudocount = pseudocount
        self._has_strata = has_strata
        self._with_contrast = with_contrast
        self._smallest: FloatArray | None = None
        self._n_tests = 0

    def see_planes(self, planes: BitPlanes) -> None:
        """Test all variables as one discretisation has them."""
        n_rows = (planes.n_rows if self._with_contrast else planes.n_vars) - self._has_strata
        log_p = np.zeros(n_rows)
        rows = np.arange(n_rows)[:, np.newaxis]
        if self._has_strata:
            rows = np.column_stack([np.zeros_like(rows), rows + 1])
        for places, tables in count_tables(planes, rows):
            # (n, n_strata, n_levels, n_classes) → (n, n_levels, n_classes, n_strata)
            by_stratum = tables if self._has_strata else tables[:, np.newaxis]
            log_p[places] = conditional_log_p(np.moveaxis(by_stratum, 1, -1), pseudocount=self._pseudocount)
        self._smallest = log_p if self._smallest is None else np.minimum(self._smallest, log_p)
        self._n_tests += 1

    @property
    def log_p(self) -> FloatArray | None:
        """Natural logarithms, of the variables and then of the contrast ones if these count; None before any planes."""
        if self._smallest is None:
            return None
        return np.asarray(np.minimum(self._smallest + np.log(self._n_tests), 0.0))
