"""The summary of the study as a picture: a panel for each problem, a line for each method, and one panel of times."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from power.methods import METHODS, Method
from power.problems import PROBLEMS

#: From the palette of Okabe and Ito; shapes tell apart what colours do not in grey print.
OURS, OTHERS, FALSE = "#0072B2", "0.25", "#D55E00"
COLUMNS = 4

#: At which tests decide, and below which the false discovery rate should stay.
LEVEL = 0.05

#: What the clock of the processor tells from nothing.
LEAST_SECONDS = 1e-3


def draw(summary: pd.DataFrame, path: Path) -> None:
    import matplotlib.pyplot as plt

    problems = [problem for problem in PROBLEMS.values() if problem.name in summary.index.get_level_values("problem")]
    # Of interplay's two adjustments only the default; the table has both.
    methods = [method for method in METHODS.values() if not method.name.endswith("_bh")]
    n_rows = -(-(len(problems) + 1) // COLUMNS)
    figure, axes = plt.subplots(
        n_rows, COLUMNS, figsize=(9.6, 0.7 + 3.1 * n_rows), sharey=True, layout="constrained", squeeze=False
    )
    panels = list(axes.flat)
    for ax, problem in zip(panels, problems, strict=False):
        _draw_problem(ax, summary.loc[problem.name], methods)
        ax.set_title(problem.title, fontsize=9)
    _draw_times(panels[len(problems)], summary, methods)
    for ax in panels[len(problems) + 1 :]:
        ax.set_axis_off()
    panels[0].set_yticks(range(len(methods)), [method.title for method in methods])
    panels[0].set_ylim(len(methods) - 0.4, -0.6)
    for ax in panels:
        ax.tick_params(labelsize=7.5, length=2)
        ax.spines[["top", "right"]].set_visible(False)
        # Between interplay, the other methods that decide by themselves, and rankings that are told where to stop.
        for i in range(1, len(methods)):
            if _group(methods[i]) != _group(methods[i - 1]):
                ax.axhline(i - 0.5, color="0.8", lw=0.8)
    figure.legend(handles=_legend(), loc="outside upper center", ncols=4, frameon=False, fontsize=8.5)
    figure.savefig(path, dpi=160)
    plt.close(figure)


def _group(method: Method) -> int:
    return 2 if method.oracle else int(not method.name.startswith("interplay"))


def _colour(method: Method) -> str:
    return OTHERS if _group(method) else OURS


def _draw_problem(ax, summary: pd.DataFrame, methods: list[Method]) -> None:
    for i, method in enumerate(methods):
        row = summary.loc[method.name] if method.name in summary.index else None
        if row is None or row.n_tables == 0:
            ax.text(50, i, "not run" if row is None else "failed", ha="center", va="center", fontsize=6, color="0.6")
            continue
        ax.plot([100 * row.found_low, 100 * row.found_high], [i, i], color=_colour(method), lw=1.2, alpha=0.6)
        fill = "white" if method.oracle else _colour(method)
        ax.plot(100 * row.found, i, "o", ms=5, color=_colour(method), mfc=fill, zorder=3, clip_on=False)
        if not method.oracle:
            ax.plot(100 * row.fdr, i, "x", ms=4.5, mew=1.3, color=FALSE, zorder=4, clip_on=False)
    ax.set(xlim=(0, 100), xticks=[0, 25, 50, 75, 100])
    ax.axvline(100 * LEVEL, color=FALSE, lw=0.8, ls=":")
    ax.grid(axis="x", color="0.9", lw=0.6)
    ax.set_axisbelow(True)


def _draw_times(ax, summary: pd.DataFrame, methods: list[Method]) -> None:
    for i, method in enumerate(methods):
        if method.name in summary.index.get_level_values("method"):
            seconds = summary.xs(method.name, level="method")["seconds"].clip(lower=LEAST_SECONDS)
            ax.plot([seconds.min(), seconds.max()], [i, i], color=_colour(method), lw=1.2, alpha=0.6)
            ax.plot(seconds.median(), i, "s", ms=4.5, color=_colour(method))
    ax.set_xscale("log")
    ax.set_title("Processor time, seconds:\nmedian, range of problems", fontsize=9)
    ax.grid(axis="x", color="0.9", lw=0.6)
    ax.set_axisbelow(True)


def _legend() -> list:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], marker="o", color=OURS, lw=1.2, ms=5, label="% found by interplay"),
        Line2D([], [], marker="o", color=OTHERS, lw=1.2, ms=5, label="by others"),
        Line2D([], [], marker="o", color=OTHERS, mfc="white", lw=1.2, ms=5, label="by rankings told where to stop*"),
        Line2D([], [], marker="x", color=FALSE, ls="none", ms=5, mew=1.3, label="% false among selected"),
    ]
