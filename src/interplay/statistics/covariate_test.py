"""Classes, cells of a tuple, covariates → is the tuple informative beyond the covariates?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.beta_tail import log_f_tail
from interplay.base.chi_squared import chi2_of_log_tail
from interplay.models.classes import fit_classes
from interplay.models.linear import cell_columns, independent_columns


def covariate_test(
    codes: IntArray, cells: IntArray, parts: Sequence[IntArray], design: FloatArray
) -> tuple[float, int]:
    """Compare models of the classes by their likelihoods: covariates with all cells, and with effects of parts.

    By the logistic (two classes) or multinomial model. With one part that is the same for all samples, this
    tests the cells beyond covariates. With the cells of all members of a tuple but one, it tests the contribution of
    this member; with all parts that lack one member, the interaction of the tuple beside covariates.

    Parameters
    ----------
    codes : (n_samples,) int64
        Classes.
    cells : (n_samples,) int64
        Number of the cell of each sample.
    parts : sequence of (n_samples,) int64
        Cells of each part; each cell of the whole lies in one cell of a part.
    design : (n_samples, n_columns) float64
        Covariates.

    Returns
    -------
    chi2 : float
        Twice the difference of the log-likelihoods.
    df : int
        Its degrees of freedom: columns of the one model that are not in the other, times the classes but one.
    """
    n_classes = int(codes.max()) + 1
    of_parts = np.hstack([cell_columns(each) for each in parts])
    smaller, larger = (independent_columns(np.hstack([each, design])) for each in (of_parts, cell_columns(cells)))
    df = (larger.shape[1] - smaller.shape[1]) * (n_classes - 1)
    if df <= 0:
        return 0.0, 0
    fits = [fit_classes(codes, each, n_classes).log_likelihood for each in (larger, smaller)]
    return max(2.0 * (fits[0] - fits[1]), 0.0), df


def f_as_chi2(explained: float, left: float, df: int, df_residual: int) -> float:
    """Return the χ² that has the p-value of F, of sums of squares that are explained and left."""
    if left <= 0:
        return float((df_residual + df) * 50.0)
    f = explained / df / (left / df_residual)
    return float(chi2_of_log_tail(log_f_tail(f, df, df_residual), df))
