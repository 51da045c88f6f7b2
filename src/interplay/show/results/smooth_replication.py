"""Tuples that are significant in new samples → the same test there beside smooth effects of cut numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.data.models.linear import spline_columns
from interplay.data.study.study import Study
from interplay.infer.interaction.smooth_test import smooth_log_p, smooth_test
from interplay.infer.interaction.tuple_tests import TupleTests, corrected_p_values
from interplay.show.results.cut_samples import cut_samples

if TYPE_CHECKING:
    from interplay.show.results.interactions import Interactions


def replicated_beside_smooth(
    first: Interactions,
    tested: TupleTests,
    study: Study,
    number_of: dict[str, int],
    adjust: Callable[[FloatArray], FloatArray],
) -> TupleTests:
    """Fill in the p-values beside smooth effects; `tested` are the tuples of `first` in the samples of `study`."""
    table, outcome, strata = study.table, study.compared, study.strata
    level, omit = first.settings["level"], first.omits_missing
    rows = [
        row
        for row in np.flatnonzero(tested.is_significant(level) & ~tested.are_products).tolist()
        if any(first.cuts_of(v).is_cut for v in tested.tuples[row].tolist())
    ]
    if not rows:
        return tested.smooth_judged(adjust, level)
    found = []
    for row in rows:
        cuts = [first.cuts_of(v) for v in tested.tuples[row].tolist()]
        columns = [table.column(number_of[first.names[cut.variable]]) for cut in cuts]
        d = int(tested.discretization[row])
        codes = [cut.codes(one, d, omit_missing=omit) for cut, one in zip(cuts, columns, strict=True)]
        samples = cut_samples(cuts, codes, strata, has_dosages=first.asked.coding == "dosage")
        splines = [
            spline_columns(one.read().astype(np.float64)[samples.known]) if cut.is_cut else None
            for cut, one in zip(cuts, columns, strict=True)
        ]
        found.append(smooth_test(outcome, samples, splines, model=study.model))
    again = tested.chosen(np.array(rows))
    chi2, df = np.array([one[0] for one, _ in found]), np.array([one[1] for one, _ in found])
    log_p = tested.smooth_log_p.copy()
    log_p[rows] = smooth_log_p(corrected_p_values(again, chi2, df, 1), [other for _, other in found], level)
    return replace(tested, smooth_log_p=log_p).smooth_judged(adjust, level)
