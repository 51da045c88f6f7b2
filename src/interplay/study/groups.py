"""Groups: samples that belong together (cells of a donor, members of a family), which are not independent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.study.labelled_samples import numbered_labels


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each sample is in.

    Attributes
    ----------
    codes : (n_samples,) int64
        Group of each sample, 0 … n_groups − 1; none is empty.
    """

    codes: IntArray

    @property
    def n_groups(self) -> int:
        return int(self.codes.max()) + 1

    @property
    def sizes(self) -> IntArray:
        """Samples in each group, (n_groups,)."""
        return np.bincount(self.codes).astype(np.int64)

    def of_samples(self, rows: IntArray) -> Groups:
        """Return the groups of some samples, without those that have none of them."""
        return Groups(np.unique(self.codes[rows], return_inverse=True)[1].reshape(-1).astype(np.int64))


def make_groups(groups: Any, *, n_samples: int) -> Groups | None:
    """Return the groups that a column of labels, or the combinations of several columns, make.

    Parameters
    ----------
    groups : (n_samples,) array-like, table-like, Column, or None
        Labels or numbers of any kind; each different value is a group. Of a table, each combination of values is.
    n_samples : int
        Samples of X, which `groups` must match.

    Examples
    --------
    >>> make_groups(["donor 2", "donor 1", "donor 2"], n_samples=3).codes
    array([1, 0, 1])
    """
    if groups is None or isinstance(groups, Groups):
        return groups
    codes, labels = numbered_labels(groups, "groups", n_samples=n_samples, one="group")
    if len(labels) < 2:
        raise ValueError(f"groups has one group only, {labels[0]!r}: at least two groups are needed")
    return Groups(codes)
