"""Tuples → the cell of each sample → tests of their interactions about an outcome of numbers.

What `TupleTables` of counts is for classes: one object for each discretisation, which the screen, the tests and the
pictures of a search share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from interplay.base.arrays import CodeArray, FloatArray, IntArray, places_of_each
from interplay.base.jobs import map_in_threads
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.cuts import variable_cuts
from interplay.data.codes.tuple_counts import TupleCounts, number_counts
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.number_interaction.cell_moments import ScoredNumbers
from interplay.infer.number_interaction.number_tests import log_p_below, number_tests

#: Samples times tuples that are summed at a time: their cells stay in the cache of a core.
_AT_ONCE = 1 << 19

#: Codes of variables that are kept, in bytes.
_MAX_KEPT_BYTES = 1 << 28


class NumberTables:
    """The cells of tuples in one discretisation, and the outcome in them.

    Parameters
    ----------
    coded : CodedComparison
    d : int
        The discretisation.
    numbers : ScoredNumbers
        Outcome of the samples, as `scored_numbers` makes it.
    omit_missing : bool
        Whether samples that lack a value of a member are left out of the tests of the tuple.
    coding : str
        "levels", or "dosage" for products of one degree of freedom.
    """

    def __init__(
        self,
        coded: CodedComparison,
        d: int,
        numbers: ScoredNumbers,
        *,
        omit_missing: bool = False,
        coding: str = "levels",
    ) -> None:
        self.numbers, self.coding = numbers, coding
        self._coded, self._d = coded, d
        self._omitted = coded.has_missing_level.astype(np.int64) * omit_missing
        self._strata = coded.comparison.strata
        self._kept: dict[int, CodeArray] = {}
        self._dosages_of = lru_cache(maxsize=None)(self._dosages_of_variable)

    @property
    def has_strata(self) -> bool:
        return self._strata is not None

    @property
    def n_strata(self) -> int:
        return 1 if self._strata is None else self._strata.n_strata

    @property
    def omits_samples(self) -> bool:
        return bool(self._omitted.any())

    def shapes(self, tuples: IntArray) -> IntArray:
        """Return the levels of each member of each tuple, (n_tuples, k)."""
        n_levels = self._coded.n_levels[: self._coded.coder.table.n_vars]
        return np.asarray((n_levels - self._omitted)[tuples])

    def with_numbers(self, numbers: ScoredNumbers) -> NumberTables:
        """Return the tables of another outcome of the same samples; codes are shared."""
        other = NumberTables(self._coded, self._d, numbers, coding=self.coding)
        other._omitted, other._kept = self._omitted, self._kept
        return other

    def log_p(self, tuples: IntArray, *, at_most: float = 0.0, n_threads: int = 1) -> FloatArray:
        """Return ln p of tuples, (n_tuples,); 0 may stand for those above `at_most`."""
        log_p = np.zeros(len(tuples))

        def test(part: tuple[IntArray, tuple[int, ...]]) -> None:
            places, levels = part
            log_p[places] = log_p_below(
                self._cells(tuples[places], levels),
                self.numbers.scores,
                levels,
                at_most,
                n_strata=self.n_strata,
                dosages=self._dosages(tuples[places]),
                fewest=self.numbers.fewest,
            )

        self._read(np.unique(tuples))
        map_in_threads(test, list(self._parts(tuples)), n_threads)
        return log_p

    def tested(self, tuples: IntArray) -> Iterator[tuple[IntArray, TupleTests]]:
        """Yield tests of some tuples, with all their effects, and their places in `tuples`."""
        self._read(np.unique(tuples))
        for places, levels in self._parts(tuples):
            chosen = tuples[places]
            tests = number_tests(
                self._cells(chosen, levels),
                self.numbers,
                chosen,
                levels,
                n_strata=self.n_strata,
                dosages=self._dosages(chosen),
            )
            discretization = np.full(len(chosen), self._d, dtype=np.int64)
            yield places, tests.of_discretization(discretization)

    def counts_of(self, members: IntArray, *, run: int = 0) -> TupleCounts | None:
        """Return the distribution of the outcome in the cells of one tuple, strata together; None of too many cells."""
        coder, values = self._coded.coder, self.numbers.values
        omits = self.omits_samples
        return number_counts(coder, values, members, run=run, discretization=self._d, omit_missing=omits)

    def _parts(self, tuples: IntArray) -> Iterator[tuple[IntArray, tuple[int, ...]]]:
        """Yield the places of tuples of one shape, a few at a time, and the levels of their members."""
        shapes = self.shapes(tuples)
        size = max(1, _AT_ONCE // max(len(self.numbers.scores), 1))
        for of_shape in places_of_each(shapes):
            levels = tuple(shapes[of_shape[0]].tolist())
            for begin in range(0, len(of_shape), size):
                yield of_shape[begin : begin + size], levels

    def _read(self, variables: IntArray) -> None:
        """Make the codes of variables, where these are not kept."""
        missing = np.array([v for v in variables.tolist() if v not in self._kept], dtype=np.int64)
        if not len(missing):
            return
        if (len(self._kept) + len(missing)) * len(self.numbers.scores) > _MAX_KEPT_BYTES:
            self._kept.clear()
            missing = variables
        codes = self._coded.coder.codes_of(self._d, missing).codes
        self._kept.update(zip(missing.tolist(), codes, strict=True))

    def _cells(self, tuples: IntArray, levels: tuple[int, ...]) -> IntArray:
        """Return the cell of each sample in tuples of one shape, (n_tuples, n_samples); see `cell_moments`."""
        n_cells = math.prod(levels) * self.n_strata
        # Numbers of cells are mostly below 256, and so are codes: bytes are added up in an eighth of the time.
        kind = np.min_scalar_type(n_cells)
        cells = np.zeros((len(tuples), len(self.numbers.scores)), dtype=kind)
        if self._strata is not None:
            cells += self._strata.codes.astype(kind)
        in_none = np.zeros(cells.shape, dtype=np.bool_) if self.omits_samples else None
        for place, n_levels in enumerate(levels):
            codes = np.stack([self._kept[v] for v in tuples[:, place].tolist()])
            cells *= kind.type(n_levels)
            cells += codes
            if in_none is not None:
                in_none |= codes >= n_levels
        if in_none is not None:
            cells[in_none] = n_cells
        return cells.astype(np.int64)

    def _dosages(self, tuples: IntArray) -> FloatArray | None:
        """Return what the levels of members stand for, (n_tuples, k, most levels); None where they are only levels."""
        if self.coding != "dosage":
            return None
        most = int(self.shapes(tuples).max(initial=1))
        dosages = np.zeros((*tuples.shape, most))
        for v in np.unique(tuples).tolist():
            of_one = self._dosages_of(v)[:most]
            dosages[tuples == v, : len(of_one)] = of_one
        return dosages

    def _dosages_of_variable(self, variable: int) -> FloatArray:
        return variable_cuts(self._coded.coder, variable).dosages()
