"""One listed tuple and new samples with numbers as their outcome → its test there, and the outcome in its cells."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import IntArray, in_unit
from interplay.data.codes.cuts import NO_LEVEL
from interplay.data.codes.tuple_counts import MAX_NUMBERS, TupleCounts, counts_in_cells
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.targets import ScoreTarget
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.number_interaction.cell_moments import ScoredNumbers, cell_moments, scored_numbers
from interplay.infer.number_interaction.effect import (
    LargestResidual,
    effect_in_cell,
    none_of,
    standardised_residuals,
)
from interplay.infer.number_interaction.number_tests import number_tests

if TYPE_CHECKING:
    from interplay.show.results.interactions import Interactions


def replicated_numbers(
    first: Interactions,
    row: int,
    codes: list[IntArray],
    levels: list[int],
    level_names: list[list[str]],
    outcome: ScoreTarget,
    strata: Strata | None,
) -> tuple[TupleTests, TupleCounts | None]:
    """Test the tuple in a row of `first`; `codes` are the levels of its members, `NO_LEVEL` where there is none.

    Ranks are those among all new samples, also where some have no level of a member and are left out of the test.
    """
    members, d = first.tested.tuples[row], int(first.tested.discretization[row])
    known = np.all([code != NO_LEVEL for code in codes], axis=0)
    # A column with one value has two levels in tests, one of them empty.
    shape = tuple(max(n, 2) for n in levels)
    n_strata = 1 if strata is None else strata.n_strata
    n_cells = n_strata * prod(shape)
    cells = np.full((1, len(known)), n_cells, dtype=np.int64)
    columns = [code[known] for code in codes]
    within = np.zeros(int(known.sum()), dtype=np.int64) if strata is None else strata.codes[known]
    cells[0, known] = np.ravel_multi_index([within, *columns], (n_strata, *shape))
    dosages = None
    if first.settings.get("coding") == "dosage":
        dosages = np.zeros((1, len(levels), max(shape)))
        for place, v in enumerate(members.tolist()):
            of_levels = first.cuts_of(v).dosages()[: max(shape)]
            dosages[0, place, : len(of_levels)] = of_levels
    numbers = scored_numbers(outcome, strata)
    tested = number_tests(cells, numbers, members[np.newaxis], shape, n_strata=n_strata, dosages=dosages)
    tested = tested.of_discretization(np.array([d]))
    if not np.isnan(first.tested.residual[row]):
        tested = _at_first_cell(first, row, tested, cells, numbers, shape, strata)
    small = 6 * prod(len(names) for names in level_names) <= MAX_NUMBERS
    return tested, counts_in_cells(columns, outcome.values[known], level_names, members, d) if small else None


def _at_first_cell(
    first: Interactions,
    row: int,
    tested: TupleTests,
    cells: IntArray,
    numbers: ScoredNumbers,
    shape: tuple[int, ...],
    strata: Strata | None,
) -> TupleTests:
    """Put in the new residual of the cell whose residual was the largest in the first samples."""
    found, labels = first.tested, list(first.provenance["strata"])
    label = labels[found.residual_stratum[row]] if labels else None
    stratum = 0 if strata is None else strata.labels.index(label) if label in strata.labels else None
    value, effect = np.nan, none_of(1)
    if stratum is not None:
        n_strata = 1 if strata is None else strata.n_strata
        residuals = standardised_residuals(
            cell_moments(cells, numbers.scores, shape, n_strata=n_strata), fewest=numbers.fewest
        )
        value = residuals[(0, stratum, *found.residual_cell[row].tolist())]
        place = LargestResidual(np.array([value]), np.array([stratum]), found.residual_cell[row : row + 1])
        values, unit = in_unit(numbers.values)
        in_units = cell_moments(cells, values, shape, n_strata=n_strata)
        effect = effect_in_cell(in_units, place, fewest=numbers.fewest).times(unit)
    return replace(
        tested,
        cell_effect=effect.estimate,
        cell_low=effect.low,
        cell_high=effect.high,
        residual=np.array([value]),
        residual_cell=found.residual_cell[row : row + 1],
        residual_stratum=np.array([stratum or 0]),
    )
