"""Summary and rows → the pictures of docs/calibration.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from .cells import CONTRAST_CELLS, DEFAULT_CELLS, Cell
from .one_dimension import any_selected
from .repetition import LEVEL
from .summary import binomial_interval, fits_run
from .tables import present

COLOURS = {
    "lsq": "#D55E00",
    "mle": "#E69F00",
    "weibull": "#0072B2",
    "tail": "#009E73",
    "predictive": "#CC79A7",
    "union": "0.5",
}


def draw_all(rows: pd.DataFrame, summary: pd.DataFrame, folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in (
        ("any", _any_selected(rows, summary)),
        ("uniform", _uniformity(rows, summary)),
        ("fits", _fits(summary)),
        ("one_dimension", _one_dimension()),
    ):
        figure.savefig(folder / f"calibration_{name}.png", dpi=110)
        matplotlib.pyplot.close(figure)


def _any_selected(rows: pd.DataFrame, summary: pd.DataFrame):  # type: ignore[no-untyped-def]
    """Each cell with its interval, in order of size, one panel per number of dimensions."""
    import matplotlib.pyplot as plt

    null = summary.loc[present(DEFAULT_CELLS, summary)]
    dimensions = rows.groupby("cell", observed=True)["dimensions"].first()[null.index]
    numbers = sorted(dimensions.unique())
    figure, axes = plt.subplots(1, len(numbers), figsize=(11, 3.6), sharey=True, layout="constrained", squeeze=False)
    for ax, number in zip(axes[0], numbers, strict=True):
        part = null[dimensions == number].sort_values("any_selected")
        x, y = np.arange(len(part)), part["any_selected"].to_numpy()
        errors = [y - part["any_low"].to_numpy(), part["any_high"].to_numpy() - y]
        ax.errorbar(x, y, errors, fmt="o", markersize=3, linewidth=0.8, color="#0072B2", label="any selected")
        ax.axhline(LEVEL, color="0.4", linewidth=1)
        ax.set(title=f"{number}D", xlabel="cells, in order", xticks=[])
    axes[0][0].set(ylabel="P(any selected), Holm 0.05", ylim=(0, None))
    return figure


def _uniformity(rows: pd.DataFrame, summary: pd.DataFrame):  # type: ignore[no-untyped-def]
    """Shares of p-values below 0.05 and 0.01, and the p-values of one variable of each table."""
    import matplotlib.pyplot as plt

    null = summary.loc[present(DEFAULT_CELLS, summary)]
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    dimensions = rows.groupby("cell", observed=True)["dimensions"].first()[null.index]
    for number, colour in zip(sorted(dimensions.unique()), ("0.5", "#0072B2", "#009E73", "#D55E00"), strict=False):
        part = null[dimensions == number]
        axes[0].plot(
            part["share_below_05"], part["share_below_01"], "o", markersize=4, color=colour, label=f"{number}D"
        )
        in_cells = rows[rows["cell"].isin(part.index)]
        p = np.sort(in_cells["p_of_last"].to_numpy())
        axes[1].plot((np.arange(len(p)) + 0.5) / len(p), p, color=colour, linewidth=1.5, label=f"{number}D")
    axes[0].axvline(0.05, color="0.6", linewidth=0.8)
    axes[0].axhline(0.01, color="0.6", linewidth=0.8)
    axes[0].set(xlabel="share of p-values below 0.05", ylabel="below 0.01", xlim=(0, None), ylim=(0, None))
    axes[1].plot([1e-4, 1], [1e-4, 1], color="0.6", linewidth=0.8)
    axes[1].set(xscale="log", yscale="log", xlim=(1e-4, 1), ylim=(1e-4, 1))
    axes[1].set(xlabel="share of tables", ylabel="p-value of one variable per table")
    for ax in axes:
        ax.legend(frameon=False)
    return figure


def _fits(summary: pd.DataFrame):  # type: ignore[no-untyped-def]
    """P(any selected) of each fit against the number of contrast variables, and how far the fits vary."""
    import matplotlib.pyplot as plt

    panels: dict[str, list[Cell]] = {}
    for cell in sorted(CONTRAST_CELLS, key=lambda cell: (cell.dimensions, cell.n_contrast)):
        if cell.name in summary.index:
            panels.setdefault(f"{cell.dimensions}D {cell.data_name}", []).append(cell)
    figure, axes = plt.subplots(
        2, len(panels), figsize=(11, 6), sharex=True, sharey="row", layout="constrained", squeeze=False
    )
    for (upper, lower), (title, cells) in zip(axes.T, panels.items(), strict=True):
        lines = summary.loc[[cell.name for cell in cells]]
        x = np.array([cell.n_contrast for cell in cells], dtype=float)
        for shift, fit in enumerate(fits_run(lines)):
            y = lines[f"any_{fit}"].to_numpy(dtype=float)
            n = lines["repetitions"].to_numpy(dtype=int)
            limits = np.array([binomial_interval(round(share * size), size) for share, size in zip(y, n, strict=True)])
            errors = [y - limits[:, 0], limits[:, 1] - y]
            style = {"markersize": 3, "linewidth": 1, "color": COLOURS[fit], "label": fit}
            upper.errorbar(x * 1.03 ** (shift - 2), y, errors, fmt="o-", **style)
            if fit != "union":
                lower.plot(x, lines[f"n_tests_{fit}_spread"].to_numpy(dtype=float), "o-", **style)
        upper.axhline(LEVEL, color="0.4", linewidth=1)
        upper.set_title(title, fontsize=10)
        lower.set(xscale="log", xlabel="contrast variables")
        lower.set_xticks([30, 100, 300, 1000], labels=["30", "100", "300", "1000"])
        lower.minorticks_off()
    axes[0][0].set(ylabel="P(any selected), Holm 0.05", ylim=(0, None))
    axes[1][0].set(ylabel="spread of ln γ", ylim=(0, None))
    axes[0][0].legend(frameon=False, ncols=2)
    return figure


def _one_dimension():  # type: ignore[no-untyped-def]
    """Exact P(any selected) in 1D against the size of the smaller class."""
    import matplotlib.pyplot as plt

    sizes = (100, 200, 500, 1000)
    figure, axes = plt.subplots(1, len(sizes), figsize=(12, 3.2), sharey=True, layout="constrained")
    for ax, n_samples in zip(axes, sizes, strict=True):
        n_smaller = np.unique(np.geomspace(5, n_samples // 2, 60).astype(int))
        by_chi2, exactly = np.array([any_selected(n_samples, n, n_vars=100) for n in n_smaller]).T
        ax.plot(n_smaller, by_chi2, color="#D55E00", linewidth=1, label="by χ²")
        ax.plot(n_smaller, exactly, color="#0072B2", linewidth=1, label="exact test, as in select()")
        ax.axhline(LEVEL, color="0.4", linewidth=1)
        ax.set(title=f"{n_samples} samples", xlabel="samples of the smaller class", xscale="log")
        ticks = [n for n in (5, 10, 20, 50, 100, 200, 500) if n <= n_samples // 2]
        ax.set_xticks(ticks, labels=map(str, ticks))
        ax.minorticks_off()
    axes[0].set(ylabel="P(any selected), Holm 0.05", ylim=(0, 0.2))
    axes[-1].legend(frameon=False)
    return figure
