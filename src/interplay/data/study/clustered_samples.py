"""A table → a warning where its samples look as if they belonged together: donors, patients, families, copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.checks import shown, warn
from interplay.data.study.columns import ColumnKind, decision_column
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.targets import Target
from interplay.data.study.table import Table
from interplay.data.study.table_checks import are_subjects, find_subjects, names_subjects

#: Groups matter if the classes depend on them with a p-value below this.
_MIN_P = 0.01

#: Columns compared for copies, and how many of them divide the samples into candidates.
_N_COMPARED, _N_SPLIT = 64, 24
_MIN_COMPARED = 20
#: Copies differ by less than this, in standard deviations; independent samples by about 1.4.
_MAX_DISTANCE = 0.15
#: Samples that vary along fewer directions than this can be alike by chance.
_MIN_DIRECTIONS = 8.0
#: Fewer copies may be slips, which matter little.
_MIN_SHARE, _MIN_COPIES = 0.05, 5


def warn_of_clusters(table: Table, outcome: Target, strata: Strata | None, *, taken: list[Any]) -> None:
    """Warn, once, of the first sign that samples are not independent; `taken` are columns named for other purposes.

    A variable that labels subjects is warned of also where the outcome does not depend on subjects: it is no
    measurement.
    """
    labels: list[tuple[str, IntArray]] = []
    for name, codes, is_variable in _subjects(table, taken):
        if _is_known(codes, strata):
            continue
        if outcome.p_of_groups(codes) < _MIN_P:
            warn(
                f"X has a column {shown(name)} ({'a variable' if is_variable else 'known of its samples'}) with "
                f"{int(codes.max()) + 1} values for {table.n_samples} samples: samples of one {shown(name)} are not "
                f"independent of each other, and p-values are too small; use groups={shown(name)}"
                f"{', which also removes it from the variables' if is_variable else ''}"
            )
            return
        if is_variable:
            labels.append((name, codes))
    for name, codes in labels[:1]:
        warn(
            f"X has a column {shown(name)} (a variable) with {int(codes.max()) + 1} values for {table.n_samples} "
            f"samples, which labels subjects rather than measures: use groups={shown(name)}, which also removes it "
            f"from the variables, or leave it out (on the command line with --drop {shown(name)})"
        )
        return
    n_copies, pair = table.once("copies", lambda: _copies(table))
    if n_copies >= _n_wanted(table):
        warn(
            f"X has {n_copies} samples that nearly equal another sample (for example samples {pair[0]} and {pair[1]}). "
            "Such samples are not independent, and p-values are too small: leave copies out, or give groups=, the "
            "replicate or patient of each sample"
        )


#: Columns on the design of a survey: weights with a word before, strata, clusters. "weight" alone is a measure.
_DESIGN = re.compile(
    r"sdmv(psu|stra)|wt(mec|int|saf|dr|ph)\w*|psu|(v?ar)?strat(a|um)?|varunit|fpc|fnl_?wgt|"
    r"(p|f|sample?|sampling|survey|final|design|person|household|post|pop)_?(wt|wgt|weight)s?|(per|hh)wt",
    re.IGNORECASE,
)


def find_survey_columns(table: Table) -> list[int]:
    """Return the variables that look like weights, strata or clusters of a survey by their names.

    Examples
    --------
    >>> from interplay.data.study.table import as_table
    >>> find_survey_columns(as_table([[1.0, 2.0, 3.0, 4.0]], names=["age", "SDMVPSU", "weight", "WTMEC2YR"]))
    [1, 3]
    """
    return [v for v, name in enumerate(table.names) if _DESIGN.fullmatch(name)]


def known_subjects(table: Table, outcome: Target, taken: list[Any]) -> str | None:
    """Return what is known of samples (in a .fam file, in .obs) that labels subjects on which the outcome depends."""
    for name, codes, is_variable in _subjects(table, taken):
        if not is_variable and outcome.p_of_groups(codes) < _MIN_P:
            return name
    return None


def _subjects(table: Table, taken: list[Any]) -> Iterator[tuple[str, IntArray, bool]]:
    """Yield columns that may label subjects: name, number of each sample's subject, whether it is a variable."""
    for name, values in table.sample_columns.items():
        if name not in taken and names_subjects(name):
            column = decision_column(values, name)
            read = column.read()
            if read.dtype.kind != "f" or not np.isnan(read).any():
                codes = numbered(read)
                if are_subjects(codes, name, is_label=True):
                    yield name, codes, False
    for v, codes in find_subjects(table):
        yield table.names[v], codes, True


def _is_known(codes: IntArray, strata: Strata | None) -> bool:
    """Say whether each stratum lies in one group: strata then account for effects of the groups."""
    if strata is None:
        return False
    return len(np.unique(strata.codes * (int(codes.max()) + 1) + codes)) == strata.n_strata


def _copies(table: Table) -> tuple[int, tuple[int, int]]:
    """Count the samples that are nearly the same as another, and name two of them."""
    numbers = np.flatnonzero(table.kinds == ColumnKind.NUMBER)
    if len(numbers) < _MIN_COMPARED or table.n_samples < 2 * _MIN_COMPARED:
        return 0, (0, 0)
    here, there = _candidates(table.columns(_spread(numbers, _N_SPLIT)))
    if len(here) < _n_wanted(table) / 2:  # as nearly always
        return 0, (0, 0)
    scaled = _scaled(table.columns(_spread(numbers, _N_COMPARED)))
    if len(scaled) < _MIN_COMPARED or _directions(scaled) < _MIN_DIRECTIONS:
        return 0, (0, 0)
    distance = np.sqrt(((scaled[:, here] - scaled[:, there]) ** 2).mean(axis=0))
    near = distance < _MAX_DISTANCE
    if not near.any():
        return 0, (0, 0)
    first = int(np.argmax(near))
    pair = sorted((int(here[first]), int(there[first])))
    return len(np.union1d(here[near], there[near])), (pair[0], pair[1])


def _n_wanted(table: Table) -> float:
    return max(_MIN_COPIES, _MIN_SHARE * table.n_samples)


def _spread(numbers: IntArray, n: int) -> IntArray:
    """Choose up to `n` of the columns, from the first to the last."""
    if len(numbers) <= n:
        return numbers
    return numbers[np.unique(np.linspace(0, len(numbers) - 1, n).astype(np.int64))]


def _candidates(columns: Any) -> tuple[IntArray, IntArray]:
    """Return pairs of samples that lie on the same side of the middle in all of some columns."""
    columns = columns[np.isfinite(columns).all(axis=1)]
    above = columns > columns.mean(axis=1, keepdims=True)
    share = above.mean(axis=1)
    above = above[(share > 0.2) & (share < 0.8)]
    if len(above) < _MIN_COMPARED // 2:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    side = (above.astype(np.int64) << np.arange(len(above))[:, np.newaxis]).sum(axis=0)
    order = np.argsort(side, kind="stable")
    here, there = order[:-1], order[1:]
    alike = side[here] == side[there]
    return here[alike], there[alike]


def _scaled(columns: Any) -> FloatArray:
    """Return the columns that divide the samples, in standard deviations; columns with missing values are left out."""
    values = columns.astype(np.float64)
    values = values[np.isfinite(values).all(axis=1)]
    above = (values > np.median(values, axis=1, keepdims=True)).mean(axis=1)
    values = values[(above > 0.2) & (above < 0.8)]
    return np.asarray((values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True))


def _directions(scaled: FloatArray) -> float:
    """Return the effective number of directions in which samples vary: (Σλ)²/Σλ² of the correlations of columns."""
    correlation = scaled @ scaled.T / scaled.shape[1]
    return float(np.trace(correlation) ** 2 / (correlation**2).sum())
