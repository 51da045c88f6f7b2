"""A study and a share → samples to search in and samples held out, in which relevant variables are tested."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import check_int, check_real, shown
from interplay.data.study.study import Study
from interplay.data.study.subsets import split_samples
from interplay.show.results.replication import replicate_in
from interplay.show.results.selection import Selection
from interplay.show.results.variable_replication import replicate_in_study


def split_study(study: Study, holdout: Any, *, seed: int) -> tuple[IntArray, IntArray]:
    """Return the samples to search in and those held out; whole groups stay together."""
    if study.groups is None:
        return split_samples(holdout, study.outcome, study.compared, study.strata, seed=seed)
    n_samples, n_groups = study.n_samples, study.groups.n_groups
    if isinstance(holdout, float | np.floating):
        share = check_real("holdout", float(holdout), low=0.0, high=1.0, low_open=True, high_open=True)
    else:
        share = check_int("holdout", holdout, low=1, high=n_samples - 1) / n_samples
    order = np.random.RandomState(seed % 2**32).permutation(n_groups)
    n_held = round(share * n_groups)
    if not 1 < n_held < n_groups - 1:
        raise ValueError(f"holdout={shown(holdout)} leaves too few of {n_groups} groups on one side: use another share")
    is_held = np.isin(study.groups.codes, order[:n_held])
    searched, held_out = np.flatnonzero(~is_held), np.flatnonzero(is_held)
    study.outcome.check_part(holdout, searched, "search in")
    study.outcome.check_part(holdout, held_out, "test in")
    return searched, held_out


def with_holdout(found: Selection, held_out: Study) -> Selection:
    """Test the relevant variables in the samples that were held out."""
    tuples = None
    if held_out.groups is None and found.has_tested_tuples and len(found.comparisons) == 1:
        tuples = replicate_in(found.interactions().only_significant(), held_out)
    return replace(found, replication=replicate_in_study(found, held_out, tuples=tuples))
