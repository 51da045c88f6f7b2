"""Dosages of an allele → genotypes 0, 1 or 2, where a dosage is near enough to one of these."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.checks import check_real

#: The code of a missing genotype. Tables show NaN.
MISSING = 3

#: PLINK's threshold: a dosage of at most this distance from 0, 1 or 2 is a genotype, any other is missing.
DEFAULT_THRESHOLD = 0.1

#: Files round dosages: 0.9 in 16 bits is 0.900002.
_ROUNDING = 1e-5

Codes = npt.NDArray[np.uint8]


def check_threshold(threshold: Any) -> float:
    """Return the argument `hard_call_threshold`, checked: at 0.5 two genotypes would be equally near."""
    return check_real("hard_call_threshold", threshold, low=0, high=0.5, high_open=True)


def hard_calls(dosages: npt.NDArray[Any], threshold: float = DEFAULT_THRESHOLD) -> Codes:
    """Return 0, 1 or 2 for dosages within `threshold` of these, else `MISSING`; NaN and negative numbers are missing.

    Examples
    --------
    >>> hard_calls(np.array([0.02, 0.9, 0.85, 1.1, 2.0, np.nan])).tolist()
    [0, 1, 3, 1, 2, 3]
    """
    nearest: npt.NDArray[Any] = np.rint(dosages)
    is_called = np.abs(dosages - nearest) <= threshold + _ROUNDING
    is_called &= nearest >= 0
    is_called &= nearest <= 2
    nearest[~is_called] = MISSING
    return nearest.astype(np.uint8)


def dosage_r2(dosages: npt.NDArray[Any]) -> FloatArray:
    """Return the certainty of imputation of each row, (n, n_samples): MaCH's r².

    It is the variance of the dosages over the variance of genotypes in Hardy–Weinberg equilibrium with the same allele
    frequency: about 1 for genotypes, 0 where every person has the mean. NaN where the allele does not vary.

    Examples
    --------
    >>> dosage_r2(np.array([[0, 1, 1, 2.0], [0.9, 1, 1, 1.1], [0, 0, 0, np.nan]])).round(3)
    array([1.  , 0.01,  nan])
    """
    is_known = ~np.isnan(dosages)
    n = is_known.sum(axis=1)
    values = np.where(is_known, dosages, 0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = values.sum(axis=1) / n
        r2: FloatArray = ((values * values).sum(axis=1) / n - mean * mean) / (mean * (1 - mean / 2))
    return r2
