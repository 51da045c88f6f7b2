"""Classes, groups, strata → the relabelings that are as likely as the observed one if there is nothing but chance.

A block is a set of samples whose labels may change places, with the ways in which they may.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from typing import Literal, Protocol

import numpy as np

from interplay.base.arrays import IntArray, numbered
from interplay.base.checks import warn

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

    @property
    def n_swapped(self) -> int:
        """Samples of groups whose labels swap their names."""
        is_whole = self.stratum.min() == self.stratum.max()
        return int(sum(row.size for row in self.labels if is_whole and _changes_once(row)))

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
        if not len(ends) and _changes_once(row):
            return np.unique([row, row[0] + row[-1] - row], axis=0)
        return np.unique([row, backwards], axis=0)


def _changes_once(row: IntArray) -> bool:
    return bool(np.count_nonzero(np.diff(row)) == 1)


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


#: Of more classes than this, no other names are tried: the smallest p-value told is then a little too small.
_MAX_RENAMED = 6

#: Where flips and exchanges give fewer relabelings, labels of groups of so many samples and more are shifted as well.
_MIN_FLIPS, _MIN_SHIFTED = 200, 40

Kind = Literal["samples", "whole groups", "within groups", "in order", "shifted"]


@dataclass(frozen=True, eq=False)
class Exchangeability:
    """Which relabelings of the samples are allowed."""

    #: (n_samples,): observed classes, 0 … n_classes − 1.
    codes: IntArray
    #: The units that change places: "samples"; labels of "whole groups", where each group has one class; or, where
    #: classes vary "within groups", whole groups of the same size, and samples within a group. Where samples of a group
    #: have an order, labels of whole groups of the same size, "in order", are exchanged and flipped, or "shifted".
    kind: Kind
    #: Groups in all; as many as samples where there are none.
    n_groups: int
    #: Labels change places within each.
    blocks: tuple[Block, ...]
    #: Whether labels number the values of a number outcome, ascending: then they have no other names, but highest and
    #: lowest may change places.
    are_ordered: bool = False

    @cached_property
    def n_relabelings(self) -> float:
        """Distinct relabelings, the observed one among them; infinite where they are more than 1e15."""
        total = 1.0
        for block in self.blocks:
            total *= block.n_relabelings
        return total if total <= 1e15 else np.inf

    def n_used(self, n_permutations: int) -> int:
        """Return how many relabelings beside the observed one are used: all, where there are no more than asked for."""
        return int(min(n_permutations, self.n_relabelings - 1))

    def smallest_p(self, n_permutations: int) -> float:
        """Return the smallest p-value that a statistic which does not know the names of the classes can have.

        Where all relabelings are used, those that only rename the classes are reached as well.
        """
        if self.n_relabelings - 1 > n_permutations:
            return 1.0 / (n_permutations + 1)
        return self._n_renamed() / self.n_relabelings

    def relabelings(self, n_permutations: int, stream_of: Callable[[int], np.random.RandomState]) -> Iterator[IntArray]:
        """Yield the classes, (n_samples,), of one relabeling after the other.

        All relabelings but the observed one, where these are at most `n_permutations`; else that many, each drawn from
        a random stream of its own: number b from ``stream_of(b)``, so that parts of them can be made anywhere.
        """
        if self.n_relabelings - 1 <= n_permutations:
            yield from self._all_others()
            return
        for number in range(n_permutations):
            stream = stream_of(number)
            relabeled = self.codes.copy()
            for block in self.blocks:
                relabeled[block.samples] = block.draw(stream)
            yield relabeled

    @property
    def varies_within_groups(self) -> bool:
        """Whether labels vary within groups."""
        return self.kind in _VARYING

    @property
    def are_swapped(self) -> bool:
        """Whether labels of most samples swap their names, such as before and after.

        These change in one direction alone. A cut at the median of all samples then moves with columns whose spread
        grows over the visits, and gains had false finds in .08 of tables with columns that drift.
        """
        swapped = sum(block.n_swapped for block in self.blocks if isinstance(block, OrderedGroups))
        return swapped > len(self.codes) / 2

    @property
    def n_fixed(self) -> int:
        """Samples that have the same label in all relabelings."""
        return sum(len(block.samples) for block in self.blocks if block.n_relabelings == 1)

    def in_words(self) -> str:
        """Return the units that change places, in words."""
        if self.kind == "samples":
            return "labels of single samples"
        if self.kind == "whole groups":
            return f"labels of {self.n_groups} whole groups"
        if self.kind == "shifted":
            groups = "one series" if self.n_groups == 1 else f"{self.n_groups} groups"
            return f"labels in their order, shifted and read backwards ({groups})"
        if self.kind == "in order":
            return (
                "labels in their order, flipped within groups and exchanged between groups of the same size "
                f"({self.n_groups} groups)"
            )
        return f"labels within groups and between groups of the same size ({self.n_groups} groups)"

    def _all_others(self) -> Iterator[IntArray]:
        movable = [block for block in self.blocks if block.n_relabelings > 1]
        for relabeled in _all_of(movable, self.codes):
            if not (relabeled == self.codes).all():
                yield relabeled

    def _n_renamed(self) -> int:
        """Count the relabelings that divide the samples as the observed one does."""
        n_classes = int(self.codes.max()) + 1
        if self.are_ordered:
            reversed_ = np.arange(n_classes)[::-1]
            return 1 + all(block.allows_renaming(reversed_) for block in self.blocks)
        if n_classes > _MAX_RENAMED:
            return 1
        renamings = (np.array(order) for order in permutations(range(n_classes)))
        return sum(all(block.allows_renaming(renamed) for block in self.blocks) for renamed in renamings)


def exchangeability(
    codes: IntArray,
    *,
    groups: IntArray | None = None,
    strata: IntArray | None = None,
    order: IntArray | None = None,
    are_ordered: bool = False,
) -> Exchangeability:
    """Return the relabelings that are allowed.

    Without groups, samples of one stratum change places. Where every group has one class, the labels of whole groups
    do, among groups that have samples in the same strata. Where classes vary within some group, groups that have as
    many samples in each stratum change places as a whole, and so do samples of one group and stratum. Where these have
    an order, they keep it (`OrderedGroups`); if many groups share their places in it, a clock, those with the same
    places change places. Labels are shifted where there are too few other relabelings.

    - `codes` (n_samples,): classes from 0 on.
    - `groups`, `strata` (n_samples,): numbers from 0 on, none missing.
    - `order` (n_samples,): place of each sample in the order of its group.
    - `are_ordered`: whether the classes number the values of a number outcome.

    Examples
    --------
    >>> import numpy as np
    >>> donors = np.repeat(np.arange(8), 5)
    >>> allowed = exchangeability(np.repeat([0, 0, 0, 0, 1, 1, 1, 1], 5), groups=donors)
    >>> allowed.kind, allowed.n_relabelings, round(allowed.smallest_p(199), 3)
    ('whole groups', 70.0, 0.029)
    """
    stratum = np.zeros(len(codes), dtype=np.int64) if strata is None else strata
    if groups is None:
        blocks: list[Block] = []
        for number in range(int(stratum.max()) + 1):
            samples = np.flatnonzero(stratum == number)
            blocks.append(WholeGroups(samples, np.arange(len(samples)), codes[samples]))
        return Exchangeability(codes, "samples", len(codes), tuple(blocks), are_ordered)
    n_groups = int(groups.max()) + 1
    in_stratum = np.zeros((n_groups, int(stratum.max()) + 1), dtype=np.int64)
    np.add.at(in_stratum, (groups, stratum), 1)
    label = np.zeros(n_groups, dtype=np.int64)
    label[groups] = codes
    varies = np.zeros(n_groups, dtype=bool)
    varies[groups[codes != label[groups]]] = True
    if not varies.any():
        alike = numbered(in_stratum > 0, axis=0)
        whole = [_whole_groups(np.flatnonzero(alike == kind), groups, label) for kind in range(int(alike.max()) + 1)]
        return Exchangeability(codes, "whole groups", n_groups, tuple(whole), are_ordered)
    if order is not None and len(np.unique(order)) <= len(order) / 2:
        in_stratum = np.concatenate([in_stratum, _places(order, groups, n_groups)], axis=1)
    alike = numbered(in_stratum, axis=0)
    # Samples, group by group, and in it stratum by stratum, and in it in order.
    by_place = np.lexsort((np.zeros_like(groups) if order is None else order, stratum, groups))
    n_samples = np.bincount(groups, minlength=n_groups)
    start = np.cumsum(n_samples) - n_samples
    rows = []
    for kind in range(int(alike.max()) + 1):
        members = np.flatnonzero(alike == kind)
        rows.append(by_place[start[members][:, np.newaxis] + np.arange(n_samples[members[0]])])
    if order is None:
        parts = tuple(AlikeGroups(slots, codes[slots], stratum[slots[0]]) for slots in rows)
        return Exchangeability(codes, "within groups", n_groups, parts, are_ordered)
    flipped = tuple(OrderedGroups(slots, codes[slots], stratum[slots[0]]) for slots in rows)
    found = Exchangeability(codes, "in order", n_groups, flipped, are_ordered)
    if found.n_relabelings >= _MIN_FLIPS or n_samples.max() < _MIN_SHIFTED:
        return found
    shifted = tuple(replace(one, is_shifted=one.slots.shape[1] >= _MIN_SHIFTED) for one in flipped)
    return Exchangeability(codes, "shifted", n_groups, shifted, are_ordered)


def _places(order: IntArray, groups: IntArray, n_groups: int) -> IntArray:
    """Return the places of each group's samples, ascending, a row per group, which ends with -1 where it has fewer."""
    by_group = np.lexsort((order, groups))
    sizes = np.bincount(groups, minlength=n_groups)
    column = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places = np.full((n_groups, int(sizes.max())), -1, dtype=np.int64)
    places[groups[by_group], column] = order[by_group]
    return places


def _all_of(blocks: Sequence[Block], codes: IntArray) -> Iterator[IntArray]:
    """Return every combination of the blocks' labelings, one at a time: they may be many."""
    if not blocks:
        yield codes
        return
    for labels in blocks[0].all():
        relabeled = codes.copy()
        relabeled[blocks[0].samples] = labels
        yield from _all_of(blocks[1:], relabeled)


def _whole_groups(members: IntArray, groups: IntArray, label: IntArray) -> WholeGroups:
    number = np.full(len(label), -1, dtype=np.int64)
    number[members] = np.arange(len(members))
    samples = np.flatnonzero(number[groups] >= 0)
    return WholeGroups(samples, number[groups[samples]], label[members])


#: Kinds of relabelings where classes vary within groups, and words for the order of samples.
_VARYING = {"within groups": "", "in order": ", which have an order,", "shifted": ", which have an order,"}


def check_reach(
    allowed: Exchangeability, *, level: float, n_permutations: int, n_runs: int = 1, what: str = ""
) -> None:
    """Refuse a significance level that no p-value can go below.

    - `n_permutations`: as asked for.
    - `n_runs`: p-values are multiplied by this, the number of comparisons of classes.
    - `what`: which comparison this is, where there are several.
    """
    if allowed.n_relabelings == 1:
        raise ValueError(f"{_argument(allowed)}{_of(what)}: {_why_nothing(allowed)}")
    smallest = allowed.smallest_p(n_permutations) * n_runs
    if smallest < level:
        _warn_of_fixed(allowed, what)
        return
    if allowed.n_relabelings - 1 > n_permutations:
        needed = math.floor(n_runs / level)
        needed += n_runs / (needed + 1) >= level  # the p-value must be below
        raise ValueError(
            f"n_permutations={n_permutations} gives no p-value below {smallest:.3g}, which is not below "
            f"level={level:g}: use at least {needed}"
        )
    times = f", times {n_runs} comparisons of classes" if n_runs > 1 else ""
    raise ValueError(
        f"{_argument(allowed)}{_of(what)}: {_counted_groups(allowed)} can be relabelled in "
        f"{int(allowed.n_relabelings)} ways. Therefore no p-value is below {smallest:.3g}{times}, and none can be "
        f"below level={level:g}: more {'samples' if allowed.kind == 'samples' else 'groups'} are needed, or a higher "
        "significance level"
    )


def _argument(allowed: Exchangeability) -> str:
    if allowed.kind == "samples":
        return "permutations"
    return "order" if allowed.n_groups == 1 else "groups"


def _of(what: str) -> str:
    return f", {what}" if what else ""


def _counted_groups(allowed: Exchangeability) -> str:
    if allowed.varies_within_groups:
        groups = "one series" if allowed.n_groups == 1 else f"{allowed.n_groups} groups"
        return f"the samples of {groups}" + _VARYING[allowed.kind]
    unit = "samples" if allowed.kind == "samples" else "groups"
    labels = np.concatenate([block.labels for block in allowed.blocks if isinstance(block, WholeGroups)])
    listed = " against ".join(str(number) for number in np.bincount(labels))
    return f"{listed} {unit}" + (" in their strata" if len(allowed.blocks) > 1 else "")


def _why_nothing(allowed: Exchangeability) -> str:
    if allowed.kind == "samples":
        return (
            "no two samples of one stratum have different classes, so that no labels can be exchanged: use other strata"
        )
    if allowed.kind == "whole groups":
        return (
            "no two groups with samples in the same strata have different classes, so that no labels can be exchanged: "
            "use other strata, or none"
        )
    return (
        "in no group do samples of one stratum have different classes, and no two groups of the same size have "
        "different ones, so that no labels can be exchanged: leave out the groups of two classes, or use other strata"
    )


def _warn_of_fixed(allowed: Exchangeability, what: str) -> None:
    """Warn where most samples never change their label: the test is valid, but has little power."""
    share = allowed.n_fixed / len(allowed.codes)
    if share <= 0.5:
        return
    reason = (
        "y varies within some groups, so that labels are exchanged only within groups and between those of one size"
        if allowed.varies_within_groups
        else "labels are exchanged only between groups with samples in the same strata"
    )
    warn(
        f"{_argument(allowed)}{_of(what)}: {share:.0%} of the samples keep their label in all permutations, which "
        f"reduces the power ({reason}): leave out the groups that cause this, or use other strata"
    )
