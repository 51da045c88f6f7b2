"""A comparison of numbers → what a screen asks of tuples, and which of them it keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import BitPlanes, FloatArray, IntArray, NumberOutcome, TupleRows
from interplay.codes.coder import Coder
from interplay.codes.search_scores import lost_share, search_scores
from interplay.engines.sinks import Screen
from interplay.interaction.number_tables import NumberTables
from interplay.interaction.screen_limits import PSEUDOCOUNT, check_listed, most_cells, most_df
from interplay.statistics.number_interaction.search_bars import number_bars
from interplay.study.comparisons import Comparison

#: p-values of a tuple alone and among others are equal up to this, as logarithms.
_ROUNDING = 1e-6


def number_screen_bars(
    comparison: Comparison, coder: Coder, dimensions: int, max_p: float, *, omit_missing: bool
) -> FloatArray:
    """Return the gain that every member of a tuple needs for p ≤ `max_p`, by degrees of freedom, in bits × samples."""
    outcome = comparison.outcome
    assert isinstance(outcome, NumberOutcome)
    z = outcome.scores
    n_strata = 1 if comparison.strata is None else comparison.strata.n_strata
    omitted = 0.0
    if omit_missing and coder.has_missing_level.any():
        # Engines count missing values as a level. Samples that a test leaves out have no larger squares than the
        # largest of as many samples.
        n_omitted = int(np.sort(coder.n_missing)[-dimensions:].sum())
        squares = np.sort((z - z.mean()) ** 2 / z.var())[::-1]
        omitted = float(squares[:n_omitted].sum())
    n_levels = np.maximum(coder.n_levels, 2)
    return number_bars(
        max_p,
        n_samples=len(z),
        max_df=min(most_df(n_levels, 2, n_strata, dimensions), 1),
        n_cells=most_cells(n_levels, n_strata, dimensions),
        lost_share=lost_share(z, search_scores(outcome).scores.astype(np.float64)),
        pseudocount=PSEUDOCOUNT,
        omitted_squares=omitted,
    )


@dataclass(frozen=True, eq=False)
class NumberSurvivors:
    """Keeps the tuples of a screen with p ≤ `max_p`: their test itself, of the scores and not of their integers.

    Attributes
    ----------
    tables : list of NumberTables
        Of each discretisation.
    max_p : float
    min_gain : (max_df + 1,) float64
        What engines ask of every member, see `Screen`.
    max_listed : int
        More tuples are refused.
    n_threads : int
    """

    tables: Sequence[NumberTables]
    max_p: float
    min_gain: FloatArray
    max_listed: int
    n_threads: int = 1

    @property
    def are_products(self) -> bool:
        """Whether products of dosages are tested."""
        return any(one.coding == "dosage" for one in self.tables)

    def sink(self) -> Screen:
        return Screen(self.min_gain)

    def kept(self, planes: BitPlanes, rows: TupleRows, d: int, *, has_stratum: bool) -> IntArray:
        """Return the tuples of an engine that are significant at `max_p`, members without the stratum."""
        found = rows.tuples.astype(np.int64)
        tuples = found[:, 1:] - 1 if has_stratum else found
        if self.max_p >= 1 or not len(tuples):
            return tuples
        bar = math.log(self.max_p) + _ROUNDING
        return tuples[self.tables[d].log_p(tuples, at_most=bar, n_threads=self.n_threads) <= bar]

    def check(self, n_kept: int) -> None:
        check_listed(n_kept, self.max_listed)
