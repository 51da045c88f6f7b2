"""``Interactions.plot``: effects with their intervals, the network of interactions, the cells of a tuple."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import check_int
from interplay.show.plots.pairs import name_nodes, spring_layout
from interplay.show.plots.style import (
    CLASS_COLOURS,
    CONTRAST,
    IRRELEVANT,
    RELEVANT,
    axes_or_new,
    say_instead,
    shortened,
)
from interplay.show.plots.why import plot_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from interplay.infer.interaction.tuple_tests import TupleTests
    from interplay.infer.survival.survival_curves import SurvivalCurves
    from interplay.show.results.interactions import Interactions


class InteractionPlots:
    """The plots of one list of interactions; each takes and returns matplotlib Axes."""

    def __init__(self, result: Interactions) -> None:
        self._result = result

    def effects(self, ax: Axes | None = None, *, top: int = 20) -> Axes:
        """Draw the effects of the first tuples with their intervals; of a replication, those of both samples.

        Effects are log odds ratios, or differences of differences of an outcome of numbers. Without effects (more
        levels or classes), the largest residuals are drawn.
        """
        result = self._result
        n = min(check_int("top", top, low=1), len(result))
        ax = axes_or_new(ax, 6.5, 1.2 + 0.32 * max(n, 3))
        if n == 0:
            return say_instead(ax, "no tuples are listed")
        has_effect = bool(np.isfinite(result.tested.estimate[:n]).any())
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
        ax.set_xlabel(f"{result.effect_in_words}, 95 % interval" if has_effect else residual)
        if result.first is not None:
            ax.legend(frameon=False, loc="best", fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def network(self, ax: Axes | None = None, *, max_tuples: int = 60) -> Axes:
        """Draw what interacts as a network: a line between every two members of a significant tuple.

        Of tuples with correlated members, the leads are drawn (`Interactions.clumps`).
        """
        result = self._result
        ax = axes_or_new(ax, 5.5, 5)
        leads = result.is_significant if result.leads is None else result.leads
        rows = np.flatnonzero(leads)[: check_int("max_tuples", max_tuples, low=1)]
        if not len(rows):
            return say_instead(ax, "no tuple has a significant interaction")
        nodes, edges, weight = _network(result, rows)
        place = spring_layout(len(nodes), edges)
        for (a, b), share in zip(edges, weight / weight.max(), strict=True):
            ax.plot(*place[[a, b]].T, color="0.6", linewidth=0.6 + 4 * share, zorder=1, solid_capstyle="round")
        ax.scatter(place[:, 0], place[:, 1], s=60, facecolor=RELEVANT, edgecolor=RELEVANT, zorder=2)
        name_nodes(ax, [result.names[v] for v in nodes], place, fontsize=9)
        joined = int(result.is_significant.sum() - leads.sum())
        others = f"\n{joined} correlated tuples are not drawn" if joined else ""
        ax.set_title(f"interactions; thicker lines have larger {result.words.symbol}{others}", fontsize=10)
        return ax

    def why(self, row: int = 0, ax: Axes | None = None) -> Axes:
        """Draw the share of each class in each cell of the tuple in a row of the table, or a box of the numbers.

        Of times, draw Kaplan and Meier's curves of the cells, as `survival` does.
        """
        result = self._result
        if result.survival_curves:
            return self.survival(row, ax)
        counts, title = result.counts_of(row), self._title(row)
        return plot_cells(result, counts, range(len(counts.members)), result.outcome.labels, title=title, ax=ax)

    def survival(self, row: int = 0, ax: Axes | None = None) -> Axes:
        """Draw Kaplan and Meier's curves of the cells of the tuple in a row of the table; of times only."""
        result = self._result
        curves, names = result.curves_of(row), list(result.members_of(row))
        return plot_survival(curves, names, result.counts_of(row).level_names, title=self._title(row), ax=ax)

    def _title(self, row: int) -> str:
        """Return the members, the statistic and the p-value of a tuple."""
        result, tested = self._result, self._result.tested
        members = " × ".join(shortened(name) for name in result.members_of(row))
        statistic = f"{result.words.symbol} = {tested.statistic[row]:.4g}"
        return f"{members}\n{statistic}, df {tested.df[row]}, adjusted p {tested.p_adjusted[row]:.2g}"


def _draw_effects(ax: Axes, tested: TupleTests, place: np.ndarray, n: int, colour: str, label: str) -> None:
    has_effect = np.isfinite(tested.estimate[:n])
    value = np.where(has_effect, tested.estimate[:n], tested.residual[:n])
    significant = tested.is_significant(0.05)[:n]
    error = np.stack([value - tested.ci_low[:n], tested.ci_high[:n] - value])
    ax.errorbar(
        value[has_effect],
        place[has_effect],
        xerr=error[:, has_effect],
        fmt="none",
        ecolor=colour,
        elinewidth=1,
        capsize=2,
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
            weight[pair] = max(weight.get(pair, 0.0), float(result.tested.statistic[row]))
    edges = np.array(list(weight), dtype=np.int64).reshape(-1, 2)
    return nodes, edges, np.array(list(weight.values()))


#: Bands of more curves would cover each other.
_MOST_BANDS = 4


def plot_survival(
    curves: SurvivalCurves,
    names: Sequence[str],
    level_names: Sequence[Sequence[str]],
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of samples without the event over time, a line for each cell, with 95 % bands of up to four.

    `names`, `level_names`: of the members of the tuple, in its order.
    """
    ax = axes_or_new(ax, 5, 3.6)
    shape = tuple(len(levels) for levels in level_names)
    for i, cell in enumerate(curves.cell.tolist()):
        places = np.unravel_index(cell, shape)
        where = ", ".join(
            f"{shortened(name, 14)} {levels[int(place)]}"
            for name, levels, place in zip(names, level_names, places, strict=True)
        )
        steps = slice(int(curves.start[i]), int(curves.start[i + 1]))
        counted = f"{curves.n_events[i]} of {curves.n_samples[i]}"
        colour = CLASS_COLOURS[i % len(CLASS_COLOURS)]
        if len(curves.cell) <= _MOST_BANDS:
            ax.fill_between(
                curves.time[steps],
                curves.low[steps],
                curves.high[steps],
                step="post",
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
        ax.step(
            curves.time[steps],
            curves.survival[steps],
            where="post",
            color=colour,
            linestyle="-" if i < len(CLASS_COLOURS) else "--",
            label=f"{where}: {counted}",
        )
    ax.set(xlabel="time", ylabel="share without the event", ylim=(0, 1.02), title=title)
    ax.set_xlim(left=float(curves.time.min()))
    ax.legend(frameon=False, fontsize="small")
    return ax
