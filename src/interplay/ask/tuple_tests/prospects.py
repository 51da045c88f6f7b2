"""How tests of tuples are asked for; tuples that a screen has left → those whose tests can be listed.

Which discretisation of a tuple counts, and which way: the one with the smallest p-value of the test that chooses, that
of χ² for counts and the listed one for others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, places_of_each
from interplay.base.checks import shown
from interplay.infer.interaction.interaction_test import EXACT_SLACK
from interplay.infer.interaction.proportional_fit import fit_null_model
from interplay.infer.interaction.prospects import ROUNDING, largest_g2, least_log_p, rough_log_p
from interplay.infer.interaction.table_tests import is_never_tested, not_tested
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.p_values import ADJUSTMENTS, LISTED_METHODS
from interplay.search.engines.tables import TupleTables

Tell = Callable[[int], None]

#: Logarithms of p-values are equal up to this, of a tuple alone and among others.
P_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which tests of tuples are wanted, and how they are made.

    Attributes
    ----------
    max_p : float
        Tuples with p up to this are returned.
    bootstrap_below : float
        p-values of χ² up to this one, of all discretisations, are corrected by a bootstrap where there is no exact
        test.
    seed : int
        Of the bootstrap.
    n_samples : int
        Of the table, at most: tuples that never have enough are known without being counted.
    n_wanted : int, optional
        Return only as many of the smallest p-values; with it few tuples have to be corrected.
    of_part : bool
        Whether other shards may know a better discretisation of a tuple: then all tuples are returned whose p-value of
        χ² is small enough, whatever the p-value of their test is.
    of_each : bool
        Whether a test that follows chooses the discretisation: then tuples are tested in each that is given.
    n_threads : int
    tell : callable, optional
        Told how many more tuples were looked at.
    """

    max_p: float = 1.0
    bootstrap_below: float = 0.0
    seed: int = 0
    n_samples: int = sys.maxsize
    n_wanted: int | None = None
    of_part: bool = False
    of_each: bool = False
    n_threads: int = 1
    tell: Tell | None = None


#: A cap beyond which floating point has no numbers; logarithms of p-values go on.
SMALLEST_CAP = 1e-300


class Bar:
    """The p-value that a tuple must not exceed: lower with every `n_wanted` tuples that are better."""

    def __init__(self, log_p: float, n_wanted: int | None) -> None:
        self.log_p = log_p
        self._n_wanted = n_wanted
        self._best = np.empty(0)

    @property
    def cap(self) -> float:
        return max(exp(self.log_p), SMALLEST_CAP)

    def see(self, log_p: FloatArray) -> None:
        if self._n_wanted is None:
            return
        self._best = np.sort(np.concatenate([self._best, log_p]))[: self._n_wanted]
        if len(self._best) == self._n_wanted:
            self.log_p = min(self.log_p, float(self._best[-1]))


def best_discretizations(tested: TupleTests) -> TupleTests:
    """Keep of every tuple the discretisation that is best, and of several ways the best one, ordered by tuple."""
    if tested.way is not None:
        levels, products = (tested.chosen(np.flatnonzero(tested.are_products == which)) for which in (False, True))
        both = TupleTests.joined([_best_discretizations(levels), products])
        assert both.way is not None
        return both.chosen(best_of_each(np.column_stack([both.way, both.tuples]), both.log_p))
    return _best_discretizations(tested)


def _best_discretizations(tested: TupleTests) -> TupleTests:
    return tested.chosen(best_of_each(np.column_stack([tested.discretization, tested.tuples]), tested.choosing_log_p))


def best_of_each(rows: IntArray, log_p: FloatArray) -> IntArray:
    """Return the place of each tuple's smallest p-value, ordered by tuple; of equal ones, the first discretisation.

    Parameters
    ----------
    rows : (n, 1 + k) int64
        Discretisation and members.
    log_p : (n,) float64
    """
    # Discretisations of few values are the same, but for rounding.
    order = np.lexsort((rows[:, 0], np.round(log_p, 9), *rows.T[:0:-1]))
    members = rows[order, 1:]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = (members[1:] != members[:-1]).any(axis=1)
    return order[is_first]


#: Tuples whose p-values are looked at before the bar is lowered again.
_AT_A_TIME = 256


class Prospects:
    """Bounds of the p-values of tuples, each in its discretisation.

    Tuples are taken in the order of the smallest p-values that they could have. Of a list of the smallest ones the bar
    falls to the last as it fills; who cannot come below it is not fitted exactly, nor corrected by a bootstrap.

    - `tables`: one for each discretisation.
    - `tuples`, list of (n, k): of each discretisation; each tuple in one of them.

    Attributes
    ----------
    n_fitted : int
        Tuples whose p-values were looked at more closely than their bounds.
    """

    def __init__(
        self,
        tables: Sequence[TupleTables],
        tuples: Sequence[IntArray],
        asked: Asked,
    ) -> None:
        self._tables, self._tuples, self._asked = tables, tuples, asked
        self._more = log(len(tables))  # that all discretisations add to the logarithm of a p-value
        self._bootstrap_below = asked.bootstrap_below / len(tables)
        self.n_fitted = 0
        self._where = np.concatenate([np.full(len(some), d) for d, some in enumerate(tuples)])
        self._place = np.concatenate([np.arange(len(some)) for some in tuples])
        n = len(self._where)
        self._g2, self._least = np.zeros(n), np.zeros(n)
        never = [never_tested(one, some, asked.n_samples) for one, some in zip(tables, tuples, strict=True)]
        self._is_sparse = np.concatenate(never)
        for rows, counts in self._counted(np.flatnonzero(~self._is_sparse)):
            self._g2[rows], df = largest_g2(counts, n_threads=asked.n_threads)
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
                seed=self._asked.seed,
                n_threads=self._asked.n_threads,
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
        if self._asked.tell is not None:
            self._asked.tell(n_more)


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


#: Rejections of step-up methods that the first search leaves room for.
_FIRST_REJECTIONS = 200

#: Tuples that a search for the smallest p-values lists at first, if nothing is true, per tuple wanted.
_ROOM_FOR_TOP = 8
_FEWEST_LISTED = 50

#: A search lists more tuples than this only where `max_p` or `top` asks for them.
MAX_LISTED = 20_000_000


@dataclass(frozen=True)
class PValueCaps:
    """Which tuples a search lists."""

    #: Of adjustment, for `n_tests` tests.
    method: str
    #: Significance level.
    level: float
    n_tests: int
    #: List what has p up to this.
    max_p: float | None
    #: List so many of the smallest.
    top: int | None

    @property
    def is_default(self) -> bool:
        """Whether significant tuples are listed, and no others."""
        return self.max_p is None and self.top is None

    @property
    def is_step_up(self) -> bool:
        """Whether adjusted p-values depend on larger ones."""
        return ADJUSTMENTS[self.method].method in ("simes-hochberg", "fdr_bh", "fdr_by")

    def check(self) -> None:
        """Refuse a list that nobody could hold."""
        expected = 0.0 if self.max_p is None else self.max_p * self.n_tests
        if expected > MAX_LISTED and self.top is None:
            raise ValueError(
                f"max_p={self.max_p:g} would list about {expected:.3g} of {self.n_tests:.4g} tuples: lower max_p, or "
                "give top"
            )
        if self.top is not None and self.top > MAX_LISTED:
            raise ValueError(f"top must be at most {MAX_LISTED}, not {shown(self.top)}")

    def first(self) -> float:
        """Return the p-value up to which the first search has to list."""
        if self.max_p is not None:
            return self.max_p
        if self.top is not None:
            return min(1.0, max(_ROOM_FOR_TOP * self.top, _FEWEST_LISTED) / self.n_tests)
        return self.significant_up_to()

    def significant_up_to(self, n_rejected: int = 0) -> float:
        """Return the p-value that the method could call significant beside `n_rejected` others, and a few more.

        Holm's method compares the r-th smallest p-value with level/(m − r + 1): here r leaves room for a tenth of all.
        BH compares it with level·r/m: here r leaves room for some hundred, or four times as many as were found.
        """
        method, m = ADJUSTMENTS[self.method].method, self.n_tests
        if method == "none":
            return self.level
        if method == "bonferroni":
            return self.level / m
        if method in ("fdr_bh", "fdr_by"):
            room = min(m, max(_FIRST_REJECTIONS, 4 * n_rejected))
            harmonic = 1.0
            if method == "fdr_by":
                from interplay.infer.interaction.tuple_tests import harmonic_number

                harmonic = harmonic_number(m)
            return min(self.level, self.level * room / (m * harmonic))
        return self.level / max(m - max(m // 10, 4 * n_rejected), 1)

    def following(self, cap: float, found: TupleTests, *, is_part: bool = False) -> float | None:
        """Return the cap of another search, where one up to `cap` may have left out tuples to be listed; else None.

        `found` are all tuples with p ≤ `cap`, adjusted. A part of a search goes up to the cap that all parts have.
        """
        if self.max_p is not None or (is_part and self.top is None):
            return None
        if self.top is not None:
            n_found = int((found.p_value <= cap).sum())
            return min(1.0, 16 * cap) if n_found < min(self.top, self.n_tests) and cap < 1 else None
        method = ADJUSTMENTS[self.method].method
        if method in ("none", "bonferroni"):
            return None
        n_significant = int(found.is_significant(self.level).sum())
        if method in ("fdr_bh", "fdr_by"):
            wider = self.significant_up_to(len(found))
            # What is listed by chance is a share `level` of the room that was left.
            return wider if wider > cap and 4 * len(found) >= self.n_tests * cap / self.level else None
        wider = self.significant_up_to(n_significant)
        return wider if wider > cap and n_significant == len(found) else None


def check_listed_method(p_adjust: Any) -> str:
    """Return a method of adjustment that needs only the smallest p-values, or say which do."""
    if isinstance(p_adjust, str) and p_adjust in ADJUSTMENTS and p_adjust not in LISTED_METHODS:
        raise ValueError(
            f"p_adjust={p_adjust!r} needs the p-values of all tuples, also of those that are not listed: use one of "
            f"{', '.join(repr(name) for name in LISTED_METHODS[:7])}"
        )
    from interplay.base.checks import check_choice

    return check_choice("p_adjust", p_adjust, LISTED_METHODS)


def listed_method(p_adjust: str) -> str:
    """Return the method for some tuples of a search: the same, or one that is no less strict."""
    return ADJUSTMENTS[p_adjust].of_smallest or p_adjust
