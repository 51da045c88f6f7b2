"""Why a tuple matters for a number outcome: its distribution, as a box, in each cell of the tuple."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.codes.tuple_counts import TupleCounts
from interplay.show.plots.style import diverging_colours, shortened
from interplay.show.plots.why import MAX_WRITTEN_CELLS, Cell, Panels, axes_for, lay_out, plot_tuple, write_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from interplay.show.results.result import Result

#: Part of the height of a cell that the range of the numbers takes, and where it begins.
_RANGE, _FOOT = 0.72, 0.2


def plot_cells(
    result: Result, counts: TupleCounts, order: Sequence[int], labels: Sequence[str], *, title: str, ax: Axes | None
) -> Axes:
    """Draw the cells of a tuple of a result, its members in this order: shares of classes, or boxes of numbers."""
    names, levels = [result.names[counts.members[i]] for i in order], [counts.level_names[i] for i in order]
    table = counts.counts.transpose(*order, len(order))
    if counts.numbers is None:
        return plot_tuple(table, names, levels, labels, title=title, ax=ax)
    numbers, label = counts.numbers.transpose(*order, len(order)), result.record.target or "outcome"
    return plot_number_tuple(table, numbers, names, levels, label=label, title=title, ax=ax)


def plot_number_tuple(
    counts: IntArray,
    numbers: FloatArray,
    names: Sequence[str],
    level_names: Sequence[Sequence[str]],
    *,
    label: str = "outcome",
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a box of the outcome in each cell of a tuple: whiskers, quartiles, median.

    All boxes have the scale at the right. The colour says how far the mean of a cell lies above or below that of all
    samples; the dotted line is the mean of all.

    Parameters
    ----------
    counts : (n_levels of member 0, …, 1) int64
    numbers : (n_levels of member 0, …, 6) float64
        As `TupleCounts` has them.
    names, level_names
        As in `plot_tuple`.
    label : str
        Name of the outcome.
    """
    panels = lay_out(np.concatenate([counts, numbers], axis=-1), names, level_names)
    ax = axes_for(panels, ax)
    sizes = counts[..., 0]
    overall = float(np.nansum(sizes * numbers[..., 5]) / max(int(sizes.sum()), 1))
    low, high = float(np.nanmin(numbers[..., 0])), float(np.nanmax(numbers[..., 4]))
    if not high > low:
        low, high = low - 0.5, high + 0.5
    furthest = max(float(np.nanmax(np.abs(numbers[..., 5] - overall))), 1e-300)
    _draw_boxes(ax, panels, overall, (low, high), furthest)
    _draw_scale(ax, panels, overall, furthest, label)
    write_levels(ax, panels, names, level_names, title=title)
    return ax


def _draw_boxes(ax: Axes, panels: Panels, overall: float, ends: tuple[float, float], furthest: float) -> None:
    from matplotlib.patches import Rectangle

    colours = diverging_colours()
    written = len(panels.cells) <= MAX_WRITTEN_CELLS

    def height(cell: Cell, value: float) -> float:
        return cell.y + _FOOT + _RANGE * (value - ends[0]) / (ends[1] - ends[0])

    for cell in panels.cells:
        n = int(cell.counts[0])
        face = colours(0.5 + 0.5 * (cell.counts[6] - overall) / furthest) if n else "white"
        ax.add_patch(
            Rectangle((cell.x, cell.y), 1, 1, facecolor=face, hatch="" if n else "///", edgecolor="0.4", linewidth=0.6)
        )
        if not n:
            continue
        bottom, low, median, high, top = (height(cell, float(value)) for value in cell.counts[1:6])
        middle = cell.x + 0.34
        ax.plot([cell.x, cell.x + 1], [height(cell, overall)] * 2, color="0.45", linewidth=0.6, linestyle=":")
        ax.plot([middle, middle], [bottom, low], color="0.2", linewidth=0.9)
        ax.plot([middle, middle], [high, top], color="0.2", linewidth=0.9)
        ax.add_patch(
            Rectangle((cell.x + 0.14, low), 0.4, high - low, facecolor="white", edgecolor="0.2", linewidth=0.9)
        )
        ax.plot([cell.x + 0.14, cell.x + 0.54], [median, median], color="0.1", linewidth=1.6)
        if written:
            ax.text(cell.x + 0.5, cell.y + 0.03, f"n = {n}", ha="center", va="bottom", fontsize=7)
            ax.text(cell.x + 0.58, median, f"{cell.counts[3]:.3g}", ha="left", va="center", fontsize=7)


def _draw_scale(ax: Axes, panels: Panels, overall: float, furthest: float, label: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(overall - furthest, overall + furthest), cmap=diverging_colours())
    bar = ax.figure.colorbar(scale, ax=ax, shrink=0.85, ticks=[overall - furthest, overall, overall + furthest])
    bar.ax.set_yticklabels([f"{overall - furthest:.3g}", f"{overall:.3g} (all)", f"{overall + furthest:.3g}"])
    bar.set_label(f"mean of {shortened(label)}")
