"""Listed tuples and new samples → tests of the tuples in the new samples, at the thresholds of the first ones.

Tuples that were found by products are tested by their products. Tuples whose numbers were cut are tested again beside
smooth effects of the numbers.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property, partial
from importlib.metadata import version
from itertools import islice
from typing import Any, cast

import numpy as np

from interplay.ask.tuple_tests.beside_smooth import beside_smooth, tuple_samples
from interplay.ask.tuple_tests.in_model import in_model
from interplay.ask.tuple_tests.product_tests import ProductTests
from interplay.ask.tuple_tests.prospects import Asked
from interplay.ask.tuple_tests.target_tests import target_tests
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_choice, warn
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.cuts import CutCoder, OutcomeCuts
from interplay.data.codes.tuple_counts import MAX_KEPT, TupleCounts
from interplay.data.study.comparisons import Comparison
from interplay.data.study.design import Design
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.numbers import NumberOutcome
from interplay.data.study.outcomes.ordered import OrderedClasses, scored_again
from interplay.data.study.outcomes.targets import Target
from interplay.data.study.outcomes.times import Survival, split_survival
from interplay.data.study.study import Study, make_study
from interplay.data.study.subsets import ColumnSubset
from interplay.data.study.table import Table
from interplay.infer.interaction.beside_test import TupleSamples
from interplay.infer.interaction.effect import LargestResidual, no_effects
from interplay.infer.interaction.tested_in_model import with_product_tests, with_second_tests
from interplay.infer.interaction.tuple_tests import TupleTests, adjust_listed, corrected_p_values
from interplay.infer.p_values import LISTED_METHODS
from interplay.infer.survival.survival_curves import MAX_TUPLES, SurvivalCurves, tuple_curves
from interplay.show.results.interactions import Interactions
from interplay.show.results.leads import columns_named
from interplay.show.results.provenance import Provenance
from interplay.show.results.selection import Selection
from interplay.show.results.summary_words import model_in_words


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
    study, table = _as_first(first, study), study.table
    outcome, strata = study.compared, study.strata
    level, n = first.settings["level"], len(first.tested)
    adjust = partial(adjust_listed, method=method, n_tests=n)
    found_in = first.tested.discretization
    parts = [_Again(first, study, np.flatnonzero(found_in == d)) for d in np.unique(found_in).tolist()]
    place = np.argsort(np.concatenate([first.tested.tuples[:0, 0], *(part.rows for part in parts)]))
    tested = first.tested  # of nothing
    if parts:
        tested = TupleTests.joined([part.tested() for part in parts]).chosen(place).adjusted(adjust)
        significant = tested.is_significant(level) & ~tested.are_products
        again = [part.beside_smooth(tested.chosen(part.rows), significant[part.rows]) for part in parts]
        tested = TupleTests.joined(again).chosen(place).smooth_judged(adjust, level)
        tested = replace(tested, tuples=first.tested.tuples, discretization=found_in)
    order = np.lexsort((np.arange(n), tested.log_p))
    part_of = {row: (part, own) for part in parts for own, row in enumerate(part.rows.tolist())}
    ordered = [part_of[row] for row in order.tolist()]
    counted = ((part, own, one) for part, own in ordered if (one := part.counts(own)) is not None)
    counts = list(islice(counted, MAX_KEPT))
    has_curves = study.outcome.words.has_curves
    sizes = outcome.sizes.tolist()[: len(outcome.labels)]
    about = {"outcome": outcome.about()} if outcome.about() else {}
    return replace(
        first,
        tested=tested.chosen(order),
        first=first.tested.chosen(order),
        is_exhaustive=True,
        tagged=None,
        n_tests=n,
        counts=tuple(one for _, _, one in counts),
        survival_curves=tuple(part.curves(own, one) for part, own, one in counts[: MAX_TUPLES if has_curves else 0]),
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
    first: Interactions | Selection, cuts: OutcomeCuts, study: Study
) -> DecisionClasses | NumberOutcome | OrderedClasses:
    """Return the outcome of new samples: cut as the first ones, or numbers on the same scale."""
    if first.words.counts_classes:
        return cuts.classes(study.y, n_samples=study.n_samples)
    order, scale = first.record.outcome.order, first.asked.scale
    return scored_again(study.y, n_samples=study.n_samples, strata=study.strata, scale=scale, order=order)


def _as_first(first: Interactions, study: Study) -> Study:
    """Return new samples with the outcome as the first ones: of times residuals, or these cut in the same places."""
    if first.words.has_curves:
        return study
    found = outcome_of(first, first.outcome, study)
    return study.of_outcome(found if study.outcome.is_target else study.outcome, found)


class CutSamples:
    """Some tuples of a list of one discretisation, and samples that are cut as those of the list.

    Parameters
    ----------
    found : Interactions
    rows : (n_tuples,) int64
        Of these tuples.
    table, outcome, design, model
        Of the samples.

    Attributes
    ----------
    tuples : (n_tuples, k) int64
        Members, numbered among the variables of these tuples.
    coded : CodedComparison
        Of these variables; samples without a known level are in tests of a tuple as those that lack a value.
    """

    def __init__(
        self,
        found: Interactions,
        rows: IntArray,
        table: Table,
        outcome: Target,
        design: Design,
        model: FullModel | None,
    ) -> None:
        self.found, self.rows = found, rows
        variables, places = np.unique(found.tested.tuples[rows], return_inverse=True)
        self.tuples = places.reshape(len(rows), -1)
        some = ColumnSubset(table, columns_named(table, [found.names[v] for v in variables.tolist()]))
        cuts = [found.cuts_of(v) for v in variables.tolist()]
        coder = CutCoder.of(some, cuts, int(found.tested.discretization[rows[0]]), omit_missing=found.omits_missing)
        self.coded = CodedComparison(Comparison("new samples", some, outcome, design, model=model), lambda: coder)
        coding = "dosage" if found.asked.coding == "dosage" else "levels"
        self.how: dict[str, Any] = {"omit_missing": True, "coding": coding}

    @cached_property
    def products(self) -> ProductTests:
        return ProductTests(self.coded, self.found.dimensions, omit_missing=True)

    def samples(self, place: int) -> TupleSamples:
        """Return the samples of a tuple."""
        return tuple_samples(self.coded, self.tuples[place], 0, **self.how)


class _Again(CutSamples):
    """Tests of tuples of one discretisation in new samples; p-values are adjusted later, for all tuples together."""

    def __init__(self, first: Interactions, study: Study, rows: IntArray) -> None:
        self._study, model = study, study.model
        # Of times the cells have residuals of the model, as in a search.
        outcome = model.residuals() if model is not None and first.words.has_curves else study.compared
        super().__init__(first, rows, study.table, outcome, study.design, model)
        self._tests = target_tests(self.coded, **self.how)

    def tested(self) -> TupleTests:
        """Return the tests, in order, as they were made in the first samples: of levels, products or shapes."""
        first, settings = self.found.tested.chosen(self.rows), self.found.settings
        asked = Asked(bootstrap_below=settings["level"], seed=settings["random_state"], of_each=True)
        tested = self._tests.tested([self.tuples], asked)
        levels = tested = self._at_first_cells(tested.chosen(tested.rows_of(self.tuples)), first)
        if self._study.model is not None:
            tested = in_model(levels, self.coded, **self.how)
        if first.way is None:
            return tested
        tested, rows = tested.of_way("levels"), np.flatnonzero(first.are_products)
        if not len(rows):
            return tested
        each = zip(self.tuples[rows], first.are_shapes[rows].tolist(), strict=True)
        found = [self.products.test(members, is_shape=is_shape) for members, is_shape in each]
        again = with_product_tests(
            levels.chosen(rows), found, self.products.model, self.coded.comparison.outcome, first.way[rows]
        )
        again = with_second_tests(again, np.arange(len(rows)), self.products.second_tests(again))
        order = np.arange(len(tested))
        order[rows] = len(tested) + np.arange(len(rows))
        return TupleTests.joined([tested, again]).chosen(order)

    def beside_smooth(self, tested: TupleTests, significant: BoolArray) -> TupleTests:
        """Test significant tuples again beside smooth effects."""

        def p_values(some: TupleTests, chi2: FloatArray, df: IntArray) -> FloatArray:
            return corrected_p_values(some, chi2, df, 1)

        level = self.found.settings["level"]
        return beside_smooth(self.coded, tested, np.flatnonzero(significant), p_values, level=level, **self.how)

    def counts(self, place: int) -> TupleCounts | None:
        """Return the cells of a tuple, if they are few enough to be looked at."""
        counts, row = self._tests.counts_of(self.tuples[place], 0), self.rows[place]
        d = int(self.found.tested.discretization[row])
        return None if counts is None else replace(counts, members=self.found.tested.tuples[row], discretization=d)

    def curves(self, place: int, counts: TupleCounts) -> SurvivalCurves:
        samples = self.samples(place)
        return tuple_curves(cast("Survival", self._study.outcome), samples.known, samples.levels, counts)

    def _at_first_cells(self, tested: TupleTests, first: TupleTests) -> TupleTests:
        """Describe the cells whose residuals were the largest in the first samples."""
        rows = np.flatnonzero(~np.isnan(first.residual))
        if not len(rows):
            return tested
        labels, strata = list(self.found.provenance["strata"]), self._study.strata
        names = ("residual", "residual_stratum", "residual_cell", "residual_class")
        about = {name: getattr(tested, name).copy() for name in names if getattr(tested, name) is not None}
        sizes = np.array([tested.cell_effect, tested.cell_low, tested.cell_high])
        for row in rows.tolist():
            label = labels[first.residual_stratum[row]] if labels else None
            stratum = 0 if strata is None else strata.labels.index(label) if label in strata.labels else None
            class_ = None if first.residual_class is None else first.residual_class[row : row + 1]
            place = LargestResidual(
                np.array([np.nan]), np.array([stratum or 0]), first.residual_cell[row : row + 1], class_
            )
            value, effect = place.value, no_effects(1)
            if stratum is not None:
                value, effect = self._tests.in_cell(self.tuples[row], 0, place)
            for name, one in zip(names, (value, place.stratum, place.cell, place.class_), strict=True):
                if one is not None:
                    about[name][row] = one[0]
            sizes[:, row] = np.ravel(effect)
        return tested.with_fields(**about, **dict(zip(("cell_effect", "cell_low", "cell_high"), sizes, strict=True)))
