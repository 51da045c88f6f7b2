"""Tables too sparse for χ²: by how much G² exceeds it under H0 (Bartlett's factor, from a parametric bootstrap).

The bootstrap draws from a fit of H0. The fit to the counts themselves is too near to them where cells are few: tables
drawn from it have too little freedom, and the factor is too small. In searches of all triples of genotypes with main
effects (400 to 500 samples) 7 % then have a false interaction with two classes and 20 % with three, instead of 5 %. So
H0 is fitted to the counts and some samples more, as many as H0 has columns, spread over the cells and shared among the
classes as all samples are (Clogg, Rubin, Schenker, Schultz and Weidman, 1991): then 2 % and 4 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.statistics.interaction.null_model import n_null_columns
from interplay.statistics.interaction.null_model_fit import fit_proportionally

#: Bootstrap tables per tuple. The factor is a mean over them: its error is about √(2/df)/√200.
N_BOOTSTRAP = 200

#: Precision of the bootstrap's G², far below the error above. IPF that ends early leaves G² too large, and so p.
_TOLERANCE = 1e-3
_MAX_SWEEPS = 60


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
    if df <= 0:
        return 1.0
    # Not a Generator: streams of RandomState are frozen, so a seed means the same p-value in every numpy.
    rng = np.random.RandomState(np.array(seed, dtype=np.uint32))
    smooth = fit_proportionally(_with_more_samples(tables), tolerance=_TOLERANCE, max_sweeps=_MAX_SWEEPS)
    drawn = _tables_under_null(tables.sum(axis=-1), smooth.mu, rng, n_bootstrap)
    fit = fit_proportionally(drawn.reshape(-1, *tables.shape[1:]), tolerance=_TOLERANCE, max_sweeps=_MAX_SWEEPS)
    return max(1.0, float(fit.g2.sum()) / n_bootstrap / df)


def _with_more_samples(tables: IntArray) -> FloatArray:
    """Add as many samples as H0 has columns, equally to all cells of a table and to its classes by their sizes."""
    per_cell = n_null_columns(tables.shape[1:]) / prod(tables.shape[1:-1])
    class_sizes = tables.sum(axis=tuple(range(1, tables.ndim - 1)), keepdims=True)
    shares = class_sizes / np.maximum(class_sizes.sum(axis=-1, keepdims=True), 1)
    # A cell without samples has none in the bootstrap either; more in it would only blur the fit of the others.
    return np.where(tables.sum(axis=-1, keepdims=True) > 0, tables + per_cell * shares, 0.0)


def _tables_under_null(cell_sizes: IntArray, mu: FloatArray, rng: np.random.RandomState, n_tables: int) -> IntArray:
    """Draw tables with these cell sizes and the class shares of μ, class by class: (n_tables, *shape of μ)."""
    left = np.broadcast_to(cell_sizes, (n_tables, *cell_sizes.shape)).copy()
    share_left = mu.sum(axis=-1)
    drawn = np.zeros((n_tables, *mu.shape), dtype=np.int64)
    for class_ in range(mu.shape[-1] - 1):
        chance = np.divide(mu[..., class_], share_left, out=np.zeros_like(share_left), where=share_left > 0)
        drawn[..., class_] = rng.binomial(left, np.clip(chance, 0.0, 1.0))
        left -= drawn[..., class_]
        share_left = share_left - mu[..., class_]
    drawn[..., -1] = left
    return drawn
