"""Correlations of relevant variables → groups of those that are redundant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.base.checks import check_real

if TYPE_CHECKING:
    from interplay.results.selection import Selection


def clusters(selection: Selection, threshold: float) -> list[list[str]]:
    """See `Selection.clusters`."""
    from scipy.sparse.csgraph import connected_components

    threshold = check_real("threshold", threshold, low=0.0, high=1.0)
    correlation, n_relevant = selection.correlation, len(selection.ranked)
    if len(correlation) != n_relevant:
        raise ValueError(
            f"clusters are not available: correlations of {n_relevant} variables are not stored, because there are "
            "more than 3000 or parts were merged without X"
        )
    if n_relevant == 0:
        return []
    _, label = connected_components(np.abs(correlation) >= threshold - 0.005, directed=False)
    groups: dict[int, list[str]] = {}
    for name, group in zip(selection.relevant, label.tolist(), strict=True):
        groups.setdefault(group, []).append(name)
    return list(groups.values())
