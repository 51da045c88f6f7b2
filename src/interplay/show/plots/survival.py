"""Kaplan and Meier's curves of the cells of a tuple."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from interplay.show.plots.style import CLASS_COLOURS, axes_or_new, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from interplay.infer.survival.survival_curves import SurvivalCurves

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

    Parameters
    ----------
    curves : SurvivalCurves
    names, level_names : sequences
        Of the members of the tuple, in its order.
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
