"""Tuples in order of their p-values, and which variables are correlated → leads, and the tuples that join each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

import numpy as np

from interplay.base.arrays import IntArray
from interplay.infer.linkage import Linkage

#: The r² from which on tuples are taken as one signal, unless a call says otherwise.
DEFAULT_R2 = 0.2


def clump_tuples(tuples: IntArray, linkage: Linkage, r2: float) -> IntArray:
    """Return the lead of each tuple, as a row: its own where it is a lead, (n,) int64.

    A tuple joins the first lead whose members match its own one to one: each is the same variable, or has an r² of at
    least `r2` with it. Tuples that join are no leads themselves, so that a clump does not grow along a chain.

    Parameters
    ----------
    tuples : (n, k) int64
        The one with the smallest p-value first; numbers as in `linkage`.

    Examples
    --------
    Variables 0 and 1 are correlated, and so are 5 and 6:

    >>> linked = Linkage(np.array([0, 1, 5, 6, 9]), np.array([[0, 1], [2, 3]]), np.array([0.9, 0.5]), 0.05, [],
    ...                  np.empty(0))
    >>> clump_tuples(np.array([[0, 5], [1, 6], [1, 9], [0, 9]]), linked, 0.2).tolist()
    [0, 0, 2, 2]
    """
    neighbours = neighbours_of(linkage, r2)
    lead_of = np.arange(len(tuples), dtype=np.int64)
    #: The leads that have a variable as a member, ascending.
    leads_with: dict[int, list[int]] = {}
    listed: list[list[int]] = tuples.tolist()
    for row, members in enumerate(listed):
        lead = _first_match(members, listed, leads_with, neighbours)
        if lead is None:
            for member in members:
                leads_with.setdefault(member, []).append(row)
        else:
            lead_of[row] = lead
    return lead_of


def _first_match(
    members: list[int],
    listed: list[list[int]],
    leads_with: dict[int, list[int]],
    neighbours: dict[int, set[int]],
) -> int | None:
    # Leads of the member that has the fewest: the others cannot match.
    near = [[leads_with[v] for v in neighbours.get(m, {m}) if v in leads_with] for m in members]
    fewest = min(near, key=lambda leads: sum(map(len, leads)))
    candidates: Iterable[int] = sorted({lead for leads in fewest for lead in leads})
    linked = [neighbours.get(m, {m}) for m in members]
    for lead in candidates:
        if _matches(linked, listed[lead]):
            return lead
    return None


def _matches(linked: Sequence[set[int]], lead: list[int]) -> bool:
    """Say whether the members of a lead, in some order, are each linked to one of the others."""
    if len(lead) == 2:
        (a, b), (one, other) = lead, linked
        return (a in one and b in other) or (b in one and a in other)
    return any(all(v in near for v, near in zip(order, linked, strict=True)) for order in permutations(lead))


def neighbours_of(linkage: Linkage, r2: float) -> dict[int, set[int]]:
    """Return the variables that are correlated with each, itself among them."""
    near: dict[int, set[int]] = {}
    strong = linkage.variables[linkage.pairs[linkage.r2 >= r2]]
    for one, other in strong.tolist():
        near.setdefault(one, {one}).add(other)
        near.setdefault(other, {other}).add(one)
    return near
