"""Cut numbers: a tuple must be significant twice, the second time beside smooth effects → what this costs."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.data.models.linear import spline_columns
from interplay.infer.smooth_columns import smooth_columns


def n_smooth_columns(n_levels: tuple[int, ...]) -> int:
    """Return the columns that smooth effects add to the model of a tuple of cut numbers.

    Examples
    --------
    >>> n_smooth_columns((2, 2)), n_smooth_columns((2, 2, 2))
    (8, 15)
    """
    splines = [spline_columns(np.arange(100.0))] * len(n_levels)
    return int(smooth_columns(splines, np.zeros((len(n_levels), 100), dtype=np.int64)).shape[1])


def after_second_test(far: FloatArray, *, n_samples: int, n_columns: int, gap: float = 0.0) -> FloatArray:
    """Return the noncentrality with which one test has the power of both tests.

    In independent samples, m columns that have nothing to do with the interaction take a share m/N of it. So the roots
    of both statistics differ by a normal number, with mean (1 − ρ)√λ and variance 2(1 − ρ), ρ² = 1 − m/N. The smaller
    root is below the first one by the positive part of this number: by its mean the root of the noncentrality is lower.
    Where the first test asks for a root that is larger by a `gap`, as an exact test does of few samples, only what
    exceeds the gap matters.

    Examples
    --------
    >>> after_second_test(np.array([16.0]), n_samples=300, n_columns=8).round(2).tolist()
    [15.24]
    """
    from scipy.special import ndtr

    root = np.sqrt(np.maximum(far, 0.0))
    rho = np.sqrt(max(1.0 - n_columns / n_samples, 0.0))
    mean, spread = (1 - rho) * root, np.sqrt(2 * (1 - rho))
    if spread == 0:
        return np.asarray(far)
    mean = mean - gap
    ratio = mean / spread
    lower = mean * ndtr(ratio) + spread * np.exp(-(ratio**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(np.maximum(root - lower, 0.0) ** 2)
