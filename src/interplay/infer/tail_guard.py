"""A null fit + the gains of its contrast variables → the same, with p-values that these do not contradict.

Outliers of an outcome whose values are compared, not ranked, make gains that no smooth distribution describes: a cell
with the outlier alone explains most of the variance. Contrast variables then have p-values that chance does not give
them. In such a case no p-value is smaller than the share of contrast variables with as large a gain.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.tails import log_chi2_tail
from interplay.infer.null_distribution import NullFit
from interplay.infer.p_values import CHI2_PER_UNIT

#: The smallest p-value of contrast variables, times their number, is below this by chance once in a thousand fits.
_IMPLAUSIBLE = 1e-3


def guarded(null_fit: NullFit, contrast_gain: FloatArray, contrast_df: FloatArray) -> NullFit:
    """Return the fit, with a lower bound of its p-values where contrast variables say that its tail is wrong.

    Examples
    --------
    >>> from interplay.infer.null_fit import fit_null
    >>> rng = np.random.default_rng(0)
    >>> contrast = rng.chisquare(2, size=(300, 50)).max(axis=1) / CHI2_PER_UNIT["bits"]
    >>> contrast[:3] += 100  # outliers
    >>> null = fit_null([30.0], dimensions=2, contrast_gain=contrast, n_vars=51)
    >>> bool(null.p_values()[0] < 1e-5), bool(guarded(null, contrast, np.full(300, 2.0)).p_values()[0] > 0.01)
    (True, True)
    """
    known = np.isfinite(contrast_gain) & (contrast_df > 0)
    n_contrast = int(np.count_nonzero(known))
    if null_fit.is_exact or null_fit.is_permuted or n_contrast == 0:
        return null_fit
    log_p = null_fit.log_p_values(contrast_gain[known] * null_fit.inflation, df=contrast_df[known])
    if float(log_p.min()) + np.log(n_contrast) >= np.log(_IMPLAUSIBLE):
        return null_fit
    of_contrast = np.sort(
        log_chi2_tail(CHI2_PER_UNIT["bits"] * np.maximum(contrast_gain[known], 0), contrast_df[known])
    )
    own = log_chi2_tail(null_fit.statistic, null_fit.df)
    n_as_large = np.searchsorted(of_contrast, own, side="right")
    share = np.log((1 + n_as_large) / (n_contrast + 1))
    return replace(null_fit, least_log_p=np.where(np.isnan(null_fit.statistic), -np.inf, share))
