"""Blocks: sets of samples whose labels may change places, and the ways in which they may."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Protocol

import numpy as np

from interplay.base.arrays import IntArray, numbered

#: Numbers of relabelings beyond this are not told apart: all of them will never be gone through.
MANY = 10**15

#: Labels of a group are shifted if they change so often, from the last to the first as well.
_MIN_CHANGES = 8


class Block(Protocol):
    """Samples whose labels change places among themselves only."""

    @property
    def n_relabelings(self) -> float:
        """Distinct labelings, the observed one among them; infinite beyond `MANY`."""
        ...

    @property
    def samples(self) -> IntArray:
        """Numbers of the samples, those of one group or place together."""
        ...

    def draw(self, stream: np.random.RandomState) -> IntArray:
        """Return labels of the `samples`, all labelings being equally likely."""
        ...

    def all(self) -> Iterator[IntArray]:
        """Return every distinct labeling of the `samples` once."""
        ...

    def allows_renaming(self, renamed: IntArray) -> bool:
        """Say whether labels renamed so (class c is called ``renamed[c]``) are one of the labelings."""
        ...


@dataclass(frozen=True, eq=False)
class WholeGroups:
    """Groups with one label each, of whatever size; the labels of whole groups change places."""

    samples: IntArray  #: (n,)
    #: (n,): number of the group of each of these samples, 0 … n_groups − 1.
    group: IntArray
    labels: IntArray  #: (n_groups,)

    @property
    def n_relabelings(self) -> float:
        return multinomial(np.bincount(self.labels))

    def draw(self, stream: np.random.RandomState) -> IntArray:
        return self.labels[stream.permutation(len(self.labels))][self.group]

    def all(self) -> Iterator[IntArray]:
        for labels in distinct_orders(self.labels.tolist()):
            yield np.array(labels)[self.group]

    def allows_renaming(self, renamed: IntArray) -> bool:
        counts = np.bincount(self.labels, minlength=len(renamed))
        return bool((counts == counts[renamed]).all())


@dataclass(frozen=True, eq=False)
class AlikeGroups:
    """Groups of as many samples in each stratum, whose samples differ in their labels.

    Whole groups change places, and so do the samples of a group that are in one stratum.
    """

    #: (n_groups, size): sample numbers; in all rows, the samples of a stratum stand in the same columns.
    slots: IntArray
    labels: IntArray  #: (n_groups, size)
    #: (size,): stratum of each column, ascending.
    stratum: IntArray

    @property
    def samples(self) -> IntArray:
        return self.slots.reshape(-1)

    @property
    def n_relabelings(self) -> float:
        """Orders of the groups' contents, times the orders within each group and stratum."""
        # Labels in order, stratum by stratum; a table of counts by class would be huge where labels are many.
        places = np.lexsort((self.labels, np.broadcast_to(self.stratum, self.labels.shape)), axis=1)
        contents = np.take_along_axis(self.labels, places, axis=1)
        total = multinomial(np.unique(contents, axis=0, return_counts=True)[1])
        ends = np.flatnonzero(np.diff(self.stratum)) + 1
        for of_group in contents:
            for of_stratum in np.split(of_group, ends):
                total *= multinomial(np.unique(of_stratum, return_counts=True)[1])
                if total > MANY:
                    return math.inf
        return total

    def draw(self, stream: np.random.RandomState) -> IntArray:
        labels = self.labels[stream.permutation(len(self.labels))]
        places = np.argsort(self.stratum + 0.999 * stream.random_sample(labels.shape), axis=1)
        return np.take_along_axis(labels, places, axis=1).reshape(-1)

    def all(self) -> Iterator[IntArray]:
        contents = self._contents()
        kinds, kind = np.unique(contents, axis=0, return_inverse=True)
        classes = np.arange(self._n_classes)
        for order in distinct_orders(kind.reshape(-1).tolist()):
            counts = kinds[order].reshape(-1, self._n_classes)
            parts = [list(distinct_orders(np.repeat(classes, of_part).tolist())) for of_part in counts]
            for labels in product(*parts):
                yield np.concatenate([np.array(part, dtype=np.int64) for part in labels])

    def allows_renaming(self, renamed: IntArray) -> bool:
        contents = self._contents(len(renamed))
        as_renamed = contents.reshape(len(contents), -1, len(renamed))[:, :, renamed].reshape(contents.shape)
        return _sorted_rows(contents) == _sorted_rows(as_renamed)

    @property
    def _n_classes(self) -> int:
        return int(self.labels.max()) + 1

    def _contents(self, n_classes: int | None = None) -> IntArray:
        """Samples of each class in each stratum, a row per group."""
        n = self._n_classes if n_classes is None else n_classes
        column = numbered(self.stratum)
        counts = np.zeros((len(self.labels), int(column.max()) + 1, n), dtype=np.int64)
        rows = np.arange(len(self.labels))[:, np.newaxis]
        np.add.at(counts, (rows, column[np.newaxis], self.labels), 1)
        return counts.reshape(len(self.labels), -1)


@dataclass(frozen=True, eq=False)
class OrderedGroups:
    """Groups of as many samples in each stratum, whose samples have an order and differ in their labels.

    Labels of whole groups change places, in their order, and those of a group are flipped or not. Labels that change
    once, such as before and after, swap their names; others are read backwards. Neighbours stay neighbours, so that
    columns that drift, or that resemble themselves a while later, are compared with labels that do as well.
    """

    #: `slots`, `labels`, `stratum`: as in `AlikeGroups`, the samples of a stratum in their order.
    slots: IntArray
    labels: IntArray
    stratum: IntArray
    #: Whether labels that change often are moved along their group as well, from the end to the beginning. A single
    #: change in a long series, moved, would be compared with series that begin where they end.
    is_shifted: bool = False

    @property
    def samples(self) -> IntArray:
        return self.slots.reshape(-1)

    @property
    def n_relabelings(self) -> float:
        kinds = np.unique([versions[0] for versions in self._versions], axis=0, return_counts=True)[1]
        total = multinomial(kinds)
        for versions in self._versions:
            total *= len(versions)
        return total if total <= MANY else math.inf

    def draw(self, stream: np.random.RandomState) -> IntArray:
        order = stream.permutation(len(self.labels)).tolist()
        chosen = [self._versions[row][stream.randint(len(self._versions[row]))] for row in order]
        return np.concatenate(chosen)

    def all(self) -> Iterator[IntArray]:
        kinds, kind = np.unique([versions[0] for versions in self._versions], axis=0, return_inverse=True)
        for order in distinct_orders(kind.reshape(-1).tolist()):
            for labels in product(*(self._versions_of(kinds[number]) for number in order)):
                yield np.concatenate(labels)

    def allows_renaming(self, renamed: IntArray) -> bool:
        firsts = np.array([versions[0] for versions in self._versions])
        as_renamed = np.array([self._versions_of(row)[0] for row in renamed[self.labels]])
        return _sorted_rows(firsts) == _sorted_rows(as_renamed)

    @cached_property
    def _versions(self) -> list[IntArray]:
        return [self._versions_of(row) for row in self.labels]

    def _versions_of(self, row: IntArray) -> IntArray:
        """Return the distinct labels that those of a group may become, (n_versions, size), in an order of their own."""
        ends = np.flatnonzero(np.diff(self.stratum)) + 1
        backwards = np.concatenate([part[::-1] for part in np.split(row, ends)])
        if self.is_shifted and not len(ends) and np.count_nonzero(row != np.roll(row, 1)) >= _MIN_CHANGES:
            moved = [np.roll(labels, by) for labels in (row, backwards) for by in range(len(row))]
            return np.unique(moved, axis=0)
        if not len(ends) and np.count_nonzero(np.diff(row)) == 1:
            return np.unique([row, row[0] + row[-1] - row], axis=0)
        return np.unique([row, backwards], axis=0)


def _sorted_rows(rows: IntArray) -> list[tuple[int, ...]]:
    return sorted(tuple(row) for row in rows.tolist())


def multinomial(counts: Iterable[int]) -> float:
    """Return the number of distinct orders of items, given the number of equal items of each kind; inf beyond `MANY`.

    Examples
    --------
    >>> multinomial([4, 4])
    70.0
    """
    sizes = sorted((int(count) for count in counts), reverse=True)
    log_number = math.lgamma(sum(sizes) + 1) - sum(math.lgamma(size + 1) for size in sizes)
    if log_number > math.log(MANY) + 1:
        return math.inf
    number, placed = 1, 0
    for size in sizes:  # the largest first, so that each number of choices is quick to compute
        placed += size
        number *= math.comb(placed, size)
    return math.inf if number > MANY else float(number)


def distinct_orders(labels: Sequence[int]) -> Iterator[list[int]]:
    """Return every distinct order of some labels, ascending (Narayana's algorithm).

    Examples
    --------
    >>> list(distinct_orders([1, 0, 0]))
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    order = sorted(labels)
    while True:
        yield list(order)
        i = len(order) - 2
        while i >= 0 and order[i] >= order[i + 1]:
            i -= 1
        if i < 0:
            return
        j = len(order) - 1
        while order[j] <= order[i]:
            j -= 1
        order[i], order[j] = order[j], order[i]
        order[i + 1 :] = order[:i:-1]
