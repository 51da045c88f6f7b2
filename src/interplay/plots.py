"""Arrays → matplotlib Axes. matplotlib is imported when the first plot is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from interplay.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interplay.steps.null_fit import NullFit

#: Dark enough for print, told apart by the colour-blind.
_IRRELEVANT, _RELEVANT, _CONTRAST = "0.65", "#0072B2", "#E69F00"


def import_pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "interplay[plot]"') from None
    return plt


def plot_gains(
    gain: FloatArray,
    is_relevant: BoolArray,
    *,
    contrast_gain: FloatArray | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the gains against their rank, relevant variables marked (Figure 2 of the paper)."""
    if ax is None:
        ax = import_pyplot().subplots(figsize=(5, 3.6), layout="constrained")[1]
    order = np.argsort(-gain, kind="stable")
    order = order[np.isfinite(gain[order])]
    rank = np.arange(1, len(order) + 1)
    marked = is_relevant[order]
    n_relevant = int(marked.sum())
    if contrast_gain is not None and len(contrast_gain):
        # Stretched to the same width: the two curves then lie on each other where nothing is relevant.
        place = (np.arange(len(contrast_gain)) + 0.5) * len(order) / len(contrast_gain)
        ax.plot(place + 0.5, np.sort(contrast_gain)[::-1], color=_CONTRAST, linewidth=1.2, label="contrast variables")
    ax.plot(rank[~marked], gain[order][~marked], ".", color=_IRRELEVANT, markersize=4, label="not relevant")
    ax.plot(rank[marked], gain[order][marked], "o", color=_RELEVANT, markersize=4, label=f"relevant ({n_relevant})")
    if len(order) > 50:
        ax.set_xscale("log")
    if len(order) and gain[order].min() > 0 and gain[order].max() > 50 * np.median(gain[order]):
        ax.set_yscale("log")
    ax.set(xlabel="rank", ylabel="maximum information gain (bits × samples)", title=title)
    ax.legend(frameon=False)
    return ax


class _Selected(Protocol):
    @property
    def is_relevant(self) -> BoolArray: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def table(self) -> Any: ...
    @property
    def contrast(self) -> Any: ...
    @property
    def null_fit(self) -> NullFit: ...


class SelectionPlots:
    """The plots of one Selection; each takes and returns Axes."""

    def __init__(self, selection: _Selected) -> None:
        self._selection = selection

    def gains(self, ax: Axes | None = None) -> Axes:
        """Draw the gains against their rank, relevant variables marked."""
        s = self._selection
        return plot_gains(
            s.table["gain"].to_numpy(),
            s.is_relevant,
            contrast_gain=s.contrast["gain"].to_numpy(),
            title=f"{s.settings['dimensions']}D",
            ax=ax,
        )

    def null_fit(self, ax: Axes | None = None) -> Axes:
        """Draw the p-values of the reference variables against those a perfect fit would have."""
        return self._selection.null_fit.plot(ax=ax)


def plot_gains_by_dimension(selections: Mapping[str, _Selected]) -> Figure:
    """Draw one panel of gains against rank for each selection, side by side."""
    plt = import_pyplot()
    width = 4.3 * len(selections)
    figure, axes = plt.subplots(1, len(selections), figsize=(width, 3.8), layout="constrained", squeeze=False)
    for ax, (title, selection) in zip(axes[0], selections.items(), strict=True):
        SelectionPlots(selection).gains(ax=ax)
        ax.set_title(title)
        if ax is not axes[0][0]:
            ax.set_ylabel("")
    result: Figure = figure
    return result
