"""Tables too sparse for χ²: by how much G² exceeds it under H0 (Bartlett's factor, from a parametric bootstrap).

The bootstrap draws from a fit of H0. The fit to the counts themselves is too near to them where cells are few: tables
drawn from it have too little freedom, and the factor is too small. In searches of all triples of genotypes with main
effects (400 to 500 samples) 7 % then have a false interaction with two classes and 20 % with three, instead of 5 %. So
H0 is fitted to the counts and some samples more, as many as H0 has columns, spread over the cells and shared among the
classes as all samples are (Clogg, Rubin, Schenker, Schultz and Weidman, 1991): then 2 % and 4 %.

Where expected counts are below 1, G² has a longer tail than χ² of its mean: in five genotypes of 3200 samples, allele
frequency .2, its variance was twice as large, and 43 % of the tables had a false quintuple. There the tail is that of a
gamma distribution with the mean and the variance of the bootstrap, if this is larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from interplay import _core
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.base.tails import log_chi2_tail
from interplay.infer.interaction.null_model import n_null_columns
from interplay.infer.interaction.proportional_fit import MAX_SWEEPS, QUICK_TOLERANCE, fit_proportionally, quick_fit

#: Bootstrap tables per tuple. The factor is a mean over them: its error is about √(2/df)/√200.
N_BOOTSTRAP = 200

#: Expected counts below this make the tail of G² longer than that of χ².
_TOO_FEW_EXPECTED = 1.0

#: Tuples that a thread draws for at a time.
_DRAWN_AT_ONCE = 8

#: Numbers of the bootstrap tables that are held at a time.
_MAX_NUMBERS = 2**22

#: Tables after which a factor is looked at, where it decides only whether a tuple is of interest.
_LOOKS = (24, 72, N_BOOTSTRAP)

#: A factor is given up where its mean so far is as many standard errors above the one of interest. The mean of all
#: tables is below it then with a probability of about 1e-12.
_STANDARD_ERRORS = 7.0


class DrawnG2(NamedTuple):
    """G² of tables that were drawn under H0, of each tuple as if it were alone."""

    #: (n,): bartlett's: the mean over the degrees of freedom, at least 1; inf where it was given up.
    factor: FloatArray
    #: `mean`, `variance`, (n,): NaN without degrees of freedom, and where they were given up.
    mean: FloatArray
    variance: FloatArray

    @classmethod
    def of_none(cls, n: int) -> DrawnG2:
        """Return the values of tuples for which nothing was drawn."""
        return cls(np.ones(n), np.full(n, np.nan), np.full(n, np.nan))

    def keep(self, rows: IntArray, g2: FloatArray, df: IntArray) -> None:
        """Keep the values of some tuples, g2 (n_rows, n_tables)."""
        self.mean[rows] = g2.mean(axis=1)
        self.variance[rows] = g2.var(axis=1, ddof=min(1, g2.shape[1] - 1))
        self.factor[rows] = np.maximum(g2.mean(axis=1) / df[rows], 1.0)

    def of(self, rows: IntArray) -> DrawnG2:
        """Return the values of some tuples."""
        return DrawnG2(*(values[rows] for values in self))

    def log_tail(self, g2: FloatArray, df: IntArray, min_expected: FloatArray) -> FloatArray:
        """Return ln p of G²: by χ² of G² over the factor, or by a gamma distribution where that is larger."""
        at_least_1 = np.maximum(df, 1)
        log_p = np.where(df > 0, log_chi2_tail(g2 / self.factor, at_least_1), 0.0)
        is_wider = (df > 0) & (min_expected < _TOO_FEW_EXPECTED) & (self.variance * at_least_1 > 2 * self.mean**2)
        if is_wider.any():
            # χ² of 2 · mean² / variance degrees of freedom, times variance / (2 · mean).
            times = 2 * self.mean[is_wider] / self.variance[is_wider]
            by_gamma = log_chi2_tail(g2[is_wider] * times, self.mean[is_wider] * times)
            log_p[is_wider] = np.maximum(log_p[is_wider], by_gamma)
        return log_p


def drawn_g2(
    tables: IntArray,
    df: IntArray,
    *,
    seeds: Sequence[Sequence[int]],
    n_bootstrap: int = N_BOOTSTRAP,
    n_threads: int = 1,
) -> DrawnG2:
    """Draw tables of each tuple under H0, and fit H0 to these.

    - `tables` (n_tuples, n_strata, levels …, n_classes): samples of tuples of one shape. Cell sizes n(x, ·) are kept.
    - `df` (n_tuples,): degrees of freedom, all strata together.
    - `seeds`: the numbers drawn depend on nothing else. A seed should follow from the tuple, so that its p-value is the
      same in every list that it is in.
    """
    found = DrawnG2.of_none(len(tables))
    known = np.flatnonzero(df > 0)
    for some in _chunks(known, tables, n_bootstrap):
        draws = _Draws(tables[some], [seeds[i] for i in some.tolist()], n_bootstrap, n_threads)
        drawn = draws.between(np.arange(len(some)), 0, n_bootstrap).reshape(-1, *tables.shape[2:])
        fit = fit_proportionally(drawn, tolerance=QUICK_TOLERANCE, max_sweeps=MAX_SWEEPS, n_threads=n_threads)
        found.keep(some, fit.g2.reshape(len(some), n_bootstrap, -1).sum(axis=2), df)
    return found


def roughly_drawn_g2(
    tables: IntArray, df: IntArray, highest: FloatArray, *, seeds: Sequence[Sequence[int]], n_threads: int = 1
) -> DrawnG2:
    """Do the same but for rounding, as far as factors are of interest: not above `highest`."""
    found = DrawnG2.of_none(len(tables))
    for some in _chunks(np.flatnonzero(df > 0), tables, N_BOOTSTRAP):
        draws = _Draws(tables[some], [seeds[i] for i in some.tolist()], N_BOOTSTRAP, n_threads)
        g2 = np.empty((len(some), 0))
        left = np.arange(len(some))
        for n_before, n_tables in zip((0, *_LOOKS), _LOOKS, strict=False):
            drawn = draws.between(left, n_before, n_tables)
            fitted = quick_fit(drawn.reshape(-1, *tables.shape[2:]), n_threads=n_threads).g2
            # Strata of a table add up.
            g2 = np.hstack([g2, fitted.reshape(len(left), n_tables - n_before, -1).sum(axis=2)])
            of = some[left]
            factor = g2.mean(axis=1) / df[of]
            spread = np.maximum(g2.std(axis=1, ddof=1) / df[of], factor * np.sqrt(2 / df[of]))
            error = spread * np.sqrt(1 / n_tables - 1 / N_BOOTSTRAP)
            is_high = np.maximum(factor, 1.0) * (1 - 1e-9) - _STANDARD_ERRORS * error > highest[of]
            found.factor[of[is_high]] = np.inf
            left, g2 = left[~is_high], g2[~is_high]
            if len(left) == 0:
                break
        if len(left):
            found.keep(some[left], g2, df)
    return found


class _Draws:
    """Tables of some tuples of one shape, drawn under H0 with their cell sizes, from a seed for each.

    The streams are those of numpy.random.RandomState, which are frozen: a seed means the same p-value in every version.
    Classes are drawn one after the other, each for all tables: with two of them the first tables can be drawn alone.
    """

    def __init__(self, tables: IntArray, seeds: Sequence[Sequence[int]], n_tables: int, n_threads: int) -> None:
        n, *self._shape = tables.shape
        each = _with_more_samples(tables.reshape(-1, *tables.shape[2:]))
        mu = fit_proportionally(each, tolerance=QUICK_TOLERANCE, max_sweeps=MAX_SWEEPS, n_threads=n_threads).mu
        self._seeds = np.array(seeds, dtype=np.uint32)
        self._cell_sizes = tables.sum(axis=-1).reshape(n, -1)
        self._chances = _chances(mu.reshape(n, -1, tables.shape[-1]))
        self._n_threads = n_threads
        self._all = None if tables.shape[-1] == 2 else self._draw(np.arange(n), n_tables)

    def between(self, rows: IntArray, begin: int, end: int) -> IntArray:
        """Return tables `begin` … `end` − 1 of some tuples, (n_rows, n_tables, n_strata, levels …, n_classes)."""
        drawn = self._draw(rows, end) if self._all is None else self._all[rows, :end]
        return drawn[:, begin:]

    def _draw(self, rows: IntArray, n_tables: int) -> IntArray:
        n_classes = self._shape[-1]
        drawn = np.empty((len(rows), n_tables, self._cell_sizes.shape[1], n_classes), dtype=np.int64)
        seeds, sizes, chances = self._seeds[rows], self._cell_sizes[rows], self._chances[rows]

        def draw(begin: int) -> None:
            some = slice(begin, begin + _DRAWN_AT_ONCE)
            _core.draw_tables(seeds[some], sizes[some], chances[some], drawn[some])

        map_in_threads(draw, range(0, len(rows), _DRAWN_AT_ONCE), self._n_threads)
        return drawn.reshape(len(rows), n_tables, *self._shape)


def _chances(mu: FloatArray) -> FloatArray:
    """Return the share of each class but the last among those from it on, (n, n_classes − 1, n_cells)."""
    left = mu.sum(axis=-1)
    chances = np.zeros((len(mu), mu.shape[-1] - 1, mu.shape[1]))
    for class_ in range(mu.shape[-1] - 1):
        np.divide(mu[..., class_], left, out=chances[:, class_], where=left > 0)
        left = left - mu[..., class_]
    return np.clip(chances, 0.0, 1.0)


def _chunks(chosen: IntArray, tables: IntArray, n_tables: int) -> Iterator[IntArray]:
    """Cut the chosen tuples into chunks whose bootstrap tables fit into memory."""
    size = max(1, _MAX_NUMBERS // (n_tables * prod(tables.shape[1:])))
    for begin in range(0, len(chosen), size):
        yield chosen[begin : begin + size]


def _with_more_samples(tables: IntArray) -> FloatArray:
    """Add as many samples as H0 has columns, equally to all cells of a table and to its classes by their sizes."""
    per_cell = n_null_columns(tables.shape[1:]) / prod(tables.shape[1:-1])
    class_sizes = tables.sum(axis=tuple(range(1, tables.ndim - 1)), keepdims=True)
    shares = class_sizes / np.maximum(class_sizes.sum(axis=-1, keepdims=True), 1)
    # A cell without samples has none in the bootstrap either; more in it would only blur the fit of the others.
    return np.where(tables.sum(axis=-1, keepdims=True) > 0, tables + per_cell * shares, 0.0)
