"""Columns of variables and of tuples + an outcome → a short list: each member relevant given the others, forward.

A unit is a variable (its scores, or a column for each level but one) or an interacting tuple (a column for each cell).
At each step every unit that is left is tested given all that are chosen, and the one with the smallest p-value is added
if its p-value, times the number of units, is below the significance level. Tuples come second, each given its members
as well, and given the tuple of the chosen variables that resemble these. At the end, units that do not pass the same
bar given all others are dropped: a variable that stood in for a cause, and was added before it, goes. While the chosen
units are not sufficient, steps only add; once they are, the next step adds a unit with a probability of about the
level.

A chosen unit is given with more columns than it is tested by (splines, finer cells): else a variable that resembles it
would be added for an effect of the chosen one that is no straight line in its scores.

How much two variables say the same, 0 if nothing, 1 if one follows from the other; groups of redundant variables.

Of two numbers it is the absolute rank correlation (Spearman's), of a number and labels the correlation ratio of the
ranks, of labels Cramér's V. Each is between 0 and 1 and does not depend on the scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, mid_ranks, numbered
from interplay.base.checks import check_real
from interplay.base.tails import log_beta_cdf
from interplay.data.study.columns import ColumnKind
from interplay.data.study.table import Table
from interplay.files.types import Check
from interplay.infer.given_test import centred_within

#: At most this share of the samples, and this number, are columns of chosen units.
_MAX_SHARE, _MAX_COLUMNS = 0.1, 200

#: The same with the further columns by which chosen units are given: the first ones chosen have them.
_MAX_GIVEN_SHARE, _MAX_GIVEN = 0.3, 400

#: Others leave less than this share of a column's variance: they determine it.
_NOTHING_LEFT = 1e-8

#: Directions of rows with less than this share of the longest one's square are sums of others.
_DEPENDENT = 1e-12


@dataclass(frozen=True, eq=False)
class ShortList:
    """Groups of redundant relevant variables, and a short list of variables that are relevant given each other."""

    #: Association from which on variables are redundant.
    threshold: Annotated[float, Check(above=0, high=1)]
    #: (n_relevant,): of each relevant variable, in order of significance: the number of the variable that stands for
    #: its group.
    representative: Annotated[IntArray, Check("n_relevant", low=0, below="n_vars")]
    #: (n_relevant,): its association with that variable; 1 for the representative itself.
    association: Annotated[FloatArray, Check("n_relevant", low=0, high=1)]
    #: (n_listed,): the short list, in the order in which variables were added.
    variable: Annotated[IntArray, Check("n_listed", low=0, below="n_vars")]
    #: (n_listed,): ln p of each given all others: of the variable, or of the tuple that brought it in.
    log_p: Annotated[FloatArray, Check("n_listed", high=0)]
    #: Why there is no short list, "" if there is one.
    note: str = ""

    @property
    def n_groups(self) -> int:
        return len(np.unique(self.representative))


class Unit(NamedTuple):
    """A variable or a tuple."""

    #: Numbers of the variables.
    members: tuple[int, ...]
    #: (n_columns, n_samples): by which it is tested.
    columns: FloatArray
    #: (n_further, n_samples): beside these, when other units are tested given it: splines, finer cells.
    further: FloatArray | None = None

    def rows(self) -> list[FloatArray]:
        """Return the columns, and further ones if there are any."""
        return [self.columns] if self.further is None else [self.columns, self.further]

    def changed(self, change: Callable[[FloatArray], FloatArray]) -> Unit:
        """Return the unit with other columns in the place of `columns` and `further`, made in this order."""
        return Unit(self.members, change(self.columns), None if self.further is None else change(self.further))


class Listed(NamedTuple):
    """A unit of the short list, and ln p of it given all others."""

    unit: Unit
    log_p: float


#: Members of a tuple, and chosen variables → columns, (n_columns, n_samples), that the tuple is tested given as well.
Beside = Callable[[tuple[int, ...], Sequence[int]], FloatArray]


def choose_short_list(
    singles: Sequence[Unit],
    tuples: Sequence[Unit],
    targets: FloatArray,
    *,
    level: float,
    beside: Beside | None = None,
    alternatives: Callable[[int], Sequence[Unit]] = lambda _: (),
    strata: IntArray | None = None,
    always: FloatArray | None = None,
) -> list[Listed]:
    """Choose units, most informative first.

    - `singles`, `tuples`: variables; tuples of variables.
    - `targets` (n_targets, n_samples): class indicators, or scores of an outcome of numbers or times.
    - `level`: probability of one unit too many; half of it is for tuples where there are some. These tuples are the
      strongest of a search, so that their p-values are multiplied by the number of all tuples of `singles`.
    - `beside`: from the members of a tuple and the chosen variables, columns that the tuple is tested given as well:
      those of its members, and of tuples of chosen variables that say the same.
    - `alternatives`: by the number of a variable, others that are redundant with it: when it is chosen, the one of them
      all that says most given the chosen ones takes its place.
    - `strata` (n_samples,): all columns are centred within strata.
    - `always` (n_columns, n_samples): columns that are given at each step: covariates.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 300))
    >>> units = [Unit((0,), a[None]), Unit((1,), (a + 0.3 * rng.normal(size=300))[None]), Unit((2,), b[None])]
    >>> found = choose_short_list(units, [], (a + b)[None], level=0.05)
    >>> sorted(each.unit.members for each in found)
    [(0,), (2,)]
    """
    n_samples = targets.shape[1]
    codes = np.zeros(n_samples, dtype=np.int64) if strata is None else strata

    def centred(units: Sequence[Unit]) -> list[Unit]:
        return [unit.changed(lambda rows: centred_within(rows, codes)) for unit in units]

    kept: dict[int, tuple[FloatArray, FloatArray]] = {}  # by the arrays themselves, which must stay

    def centred_beside(members: tuple[int, ...], variables: Sequence[int]) -> FloatArray:
        assert beside is not None
        rows = beside(members, variables)
        if id(rows) not in kept:
            kept[id(rows)] = rows, centred_within(rows, codes)
        return kept[id(rows)][1]

    study = _Study(
        targets=centred_within(targets, codes),
        always=centred_within(np.empty((0, n_samples)) if always is None else always, codes),
        beside=None if beside is None else centred_beside,
        n_free=n_samples - int(codes.max(initial=0)) - 1,
        most=int(min(_MAX_SHARE * n_samples, _MAX_COLUMNS)),
        most_given=int(min(_MAX_GIVEN_SHARE * n_samples, _MAX_GIVEN)),
    )
    share = level / 2 if tuples else level
    n_tuples = sum(math.comb(len(singles), size) for size in {len(unit.members) for unit in tuples})
    bars = [math.log(share / max(n, 1)) for n in (len(singles), max(n_tuples, len(tuples)))]
    chosen = study.forward([], centred(singles), bars[0], lambda v: centred(alternatives(v)))
    chosen = study.forward(chosen, centred(tuples), bars[1])
    return study.pruned(chosen, *bars)


@dataclass(frozen=True, eq=False)
class _Study:
    """Tests of units given others, in one set of samples; all rows are centred."""

    targets: FloatArray  #: (n_rows, n_samples)
    always: FloatArray  #: (n_rows, n_samples)
    beside: Beside | None
    #: Dimensions of centred rows.
    n_free: int
    #: `most`, `most_given`: columns of chosen units, and of them with further ones.
    most: int
    most_given: int

    def forward(
        self,
        chosen: list[Unit],
        left: list[Unit],
        bar: float,
        alternatives: Callable[[int], Sequence[Unit]] = lambda _: (),
    ) -> list[Unit]:
        """Add units while ln p of the best one is below the bar."""
        given, left = _Given(self, chosen), list(left)
        while left and sum(len(unit.columns) for unit in given.chosen) < self.most:
            log_p = given.log_p_of(left)
            best = int(np.argmin(log_p))
            if not log_p[best] < bar:
                break
            unit = left.pop(best)
            same = [unit, *alternatives(unit.members[0])]
            given.add([same[int(np.argmin(given.log_p_of(same)))] if len(same) > 1 else unit])
        return given.chosen

    def pruned(self, chosen: list[Unit], bar_of_single: float, bar_of_tuple: float) -> list[Listed]:
        """Drop units, the least significant first, until ln p of each given all others is below its bar.

        A variable is not dropped before the tuples that it is a member of, which are tested given it.
        """
        while chosen:
            log_p = self._given_others(chosen)
            bars = [bar_of_single if len(unit.members) == 1 else bar_of_tuple for unit in chosen]
            inside = {v for unit in chosen if len(unit.members) > 1 for v in unit.members}
            stays = [len(unit.members) == 1 and unit.members[0] in inside for unit in chosen]
            above = np.where(stays, -np.inf, np.subtract(log_p, bars))
            worst = int(np.argmax(above))
            if above[worst] < 0:
                return [Listed(unit, value) for unit, value in zip(chosen, log_p, strict=True)]
            chosen = chosen[:worst] + chosen[worst + 1 :]
        return []

    def _given_others(self, chosen: list[Unit]) -> list[float]:
        """Return ln p of each unit given all others.

        All rows lie in a space of as many dimensions as there are rows, mostly far fewer than samples. Their
        coordinates there are the triangle of a QR decomposition, and have the products of the rows.
        """
        tuples = [(place, unit) for place, unit in enumerate(chosen) if len(unit.members) > 1]
        near: dict[tuple[int, ...], FloatArray] = {}
        if self.beside is not None:
            near = {unit.members: self.beside(unit.members, _variables_of(_without(chosen, at))) for at, unit in tuples}
        parts = [self.targets, self.always, *near.values()]
        parts += [rows for unit in chosen for rows in unit.rows()]
        study = self
        if 2 * sum(map(len, parts)) < self.targets.shape[1]:
            triangle = np.asarray(np.linalg.qr(np.vstack(parts).T, mode="r"))
            coordinates = iter(np.split(triangle.T, np.cumsum([len(part) for part in parts])[:-1]))
            targets, always = next(coordinates), next(coordinates)
            near = {members: next(coordinates) for members in near}
            study = replace(self, targets=targets, always=always)
            chosen = [unit.changed(lambda _: next(coordinates)) for unit in chosen]
        study = replace(study, beside=None if self.beside is None else lambda members, _: near[members])
        if sum(map(len, [study.always, *(row for unit in chosen for row in unit.rows())])) <= self.most_given:
            return _given_each_other(_Given(study, []), chosen)
        return [_Given(study, _without(chosen, place)).log_p_of([unit])[0] for place, unit in enumerate(chosen)]

    def rows_given(self, chosen: list[Unit]) -> list[FloatArray]:
        """Return the columns of chosen units, and further ones while there is room."""
        columns = [self.always, *(unit.columns for unit in chosen)]
        room = self.most_given - sum(map(len, columns))
        for unit in chosen:
            if unit.further is not None and len(unit.further) <= room:
                columns.append(unit.further)
                room -= len(unit.further)
        return columns


class _Left(NamedTuple):
    """What the first `n_known` rows of a basis leave of some rows, whose squares were `before`."""

    rows: FloatArray
    before: FloatArray
    left: FloatArray
    n_known: int


class _Given:
    """Chosen units as an orthonormal basis that grows, and what it leaves of the units that are tested.

    A unit that is added changes what is left of the others by its own rows only: no step starts anew.
    """

    def __init__(self, study: _Study, chosen: list[Unit]) -> None:
        self._study, self.chosen = study, list[Unit]()
        self._forget()
        self.add(chosen)

    def _forget(self) -> None:
        self._basis, self._inside = np.empty((0, self._study.targets.shape[1])), list[FloatArray]()
        self._left: dict[int, _Left] = {}

    def add(self, units: list[Unit]) -> None:
        self.chosen += units
        rows = self._study.rows_given(self.chosen)
        numbers = {id(each) for each in rows}
        if any(id(each) not in numbers for each in self._inside):  # further columns that have no room any more
            self._forget()
        known = {id(each) for each in self._inside}
        new = np.vstack([np.empty((0, self._basis.shape[1])), *(each for each in rows if id(each) not in known)])
        # Once more, since rows that are nearly inside come out of the first pass orthogonal to 1e-4 only.
        for _ in range(2 if len(self._basis) else 1):
            new = orthonormal(beyond(new, self._basis, nothing=_DEPENDENT))
        self._basis, self._inside = np.vstack([self._basis, new]), rows

    def with_more(self, units: list[Unit]) -> _Given:
        """Return the same with more units, which this one does not get."""
        more = copy(self)
        more.chosen, more._left = list(self.chosen), dict(self._left)
        more.add(units)
        return more

    def log_p_of(self, units: list[Unit]) -> list[float]:
        """Return ln p of units given the chosen ones, and, of tuples, given the columns beside them."""
        targets = orthonormal(self._beyond(self._study.targets))
        variables = _variables_of(self.chosen)
        n_free = self._study.n_free - len(self._basis)
        found = []
        for unit in units:
            left = self._beyond(unit.columns)
            if len(unit.members) == 1 or self._study.beside is None:
                found.append(pillai_log_p(targets @ orthonormal(left).T, n_free))
                continue
            more = orthonormal(self._beyond(self._study.beside(unit.members, variables)))
            before = (unit.columns**2).sum(axis=1)
            products = orthonormal(beyond(targets, more)) @ orthonormal(beyond(left, more, before)).T
            found.append(pillai_log_p(products, n_free - len(more)))
        return found

    def _beyond(self, rows: FloatArray) -> FloatArray:
        known = self._left.get(id(rows)) or _Left(rows, (rows**2).sum(axis=1), rows, 0)
        if known.n_known < len(self._basis) or known.left is rows:
            left = beyond(known.left, self._basis[known.n_known :], known.before)
            known = self._left[id(rows)] = known._replace(left=left, n_known=len(self._basis))
        return known.left


def _given_each_other(given: _Given, units: list[Unit]) -> list[float]:
    """Return ln p of each unit given all others, beside those of `given`: halves are given together, and once."""
    if len(units) < 2:
        return given.log_p_of(units)
    first, second = units[: len(units) // 2], units[len(units) // 2 :]
    return [
        *_given_each_other(given.with_more(second), first),
        *_given_each_other(given.with_more(first), second),
    ]


def _without(units: list[Unit], place: int) -> list[Unit]:
    return units[:place] + units[place + 1 :]


def _variables_of(units: Sequence[Unit]) -> list[int]:
    return list(dict.fromkeys(v for unit in units for v in unit.members))


def pillai_log_p(products: FloatArray, n_free: int) -> float:
    """Return ln p of Pillai's trace, which is F for one column or one target.

    - `products` (n_targets, n_columns): of orthonormal targets and columns.
    - `n_free`: dimensions of the space that both lie in.

    Examples
    --------
    >>> round(float(np.exp(pillai_log_p(np.array([[0.5]]), 12))), 4)  # a correlation of 0.5 in 13 samples
    0.0819
    """
    n_targets, n_columns = products.shape
    s, larger = min(n_targets, n_columns), max(n_targets, n_columns)
    if s == 0 or n_free <= larger:
        return 0.0
    share = min(float((products**2).sum()) / s, 1.0)
    return float(log_beta_cdf(1 - share, s * (n_free - larger) / 2, s * larger / 2))


def beyond(
    rows: FloatArray, basis: FloatArray, before: FloatArray | None = None, nothing: float = _NOTHING_LEFT
) -> FloatArray:
    """Return rows less their projection; rows that the basis determines become 0.

    These are left with less than the share `nothing` of their squares, or of the squares they had `before`.
    """
    left = rows - (rows @ basis.T) @ basis
    before = (rows**2).sum(axis=1) if before is None else before
    left[(left**2).sum(axis=1) <= nothing * np.maximum(before, 1e-300)] = 0.0
    return np.asarray(left)


def orthonormal(rows: FloatArray) -> FloatArray:
    """Return orthonormal rows that span the given ones; rows that are sums of others add none."""
    if not len(rows):
        return rows
    lengths = np.sqrt((rows**2).sum(axis=1))
    kept: FloatArray = rows[lengths > 0] / lengths[lengths > 0, np.newaxis]
    if not len(kept):
        return kept
    # Eigenvectors of the products of rows: an eighth of the time of an SVD. Once more, since rows that are nearly sums
    # of others come out of the first pass orthogonal to 1e-4 only.
    for _ in range(2):
        if len(kept) == 1:
            kept = kept / np.sqrt(kept @ kept.T)
            continue
        sizes, directions = np.linalg.eigh(kept @ kept.T)
        is_kept = sizes > _DEPENDENT * sizes[-1]
        kept = (directions[:, is_kept].T @ kept) / np.sqrt(sizes[is_kept])[:, np.newaxis]
    return np.asarray(kept)


@dataclass
class Associations:
    """Variables of a table that are kept, to compare others with.

    Missing values count as the mean of ranks, or as a level of their own.
    """

    table: Table
    #: The kept variables, by whether they are numbers or labels.
    numbers: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    _ranks: list[FloatArray] = field(default_factory=list)
    _levels: list[IntArray] = field(default_factory=list)

    def keep(self, variable: int) -> None:
        """Compare all that follow with this variable too."""
        values = self._read(variable)
        if self._is_label(variable):
            self.labels.append(variable)
            self._levels.append(numbered(values))
        else:
            self.numbers.append(variable)
            self._ranks.append(_ranks(values))

    def strongest(self, variable: int) -> tuple[int, float]:
        """Return the kept variable with the strongest association, and its strength; −1 and 0 if none is kept."""
        values = self._read(variable)
        if self._is_label(variable):
            levels = numbered(values)
            with_numbers = np.array([_correlation_ratio(levels, ranks) for ranks in self._ranks])
            with_labels = np.array([_cramers_v(levels, other) for other in self._levels])
        else:
            ranks = _ranks(values)
            with_numbers = np.abs(np.stack(self._ranks) @ ranks) if self._ranks else np.empty(0)
            with_labels = np.array([_correlation_ratio(other, ranks) for other in self._levels])
        found = np.concatenate([with_numbers, with_labels])
        if not len(found):
            return -1, 0.0
        best = int(np.argmax(found))
        return [*self.numbers, *self.labels][best], float(min(found[best], 1.0))

    def _read(self, variable: int) -> npt.NDArray[Any]:
        return self.table.column(variable).read()

    def _is_label(self, variable: int) -> bool:
        return bool(self.table.kinds[variable] == ColumnKind.LABEL)


def clusters(correlation: FloatArray, names: Sequence[str], threshold: float) -> list[list[str]]:
    """Group variables by their correlations, (n, n); see `Selection.clusters`."""
    from scipy.sparse.csgraph import connected_components

    threshold = check_real("threshold", threshold, low=0.0, high=1.0)
    if len(correlation) != len(names):
        raise ValueError(
            f"clusters are not available: correlations of {len(names)} variables are not stored, because there are "
            "more than 3000 or parts were merged without X"
        )
    if not names:
        return []
    _, label = connected_components(np.abs(correlation) >= threshold - 0.005, directed=False)
    groups: dict[int, list[str]] = {}
    for name, group in zip(names, label.tolist(), strict=True):
        groups.setdefault(group, []).append(name)
    return list(groups.values())


def _ranks(values: npt.NDArray[Any]) -> FloatArray:
    """Return ranks around their mean, of length 1: products of two are correlations."""
    observed = values == values
    ranks = np.zeros(len(values))
    if observed.any():
        of_observed = mid_ranks(values[observed])
        ranks[observed] = of_observed - of_observed.mean()
    length = float(np.sqrt(ranks @ ranks))
    return ranks / length if length > 0 else ranks


def _correlation_ratio(levels: IntArray, ranks: FloatArray) -> float:
    """Return the square root of the share of the ranks' variance that is between levels."""
    sums, counts = np.bincount(levels, weights=ranks), np.bincount(levels)
    return float(np.sqrt((sums**2 / np.maximum(counts, 1)).sum()))


def _cramers_v(one: IntArray, other: IntArray) -> float:
    n_one, n_other = int(one.max()) + 1, int(other.max()) + 1
    if min(n_one, n_other) < 2:
        return 0.0
    counts = np.bincount(one * n_other + other, minlength=n_one * n_other).reshape(n_one, n_other)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(one)
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi2 / (len(one) * (min(n_one, n_other) - 1))))
