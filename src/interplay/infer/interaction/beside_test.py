"""Levels of one tuple's members and columns of a model → the interaction of the levels, tested beside the columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.data.models.linear import cell_columns, independent_columns
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.targets import Target

#: Products of covariates and members enter a model while it has at most a column for so many samples of the rarest
#: class, events, or samples of numbers.
_SAMPLES_PER_COLUMN = 5


class TupleSamples(NamedTuple):
    """The samples that have a level of every member of a tuple."""

    #: (n_known,): their numbers.
    known: IntArray
    levels: IntArray  #: (k, n_known)
    stratum: IntArray | None = None  #: (n_known,)
    #: sequence of (n_known,): where the product of dosages is tested in place of cells.
    dosages: Sequence[FloatArray] | None = None

    @classmethod
    def of_levels(cls, levels: IntArray, stratum: IntArray | None = None) -> TupleSamples:
        """Return all samples, of levels (k, n_samples)."""
        return cls(np.arange(levels.shape[1]), levels, stratum)


class NestedModels(NamedTuple):
    """Columns of two models of a tuple, the interaction of its levels in the larger one alone."""

    #: (n, n_columns): of the larger model; none is a sum of others.
    columns: FloatArray
    #: The first ones are those of the smaller model.
    n_smaller: int
    #: (n,): numbers of their samples.
    rows: IntArray

    @property
    def df(self) -> int:
        return int(self.columns.shape[1]) - self.n_smaller


def nested_models(outcome: Target, samples: TupleSamples, columns: FloatArray) -> NestedModels:
    """Return models with and without the interaction of a tuple, which both have `columns` beside.

    The smaller model has the effects of all proper subsets of the members, in each stratum its own; the larger one has
    an effect of every cell. Of numbers, samples in cells of few samples are left out, as in the search.

    - `outcome`: of all samples.
    - `columns` (n_known, n_columns): of these samples.
    """
    known, levels, stratum, dosages = samples
    if dosages is not None:
        smaller, larger = _products(dosages, stratum)
        return models_of(np.hstack([smaller, columns]), larger, known)
    cells = cells_of(levels, stratum)
    if outcome.fewest_in_cell > 1:
        rows = np.flatnonzero(np.bincount(cells)[cells] >= outcome.fewest_in_cell)
        levels, columns, known, cells = levels[:, rows], columns[rows], known[rows], cells[rows]
        stratum = None if stratum is None else stratum[rows]
    if not len(known):
        return NestedModels(np.empty((0, 0)), 0, known)
    parts = [cell_columns(cells_of(np.array(part), stratum)) for part in combinations(levels, len(levels) - 1)]
    return models_of(np.hstack([*parts, columns]), cell_columns(cells), known)


def covariate_products(model: FullModel, samples: TupleSamples, n_beside: int) -> FloatArray:
    """Return products of covariates with effects of the other members, (n_known, n), for both models of a tuple.

    A member that goes with a covariate stands in for it: where the effect of another member depends on the covariate,
    the two look like an interaction (Keller 2014). So each covariate (its values, or labels) is multiplied by the
    effects of all members but one, unless that one goes with covariates no more than it would by chance. Where samples
    are few, products of covariates that a left-out member goes with most come first.

    `n_beside`: columns of the models beside those of `model` and the cells of the tuple.
    """
    known, levels, _, dosages = samples
    covariates = model.design.plain[known]
    n = len(known)
    if not covariates.shape[1] or not n:
        return np.empty((n, 0))
    covariates = covariates - covariates.mean(axis=0)
    of_all = np.linalg.qr(independent_columns(covariates))[0]
    total = np.maximum((covariates**2).sum(axis=0), 1e-300)
    members = levels if dosages is None else np.array([x - x.mean() for x in dosages])
    found: list[tuple[float, FloatArray]] = []
    for j, left_out in enumerate(members):
        others = np.delete(members, j, axis=0)
        if dosages is None:
            effects, own = cell_columns(cells_of(others))[:, 1:], cell_columns(left_out)
            own = own[:, 1:] - own[:, 1:].mean(axis=0)
        else:
            effects, own = np.prod(others, axis=0)[:, np.newaxis], left_out[:, np.newaxis]
        basis = np.linalg.qr(independent_columns(own))[0]
        if ((basis.T @ of_all) ** 2).sum() > basis.shape[1] * of_all.shape[1] / max(n - 1, 1):
            shares = ((basis.T @ covariates) ** 2).sum(axis=0) / total
            found += [(share, effects * c[:, np.newaxis]) for share, c in zip(shares, covariates.T, strict=True)]
    n_cells = int(cells_of(levels).max()) + 1 if dosages is None else 2 ** len(levels)
    room = model.outcome.n_informative // _SAMPLES_PER_COLUMN - model.columns().shape[1] - n_cells - n_beside
    chosen = [np.empty((n, 0))]
    for _, columns in sorted(found, key=lambda one: -one[0]):
        room -= columns.shape[1]
        if room < 0:
            break
        chosen.append(columns)
    return np.hstack(chosen)


def models_of(smaller: FloatArray, more: FloatArray, rows: IntArray) -> NestedModels:
    """Return two models by their columns, those of the smaller one and those that the larger one has beside."""
    smaller = independent_columns(smaller)
    return NestedModels(independent_columns(np.hstack([smaller, more])), smaller.shape[1], rows)


def _products(dosages: Sequence[FloatArray], stratum: IntArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the products of dosages of proper subsets, the constant among them, and that of all; in each stratum."""
    centred = [x - x.mean() for x in dosages]
    inside = np.ones((len(dosages[0]), 1)) if stratum is None else np.eye(int(stratum.max()) + 1)[stratum]
    subsets = [some for size in range(len(dosages) + 1) for some in combinations(centred, size)]
    columns = [inside * np.prod([np.ones(len(inside)), *some], axis=0)[:, np.newaxis] for some in subsets]
    return np.hstack(columns[:-1]), columns[-1]


def cells_of(levels: IntArray, stratum: IntArray | None = None) -> IntArray:
    """Number the combinations of levels, (k, n_samples), within strata."""
    cells = np.zeros(levels.shape[1], dtype=np.int64) if stratum is None else numbered(stratum)
    for codes in levels:
        cells = numbered(cells * (int(codes.max(initial=0)) + 1) + codes)
    return cells
