"""One tuple and many neighbours → which of them could explain its interaction, by linear models, all at once.

The outcome is a matrix of responses: scores of numbers, or classes as indicators that are uncorrelated and have
variance 1. Sums of squares that columns explain, times samples, are then near to the likelihood ratios of logistic
and multinomial models: near enough to choose the neighbours that are worth a fit of their own.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import DecisionClasses, FloatArray, IntArray, NumberOutcome, Outcome

#: Directions of less than this share of their squared length are sums of others.
_DEPENDENT = 1e-5


class ScreenedNeighbours(NamedTuple):
    """Statistics on the scale of χ² of the neighbours of one tuple, each (n_neighbours,).

    Attributes
    ----------
    effect : float64
        Of each neighbour beside the effects of the members.
    left : float64
        Of the interaction beside the effects of the members and of the neighbour.
    """

    effect: FloatArray
    left: FloatArray


def responses(outcome: Outcome) -> FloatArray:
    """Return the outcome as columns that linear models explain, (n_samples, n_responses), each of variance 1."""
    if isinstance(outcome, NumberOutcome):
        columns = outcome.scores[:, np.newaxis]
    else:
        assert isinstance(outcome, DecisionClasses)
        columns = np.asarray(outcome.codes[:, np.newaxis] == np.arange(1, outcome.n_classes), dtype=np.float64)
    centred = columns - columns.mean(axis=0)
    basis, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)] * np.sqrt(len(columns)))


def screen_neighbours(
    response: FloatArray, smaller: FloatArray, interaction: FloatArray, neighbours: npt.NDArray[Any], first: IntArray
) -> ScreenedNeighbours:
    """Screen the neighbours of a tuple.

    Parameters
    ----------
    response : (n, q) float64
    smaller : (n, s) float64
        Columns of the effects of the members, of covariates and strata; none is a sum of others.
    interaction : (n, d) float64
        Columns that the interaction adds.
    neighbours : (n_rows, n) float32 or float64
        Columns of the effects of all neighbours, as rows, one neighbour after the other.
    first : (n_neighbours + 1,) int64
        The first row of each, with the end.
    """
    n = len(response)
    basis = np.linalg.qr(smaller)[0]
    inner = _outside(interaction, basis)
    left, sizes, _ = np.linalg.svd(inner, full_matrices=False)
    inner = left[:, sizes > 1e-7 * max(float(sizes.max(initial=0.0)), 1e-300)]
    y = _outside(response, basis)
    variance = np.maximum((y**2).sum(axis=0), 1e-300) / n
    y = y / np.sqrt(variance)
    d, q = inner.shape[1], y.shape[1]
    products = neighbours @ np.hstack([basis, inner, y]).astype(neighbours.dtype)
    products = products.astype(np.float64)
    of_basis, of_inner, of_y = np.split(products, [basis.shape[1], basis.shape[1] + d], axis=1)
    inner_y = inner.T @ y
    effect, remaining = np.zeros(len(first) - 1), np.zeros(len(first) - 1)
    sizes_of = np.diff(first)
    lengths = np.einsum("ij,ij->i", neighbours, neighbours).astype(np.float64)
    for size in np.unique(sizes_of[sizes_of > 0]).tolist():
        these = np.flatnonzero(sizes_of == size)
        places = first[these][:, np.newaxis] + np.arange(size)
        gram = np.empty((len(these), size, size))
        for i, j in combinations_with_replacement(range(size), 2):
            one, other = places[:, i], places[:, j]
            own = lengths[one] if i == j else np.einsum("ij,ij->i", neighbours[one], neighbours[other])
            gram[:, i, j] = gram[:, j, i] = own - np.einsum("ij,ij->i", of_basis[one], of_basis[other])
        with_inner = of_inner[places].transpose(0, 2, 1).reshape(len(these), d, size)
        with_y = of_y[places].transpose(0, 2, 1).reshape(len(these), q, size)
        scale = lengths[places].max(axis=1)
        inverse = _inverse(gram, scale)
        effect[these] = np.einsum("mqi,mij,mqj->m", with_y, inverse, with_y)
        # The part of the interaction's columns, and of their products with y, that is outside of the neighbour.
        crossed = np.einsum("mdi,mij->mdj", with_inner, inverse)
        gram_left = np.eye(d) - np.einsum("mdj,mej->mde", crossed, with_inner)
        y_left = inner_y - np.einsum("mdj,mqj->mdq", crossed, with_y)
        solved = np.einsum("mde,meq->mdq", _inverse(gram_left, np.ones(len(these))), y_left)
        remaining[these] = np.einsum("mdq,mdq->m", solved, y_left)
    return ScreenedNeighbours(effect, remaining)


def _outside(columns: FloatArray, basis: FloatArray) -> FloatArray:
    outside = columns - basis @ (basis.T @ columns)
    return np.asarray(outside - basis @ (basis.T @ outside))


def _inverse(gram: FloatArray, scale: FloatArray) -> FloatArray:
    """Return inverses of symmetric matrices, (m, s, s); directions without length stay 0."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > _DEPENDENT * np.maximum(scale, 1e-300)[:, np.newaxis]
    inverse = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    return np.asarray(np.einsum("mis,ms,mjs->mij", vectors, inverse, vectors))
