"""Margins of a table of levels by classes → every table with these margins: its probability under chance, its gain.

Under chance, with the sizes of levels and classes as they are, a table n has the probability
Π rows! · Π columns! / (N! · Π n!). Its gain is the search's, pseudocounts and all, so that the order of the tables is
that of the gains users see. Where there are too many tables to list, a gamma distribution stands for them, with the
mean and the variance of the gains of tables drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from interplay.arrays import FloatArray, IntArray

#: Gains that are equal but for rounding count as equal: relative to the sums whose difference a gain is.
_ROUNDING = 1e-13

#: Tables drawn where there are too many to list. The standard error of the variance is then 1 to 2 %.
N_DRAWN = 20_000


def class_pseudocounts(class_sizes: IntArray, pseudocount: float) -> FloatArray:
    """Return what is added to every cell, by class: `pseudocount` for the rarest one, in proportion for the others."""
    return np.asarray(pseudocount * class_sizes / max(int(class_sizes.min()), 1), dtype=np.float64)


def table_gains(counts: IntArray, added: FloatArray) -> FloatArray:
    """Return the gains of tables (…, n_levels, n_classes), in bits times samples; `added` are the pseudocounts.

    Levels without samples count as if they were not there.
    """
    cells = counts + added
    per_level = _x_log_x(cells.sum(axis=-1)) - _x_log_x(cells).sum(axis=-1)
    n_levels = np.count_nonzero(counts.sum(axis=-1), axis=-1)
    totals = counts.sum(axis=-2) + n_levels[..., np.newaxis] * added
    of_classes = _x_log_x(totals.sum(axis=-1)) - _x_log_x(totals).sum(axis=-1)
    return np.asarray(of_classes - np.where(counts.any(axis=-1), per_level, 0.0).sum(axis=-1))


def rounding_of(n_samples: float) -> float:
    """Return by how much the gains of equal tables may differ."""
    return _ROUNDING * (n_samples + 1) * (1 + float(np.log2(n_samples + 1)))


@dataclass(frozen=True, eq=False)
class GainNull:
    """What gains the tables with some margins have under chance.

    Attributes
    ----------
    gain : (n_tables,) float64
        Ascending.
    log_chance : (n_tables,) float64
        Natural logarithms of the probabilities.
    rounding : float
        Gains that differ by no more are equal.
    """

    gain: FloatArray
    log_chance: FloatArray
    rounding: float

    @classmethod
    def of(cls, gain: FloatArray, log_chance: FloatArray, *, n_samples: int) -> GainNull:
        order = np.argsort(gain, kind="stable")
        return cls(gain[order], log_chance[order], rounding_of(n_samples))

    @cached_property
    def _log_tail(self) -> FloatArray:
        """Of each gain, ln P(at least this); and of none at all."""
        return np.append(np.logaddexp.accumulate(self.log_chance[::-1])[::-1], -np.inf)

    def log_p(self, observed: FloatArray) -> FloatArray:
        """Return ln P(gain ≥ observed)."""
        first = np.searchsorted(self.gain, observed - self.rounding, side="left")
        return np.minimum(self._log_tail[first], 0.0)


@dataclass(frozen=True, eq=False)
class GammaNull:
    """The same where there are too many tables: a gamma distribution of the same mean and variance."""

    shape: float
    scale: float

    def log_p(self, observed: FloatArray) -> FloatArray:
        """Return ln P(gain ≥ observed)."""
        from interplay.chi_squared import log_chi2_tail

        return log_chi2_tail(2 * np.maximum(observed, 0.0) / self.scale, 2 * self.shape)


def null_of_margins(
    level_sizes: IntArray, class_sizes: IntArray, added: FloatArray, *, max_tables: int
) -> GainNull | GammaNull:
    """Return what gains tables with these margins, none of which is 0, have under chance."""
    n_samples = int(level_sizes.sum())
    tables = all_tables(level_sizes, class_sizes, max_tables=max_tables)
    if tables is not None:
        chance = _log_chance(tables, level_sizes, class_sizes)
        return GainNull.of(table_gains(tables, added), chance, n_samples=n_samples)
    gains = table_gains(random_tables(level_sizes, class_sizes, N_DRAWN), added)
    mean, variance = float(gains.mean()), float(gains.var(ddof=1))
    return GammaNull(shape=mean**2 / variance, scale=variance / mean)


def all_tables(level_sizes: IntArray, class_sizes: IntArray, *, max_tables: int) -> IntArray | None:
    """List the tables with these margins, (n_tables, n_levels, n_classes); None if there are more than `max_tables`.

    Examples
    --------
    >>> all_tables(np.array([1, 2]), np.array([1, 2]), max_tables=10).tolist()
    [[[0, 1], [1, 1]], [[1, 0], [0, 2]]]
    """
    n_levels, n_classes = len(level_sizes), len(class_sizes)
    tables = np.zeros((1, n_levels, n_classes), dtype=np.int64)
    left = class_sizes[np.newaxis].astype(np.int64)  # of each class, what the levels so far have not taken
    for level in range(n_levels - 1):
        open_ = np.full(len(tables), level_sizes[level])  # what is not yet shared out of this level
        for q in range(n_classes - 1):
            lowest = np.maximum(0, open_ - left[:, q + 1 :].sum(axis=1))
            n_choices = np.minimum(open_, left[:, q]) - lowest + 1
            n_tables = int(n_choices.sum())
            if n_tables > max_tables:
                return None
            parent = np.repeat(np.arange(len(tables)), n_choices)
            chosen = lowest[parent] + np.arange(n_tables) - np.repeat(np.cumsum(n_choices) - n_choices, n_choices)
            tables, left, open_ = tables[parent], left[parent], open_[parent] - chosen
            tables[:, level, q] = chosen
            left[:, q] -= chosen
        tables[:, level, -1] = open_
        left[:, -1] -= open_
    tables[:, -1] = left
    return tables


def random_tables(level_sizes: IntArray, class_sizes: IntArray, n_tables: int) -> IntArray:
    """Draw tables with these margins, the same ones in every call."""
    rng = np.random.default_rng(0)
    tables = np.zeros((n_tables, len(level_sizes), len(class_sizes)), dtype=np.int64)
    left = np.tile(class_sizes.astype(np.int64), (n_tables, 1))
    for level, size in enumerate(level_sizes[:-1].tolist()):
        open_ = np.full(n_tables, size)
        for q in range(len(class_sizes) - 1):
            chosen = rng.hypergeometric(left[:, q], left[:, q + 1 :].sum(axis=1), open_)
            tables[:, level, q] = chosen
            left[:, q] -= chosen
            open_ = open_ - chosen
        tables[:, level, -1] = open_
        left[:, -1] -= open_
    tables[:, -1] = left
    return tables


def _log_chance(tables: IntArray, level_sizes: IntArray, class_sizes: IntArray) -> FloatArray:
    from scipy.special import gammaln

    log_factorial = gammaln(np.arange(int(level_sizes.sum()) + 1) + 1.0)
    margins = log_factorial[level_sizes].sum() + log_factorial[class_sizes].sum() - log_factorial[-1]
    return np.asarray(margins - log_factorial[tables].sum(axis=(1, 2)))


def _x_log_x(x: FloatArray) -> FloatArray:
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)))
