"""Integer scores of variables + residuals of an outcome → pairs whose product may be significant beside both members.

Of a pair, the test is that of w = z_i·z_j beside smooth effects of z_i and z_j. The screen computes, for all pairs,

    χ² ≈ (u·w − φ_ij·m_i·w − φ_ji·m_j·w)² / (N·σ²·D),    D = (1 − r²)²/(1 + r²),

where u is the outcome, m_i its cubic in z_i, r the correlation of z_i and z_j, φ_ij what is left of m_i beside z_j, and
σ² what both leave of the variance. D is the variance of w that quadratic effects leave where scores are normal, about
that of ranks. Only variables with an effect of their own have an m_i; for pairs of others two matrix products are
enough, u∘z_i by z_j and z_i by z_j.

All matrix products are of integers of eight bits, whose sums single precision holds exactly: no partial sum of rows a
and z is above |a|·|z|, and parts of the samples are cut so that this stays below 2^24. So sums are the same for any
order, threads, blocks and instruction set. Pairs with a hundred times the p-value are listed too, and each is tested
exactly. No bound says that nothing is lost: a pair that is not listed has p = 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import map_in_threads, one_blas_thread

IntScores = npt.NDArray[np.int8]
_Singles = npt.NDArray[np.float32]

#: Scores and weights are rounded to this many steps either side of 0.
STEPS = 127

#: Integers up to this are exact in single precision.
_EXACT = float(1 << 24)

#: Rows and columns of a tile: its matrices stay in the cache of a core.
_ROWS, _COLUMNS = 256, 2048

#: χ² with 3 degrees of freedom of a cubic from which on a variable has an effect of its own: p = 0.001.
_STRONG = 16.27

#: Both members together leave at least this share of the variance, as far as the screen knows.
_LEAST_LEFT = 0.02


def as_integers(values: FloatArray) -> npt.NDArray[np.int8]:
    """Round rows of numbers to integers, the largest of each to `STEPS`.

    Examples
    --------
    >>> as_integers(np.array([[-1.0, 0.25, 0.5]])).tolist()
    [[-127, 32, 64]]
    """
    largest = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300)
    rounded: npt.NDArray[np.int8] = np.rint(values * (STEPS / largest)).astype(np.int8)
    return rounded


class ProductPairs:
    """Screens the products of all pairs of variables, times the product of other members, for one outcome.

    - `scores` (n_vars, n_samples): of the variables; rows of zeros take no part. Missing values are 0.
    - `targets` (n_targets, n_samples): orthogonal residuals of the outcome, of squared length n_samples each: one, or
      one less than classes.
    """

    def __init__(self, scores: IntScores, targets: FloatArray, *, n_threads: int = 1) -> None:
        self._scores, self._n_threads = scores, n_threads
        n = scores.shape[1]
        lengths = np.sqrt(_sums_of_squares(scores))
        self._varies = lengths > 0
        self._scale = np.divide(np.sqrt(n), lengths, out=np.zeros_like(lengths), where=self._varies)
        self._targets = [_Target(scores, self._scale, target) for target in targets]

    def __call__(
        self,
        bar: float,
        *,
        rows: IntArray | None = None,
        columns: IntArray | None = None,
        part: tuple[int, int] = (0, 1),
    ) -> Iterator[IntArray]:
        """Yield pairs, (n, 2), whose χ² is at least `bar`.

        - `rows`, `columns`: one member of each pair is of `rows`, the other of `columns`; all if not given.
        - `part` (int, int): do only part number i, from 0, of n.
        """
        usable = np.flatnonzero(self._varies)
        columns = usable if columns is None else columns[self._varies[columns]]
        is_strong = np.any([target.is_strong for target in self._targets], axis=0)
        if rows is None:
            groups = [(columns[~is_strong[columns]], columns[~is_strong[columns]], False)]
            groups.append((columns[is_strong[columns]], columns, True))
        else:
            groups = [(rows[self._varies[rows]], columns, bool(is_strong.any()))]
        with one_blas_thread():
            for of_rows, of_columns, has_strong in groups:
                yield from self._tiles(of_rows, of_columns, bar, part, has_strong=has_strong)

    def _tiles(
        self, rows: IntArray, columns: IntArray, bar: float, part: tuple[int, int], *, has_strong: bool
    ) -> Iterator[IntArray]:
        in_rows = np.zeros(len(self._scores), dtype=np.bool_)
        in_rows[rows] = True
        here = rows[part[0] :: part[1]]

        def found_in(tile: tuple[IntArray, IntArray]) -> IntArray:
            one, other = tile
            i, j = np.nonzero(self._reaches(one, other, bar, has_strong=has_strong))
            pairs = np.column_stack([one[i], other[j]])
            # A pair of two rows is that of the first.
            kept = pairs[(pairs[:, 0] < pairs[:, 1]) | ~in_rows[pairs[:, 1]]]
            return np.sort(kept[kept[:, 0] != kept[:, 1]], axis=1)

        tiles = []
        for begin in range(0, len(here), _ROWS):
            one = here[begin : begin + _ROWS]
            # Columns before the first row that are rows themselves have no pair here.
            others = columns[(columns > one[0]) | ~in_rows[columns]]
            tiles += [(one, others[start : start + _COLUMNS]) for start in range(0, len(others), _COLUMNS)]
        for begin in range(0, len(tiles), 64):
            yield from map_in_threads(found_in, tiles[begin : begin + 64], self._n_threads)

    def _reaches(self, rows: IntArray, columns: IntArray, bar: float, *, has_strong: bool) -> BoolArray:
        """Say which pairs have χ² ≥ `bar`, (n_rows, n_columns)."""
        n = self._scores.shape[1]
        one, other = self._scores[rows].astype(np.float32), self._scores[columns].astype(np.float32)
        scale_i, scale_j = (self._scale[v].astype(np.float32)[:, np.newaxis] for v in (rows, columns))
        r = _product(one, other)
        r *= scale_i
        r *= scale_j.T / n
        shared = np.minimum(r * r, 1.0)
        total: _Singles | None = None
        for target in self._targets:
            along = target.products(one, rows, other)
            along *= scale_j.T
            left: FloatArray | _Singles | float = 1.0
            if has_strong:
                along -= target.fitted(one, other, rows, columns, r, scale_j)
                along -= target.fitted(other, one, columns, rows, r.T, scale_i).T
                left = target.left(rows, columns, r, shared)
            along *= along
            along /= n * left
            total = along if total is None else total + along
        assert total is not None
        total *= 1 + shared
        shared -= 1
        shared *= shared
        shared *= bar
        return np.asarray(total >= shared)


class _Target:
    """One residual: its weights by the score of each variable, and cubics of variables with an effect of their own."""

    def __init__(self, scores: IntScores, scale: FloatArray, target: FloatArray) -> None:
        self._scale = scale
        n = scores.shape[1]
        self._target = target.astype(np.float32)
        self.share, self._cubic = _cubics(scores, scale, target)
        self.is_strong = (n * self.share >= _STRONG * (1 - self.share)) & (scale > 0)
        #: The part of the linear effect, with its sign; 0 where the effect is mainly another.
        linear = (scores.astype(np.float32) @ self._target) * scale / n
        self._linear = np.where(self.is_strong & (2 * linear**2 > self.share), linear, 0.0)

    def products(self, rows: _Singles, numbers: IntArray, columns: _Singles) -> _Singles:
        """Return Σ u·z_i·z_j, z_i with variance 1 and z_j as an integer."""
        return _weighted(rows * self._target, columns, self._scale[numbers])

    def fitted(
        self, rows: _Singles, columns: _Singles, i: IntArray, j: IntArray, r: _Singles, scale_j: _Singles
    ) -> _Singles:
        """Return Σ φ_ij·m_i·z_i·z_j of the rows with an effect of their own; both scores with variance 1."""
        found = np.zeros((len(i), len(j)), dtype=np.float32)
        strong = np.flatnonzero(self.is_strong[i])
        if len(strong):
            v = i[strong]
            z = rows[strong] * self._scale[v].astype(np.float32)[:, np.newaxis]
            c = self._cubic[v].astype(np.float32)
            m = c[:, :1] + z * (c[:, 1:2] + z * (c[:, 2:3] + z * c[:, 3:]))
            found[strong] = _weighted(m * rows[strong], columns, self._scale[v]) * scale_j.T
            a, b = self._linear[v][:, np.newaxis], self._linear[j]
            rest = np.maximum(1 - r[strong].astype(np.float64) ** 2, _LEAST_LEFT)
            ratio = np.divide(b, a, out=np.zeros((len(v), len(j))), where=a != 0)
            found[strong] *= np.clip((1 - r[strong] * ratio) / rest, -1.0, 2.0) * (a != 0) + (a == 0)
        return found

    def left(self, i: IntArray, j: IntArray, r: _Singles, shared: _Singles) -> _Singles:
        """Return the share of the variance that both effects leave."""
        of_i, of_j = (np.where(self.is_strong[v], self.share[v], 0.0).astype(np.float32) for v in (i, j))
        a, b = (self._linear[v].astype(np.float32) for v in (i, j))
        both = of_i[:, np.newaxis] + of_j
        linear = np.outer(a, b)
        # Two linear effects of correlated scores explain (a² + b² − 2rab)/(1 − r²), the effects of others their sum.
        both += np.where(linear != 0, (shared * np.add.outer(a**2, b**2) - 2 * r * linear), 0) / np.maximum(
            1 - shared, _LEAST_LEFT
        )
        least = np.maximum(of_i[:, np.newaxis], of_j)
        return np.asarray(1 - np.clip(both, least, 1 - _LEAST_LEFT))


def _weighted(weights: _Singles, columns: _Singles, scale: FloatArray) -> _Singles:
    """Return products of weights, rounded to integers row by row, and columns; of weights times `scale`."""
    largest = np.maximum(np.abs(weights).max(axis=1, keepdims=True), np.float32(1e-30))
    found = _product(np.rint(weights * (STEPS / largest)), columns)
    found *= largest * (scale[:, np.newaxis] / STEPS).astype(np.float32)
    return found


def _product(rows: _Singles, columns: _Singles) -> _Singles:
    """Return rows times columns of integers of eight bits, summed up exactly."""
    lengths = [float((each * each).sum(axis=1).max(initial=0.0)) for each in (rows, columns)]
    n = rows.shape[1]
    n_parts = 1
    if np.sqrt(lengths[0] * lengths[1]) >= _EXACT:
        n_parts = -(-n * STEPS * STEPS // int(_EXACT - 1))  # whatever the lengths of parts are
    if n_parts == 1:
        return np.asarray(rows @ columns.T)
    size = -(-n // n_parts)
    total = np.zeros((len(rows), len(columns)))
    for begin in range(0, n, size):
        total += rows[:, begin : begin + size] @ columns[:, begin : begin + size].T
    return total.astype(np.float32)


def _sums_of_squares(scores: IntScores) -> FloatArray:
    """Return the sum of squares of each row."""
    size = max(1, (1 << 22) // max(scores.shape[1], 1))
    parts = [scores[begin : begin + size].astype(np.float64) for begin in range(0, len(scores), size)]
    return np.concatenate([np.empty(0), *((part * part).sum(axis=1) for part in parts)])


def _cubics(scores: IntScores, scale: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the share of the target's variance that a cubic of each score explains, and coefficients, (n_vars, 4)."""
    n_vars, n = scores.shape
    share, cubic = np.zeros(n_vars), np.zeros((n_vars, 4))
    size = max(1, (1 << 20) // max(n, 1))
    total = float(target @ target)
    for begin in range(0, n_vars, size):
        z = scores[begin : begin + size] * scale[begin : begin + size, np.newaxis].astype(np.float32)
        powers, moments, along = np.ones_like(z), [np.full(len(z), float(n))], [np.full(len(z), target.sum())]
        for degree in range(1, 7):
            powers = powers * z
            moments.append(powers.sum(axis=1, dtype=np.float64))
            if degree < 4:
                along.append(powers @ target)
        gram = np.stack([np.stack(moments[k : k + 4], axis=1) for k in range(4)], axis=1) / n
        gram += 1e-6 * np.eye(4)  # scores of few values are no cubics
        sums = np.stack(along, axis=1) / n
        cubic[begin : begin + size] = np.linalg.solve(gram, sums[..., np.newaxis])[..., 0]
        share[begin : begin + size] = (cubic[begin : begin + size] * sums).sum(axis=1) * n / max(total, 1e-300)
    return np.clip(share, 0.0, 1.0), cubic


def product_tuples(
    scores: IntScores,
    targets: FloatArray,
    dimensions: int,
    bar: float,
    *,
    asked_for: BoolArray | None = None,
    require: str = "any",
    part: tuple[int, int] = (0, 1),
    n_threads: int = 1,
) -> Iterator[IntArray]:
    """Yield the tuples, (n, k), whose product may have χ² of `bar` beside smooth effects of proper subsets.

    Of more than two members, the first k − 2 weight the outcome, and all pairs of variables after them are screened.
    """
    asked = None if asked_for is None else np.flatnonzero(asked_for)
    if dimensions == 2:
        pairs = ProductPairs(scores, targets, n_threads=n_threads)
        yield from pairs(bar, rows=asked, columns=asked if require == "all" else None, part=part)
        return
    usable = np.flatnonzero((scores != 0).any(axis=1))
    if require == "all" and asked is not None:
        usable = np.intersect1d(usable, asked)
    prefixes = list(combinations(usable.tolist(), dimensions - 2))[part[0] :: part[1]]
    for first in prefixes:
        others = usable[usable > first[-1]]
        weights = np.prod(scores[list(first)].astype(np.float64), axis=0)
        weighted = targets * weights
        lengths = np.sqrt((weighted**2).mean(axis=1, keepdims=True))
        if len(others) < 2 or not (lengths > 0).all():
            continue
        pairs = ProductPairs(scores[others], weighted / lengths, n_threads=n_threads)
        for found in pairs(bar):
            tuples = np.column_stack([np.repeat([first], len(found), axis=0), others[found]])
            if asked_for is not None and require == "any":
                tuples = tuples[asked_for[tuples].any(axis=1)]
            yield tuples
