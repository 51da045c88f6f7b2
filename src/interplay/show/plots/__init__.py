"""Arrays → matplotlib Axes. matplotlib is imported when the first plot is drawn.

::

    selection_plots.py, interaction_plots.py   `.plot` of the results, with a method for each picture
    gains.py, pairs.py, why.py                 pictures of variables (also by place), of pairs, of one tuple
    style.py                                   colours, sizes, axes

Functions without matplotlib compute the content of a picture; the report uses them too.
"""

from __future__ import annotations

from interplay.show.plots.gains import plot_gains, plot_gains_by_dimension, plot_p_histogram, plot_p_values
from interplay.show.plots.interaction_plots import InteractionPlots, plot_survival
from interplay.show.plots.pairs import plot_correlation, plot_synergies
from interplay.show.plots.selection_plots import SelectionPlots
from interplay.show.plots.why import plot_tuple

__all__ = [
    "InteractionPlots",
    "SelectionPlots",
    "plot_correlation",
    "plot_gains",
    "plot_gains_by_dimension",
    "plot_p_histogram",
    "plot_p_values",
    "plot_survival",
    "plot_synergies",
    "plot_tuple",
]
