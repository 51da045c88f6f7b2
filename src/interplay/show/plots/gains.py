"""Gains against their rank, relevant variables marked: Figures 2 and 3 of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray
from interplay.base.checks import check_numbers
from interplay.show.plots.style import CONTRAST, IRRELEVANT, RELEVANT, axes_or_new, import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interplay.show.results.selection import Selection


def plot_gains(
    gain: FloatArray,
    is_relevant: BoolArray,
    *,
    contrast_gain: FloatArray | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the gains against their rank, relevant variables marked (Figure 2 of the paper)."""
    gain = check_numbers("gain", gain, (None,))
    is_relevant = check_numbers("is_relevant", is_relevant, gain.shape).astype(bool)
    if contrast_gain is not None:
        contrast_gain = check_numbers("contrast_gain", contrast_gain, (None,))
    ax = axes_or_new(ax, 5, 3.6)
    order = np.argsort(-gain, kind="stable")
    order = order[np.isfinite(gain[order])]
    rank = np.arange(1, len(order) + 1)
    marked = is_relevant[order]
    n_relevant = int(marked.sum())
    if contrast_gain is not None and len(contrast_gain):
        place = contrast_places(len(contrast_gain), len(order))
        ax.plot(place, np.sort(contrast_gain)[::-1], color=CONTRAST, linewidth=1.2, label="contrast variables")
    ax.plot(rank[~marked], gain[order][~marked], ".", color=IRRELEVANT, markersize=4, label="not relevant")
    ax.plot(rank[marked], gain[order][marked], "o", color=RELEVANT, markersize=4, label=f"relevant ({n_relevant})")
    if len(order) > 50:
        ax.set_xscale("log")
    if needs_log_scale(gain[order]):
        ax.set_yscale("log")
    ax.set(xlabel="rank", ylabel="maximum information gain (bits × samples)", title=title)
    ax.legend(frameon=False)
    return ax


def contrast_places(n_contrast: int, n_vars: int) -> FloatArray:
    """Return the ranks at which sorted contrast variables are drawn among `n_vars` variables.

    Ranks are stretched to the same width, so that both curves coincide if no variable is relevant.
    """
    return np.asarray((np.arange(n_contrast) + 0.5) * n_vars / max(n_contrast, 1) + 0.5)


def needs_log_scale(gain: FloatArray) -> bool:
    """Say whether the largest gains would press the others onto the axis."""
    return bool(len(gain) and gain.min() > 0 and gain.max() > 50 * np.median(gain))


def plot_gains_by_dimension(selections: Mapping[str, Selection]) -> Figure:
    """Draw one panel of gains against rank for each selection, side by side."""
    if not len(selections):
        raise ValueError("selections must hold at least one selection; it is empty")
    plt = import_pyplot()
    width = 4.3 * len(selections)
    figure, axes = plt.subplots(1, len(selections), figsize=(width, 3.8), layout="constrained", squeeze=False)
    for ax, (title, selection) in zip(axes[0], selections.items(), strict=True):
        selection.plot.gains(ax=ax)
        ax.set_title(title)
        if ax is not axes[0][0]:
            ax.set_ylabel("")
    result: Figure = figure
    return result
