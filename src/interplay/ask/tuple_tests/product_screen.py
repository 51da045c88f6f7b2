"""All pairs of a table → those whose product of dosages may be significant: the screen of engines, and curved members.

The product of a pair (a, b) is tested beside a line in each member. Engines know levels: the gain of b is about
RSS(a)/RSS(T), where RSS(a) are the squares that the levels of a leave, RSS(T) those that the cells of the pair leave. A
product may stand for nothing but a curved effect of a, of which RSS(a) has nothing left: then b gains nothing.

RSS(a) + D(a) = RSS(line of a) ≥ RSS(both lines), D(a) the squares that the levels of a explain beyond its line. The
model with the product is a function of cells: RSS(both lines and product) ≥ RSS(T). So where the squares of the product
are r times those that are left,

    RSS(a) + D(a) ≥ (1 + r)·RSS(T),   gain of b ≥ (N/2) log₂(1 + r) − C(a),   C(a) = (N/2) log₂(1 + D(a)/RSS(a)),

and the same with a and b exchanged. `number_bars` returns (N/2) log₂(1 + r) of the integer scores of engines, for the
least r that p ≤ `max_p` allows; D and RSS are of the same integers. A pair of which neither member has C above a slack
thus passes a screen with the bar less the slack. Pairs with another member are few, and are counted one by one.

Strata: all models have coefficients for each stratum, as RSS(a) and RSS(T) have; D is the sum over strata.

Samples that a test leaves out: where a is missing, RSS(a), RSS(T) and the line of a have one more cell each. Where b is
missing and a is not, samples K, cells of T are levels of a, and a line leaves no less there: with S the samples of the
test, RSS(line of a) ≥ RSS_S(line of a) + RSS_K(line of a) + RSS(a missing) ≥ RSS_S(both lines) + RSS(T) − RSS_S(T), so
that RSS(a) + D(a) − RSS(T) ≥ the squares of the product, as above. `number_bars` knows what RSS(T) has beyond S.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.base.planes import BitPlanes
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import Coder
from interplay.data.codes.cuts import variable_cuts
from interplay.infer.number_interaction.product_tables import CellSums, curved_squares, product_ratios
from interplay.search.engines.tables import count_tables
from interplay.search.loop import Shard

#: Pairs that are counted at a time.
_AT_ONCE = 1 << 14

#: Curvatures are rounded up to a part of a bit: far more than what rounding does to them.
_STEPS = 64

#: Ratios are lowered by this share: far more than what rounding does to them.
_ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class LevelDosages:
    """What the levels of variables stand for, centred and scaled: no test of products depends on that."""

    dosages: FloatArray  #: (most levels, n_vars)
    #: (most levels, n_vars): 1 for a level that is tested, 0 for one of missing values that tests leave out, and beyond
    #: a variable's levels.
    known: FloatArray
    #: Whether tests leave no level out.
    are_all_known: bool

    @classmethod
    def of(cls, coder: Coder, *, omit_missing: bool) -> LevelDosages:
        n_levels = np.maximum(coder.n_levels, 2)
        tested = n_levels - coder.has_missing_level * omit_missing
        alike: dict[tuple[int, float, int, bool], list[int]] = {}
        is_label, last = coder.table.is_label.tolist(), coder.last_levels.tolist()
        for v, n in enumerate(tested.tolist()):
            alike.setdefault((id(coder.level_thresholds[v]), last[v], n, is_label[v]), []).append(v)
        dosages, known = np.zeros((2, int(n_levels.max(initial=2)), len(n_levels)))
        for (*_, n, _), variables in alike.items():
            of_levels = variable_cuts(coder, variables[0]).dosages()[:n]
            of_levels = of_levels - of_levels.mean()
            scaled = of_levels / max(np.abs(of_levels).max(), np.finfo(float).tiny)
            dosages[:n, variables], known[:n, variables] = scaled[:, np.newaxis], 1.0
        return cls(dosages, known, bool((tested == n_levels).all()))


class ProductScreen:
    """Screens the products of all pairs of the variables in planes.

    - `planes`: of one discretisation and a number outcome; row 0 is the stratum if `has_stratum`.
    - `bar`: what every member has to gain by `number_bars`, in bits.

    Attributes
    ----------
    bar : float
        What engines have to ask of every member of a pair without a curved member.
    curved : (n_curved,) int64
        Variables of which a pair has to be counted, whatever its members gain.
    """

    def __init__(
        self, planes: BitPlanes, levels: LevelDosages, bar: float, *, has_stratum: bool, n_threads: int = 1
    ) -> None:
        self._planes, self._levels, self._n_threads = planes, levels, n_threads
        self._n_before = int(has_stratum)
        self._least = float(np.expm1(2 * np.log(2) * bar / planes.n_samples)) * (1 - _ROUNDING)
        self._largest_squares = largest_squares(planes)
        self.bar, self.curved = bar, np.empty(0, dtype=np.int64)
        if bar > 0:
            curvatures = self._curvatures()
            slack = self._slack(curvatures)
            self.bar, self.curved = bar - slack, np.flatnonzero(curvatures > slack)
        self._is_curved = np.zeros(levels.known.shape[1], dtype=np.bool_)
        self._is_curved[self.curved] = True

    def passing(self, pairs: IntArray) -> IntArray:
        """Return pairs that an engine has found and that may reach the p-value, but for those of curved variables."""
        return self._reaching(pairs[~self._is_curved[pairs].any(axis=1)])

    def of_curved(
        self, *, asked_for: BoolArray | None = None, require: str = "any", shard: Shard | None = None
    ) -> Iterator[IntArray]:
        """Yield pairs, ascending, that have a curved variable and may reach the p-value.

        `asked_for` and `require` are as in `make_tuple_tiles`. A shard has some of the curved variables.
        """
        others = np.arange(len(self._is_curved))
        of_shard = self.curved if shard is None else self.curved[shard.number - 1 :: shard.of]
        for variable in of_shard.tolist():
            # Pairs of two curved variables are those of the first.
            chosen = others[(others > variable) | ((others < variable) & ~self._is_curved)]
            if asked_for is not None and not (asked_for[variable] and require == "any"):
                chosen = chosen[asked_for[chosen]] if asked_for[variable] or require == "any" else chosen[:0]
            pairs = np.column_stack([np.full(len(chosen), variable), chosen])
            yield np.sort(self._reaching(pairs), axis=1)

    def _reaching(self, pairs: IntArray) -> IntArray:
        """Keep the pairs whose ratio of squares is large enough, by their cells."""
        if self._least <= 0 or not len(pairs):
            return pairs
        parts = [pairs[begin : begin + _AT_ONCE] for begin in range(0, len(pairs), _AT_ONCE)]
        return np.concatenate(map_in_threads(self._reaching_some, parts, self._n_threads))

    def _reaching_some(self, pairs: IntArray) -> IntArray:
        reaches = np.zeros(len(pairs), dtype=np.bool_)
        for places, cells in self._cells(pairs):
            a, b = pairs[places].T
            n_a, n_b = cells.n.shape[1:3]
            tested = cells
            if not self._levels.are_all_known:
                tested = cells.in_known(self._levels.known[:n_a, a], self._levels.known[:n_b, b])
            n_omitted = self._planes.n_samples - tested.n.sum(axis=(0, 1, 2)).astype(np.int64)
            squares = self._largest_squares[-1] - self._largest_squares[n_omitted]
            ratio, uncertain = product_ratios(
                tested, self._levels.dosages[:n_a, a], self._levels.dosages[:n_b, b], squares
            )
            reaches[places] = (ratio >= self._least) | uncertain
        return pairs[reaches]

    def _cells(self, tuples: IntArray) -> Iterator[tuple[IntArray, CellSums]]:
        """Yield the cells of tuples of one shape, and the places of the tuples."""
        rows = tuples + self._n_before
        if self._n_before:
            rows = np.column_stack([np.zeros(len(rows), dtype=np.int64), rows])
        for places, tables in count_tables(self._planes, rows):
            last = np.moveaxis(tables, (-1, 0), (0, -1)).astype(np.float64)
            yield places, CellSums(*(last if self._n_before else last[:, np.newaxis]))

    def _curvatures(self) -> FloatArray:
        """Return C of each variable, rounded up: (n_vars,)."""
        n_vars, n = self._levels.known.shape[1], self._planes.n_samples
        curvatures = np.zeros(n_vars)
        for places, cells in self._cells(np.arange(n_vars)[:, np.newaxis]):
            n_levels = cells.n.shape[1]
            tested = cells.in_known(self._levels.known[:n_levels, places])
            beyond = curved_squares(tested, self._levels.dosages[:n_levels, places])
            left = self._largest_squares[-1] - cells.squares()
            share = np.divide(beyond, left, out=np.full_like(left, np.inf), where=left > 0)
            curvatures[places] = n / 2 * np.log2(1 + share)
        return np.ceil(curvatures * _STEPS + 0.5) / _STEPS

    def _slack(self, curvatures: FloatArray) -> float:
        """Return the slack that leaves the fewest pairs to count: those of curved variables, and finds of engines.

        Of noise, 2 ln 2 times a gain is χ².
        """
        from scipy.special import chdtrc

        slack = np.concatenate([[0.0], np.unique(curvatures[np.isfinite(curvatures)])])
        n_curved = len(curvatures) - np.searchsorted(np.sort(curvatures), slack, side="right")
        n_levels = int(np.median(self._planes.n_levels[self._n_before :]))
        n_strata = int(self._planes.n_levels[0]) if self._n_before else 1
        found = chdtrc(n_strata * n_levels * (n_levels - 1), 2 * np.log(2) * np.maximum(self.bar - slack, 0))
        n_vars = len(curvatures)
        return float(slack[np.argmin(n_curved + (n_vars - 1) / 2 * found)])


def largest_squares(planes: BitPlanes) -> FloatArray:
    """Return the sum of the largest squares of scores, by the number of samples, (n_samples + 1,)."""
    assert planes.scores is not None
    assert planes.samples is not None
    n_of_byte = np.unpackbits(planes.samples.astype("<u8").view(np.uint8)).reshape(-1, 8).sum(axis=1, dtype=np.int64)
    squares = np.sort(np.repeat(planes.scores.astype(np.float64) ** 2, n_of_byte))[::-1]
    return np.concatenate([[0.0], np.cumsum(squares)])


def needs_product_screen(coded: CodedComparison) -> bool:
    """Say whether products of dosages differ from levels: some variable has more than two."""
    coder = coded.coder
    return bool((coder.n_levels - coder.has_missing_level > 2).any())


def check_products(coded: CodedComparison, coding: str, dimensions: int) -> None:
    """Refuse products that no screen can find: of three and more members with more than two levels."""
    if coding == "dosage" and dimensions > 2 and needs_product_screen(coded):
        raise ValueError(
            f"coding='dosage' with dimensions={dimensions} needs variables of two levels: use dimensions=2, or "
            "coding='levels'"
        )
