"""Gains against the null fit, p-values, their histogram and a volcano; of variants, Manhattan and Q–Q plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_numbers
from interplay.show.plots.style import CONTRAST, IRRELEVANT, RELEVANT, axes_or_new, import_pyplot, say_instead

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


#: p-values are drawn down to 10 to the minus this power; adjusted p-values below it underflow.
LOWEST_POWER = 300.0


def minus_log10(log_p: FloatArray) -> FloatArray:
    """Return −log10 p from natural logarithms of p, at most 300."""
    return np.asarray(np.clip(-log_p / np.log(10), 0.0, LOWEST_POWER))


def plot_p_values(
    log_p: FloatArray, p_adjusted: FloatArray, *, level: float, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw the p-values by rank, before and after adjustment, with the level that decides.

    - `log_p` (n_vars,): natural logarithms of the p-values.
    - `p_adjusted` (n_vars,).
    - `level`: adjusted p-values below it are relevant.
    """
    log_p = check_numbers("log_p", log_p, (None,))
    p_adjusted = check_numbers("p_adjusted", p_adjusted, log_p.shape)
    ax = axes_or_new(ax, 5, 3.6)
    order = np.argsort(log_p, kind="stable")
    order = order[np.isfinite(p_adjusted[order])]
    rank = np.arange(1, len(order) + 1)
    with np.errstate(divide="ignore"):
        adjusted = minus_log10(np.log(p_adjusted[order]))
    relevant = p_adjusted[order] < level
    ax.plot(rank, minus_log10(log_p[order]), "o", mfc="none", color="0.55", markersize=4, label="p")
    ax.plot(rank[~relevant], adjusted[~relevant], ".", color="0.25", markersize=4, label="adjusted p")
    ax.plot(rank[relevant], adjusted[relevant], "o", color=RELEVANT, markersize=4, label=f"relevant ({relevant.sum()})")
    ax.axhline(-np.log10(level), color=CONTRAST, linewidth=1.2, label=f"significance level {level:g}")
    if len(order) > 50:
        ax.set_xscale("log")
    ax.set(xlabel="rank", ylabel=r"$-\log_{10}$ p", title=title)
    ax.legend(frameon=False)
    return ax


def chance_evidence(n: int) -> FloatArray:
    """Return the −log10 p that the smallest, second smallest, … of n p-values have by chance, (n,).

    Examples
    --------
    >>> chance_evidence(4).round(3).tolist()
    [0.903, 0.426, 0.204, 0.058]
    """
    return np.asarray(-np.log10((np.arange(1, n + 1) - 0.5) / max(n, 1)))


def plot_evidence(log_p: FloatArray, is_relevant: BoolArray, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw p-values against their rank, relevant variables marked, beside those that chance alone would give."""
    log_p = check_numbers("log_p", log_p, (None,))
    is_relevant = check_numbers("is_relevant", is_relevant, log_p.shape).astype(bool)
    ax = axes_or_new(ax, 5, 3.6)
    order = np.argsort(log_p, kind="stable")
    order = order[np.isfinite(log_p[order])]
    rank, evidence, marked = np.arange(1, len(order) + 1), minus_log10(log_p[order]), is_relevant[order]
    ax.plot(rank, chance_evidence(len(order)), color=CONTRAST, linewidth=1.2, label="by chance")
    ax.plot(rank[~marked], evidence[~marked], ".", color=IRRELEVANT, markersize=4, label="not relevant")
    ax.plot(rank[marked], evidence[marked], "o", color=RELEVANT, markersize=4, label=f"relevant ({marked.sum()})")
    if len(order) > 50:
        ax.set_xscale("log")
    ax.set(xlabel="rank", ylabel=r"$-\log_{10}$ p over all tests", title=title)
    ax.legend(frameon=False)
    return ax


def p_histogram(p_values: FloatArray, n_bins: int = 20) -> tuple[FloatArray, FloatArray]:
    """Return edges and densities of p-values in equal bins; chance alone would give a density of 1 everywhere."""
    seen = p_values[np.isfinite(p_values)]
    counts, edges = np.histogram(seen, bins=n_bins, range=(0.0, 1.0))
    return edges, counts * n_bins / max(len(seen), 1)


def plot_p_histogram(
    p_values: FloatArray, reference_p: FloatArray, *, reference: str, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw how often each p-value occurs: in the reference variables evenly, if the null fits; in all others too.

    - `p_values` (n_vars,): of the variables themselves, not adjusted. What stands above the line on the left is signal.
    - `reference_p`: of the variables the null was fitted to.
    - `reference`: what these are called.
    """
    p_values = check_numbers("p_values", p_values, (None,))
    reference_p = check_numbers("reference_p", reference_p, (None,))
    ax = axes_or_new(ax, 4.5, 3.6)
    if not len(reference_p):
        return say_instead(ax, "no reference variables: nothing was fitted")
    edges, fitted = p_histogram(reference_p)
    _, seen = p_histogram(p_values)
    ax.bar(edges[:-1], fitted, width=np.diff(edges), align="edge", color=IRRELEVANT, edgecolor="white", label=reference)
    ax.stairs(seen, edges, color=RELEVANT, linewidth=1.4, label="all variables")
    ax.axhline(1.0, color=CONTRAST, linewidth=1.4, label="expected if the fit is right")
    ax.set(xlabel="p-value (not adjusted)", ylabel="density", xlim=(0, 1), title=title)
    # The first bin may be far higher than the others, which must stay visible.
    top = float(max(fitted.max(), seen[1:].max(), 1.0)) * 1.5
    ax.set_ylim(0, top)  # with room for the legend
    if seen[0] > top:
        ax.annotate(f"{seen[0]:.3g} ↑", (edges[1], top), xytext=(3, -12), textcoords="offset points", color=RELEVANT)
    ax.legend(frameon=False, loc="upper right")
    return ax


#: Of the relevant variables, so many of the clearest are named.
_NAMED_IN_VOLCANO = 12


def plot_volcano(
    difference: FloatArray,
    log_p: FloatArray,
    is_relevant: BoolArray,
    names: Sequence[str],
    *,
    across: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw −log₁₀ p against the difference of means of each variable, and name the clearest relevant ones."""
    ax = axes_or_new(ax, 5.4, 4.2)
    height = -log_p / np.log(10)
    for marked, colour, words in ((~is_relevant, IRRELEVANT, "not relevant"), (is_relevant, RELEVANT, "relevant")):
        ax.plot(difference[marked], height[marked], ".", color=colour, markersize=5, label=words)
    order = np.argsort(log_p, kind="stable")
    for v in order[is_relevant[order]][:_NAMED_IN_VOLCANO].tolist():
        ax.annotate(names[v], (difference[v], height[v]), xytext=(3, 2), textcoords="offset points", fontsize=7)
    ax.axvline(0, color=IRRELEVANT, linewidth=0.6)
    ax.set(xlabel=across, ylabel="−log₁₀ p")
    ax.legend(frameon=False)
    return ax


#: Order of chromosomes that are no numbers.
_LAST = {"X": 1001, "Y": 1002, "XY": 1003, "MT": 1004, "M": 1004}

#: Space between chromosomes, as a share of the genome.
_GAP = 0.005


class Genome(NamedTuple):
    """Places of variants along all chromosomes."""

    #: (n,): from 0 to 1.
    place: FloatArray
    #: (n,): of the chromosome, in order.
    number: IntArray
    #: Of the chromosomes.
    names: list[str]
    #: The middle of each.
    middle: list[float]


def genome_places(chromosomes: Sequence[str], positions: FloatArray) -> Genome:
    """Put chromosomes one after the other.

    Examples
    --------
    >>> found = genome_places(["2", "1", "X", "10"], np.array([5.0, 100, 7, 1]))
    >>> found.names, found.number.tolist()
    (['1', '2', '10', 'X'], [1, 0, 3, 2])
    """
    short = [name.removeprefix("chr") for name in chromosomes]
    names = sorted(set(short), key=_order)
    number = np.array([names.index(name) for name in short], dtype=np.int64)
    first = np.array([positions[number == i].min() for i in range(len(names))])
    spans = np.array([positions[number == i].max() for i in range(len(names))]) - first
    gap = _GAP * max(float(spans.sum()), 1.0)
    starts = np.concatenate([[0.0], np.cumsum(spans + gap)])
    middle = ((starts[:-1] + spans / 2) / starts[-1]).tolist()
    return Genome((starts[number] + positions - first[number]) / starts[-1], number, names, middle)


def _order(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (_LAST.get(name.upper(), 1005), name)


def tests_per_allele(selection: Selection) -> FloatArray:
    """Return ln p of the tests per allele, or of the selection where there are none, without gaps."""
    assert selection.variants is not None
    known = selection.variants.log_p[np.isfinite(selection.variants.log_p)]
    return known if len(known) else selection.log_p[np.isfinite(selection.log_p)]


def qq_places(n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the expected p-values of n tests without effects, ascending, and their 95 % band."""
    from scipy.special import betaincinv

    rank = np.arange(1, n + 1)
    low, high = (np.asarray(betaincinv(rank, n + 1 - rank, tail), dtype=np.float64) for tail in (0.025, 0.975))
    return (rank - 0.5) / n, low, high


def plot_manhattan(selection: Selection, *, ax: Axes | None = None) -> Axes:
    """Draw −log10 p of each variant by its place, relevant ones marked, and the level of a Bonferroni test."""
    variants = selection.variants
    assert variants is not None
    genome = genome_places(variants.chromosome, variants.position)
    ax = axes_or_new(ax, 8, 3.2)
    height, relevant = minus_log10(selection.log_p), selection.is_relevant
    for odd, colour in ((False, "0.35"), (True, IRRELEVANT)):
        drawn = ~relevant & (genome.number % 2 == odd)
        ax.plot(genome.place[drawn], height[drawn], ".", color=colour, markersize=3)
    ax.plot(genome.place[relevant], height[relevant], "o", color=RELEVANT, markersize=4, label="relevant")
    ax.axhline(-np.log10(selection.asked.level / len(selection.names)), color=CONTRAST, linewidth=1.2)
    ax.set_xticks(genome.middle, genome.names, fontsize=7 if len(genome.names) > 12 else None)
    ax.set(xlabel="chromosome", ylabel=r"$-\log_{10}$ p")
    if relevant.any():
        ax.legend(frameon=False)
    return ax


def plot_qq(log_p: FloatArray, *, inflation: float, ax: Axes | None = None) -> Axes:
    """Draw p-values against those of tests without effects, with their 95 % band and λ."""
    ax = axes_or_new(ax, 4, 3.8)
    if not len(log_p):
        return say_instead(ax, "no variant was tested")
    expected, low, high = (minus_log10(np.log(p)) for p in qq_places(len(log_p)))
    ax.fill_between(expected, high, low, color="0.9", linewidth=0)
    ax.plot(expected, expected, color=CONTRAST, linewidth=1.2)
    ax.plot(expected, minus_log10(np.sort(log_p)), ".", color=RELEVANT, markersize=4)
    title = "" if np.isnan(inflation) else f"λ = {inflation:.3f}"
    ax.set(xlabel=r"expected $-\log_{10}$ p", ylabel=r"$-\log_{10}$ p per allele", title=title)
    return ax


def shown_places(log_p: FloatArray, is_relevant: BoolArray, most: int) -> list[int]:
    """Choose the variants of a picture: relevant ones, then those with the smallest p-values and some of the others."""
    order = np.argsort(log_p, kind="stable")
    order = np.concatenate([order[is_relevant[order]], order[~is_relevant[order]]])
    if len(order) <= most:
        return sorted(order.tolist())
    first, rest = order[: most // 2], order[most // 2 :]
    evenly = np.linspace(0, len(rest) - 1, most - len(first)).astype(np.int64)
    return sorted([*first.tolist(), *rest[evenly].tolist()])
