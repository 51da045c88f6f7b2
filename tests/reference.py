"""The method in plain loops, straight from the formulas: what every fast engine is compared with.

It imports nothing of the product and uses no array library, so that a mistake there cannot hide here. Legibility
comes before speed: a table of counts is a dictionary from cell to one number per decision class, and sums are
exact (`math.fsum`), so that no result depends on the order of samples, cells or variables.

Shapes, all as nested sequences:

- a column of codes: one level 0 … c − 1 per sample;
- ``codes_by_discretization[d][v][i]``: level of sample i in variable v under discretisation d;
- ``levels[v]``: how many levels variable v has, in every discretisation;
- a tuple: variable numbers in ascending order. Contrast variable j has the number ``n_vars + j``.

Gains are in bits, multiplied by the number of samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from statistics import NormalDist

Column = Sequence[int]
Cell = tuple[int, ...]
Table = dict[Cell, list[float]]


# --- Random numbers -------------------------------------------------------------------------------------------


class MersenneTwister:
    """MT19937 with the seeding of C++'s std::mt19937; yields 32-bit integers."""

    def __init__(self, seed: int) -> None:
        state = [seed & 0xFFFFFFFF]
        for i in range(1, 624):
            previous = state[-1] ^ (state[-1] >> 30)
            state.append((1812433253 * previous + i) & 0xFFFFFFFF)
        self.state = state
        self.position = 624

    def next32(self) -> int:
        if self.position == 624:
            self._refill()
        word = self.state[self.position]
        self.position += 1
        word ^= word >> 11
        word ^= (word << 7) & 0x9D2C5680
        word ^= (word << 15) & 0xEFC60000
        return word ^ (word >> 18)

    def _refill(self) -> None:
        state = self.state
        for i in range(624):
            joined = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7FFFFFFF)
            state[i] = state[(i + 397) % 624] ^ (joined >> 1) ^ (0x9908B0DF if joined & 1 else 0)
        self.position = 0


# --- Discretisation -------------------------------------------------------------------------------------------


def round_half_away(value: float) -> int:
    """Nearest integer of a value that is not negative; halves go up."""
    below = math.floor(value)
    return below + 1 if value - below >= 0.5 else below


def interval_shares(*, variable: int, discretization: int, divisions: int, range_: float, seed: int) -> list[float]:
    """How large each of the divisions + 1 levels is to be, relative to the others."""
    for_discretization = MersenneTwister(MersenneTwister(seed).next32() ^ discretization).next32()
    generator = MersenneTwister(for_discretization ^ variable)
    shares = []
    for _ in range(divisions + 1):
        low = generator.next32()
        high = generator.next32()
        u = (low + high * 2**32) / 2**64
        if u == 1.0:
            u = math.nextafter(1.0, 0.0)
        shares.append((1 - range_) + u * (2 * range_))
    return shares


def discretize(
    column: Sequence[float], *, variable: int, discretization: int, divisions: int, range_: float, seed: int
) -> list[int]:
    """Level of each sample. Variables and discretisations count from 0."""
    shares = interval_shares(
        variable=variable, discretization=discretization, divisions=divisions, range_=range_, seed=seed
    )
    n_samples = len(column)
    ordered = sorted(column)
    # Added up one after the other, as the original does: the last bit can decide where a threshold falls.
    total = 0.0
    for share in shares:
        total += share
    done = 0
    thresholds = []
    for share in shares[:divisions]:
        done += round_half_away(share * (n_samples / total))
        done = min(done, n_samples - 1)
        thresholds.append(ordered[done])
    return [sum(threshold < value for threshold in thresholds) for value in column]


def suggest_range(n_samples: int, *, dimensions: int, divisions: int = 1, k: float = 3) -> float:
    """The widest range for which the smallest cell still expects k samples."""
    xi: float = (k / n_samples) ** (1 / dimensions)
    return min(1.0, max(0.0, (1 - xi * (1 + divisions)) / (1 - xi * (1 - divisions))))


# --- Counts, pseudocounts, entropy ----------------------------------------------------------------------------


def tuple_counts(columns: Sequence[Column], classes: Column, n_classes: int, levels: Sequence[int]) -> Table:
    """Samples per cell and class; every cell is there, also an empty one."""
    table: Table = {cell: [0.0] * n_classes for cell in product(*map(range, levels))}
    for *cell, decision_class in zip(*columns, classes, strict=True):
        table[tuple(cell)][decision_class] += 1
    return table


def class_pseudocounts(classes: Column, n_classes: int, pseudocount: float) -> list[float]:
    """What is added to every cell, per class: the smallest class gets `pseudocount`, the others in proportion."""
    sizes = [0] * n_classes
    for decision_class in classes:
        sizes[decision_class] += 1
    return [pseudocount * size / min(sizes) for size in sizes]


def with_pseudocounts(table: Table, pseudocounts: Sequence[float]) -> Table:
    return {
        cell: [count + extra for count, extra in zip(counts, pseudocounts, strict=True)]
        for cell, counts in table.items()
    }


def summed_over(table: Table, position: int) -> Table:
    """The table without the variable at `position`: its cells are sums, pseudocounts and all."""
    parts: dict[Cell, list[list[float]]] = {}
    for cell, counts in table.items():
        parts.setdefault(cell[:position] + cell[position + 1 :], []).append(counts)
    return {cell: [math.fsum(per_class) for per_class in zip(*group, strict=True)] for cell, group in parts.items()}


def only(table: Table, position: int) -> Table:
    """The table of the one variable at `position`."""
    n_members = len(next(iter(table)))
    for other in reversed(range(n_members)):
        if other != position:
            table = summed_over(table, other)
    return table


def unnormalised_entropy(table: Table) -> float:
    """U: entropy of the decision given the cell, in bits, times the number of samples."""
    terms = []
    for counts in table.values():
        in_cell = math.fsum(counts)
        # An empty cell or class adds nothing: the limit of x·log x.
        terms += [count * math.log2(count / in_cell) for count in counts if count > 0]
    return -math.fsum(terms)


def information_gain(
    columns_of_tuple: Sequence[Column], levels: Sequence[int], classes: Column, n_classes: int, pseudocount: float
) -> list[float]:
    """What each member adds to what the other members of the tuple say about the decision."""
    counts = tuple_counts(columns_of_tuple, classes, n_classes, levels)
    table = with_pseudocounts(counts, class_pseudocounts(classes, n_classes, pseudocount))
    with_all = unnormalised_entropy(table)
    return [unnormalised_entropy(summed_over(table, position)) - with_all for position in range(len(levels))]


def degrees_of_freedom(levels: Sequence[int], position: int, n_classes: int) -> int:
    """Of the gain of the member at `position` of a tuple whose members have these levels."""
    others = math.prod(c for other, c in enumerate(levels) if other != position)
    return (n_classes - 1) * (levels[position] - 1) * others


# --- The search over all tuples -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gain:
    """One variable in one tuple under one discretisation."""

    variable: int
    df: int
    gain: float
    tuple: tuple[int, ...]
    discretization: int


def is_admitted(members: Sequence[int], variables: Sequence[int] | None, require: str) -> bool:
    """Whether the filter lets a tuple with these real members through."""
    if variables is None:
        return True
    inside = [member in variables for member in members]
    return any(inside) if require == "any" else all(inside)


def admitted_tuples(
    n_vars: int, n_contrast: int, dimensions: int, variables: Sequence[int] | None, require: str
) -> Iterator[tuple[int, ...]]:
    """All tuples to look at: real ones, then each contrast variable with every real (k − 1)-tuple."""
    for real in combinations(range(n_vars), dimensions):
        if is_admitted(real, variables, require):
            yield real
    for contrast in range(n_vars, n_vars + n_contrast):
        for real in combinations(range(n_vars), dimensions - 1):
            # Alone, a contrast variable has no real partner to be judged by: it always counts.
            if dimensions == 1 or is_admitted(real, variables, require):
                yield (*real, contrast)


def all_gains(
    codes_by_discretization: Sequence[Sequence[Column]],
    levels: Sequence[int],
    classes: Column,
    n_classes: int,
    dimensions: int,
    pseudocount: float = 0.25,
    contrast_codes_by_discretization: Sequence[Sequence[Column]] | None = None,
    contrast_levels: Sequence[int] | None = None,
    variables: Sequence[int] | None = None,
    require: str = "any",
    strata: Column | None = None,
) -> Iterator[Gain]:
    """Every gain, discretisation by discretisation and tuple by tuple, in ascending order for each variable.

    In a tuple with a contrast variable the gain counts for that variable alone. `strata` are one more dimension of
    every table, whose levels multiply the degrees of freedom.
    """
    n_vars = len(levels)
    all_levels = [*levels, *(contrast_levels or [])]
    n_contrast = len(all_levels) - n_vars
    for discretization, real_codes in enumerate(codes_by_discretization):
        codes = list(real_codes)
        if contrast_codes_by_discretization is not None:
            codes += contrast_codes_by_discretization[discretization]
        for members in admitted_tuples(n_vars, n_contrast, dimensions, variables, require):
            tuple_levels = [all_levels[v] for v in members]
            tuple_columns = [codes[v] for v in members]
            if strata is not None:
                tuple_levels.append(max(strata) + 1)
                tuple_columns.append(strata)
            gains = information_gain(tuple_columns, tuple_levels, classes, n_classes, pseudocount)
            for position, variable in enumerate(members):
                if members[-1] >= n_vars and variable != members[-1]:
                    continue
                df = degrees_of_freedom(tuple_levels, position, n_classes)
                yield Gain(variable, df, gains[position], members, discretization)


def max_information_gain(
    codes_by_discretization: Sequence[Sequence[Column]],
    levels: Sequence[int],
    classes: Column,
    n_classes: int,
    dimensions: int,
    pseudocount: float = 0.25,
    contrast_codes_by_discretization: Sequence[Sequence[Column]] | None = None,
    contrast_levels: Sequence[int] | None = None,
    variables: Sequence[int] | None = None,
    require: str = "any",
) -> list[dict[int, Gain]]:
    """The largest gain of each variable for each df it can have.

    Returns one dictionary from df to `Gain` per variable, real ones first, then contrast ones. It is empty for a
    variable that is in no admitted tuple. Choosing among several df is left to the caller.
    """
    gains = all_gains(
        codes_by_discretization,
        levels,
        classes,
        n_classes,
        dimensions,
        pseudocount,
        contrast_codes_by_discretization,
        contrast_levels,
        variables,
        require,
    )
    best: list[dict[int, Gain]] = [{} for _ in [*levels, *(contrast_levels or [])]]
    # Of equal gains the lowest discretisation wins, then the lowest tuple. They come in that order, so only a
    # larger gain may replace what is there.
    for found in gains:
        so_far = best[found.variable].get(found.df)
        if so_far is None or found.gain > so_far.gain:
            best[found.variable][found.df] = found
    return best


def covariate_columns(
    values: Sequence[float], quantiles: Sequence[float] = (0.05, 0.275, 0.5, 0.725, 0.95)
) -> list[list[float]]:
    """Columns of a covariate by rows: its value, and a natural cubic spline of its normal scores (Harrell's)."""
    n = len(values)
    below = [sum(other < value for other in values) for value in values]
    same = [sum(other == value for other in values) for value in values]
    normal = NormalDist()
    x = [normal.inv_cdf((low + ties / 2) / n) for low, ties in zip(below, same, strict=True)]
    ordered = sorted(x)
    knots = []
    for share in quantiles:
        place = share * (n - 1)
        low = int(place)
        high = min(low + 1, n - 1)
        knots.append(ordered[low] + (place - low) * (ordered[high] - ordered[low]))

    def cubed(u: float) -> float:
        return max(u, 0.0) ** 3

    rows = []
    for value, score in zip(values, x, strict=True):
        row = [float(value), score]
        *first, before, last = knots
        for knot in first:
            row.append(
                cubed(score - knot)
                - cubed(score - before) * (last - knot) / (last - before)
                + cubed(score - last) * (before - knot) / (last - before)
            )
        rows.append(row)
    return rows


def member_columns(values: Sequence[float], *, flexible: bool = False) -> list[list[float]]:
    """Columns of a member of a product by rows: a spline of its normal scores, or its flexible effect."""
    if flexible:
        return [[*row, row[1] ** 2, row[1] ** 3] for row in covariate_columns(values)]
    return [row[1:] for row in covariate_columns(values, (0.05, 0.35, 0.65, 0.95))]


def product_f(members: Sequence[Sequence[float]], z: Sequence[float], *, shape: bool = False) -> tuple[float, int, int]:
    """F of the product of two numbers that are not cut, or of their shape, and its degrees of freedom.

    H0: the outcome is a sum of smooth effects of both, see `member_columns`. A product is that of ranks; a shape also
    has the products of the absolute normal score of one and the rank of the other.
    """
    each = [member_columns(values) for values in members]
    smaller = [[1.0, *(value for rows in each for value in rows[s])] for s in range(len(z))]
    ranks = [[sum((x > other) - (x < other) for other in values) for x in values] for values in members]
    bends = [[abs(row[0]) for row in rows] for rows in each]
    means = [sum(values) / len(values) for values in bends]
    more = []
    for s in range(len(z)):
        (a, b), (p, q) = [of[s] for of in ranks], [of[s] - mean for of, mean in zip(bends, means, strict=True)]
        more.append([a * b, p * b, a * q] if shape else [a * b])
    rest, less = least_squares_rest(smaller, z)
    left, rank = least_squares_rest([[*row, *extra] for row, extra in zip(smaller, more, strict=True)], z)
    return (rest - left) / (rank - less) / (left / (len(z) - rank)), rank - less, len(z) - rank


def integer_scores(z: Sequence[float], most: int = 127) -> list[int]:
    """Scores of a number outcome as integers: up to eight neighbours within 0.2 share one, equal scores always."""
    largest = max(abs(value) for value in z)
    shared: list[list[float]] = []
    for value in sorted(set(z)):
        same = [value] * list(z).count(value)
        if shared and len(shared[-1]) + len(same) <= 8 and value - shared[-1][0] <= 0.2:
            shared[-1] += same
        else:
            shared.append(same)
    of_value: dict[float, int] = {}
    for values in shared:
        integer = round(sum(values) / len(values) * (most / largest))
        of_value |= dict.fromkeys(values, integer)
    return [of_value[value] for value in z]


def residual_squares(columns: Sequence[Column], scores: Sequence[int]) -> float:
    """Σ t² less what the cell means explain."""
    cells: dict[tuple[int, ...], list[int]] = {}
    for sample, score in enumerate(scores):
        cells.setdefault(tuple(column[sample] for column in columns), []).append(score)
    return sum(t * t for t in scores) - sum(sum(of_cell) ** 2 / len(of_cell) for of_cell in cells.values())


def number_gain(columns: Sequence[Column], position: int, scores: Sequence[int], pseudocount: float) -> float:
    """Gain of one member about a number outcome: (N/2)·log2 of the ratio of residual squares without and with it."""
    added = pseudocount * sum(t * t for t in scores) / len(scores)
    others = [column for place, column in enumerate(columns) if place != position]
    without_it = residual_squares(others, scores) + added
    return len(scores) / 2 * math.log2(without_it / (residual_squares(columns, scores) + added))


def near_maxima(gains: Iterable[Gain], *, tolerance: float) -> dict[tuple[int, int], list[Gain]]:
    """From `all_gains`: all that lie within `tolerance` of the largest, for each (variable, df), in order.

    Gains that are equal on paper can differ in the last bits when they are summed in another way. An engine may
    then name any tuple of such a list.
    """
    per_variable: dict[tuple[int, int], list[Gain]] = {}
    for found in gains:
        per_variable.setdefault((found.variable, found.df), []).append(found)
    near = {}
    for key, all_found in per_variable.items():
        largest = max(found.gain for found in all_found)
        near[key] = [found for found in all_found if found.gain >= largest - tolerance]
    return near


def counts_alike(
    columns_of_tuple: Sequence[Column], levels: Sequence[int], classes: Column, n_classes: int, position: int
) -> object:
    """What the gain of the member at `position` is computed from, but for the order of the cells.

    Members of two tuples for which this is equal have equal gains, whatever way these are summed: the lowest tuple
    has to be named, and no tolerance excuses another.
    """
    table = tuple_counts(columns_of_tuple, classes, n_classes, levels)
    cells, cells_without = (sorted(part.values()) for part in (table, summed_over(table, position)))
    return levels[position], tuple(map(tuple, cells)), tuple(map(tuple, cells_without))


# --- Interesting tuples ---------------------------------------------------------------------------------------


def entropy_per_sample(table: Table) -> float:
    """H: entropy of the cell itself, in bits, of a table with one class (no decision)."""
    cells = [counts[0] for counts in table.values()]
    total = math.fsum(cells)
    return -math.fsum(count / total * math.log2(count / total) for count in cells if count > 0)


def tuple_statistic(
    columns_of_tuple: Sequence[Column],
    levels: Sequence[int],
    classes: Column | None,
    n_classes: int,
    pseudocount: float,
    stat: str,
) -> list[float]:
    """The statistic "MI", "H" or "VI" of a tuple, one value per member (they differ only for "MI" with a decision)."""
    n_members = len(levels)
    if classes is not None and stat == "MI":
        return information_gain(columns_of_tuple, levels, classes, n_classes, pseudocount)
    if classes is None:
        counts = tuple_counts(columns_of_tuple, [0] * len(columns_of_tuple[0]), 1, levels)
        table = with_pseudocounts(counts, [pseudocount])
        together = entropy_per_sample(table)
        alone = [entropy_per_sample(only(table, position)) for position in range(n_members)]
    else:
        counts = tuple_counts(columns_of_tuple, classes, n_classes, levels)
        table = with_pseudocounts(counts, class_pseudocounts(classes, n_classes, pseudocount))
        together = unnormalised_entropy(table)
        alone = [unnormalised_entropy(only(table, position)) for position in range(n_members)]
    if stat == "H":
        value = together
    elif stat == "VI":
        # Without a decision it is 2·H₀₁ − H₀ − H₁; knowing more lowers U, so with one the signs turn round.
        value = math.fsum(alone) - 2 * together if classes is not None else 2 * together - math.fsum(alone)
    else:
        # For two variables the mutual information, for more of them the total correlation.
        value = math.fsum(alone) - together
    return [value] * n_members


def interesting_tuples(
    codes_by_discretization: Sequence[Sequence[Column]],
    levels: Sequence[int],
    classes: Column | None = None,
    n_classes: int = 2,
    dimensions: int = 2,
    pseudocount: float = 0.25,
    *,
    stat: str = "MI",
    average: bool = False,
    min_gain: float = 0.0,
    variables: Sequence[int] | None = None,
    require: str = "any",
) -> list[tuple[tuple[int, ...], int, float]]:
    """Rows (tuple, variable, value) whose value exceeds `min_gain` (0: all rows), by tuple, then variable.

    With several discretisations the value is the largest, or with `average` the mean.
    """
    rows = []
    for members in admitted_tuples(len(levels), 0, dimensions, variables, require):
        per_discretization = [
            tuple_statistic(
                [codes[v] for v in members], [levels[v] for v in members], classes, n_classes, pseudocount, stat
            )
            for codes in codes_by_discretization
        ]
        for variable, values in zip(members, zip(*per_discretization, strict=True), strict=True):
            value = math.fsum(values) / len(values) if average else max(values)
            if min_gain == 0 or value > min_gain:
                rows.append((members, variable, value))
    return rows


# --- Tuples of which every member gains ------------------------------------------------------------------------


def fewest_interaction_df(table: Table, levels: Sequence[int]) -> int:
    """Degrees of freedom that the interaction of a tuple has at least: of how many entries, less how many columns.

    An entry (cell, class) counts if the cell has a sample, and each of its margins without one member has one of the
    class. A cell with one such entry counts for nothing. There is a column for every choice of some members, not all,
    of a level other than 0 for each of them, and of a class other than 0; it needs an entry that agrees with it.
    """
    margins = [summed_over(table, position) for position in range(len(levels))]
    counting: dict[Cell, set[int]] = {}
    for cell, counts in table.items():
        classes = {
            q
            for q in range(len(counts))
            if sum(counts) > 0 and all(margin[without(cell, i)][q] > 0 for i, margin in enumerate(margins))
        }
        if len(classes) > 1:
            counting[cell] = classes
    columns = {
        (tuple(c if i in members else None for i, c in enumerate(cell)), q)
        for size in range(len(levels))
        for members in combinations(range(len(levels)), size)
        for cell, classes in counting.items()
        if all(cell[i] > 0 for i in members)
        for q in classes - {0}
    }
    return max(sum(len(classes) - 1 for classes in counting.values()) - len(columns), 0)


def screened_tuples(
    codes: Sequence[Column],
    levels: Sequence[int],
    classes: Column,
    n_classes: int,
    dimensions: int,
    pseudocount: float,
    min_gain: Sequence[float],
    *,
    strata: Column | None = None,
    variables: Sequence[int] | None = None,
    require: str = "any",
) -> list[tuple[tuple[int, ...], int, float, float]]:
    """Every tuple, the member that gains least, its gain, and what every member must gain for the tuple to be listed.

    `min_gain` is by the fewest degrees of freedom of the interaction, of all strata together.
    """
    n_fixed = 0 if strata is None else 1
    rows = []
    for members in admitted_tuples(len(codes), 0, dimensions, variables, require):
        columns = [*([] if strata is None else [strata]), *(codes[v] for v in members)]
        of_tuple = [*([] if strata is None else [max(strata) + 1]), *(levels[v] for v in members)]
        counts = tuple_counts(columns, classes, n_classes, of_tuple)
        parts: dict[Cell, Table] = {}
        for cell, per_class in counts.items():
            parts.setdefault(cell[:n_fixed], {})[cell[n_fixed:]] = per_class
        df = sum(fewest_interaction_df(part, of_tuple[n_fixed:]) for part in parts.values())
        needed = min_gain[min(max(df, 1), len(min_gain) - 1)]
        gains = information_gain(columns, of_tuple, classes, n_classes, pseudocount)[n_fixed:]
        least = min(range(dimensions), key=lambda m: gains[m])
        rows.append((members, members[least], gains[least], needed))
    return rows


# --- The conditional test of single variables -----------------------------------------------------------------


def tables_with_margins(
    level_sizes: Sequence[int], class_sizes: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every table of levels by classes with these sums."""
    if len(level_sizes) == 1:
        yield (tuple(class_sizes),)
        return
    for first in product(*(range(size + 1) for size in class_sizes)):
        if sum(first) == level_sizes[0]:
            left = [size - taken for size, taken in zip(class_sizes, first, strict=True)]
            for rest in tables_with_margins(level_sizes[1:], left):
                yield (first, *rest)


def table_chance(table: Sequence[Sequence[int]]) -> Fraction:
    """Probability of a table, given its margins, if samples are shared out at random."""
    margins = [*map(sum, table), *map(sum, zip(*table, strict=True))]
    cells = [count for level in table for count in level]
    above = math.prod(map(math.factorial, margins))
    return Fraction(above, math.factorial(sum(cells)) * math.prod(map(math.factorial, cells)))


def conditional_null(
    tables: Sequence[Sequence[Sequence[int]]], pseudocount: float
) -> tuple[float, list[tuple[float, Fraction]]]:
    """The gain of the tables of some strata, and the gains and chances of all tables with the same margins."""
    sizes = [sum(table[level][q] for table in tables for level in range(len(table))) for q in range(len(tables[0][0]))]
    extra = [pseudocount * size / min(sizes) for size in sizes]

    def gain(table: Sequence[Sequence[int]]) -> float:
        there = [bool(sum(column)) for column in zip(*table, strict=True)]  # a class that a stratum lacks has no part
        added = [one for one, is_there in zip(extra, there, strict=True) if is_there]
        rows = [[float(n) for n, is_there in zip(row, there, strict=True) if is_there] for row in table]
        cells = with_pseudocounts({(level,): row for level, row in enumerate(rows)}, added)
        return unnormalised_entropy(summed_over(cells, 0)) - unnormalised_entropy(cells)

    sums = [(0.0, Fraction(1))]
    for table in tables:
        possible = tables_with_margins(
            [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
        )
        here = [(gain(other), table_chance(other)) for other in possible]
        sums = [(a + b, p * q) for a, p in sums for b, q in here]
    return math.fsum(gain(table) for table in tables), sums


def conditional_p_value(tables: Sequence[Sequence[Sequence[int]]], pseudocount: float = 0.25) -> float:
    """Probability that chance gives a gain at least as large, given the sizes of levels and classes in each stratum."""
    observed, sums = conditional_null(tables, pseudocount)
    return float(sum(chance for gain, chance in sums if gain >= observed - 1e-9))


# --- The interaction test -------------------------------------------------------------------------------------


def without(cell: Cell, position: int) -> Cell:
    return cell[:position] + cell[position + 1 :]


def no_interaction_fit(table: Table, *, tolerance: float = 1e-14, max_sweeps: int = 20_000) -> Table:
    """The table's maximum-likelihood fit under H0: ln μ(x, y) = a(x) + Σᵢ bᵢ(x₋ᵢ, y).

    Iterative proportional fitting: from all ones, μ gets in turn each margin that H0 keeps, n(x₋ᵢ, y) for every member
    i and n(x, ·), until nothing moves.
    """
    cells = list(table)
    n_members, n_classes = len(cells[0]), len(table[cells[0]])
    fit: Table = {cell: [1.0] * n_classes for cell in cells}

    def fit_margin(position: int | None) -> None:
        groups: dict[tuple[Cell, int], list[tuple[Cell, int]]] = {}
        for cell in cells:
            for y in range(n_classes):
                key = (cell, 0) if position is None else (without(cell, position), y)
                groups.setdefault(key, []).append((cell, y))
        for entries in groups.values():
            wanted = math.fsum(table[cell][y] for cell, y in entries)
            has = math.fsum(fit[cell][y] for cell, y in entries)
            for cell, y in entries:
                fit[cell][y] *= wanted / has if has > 0 else 0.0

    for _ in range(max_sweeps):
        before = {cell: list(counts) for cell, counts in fit.items()}
        for position in range(n_members):
            fit_margin(position)
        fit_margin(None)
        moved = max(abs(new - old) for cell in cells for new, old in zip(fit[cell], before[cell], strict=True))
        if moved <= tolerance * max(1.0, max(map(max, table.values()))):
            break
    return fit


def interaction_g2(table: Table) -> float:
    """G² = 2 Σ n ln(n/μ): the likelihood ratio of the table against no interaction."""
    fit = no_interaction_fit(table)
    return 2 * math.fsum(
        n * math.log(n / mu) for cell, counts in table.items() for n, mu in zip(counts, fit[cell], strict=True) if n > 0
    )


def interaction_df(table: Table) -> int:
    """Entries (x, y) all of whose margins under H0 are positive, less the rank of H0's columns there, in fractions."""
    n_members, n_classes = len(next(iter(table))), len(next(iter(table.values())))
    sizes: dict[object, float] = {}
    for cell, counts in table.items():
        for y, n in enumerate(counts):
            for margin in _null_margins(cell, y, n_members):
                sizes[margin] = sizes.get(margin, 0.0) + n
    rows = []
    for cell in table:
        for y in range(n_classes):
            margins = _null_margins(cell, y, n_members)
            if all(sizes[margin] > 0 for margin in margins):
                rows.append({margin: Fraction(1) for margin in margins})
    return len(rows) - _rank(rows)


def _null_margins(cell: Cell, y: int, n_members: int) -> list[object]:
    """Names of the margins, and so of the columns, of H0 that the entry (cell, y) is in."""
    return [("cell", cell), *((position, without(cell, position), y) for position in range(n_members))]


def _rank(rows: list[dict[object, Fraction]]) -> int:
    """Rank by elimination; rows without their zeros."""
    rank = 0
    rows = [dict(row) for row in rows]
    while rows:
        pivot = rows.pop()
        if not pivot:
            continue
        rank += 1
        column, value = next(iter(pivot.items()))
        for row in rows:
            if column in row:
                factor = row[column] / value
                for other, entry in pivot.items():
                    changed = row.get(other, Fraction(0)) - factor * entry
                    if changed:
                        row[other] = changed
                    else:
                        row.pop(other, None)
    return rank


def step_down_max_t(observed: list[float], permuted: list[list[float]]) -> list[float]:
    """Westfall and Young's step-down maxT p-values (1993, algorithm 4.1), the data counted among the permutations."""
    order = sorted(range(len(observed)), key=lambda v: -observed[v])
    p_values = {}
    before = 0.0
    for place, v in enumerate(order):
        rest = order[place:]
        n_reached = sum(max(row[u] for u in rest) >= observed[v] for row in permuted)
        before = max(before, (1 + n_reached) / (len(permuted) + 1))
        p_values[v] = before
    return [p_values[v] for v in range(len(observed))]


def martingale_residuals(time: list[float], event: list[bool]) -> list[float]:
    """Events seen minus events expected: the Nelson–Aalen estimate of the cumulative hazard at each sample's time."""
    residuals = []
    for t, seen in zip(time, event, strict=True):
        expected = 0.0
        for u in sorted({u for u, died in zip(time, event, strict=True) if died and u <= t}):
            n_died = sum(died and other == u for other, died in zip(time, event, strict=True))
            expected += n_died / sum(other >= u for other in time)
        residuals.append(seen - expected)
    return residuals


def least_squares_rest(rows: Sequence[Sequence[float]], z: Sequence[float]) -> tuple[float, int]:
    """Σ of squares that a linear model leaves, and its rank: Gram and Schmidt, column by column, twice over."""
    basis: list[list[float]] = []
    for column in zip(*rows, strict=True):
        left = list(column)
        for _ in range(2):
            for unit in basis:
                along = math.fsum(a * b for a, b in zip(left, unit, strict=True))
                left = [a - along * b for a, b in zip(left, unit, strict=True)]
        length = math.sqrt(math.fsum(a * a for a in left))
        if length > 1e-9 * math.sqrt(math.fsum(a * a for a in column)):
            basis.append([a / length for a in left])
    rest = list(z)
    for _ in range(2):
        for unit in basis:
            along = math.fsum(a * b for a, b in zip(rest, unit, strict=True))
            rest = [a - along * b for a, b in zip(rest, unit, strict=True)]
    return math.fsum(a * a for a in rest), len(basis)


def number_interaction(
    columns: Sequence[Column], z: Sequence[float], *, strata: Column | None = None, fewest: int = 5
) -> tuple[float, int, int]:
    """F of an interaction about a number outcome, its degrees of freedom and those of the rest.

    H0: cell means are sums of functions of proper subsets of the members, in each stratum. Cells of fewer than `fewest`
    samples are no part of the hypothesis; the squares within them belong to the rest.
    """
    within = [0] * len(z) if strata is None else list(strata)
    cells: dict[tuple[int, ...], list[int]] = {}
    for sample in range(len(z)):
        cells.setdefault((within[sample], *(column[sample] for column in columns)), []).append(sample)
    rest = 0.0
    for samples in cells.values():
        mean = math.fsum(z[s] for s in samples) / len(samples)
        rest += math.fsum((z[s] - mean) ** 2 for s in samples)
    squares, df = 0.0, 0
    for stratum in sorted(set(within)):
        kept = [(cell, samples) for cell, samples in cells.items() if cell[0] == stratum and len(samples) >= fewest]
        if not kept:
            continue
        terms = sorted(
            {
                (members, tuple(cell[1 + i] for i in members))
                for size in range(len(columns))
                for members in combinations(range(len(columns)), size)
                for cell, _ in kept
            }
        )
        # One row per cell, its mean and its indicators times the root of its size.
        roots = [math.sqrt(len(samples)) for _, samples in kept]
        means = [math.fsum(z[s] for s in samples) / len(samples) for _, samples in kept]
        rows = [
            [root * (tuple(cell[1 + i] for i in members) == levels) for members, levels in terms]
            for (cell, _), root in zip(kept, roots, strict=True)
        ]
        left, rank = least_squares_rest(rows, [root * mean for root, mean in zip(roots, means, strict=True)])
        squares += left
        df += len(kept) - rank
    df_residual = len(z) - len(cells)
    if df == 0 or df_residual <= 0:
        return 0.0, 0, max(df_residual, 0)
    return squares / df / (rest / df_residual), df, df_residual
