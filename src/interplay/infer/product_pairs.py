"""Integer scores of variables + residuals of an outcome → pairs whose product, or shape, may be significant.

The final test of a pair has the columns w of its way beside smooth effects of both members: of a product z_i·z_j, of a
shape q_i·z_j and z_i·q_j too, where z is a score and q the absolute normal one, centred. The screen computes a
statistic of the same columns for all pairs. With u the outcome, m_i its cubic in z_i, r the correlation of z_i and z_j:

    T_ab = u·(a_i b_j) − φ_ij·m_i·(a_i b_j) − φ_ji·m_j·(a_i b_j),        a, b of z, q
    χ²   = (T_zz² / D(r) + (T_qz + T_zq)² / S(r) + (T_qz − T_zq)² / S(−r)) / (N·σ²),

φ_ij is what is left of m_i beside z_j, and σ² what both leave of the variance. D and S are the variances of z_i·z_j and
of q_i·z_j ± z_i·q_j, scaled, that functions of either member leave; for normal z, and q = z² − 1 in the place of |z|:

    D = (1 − r²)²/(1 + r²),    S = 1 + 2r + 2r² + r³ − 3r²(1 + r)/(1 − r + r²).

Only variables with an effect of their own have an m_i. Pairs of others need a matrix product for each T and one for r.

What is lost
------------
The p-value of a tuple is the larger of two: that of the final test, and p_s^(1/s) of the statistic above, s = `SHARE`.
Both are functions of the tuple alone. A tuple with p ≤ P thus has p_s ≤ P^s, and the screen lists every one of these:
no tuple with p ≤ P is lost, whatever P, tiles, shards or threads are. The final p-value is valid by itself, and so is a
larger one. What the second costs in power is small: P^s is 30 times P at P = 1e-5, where statistics differ little.

All matrix products are of integers of eight bits and exact (`interplay.infer.int_products`), so that lists are the same
for any order, threads, blocks and instruction set.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import STEPS, BoolArray, FloatArray, IntArray, IntScores, as_integers
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.infer.int_products import PackedScores, Weights

_Singles = npt.NDArray[np.float32]

#: ln p of a tuple is at least ln p of the screen's statistic divided by this.
SHARE = 0.7

#: Rows and columns of a tile: its matrices stay in the cache of a core.
_ROWS, _COLUMNS = 192, 512

#: χ² with 3 degrees of freedom of a cubic from which on a variable has an effect of its own: p = 0.001.
_STRONG = 16.27

#: Correlations up to this are near 0: there, χ² without D and S is no smaller than this share of χ².
_FAR, _LEAST_OF_NEAR = 0.2, 0.58

#: Variables of which correlations are kept, at most.
_MOST_CORRELATED = 2048

#: Powers of this many scores are kept.
_MAX_KEPT = 1 << 23

#: Both members together leave at least this share of the variance, and of a product, as far as the screen knows.
_LEAST_LEFT = 0.02


class Screened(NamedTuple):
    """Pairs or larger tuples, (n, k), and the statistics of their products and shapes, (n, 2)."""

    tuples: IntArray
    statistics: FloatArray


class ScreenScores(NamedTuple):
    """Scores of variables as the screen has them, (n_vars, n_samples) each, 0 where missing.

    Attributes
    ----------
    lines : int8
        Rows of zeros take no part.
    bends : int8, or None
        Of shapes; rows of zeros have none.
    """

    lines: IntScores
    bends: IntScores | None = None


def bend_scores(n_samples: int) -> IntScores:
    """Return the absolute normal scores as integers, by the byte of a rank's integer."""
    from scipy.special import ndtri

    places = 0.5 + np.arange(256, dtype=np.uint8).view(np.int8) / (2 * STEPS) * (1 - 1 / max(n_samples, 2))
    bends = np.abs(ndtri(np.clip(places, 0.5 / max(n_samples, 1), None)))
    rounded: IntScores = as_integers((bends - bends.mean())[np.newaxis])[0]
    return rounded


class ProductPairs:
    """Screens the products of all pairs of variables, and their shapes if there are bends.

    Correlations are kept where the same pairs are screened many times, for weighted targets.
    """

    def __init__(self, scores: ScreenScores, *, n_threads: int = 1, keeps_correlations: bool = False) -> None:
        self.lines, self._n_threads = scores.lines, n_threads
        self._z = _Scaled.made(scores.lines)
        self._q = None if scores.bends is None else _Scaled.made(scores.bends)
        self._varies = self._z.scale > 0
        self._cubics = _Cubics(self._z)
        self._correlations: _Singles | None = None
        if keeps_correlations and len(self._varies) <= _MOST_CORRELATED:
            every = self._block(np.arange(len(self._varies)))
            self._correlations = _correlations(every, every)

    def __call__(
        self,
        targets: FloatArray,
        bars: tuple[float, float],
        *,
        rows: IntArray | None = None,
        columns: IntArray | None = None,
        part: tuple[int, int] = (0, 1),
    ) -> Iterator[Screened]:
        """Yield pairs whose product or shape has χ² of at least its bar.

        Parameters
        ----------
        targets : (n_targets, n_samples) float64
            Orthogonal residuals of the outcome, of squared length n_samples each: one, or one less than classes. They
            may be weighted by the product of other members.
        rows, columns : int64, optional
            One member of each pair is of `rows`, the other of `columns`; all if not given.
        part : (int, int)
            Do only part number i, from 0, of n.
        """
        usable = np.flatnonzero(self._varies)
        columns = usable if columns is None else columns[self._varies[columns]]
        of_targets = [_Target(self._cubics, target) for target in targets]
        is_strong = np.any([target.is_strong for target in of_targets], axis=0)
        if rows is None:
            groups = [(columns[~is_strong[columns]], columns[~is_strong[columns]], False)]
            groups.append((columns[is_strong[columns]], columns, True))
        else:
            groups = [(rows[self._varies[rows]], columns, bool(is_strong.any()))]
        with one_blas_thread():
            for of_rows, of_columns, has_strong in groups:
                yield from self._tiles(of_targets, of_rows, of_columns, bars, part, has_strong=has_strong)

    def _tiles(
        self,
        of_targets: list[_Target],
        rows: IntArray,
        columns: IntArray,
        bars: tuple[float, float],
        part: tuple[int, int],
        *,
        has_strong: bool,
    ) -> Iterator[Screened]:
        in_rows = np.zeros(len(self._varies), dtype=np.bool_)
        in_rows[rows] = True
        # Columns that are rows come first, so that those before the first row of a block can be left out.
        columns = columns[np.lexsort((columns, ~in_rows[columns]))]
        here = rows[part[0] :: part[1]]
        if not len(here):
            return
        others = [self._block(columns[begin : begin + _COLUMNS]) for begin in range(0, len(columns), _COLUMNS)]

        def found_in(variables: IntArray) -> list[Screened]:
            one = self._block(variables)
            targets = [_RowSums(target, one, has_strong=has_strong) for target in of_targets]
            found = []
            for other in others:
                last = other.variables[-1]
                if last <= variables[0] and in_rows[last]:
                    continue
                i, j, statistics = self._reaching(one, other, targets, bars)
                a, b = variables[i], other.variables[j]
                # A pair of two rows is that of the first.
                kept = (a != b) & ((a < b) | ~in_rows[b])
                found.append(Screened(np.sort(np.column_stack([a[kept], b[kept]]), axis=1), statistics[kept]))
            return found

        blocks = [here[begin : begin + _ROWS] for begin in range(0, len(here), _ROWS)]
        at_once = 4 * self._n_threads
        for begin in range(0, len(blocks), at_once):
            for found in map_in_threads(found_in, blocks[begin : begin + at_once], self._n_threads):
                yield from found

    def _block(self, variables: IntArray) -> _Block:
        return _Block(variables, *(None if each is None else each.of(variables) for each in (self._z, self._q)))

    def _reaching(
        self, one: _Block, other: _Block, targets: list[_RowSums], bars: tuple[float, float]
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return places of the pairs whose product or shape reaches its bar, and χ² of both, (n, 2)."""
        n = np.float32(one.z.values.shape[1])
        if self._correlations is None:
            r = _correlations(one, other)
        else:
            r = self._correlations[one.variables[:, np.newaxis], other.variables]
        sums = [target.along(other, r) for target in targets]
        shares = [target.left(other, r) for target in targets]
        may_reach = np.abs(r) > _FAR
        for n_sums, bar in ((1, bars[0]), (3, bars[1]))[: 1 if one.q is None else 2]:
            total: _Singles | float = 0.0
            for of_ways, share in zip(sums, shares, strict=True):
                squares = of_ways[0] * of_ways[0]
                for each in of_ways[1:n_sums]:
                    squares += each * each
                total = (squares if share is None else squares / share) + total
            may_reach |= total >= np.float32(bar * _LEAST_OF_NEAR * n)
        i, j = np.nonzero(may_reach)
        statistics = np.zeros((len(i), 2))
        of_pairs = r[i, j].astype(np.float64)
        for of_ways, share in zip(sums, shares, strict=True):
            found = _statistics([each[i, j].astype(np.float64) for each in of_ways], of_pairs)
            statistics += found / (n if share is None else n * share[i, j, np.newaxis])
        reaches = (statistics >= bars)[:, : 1 if one.q is None else 2].any(axis=1)
        return i[reaches], j[reaches], statistics[reaches]


class _Scaled:
    """Integer scores, and what makes their mean square 1; 0 of rows of zeros."""

    def __init__(self, values: IntScores, scale: _Singles) -> None:
        self.values, self.scale = values, scale

    @classmethod
    def made(cls, values: IntScores) -> _Scaled:
        lengths = np.sqrt(_sums_of_squares(values))
        scale = np.divide(np.sqrt(values.shape[1]), lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return cls(values, scale.astype(np.float32))

    def of(self, variables: IntArray | slice) -> _Scaled:
        return _Scaled(self.values[variables], self.scale[variables])

    @property
    def singles(self) -> _Singles:
        """The scores with mean square 1."""
        return np.asarray(self.values * self.scale[:, np.newaxis])

    @cached_property
    def packed(self) -> PackedScores:
        return PackedScores.of(self.values)


class _Block:
    """Some variables, their scores, and the bends of shapes if there are any."""

    def __init__(self, variables: IntArray, z: _Scaled | None, q: _Scaled | None) -> None:
        assert z is not None
        self.variables, self.z, self.q = variables, z, q

    @property
    def ways(self) -> list[_Scaled]:
        """What the columns of a product or shape have of these variables, and of others `ways_of_others`."""
        return [self.z] if self.q is None else [self.z, self.q, self.z]

    @property
    def ways_of_others(self) -> list[_Scaled]:
        return [self.z] if self.q is None else [self.z, self.z, self.q]


def _correlations(one: _Block, other: _Block) -> _Singles:
    """Return the correlations of scores, (n_rows, n_columns)."""
    r = other.z.packed.products(one.z.values)
    r *= one.z.scale[:, np.newaxis] / np.float32(one.z.values.shape[1])
    r *= other.z.scale
    return r


def _statistics(sums: list[FloatArray], r: FloatArray) -> FloatArray:
    """Return χ² of products and of shapes, (n, 2), times the variance of the outcome, from T_zz, T_qz and T_zq."""
    shared = np.minimum(r * r, 1.0)
    product = sums[0] ** 2 * (1 + shared) / np.maximum((1 - shared) ** 2, _LEAST_LEFT**2)
    if len(sums) == 1:
        return np.column_stack([product, np.zeros_like(product)])
    even, odd = (sums[1] + sums[2]) ** 2 / 2, (sums[1] - sums[2]) ** 2 / 2
    return np.column_stack([product, product + even / _left_of_squares(r) + odd / _left_of_squares(-r)])


def _left_of_squares(r: FloatArray) -> FloatArray:
    """Return S(r): of the variance of q_i·z_j + z_i·q_j, what functions of either leave."""
    found = 1 + r * (2 + r * (2 + r)) - 3 * r * r * (1 + r) / (1 - r + r * r)
    return np.asarray(np.maximum(found, _LEAST_LEFT**2))


class _Target:
    """One residual, and cubics of variables with an effect of their own."""

    def __init__(self, cubics: _Cubics, target: FloatArray) -> None:
        n = len(target)
        self.values = target.astype(np.float32)
        self.share, self._cubic, correlations = cubics.fit(target)
        self.is_strong = n * self.share >= _STRONG * (1 - self.share)
        #: The linear and the quadratic part of the effects, with their signs.
        self._parts = np.where(self.is_strong, correlations, 0.0)

    def cubics(self, v: IntArray, z: _Singles) -> _Singles:
        """Return m of some variables, of their scores."""
        c = self._cubic[v].astype(np.float32)
        return np.asarray(c[:, :1] + z * (c[:, 1:2] + z * (c[:, 2:3] + z * c[:, 3:])))

    def left_beside(self, v: IntArray, j: IntArray, r: _Singles) -> list[FloatArray]:
        """Return φ: how much is left of the effects of v beside those of j, (n_v, n_j), for T_zz, T_qz and T_zq.

        Of effects, T_zz has the quadratic part, and the others have the linear one.
        """
        left = []
        for part, of_parts in self._parts_with(r.astype(np.float64)):
            a, b = part[v][:, np.newaxis], part[j]
            ratio = np.divide(b, a, out=np.zeros((len(v), len(j))), where=a != 0)
            left.append(np.clip((1 - of_parts * ratio) / np.maximum(1 - of_parts**2, _LEAST_LEFT), -1.0, 2.0))
        return [left[1], left[0], left[0]]

    def _parts_with(self, r: npt.NDArray[Any]) -> Iterator[tuple[FloatArray, npt.NDArray[Any]]]:
        """Yield the linear and the quadratic parts, and their correlations where those of scores are r."""
        yield self._parts[0], r
        yield self._parts[1], r * r

    def left(self, i: IntArray, j: IntArray, r: _Singles) -> _Singles:
        """Return the share of the variance that both effects leave."""
        of_i, of_j = (np.where(self.is_strong[v], self.share[v], 0.0).astype(np.float32) for v in (i, j))
        both = of_i[:, np.newaxis] + of_j
        for part, of_parts in self._parts_with(r):
            a, b = (part[v].astype(np.float32) for v in (i, j))
            shared = np.minimum(of_parts * of_parts, 1.0)
            # Two linear effects of correlated scores explain (a² + b² − 2rab)/(1 − r²), different effects their sum.
            beyond = shared * np.add.outer(a**2, b**2) - 2 * of_parts * np.outer(a, b)
            both += np.where(np.outer(a, b) != 0, beyond, 0) / np.maximum(1 - shared, _LEAST_LEFT)
        least = np.maximum(of_i[:, np.newaxis], of_j)
        return np.asarray(1 - np.clip(both, least, 1 - _LEAST_LEFT))


class _RowSums:
    """The variables i of a block of rows, and one residual u: what every block of columns needs of these."""

    def __init__(self, target: _Target, one: _Block, *, has_strong: bool) -> None:
        self._target, self._one = target, one
        self._weights = [Weights.of(each.singles * target.values) for each in one.ways]
        self._has_strong = has_strong
        strong = np.flatnonzero(target.is_strong[one.variables]) if has_strong else np.empty(0, dtype=np.int64)
        self._strong = strong
        effects = target.cubics(one.variables[strong], one.z.of(strong).singles)
        self._effects = [Weights.of(effects * each.of(strong).singles) for each in one.ways] if len(strong) else []

    def along(self, other: _Block, r: _Singles) -> list[_Singles]:
        """Return T of all ways, (n_rows, n_columns) each."""
        target, one = self._target, self._one
        found = []
        for weights, each in zip(self._weights, other.ways_of_others, strict=True):
            found.append(each.packed.weighted(weights))
            found[-1] *= each.scale
        if self._effects:
            left = target.left_beside(one.variables[self._strong], other.variables, r[self._strong])
            for sums, weights, each, of_way in zip(found, self._effects, other.ways_of_others, left, strict=False):
                sums[self._strong] -= each.packed.weighted(weights) * each.scale * of_way
        strong = np.flatnonzero(target.is_strong[other.variables])
        if self._has_strong and len(strong):
            effects = target.cubics(other.variables[strong], other.z.of(strong).singles)
            left = target.left_beside(other.variables[strong], one.variables, r.T[strong])
            for sums, each, own, of_way in zip(found, other.ways_of_others, one.ways, left, strict=False):
                weights = Weights.of(effects * each.of(strong).singles)
                of_effects = own.packed.weighted(weights) * own.scale * of_way
                sums[:, strong] -= of_effects.T
        return found

    def left(self, other: _Block, r: _Singles) -> _Singles | None:
        """Return the share of the variance that effects of both members leave; None where none has an effect."""
        return self._target.left(self._one.variables, other.variables, r) if self._has_strong else None


def _sums_of_squares(scores: IntScores) -> FloatArray:
    """Return the sum of squares of each row."""
    size = max(1, (1 << 17) // max(scores.shape[1], 1))
    parts = [scores[begin : begin + size].astype(np.float64) for begin in range(0, len(scores), size)]
    return np.concatenate([np.empty(0), *((part * part).sum(axis=1) for part in parts)])


class _Cubics:
    """Fits cubics of each score to residuals."""

    def __init__(self, z: _Scaled) -> None:
        n, n_samples = z.values.shape
        size = max(1, (1 << 18) // max(n_samples, 1))
        self._parts = [z.of(slice(begin, begin + size)) for begin in range(0, n, size)]
        self._kept = [self._powers(part) for part in self._parts] if n * n_samples <= _MAX_KEPT else None
        squares = (np.square(part.singles) for part in self._parts)
        self._fourth = [np.empty(0), *(np.square(each).mean(axis=1, dtype=np.float64) for each in squares)]

    @staticmethod
    def _powers(part: _Scaled) -> tuple[list[_Singles], FloatArray]:
        """Return the scores, their squares and cubes, and the inverse of the moments of cubics."""
        z = part.singles
        powers = [z, z * z, z * z * z]
        n = z.shape[1]
        moments = [np.full(len(z), float(n)), *(power.sum(axis=1, dtype=np.float64) for power in powers)]
        moments += [np.einsum("ij,ij->i", powers[2], power, dtype=np.float64) for power in powers]
        gram = np.stack([np.stack(moments[k : k + 4], axis=1) for k in range(4)], axis=1) / n
        gram += 1e-6 * np.eye(4)  # scores of few values are no cubics
        return powers, np.linalg.inv(gram)

    def fit(self, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the share of the target's variance that a cubic explains, (n_vars,), coefficients, (n_vars, 4).

        And the correlations of the target with the score and with its square, (2, n_vars).
        """
        n, total, values = len(target), float(target @ target), target.astype(np.float32)
        all_sums: list[FloatArray] = [np.empty((0, 4))]
        all_cubics: list[FloatArray] = [np.empty((0, 4))]
        for place, part in enumerate(self._parts):
            powers, inverse = self._powers(part) if self._kept is None else self._kept[place]
            constant = np.full(len(inverse), float(target.sum()))
            # Row by row, so that sums do not depend on what other variables there are.
            products = (np.einsum("ij,j->i", power, values) for power in powers)
            sums = np.stack([constant, *products], axis=1) / n
            all_sums.append(sums)
            all_cubics.append(np.einsum("ijk,ik->ij", inverse, sums))
        sums, cubics = np.concatenate(all_sums), np.concatenate(all_cubics)
        share = np.einsum("ij,ij->i", cubics, sums) * n / max(total, 1e-300)
        spread = np.sqrt(np.maximum(np.concatenate(self._fourth) - 1, 1e-6))
        return np.clip(share, 0.0, 1.0), cubics, np.stack([sums[:, 1], (sums[:, 2] - sums[:, 0]) / spread])


def screened_tuples(
    pairs: ProductPairs,
    targets: FloatArray,
    dimensions: int,
    bars: tuple[float, float],
    *,
    asked_for: BoolArray | None = None,
    require: str = "any",
    part: tuple[int, int] = (0, 1),
) -> Iterator[Screened]:
    """Yield the tuples whose product, or of pairs whose shape, has χ² of its bar beside effects of proper subsets.

    Of more than two members, the first k − 2 weight the outcome, and all pairs of variables after them are screened.
    """
    asked = None if asked_for is None else np.flatnonzero(asked_for)
    if dimensions == 2:
        yield from pairs(targets, bars, rows=asked, columns=asked if require == "all" else None, part=part)
        return
    lines = pairs.lines
    usable = np.flatnonzero((lines != 0).any(axis=1))
    if require == "all" and asked is not None:
        usable = np.intersect1d(usable, asked)
    prefixes = list(combinations(usable.tolist(), dimensions - 2))[part[0] :: part[1]]
    for first in prefixes:
        others = usable[usable > first[-1]]
        weights = np.prod(lines[list(first)].astype(np.float64), axis=0)
        weighted = targets * weights
        lengths = np.sqrt((weighted**2).mean(axis=1, keepdims=True))
        if len(others) < 2 or not (lengths > 0).all():
            continue
        for found in pairs(weighted / lengths, bars, columns=others):
            tuples = np.column_stack([np.repeat([first], len(found.tuples), axis=0), found.tuples])
            kept = np.ones(len(tuples), dtype=np.bool_)
            if asked_for is not None and require == "any":
                kept = asked_for[tuples].any(axis=1)
            yield Screened(tuples[kept], found.statistics[kept])
