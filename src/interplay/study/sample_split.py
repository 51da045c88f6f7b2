"""Samples → some to search in and some to test in, drawn within classes, or along numbers, and strata."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import check_int, check_real, shown
from interplay.study.outcomes.classes import MIN_CLASS_SIZE
from interplay.study.outcomes.targets import ScoreTarget, Target
from interplay.study.outcomes.times import MIN_EVENTS, Survival
from interplay.study.strata import Strata


def split_samples(
    holdout: Any, outcome: Target, strata: Strata | None, survival: Survival | None = None, *, seed: int
) -> tuple[IntArray, IntArray]:
    """Return the numbers of the samples to search in and of those held out, each ascending.

    Parameters
    ----------
    holdout : float or int
        Share, or number, of samples to hold out.
    outcome : ClassTarget or ScoreTarget
    strata : Strata, optional
        The share is the same in each class, or along the numbers, and in each stratum, but for rounding.
    survival : Survival, optional
        The times that `outcome` is made of: both parts must have events.

    Examples
    --------
    >>> from interplay.study.outcomes.classes import DecisionClasses
    >>> classes = DecisionClasses(np.repeat([0, 1], [80, 40]), ["a", "b"])
    >>> searched, held_out = split_samples(0.25, classes, None, seed=0)
    >>> np.bincount(classes.codes[held_out]).tolist()
    [20, 10]
    """
    # Tenths of the numbers, so that both parts have the same share of low and high ones.
    labels = _tenths(outcome) if isinstance(outcome, ScoreTarget) else outcome.codes
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
        if survival is not None:
            check_events(holdout, survival, rows, what)
        elif isinstance(outcome, ScoreTarget):
            if len(np.unique(outcome.values[rows])) < 2:
                raise ValueError(f"holdout={shown(holdout)} leaves one value of y to {what}: use another share")
        else:
            sizes = np.bincount(outcome.codes[rows], minlength=outcome.n_classes)
            if sizes.min() < MIN_CLASS_SIZE:
                label = shown(outcome.labels[int(sizes.argmin())])
                raise ValueError(
                    f"holdout={shown(holdout)} leaves fewer than {MIN_CLASS_SIZE} samples of class {label} to {what}: "
                    "use another share"
                )
    return searched, held_out


def check_events(holdout: Any, survival: Survival, rows: IntArray, what: str) -> None:
    """Refuse a part of the samples, to search in or to test in, that has too few events."""
    if (n_events := int(survival.event[rows].sum())) < MIN_EVENTS:
        raise ValueError(
            f"holdout={shown(holdout)} leaves {n_events} events to {what}, and at least {MIN_EVENTS} are needed: use "
            "another share"
        )


def _tenths(outcome: ScoreTarget) -> IntArray:
    """Return the tenth of the samples that each one's number is in, 0 … 9; equal numbers are in one tenth."""
    lower = np.searchsorted(np.sort(outcome.values), outcome.values)
    return np.asarray(lower * 10 // len(outcome.values), dtype=np.int64)
