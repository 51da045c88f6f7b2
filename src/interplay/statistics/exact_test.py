"""Counts of a variable of two levels in two classes → the exact p-value of its gain.

Under chance, with the sizes of levels and classes as they are, such a table is hypergeometric. Its gains take few
values, far apart where samples are few, and χ², which knows no steps, may then give p-values that are several times too
small. Larger tables take so many values that χ² holds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from interplay.arrays import FloatArray, IntArray

#: Gains that are equal but for rounding count as equal.
_ROUNDING = 1e-9


def exact_p_value(counts: npt.ArrayLike, *, pseudocount: float = 0.25) -> float:
    """Return the probability that chance gives a gain at least as large as this table's.

    Parameters
    ----------
    counts : (2, 2) array_like of int
        Samples of each level (rows) in each class (columns).
    pseudocount : float
        As in the search.

    Examples
    --------
    All ten samples of the rare class have the same level. Chance does that in 2 of 2¹⁰ tables, or a little fewer, as
    samples are drawn without replacement. χ² says 0.0004.

    >>> round(exact_p_value([[90, 10], [100, 0]]), 4)
    0.0015
    """
    table = np.asarray(counts, dtype=np.int64)
    if table.shape != (2, 2):
        raise ValueError(f"counts must be of two levels and two classes, not of shape {table.shape}")
    n_samples, first_level, second_class = int(table.sum()), int(table[0].sum()), int(table[:, 1].sum())
    lowest = max(0, second_class - (n_samples - first_level))
    in_both = np.arange(lowest, min(first_level, second_class) + 1)
    log_chance = (
        _log_choose(second_class, in_both)
        + _log_choose(n_samples - second_class, first_level - in_both)
        - _log_choose(n_samples, np.array(first_level))
    )
    gains = _gains(in_both, table, pseudocount)
    observed = gains[table[0, 1] - lowest]
    as_large = gains >= observed - _ROUNDING * (1 + observed)
    return min(float(np.exp(log_chance[as_large]).sum()), 1.0)


def smallest_expected(counts: IntArray) -> float:
    """Return the expected number of samples in the smallest cell of a table of levels by classes, (c, C)."""
    return float(counts.sum(axis=0).min() * counts.sum(axis=1).min() / max(counts.sum(), 1))


def _gains(in_both: IntArray, table: IntArray, pseudocount: float) -> FloatArray:
    """Gains, in bits times samples, of all tables with these margins, by what is in level 0 and class 1."""
    class_sizes = table.sum(axis=0)
    added = pseudocount * class_sizes / max(class_sizes.min(), 1)
    first = np.stack([table[0].sum() - in_both, in_both], axis=-1)
    return _entropy(class_sizes + 2 * added) - _entropy(first + added) - _entropy(class_sizes - first + added)


def _entropy(counts: FloatArray) -> FloatArray:
    """−Σ n·log2(n/Σn) over the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.ones_like(counts, dtype=np.float64), where=counts > 0)
    return np.asarray(-(counts * np.log2(share)).sum(axis=-1))


def _log_choose(n: int, k: IntArray) -> FloatArray:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
