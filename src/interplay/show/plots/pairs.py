"""Correlations and synergies of pairs of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_numbers
from interplay.show.plots.style import IRRELEVANT, RELEVANT, axes_or_new, diverging_colours, say_instead, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from interplay.show.results.selection import Selection


#: With more variables, names would overlap and are left out.
_MAX_NAMED = 60


def order_by_likeness(correlation: FloatArray) -> IntArray:
    """Return an order that puts similar variables side by side, and keeps every group of `Selection.clusters` together.

    Single linkage joins variables along the same chains of correlations that define the groups.
    """
    n = len(correlation)
    if n < 3:
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1.0 - np.abs(correlation)
    distance = np.clip((distance + distance.T) / 2, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    return np.asarray(leaves_list(linkage(squareform(distance, checks=False), method="single")), dtype=np.int64)


def order_in_groups(correlation: FloatArray, names: Sequence[str], groups: Sequence[Sequence[str]]) -> IntArray:
    """Return an order that puts similar variables side by side, and the members of every group next to each other."""
    order = order_by_likeness(correlation).tolist()
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    by_group: dict[int, list[int]] = {}
    for v in order:
        # A variable without a group is one of its own; dicts keep the order in which groups are met.
        by_group.setdefault(group_of.get(names[v], -1 - v), []).append(v)
    return np.array([v for members in by_group.values() for v in members], dtype=np.int64)


def group_spans(order: Sequence[str], groups: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Return first place and length in `order` of each group of two or more."""
    place = {name: i for i, name in enumerate(order)}
    spans = []
    for group in groups:
        inside = [place[name] for name in group if name in place]
        if len(inside) > 1:
            spans.append((min(inside), len(inside)))
    return spans


def plot_correlation(
    correlation: FloatArray,
    names: Sequence[str],
    groups: Sequence[Sequence[str]] = (),
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw correlations as a heat map, like variables side by side, groups framed.

    - `correlation` (n, n).
    - `names`: of the n variables, all different.
    - `groups`: names to frame, as `Selection.redundant_groups` or `Selection.clusters` give them.
    """
    n = len(names)
    correlation = check_numbers("correlation", correlation, (n, n))
    size = min(max(3.2, 1.8 + 0.2 * n), 9.0)
    ax = axes_or_new(ax, size + 0.8, size)
    if n == 0:
        return say_instead(ax, "no relevant variables, or too many to correlate")
    from matplotlib.patches import Rectangle

    order = order_in_groups(correlation, names, groups)
    image = ax.imshow(correlation[np.ix_(order, order)], cmap=diverging_colours(), vmin=-1, vmax=1)
    for start, length in group_spans([names[v] for v in order], groups):
        ax.add_patch(
            Rectangle((start - 0.5, start - 0.5), length, length, fill=False, edgecolor="black", linewidth=1.3)
        )
    if n <= _MAX_NAMED:
        labels = [shortened(names[v]) for v in order]
        font = 9 if n <= 30 else 6
        ax.set_xticks(range(n), labels, rotation=90, fontsize=font)
        ax.set_yticks(range(n), labels, fontsize=font)
    else:
        ax.set_xticks([])
        ax.set_yticks([])
    ax.figure.colorbar(image, ax=ax, label="correlation", shrink=0.8)
    ax.set_title(title)
    return ax


class SynergyNetwork(NamedTuple):
    """Variables, and the synergy between them."""

    #: (n,): numbers of the variables with an edge: relevant ones, most significant first, then other partners.
    nodes: IntArray
    #: (m, 2): places in `nodes`.
    edges: IntArray
    #: (m,): gain of a variable in its tuple beyond its gain alone, bits × samples; the larger one, if two variables are
    #: partners of each other.
    weight: FloatArray
    #: (m,): whether both variables are members of a significant interaction.
    interacts: BoolArray


def synergy_network(selection: Selection, max_variables: int = 60) -> SynergyNetwork:
    """Join the first `max_variables` relevant variables to the partners of their best tuples."""
    weight: dict[tuple[int, int], float] = {}
    interacting: set[tuple[int, int]] = set()
    chosen = selection.ranked[:max_variables].tolist()
    for v in chosen:
        run = selection.runs[selection.best_run[v]]
        synergy = float(run.gains.gain[v] - run.gain_alone[v])
        members = selection.best_tuple(v).tolist()
        together = selection.verdicts[v].members
        if synergy <= 0 and not together:
            continue
        for u in members:
            if u >= 0 and u != v:
                a, b = sorted((v, u))
                weight[a, b] = max(weight.get((a, b), 0.0), synergy)
                interacting |= {(a, b)} if a in together and b in together else set()
    joined = {v for pair in weight for v in pair}
    nodes = [v for v in chosen if v in joined] + sorted(joined.difference(chosen))
    place = {v: i for i, v in enumerate(nodes)}
    edges = np.array([(place[a], place[b]) for a, b in weight], dtype=np.int64).reshape(-1, 2)
    return SynergyNetwork(
        nodes=np.array(nodes, dtype=np.int64),
        edges=edges,
        weight=np.array(list(weight.values())),
        interacts=np.array([pair in interacting for pair in weight], dtype=np.bool_),
    )


def spring_layout(n: int, edges: IntArray, *, steps: int = 400) -> FloatArray:
    """Place n nodes in the unit square, without random numbers.

    The forces are those of Fruchterman and Reingold: edges attract, all nodes repel each other, the centre attracts.
    Nodes start on a circle, and steps become smaller.
    """
    if n == 1:
        return np.array([[0.5, 0.5]])
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    place = 0.5 + 0.4 * np.column_stack([np.cos(angle), np.sin(angle)])
    ideal = 0.9 / np.sqrt(max(n, 1))
    for step in range(steps):
        apart = place[:, np.newaxis] - place
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-3)
        force = (apart * (ideal**2 / distance**2)[:, :, np.newaxis]).sum(axis=1)
        pull = place[edges[:, 0]] - place[edges[:, 1]]
        pull *= np.sqrt((pull**2).sum(axis=1, keepdims=True)) / ideal
        np.add.at(force, edges[:, 0], -pull)
        np.add.at(force, edges[:, 1], pull)
        force -= 1.2 * (place - 0.5)
        length = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), 1e-9)
        place = place + force / length * np.minimum(length, 0.1 * (1 - step / steps))
    middle = (place.min(axis=0) + place.max(axis=0)) / 2
    return np.asarray(np.clip(0.5 + (place - middle) / max(float(np.ptp(place, axis=0).max()), 1e-9), 0.0, 1.0))


def plot_synergies(selection: Selection, *, max_variables: int = 60, ax: Axes | None = None) -> Axes:
    """Draw the relevant variables and their partners as a network: whole lines are interactions, dotted ones are not.

    The thicker a line, the larger the synergy: what a variable gains with its tuple beyond its gain alone.

    `max_variables`: number of relevant variables that are drawn, most significant first, with their partners.
    """
    ax = axes_or_new(ax, 5.5, 5)
    nodes, edges, weight, interacts = synergy_network(selection, max_variables)
    if not len(edges):
        return say_instead(ax, "no synergies: no relevant variable gains more in a tuple than alone")
    place = spring_layout(len(nodes), edges)
    strength = weight / weight.max()
    for (a, b), share, tested in zip(edges, strength, interacts, strict=True):
        style = {"color": RELEVANT, "alpha": 0.6} if tested else {"color": "0.7", "linestyle": ":"}
        ax.plot(*place[[a, b]].T, linewidth=0.8 + 4 * share, zorder=1, **style)
    relevant = selection.is_relevant[nodes]
    for mask, fill, label in ((relevant, RELEVANT, "relevant"), (~relevant, "white", "partner, not relevant itself")):
        if mask.any():
            colour = RELEVANT if fill == RELEVANT else IRRELEVANT
            ax.scatter(
                place[mask, 0],
                place[mask, 1],
                s=60,
                facecolor=fill,
                edgecolor=colour,
                linewidth=1.5,
                zorder=2,
                label=label,
            )
    name_nodes(ax, [selection.names[v] for v in nodes], place, fontsize=9 if len(nodes) <= 30 else 6)
    shown = f"{int(interacts.sum())} of {len(interacts)} lines are interactions (whole lines)"
    ax.set_title(f"{shown}\nthickest line: synergy {weight.max():.3g} bits × samples", fontsize=10)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2)
    return ax


def name_nodes(ax: Axes, names: Sequence[str], place: FloatArray, *, fontsize: int) -> None:
    """Write the names of the nodes of a network above them, and leave out the axes."""
    from matplotlib.patheffects import withStroke

    for name, at in zip(names, place.tolist(), strict=True):
        written = ax.annotate(
            shortened(name), at, xytext=(0, 7), textcoords="offset points", ha="center", fontsize=fontsize, zorder=3
        )
        written.set_path_effects([withStroke(linewidth=2.5, foreground="white")])  # readable across lines
    ax.margins(0.1)
    ax.set_axis_off()
