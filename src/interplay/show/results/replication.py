"""Listed tuples and new samples → tests of the tuples in the new samples, at the thresholds of the first ones.

Tuples that were found by products are tested by their products. Tuples whose numbers were cut are tested again beside
smooth effects of the numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from math import prod
from typing import Any, cast

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, in_unit
from interplay.base.checks import check_choice, shown, warn
from interplay.data.codes.cuts import NO_LEVEL, VariableCuts
from interplay.data.codes.tuple_counts import MAX_KEPT, MAX_NUMBERS, TupleCounts, counts_in_cells
from interplay.data.models.linear import spline_columns
from interplay.data.study.columns import Column
from interplay.data.study.design import Strata
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.numbers import NumberOutcome
from interplay.data.study.outcomes.ordered import OrderedClasses, scored_again
from interplay.data.study.outcomes.outcome import Outcome
from interplay.data.study.outcomes.targets import ClassTarget, ScoreTarget
from interplay.data.study.outcomes.times import Survival, split_survival
from interplay.data.study.study import Study, make_study
from interplay.infer.interaction.beside_test import ModelTest, TupleSamples, smooth_log_p, smooth_test
from interplay.infer.interaction.effect import Effect, LargestResidual, adjusted_residuals, cell_log_odds, no_effects
from interplay.infer.interaction.product_test import (
    Freedom,
    Member,
    product_models,
    product_test,
    second_test,
)
from interplay.infer.interaction.proportional_fit import fit_null_model
from interplay.infer.interaction.table_tests import tested_tables
from interplay.infer.interaction.tested_in_model import (
    effects_alone,
    tuple_in_model,
    with_model_tests,
    with_product_tests,
    with_second_tests,
)
from interplay.infer.interaction.tuple_tests import TupleTests, adjust_listed, corrected_p_values
from interplay.infer.number_interaction.cell_moments import cell_moments, scored_numbers
from interplay.infer.number_interaction.effect import effect_in_cell, standardised_residuals
from interplay.infer.number_interaction.number_tests import number_tests
from interplay.infer.p_values import LISTED_METHODS
from interplay.infer.survival.survival_curves import MAX_TUPLES, SurvivalCurves, tuple_curves
from interplay.show.results.interactions import Interactions
from interplay.show.results.provenance import Provenance
from interplay.show.results.summary_words import model_in_words


def cut_samples(
    cuts: Sequence[VariableCuts], codes: Sequence[IntArray], strata: Strata | None, *, has_dosages: bool = False
) -> TupleSamples:
    """Return the samples with a level of every member.

    - `cuts`: of each member.
    - `codes`, sequence of (n_samples,): levels of each member, `NO_LEVEL` where there is none.
    - `has_dosages`: whether levels are dosages, the product of which is tested.
    """
    known = np.flatnonzero(np.all([code != NO_LEVEL for code in codes], axis=0))
    levels = np.array(codes)[:, known]
    dosages = [cut.dosages()[of] for cut, of in zip(cuts, levels, strict=True)] if has_dosages else None
    return TupleSamples(known, levels, None if strata is None else strata.codes[known], dosages)


def replicate(
    first: Interactions, X: Any, y: Any, *, strata: Any, covariates: Any, offset: Any, entry: Any, p_adjust: str | None
) -> Interactions:
    """See `Interactions.replicate`."""
    if first.first is not None:
        raise ValueError("this is a replication already: replicate the result in which the tuples were found")
    given = {"strata": strata, "covariates": covariates, "offset": offset, "entry": entry}
    return replicate_in(first, new_samples(first.provenance, X, y, **given), p_adjust=p_adjust)


def new_samples(
    found_in: dict[str, Any],
    X: Any,
    y: Any,
    *,
    strata: Any,
    covariates: Any,
    offset: Any,
    entry: Any,
    groups: Any = None,
) -> Study:
    """Check new samples against the record of the first ones; the outcome has to be made as the first one was.

    Warns where the first samples had covariates or an offset and these have none.
    """
    has_times = Provenance.of(found_in).has_times
    pair = split_survival(y) if has_times else None
    if has_times and pair is None:
        raise ValueError("y must be (time, event), as the outcome of the first samples is")
    if entry is not None and pair is None:
        raise ValueError("entry is for times: the outcome of the first samples is none, leave entry out")
    for name, known in (("covariates", covariates), ("offset", offset)):
        if name in found_in and known is None:
            warn(
                f"the first samples were searched given {model_in_words(Provenance.of(found_in))}; without {name} the "
                f"new samples are tested for something else: give {name}"
            )
    beside = {"strata": strata, "groups": groups, "covariates": covariates, "offset": offset, "entry": entry}
    return make_study(X, y, **beside, times=pair is not None, reading="later")


def replicate_in(first: Interactions, study: Study, *, p_adjust: str | None = None) -> Interactions:
    """Test the tuples of `first` in the samples of another study."""
    started = time.perf_counter()
    method = first.settings["p_adjust"] if p_adjust is None else p_adjust
    check_choice("p_adjust", method, LISTED_METHODS)
    table = study.table
    number_of = {name: number for number, name in enumerate(table.names)}
    for v in np.unique(first.tested.tuples).tolist():
        if first.names[v] not in number_of:
            raise ValueError(f"X lacks the variable {shown(first.names[v])}, which is in one of the tuples")
    study = _as_first(first, study)
    outcome, strata = study.compared, study.strata
    tested, counts, curves = _test_all(first, study, number_of)
    n = len(tested)
    if n:
        tested = replicated_products(first, tested, study, number_of)
        adjust = partial(adjust_listed, method=method, n_tests=n)
        tested = replicated_beside_smooth(first, tested.adjusted(adjust), study, number_of, adjust)
    order = np.lexsort((np.arange(n), tested.log_p))
    sizes = outcome.sizes.tolist()[: len(outcome.labels)]
    about = {"outcome": outcome.about()} if outcome.about() else {}
    return replace(
        first,
        tested=tested.chosen(order),
        first=first.tested.chosen(order),
        is_exhaustive=True,
        tagged=None,
        n_tests=n,
        counts=tuple(counts[row] for row in order.tolist() if counts[row] is not None)[:MAX_KEPT],
        survival_curves=tuple(curves[row] for row in order.tolist() if row in curves)[:MAX_TUPLES],
        class_sizes=dict(zip(first.outcome.labels, sizes, strict=True)),
        settings=first.settings | {"p_adjust": method},
        provenance={
            "target": first.provenance["target"],
            "n_samples": table.n_samples,
            "samples_left_out": table.samples_left_out,
            "n_vars": table.n_vars,
            **about,
            **study.model_record(),
            "strata": {} if strata is None else dict(zip(strata.labels, strata.sizes.tolist(), strict=True)),
            "seconds": round(time.perf_counter() - started, 3),
            "versions": {"interplay": version("interplay")},
            "found in": first.provenance | {"p_adjust": first.settings["p_adjust"]},
        },
    )


def outcome_of(
    first: Interactions, y: Any, n_samples: int, strata: Strata | None
) -> DecisionClasses | NumberOutcome | OrderedClasses:
    """Return the outcome of new samples: cut as the first ones, or numbers on the same scale."""
    if first.words.counts_classes:
        return first.outcome.classes(y, n_samples=n_samples)
    order = first.record.outcome.order
    return scored_again(y, n_samples=n_samples, strata=strata, scale=first.asked.scale, order=order)


def _as_first(first: Interactions, study: Study) -> Study:
    """Return new samples with the outcome as the first ones: of times residuals, or these cut in the same places."""
    if first.words.has_curves:
        return study
    found = outcome_of(first, study.y, study.n_samples, study.strata)
    return study.of_outcome(found if study.outcome.is_target else study.outcome, found)


def _test_all(
    first: Interactions, study: Study, number_of: dict[str, int]
) -> tuple[TupleTests, list[TupleCounts | None], dict[int, SurvivalCurves]]:
    """Test the tuples one by one, in the order of `first`; by the full model, where the new samples have one."""
    table, strata, model = study.table, study.strata, study.model
    # Of times the cells have residuals of the model, as in a search.
    outcome = model.residuals() if model is not None and first.words.has_curves else study.compared
    omit = first.omits_missing
    parts = [TupleTests.none(outcome.words_of_cells.kind, first.dimensions)]
    by_model: list[ModelTest] = []
    curves: dict[int, SurvivalCurves] = {}
    kept: list[TupleCounts | None] = []
    codes_of: dict[tuple[int, int], IntArray] = {}

    def levels_of(v: int, d: int) -> IntArray:
        if (v, d) not in codes_of:
            column = table.column(number_of[first.names[v]])
            codes_of[v, d] = first.cuts_of(v).codes(column, d, omit_missing=omit)
        return codes_of[v, d]

    def n_levels(v: int) -> int:
        return max(first.cuts_of(v).n_levels(omit_missing=omit), 2)

    for row, members in enumerate(first.tested.tuples.tolist()):
        d = int(first.tested.discretization[row])
        levels = [first.cuts_of(v).n_levels(omit_missing=omit) for v in members]
        names = [first.cuts_of(v).level_names(d)[:n] for v, n in zip(members, levels, strict=True)]
        codes = [levels_of(v, d) for v in members]
        cuts = [first.cuts_of(v) for v in members]
        has_dosages = first.asked.coding == "dosage" and first.tested.residual_class is None
        samples = cut_samples(cuts, codes, strata, has_dosages=has_dosages)
        if model is not None:
            by_model.append(tuple_in_model(model, outcome, samples, np.array([n_levels(v) for v in members])))
        tested, of_cells = _OF_CELLS[outcome.words_of_cells.kind](first, row, codes, levels, names, outcome, strata)
        parts.append(tested)
        kept.append(of_cells)
        if study.outcome.words.has_curves and of_cells is not None:
            curves[row] = tuple_curves(cast("Survival", study.outcome), samples.known, samples.levels, of_cells)
    tests = TupleTests.joined(parts)
    if model is None:
        return tests, kept, curves
    alone = partial(effects_alone, model=model, n_levels=n_levels, levels_of=levels_of)
    return with_model_tests(tests, by_model, model, outcome, alone), kept, curves


def _replicated_counts(
    first: Interactions,
    row: int,
    codes: list[IntArray],
    levels: list[int],
    level_names: list[list[str]],
    outcome: ClassTarget,
    strata: Strata | None,
) -> tuple[TupleTests, TupleCounts | None]:
    """Test the tuple in a row of `first` by the counts of new samples; arguments as in `_replicated_numbers`."""
    counts = _counted(codes, levels, outcome, strata)
    members, d = first.tested.tuples[row : row + 1], first.tested.discretization[row : row + 1]
    tested = tested_tables(
        counts[np.newaxis],
        members,
        bootstrap_below=first.settings["level"],
        seed=first.settings["random_state"],
        strata=strata is not None,
        n_threads=1,
    )
    pooled = counts if strata is None else counts.sum(axis=0)
    of_cells = TupleCounts(members[0], 0, int(d[0]), level_names, pooled) if pooled.size <= MAX_NUMBERS else None
    tables = counts[np.newaxis] if strata is None else counts
    there = _at_first_cell(
        first,
        row,
        strata,
        lambda: adjusted_residuals(tables, fit_null_model(tables).mu),
        lambda cell: cell_log_odds(tables[np.newaxis], cell, np.array([0])),
    )
    return replace(tested, discretization=d, **there), of_cells


def _replicated_numbers(
    first: Interactions,
    row: int,
    codes: list[IntArray],
    levels: list[int],
    level_names: list[list[str]],
    outcome: ScoreTarget,
    strata: Strata | None,
) -> tuple[TupleTests, TupleCounts | None]:
    """Test the tuple in a row of `first`; `codes` are the levels of its members, `NO_LEVEL` where there is none.

    Ranks are those among all new samples, also where some have no level of a member and are left out of the test.
    """
    members, d = first.tested.tuples[row], int(first.tested.discretization[row])
    known = np.all([code != NO_LEVEL for code in codes], axis=0)
    # A column with one value has two levels in tests, one of them empty.
    shape = tuple(max(n, 2) for n in levels)
    n_strata = 1 if strata is None else strata.n_strata
    n_cells = n_strata * prod(shape)
    cells = np.full((1, len(known)), n_cells, dtype=np.int64)
    columns = [code[known] for code in codes]
    within = np.zeros(int(known.sum()), dtype=np.int64) if strata is None else strata.codes[known]
    cells[0, known] = np.ravel_multi_index([within, *columns], (n_strata, *shape))
    dosages = None
    if first.settings.get("coding") == "dosage":
        dosages = np.zeros((1, len(levels), max(shape)))
        for place, v in enumerate(members.tolist()):
            of_levels = first.cuts_of(v).dosages()[: max(shape)]
            dosages[0, place, : len(of_levels)] = of_levels
    numbers = scored_numbers(outcome, strata)
    tested = number_tests(cells, numbers, members[np.newaxis], shape, n_strata=n_strata, dosages=dosages)
    moments = partial(cell_moments, cells, levels=shape, n_strata=n_strata)
    values, unit = in_unit(numbers.values)
    there = _at_first_cell(
        first,
        row,
        strata,
        lambda: standardised_residuals(moments(numbers.scores), fewest=numbers.fewest)[0],
        lambda cell: effect_in_cell(moments(values), cell, fewest=numbers.fewest).times(unit),
    )
    tested = replace(tested.of_discretization(np.array([d])), **there)
    small = 6 * prod(len(names) for names in level_names) <= MAX_NUMBERS
    return tested, counts_in_cells(columns, outcome.values[known], level_names, members, d) if small else None


#: The tests of one tuple in new samples, by the kind of its cells.
_OF_CELLS: dict[str, Callable[..., tuple[TupleTests, TupleCounts | None]]] = {
    "classes": _replicated_counts,
    "numbers": _replicated_numbers,
}


def _at_first_cell(
    first: Interactions,
    row: int,
    strata: Strata | None,
    residuals: Callable[[], FloatArray],
    effect_of: Callable[[LargestResidual], Effect],
) -> dict[str, Any]:
    """Return the new residual of the cell whose residual was the largest in the first samples.

    - `residuals`: of the strata, cells, and classes if there are any.
    - `effect_of`: a cell → its effect.
    """
    found = first.tested
    if np.isnan(found.residual[row]):
        return {}
    labels = list(first.provenance["strata"])
    label = labels[found.residual_stratum[row]] if labels else None
    stratum = 0 if strata is None else strata.labels.index(label) if label in strata.labels else None
    cell = found.residual_cell[row : row + 1]
    class_ = None if found.residual_class is None else found.residual_class[row : row + 1]
    value, effect = np.array([math.nan]), no_effects(1)
    if stratum is not None:
        value = np.array([residuals()[(stratum, *cell[0], *(() if class_ is None else class_))]])
        effect = effect_of(LargestResidual(value, np.array([stratum]), cell, class_))
    return {
        "cell_effect": effect.estimate,
        "cell_low": effect.low,
        "cell_high": effect.high,
        "residual": value,
        "residual_cell": cell,
        "residual_class": class_,
        "residual_stratum": np.array([stratum or 0]),
    }


def _counted(codes: list[IntArray], levels: list[int], classes: ClassTarget, strata: Strata | None) -> IntArray:
    known = np.all([code != NO_LEVEL for code in codes], axis=0)
    shape: tuple[int, ...] = (*levels, classes.n_classes)
    columns = [*codes, classes.codes]
    if strata is not None:
        shape, columns = (strata.n_strata, *shape), [strata.codes, *columns]
    cell = np.ravel_multi_index([column[known] for column in columns], shape)
    return np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)


def replicated_beside_smooth(
    first: Interactions,
    tested: TupleTests,
    study: Study,
    number_of: dict[str, int],
    adjust: Callable[[FloatArray], FloatArray],
) -> TupleTests:
    """Fill in the p-values beside smooth effects; `tested` are the tuples of `first` in the samples of `study`."""
    table, outcome, strata = study.table, study.compared, study.strata
    level, omit = first.settings["level"], first.omits_missing
    rows = [
        row
        for row in np.flatnonzero(tested.is_significant(level) & ~tested.are_products).tolist()
        if any(first.cuts_of(v).is_cut for v in tested.tuples[row].tolist())
    ]
    if not rows:
        return tested.smooth_judged(adjust, level)
    found = []
    for row in rows:
        cuts = [first.cuts_of(v) for v in tested.tuples[row].tolist()]
        columns = [table.column(number_of[first.names[cut.variable]]) for cut in cuts]
        d = int(tested.discretization[row])
        codes = [cut.codes(one, d, omit_missing=omit) for cut, one in zip(cuts, columns, strict=True)]
        samples = cut_samples(cuts, codes, strata, has_dosages=first.asked.coding == "dosage")
        splines = [
            spline_columns(one.read().astype(np.float64)[samples.known]) if cut.is_cut else None
            for cut, one in zip(cuts, columns, strict=True)
        ]
        found.append(smooth_test(outcome, samples, splines, model=study.model))
    again = tested.chosen(np.array(rows))
    chi2, df = np.array([one[0] for one, _ in found]), np.array([one[1] for one, _ in found])
    log_p = tested.smooth_log_p.copy()
    log_p[rows] = smooth_log_p(corrected_p_values(again, chi2, df, 1), [other for _, other in found], level)
    return replace(tested, smooth_log_p=log_p).smooth_judged(adjust, level)


def product_member(cuts: VariableCuts, column: Column, codes: IntArray, freedom: Freedom) -> Member:
    """Return a member with scores in new samples; `codes` are its levels there."""
    if cuts.is_cut:
        return Member.of_number(column.read().astype(np.float64), freedom)
    return Member(np.where(codes == NO_LEVEL, 0.0, cuts.dosages()[codes]), None)


def replicated_products(first: Interactions, tested: TupleTests, study: Study, number_of: dict[str, int]) -> TupleTests:
    """Replace tests of levels by those of products, where products were found; ranks are those of the new samples."""
    if first.tested.way is None:
        return tested
    tested, rows = tested.of_way("levels"), np.flatnonzero(first.tested.are_products)
    if not len(rows):
        return tested
    table, strata = study.table, study.strata
    model = study.model or FullModel.of(cast("Outcome", study.compared), study.design)
    freedom = Freedom.of(model.outcome.n_informative, first.dimensions)
    groups = None if study.groups is None else study.groups.codes
    found, again = [], []
    for row in rows.tolist():
        cuts = [first.cuts_of(v) for v in tested.tuples[row].tolist()]
        columns = [table.column(number_of[first.names[one.variable]]) for one in cuts]
        codes = [one.codes(of, 0, omit_missing=True) for one, of in zip(cuts, columns, strict=True)]
        samples = cut_samples(cuts, codes, strata)
        members = [
            product_member(*each, freedom).of_samples(samples.known) for each in zip(cuts, columns, codes, strict=True)
        ]
        is_shape = bool(first.tested.are_shapes[row])
        models, product = product_models(members, samples, model, is_shape=is_shape)
        found.append(product_test(model, models, product, groups=groups))
        flexible, _ = product_models(members, samples, model, is_shape=is_shape, is_flexible=True)
        again.append(second_test(model, flexible, groups))
    products = with_product_tests(tested.chosen(rows), found, model, study.compared, first.tested.way[rows])
    products = with_second_tests(products, np.arange(len(rows)), again)
    both = TupleTests.joined([tested, products])
    order = np.arange(len(tested))
    order[rows] = len(tested) + np.arange(len(rows))
    return both.chosen(order)
