"""Colours, sizes and axes of all pictures; the only module that imports pyplot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from interplay.base.checks import needing
from interplay.base.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: From the palette of Okabe and Ito: told apart by the colour-blind, and by their lightness in grey print.
RELEVANT, CONTRAST, IRRELEVANT = "#0072B2", "#E69F00", "0.65"
CLASS_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "0.5")

#: Low, middle and high colour of diverging scales: shares of a class, correlations.
DIVERGING = ("#3B8BC4", "#F7F7F7", "#E8873A")


def import_pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to install it."""
    with needing("matplotlib", "plot", "plots need"):
        import matplotlib.pyplot as plt
    return plt


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the only Axes of a new figure of this size in inches."""
    if ax is None:
        ax = import_pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    assert ax is not None
    return ax


def diverging_colours() -> Any:
    """Return the diverging colour map."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("interplay", list(DIVERGING))


def say_instead(ax: Axes, text: str) -> Axes:
    """Write the reason for an empty picture on it."""
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes, color="0.4", wrap=True)
    ax.set_axis_off()
    return ax


def are_ordered(class_labels: Sequence[str], *, kind: str) -> bool:
    """Say whether three and more classes have an order: parts of a continuous outcome, or numbers.

    Examples
    --------
    >>> are_ordered(["1", "2", "10"], kind="classes"), are_ordered(["red", "green", "blue"], kind="classes")
    (True, False)
    """
    if len(class_labels) < 3:
        return False
    if kind == "continuous":
        return True
    try:
        numbers = [float(label) for label in class_labels]
    except ValueError:
        return False
    return numbers == sorted(numbers)


def class_colours(n_classes: int, *, ordered: bool) -> list[Any]:
    """Return a colour for each class: from light to dark for ordered classes, else as different as possible."""
    from matplotlib import colormaps

    if ordered:
        return [colormaps["viridis"](1 - q / max(n_classes - 1, 1)) for q in range(n_classes)]
    more = [colour for q in range(0, 20, 2) for colour in (colormaps["tab20"](q + 1), colormaps["tab20b"](q))]
    return [*CLASS_COLOURS, *more][:n_classes] + [
        colormaps["hsv"](q * 0.618034 % 1.0) for q in range(n_classes - len(CLASS_COLOURS) - len(more))
    ]


def shortened(name: str, length: int = 24) -> str:
    """Return a name that fits a label, on one line; `$` stays a dollar."""
    return printable(name, length).replace("$", r"\$")
