"""Correlations between the relevant variables, with groups of redundant ones: Figure 1 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_numbers
from interplay.show.plots.style import axes_or_new, diverging_colours, say_instead, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With more variables, names would overlap and are left out.
_MAX_NAMED = 60


def order_by_likeness(correlation: FloatArray) -> IntArray:
    """Return an order that puts similar variables side by side, and keeps every group of `Selection.clusters` together.

    Single linkage joins variables along the same chains of correlations that define the groups.
    """
    n = len(correlation)
    if n < 3:
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1.0 - np.abs(correlation)
    distance = np.clip((distance + distance.T) / 2, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    return np.asarray(leaves_list(linkage(squareform(distance, checks=False), method="single")), dtype=np.int64)


def order_in_groups(correlation: FloatArray, names: Sequence[str], groups: Sequence[Sequence[str]]) -> IntArray:
    """Return an order that puts similar variables side by side, and the members of every group next to each other."""
    order = order_by_likeness(correlation).tolist()
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    by_group: dict[int, list[int]] = {}
    for v in order:
        # A variable without a group is one of its own; dicts keep the order in which groups are met.
        by_group.setdefault(group_of.get(names[v], -1 - v), []).append(v)
    return np.array([v for members in by_group.values() for v in members], dtype=np.int64)


def group_spans(order: Sequence[str], groups: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Return first place and length in `order` of each group of two or more."""
    place = {name: i for i, name in enumerate(order)}
    spans = []
    for group in groups:
        inside = [place[name] for name in group if name in place]
        if len(inside) > 1:
            spans.append((min(inside), len(inside)))
    return spans


def plot_correlation(
    correlation: FloatArray,
    names: Sequence[str],
    groups: Sequence[Sequence[str]] = (),
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw correlations as a heat map, like variables side by side, groups framed.

    Parameters
    ----------
    correlation : (n, n) float64
    names : list of str
        Of the n variables, all different.
    groups : list of list of str, optional
        Names to frame, as `Selection.redundant_groups` or `Selection.clusters` give them.
    """
    n = len(names)
    correlation = check_numbers("correlation", correlation, (n, n))
    size = min(max(3.2, 1.8 + 0.2 * n), 9.0)
    ax = axes_or_new(ax, size + 0.8, size)
    if n == 0:
        return say_instead(ax, "no relevant variables, or too many to correlate")
    from matplotlib.patches import Rectangle

    order = order_in_groups(correlation, names, groups)
    image = ax.imshow(correlation[np.ix_(order, order)], cmap=diverging_colours(), vmin=-1, vmax=1)
    for start, length in group_spans([names[v] for v in order], groups):
        ax.add_patch(
            Rectangle((start - 0.5, start - 0.5), length, length, fill=False, edgecolor="black", linewidth=1.3)
        )
    if n <= _MAX_NAMED:
        labels = [shortened(names[v]) for v in order]
        font = 9 if n <= 30 else 6
        ax.set_xticks(range(n), labels, rotation=90, fontsize=font)
        ax.set_yticks(range(n), labels, fontsize=font)
    else:
        ax.set_xticks([])
        ax.set_yticks([])
    ax.figure.colorbar(image, ax=ax, label="correlation", shrink=0.8)
    ax.set_title(title)
    return ax
