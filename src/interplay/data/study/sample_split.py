"""Samples → some to search in and some to test in, drawn within classes, or along numbers, and strata."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import check_int, check_real
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.outcome import Outcome
from interplay.data.study.outcomes.targets import Target


def split_samples(
    holdout: Any, outcome: Outcome, compared: Target, strata: Strata | None, *, seed: int
) -> tuple[IntArray, IntArray]:
    """Return the numbers of the samples to search in and of those held out, each ascending.

    - `holdout`: share, or number, of samples to hold out.
    - `compared`: the outcome as it is compared: of times, residuals.
    - `strata`: the share is the same in each class, or along the numbers, and in each stratum, but for rounding.

    Examples
    --------
    >>> from interplay.data.study.outcomes.classes import DecisionClasses
    >>> classes = DecisionClasses(np.repeat([0, 1], [80, 40]), ["a", "b"])
    >>> searched, held_out = split_samples(0.25, classes, classes, None, seed=0)
    >>> np.bincount(classes.codes[held_out]).tolist()
    [20, 10]
    """
    labels = compared.split_labels
    n_samples = len(labels)
    if isinstance(holdout, float | np.floating):
        share = check_real("holdout", float(holdout), low=0.0, high=1.0, low_open=True, high_open=True)
    else:
        share = check_int("holdout", holdout, low=1, high=n_samples - 1) / n_samples
    groups = labels if strata is None else strata.codes * (int(labels.max()) + 1) + labels
    rng = np.random.RandomState(seed % 2**32)
    order = rng.permutation(n_samples)
    order = order[np.argsort(groups[order], kind="stable")]
    # A sample is held out where its place times the share passes a whole number: the same share of each group.
    place = np.floor((np.arange(n_samples) + 1) * share) - np.floor(np.arange(n_samples) * share)
    held_out = np.sort(order[place > 0])
    searched = np.setdiff1d(np.arange(n_samples), held_out)
    for rows, what in ((searched, "search in"), (held_out, "test in")):
        outcome.check_part(holdout, rows, what)
    return searched, held_out
