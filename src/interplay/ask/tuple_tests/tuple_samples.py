"""A tuple → levels of its members, sample by sample, for second tests by models of samples."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import IntArray
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.cuts import variable_cuts
from interplay.infer.interaction.beside_test import TupleSamples


def tuple_samples(
    coded: CodedComparison, members: IntArray, d: int, *, omit_missing: bool, coding: str = "levels"
) -> TupleSamples:
    """Return the samples of a tuple in a discretisation; with `omit_missing`, without missing values of a member."""
    coder, comparison = coded.coder, coded.comparison
    levels = coder.codes_of(d, members).codes.astype(np.int64)
    has_gaps = coded.has_missing_level & omit_missing
    gaps = [(levels[i] == coder.n_levels[v] - 1) & has_gaps[v] for i, v in enumerate(members.tolist())]
    known = np.flatnonzero(~np.any(gaps, axis=0))
    levels = levels[:, known]
    dosages = None
    if coding == "dosage" and comparison.outcome.are_ordered:
        dosages = [variable_cuts(coder, v).dosages()[of] for v, of in zip(members.tolist(), levels, strict=True)]
    strata = comparison.strata
    return TupleSamples(known, levels, None if strata is None else strata.codes[known], dosages)
