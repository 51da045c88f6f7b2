"""``Interactions.plot``: effects with their intervals, the network of interactions, the cells of a tuple."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import check_int
from interplay.plots.style import CONTRAST, IRRELEVANT, RELEVANT, axes_or_new, say_instead, shortened
from interplay.plots.synergies import name_nodes, spring_layout
from interplay.plots.why import plot_tuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from interplay.results.interactions import Interactions
    from interplay.statistics.interaction.tested_tuples import TestedTuples


class InteractionPlots:
    """The plots of one list of interactions; each takes and returns matplotlib Axes."""

    def __init__(self, result: Interactions) -> None:
        self._result = result

    def effects(self, ax: Axes | None = None, *, top: int = 20) -> Axes:
        """Draw the log odds ratios of the first tuples with their intervals; of a replication, those of both samples.

        Without log odds ratios (more levels or classes), the largest adjusted residuals are drawn.
        """
        result = self._result
        n = min(check_int("top", top, low=1), len(result))
        ax = axes_or_new(ax, 6.5, 1.2 + 0.32 * max(n, 3))
        if n == 0:
            return say_instead(ax, "no tuples are listed")
        has_odds = bool(np.isfinite(result.tested.log_or[:n]).any())
        place = -np.arange(n, dtype=np.float64)
        if result.first is not None:
            _draw_effects(ax, result.first, place + 0.15, n, CONTRAST, "where it was found")
        label = "in new samples" if result.first is not None else "significant"
        _draw_effects(ax, result.tested, place - (0.15 if result.first is not None else 0), n, RELEVANT, label)
        ax.axvline(0, color="0.5", linewidth=0.8)
        ax.set_yticks(place, [" × ".join(shortened(name, 16) for name in result.members_of(row)) for row in range(n)])
        residual = (
            "largest adjusted residual" if result.first is None else "adjusted residual, where it was largest first"
        )
        ax.set_xlabel("log odds ratio of the interaction, 95 % interval" if has_odds else residual)
        if result.first is not None:
            ax.legend(frameon=False, loc="best", fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def network(self, ax: Axes | None = None, *, max_tuples: int = 60) -> Axes:
        """Draw what interacts as a network: a line between every two members of a significant tuple."""
        result = self._result
        ax = axes_or_new(ax, 5.5, 5)
        rows = np.flatnonzero(result.is_significant)[: check_int("max_tuples", max_tuples, low=1)]
        if not len(rows):
            return say_instead(ax, "no tuple has a significant interaction")
        nodes, edges, weight = _network(result, rows)
        place = spring_layout(len(nodes), edges)
        for (a, b), share in zip(edges, weight / weight.max(), strict=True):
            ax.plot(*place[[a, b]].T, color="0.6", linewidth=0.6 + 4 * share, zorder=1, solid_capstyle="round")
        ax.scatter(place[:, 0], place[:, 1], s=60, facecolor=RELEVANT, edgecolor=RELEVANT, zorder=2)
        name_nodes(ax, [result.names[v] for v in nodes], place, fontsize=9)
        ax.set_title("interactions; thicker lines have larger G²", fontsize=10)
        return ax

    def why(self, row: int = 0, ax: Axes | None = None) -> Axes:
        """Draw the share of each class in each cell of the tuple in a row of the table."""
        result = self._result
        counts = result.counts_of(row)
        members = " × ".join(shortened(name) for name in result.members_of(row))
        tested = result.tested
        title = f"{members}\nG² = {tested.chi2[row]:.4g}, df {tested.df[row]}, adjusted p {tested.p_adjusted[row]:.2g}"
        return plot_tuple(
            counts.counts,
            [result.names[v] for v in counts.members.tolist()],
            counts.level_names,
            result.outcome.labels,
            title=title,
            ax=ax,
        )


def _draw_effects(ax: Axes, tested: TestedTuples, place: np.ndarray, n: int, colour: str, label: str) -> None:
    has_odds = np.isfinite(tested.log_or[:n])
    value = np.where(has_odds, tested.log_or[:n], tested.residual[:n])
    significant = np.nan_to_num(tested.p_adjusted[:n], nan=1.0) < 0.05
    error = np.stack([value - tested.ci_low[:n], tested.ci_high[:n] - value])
    ax.errorbar(
        value[has_odds], place[has_odds], xerr=error[:, has_odds], fmt="none", ecolor=colour, elinewidth=1, capsize=2
    )
    fill = [colour if is_one else "white" for is_one in significant]
    ax.scatter(
        value, place, s=26, c=fill, edgecolors=colour if significant.any() else IRRELEVANT, zorder=3, label=label
    )


def _network(result: Interactions, rows: IntArray) -> tuple[IntArray, IntArray, np.ndarray]:
    nodes = np.unique(result.tested.tuples[rows])
    weight: dict[tuple[int, int], float] = {}
    for row in rows.tolist():
        members = np.searchsorted(nodes, result.tested.tuples[row]).tolist()
        for pair in combinations(members, 2):
            weight[pair] = max(weight.get(pair, 0.0), float(result.tested.chi2[row]))
    edges = np.array(list(weight), dtype=np.int64).reshape(-1, 2)
    return nodes, edges, np.array(list(weight.values()))
