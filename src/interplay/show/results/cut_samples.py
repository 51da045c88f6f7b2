"""Codes of a tuple's members, as the members were cut → the samples that have a level of each, for second tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.base.arrays import IntArray
from interplay.data.codes.cuts import NO_LEVEL, VariableCuts
from interplay.data.study.design import Strata
from interplay.infer.interaction.beside_test import TupleSamples


def cut_samples(
    cuts: Sequence[VariableCuts], codes: Sequence[IntArray], strata: Strata | None, *, has_dosages: bool = False
) -> TupleSamples:
    """Return the samples with a level of every member.

    - `cuts`: of each member.
    - `codes`, sequence of (n_samples,): levels of each member, `NO_LEVEL` where there is none.
    - `has_dosages`: whether levels are dosages, the product of which is tested.
    """
    known = np.flatnonzero(np.all([code != NO_LEVEL for code in codes], axis=0))
    levels = np.array(codes)[:, known]
    dosages = [cut.dosages()[of] for cut, of in zip(cuts, levels, strict=True)] if has_dosages else None
    return TupleSamples(known, levels, None if strata is None else strata.codes[known], dosages)
