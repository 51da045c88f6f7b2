"""Why a tuple matters: the share of each class in each of its cells, so that an XOR can be seen.

`why_numbers` draws the cells of a number outcome.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.codes.tuple_counts import TupleCounts
from interplay.show.plots.style import are_ordered, axes_or_new, class_colours, diverging_colours, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from interplay.show.results.result import Result


#: Room between the panels of a tuple of three and more, in cells.
_GAP = 0.5
MAX_WRITTEN_CELLS = 128


class Cell(NamedTuple):
    """One cell: where it is drawn, and its samples by class, or whatever else the last axis of a table has."""

    x: float
    y: float
    counts: npt.NDArray[Any]


class Panels(NamedTuple):
    """A table of any dimension laid out flat: two members span a panel, the others number the panels."""

    cells: list[Cell]
    #: list of (x, y, text): of the panels, at their upper edge.
    headings: list[tuple[float, float, str]]
    #: `width`, `height`: in cells.
    width: float
    height: float


def lay_out(counts: npt.NDArray[Any], names: Sequence[str], level_names: Sequence[Sequence[str]]) -> Panels:
    """Lay out the cells of a tuple; member 0 runs to the right, member 1 upwards, the others from panel to panel."""
    counts = counts if counts.ndim > 2 else counts[:, np.newaxis, :]  # one variable: a single row
    n_x, n_y, *others, _ = counts.shape
    # Levels of the third and fifth member are panels side by side, levels of the fourth are rows of panels.
    n_across = math.prod(size for i, size in enumerate(others) if i != 1)
    n_down = math.prod(others[1:2])
    cells, headings = [], []
    for index in np.ndindex(*others):
        down = index[1] if len(index) > 1 else 0
        across = 0
        for i, place in enumerate(index):
            if i != 1:
                across = across * others[i] + place
        left, bottom = across * (n_x + _GAP), (n_down - 1 - down) * (n_y + 2 * _GAP)
        if index:
            text = ", ".join(
                f"{shortened(name, 14)} {levels[place]}"
                for name, levels, place in zip(names[2:], level_names[2:], index, strict=True)
            )
            headings.append((left + n_x / 2, bottom + n_y, text))
        cells += [Cell(left + i, bottom + j, counts[(i, j, *index)]) for i in range(n_x) for j in range(n_y)]
    return Panels(cells, headings, n_across * (n_x + _GAP) - _GAP, n_down * (n_y + 2 * _GAP) - 2 * _GAP)


def plot_tuple(
    counts: IntArray,
    names: Sequence[str],
    level_names: Sequence[Sequence[str]],
    class_labels: Sequence[str],
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of each class in each cell of a tuple.

    With two classes, the colour says how far the share of the second lies above or below its share in all samples.
    With more, each cell is divided between the classes.

    - `counts` (n_levels of member 0, …, n_classes).
    - `names`: of the members: the first runs to the right, the second upwards, the others from panel to panel.
    """
    panels = lay_out(counts, names, level_names)
    ax = axes_for(panels, ax)
    overall = counts.reshape(-1, counts.shape[-1]).sum(axis=0) / max(counts.sum(), 1)
    if len(class_labels) == 2:
        _fill_by_share(ax, panels, overall, class_labels[1])
    else:
        _fill_by_class(ax, panels, class_labels)
    write_levels(ax, panels, names, level_names, title=title)
    return ax


def axes_for(panels: Panels, ax: Axes | None) -> Axes:
    """Return `ax`, or new Axes of a size that suits the cells."""
    return axes_or_new(ax, min(max(1.6 + 1.15 * panels.width, 4.6), 14.0), min(1.5 + 0.95 * panels.height, 11.0))


def write_levels(
    ax: Axes, panels: Panels, names: Sequence[str], level_names: Sequence[Sequence[str]], *, title: str
) -> None:
    """Write names of members and levels beside the cells, headings of panels, and the title."""
    for x, y, text in panels.headings:
        ax.text(x, y + 0.08, text, ha="center", va="bottom", fontsize=9)
    n_x, n_y = len(level_names[0]), len(level_names[1]) if len(names) > 1 else 1
    ax.set_xticks(np.arange(n_x) + 0.5, [shortened(level, 14) for level in level_names[0]])
    ax.set_xlabel(shortened(names[0], 40), loc="left" if panels.headings else "center")
    if len(names) > 1:
        ax.set_yticks(np.arange(n_y) + 0.5, [shortened(level, 14) for level in level_names[1]])
        ax.set_ylabel(shortened(names[1], 40), loc="bottom" if len(names) > 3 else "center")
    else:
        ax.set_yticks([])
    ax.set(xlim=(0, panels.width), ylim=(0, panels.height + (0.35 if panels.headings else 0)), aspect="equal")
    ax.set_title(title, fontsize=10)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def share_around(share: float, overall: float) -> float:
    """Place a share on a scale from 0 to 1 that has the overall share in the middle."""
    if share >= overall:
        return 0.5 + 0.5 * (share - overall) / max(1 - overall, 1e-12)
    return 0.5 * share / max(overall, 1e-12)


def _fill_by_share(ax: Axes, panels: Panels, overall: FloatArray, label: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import FuncNorm
    from matplotlib.patches import Rectangle

    colours = diverging_colours()
    middle = float(overall[1])
    for cell in panels.cells:
        n = int(cell.counts.sum())
        face = colours(share_around(cell.counts[1] / n, middle)) if n else "white"
        ax.add_patch(
            Rectangle((cell.x, cell.y), 1, 1, facecolor=face, hatch="" if n else "///", edgecolor="0.4", linewidth=0.6)
        )
        if len(panels.cells) <= MAX_WRITTEN_CELLS and n:
            ax.text(cell.x + 0.5, cell.y + 0.52, f"{cell.counts[1] / n:.0%}", ha="center", va="bottom", fontsize=11)
            ax.text(cell.x + 0.5, cell.y + 0.46, f"n = {n}", ha="center", va="top", fontsize=8)
    place = np.vectorize(lambda share: share_around(share, middle), otypes=[float])
    back = np.vectorize(
        lambda at: middle + (at - 0.5) * 2 * (1 - middle) if at > 0.5 else at * 2 * middle, otypes=[float]
    )
    scale = ScalarMappable(FuncNorm((place, back), vmin=0, vmax=1), cmap=colours)
    bar = ax.figure.colorbar(scale, ax=ax, shrink=0.85, ticks=[0, middle, 1])
    bar.ax.set_yticklabels(["0 %", f"{middle:.0%} (all)", "100 %"])
    bar.set_label(f"share of class {shortened(label)}")


def _fill_by_class(ax: Axes, panels: Panels, class_labels: Sequence[str]) -> None:
    from matplotlib.patches import Patch, Rectangle

    colours = class_colours(len(class_labels), ordered=are_ordered(class_labels, kind="classes"))
    for cell in panels.cells:
        n = int(cell.counts.sum())
        left = cell.x
        for count, colour in zip(cell.counts, colours, strict=True):
            width = count / max(n, 1)
            ax.add_patch(
                Rectangle((left, cell.y + 0.2), width, 0.8, facecolor=colour, edgecolor="white", linewidth=0.4)
            )
            left += width
        ax.add_patch(Rectangle((cell.x, cell.y), 1, 1, fill=False, edgecolor="0.4", linewidth=0.6))
        if len(panels.cells) <= MAX_WRITTEN_CELLS:
            ax.text(cell.x + 0.5, cell.y + 0.1, f"n = {n}", ha="center", va="center", fontsize=8)
    handles = [Patch(facecolor=colour, label=shortened(q)) for colour, q in zip(colours, class_labels, strict=True)]
    ax.legend(handles=handles, frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), title="class")


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

    - `counts` (n_levels of member 0, …, 1).
    - `numbers` (n_levels of member 0, …, 6): as `TupleCounts` has them.
    - `names`, `level_names`: as in `plot_tuple`.
    - `label`: name of the outcome.
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
