"""How much two variables say the same, 0 if nothing, 1 if one follows from the other; groups of redundant variables.

Of two numbers it is the absolute rank correlation (Spearman's), of a number and labels the correlation ratio of the
ranks, of labels Cramér's V. Each is between 0 and 1 and does not depend on the scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.checks import check_real
from interplay.base.ranks import mid_ranks
from interplay.data.study.columns import ColumnKind
from interplay.data.study.table import Table


@dataclass
class Associations:
    """Variables of a table that are kept, to compare others with.

    Missing values count as the mean of ranks, or as a level of their own.
    """

    table: Table
    #: The kept variables, by whether they are numbers or labels.
    numbers: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    _ranks: list[FloatArray] = field(default_factory=list)
    _levels: list[IntArray] = field(default_factory=list)

    def keep(self, variable: int) -> None:
        """Compare all that follow with this variable too."""
        values = self._read(variable)
        if self._is_label(variable):
            self.labels.append(variable)
            self._levels.append(numbered(values))
        else:
            self.numbers.append(variable)
            self._ranks.append(_ranks(values))

    def strongest(self, variable: int) -> tuple[int, float]:
        """Return the kept variable with the strongest association, and its strength; −1 and 0 if none is kept."""
        values = self._read(variable)
        if self._is_label(variable):
            levels = numbered(values)
            with_numbers = np.array([_correlation_ratio(levels, ranks) for ranks in self._ranks])
            with_labels = np.array([_cramers_v(levels, other) for other in self._levels])
        else:
            ranks = _ranks(values)
            with_numbers = np.abs(np.stack(self._ranks) @ ranks) if self._ranks else np.empty(0)
            with_labels = np.array([_correlation_ratio(other, ranks) for other in self._levels])
        found = np.concatenate([with_numbers, with_labels])
        if not len(found):
            return -1, 0.0
        best = int(np.argmax(found))
        return [*self.numbers, *self.labels][best], float(min(found[best], 1.0))

    def _read(self, variable: int) -> npt.NDArray[Any]:
        return self.table.column(variable).read()

    def _is_label(self, variable: int) -> bool:
        return bool(self.table.kinds[variable] == ColumnKind.LABEL)


def clusters(correlation: FloatArray, names: Sequence[str], threshold: float) -> list[list[str]]:
    """Group variables by their correlations, (n, n); see `Selection.clusters`."""
    from scipy.sparse.csgraph import connected_components

    threshold = check_real("threshold", threshold, low=0.0, high=1.0)
    if len(correlation) != len(names):
        raise ValueError(
            f"clusters are not available: correlations of {len(names)} variables are not stored, because there are "
            "more than 3000 or parts were merged without X"
        )
    if not names:
        return []
    _, label = connected_components(np.abs(correlation) >= threshold - 0.005, directed=False)
    groups: dict[int, list[str]] = {}
    for name, group in zip(names, label.tolist(), strict=True):
        groups.setdefault(group, []).append(name)
    return list(groups.values())


def _ranks(values: npt.NDArray[Any]) -> FloatArray:
    """Return ranks around their mean, of length 1: products of two are correlations."""
    observed = values == values
    ranks = np.zeros(len(values))
    if observed.any():
        of_observed = mid_ranks(values[observed])
        ranks[observed] = of_observed - of_observed.mean()
    length = float(np.sqrt(ranks @ ranks))
    return ranks / length if length > 0 else ranks


def _correlation_ratio(levels: IntArray, ranks: FloatArray) -> float:
    """Return the square root of the share of the ranks' variance that is between levels."""
    sums, counts = np.bincount(levels, weights=ranks), np.bincount(levels)
    return float(np.sqrt((sums**2 / np.maximum(counts, 1)).sum()))


def _cramers_v(one: IntArray, other: IntArray) -> float:
    n_one, n_other = int(one.max()) + 1, int(other.max()) + 1
    if min(n_one, n_other) < 2:
        return 0.0
    counts = np.bincount(one * n_other + other, minlength=n_one * n_other).reshape(n_one, n_other)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(one)
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi2 / (len(one) * (min(n_one, n_other) - 1))))
