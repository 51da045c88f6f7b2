"""Columns of a table → which of them are correlated, as a sparse list of r²: the linkage of genotypes, and its like.

r² of two numbers is the squared correlation: of their values where these are few (dosages of genotypes), else of their
ranks. Of a number and labels it is the squared correlation ratio, of labels the square of Cramér's V.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Annotated

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray, mid_ranks, numbered
from interplay.data.study.positions import NOWHERE, Positions
from interplay.data.study.table import Table
from interplay.files.types import Check

#: r² below this are not kept.
FLOOR = 0.05

#: More pairs than this are not kept: the strongest are, and the floor is higher.
MAX_PAIRS = 2_000_000

#: Linkage of more columns than this is not computed.
MAX_COLUMNS = 30_000

#: Products that are added up at most, seconds of one core: beyond, pairs are found in samples at equal distances.
_MAX_PRODUCTS = 1e11
_FEWEST_SAMPLES = 1024

#: Pairs found so are compared in all samples while these are at most as many products, and values of columns.
_MAX_EXACT_PRODUCTS = 2e9
_MAX_EXACT_VALUES = 2e8

#: Rows and columns of a block of the matrix of correlations, which is never there as a whole: it fits into a cache.
_BLOCK, _BLOCK_WIDTH = 256, 2048

#: Values that are scaled at a time, for the same reason.
_VALUES = 1 << 17


@dataclass(frozen=True, eq=False)
class Linkage:
    """The r² of the members of listed tuples, where it is not small, and where the members lie."""

    #: (n_linked,): numbers of the members, ascending.
    variables: Annotated[IntArray, Check("n_linked", low=0, below="n_vars")]
    #: (n_pairs, 2): places in `variables` of two that are correlated, ascending.
    pairs: Annotated[IntArray, Check("n_pairs 2", low=0, below="n_linked")]
    r2: Annotated[FloatArray, Check("n_pairs", low=0, high=1)]
    #: Smaller r² were not kept.
    floor: Annotated[float, Check(low=0, high=1)]
    #: Of each member; "" where not known. Empty if no positions are known.
    chromosome: Annotated[list[str], Check("n_placed")]
    #: (n_linked,): NaN where not known. Empty if no positions are known.
    position: Annotated[FloatArray, Check("n_placed")]

    def is_consistent(self) -> bool:
        """Say whether members are in order, and all or none are placed: a file may say anything."""
        return bool((np.diff(self.variables) > 0).all()) and len(self.position) in (0, len(self.variables))

    def placed(self, positions: Positions) -> Linkage:
        """Return the same with other positions, of all variables of the result."""
        chromosome, position = _placed(self.variables, positions)
        return replace(self, chromosome=chromosome, position=position)

    def place_of(self, variable: int) -> tuple[str, float] | None:
        """Return the chromosome and the position of a member; None where they are not known."""
        at = int(np.searchsorted(self.variables, variable))
        if at >= len(self.position) or self.variables[at] != variable or np.isnan(self.position[at]):
            return None
        return self.chromosome[at], float(self.position[at])


def make_linkage(
    table: Table,
    variables: IntArray,
    numbers: IntArray,
    by_rank: BoolArray,
    positions: Positions | None = None,
) -> Linkage | None:
    """Compare some columns of a table with each other; None if they are more than `MAX_COLUMNS`.

    - `variables` (m,): the columns, ascending.
    - `numbers` (m,): their numbers in the result, ascending.
    - `by_rank` (m,): which numbers are compared by ranks.
    - `positions`: of all columns of the table.
    """
    if len(variables) > MAX_COLUMNS:
        return None
    n, m = table.n_samples, len(variables)
    n_used = min(n, max(int(_MAX_PRODUCTS / max(m, 1) ** 2), _FEWEST_SAMPLES))
    rows, first = linkage_rows(table, variables, by_rank, n_used=n_used)
    pairs, r2, floor = _linked_pairs(rows, first)
    involved = np.unique(pairs)
    if n_used < n and len(pairs) * n <= _MAX_EXACT_PRODUCTS and len(involved) * n <= _MAX_EXACT_VALUES:
        rows, first = linkage_rows(table, variables[involved], by_rank[involved], n_used=n)
        r2 = _exact(rows, first, np.searchsorted(involved, pairs), r2)
        pairs, r2 = pairs[r2 >= floor], r2[r2 >= floor]
    chromosome, position = _places(table, variables, positions)
    return Linkage(numbers.astype(np.int64), pairs, r2, floor, chromosome, position)


def _exact(rows: npt.NDArray[np.float32], first: IntArray, pairs: IntArray, r2: FloatArray) -> FloatArray:
    """Compare pairs again in all samples; those with labels keep their r²."""
    one_row = np.diff(first) == 1
    again = np.flatnonzero(one_row[pairs].all(axis=1))
    exact = r2.copy()
    for some in np.array_split(again, max(len(again) * rows.shape[1] // 10**7, 1)):
        a, b = rows[first[pairs[some, 0]]], rows[first[pairs[some, 1]]]
        exact[some] = np.minimum(np.einsum("ij,ij->i", a, b) ** 2, 1.0)
    return exact


def linkage_rows(
    table: Table, variables: IntArray, by_rank: BoolArray, *, n_used: int
) -> tuple[npt.NDArray[np.float32], IntArray]:
    """Return rows of length 1 whose products are correlations, and the first row of each column, with the end.

    A number has one row, centred; a label has one for each level: (n_rows, n_samples_used) and (m + 1,).
    """
    n = table.n_samples
    samples = np.arange(n) if n <= n_used else np.linspace(0, n - 1, n_used).astype(np.int64)
    parts: list[npt.NDArray[np.float32]] = []
    step = max(_VALUES // max(n, 1), 1)
    for start in range(0, len(variables), step):
        some = variables[start : start + step]
        values = table.columns(some)
        values = values if len(samples) == n else values[:, samples]
        ranked = by_rank[start : start + step]
        is_label = table.is_label[some]
        scaled = np.empty(values.shape, dtype=np.float32)
        for is_ranked in (False, True):
            of_kind = np.flatnonzero((ranked == is_ranked) & ~is_label)
            if len(of_kind):
                scaled[of_kind] = scaled_rows(values[of_kind].astype(np.float64), is_ranked)
        parts += [_level_rows(values[i]) if is_label[i] else scaled[i : i + 1] for i in range(len(some))]
    sizes = [len(part) for part in parts]
    rows = np.concatenate(parts) if parts else np.empty((0, len(samples)), dtype=np.float32)
    return rows, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def scaled_rows(values: FloatArray, ranks: bool) -> FloatArray:
    """Return values, or ranks, around their mean and of length 1; missing and infinite values count as the mean."""
    known = np.isfinite(values)
    if ranks:
        known = ~np.isnan(values)
        values = mid_ranks(np.where(known, values, np.inf))
    if known.all():
        values = values - values.mean(axis=1, keepdims=True)
    else:
        values = np.where(known, values, 0.0)
        values -= values.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
        values[~known] = 0.0
    # Times a power of two: squares neither overflow nor vanish.
    values = np.ldexp(values, -np.frexp(np.abs(values).max(axis=1, keepdims=True, initial=0.0))[1])
    length = np.sqrt((values**2).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(values, length, out=np.zeros_like(values), where=length > 0))


def _level_rows(values: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
    """Return the samples of each level, of length 1; missing values are a level of their own."""
    levels = numbered(values)
    counts = np.bincount(levels)
    if len(counts) < 2:  # one value says nothing
        return np.zeros((1, len(levels)), dtype=np.float32)
    rows = np.zeros((len(counts), len(levels)), dtype=np.float32)
    rows[levels, np.arange(len(levels))] = 1 / np.sqrt(counts[levels])
    return rows


def squared_associations(
    rows: npt.NDArray[np.float32], first: IntArray, others: npt.NDArray[np.float32], first_of_others: IntArray
) -> npt.NDArray[np.float32]:
    """Return r² of some columns, by their rows, with others: (m, n_others)."""
    sums = rows @ others.T
    np.square(sums, out=sums)
    sizes, of_others = np.diff(first), np.diff(first_of_others)
    if len(sums) == len(sizes) and sums.shape[1] == len(of_others):
        return np.asarray(np.minimum(sums, 1.0, out=sums))
    sums = np.add.reduceat(np.add.reduceat(sums, first[:-1], axis=0), first_of_others[:-1], axis=1)
    # Of two labels, the sum over levels is 1 + χ²/N.
    both = (sizes[:, np.newaxis] > 1) & (of_others > 1)
    smaller = np.minimum(sizes[:, np.newaxis], of_others)
    found = np.where(both, (sums - 1) / np.maximum(smaller - 1, 1), sums)
    return np.asarray(np.clip(found, 0.0, 1.0), dtype=np.float32)


def _linked_pairs(rows: npt.NDArray[np.float32], first: IntArray) -> tuple[IntArray, FloatArray, float]:
    m, floor = len(first) - 1, FLOOR
    found: list[IntArray] = []
    r2: list[npt.NDArray[np.float32]] = []
    for start in range(0, m, _BLOCK):
        stop = min(start + _BLOCK, m)
        for left in range(start, m, _BLOCK_WIDTH):
            right = min(left + _BLOCK_WIDTH, m)
            block, others = rows[first[start] : first[stop]], rows[first[left] : first[right]]
            ends = first[start : stop + 1] - first[start], first[left : right + 1] - first[left]
            of_block = squared_associations(block, ends[0], others, ends[1])
            one, other = np.nonzero(of_block >= floor)
            above = other + left > one + start
            one, other = one[above], other[above]
            found.append(np.column_stack([one + start, other + left]).astype(np.int64))
            r2.append(of_block[one, other])
        if sum(map(len, r2)) > 2 * MAX_PAIRS:
            found, r2, floor = _strongest(found, r2, floor)
    found, r2, floor = _strongest(found, r2, floor)
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *found])
    order = np.argsort(pairs[:, 0] * m + pairs[:, 1])
    return pairs[order], np.concatenate([np.empty(0), *r2]).astype(np.float64)[order], floor


def _strongest(
    found: list[IntArray], r2: list[npt.NDArray[np.float32]], floor: float
) -> tuple[list[IntArray], list[npt.NDArray[np.float32]], float]:
    """Keep the strongest pairs where they are too many, and raise the floor."""
    if sum(map(len, r2)) <= MAX_PAIRS:
        return found, r2, floor
    pairs, strength = np.concatenate(found), np.concatenate(r2)
    floor = float(np.partition(strength, -MAX_PAIRS)[-MAX_PAIRS])
    kept = strength >= floor
    return [pairs[kept]], [strength[kept]], floor


def _placed(variables: IntArray, positions: Positions) -> tuple[list[str], FloatArray]:
    numbers = positions.chromosome[variables]
    labels = [positions.labels[c] if c != NOWHERE else "" for c in numbers.tolist()]
    return labels, np.where(numbers == NOWHERE, np.nan, positions.position[variables])


def _places(table: Table, variables: IntArray, positions: Positions | None) -> tuple[list[str], FloatArray]:
    if positions is not None:
        return _placed(variables, positions)
    known: Sequence[tuple[str, float]] | None = table.positions
    if known is None:
        return [], np.empty(0)
    places = [known[v] for v in variables.tolist()]
    return [str(where) for where, _ in places], np.array([float(at) for _, at in places])


#: The r² from which on tuples are taken as one signal, unless a call says otherwise.
DEFAULT_R2 = 0.2


def clump_tuples(tuples: IntArray, linkage: Linkage, r2: float) -> IntArray:
    """Return the lead of each tuple, as a row: its own where it is a lead, (n,) int64.

    A tuple joins the first lead whose members match its own one to one: each is the same variable, or has an r² of at
    least `r2` with it. Tuples that join are no leads themselves, so that a clump does not grow along a chain.

    `tuples` (n, k): the one with the smallest p-value first; numbers as in `linkage`.

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
