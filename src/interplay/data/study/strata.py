"""Strata: groups of samples (batch, sex, population) within which the decision is to be explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.base.arrays import MAX_LEVELS, DiscreteCodes, IntArray
from interplay.data.study.groups import numbered_labels


@dataclass(frozen=True)
class Strata:
    """Which stratum each sample is in.

    Attributes
    ----------
    codes : (n_samples,) int64
        Stratum of each sample, 0 … n_strata − 1; none is empty.
    labels : list of str
        The user's names of the strata.
    """

    codes: IntArray
    labels: list[str]

    @property
    def n_strata(self) -> int:
        return len(self.labels)

    @property
    def sizes(self) -> IntArray:
        """Samples in each stratum, (n_strata,)."""
        return np.bincount(self.codes, minlength=self.n_strata).astype(np.int64)

    def as_codes(self) -> DiscreteCodes:
        """Return the strata as one variable: the member that every tuple has."""
        return DiscreteCodes(self.codes.astype(np.uint8)[np.newaxis], np.array([self.n_strata]))

    def of_samples(self, rows: IntArray) -> Strata | None:
        """Return the strata of some samples; empty ones are dropped, and None stands for a single one."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return _unless_one(Strata(codes.astype(np.int64), [self.labels[stratum] for stratum in used]))


def make_strata(strata: Any, *, n_samples: int, place: Callable[[int], str] = str) -> Strata | None:
    """Return the strata that the labels of `numbered_labels` make; None if there is one.

    Examples
    --------
    >>> make_strata(["b", "a", "b"], n_samples=3)
    Strata(codes=array([1, 0, 1]), labels=['a', 'b'])
    >>> make_strata([[1, "x"], [1, "y"], [2, "x"]], n_samples=3).labels
    ['1, x', '1, y', '2, x']
    """
    if strata is None or isinstance(strata, Strata):
        return strata
    codes, labels = numbered_labels(strata, "strata", n_samples=n_samples, one="stratum", place=place)
    if len(labels) > MAX_LEVELS:
        raise ValueError(
            f"strata has {len(labels)} different values, more than {MAX_LEVELS}: cut numbers into a few ranges "
            "(for example with pandas.qcut), or merge small strata"
        )
    return _unless_one(Strata(codes, labels))


def _unless_one(strata: Strata) -> Strata | None:
    """Return None for a single stratum: an empty second level would only weaken the gains."""
    return None if strata.n_strata < 2 else strata
