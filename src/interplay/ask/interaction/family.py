"""Which tuples a search is about, and how many they are: all, those with some variables, those far enough apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray, IntArray
from interplay.base.checks import check_choice, check_list, check_real
from interplay.data.study.positions import NOWHERE, Positions, make_positions
from interplay.data.study.table import Table


@dataclass(frozen=True, eq=False)
class TupleFamily:
    """The tuples of a search."""

    n_vars: int
    dimensions: int
    #: (n,): the variables that tuples may hold, ascending; None for all. What follows is about these alone.
    columns: IntArray | None = None
    #: (n,): variables one of which, or all with `require` "all", every tuple must have; None for no such rule.
    first: BoolArray | None = None
    require: str = "any"  #: "any" or "all"
    #: (n,): members but one must be of these; None for no such rule.
    partners: BoolArray | None = None
    positions: Positions | None = None
    #: Members on one chromosome must be as far apart.
    min_distance: float = 0.0
    #: (n,): sets of variables, numbered from 0: every tuple must have members of all; None for no such rule.
    spans: IntArray | None = None

    @property
    def is_all(self) -> bool:
        """Whether all tuples of all variables are searched."""
        rules = (self.columns, self.first, self.partners, self.spans)
        return all(rule is None for rule in rules) and not self.min_distance

    @property
    def n_columns(self) -> int:
        return self.n_vars if self.columns is None else len(self.columns)

    @property
    def asked_for(self) -> BoolArray | None:
        """Variables of which every tuple must have one, for the search: finds outside the family are left out."""
        if self.first is None and self.spans is not None and self.spans.any():
            sizes = np.bincount(self.spans)
            return np.asarray(self.spans == sizes.argmin())
        return self.first

    def spanning(self, number: IntArray, wanted: tuple[int, ...]) -> TupleFamily | None:
        """Return the tuples of the family with members of all `wanted` sets, and of no other; None if there is none.

        `number` (n_vars,): the set of each variable.
        """
        columns = np.arange(self.n_vars) if self.columns is None else self.columns
        kept = np.flatnonzero(np.isin(number[columns], wanted))
        first, partners = (None if each is None else each[kept] for each in (self.first, self.partners))
        spans = np.searchsorted(np.sort(wanted), number[columns[kept]])
        has_first = first is None or bool(first.any())
        if len(kept) < self.dimensions or len(np.unique(spans)) < len(wanted) or not has_first:
            return None
        return replace(
            self,
            columns=columns[kept],
            require="any" if first is None else self.require,
            first=first,
            partners=partners,
            positions=None if self.positions is None else self.positions.of(kept),
            spans=spans,
        )

    def holds(self, tuples: IntArray) -> BoolArray:
        """Say which of the tuples, numbers of `columns`, belong to the family; they fulfil `asked_for` already."""
        inside = np.ones(len(tuples), dtype=bool)
        if self.partners is not None and self.first is not None:
            others = ~self.partners[tuples]
            # The one that is no partner must be of the first set; if all are partners, one must be of both.
            has_first = np.where(
                others.any(axis=1), (others & self.first[tuples]).any(axis=1), self.first[tuples].any(axis=1)
            )
            inside &= (others.sum(axis=1) <= 1) & has_first
        if self.positions is not None:
            chromosome, position = self.positions.chromosome[tuples], self.positions.position[tuples]
            for i, j in combinations(range(self.dimensions), 2):
                same = (chromosome[:, i] == chromosome[:, j]) & (chromosome[:, i] != NOWHERE)
                inside &= ~(same & (np.abs(position[:, i] - position[:, j]) < self.min_distance))
        if self.spans is not None:
            of_members = self.spans[tuples]
            for each in range(int(self.spans.max()) + 1):
                inside &= (of_members == each).any(axis=1)
        return inside

    def first_tuples(self, n: int) -> IntArray:
        """Return the first `n` tuples of the family, by their members, (n, k)."""
        every = combinations(range(self.n_columns), self.dimensions)
        found = [np.empty((0, self.dimensions), dtype=np.int64)]
        while sum(map(len, found)) < n and (some := list(islice(every, 1 << 14))):
            tuples = np.array(some, dtype=np.int64)
            if self.first is not None:
                asked = self.first[tuples]
                tuples = tuples[asked.all(axis=1) if self.require == "all" else asked.any(axis=1)]
            found.append(tuples[self.holds(tuples)])
        return np.concatenate(found)[:n]

    def n_tuples(self) -> int:
        """Count the tuples of the family."""
        everything = np.ones(self.n_columns, dtype=bool)
        if self.first is None:
            return self._n_within(everything)
        if self.partners is not None:
            alone = self.first & ~self.partners
            return self._n_within(alone | self.partners, only_one=alone) - self._n_within(self.partners & ~self.first)
        if self.require == "all":
            return self._n_within(self.first)
        return self._n_within(everything) - self._n_within(~self.first)

    def _n_within(self, chosen: BoolArray, only_one: BoolArray | None = None) -> int:
        """Count tuples of the chosen variables that are far enough apart, with at most one of `only_one`."""
        k = self.dimensions
        few = np.zeros_like(chosen) if only_one is None else only_one
        if self.positions is None:
            n_few, n_many = int((chosen & few).sum()), int((chosen & ~few).sum())
            return comb(n_many, k) + n_few * comb(n_many, k - 1)
        total: _Polynomial = ([1], [0])
        for c in np.unique(self.positions.chromosome[chosen]).tolist():
            here = np.flatnonzero(chosen & (self.positions.chromosome == c))
            here = here[np.argsort(self.positions.position[here], kind="stable")]
            distance = self.min_distance if c != NOWHERE else -1.0
            counts = _n_apart(self.positions.position[here], few[here], distance, k)
            total = _product(total, counts, k)
        return sum(counts[k] for counts in total if len(counts) > k)


def make_family(
    table: Table,
    dimensions: int,
    *,
    variables: Iterable[Any] | None,
    require: str,
    partners: Iterable[Any] | None,
    positions: Any,
    min_distance: float | None,
) -> TupleFamily:
    """Check the arguments that say which tuples to look at, against each other and the table."""
    from interplay.search.settings import asked_for_mask

    check_choice("require", require, ("any", "all"))
    where, distance = None, 0.0
    if min_distance is not None:
        distance = check_real("min_distance", min_distance, low=0.0, low_open=True)
        where = make_positions(positions, table)
    elif positions is not None:
        raise ValueError("positions are only used with min_distance: give min_distance too, or leave positions out")
    columns = second = None
    first = asked_for_mask(table, variables, require, dimensions)
    if partners is not None:
        if first is None:
            raise ValueError("partners need variables: give variables too, or leave partners out")
        if require == "all":
            raise ValueError("partners and require='all' contradict each other: leave one of them out")
        second = np.zeros(table.n_vars, dtype=bool)
        second[table.numbers_of(check_list("partners", partners), "partners")] = True
        columns = np.flatnonzero(first | second)
        first, second = first[columns], second[columns]
        where = None if where is None else where.of(columns)
    family = TupleFamily(
        n_vars=table.n_vars,
        dimensions=dimensions,
        columns=columns,
        first=first,
        require=require,
        partners=second,
        positions=where,
        min_distance=distance,
    )
    if family.n_tuples() == 0:
        raise ValueError(
            f"there is no tuple of {dimensions} variables to search: name more variables or partners, or lower "
            "min_distance or dimensions"
        )
    return family


#: Numbers of tuples by size, without (0) and with (1) a member of the few.
_Polynomial = tuple[list[int], list[int]]


def _product(a: _Polynomial, b: _Polynomial, k: int) -> _Polynomial:
    def times(p: list[int], q: list[int], into: list[int]) -> None:
        for i, x in enumerate(p):
            for j, y in enumerate(q):
                if x and y and i + j <= k:
                    into[i + j] += x * y

    none, one = [0] * (k + 1), [0] * (k + 1)
    times(a[0], b[0], none)
    times(a[0], b[1], one)
    times(a[1], b[0], one)
    return none, one


def _n_apart(position: Any, few: BoolArray, distance: float, k: int) -> _Polynomial:
    """Count subsets of up to k sorted positions whose neighbours are as far apart, by size and members of the few."""
    n = len(position)
    # Of each variable, how many before it are far enough away.
    before = np.arange(n) if distance < 0 else np.searchsorted(position, position - distance, side="right")
    before = np.minimum(before, np.arange(n))
    none, one = [1] + [0] * k, [0] * (k + 1)
    ending_none = np.ones(n, dtype=object)  # subsets of the size at hand that end with a variable
    ending_one = np.zeros(n, dtype=object)
    for size in range(1, k + 1):
        if size == 1:
            now_none, now_one = ending_none, ending_one
        else:
            sums_none = np.concatenate([[0], np.cumsum(ending_none)]) if n else np.zeros(1, dtype=object)
            sums_one = np.concatenate([[0], np.cumsum(ending_one)]) if n else np.zeros(1, dtype=object)
            now_none, now_one = sums_none[before], sums_one[before]
        ending_none = np.where(few, 0, now_none)
        ending_one = np.where(few, now_none, now_one)
        none[size], one[size] = int(sum(ending_none.tolist())), int(sum(ending_one.tolist()))
    return none, one
