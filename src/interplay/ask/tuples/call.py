"""Tuples themselves, not only the best of each variable: a table and, if there is one, a decision → TupleTable."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.ask.tuples.source import (
    Listing,
    TupleSource,
    best_table,
    value_matrix,
    whole_table,
    write_parquet,
    write_table,
)
from interplay.ask.tuples.table import TupleTable, check_out
from interplay.base.arguments import ARGUMENTS, described_by, taken_by
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_choice, check_flag, check_int, check_real
from interplay.base.progress import check_progress
from interplay.data.codes.coded import CodedComparison, code_comparison
from interplay.data.codes.coder import Discrete
from interplay.data.study.study import make_study
from interplay.search.engines.choice import AsEngine, EngineChoice, SearchWork, check_engine, choose_engine
from interplay.search.engines.sinks import TupleFormula, tuple_formula
from interplay.search.settings import SearchSettings, asked_for_mask, check_search_settings, check_workspace


@described_by(ARGUMENTS)
def interesting_tuples(
    X: Any,
    y: Any = None,
    *,
    dimensions: int = 2,
    min_gain: float | None = 0.0,
    stat: str = "MI",
    average: bool = False,
    top: int | None = None,
    top_by: str = "variable",
    variables: Iterable[Any] | None = None,
    require: str = "any",
    as_matrix: bool = False,
    out: str | os.PathLike[str] | None = None,
    max_memory: float = 2e9,
    divisions: int = 1,
    discretizations: int = 1,
    range_: float | None = None,
    pseudocount: float = 0.25,
    decision: str = "auto",
    decision_divisions: int | None = None,
    scale: str = "ranks",
    discrete: Discrete = "auto",
    missing: str = "error",
    random_state: Any = 0,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> TupleTable | FloatArray | Path:
    r"""List the information gain of each variable in each tuple, or the dependence between the variables of a tuple.

    Parameters
    ----------
    y : (n_samples,) array-like, or str, optional
        ...

        Without an outcome, `stat` is about the variables alone.
    dimensions
        ...

        A tuple must have at least two variables.
    min_gain : float or None
        List only values above this. 0 and None list everything.
    stat : {"MI", "H", "VI", "TC", "II"}
        The statistic to list; see Notes.
    average : bool
        Take the mean over the discretisations, not the maximum. This is no faster than the maximum: tuples whose
        maximum exceeds `min_gain` are counted again in every discretisation.
    top : int, optional
        Keep only this many of the largest values, largest first.
    top_by : {"variable", "all"}
        Keep `top` rows of each variable, or `top` rows in all.
    variables
        ...

        All members of a tuple are listed, also those not in `variables`.
    as_matrix : bool
        In 2D, return the (n_vars, n_vars) array whose entry [i, j] is the value of variable i in the pair with j. The
        diagonal is 0; pairs that `variables` excludes are NaN.
    out : path-like, optional
        Write the rows to this Parquet file, with a bounded buffer, instead of returning them. The columns are member_1,
        …, variable (names) and value. Needs ``interplay[parquet]``.
    max_memory : float
        Number of bytes that the result may take. If it would take more, the call says so before it starts and asks for
        `out`, `top` or a higher `min_gain`.
    discretizations
        ...

        With `average`, it is the mean instead.
    random_state
        ...

        None draws a new seed.
    engine : {"auto", "cpu", "cuda"} or Engine
        ...

        An engine that cannot list tuples is refused.
    progress
        ...

        The display shows how many rows to expect: the exact number if everything is listed, otherwise an estimate from
        a sample of tuples.
    ...

    Returns
    -------
    TupleTable, array or Path
        The table, sorted by tuple and then by variable (with `top`, by value); with `as_matrix`, the array; with
        `out`, the path. The rows of a Parquet file are sorted within blocks of tuples; every run gives the same file.

    Raises
    ------
    TuplesInterrupted
        On Ctrl-C. Its ``.partial`` is the table of the rows found so far, or the path of a valid Parquet file whose
        metadata say that it is not complete.

    Notes
    -----
    With an outcome, values are in bits times samples; U(S) is the entropy of the outcome given the members in S:

    ======  =======================================================================================================
    "MI"    the information gain of the variable, U(T without it) − U(T)
    "H"     U(T), the same for all members
    "VI"    U(0) + U(1) − 2 U(0, 1), in 2D
    ======  =======================================================================================================

    Without an outcome, values are in bits per sample and the same for all members; H(S) is the entropy of the members
    in S:

    ======  =======================================================================================================
    "MI"    the mutual information H(0) + H(1) − H(0, 1), in 2D
    "H"     H(T)
    "VI"    the variation of information 2 H(0, 1) − H(0) − H(1), in 2D
    "TC"    the total correlation Σ H(i) − H(T), which is 0 for independent members and never negative
    "II"    the interaction information −Σ_S (−1)^(k − \|S\|) H(S), over the non-empty subsets S of T: the
            information in the whole tuple and in no part of it. It is positive for synergy (1 bit for three variables,
            one of which is the exclusive or of the others) and negative for redundancy (−1 bit for three copies of a
            coin)
    ======  =======================================================================================================

    In 2D, "TC" and "II" both equal the mutual information. Pseudocounts are added to every cell of the tuple's table,
    and the tables of subsets are sums of these cells.

    Examples
    --------
    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 6))
    >>> y = (X[:, 1] > 0) ^ (X[:, 4] > 0)
    >>> table = interplay.interesting_tuples(X, y, min_gain=100)
    >>> table.tuples
    array([[1, 4],
           [1, 4]], dtype=int32)
    >>> table.variable
    array([1, 4], dtype=int32)
    >>> interplay.interesting_tuples(X, stat="MI", as_matrix=True).shape
    (6, 6)
    """
    arguments = dict(locals())  # first, while it holds nothing else: see interplay.base.arguments
    study = make_study(X, y, decision=decision, decision_divisions=decision_divisions, scale=scale, reading="if given")
    (comparison,), table = study.comparisons(), study.table
    dimensions = check_int("dimensions", dimensions, low=2)
    settings = check_search_settings(table, **taken_by(check_search_settings, arguments))
    threshold = _check_threshold(min_gain)
    check_choice("top_by", top_by, ("variable", "all"))
    number = None if top is None else check_int("top", top, low=1)
    max_memory = check_real("max_memory", max_memory, low=1e6)
    check_progress(progress)
    check_flag("average", average)
    if check_flag("as_matrix", as_matrix):
        given = {"min_gain": threshold > -math.inf, "top": top is not None, "out": out is not None}
        _check_matrix(table.n_vars, dimensions, given, max_memory)
    if out is not None:
        check_out(out)
    asked_for = asked_for_mask(table, variables, require, dimensions)
    formula = tuple_formula(stat, dimensions, with_decision=y is not None)
    if formula is not None and study.compared.are_ordered:
        raise ValueError(
            f"stat={stat!r} needs classes, and y is a number: use stat='MI', or cut y with decision_divisions=1"
        )
    choice = check_engine(engine, n_jobs=n_jobs, kind="list")
    source = make_source(
        code_comparison(comparison, settings, n_threads=choice.n_threads),
        settings,
        choice,
        formula=formula,
        average=average,
        asked_for=asked_for,
        require=require,
    )
    if out is not None and number is None:
        source = replace(source, tiles_of_engine=False)  # the same file from every engine
    if as_matrix:
        return value_matrix(Listing(source, threshold, table.names, stat, progress))
    per_variable = top_by == "variable"
    listing = Listing(source, threshold, table.names, stat, progress, keeps_few=number is not None)
    if number is not None:
        listing.check_memory(max_memory, at_most=number * (table.n_vars if per_variable else 1))
        best = best_table(listing, number, by_variable=per_variable)
        return best if out is None else write_table(best, out, about=listing.about)
    if out is not None:
        return write_parquet(listing, out)
    listing.check_memory(max_memory)
    return whole_table(listing, max_memory)


def make_source(
    coded: CodedComparison,
    settings: SearchSettings,
    choice: EngineChoice,
    *,
    formula: TupleFormula | None = None,
    average: bool = False,
    asked_for: BoolArray | None = None,
    require: str = "any",
    columns: IntArray | None = None,
) -> TupleSource:
    """Bit planes of all discretisations, and what to list of their tuples.

    `formula` None lists the gains of the members. `columns`, if given, are the variables to keep; they are numbered
    anew.
    """
    n_levels = coded.n_levels if columns is None else coded.n_levels[columns]
    check_workspace(n_levels, coded.comparison.outcome, settings.dimensions)
    work = SearchWork.of(
        n_levels,
        n_vars=len(n_levels),
        n_samples=coded.coder.table.n_samples,
        dimensions=settings.dimensions,
        discretizations=settings.discretizations,
        asked_for=asked_for,
        require=require,
    )
    return TupleSource(
        planes=[
            coded.planes(d) if columns is None else coded.planes_of(d, columns) for d in range(settings.discretizations)
        ],
        dimensions=settings.dimensions,
        asked_for=asked_for,
        require=require,
        pseudocount=settings.pseudocount,
        formula=formula,
        average=average,
        engine=choose_engine(choice, work),
    )


def _check_threshold(min_gain: float | None) -> float:
    """Return the threshold; −inf where everything is listed."""
    if min_gain is None:
        return -math.inf
    number = check_real("min_gain", min_gain, low=-1e300, high=1e300)
    return -math.inf if number == 0 else number


def _check_matrix(n_vars: int, dimensions: int, options: dict[str, Any], max_memory: float) -> None:
    if dimensions != 2:
        raise ValueError(f"as_matrix needs dimensions=2, not {dimensions}")
    for name, is_given in options.items():
        if is_given:
            raise ValueError(f"as_matrix shows every pair: leave {name} out")
    if 8 * n_vars**2 > max_memory:
        raise ValueError(
            f"as_matrix=True with {n_vars} variables takes {8 * n_vars**2 / 1e9:.3g} GB, more than max_memory: "
            "raise it, or list rows with min_gain or top"
        )
