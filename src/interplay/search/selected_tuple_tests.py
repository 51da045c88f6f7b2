"""The tuples that a selection shows → tests of their interactions, adjusted for all tuples of its search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import comb

import numpy as np

from interplay.arrays import IntArray
from interplay.results.tested_tuples import TestedTuples
from interplay.search.coders import Coders
from interplay.search.p_value_caps import PValueCaps, listed_method
from interplay.search.settings import SelectionSettings
from interplay.search.tuple_tests import make_tuple_tests
from interplay.statistics.interaction.listed_p_values import adjust_listed
from interplay.steps.comparisons import Comparison
from interplay.steps.interaction_tables import TupleTables

#: Tuples that are tested, those of the most significant variables first: a thousand take a fraction of a second.
MAX_TESTED = 3000

#: Tables of more numbers than this, cells times classes and strata, are not counted: few of their cells have samples.
_MAX_NUMBERS = 2**16


def n_tests_of(n_vars: int, dimensions: int, n_runs: int) -> int:
    """Return how many tests p-values are adjusted for: one for each tuple of each run."""
    return comb(n_vars, dimensions) * n_runs


def make_selected_tests(
    comparison: Comparison, settings: SelectionSettings, coders: Coders, tuples: IntArray, *, n_runs: int
) -> TestedTuples | None:
    """Test tuples in all discretisations of a run; p-values are not adjusted yet. None where tuples have one member.

    Parameters
    ----------
    tuples : (n, k) int64
        Those of the most significant variables first; the same may be there more than once, and ones that are not all
        there (−1).
    """
    if settings.dimensions < 2:
        return None
    n_vars = comparison.table.n_vars
    known = tuples[(tuples >= 0).all(axis=1)]
    _, first = np.unique(known, axis=0, return_index=True)
    chosen = known[np.sort(first)[:MAX_TESTED]]
    if len(chosen) == 0:
        return TestedTuples.none(settings.dimensions)
    variables = np.unique(chosen)
    coder = coders.of(comparison.table, variables)
    n_numbers = np.maximum(coder.n_levels, 2)[chosen].astype(float).prod(axis=1) * comparison.classes.n_classes
    n_numbers *= 1 if comparison.strata is None else comparison.strata.n_strata
    chosen = chosen[n_numbers <= _MAX_NUMBERS]
    tables = [
        TupleTables(coder, comparison.classes, strata=comparison.strata, discretization=d, variables=variables)
        for d in range(settings.discretizations)
    ]
    caps = PValueCaps(
        listed_method(settings.p_adjust), settings.level, n_tests_of(n_vars, settings.dimensions, n_runs), None, None
    )
    return make_tuple_tests(
        tables,
        [chosen] * settings.discretizations,
        max_p=1.0,
        bootstrap_below=caps.significant_up_to(),
        seed=settings.random_state,
        has_strata=comparison.strata is not None,
    )


def adjusted_tests(
    tested: Sequence[TestedTuples | None], settings: SelectionSettings, n_vars: int
) -> list[TestedTuples | None]:
    """Adjust the p-values of all runs together."""
    some = [one for one in tested if one is not None]
    if not some:
        return list(tested)
    adjust = partial(
        adjust_listed,
        method=listed_method(settings.p_adjust),
        n_tests=n_tests_of(n_vars, settings.dimensions, len(tested)),
    )
    ends = np.cumsum([len(one) for one in some])
    of_each = iter(np.split(adjust(np.concatenate([one.p_value for one in some])), ends[:-1]))
    return [None if one is None else replace(one, p_adjusted=next(of_each)) for one in tested]
