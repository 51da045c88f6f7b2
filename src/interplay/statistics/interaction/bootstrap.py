"""Tables too sparse for χ²: by how much G² exceeds it under H0 (Bartlett's factor, from a parametric bootstrap).

The bootstrap draws from a fit of H0. The fit to the counts themselves is too near to them where cells are few: tables
drawn from it have too little freedom, and the factor is too small. In searches of all triples of genotypes with main
effects (400 to 500 samples) 7 % then have a false interaction with two classes and 20 % with three, instead of 5 %. So
H0 is fitted to the counts and some samples more, as many as H0 has columns, spread over the cells and shared among the
classes as all samples are (Clogg, Rubin, Schenker, Schultz and Weidman, 1991): then 2 % and 4 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from operator import methodcaller

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.statistics.interaction.null_model import n_null_columns
from interplay.statistics.interaction.proportional_fit import fit_proportionally
from interplay.statistics.interaction.quick_fit import MAX_SWEEPS, TOLERANCE, quick_fit

#: Bootstrap tables per tuple. The factor is a mean over them: its error is about √(2/df)/√200.
N_BOOTSTRAP = 200

#: Numbers of the bootstrap tables that are held at a time.
_MAX_NUMBERS = 2**22

#: Tables after which a factor is looked at, where it decides only whether a tuple is of interest.
_LOOKS = (24, 72, N_BOOTSTRAP)

#: A factor is given up where its mean so far is as many standard errors above the one of interest. The mean of all
#: tables is below it then with a probability of about 1e-12.
_STANDARD_ERRORS = 7.0


def bartlett_factor(tables: IntArray, df: int, *, seed: Sequence[int], n_bootstrap: int = N_BOOTSTRAP) -> float:
    """Return the mean of G² under H0 over its degrees of freedom, at least 1.

    The p-value of G²/factor is the larger one of χ²'s and the bootstrap's: a factor below 1 is never used.

    Parameters
    ----------
    tables : (n_strata, levels …, n_classes) int64
        Samples of one tuple, one table per stratum. Cell sizes n(x, ·) are kept.
    df : int
        Degrees of freedom of the tuple, all strata together.
    seed : sequence of int
        The numbers drawn depend on nothing else. It should follow from the tuple, so that its p-value is the same in
        every list that it is in.
    """
    return float(bartlett_factors(tables[np.newaxis], np.array([df]), seeds=[seed], n_bootstrap=n_bootstrap)[0])


def bartlett_factors(
    tables: IntArray,
    df: IntArray,
    *,
    seeds: Sequence[Sequence[int]],
    n_bootstrap: int = N_BOOTSTRAP,
    n_threads: int = 1,
) -> FloatArray:
    """Return the factors of tuples of one shape, (n_tuples, n_strata, levels …, n_classes); each as if alone."""
    factors = np.ones(len(tables))
    known = np.flatnonzero(df > 0)
    for some in _chunks(known, tables, n_bootstrap):
        drawn = _drawings(tables[some], [seeds[i] for i in some.tolist()], n_bootstrap, n_threads)
        tables_drawn = np.concatenate(map_in_threads(lambda one: one.next(n_bootstrap), drawn, n_threads))
        shape = tables.shape[2:]
        fit = fit_proportionally(
            tables_drawn.reshape(-1, *shape), tolerance=TOLERANCE, max_sweeps=MAX_SWEEPS, n_threads=n_threads
        )
        for i, g2 in zip(some.tolist(), fit.g2.reshape(len(some), -1), strict=True):
            factors[i] = max(1.0, float(g2.sum()) / n_bootstrap / int(df[i]))
    return factors


def rough_factors(
    tables: IntArray, df: IntArray, highest: FloatArray, *, seeds: Sequence[Sequence[int]], n_threads: int = 1
) -> FloatArray:
    """Return the factors of tuples but for rounding, as far as they are of interest: not above `highest`, else inf."""
    factors = np.ones(len(tables))
    for some in _chunks(np.flatnonzero(df > 0), tables, N_BOOTSTRAP):
        drawn = _drawings(tables[some], [seeds[i] for i in some.tolist()], N_BOOTSTRAP, n_threads)
        g2 = np.empty((len(some), 0))
        left = np.arange(len(some))
        for n_before, n_tables in zip((0, *_LOOKS), _LOOKS, strict=False):
            draw = methodcaller("next", n_tables - n_before)
            more: list[IntArray] = map_in_threads(draw, [drawn[i] for i in left.tolist()], n_threads)
            fitted = quick_fit(np.concatenate(more).reshape(-1, *tables.shape[2:]), n_threads=n_threads).g2
            # Strata of a table add up.
            g2 = np.hstack([g2, fitted.reshape(len(left), n_tables - n_before, -1).sum(axis=2)])
            of = some[left]
            factor = g2.mean(axis=1) / df[of]
            spread = np.maximum(g2.std(axis=1, ddof=1) / df[of], factor * np.sqrt(2 / df[of]))
            error = spread * np.sqrt(1 / n_tables - 1 / N_BOOTSTRAP)
            is_high = np.maximum(factor, 1.0) * (1 - 1e-9) - _STANDARD_ERRORS * error > highest[of]
            factors[of] = np.where(is_high, np.inf, np.maximum(factor, 1.0))
            left, g2 = left[~is_high], g2[~is_high]
            if len(left) == 0:
                break
    return factors


class _Drawing:
    """Draws tables of one tuple under H0, with its cell sizes: class by class, all tables at a time.

    With two classes there is one draw per cell, and tables can be drawn a few at a time.
    """

    def __init__(self, cell_sizes: IntArray, mu: FloatArray, seed: Sequence[int], n_tables: int) -> None:
        # Not a Generator: streams of RandomState are frozen, so a seed means the same p-value in every numpy.
        self._rng = np.random.RandomState(np.array(seed, dtype=np.uint32))
        self._cell_sizes, self._mu = cell_sizes, mu
        self._all = None if mu.shape[-1] == 2 else self._draw(n_tables)
        self._n_done = 0

    def next(self, n_tables: int) -> IntArray:
        """Return the next tables, (n_tables, n_strata, levels …, n_classes)."""
        if self._all is None:
            return self._draw(n_tables)
        self._n_done += n_tables
        return self._all[self._n_done - n_tables : self._n_done]

    def _draw(self, n_tables: int) -> IntArray:
        mu = self._mu
        left = np.broadcast_to(self._cell_sizes, (n_tables, *self._cell_sizes.shape)).copy()
        share_left = mu.sum(axis=-1)
        drawn = np.zeros((n_tables, *mu.shape), dtype=np.int64)
        for class_ in range(mu.shape[-1] - 1):
            chance = np.divide(mu[..., class_], share_left, out=np.zeros_like(share_left), where=share_left > 0)
            drawn[..., class_] = self._rng.binomial(left, np.clip(chance, 0.0, 1.0))
            left -= drawn[..., class_]
            share_left = share_left - mu[..., class_]
        drawn[..., -1] = left
        return drawn


def _drawings(tables: IntArray, seeds: Sequence[Sequence[int]], n_tables: int, n_threads: int) -> list[_Drawing]:
    """Return a drawing for each tuple, from the fit to its counts and some samples more."""
    each = _with_more_samples(tables.reshape(-1, *tables.shape[2:]))
    mu = fit_proportionally(each, tolerance=TOLERANCE, max_sweeps=MAX_SWEEPS, n_threads=n_threads).mu
    parts = zip(tables.sum(axis=-1), mu.reshape(tables.shape), seeds, strict=True)
    return map_in_threads(lambda part: _Drawing(*part, n_tables), parts, n_threads)


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
