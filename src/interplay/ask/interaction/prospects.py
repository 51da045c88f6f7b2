"""Tuples that a screen has left → those whose tests can be listed: the smallest p-values, or all up to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf, log

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, places_of_each
from interplay.infer.interaction.interaction_test import EXACT_SLACK
from interplay.infer.interaction.proportional_fit import fit_null_model
from interplay.infer.interaction.prospects import ROUNDING, largest_g2, least_log_p, rough_log_p
from interplay.infer.interaction.table_tests import is_never_tested, not_tested
from interplay.search.engines.tables import TupleTables

#: Tuples whose p-values are looked at before the bar is lowered again.
_AT_A_TIME = 256


class Prospects:
    """Bounds of the p-values of tuples, each in its discretisation.

    Tuples are taken in the order of the smallest p-values that they could have. Of a list of the smallest ones the bar
    falls to the last as it fills; who cannot come below it is not fitted exactly, nor corrected by a bootstrap.

    Parameters
    ----------
    tables, tuples
        As in `make_tuple_tests`, which has the other parameters, too; each tuple in one discretisation.

    Attributes
    ----------
    n_fitted : int
        Tuples whose p-values were looked at more closely than their bounds.
    """

    def __init__(
        self,
        tables: Sequence[TupleTables],
        tuples: Sequence[IntArray],
        bootstrap_below: float,
        seed: int,
        *,
        n_samples: int,
        n_threads: int,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        self._tables, self._tuples, self._seed, self._n_threads, self._tell = tables, tuples, seed, n_threads, tell
        self._more = log(len(tables))  # that all discretisations add to the logarithm of a p-value
        self._bootstrap_below = bootstrap_below / len(tables)
        self.n_fitted = 0
        self._where = np.concatenate([np.full(len(some), d) for d, some in enumerate(tuples)])
        self._place = np.concatenate([np.arange(len(some)) for some in tuples])
        n = len(self._where)
        self._g2, self._least = np.zeros(n), np.zeros(n)
        never = [never_tested(one, some, n_samples) for one, some in zip(tables, tuples, strict=True)]
        self._is_sparse = np.concatenate(never)
        for rows, counts in self._counted(np.flatnonzero(~self._is_sparse)):
            self._g2[rows], df = largest_g2(counts, n_threads=n_threads)
            self._least[rows] = np.minimum(least_log_p(counts, self._g2[rows], df) + self._more, 0.0)
            self._is_sparse[rows] = not_tested(counts)

    def by_chi2(self, max_p: float) -> list[IntArray]:
        """Return the tuples whose p-values of χ² may be at most `max_p`, or a little more, by discretisation."""
        self._told(len(self._least))
        return self._chosen(self._least <= log(max_p * EXACT_SLACK) + ROUNDING)

    def smallest(self, max_p: float, n_wanted: int | None) -> list[IntArray]:
        """Return the tuples that may have p ≤ `max_p` and be among the `n_wanted` smallest, by discretisation."""
        log_p = np.full(len(self._least), inf)
        bar, best = log(max_p), np.empty(0)
        order = np.argsort(self._least, kind="stable")
        order = order[self._least[order] < 0]
        begin = 0
        size = _AT_A_TIME if n_wanted is None else min(_AT_A_TIME, max(2 * n_wanted, 32))
        while begin < len(order) and self._least[order[begin]] <= _above(bar):
            rows = order[begin : begin + size]
            rows = rows[self._least[rows] <= _above(bar)]
            log_p[rows] = self._rough_log_p(rows, bar)
            begin, size = begin + len(rows), _AT_A_TIME
            if n_wanted is not None:
                best = np.sort(np.concatenate([best, log_p[rows]]))[:n_wanted]
                bar = min(bar, float(best[-1])) if len(best) == n_wanted else bar
        self._told(len(self._least) - begin)
        is_wanted = log_p <= _above(bar)
        n_missing = 0 if n_wanted is None else n_wanted - int(np.sum(log_p < -ROUNDING))
        if max_p >= 1 and n_missing > 0:
            # All others have p = 1: they are listed by G², and those without a test by their members.
            is_one = (log_p >= -ROUNDING) & ~self._is_sparse
            is_wanted |= self._largest_g2(is_one, n_missing)
            is_wanted |= self._first(self._is_sparse, n_missing - int(is_one.sum()))
        return self._chosen(is_wanted)

    def _first(self, chosen: BoolArray, n: int) -> BoolArray:
        """Say which of the chosen tuples are the first `n` by their members."""
        rows = np.flatnonzero(chosen)
        members = np.concatenate(self._tuples)[rows]
        first = np.zeros(len(chosen), dtype=np.bool_)
        first[rows[np.lexsort(members.T[::-1])[: max(n, 0)]]] = True
        return first

    def _rough_log_p(self, chosen: IntArray, bar: float) -> FloatArray:
        log_p = np.empty(len(self._least))
        self.n_fitted += len(chosen)
        for rows, counts in self._counted(chosen):
            found = rough_log_p(
                counts,
                self._g2[rows],
                bar=min(bar - self._more, 0.0) if bar < 0 else 0.0,
                bootstrap_below=self._bootstrap_below,
                seed=self._seed,
                n_threads=self._n_threads,
            )
            log_p[rows] = np.where(np.isfinite(found), np.minimum(found + self._more, 0.0), inf)
            self._told(len(rows))
        return log_p[chosen]

    def _largest_g2(self, is_one: BoolArray, n_wanted: int) -> BoolArray:
        """Say which of the tuples with p = 1 have the largest G²."""
        g2 = np.full(len(is_one), -inf)
        order = np.flatnonzero(is_one)
        order = order[np.argsort(-self._g2[order], kind="stable")]
        least = 0.0
        for begin in range(0, len(order), _AT_A_TIME):
            rows = order[begin : begin + _AT_A_TIME]
            if self._g2[rows[0]] * (1 + ROUNDING) + ROUNDING < least:
                break
            for some, counts in self._counted(rows):
                fit = fit_null_model(counts.reshape(-1, *counts.shape[2:]))
                g2[some] = fit.g2.reshape(len(some), -1).sum(axis=1)
            if np.isfinite(g2).sum() >= n_wanted:
                least = float(np.sort(g2)[-n_wanted])
        return np.asarray((g2 >= least * (1 - ROUNDING)) & np.isfinite(g2))

    def _counted(self, rows: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the tables of tuples of one shape, with the stratum as an axis, and their rows."""
        for d, tables in enumerate(self._tables):
            of_this = rows[self._where[rows] == d]
            if len(of_this):
                for some, counts in tables.counted(self._tuples[d][self._place[of_this]]):
                    yield of_this[some], counts if tables.has_strata else counts[:, np.newaxis]

    def _chosen(self, is_chosen: BoolArray) -> list[IntArray]:
        return [some[self._place[is_chosen & (self._where == d)]] for d, some in enumerate(self._tuples)]

    def _told(self, n_more: int) -> None:
        if self._tell is not None:
            self._tell(n_more)


def never_tested(tables: TupleTables, tuples: IntArray, n_samples: int) -> BoolArray:
    """Say which tuples have too few samples for their levels, classes and strata, whatever their counts: p = 1."""
    shapes = tables.shapes(tuples)
    never = np.zeros(len(tuples), dtype=np.bool_)
    # Without the samples that lack a value, strata may be empty.
    n_strata = 1 if tables.omits_samples else tables.n_strata
    for places in places_of_each(shapes):
        shape = (*shapes[places[0]].tolist(), tables.n_classes)
        never[places] = is_never_tested(shape, n_samples=n_samples, n_strata=n_strata)
    return never


def _above(log_p: float) -> float:
    """Return a little more, for rounding."""
    return log_p + ROUNDING * (1 + abs(log_p))
