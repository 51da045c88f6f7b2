"""Tuples that are significant in new samples → the same test there beside smooth effects of cut numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.data.codes.cuts import NO_LEVEL
from interplay.data.models.linear import spline_columns
from interplay.data.study.study import Study
from interplay.infer.interaction.smooth_test import smooth_log_p, smooth_test
from interplay.infer.interaction.tuple_tests import TupleTests, corrected_p_values

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
        codes = np.array([cut.codes(one, d, omit_missing=omit) for cut, one in zip(cuts, columns, strict=True)])
        known = np.flatnonzero((codes != NO_LEVEL).all(axis=0))
        splines = [
            spline_columns(one.read().astype(np.float64)[known]) if cut.is_cut else None
            for cut, one in zip(cuts, columns, strict=True)
        ]
        dosages = None
        if first.settings.get("coding") == "dosage":
            dosages = [cut.dosages()[of] for cut, of in zip(cuts, codes[:, known], strict=True)]
        stratum = None if strata is None else strata.codes[known]
        beside: dict[str, Any] = {"known": known, "stratum": stratum, "dosages": dosages, "model": study.model}
        found.append(smooth_test(outcome, codes[:, known], splines, **beside))
    again = tested.chosen(np.array(rows))
    chi2, df = np.array([one[0] for one, _ in found]), np.array([one[1] for one, _ in found])
    log_p = tested.smooth_log_p.copy()
    log_p[rows] = smooth_log_p(corrected_p_values(again, chi2, df, 1), [other for _, other in found], level)
    return replace(tested, smooth_log_p=log_p).smooth_judged(adjust, level)
