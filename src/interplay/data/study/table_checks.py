"""A table → whether its rows have an order: neighbours that resemble each other, in the whole table or in groups.

The statistic of a column is the sum of products of neighbours, of ranks centred within groups. Given the ranks, all
orders of the samples of a group being equally likely, it has a known mean and variance. Columns and rows are samples
of the table's, so that a table of any size takes a moment.

A table → its columns that number samples or label subjects, by their values and by their names.

A number of a sample is no measurement. Where the order of the samples knows the outcome (cases first, then controls),
it is the most significant variable of all. A column is such a number if its values, all different, rise from row to
row, or repeat less often than chance would have them repeat, or if they only have such a name. A column of texts
is one if they are nearly all different.

A label of a subject (patient, donor, family) repeats: samples of one subject are not independent. A column is such a
label by its name, or because the samples of one value lie together and share other columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import exp, log
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray, mid_ranks, numbered
from interplay.base.checks import shown, warn
from interplay.data.study.columns import ColumnKind
from interplay.data.study.table import Table

#: Columns and rows that are looked at.
_MAX_COLUMNS, _MAX_ROWS = 200, 4000

#: Rows of a table without groups have an order if labels deviate so much, and so many columns do, each counted with so
#: many standard deviations at most, with a p-value below this. An outcome has so many parts at most.
_LABELS_DEVIATE, _FEWEST_COLUMNS, _LARGEST, _MAX_P, _N_PARTS = 3.0, 5, 3.0, 1e-3, 10


#: What is said of such rows.
ROWS_IN_ORDER = (
    "neighbouring rows resemble each other, in the outcome and in most columns, as in a series of times, places or "
    "batches; p-values are then too small: give order= (the time or number of each row), groups= or strata="
)


def sampled_columns(table: Table) -> FloatArray:
    """Return ranks, (n, n_rows), of columns spread over the table, and of its first rows; constants are left out."""
    n = min(table.n_vars, _MAX_COLUMNS)
    chosen = np.unique(np.linspace(0, table.n_vars - 1, n).astype(np.int64))
    values = np.asarray(table.columns(chosen), dtype=np.float64)[:, :_MAX_ROWS]
    known = ~np.isnan(values)
    ranks = mid_ranks(np.where(known, values, np.inf))
    mean = np.where(known, ranks, 0.0).sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    ranks = np.where(known, ranks - mean, 0.0)
    return np.asarray(ranks[np.ptp(ranks, axis=1) > 0])


def order_deviates(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return how far neighbours in a group resemble each other, in standard deviations, (n_vars,).

    Examples
    --------
    >>> in_order, in_turns = np.arange(20.0), np.arange(20.0) % 2
    >>> order_deviates(np.stack([in_order, in_turns]), np.zeros(20, dtype=np.int64)).round(1).tolist()
    [4.2, -4.1]
    """
    by_group = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    kept = sizes > 0
    n, starts = sizes[kept].astype(np.float64), starts[kept]
    z = values[:, by_group]
    z = z - np.repeat(np.add.reduceat(z, starts, axis=1) / n, sizes[kept], axis=1)
    follows = np.diff(groups[by_group]) == 0
    products = (z[:, 1:] * z[:, :-1] * follows).sum(axis=1)
    square, fourth = (np.add.reduceat(z**power, starts, axis=1) for power in (2, 4))
    # Expected products of distinct samples: z_i²z_j², z_i²z_jz_k, z_iz_jz_kz_l.
    several = n > 2
    n, square, fourth = n[several], square[:, several], fourth[:, several]
    e22 = (square**2 - fourth) / (n * (n - 1))
    e211 = (2 * fourth - square**2) / (n * (n - 1) * (n - 2))
    e1111 = (3 * square**2 - 6 * fourth) / (n * (n - 1) * (n - 2) * np.maximum(n - 3, 1))
    mean = -square / n
    others = (n - 1) ** 2 - (n - 1) - 2 * (n - 2)
    variance = ((n - 1) * e22 + 2 * (n - 2) * e211 + others * e1111 - mean**2).sum(axis=1)
    # Groups of two have one product, whatever their order.
    pairs = sizes[kept] == 2
    products += np.add.reduceat(z**2, starts, axis=1)[:, pairs].sum(axis=1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        deviates = (products - mean.sum(axis=1)) / np.sqrt(variance)
    return np.where(variance > 1e-12 * np.maximum(square.sum(axis=1), 1e-300) ** 2, deviates, 0.0)


def are_in_order(ranks: FloatArray, groups: IntArray, *, level: float = 0.05) -> bool:
    """Say whether neighbours resemble each other beyond chance, in any of the columns or on average over them."""
    from scipy.special import ndtr

    if not len(ranks):
        return False
    deviates = order_deviates(ranks, groups[: ranks.shape[1]])
    in_any = len(deviates) * float(ndtr(-deviates.max()))
    together = float(ndtr(-deviates.mean() / _error_of_mean(ranks)))
    return 2 * min(in_any, together) < level


def rows_are_in_order(table: Table, labels: IntArray, strata: IntArray | None) -> bool:
    """Say whether neighbouring rows resemble each other in the outcome and in most columns, within strata.

    A table sorted by its outcome is no such table: columns are compared within classes, or tenths of numbers. One
    column that numbers the rows does not make most of them.
    """
    from scipy.special import ndtr

    n = min(table.n_samples, _MAX_ROWS)
    labels, within = labels[:n], np.zeros(n, dtype=np.int64) if strata is None else strata[:n]
    ranks_of_labels = mid_ranks(labels)
    if table.n_vars < _FEWEST_COLUMNS or order_deviates(ranks_of_labels[np.newaxis], within)[0] < _LABELS_DEVIATE:
        return False
    parts = numbered(labels)
    if parts.max() >= _N_PARTS:
        steps = np.diff(labels)
        if (steps >= 0).all() or (steps <= 0).all():
            return False
        parts = (ranks_of_labels * (_N_PARTS / (n + 1))).astype(np.int64)
    ranks = sampled_columns(table)
    if len(ranks) < _FEWEST_COLUMNS:
        return False
    deviates = np.clip(order_deviates(ranks, within * (int(parts.max()) + 1) + parts), -_LARGEST, _LARGEST)
    return float(ndtr(-deviates.mean() / _error_of_mean(ranks))) < _MAX_P


def _error_of_mean(ranks: FloatArray) -> float:
    """Return the standard error of the mean deviate: deviates are correlated about as the squares of columns are."""
    scaled = ranks / np.sqrt((ranks**2).sum(axis=1, keepdims=True))
    return float(np.sqrt(((scaled @ scaled.T) ** 2).mean()))


def varies_within(labels: IntArray, groups: IntArray) -> bool:
    """Say whether samples of some group differ in their labels."""
    of_group = np.zeros(int(groups.max()) + 1, dtype=labels.dtype)
    of_group[groups] = labels
    varies: BoolArray = labels != of_group[groups]
    return bool(varies.any())


Values = npt.NDArray[Any]

#: Owners of samples. In the plural, and without a word for a number, they may count: patients of a hospital.
_OWNERS = "donor|patient|subject|participant|individual|person|mouse|animal|family|sample|specimen|respondent|proband"
#: Words and short forms that are names only together with a word for a number.
_PARTS = "pat|pt|pts|subj|usubj|part|pers|indiv|ind|fam|hh|hosp|samp|spec|resp|case|client|customer|cust|user|emp|"
_PARTS += "volunteer|student|pupil|household"
#: Parts of names of numbers that never repeat. Repeated, they may count: visits, trials.
_EVENTS = "rec|record|row|obs|study|trial|enrol|enroll|entry|visit|encounter|admission|stay|hadm|account|acct|image|"
_EVENTS += "img|slide|tube|aliquot|cell|child|twin"
_NUMBER_WORD = "id|no|nr|num|number|code|key|idx|index|label|name"

#: Names of identifiers, in lower case and with "_" between words: of numbers that never repeat, and of labels that do.
_ID_NAME = re.compile(
    rf"(?:^|[^a-z])(?:(?:id|pid|uid|uuid|guid|nr|no|num|number|index|idx|key|rowid|mrn|ssn|barcode|iid)s?|{_OWNERS}|"
    rf"(?:{_OWNERS}|{_PARTS}|{_EVENTS})s?[^a-z]*(?:{_NUMBER_WORD})s?)[^a-z0-9]*$|^unnamed"
)
_SUBJECT_NAME = re.compile(
    rf"(?:^|[^a-z])(?:(?:{_OWNERS}|fid|orig[._]ident)|(?:{_OWNERS}|{_PARTS})s?[^a-z]*(?:{_NUMBER_WORD})s?)[^a-z0-9]*$|"
    r"^(?:[a-z]+[^a-z]+)?(?:id|uid|iid|mrn)$"
)
_OWNER = re.compile(rf"{_OWNERS}|fid|ident", re.IGNORECASE)
_BARE_OWNER = re.compile(rf"^(?:{_OWNERS})$")
#: Quick to say no: every name above has one of these in it.
_MAY_NAME = re.compile(rf"id|n[ro]|num|ind|key|mrn|ssn|barcode|code|label|name|unnamed|{_OWNERS}", re.IGNORECASE)
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])")  # of donorID

#: Whole numbers may be identifiers if there are at least this many, of which at least this share is distinct.
_MIN_SAMPLES = 20
_UNIQUE_SHARE = 0.95
#: So rarely would so few values repeat, were they drawn at random from their range.
_CHANCE = 1e-4
#: Identifiers rise from row to row, up to one fall in so many rows: samples may be listed class by class. Of few
#: samples, a table may be sorted by an age, of which none repeats.
_ROWS_PER_FALL = 20
_MIN_ORDERED = 40

#: Fewer values are a property (a family history, a type) rather than a subject: by name of an owner, and otherwise.
_MIN_OWNERS, _MIN_SUBJECTS = 4, 10
#: Subjects without a name have at most so many samples on average, and at least so many.
_MAX_PER_SUBJECT, _MIN_PER_SUBJECT = 20.0, 1.25
#: Numbers in a column "family" or "person" have at most so many samples each; otherwise they count.
_MAX_PER_NUMBERED = 100
#: Columns that samples of one subject share, by chance with a probability below this.
_SHARED_BY_CHANCE = 1e-6
#: There must be at least so many; fewer of which one has many values (an age, a weight). Cells of a design share two.
_MIN_SHARED, _MIN_SHARED_WITH_NUMBER, _MANY_VALUES = 3, 2, 8

#: Names are looked at in tables of at most this many columns: more columns are measurements.
_MAX_NAMED = 20_000
#: Values are looked at in all variables of a table of up to this size.
_MAX_VARS_LOOKED_AT = 2000
_MAX_CELLS_LOOKED_AT = 10**7
_BLOCK = 256
#: From so many samples it is seen that most variables are no identifiers.
_FIRST_SAMPLES = 40

#: What is said of one column that looks like an identifier, and of several.
IDENTIFIER_WORDS = (
    "looks like an identifier (values nearly all different): if it names the samples and measures nothing",
    "look like identifiers (values nearly all different): if they name the samples and measure nothing",
)
#: So many columns are named in a warning.
_COLUMNS_NAMED = 5


def has_id_name(name: str) -> bool:
    """Say whether a name is one that people give to numbers of samples.

    Examples
    --------
    >>> [has_id_name(name) for name in ("id", "Patient ID", "sampleId", "sample_nr", "CASEID", "SUBJID", "patno")]
    [True, True, True, True, True, True, True]
    >>> [has_id_name(name) for name in ("lipid", "no2", "ACID", "piano", "steroid", "patient_age", "covid")]
    [False, False, False, False, False, False, False]
    """
    return _MAY_NAME.search(name) is not None and _ID_NAME.search(_words(name)) is not None


def names_subjects(name: str) -> bool:
    """Say whether a name is that of a donor, patient or the like, who may have several samples.

    Examples
    --------
    >>> [names_subjects(name) for name in ("donorID", "id", "SUBJID", "school_id", "sample", "Mouse no.")]
    [True, True, True, True, True, True]
    >>> [names_subjects(name) for name in ("patients", "patient_age", "number", "x1", "acid", "visit no")]
    [False, False, False, False, False, False]
    """
    return _MAY_NAME.search(name) is not None and _SUBJECT_NAME.search(_words(name)) is not None


def _words(name: str) -> str:
    return _WORD_START.sub("_", name).lower()


def looks_like_identifier(name: str, values: Values) -> bool:
    """Say whether a variable may number the samples: whole numbers, nearly all different, in order or named so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> drawn = rng.integers(0, 10**6, 50)
    >>> [looks_like_identifier("n", values) for values in (rng.permutation(50), np.sort(drawn), drawn)]
    [True, True, False]
    >>> looks_like_identifier("patient_id", drawn)
    True
    """
    observed = values[values == values]
    if len(observed) < max(_MIN_SAMPLES, len(values) / 2):
        return False
    if observed.dtype.kind == "f" and not (np.isfinite(observed).all() and (observed == np.floor(observed)).all()):
        return False
    # Most columns of a table end here: few different values, or fractions.
    if len(np.unique(observed[: 4 * _MIN_SAMPLES])) < _UNIQUE_SHARE * len(observed[: 4 * _MIN_SAMPLES]):
        return False
    n_distinct = len(np.unique(observed))
    if n_distinct < _UNIQUE_SHARE * len(observed):
        return False
    return has_id_name(name) or _repeats_too_rarely(observed, n_distinct) or _is_in_order(observed)


def _repeats_too_rarely(values: Values, n_distinct: int) -> bool:
    """Say whether hardly any value repeats although values drawn at random from their range would.

    Repeats of draws are about a Poisson number with mean n(n - 1)/2R for R whole numbers in the range; draws that are
    not uniform repeat more often.
    """
    n_possible = float(values.max()) - float(values.min()) + 1
    expected = len(values) * (len(values) - 1) / 2 / n_possible
    term = total = exp(-expected)
    for repeats in range(1, len(values) - n_distinct + 1):
        term *= expected / repeats
        total += term
    return total < _CHANCE


def _is_in_order(values: Values) -> bool:
    """Say whether different values rise from row to row, or fall, but for a few new starts."""
    if len(values) < _MIN_ORDERED:
        return False
    n_falls = int(np.count_nonzero(values[1:] <= values[:-1]))
    return min(n_falls, len(values) - 1 - n_falls) <= len(values) // _ROWS_PER_FALL


def find_identifiers(table: Table, among: Iterable[int] = ()) -> list[int]:
    """Return the variables that may number or name the samples, ascending.

    Columns of plain arrays, which have no names of their own, are left out. In a large table only the variables `among`
    are looked at.
    """
    own = {v for v, name in enumerate(table.names) if name != f"x{v}"} if _is_small(table) else set()
    candidates = own.intersection(_maybe_numbered(table)) if own else set()
    candidates |= {v for v in own if table.is_label[v] or has_id_name(table.names[v])} | set(among)
    return [v for v in sorted(candidates) if _is_identifier(table, v)]


def _is_identifier(table: Table, v: int) -> bool:
    values = table.column(v).read()
    if table.kinds[v] == ColumnKind.NUMBER:
        return looks_like_identifier(table.names[v], values)
    observed = values[values == values]
    return len(observed) >= _MIN_SAMPLES and len(np.unique(observed)) >= _UNIQUE_SHARE * len(observed)


def warn_of_identifiers(table: Table, among: IntArray | None = None) -> None:
    """Warn of the variables that may number the samples, of all or `among` some."""
    found = table.once("identifiers", lambda: find_identifiers(table))
    names = [table.names[v] for v in found if among is None or v in among]
    if names:
        warn(about_columns(names, *IDENTIFIER_WORDS))


def about_columns(names: list[str], one: str, several: str) -> str:
    """Return a sentence about some columns, in words for `one` or `several`, that ends with how to leave them out."""
    listed = ", ".join(shown(name) for name in names[:_COLUMNS_NAMED])
    more = f" and {len(names) - _COLUMNS_NAMED} more" if len(names) > _COLUMNS_NAMED else ""
    said = f"column {listed} of X {one}" if len(names) == 1 else f"columns {listed}{more} of X {several}"
    them = "it" if len(names) == 1 else "them"
    dropped = " ".join(f"--drop {shown(name)}" for name in names[:_COLUMNS_NAMED])
    comma = "" if said.endswith(" or") else ","
    return f"{said}{comma} leave {them} out (on the command line with {dropped})"


def find_subjects(table: Table) -> list[tuple[int, IntArray]]:
    """Return the variables that may label subjects with several samples each, and the subject of each sample.

    The first have names of subjects. The others, in order, are recognised by their values.
    """
    return table.once("subjects", lambda: list(_look_for_subjects(table)))


def _look_for_subjects(table: Table) -> Iterator[tuple[int, IntArray]]:
    named: set[int] = set()
    if table.n_vars <= _MAX_NAMED:
        for v, name in enumerate(table.names):
            if names_subjects(name):
                named.add(v)
                codes = _whole_codes(table, v)
                if codes is not None and are_subjects(codes, name, is_label=bool(table.is_label[v])):
                    yield v, codes
    if not _is_small(table):
        return
    own = [v for v, name in enumerate(table.names) if name != f"x{v}"]
    for v in own and sorted(set(own).difference(named).intersection(_maybe_subjects(table))):
        codes = _whole_codes(table, v)
        if codes is not None and _labels_subjects(table, v, codes):
            yield v, codes
            return  # others, such as the age of a subject, say the same


def are_subjects(codes: IntArray, name: str, *, is_label: bool) -> bool:
    """Say whether a column with the name of a subject has as many values as subjects with several samples have."""
    n_values = int(codes.max()) + 1
    if not is_label and _BARE_OWNER.search(_words(name)) and n_values * _MAX_PER_NUMBERED < len(codes):
        return False  # the size of the family
    return (_MIN_OWNERS if _OWNER.search(name) else _MIN_SUBJECTS) <= n_values < _UNIQUE_SHARE * len(codes)


def _is_small(table: Table) -> bool:
    return table.n_vars <= _MAX_VARS_LOOKED_AT and table.n_vars * table.n_samples <= _MAX_CELLS_LOOKED_AT


def _whole_codes(table: Table, v: int) -> IntArray | None:
    """Return the number of each sample's value; None for fractions and for columns with missing values."""
    values = table.columns(slice(v, v + 1))[0]
    with np.errstate(invalid="ignore"):
        if table.kinds[v] == ColumnKind.NUMBER and not (values == np.floor(values)).all():
            return None
    return None if (values != values).any() else numbered(values)


def _maybe_numbered(table: Table) -> Iterator[int]:
    """Give the variables whose first samples are whole numbers, nearly all different."""
    for start in range(0, table.n_vars, _BLOCK):
        first = table.block(start, min(start + _BLOCK, table.n_vars))[:, :_FIRST_SAMPLES]
        with np.errstate(invalid="ignore"):
            whole = ((first == np.floor(first)) | (first != first)).all(axis=1)
        in_order = np.sort(first[whole], axis=1)
        n_distinct = 1 + np.count_nonzero(in_order[:, 1:] > in_order[:, :-1], axis=1)
        yield from (start + np.flatnonzero(whole)[n_distinct > first.shape[1] / 2]).tolist()


def _maybe_subjects(table: Table) -> Iterator[int]:
    """Give the variables whose equal values lie together in runs of the length of subjects."""
    for start in range(0, table.n_vars, _BLOCK):
        block = table.block(start, min(start + _BLOCK, table.n_vars))
        n_runs = 1 + np.count_nonzero(block[:, 1:] != block[:, :-1], axis=1)
        may = (n_runs >= _MIN_SUBJECTS) & (n_runs * _MIN_PER_SUBJECT <= table.n_samples)
        yield from (start + np.flatnonzero(may & (n_runs * _MAX_PER_SUBJECT >= table.n_samples))).tolist()


def _labels_subjects(table: Table, v: int, codes: IntArray) -> bool:
    """Say whether the samples of each value lie together and share other columns."""
    first = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    n_subjects = int(codes.max()) + 1
    if len(first) > n_subjects:
        return False  # a value that comes again in later rows
    subject = np.repeat(np.arange(len(first)), np.diff(np.r_[first, len(codes)]))
    sizes = np.bincount(subject)
    n_values = []  # of the columns that are shared
    for start in range(0, table.n_vars, _BLOCK):
        block = table.block(start, min(start + _BLOCK, table.n_vars))
        same = (block == block[:, first][:, subject]).all(axis=1)
        for other in np.flatnonzero(same).tolist():
            of_subject = numbered(block[other, first])
            if start + other != v and _is_shared(of_subject, sizes, codes[first]):
                n_values.append(int(of_subject.max()) + 1)
    return len(n_values) >= (_MIN_SHARED_WITH_NUMBER if max(n_values, default=0) >= _MANY_VALUES else _MIN_SHARED)


def _is_shared(of_subject: IntArray, sizes: IntArray, labels: IntArray) -> bool:
    """Say whether a column is the same within subjects by more than chance, and does not merely regroup the labels."""
    shares = np.bincount(of_subject, weights=sizes) / sizes.sum()
    by_size, counts = np.unique(sizes, return_counts=True)
    log_chance = float(sum(n * log((shares**size).sum()) for size, n in zip(by_size.tolist(), counts, strict=True)))
    by_label = of_subject[np.argsort(labels, kind="stable")]
    steps = np.diff(by_label)
    regroups = bool((steps >= 0).all() or (steps <= 0).all())  # an age group, of the age
    return log_chance < log(_SHARED_BY_CHANCE) and not regroups
