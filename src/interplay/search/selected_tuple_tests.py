"""The tuples that a selection shows → tests of their interactions, adjusted for all tuples of its search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb

import numpy as np

from interplay.arrays import IntArray
from interplay.results.selection import Run
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


def n_tests_of(n_vars: int, dimensions: int, n_families: int) -> int:
    """Return how many tests p-values are adjusted for: one for each tuple of a size, of each family.

    Families are the comparisons of classes, times the sizes of tuples that were searched: each size gets an equal share
    of the error rate (Bonferroni), so that pairs do not pay for the number of triples.
    """
    return comb(n_vars, dimensions) * n_families


def make_selected_tests(
    comparison: Comparison, settings: SelectionSettings, coders: Coders, tuples: IntArray, *, n_families: int
) -> TestedTuples:
    """Test tuples of two and more members in all discretisations of a run; p-values are not adjusted yet.

    Parameters
    ----------
    tuples : (n, k) int64
        Those of the most significant variables first; the same may be there more than once, and ones that are not all
        there (−1).
    """
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
        listed_method(settings.p_adjust),
        settings.level,
        n_tests_of(n_vars, settings.dimensions, n_families),
        None,
        None,
    )
    return make_tuple_tests(
        tables,
        [chosen] * settings.discretizations,
        max_p=1.0,
        bootstrap_below=caps.significant_up_to(),
        seed=settings.random_state,
        has_strata=comparison.strata is not None,
    )


def adjusted_tests(runs: Sequence[Run], settings: SelectionSettings, n_vars: int, *, n_sizes: int) -> list[Run]:
    """Adjust the p-values of all runs of a size of tuples together, with an equal share of the error for each size."""
    adjusted = list(runs)
    for size in {run.dimensions for run in runs}:
        chosen = [(number, run.tested) for number, run in enumerate(runs) if run.dimensions == size]
        some = [(number, tested) for number, tested in chosen if tested is not None]
        if not some:
            continue
        p_adjusted = adjust_listed(
            np.concatenate([tested.p_value for _, tested in some]),
            listed_method(settings.p_adjust),
            n_tests=n_tests_of(n_vars, size, len(chosen) * n_sizes),
        )
        ends = np.cumsum([len(tested) for _, tested in some])
        for (number, tested), of_run in zip(some, np.split(p_adjusted, ends[:-1]), strict=True):
            adjusted[number] = replace(runs[number], tested=replace(tested, p_adjusted=of_run))
    return adjusted
