"""Tuples under the older package's names, with its rules for the discretisation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.ask.tuples.call import make_source
from interplay.ask.tuples.source import Listing, TupleSource, value_matrix, whole_table
from interplay.base.arguments import described_by, taken_by
from interplay.base.arrays import FloatArray
from interplay.base.checks import check_int, check_real, shown
from interplay.compat.codes import COMPAT_ARGUMENTS, CUT_DATA, DISCRETE_DATA, OF_TUPLES
from interplay.compat.max_gains import asked_for_tuples, codes_of_same_levels, search_settings
from interplay.data.codes.coded import code_comparison
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.classes import DecisionClasses, decision_classes, one_class
from interplay.data.study.table import as_table
from interplay.search.engines.choice import SearchWork, check_engine, choose_engine
from interplay.search.engines.sinks import tuple_formula

#: Bytes that a list of tuples may take here; `interplay.interesting_tuples` can write longer ones to a file.
_MAX_MEMORY = 8e9


class StatMode(IntEnum):
    """The statistic of a tuple."""

    H = 0
    MI = 1
    VI = 2


@dataclass(frozen=True, eq=False)
class ComputeTuplesResult:
    """Values of variables in tuples.

    Attributes
    ----------
    stats : (n_rows,) or (n_vars, n_vars) float64
        The values, or with ``return_matrix`` their matrix.
    tuples : (n_rows, dimensions) int32 or None
        Variables numbered from 0, ascending. None for a matrix.
    vars : (n_rows,) int32 or None
        The variable each value is of. None for a matrix.
    """

    stats: FloatArray
    tuples: npt.NDArray[np.int32] | None
    vars: npt.NDArray[np.int32] | None


@described_by(COMPAT_ARGUMENTS | CUT_DATA | OF_TUPLES)
def compute_tuples(
    data: Any,
    decision: Any = None,
    *,
    dimensions: int = 2,
    divisions: int = 1,
    discretizations: int = 1,
    seed: int | None = None,
    range_: float | None = None,
    pc_xi: float = 0.25,
    ig_thr: float = 0.0,
    i_lower: Any = None,
    interesting_vars: Iterable[int] | None = None,
    require_all_vars: bool = False,
    return_matrix: bool = False,
    stat_mode: StatMode = StatMode.MI,
    average: bool = False,
) -> ComputeTuplesResult:
    """List the information gains, or entropies, of variables in tuples.

    In new scripts, use `interplay.interesting_tuples` with ``discrete="none"``.

    Parameters
    ----------
    discretizations
        ...

        With `average`, it is the mean instead.
    average : bool
        Take the mean over the discretisations instead of the maximum. (The older package does so for matrices only.)
    ...

    Returns
    -------
    ComputeTuplesResult
        ``.stats``, ``.tuples``, ``.vars``

    Examples
    --------
    >>> import numpy as np
    >>> from interplay import compat as mdfs
    >>> data = np.random.default_rng(0).normal(size=(400, 6))
    >>> decision = (data[:, 1] > 0) ^ (data[:, 4] > 0)
    >>> mdfs.compute_tuples(data, decision, range_=0, ig_thr=100).tuples
    array([[1, 4],
           [1, 4]], dtype=int32)
    """
    arguments = dict(locals())
    table = as_table(data)
    check_int("dimensions", dimensions, low=2)
    settings = search_settings(table, **taken_by(search_settings, arguments))
    classes = _classes(decision, table.n_samples)
    formula = tuple_formula(_stat_of(stat_mode), settings.dimensions, with_decision=decision is not None)
    choice = check_engine(kind="list")
    source = make_source(
        code_comparison(Comparison("all classes", table, classes), settings, n_threads=choice.n_threads),
        settings,
        choice,
        formula=formula,
        average=average,
        **asked_for_tuples(table, interesting_vars, require_all_vars, settings.dimensions),
    )
    return _result(source, table.names, ig_thr, return_matrix)


@described_by(COMPAT_ARGUMENTS | DISCRETE_DATA | OF_TUPLES)
def compute_tuples_discrete(
    data: Any,
    decision: Any = None,
    *,
    dimensions: int = 2,
    pc_xi: float = 0.25,
    ig_thr: float = 0.0,
    i_lower: Any = None,
    interesting_vars: Iterable[int] | None = None,
    require_all_vars: bool = False,
    return_matrix: bool = False,
    stat_mode: StatMode = StatMode.MI,
) -> ComputeTuplesResult:
    """List the information gains, or entropies, of variables in tuples; for discrete variables.

    In new scripts, use `interplay.interesting_tuples` with ``discrete="all"``, where every column has its own number of
    levels. Here all columns have the levels that any of them has.

    Parameters
    ----------
    ...

    Returns
    -------
    ComputeTuplesResult
        ``.stats``, ``.tuples``, ``.vars``

    Examples
    --------
    >>> import numpy as np
    >>> from interplay import compat as mdfs
    >>> data = np.random.default_rng(0).integers(0, 2, size=(400, 6))
    >>> mdfs.compute_tuples_discrete(data, data[:, 1] ^ data[:, 4], ig_thr=100).vars
    array([1, 4], dtype=int32)
    """
    table = as_table(data)
    dimensions = check_int("dimensions", dimensions, low=2, high=table.n_vars)
    classes = _classes(decision, table.n_samples)
    (codes,) = codes_of_same_levels([table], dimensions)
    family = {"dimensions": dimensions, **asked_for_tuples(table, interesting_vars, require_all_vars, dimensions)}
    choice = check_engine(kind="list")
    work = SearchWork.of(codes.n_levels, n_vars=table.n_vars, n_samples=table.n_samples, **family)
    source = TupleSource(
        planes=[make_bit_planes([codes], classes, n_jobs=choice.n_threads)],
        **family,
        pseudocount=check_real("pc_xi", pc_xi, low=0.0),
        formula=tuple_formula(_stat_of(stat_mode), dimensions, with_decision=decision is not None),
        average=False,
        engine=choose_engine(choice, work),
    )
    return _result(source, table.names, ig_thr, return_matrix)


def _classes(decision: Any, n_samples: int) -> DecisionClasses:
    if decision is None:
        return one_class(n_samples)
    return decision_classes(decision, n_samples=n_samples, decision="classes")


def _stat_of(stat_mode: StatMode | int) -> str:
    try:
        return StatMode(stat_mode).name
    except ValueError:
        raise ValueError(
            f"stat_mode must be StatMode.H (0), StatMode.MI (1) or StatMode.VI (2), not {shown(stat_mode)}"
        ) from None


def _result(source: TupleSource, names: list[str], ig_thr: float, return_matrix: bool) -> ComputeTuplesResult:
    threshold = check_real("ig_thr", ig_thr, low=-1e300, high=1e300)
    listing = Listing(source, threshold if threshold > 0 else -np.inf, names, "", progress=None)
    # With a threshold, and beyond pairs, the older package returns rows whether or not a matrix is asked for.
    if return_matrix and source.dimensions == 2 and threshold <= 0:
        return ComputeTuplesResult(value_matrix(listing), None, None)
    listing.check_memory(_MAX_MEMORY)
    rows = whole_table(listing, _MAX_MEMORY)
    return ComputeTuplesResult(rows.value, rows.tuples, rows.variable)
