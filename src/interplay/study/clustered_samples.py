"""A table → a warning where its samples look as if they belonged together: donors, patients, families, copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, NumberOutcome, Outcome, numbered
from interplay.base.checks import shown
from interplay.base.chi_squared import chi2_tail
from interplay.base.user_warnings import warn
from interplay.study.columns import ColumnKind
from interplay.study.outcome import decision_column
from interplay.study.strata import Strata
from interplay.study.table import Table

#: Names of columns with labels of donors, patients or families, alone or before "id", "number" and the like.
_WHOSE = re.compile(
    r"(?:^|[_\W])(?:donor|patient|subject|participant|individual|person|mouse|animal|family|fid|sample|specimen|"
    r"orig\.ident)s?(?:[_\W]*(?:id|no|nr|num|number|name|code|label))?$",
    re.IGNORECASE,
)
_MAY_NAME = re.compile(
    "donor|patient|subject|participant|individual|person|mouse|animal|family|fid|sample|specimen|ident", re.IGNORECASE
)  # quick to say no
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # of donorID

#: Fewer values are a property (a family history, say) rather than a name.
_MIN_GROUPS = 4
#: Names are looked at in tables of at most this many columns: more columns are measurements.
_MAX_NAMED = 20_000
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


def warn_of_clusters(table: Table, outcome: Outcome, strata: Strata | None, *, taken: list[Any]) -> None:
    """Warn, once, of the first sign that samples are not independent; `taken` are columns named for other purposes."""
    for name, codes, where in _named_columns(table, taken):
        n_groups = int(codes.max()) + 1
        if not _MIN_GROUPS <= n_groups <= table.n_samples // 2 or _is_known(codes, strata):
            continue
        if _depends_on(codes, outcome):
            drop = "" if where == "known of its samples" else ", which also removes it from the variables"
            warn(
                f"X has a column {shown(name)} ({where}) with {n_groups} values for {table.n_samples} samples: samples "
                f"of one {shown(name)} are not independent of each other, and p-values are too small; use "
                f"groups={shown(name)}{drop}"
            )
            return
    n_copies, pair = _copies(table)
    if n_copies >= _n_wanted(table):
        warn(
            f"X has {n_copies} samples that nearly equal another sample (for example samples {pair[0]} and {pair[1]}). "
            "Such samples are not independent, and p-values are too small: leave copies out, or give groups=, the "
            "replicate or patient of each sample"
        )


def _named_columns(table: Table, taken: list[Any]) -> Iterator[tuple[str, IntArray, str]]:
    """Yield columns whose names suggest groups of samples: name, number of each sample's value, place of the column."""
    for name, values in table.sample_columns.items():
        if name not in taken and _names_groups(name):
            column = decision_column(values, name)
            read = column.read()
            if read.dtype.kind != "f" or not np.isnan(read).any():
                yield name, numbered(read), "known of its samples"
    if table.n_vars > _MAX_NAMED:
        return
    for v, name in enumerate(table.names):
        if _names_groups(name):
            values = table.columns(slice(v, v + 1))[0]
            if table.kinds[v] == ColumnKind.NUMBER and not (values == np.floor(values)).all():
                continue  # a measurement, or with missing values
            if not (values != values).any():
                yield name, numbered(values), "a variable"


def _names_groups(name: str) -> bool:
    """Say whether a name is that of a donor, patient or the like.

    Examples
    --------
    >>> [_names_groups(name) for name in ("donorID", "Patient no.", "patient_age", "samples", "x1")]
    [True, False, False, True, False]
    """
    return _MAY_NAME.search(name) is not None and _WHOSE.search(_WORD_START.sub("_", name)) is not None


def _is_known(codes: IntArray, strata: Strata | None) -> bool:
    """Say whether each stratum lies in one group: strata then account for effects of the groups."""
    if strata is None:
        return False
    return len(np.unique(strata.codes * (int(codes.max()) + 1) + codes)) == strata.n_strata


def _depends_on(codes: IntArray, outcome: Outcome) -> bool:
    """Say whether groups differ in their outcome; if not, likeness within a group does no harm."""
    if isinstance(outcome, NumberOutcome):
        from scipy.stats import f_oneway

        return (
            float(f_oneway(*(outcome.scores[codes == group] for group in range(int(codes.max()) + 1))).pvalue) < _MIN_P
        )
    counts = np.zeros((int(codes.max()) + 1, outcome.n_classes))
    np.add.at(counts, (codes, outcome.codes), 1)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    return float(chi2_tail(chi2, (len(counts) - 1) * outcome.df)) < _MIN_P


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
