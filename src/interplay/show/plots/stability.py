"""How often variables were found in halves of the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray
from interplay.show.plots.style import IRRELEVANT, RELEVANT, axes_or_new, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_stability(
    frequency: FloatArray,
    is_relevant: BoolArray,
    names: list[str],
    *,
    n_subsamples: int,
    max_variables: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of halves in which a variable is relevant, the most stable ones first.

    Parameters
    ----------
    frequency : (n_vars,) float64
    is_relevant : (n_vars,) bool
        In all samples.
    names : list of str
    """
    order = np.argsort(-frequency, kind="stable")[:max_variables][::-1]
    ax = axes_or_new(ax, 5, 1.2 + 0.22 * len(order))
    colours = [RELEVANT if is_relevant[v] else IRRELEVANT for v in order]
    ax.barh(np.arange(len(order)), frequency[order], color=colours)
    ax.set_yticks(np.arange(len(order)), [shortened(names[v]) for v in order])
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"share of {n_subsamples} halves in which it is relevant")
    ax.set_title("stability; dark: relevant in all samples", fontsize="medium")
    return ax
