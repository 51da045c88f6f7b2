"""One tuple and many neighbours → which of them could explain its interaction, by linear models, all at once.

The outcome is a matrix of responses: scores of numbers, or classes as indicators that are uncorrelated and have
variance 1. Sums of squares that columns explain, times samples, are then near to the likelihood ratios of logistic,
multinomial and Cox models: near enough to choose the neighbours that are worth a fit of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_chi2_tail
from interplay.data.study.full_model import FullModel

#: Directions of less than this share of their squared length are sums of others.
_DEPENDENT = 1e-5

#: Rows that are multiplied at a time: they stay in the cache of a core.
_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The neighbours of a tuple, as columns of their effects in all samples. Tuples share the rows of these columns."""

    #: (n_shared, n_samples): columns of effects, as rows.
    shared: npt.NDArray[np.float32]
    #: (n_rows,): the rows of the neighbours, one neighbour after the other.
    rows: IntArray
    #: (n_neighbours + 1,): the place of the first one of each in `rows`, with the end.
    first: IntArray
    #: (n_shared, n_most): products of each row with the rows of its own neighbour.
    own: FloatArray

    @property
    def n(self) -> int:
        """The number of neighbours."""
        return len(self.first) - 1

    @property
    def sizes(self) -> IntArray:
        """The number of columns of each."""
        return np.diff(self.first)

    def linear(self, some: IntArray) -> npt.NDArray[np.float32]:
        """Return the first row of some: of a number the value or rank, around its mean and of length 1."""
        return self.shared[self.rows[self.first[some]]]

    def columns(self, some: Sequence[int], samples: IntArray) -> FloatArray:
        """Return the columns of some neighbours, in some samples."""
        rows = np.concatenate([self.rows[self.first[c] : self.first[c + 1]] for c in some])
        return np.asarray(self.shared[rows][:, samples].T, dtype=np.float64)

    def times(self, columns: FloatArray) -> FloatArray:
        """Return the products of all rows with columns, (n_rows, n_columns)."""
        narrow = columns.astype(np.float32)
        found = np.empty((len(self.rows), columns.shape[1]))
        for start in range(0, len(self.rows), _BLOCK):
            some = self.rows[start : start + _BLOCK]
            found[start : start + _BLOCK] = self.shared[some] @ narrow
        return found

    def own_products(self, some: IntArray, size: int, samples: IntArray) -> FloatArray:
        """Return the products of the columns of some neighbours of one size with each other, in some samples.

        (n_some, size, size)
        """
        rows = self.rows[self.first[some][:, np.newaxis] + np.arange(size)]
        found: FloatArray = self.own[rows][:, :, :size]
        n_samples = self.shared.shape[1]
        if len(samples) < n_samples:
            others = np.setdiff1d(np.arange(n_samples), samples)
            left_out = self.shared[rows[:, :, np.newaxis], others].astype(np.float64)
            found = found - np.matmul(left_out, left_out.transpose(0, 2, 1))
        return found


def responses(model: FullModel) -> FloatArray:
    """Return the outcome as columns that linear models explain, (n_samples, n_responses), each of variance 1.

    With an offset, and of times, these are the residuals of the model.
    """
    columns = model.outcome.responses(model.design)
    centred = columns - columns.mean(axis=0)
    basis, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)] * np.sqrt(len(columns)))


def log_p_alone(response: FloatArray, neighbours: Neighbours) -> FloatArray:
    """Return ln p of each column by itself in linear models, (n_neighbours,)."""
    nothing, everyone = np.empty((len(response), 0)), np.arange(len(response))
    screen = NeighbourScreen(response, np.ones((len(response), 1)), nothing, neighbours, everyone, nothing)
    return np.asarray(log_chi2_tail(screen.effect, response.shape[1] * np.maximum(neighbours.sizes, 1)))


class NeighbourScreen:
    """The neighbours of a tuple in linear models, in some samples; statistics are on the scale of χ².

    - `response` (n, q).
    - `smaller` (n, s): columns of the effects of the members, of covariates and strata; none is a sum of others.
    - `interaction` (n, d): columns that the interaction adds.
    - `samples` (n,): the samples, of all that the neighbours have.
    - `also` (n_samples, m): more columns in all samples, whose products with the neighbours are wanted.

    Attributes
    ----------
    effect : (n_neighbours,) float64
        Of each neighbour beside the effects of the members.
    left : (n_neighbours,) float64
        Of the interaction beside the effects of the members and of the neighbour.
    beside_cells : (n_neighbours,) float64
        Of each neighbour beside the effects of the members and the interaction.
    also : (n_rows, m) float64
        Products of the columns of neighbours with the columns `also`.
    """

    def __init__(
        self,
        response: FloatArray,
        smaller: FloatArray,
        interaction: FloatArray,
        neighbours: Neighbours,
        samples: IntArray,
        also: FloatArray,
    ) -> None:
        self._neighbours, self._samples = neighbours, samples
        self._n_samples = neighbours.shared.shape[1]
        basis = np.linalg.qr(smaller)[0]
        self._basis, self._response = basis, response
        directions, sizes, _ = np.linalg.svd(_outside(interaction, basis), full_matrices=False)
        inner = directions[:, sizes > 1e-7 * max(float(sizes.max(initial=0.0)), 1e-300)]
        y = _outside(response, basis)
        products = neighbours.times(np.hstack([self._in_all(np.hstack([basis, inner, y])), also]))
        ends = np.cumsum([basis.shape[1], inner.shape[1], y.shape[1]])
        self._of_basis, of_inner, of_y, self.also = np.split(products, ends, axis=1)
        inner_y = inner.T @ y
        squares = (y**2).sum(axis=0)
        scales = len(y) / np.maximum(squares, 1e-300)
        scales_inside = len(y) / np.maximum(squares - (inner_y**2).sum(axis=0), 1e-300)
        self._own = {size: self._own_products(size) for size in np.unique(neighbours.sizes).tolist() if size}
        self.effect = self._explained(self._of_basis, of_y) @ scales
        beyond = self._explained(np.hstack([self._of_basis, of_inner]), of_y - of_inner @ inner_y)
        self.beside_cells = beyond @ scales_inside
        # Interaction and neighbour explain as much together, whichever is first.
        self.left = np.maximum((inner_y**2).sum(axis=0) @ scales + beyond @ scales - self.effect, 0.0)

    def effect_beside(self, columns: FloatArray) -> FloatArray:
        """Return the effects of neighbours beside more columns, (n, m), as well, and beside those of earlier calls."""
        directions, sizes, _ = np.linalg.svd(_outside(columns, self._basis), full_matrices=False)
        new = directions[:, sizes > np.sqrt(_DEPENDENT) * np.sqrt((columns**2).sum(axis=0).max(initial=0.0))]
        self._basis = np.hstack([self._basis, new])
        y = _outside(self._response, self._basis)
        products = self._neighbours.times(self._in_all(np.hstack([new, y])))
        of_new, of_y = np.split(products, [new.shape[1]], axis=1)
        self._of_basis = np.hstack([self._of_basis, of_new])
        scales = len(y) / np.maximum((y**2).sum(axis=0), 1e-300)
        return np.asarray(self._explained(self._of_basis, of_y) @ scales)

    def _in_all(self, columns: FloatArray) -> FloatArray:
        """Return columns in all samples, 0 where they have no value: products are the same."""
        if len(columns) == self._n_samples:
            return columns
        everywhere = np.zeros((self._n_samples, columns.shape[1]))
        everywhere[self._samples] = columns
        return everywhere

    def _own_products(self, size: int) -> tuple[IntArray, FloatArray]:
        these = np.flatnonzero(self._neighbours.sizes == size)
        return these, self._neighbours.own_products(these, size, self._samples)

    def _explained(self, of_basis: FloatArray, of_y: FloatArray) -> FloatArray:
        """Return the sums of squares of y that each neighbour explains beside a basis, (n_neighbours, q).

        By products of its columns with the basis, and with the part of y outside of it.
        """
        found = np.zeros((self._neighbours.n, of_y.shape[1]))
        for size, (these, own) in self._own.items():
            places = self._neighbours.first[these][:, np.newaxis] + np.arange(size)
            inside = of_basis[places]
            beyond = own - np.matmul(inside, inside.transpose(0, 2, 1))
            lengths = np.einsum("mii->mi", own).max(axis=1)
            found[these] = _squares(beyond, of_y[places], lengths)
        return found


def _outside(columns: FloatArray, basis: FloatArray) -> FloatArray:
    outside = columns - basis @ (basis.T @ columns)
    return np.asarray(outside - basis @ (basis.T @ outside))


def _squares(gram: FloatArray, with_y: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return sums of squares that columns explain of each response, (m, q); directions without length explain nothing.

    - `gram` (m, s, s): products of the columns with each other.
    - `with_y` (m, s, q).
    - `lengths` (m,): squared lengths of columns, of which a direction must have a share.
    """
    least = (_DEPENDENT * np.maximum(lengths, 1e-300))[:, np.newaxis]
    if gram.shape[1] == 2:
        values, vectors = _of_two(gram)
    else:
        values, vectors = np.linalg.eigh(gram)
    kept = values > least
    inverse = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    return np.asarray((np.matmul(vectors.transpose(0, 2, 1), with_y) ** 2 * inverse[:, :, np.newaxis]).sum(axis=1))


def _of_two(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues and eigenvectors of symmetric matrices of two rows, as `np.linalg.eigh` does."""
    a, b, c = gram[:, 0, 0], gram[:, 0, 1], gram[:, 1, 1]
    angle = 0.5 * np.arctan2(2 * b, a - c)  # of the larger one
    cos, sin = np.cos(angle), np.sin(angle)
    middle, half = (a + c) / 2, np.hypot((a - c) / 2, b)
    vectors = np.stack([np.stack([-sin, cos], axis=1), np.stack([cos, sin], axis=1)], axis=2)
    return np.stack([middle - half, middle + half], axis=1), vectors
