"""Variants of a genome → the Manhattan plot, and the Q–Q plot of their tests with λ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.show.plots.gains import minus_log10
from interplay.show.plots.style import CONTRAST, IRRELEVANT, RELEVANT, axes_or_new, say_instead

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from interplay.show.results.selection import Selection

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
