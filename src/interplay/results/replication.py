"""Listed tuples and new samples → tests of the tuples in the new samples, at the thresholds of the first ones."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from interplay.base.arrays import DecisionClasses, IntArray, NumberOutcome, Outcome
from interplay.base.checks import check_choice, shown
from interplay.base.user_warnings import warn
from interplay.codes.cuts import NO_LEVEL
from interplay.codes.tuple_counts import MAX_KEPT, MAX_NUMBERS, TupleCounts
from interplay.results.interactions import Interactions
from interplay.results.number_replication import replicated_numbers
from interplay.results.smooth_replication import replicated_beside_smooth
from interplay.results.summary_words import model_in_words
from interplay.statistics.interaction.cell_effect import cell_log_odds
from interplay.statistics.interaction.effect import LargestResidual, LogOddsRatio, adjusted_residuals
from interplay.statistics.interaction.listed_p_values import LISTED_METHODS, adjust_listed
from interplay.statistics.interaction.null_model_fit import fit_null_model
from interplay.statistics.interaction.table_tests import tested_tables
from interplay.statistics.interaction.tested_tuples import TestedTuples
from interplay.statistics.number_interaction.tested_numbers import TestedNumbers
from interplay.study.named_columns import take_named
from interplay.study.number_outcome import about_numbers, decision_numbers, is_number, number_outcome
from interplay.study.strata import Strata, make_strata
from interplay.study.table import Table


def replicate(first: Interactions, X: Any, y: Any, *, strata: Any, p_adjust: str | None) -> Interactions:
    """See `Interactions.replicate`."""
    if first.first is not None:
        raise ValueError("this is a replication already: replicate the result in which the tuples were found")
    if first.is_of_times:
        raise ValueError(
            "replicate() has no test of times yet: give the new samples to interactions(variables=…), with the members "
            "of the tuples as variables"
        )
    if model := model_in_words(first.provenance):
        warn(
            f"the tuples were found given {model}; replicate() tests them without: to test them given the same, give "
            "the new samples to interactions(variables=…), with the members of the tuples as variables"
        )
    table, (y, strata) = take_named(X, y=y, strata=strata)
    within = make_strata(strata, n_samples=table.n_samples)
    return replicate_in(first, table, y, within, p_adjust=p_adjust)


def replicate_in(
    first: Interactions, table: Table, y: Any, strata: Strata | None, *, p_adjust: str | None = None
) -> Interactions:
    """Test the tuples of `first` in the samples of another table."""
    started = time.perf_counter()
    method = first.settings["p_adjust"] if p_adjust is None else p_adjust
    check_choice("p_adjust", method, LISTED_METHODS)
    number_of = {name: number for number, name in enumerate(table.names)}
    for v in np.unique(first.tested.tuples).tolist():
        if first.names[v] not in number_of:
            raise ValueError(f"X lacks the variable {shown(first.names[v])}, which is in one of the tuples")
    outcome = outcome_of(first, y, table.n_samples, strata)
    tested, counts = _test_all(first, table, number_of, outcome, strata)
    n = len(tested)
    if n:
        adjust = partial(adjust_listed, method=method, n_tests=n)
        tested = replicated_beside_smooth(first, tested.adjusted(adjust), table, number_of, outcome, strata, adjust)
    order = np.lexsort((np.arange(n), tested.log_p))
    sizes = [] if isinstance(outcome, NumberOutcome) else outcome.sizes.tolist()
    of_numbers = {"outcome": about_numbers(outcome)} if isinstance(outcome, NumberOutcome) else {}
    return replace(
        first,
        tested=tested.chosen(order),
        first=first.tested.chosen(order),
        is_exhaustive=True,
        tagged=None,
        n_tests=n,
        counts=tuple(counts[row] for row in order.tolist() if counts[row] is not None)[:MAX_KEPT],
        class_sizes=dict(zip(first.outcome.labels, sizes, strict=True)),
        settings=first.settings | {"p_adjust": method},
        provenance={
            "target": first.provenance["target"],
            "n_samples": table.n_samples,
            "samples_left_out": table.samples_left_out,
            "n_vars": table.n_vars,
            **of_numbers,
            "strata": {} if strata is None else dict(zip(strata.labels, strata.sizes.tolist(), strict=True)),
            "seconds": round(time.perf_counter() - started, 3),
            "versions": {"interplay": version("interplay")},
            "found in": first.provenance | {"p_adjust": first.settings["p_adjust"]},
        },
    )


def outcome_of(first: Interactions, y: Any, n_samples: int, strata: Strata | None) -> Outcome:
    """Return the outcome of new samples: cut as the first ones, or numbers on the same scale."""
    if first.scale is None:
        return first.outcome.classes(y, n_samples=n_samples)
    is_number(y, "number")  # refuses labels
    return number_outcome(decision_numbers(y, n_samples=n_samples), strata, scale=first.scale)


def _test_all(
    first: Interactions, table: Table, number_of: dict[str, int], outcome: Outcome, strata: Strata | None
) -> tuple[TestedTuples | TestedNumbers, list[TupleCounts | None]]:
    """Test the tuples one by one, in the order of `first`."""
    omit = first.settings["missing"] == "omit"
    parts: list[Any] = [first.tested.none(first.dimensions)]
    kept: list[TupleCounts | None] = []
    codes_of: dict[tuple[int, int], IntArray] = {}
    for row, members in enumerate(first.tested.tuples.tolist()):
        d = int(first.tested.discretization[row])
        for v in members:
            if (v, d) not in codes_of:
                column = table.column(number_of[first.names[v]])
                codes_of[v, d] = first.cuts_of(v).codes(column, d, omit_missing=omit)
        levels = [first.cuts_of(v).n_levels(omit_missing=omit) for v in members]
        names = [first.cuts_of(v).level_names(d)[:n] for v, n in zip(members, levels, strict=True)]
        codes = [codes_of[v, d] for v in members]
        if isinstance(outcome, NumberOutcome):
            tested_numbers, of_cells = replicated_numbers(first, row, codes, levels, names, outcome, strata)
            parts.append(tested_numbers)
            kept.append(of_cells)
            continue
        counts = _counted(codes, levels, outcome, strata)
        tested = tested_tables(
            counts[np.newaxis],
            np.array([members]),
            bootstrap_below=first.settings["level"],
            seed=first.settings["random_state"],
            strata=strata is not None,
            n_threads=1,
        )
        parts.append(replace(tested, discretization=np.array([d]), **_at_first_cell(first, row, counts, strata)))
        pooled = counts if strata is None else counts.sum(axis=0)
        small = pooled.size <= MAX_NUMBERS
        kept.append(TupleCounts(np.array(members), 0, d, names, pooled) if small else None)
    return type(parts[0]).joined(parts), kept


def _at_first_cell(first: Interactions, row: int, counts: IntArray, strata: Strata | None) -> dict[str, Any]:
    """Return the new residual of the cell whose residual was the largest in the first samples."""
    found = first.tested
    assert isinstance(found, TestedTuples)
    if np.isnan(found.residual[row]):
        return {}
    labels = list(first.provenance["strata"])
    label = labels[found.residual_stratum[row]] if labels else None
    tables = counts[np.newaxis] if strata is None else counts
    stratum = 0 if strata is None else strata.labels.index(label) if label in strata.labels else None
    value, effect = math.nan, LogOddsRatio(*(np.full(1, math.nan) for _ in range(3)))
    if stratum is not None:
        residuals = adjusted_residuals(tables, fit_null_model(tables).mu)
        value = float(residuals[(stratum, *found.residual_cell[row], found.residual_class[row])])
        place = LargestResidual(
            np.array([value]),
            np.array([stratum]),
            found.residual_cell[row : row + 1],
            found.residual_class[row : row + 1],
        )
        effect = cell_log_odds(tables[np.newaxis], place, np.array([0]))
    return {
        "cell_effect": effect.estimate,
        "cell_low": effect.low,
        "cell_high": effect.high,
        "residual": np.array([value]),
        "residual_cell": found.residual_cell[row : row + 1],
        "residual_class": found.residual_class[row : row + 1],
        "residual_stratum": np.array([stratum or 0]),
    }


def _counted(codes: list[IntArray], levels: list[int], classes: DecisionClasses, strata: Strata | None) -> IntArray:
    known = np.all([code != NO_LEVEL for code in codes], axis=0)
    shape: tuple[int, ...] = (*levels, classes.n_classes)
    columns = [*codes, classes.codes]
    if strata is not None:
        shape, columns = (strata.n_strata, *shape), [strata.codes, *columns]
    cell = np.ravel_multi_index([column[known] for column in columns], shape)
    return np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)
