"""Relevant variables of a selection and new samples → tests of each in the way in which it was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from interplay.ask.new_samples.tuples import new_samples, outcome_of
from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.checks import check_choice, shown
from interplay.data.codes.cuts import OutcomeCuts, cells_as_cut, number_text
from interplay.data.codes.rank_scores import mid_rank_scores, normal_scores
from interplay.data.models.linear import cell_columns
from interplay.data.study.design import in_order
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.times import Survival
from interplay.data.study.study import Study
from interplay.infer.arms import arm_names, arm_of_tuples, found_in_words
from interplay.infer.claims import Claims, ClassClaims, claims_of
from interplay.infer.effects.estimate import (
    DIFFERENCE_IN_CELL,
    DIFFERENCE_TOGETHER,
    HAZARD_RATIO_TOGETHER,
    ODDS_RATIO_IN_CELL,
    ODDS_RATIO_TOGETHER,
    PARTIAL_RHO,
    Estimate,
    correlation_given,
)
from interplay.infer.effects.measured import Values, make_target, measure
from interplay.infer.given_test import choose_strong
from interplay.infer.p_values import LISTED_METHODS, adjust
from interplay.show.results.replicated import Replication

if TYPE_CHECKING:
    from interplay.show.results.interactions import Interactions
    from interplay.show.results.selection import Selection


#: Kinds of effects of interactions.
_RATIOS = (ODDS_RATIO_TOGETHER, HAZARD_RATIO_TOGETHER, ODDS_RATIO_IN_CELL)
#: What a model of new samples may be given.
_KNOWN = ("covariates", "offset")

_TOGETHER = (*_RATIOS, DIFFERENCE_TOGETHER, DIFFERENCE_IN_CELL)


class FoundTest(NamedTuple):
    """The test in which a variable was found: its name, tuple, ln p, and the run of the same comparison and size."""

    name: str
    members: IntArray
    log_p: float
    run: int


def found_test(selection: Selection, v: int) -> FoundTest:
    """Return the strongest test of the arm in which a variable was found; of one size of tuples, its gain."""
    if not selection.tests:
        run = int(selection.best_run[v])
        name = f"gain {selection.runs[run].dimensions}"
        return FoundTest(name, selection.best_tuple(v), float(selection.log_p[v]), run)
    words = {found_in_words(arm): arm for arm in arm_names(selection.tests)}
    tests = [test for test in selection.tests if test.arm == words[selection.found[v]]]
    weighted = [test.log_p[v] - np.log(test.weight) for test in tests]
    test = tests[int(np.nanargmin(weighted))]
    sizes = selection.dimensions
    place = sizes.index(test.dimensions) if test.dimensions in sizes else 0
    members = test.tuples[v]
    run = int(test.comparison[v]) * len(sizes) + place
    return FoundTest(test.name, members[members >= 0], float(test.log_p[v]), run)


def replicate_variables(
    selection: Selection,
    X: Any,
    y: Any,
    *,
    tuples: Callable[[Study], Interactions | None],
    p_adjust: str | None,
    **given: Any,
) -> Replication:
    """See `Selection.replicate`; `given` has groups, covariates and the like of the new samples.

    `tuples` tests interactions in the study of these samples.
    """
    study = new_samples(selection.provenance, X, y, **given)
    return replicate_in_study(selection, study, p_adjust=p_adjust, tuples=tuples(study))


def replicate_in_study(
    selection: Selection,
    study: Study,
    *,
    p_adjust: str | None = None,
    tuples: Interactions | None = None,
) -> Replication:
    """Test the relevant variables in the samples of another study."""
    asked = selection.settings["p_adjust"] if p_adjust is None else p_adjust
    method = "holm" if p_adjust is None and asked not in LISTED_METHODS else asked
    check_choice("p_adjust", method, LISTED_METHODS)
    table = study.table
    number_of = {name: number for number, name in enumerate(table.names)}
    new = _New(selection, study, number_of, tuples)
    for v in new.needed():
        if selection.names[v] not in number_of:
            raise ValueError(f"X lacks the variable {shown(selection.names[v])}, which is to be tested")
    tests = [found_test(selection, v) for v in selection.ranked.tolist()]
    ranked = selection.ranked.tolist()
    log_p = np.array([new.log_p(v, test) for v, test in zip(ranked, tests, strict=True)], dtype=np.float64)
    effects = selection.effects
    rows = [-1 if effects is None else effects.main_of(v) for v in ranked]
    again = [new.effect(v, row) if row >= 0 else Estimate() for v, row in zip(ranked, rows, strict=True)]

    def of_effects(name: str, unknown: Any) -> list[Any]:
        return [unknown if row < 0 else getattr(effects, name)[row] for row in rows]

    return Replication(
        names=selection.relevant,
        variable=selection.ranked,
        found=[selection.found[v] for v in ranked],
        test=[_in_words(test.name) for test in tests],
        partners=[
            ", ".join(selection.names_of(test.members[test.members != v]))
            for v, test in zip(ranked, tests, strict=True)
        ],
        first_p=np.exp([test.log_p for test in tests]),
        first_effect=np.array(of_effects("effect", np.nan), dtype=np.float64),
        log_p=log_p,
        p_adjusted=adjust(np.exp(log_p), method) if len(log_p) else log_p,
        direction=of_effects("direction", ""),
        effect_kind=["" if effects is None or row < 0 else effects.kind_in_words(row) for row in rows],
        effect=np.array([size.value for size in again], dtype=np.float64),
        effect_low=np.array([size.low for size in again], dtype=np.float64),
        effect_high=np.array([size.high for size in again], dtype=np.float64),
        level=selection.settings["level"],
        n_samples=table.n_samples,
        p_adjust=method,
        tuples=tuples,
    )


def _in_words(test: str) -> str:
    """Return a test by the name that people know it by."""
    kind, _, size = test.partition(" ")
    words = {
        "rank": "rank (alone)",
        "spread": "spread (alone)",
        "shape": "differences between eighths (alone)",
        "noise": "spread of the outcome (alone)",
        "given": "given others",
        "gain": f"gain {found_in_words(arm_of_tuples(int(size)))}" if size else "",
        "synergy": f"synergy {found_in_words(arm_of_tuples(int(size)))}" if size else "",
        "product": "product of ranks",
    }
    return words.get(kind, test)


@dataclass(eq=False)
class _New:
    """New samples, as the tests of a selection need them."""

    selection: Selection
    study: Study
    number_of: dict[str, int]
    tuples: Interactions | None

    def needed(self) -> list[int]:
        """Return the numbers of all variables that tests need."""
        found = set(self.selection.ranked.tolist())
        for v in self.selection.ranked.tolist():
            found |= set(found_test(self.selection, v).members.tolist())
        return sorted(found | set(self._strong.tolist()))

    @cached_property
    def _strong(self) -> IntArray:
        """The variables that others were given in the first samples, where some variable was found so."""
        rank = next((test for test in self.selection.tests if test.name == "rank"), None)
        has_given = any(found_test(self.selection, v).name == "given" for v in self.selection.ranked.tolist())
        if rank is None or not has_given:
            return np.empty(0, dtype=np.int64)
        return choose_strong(rank.log_p, int(self.selection.provenance["n_samples"]))

    @cached_property
    def _all(self) -> Claims:
        study = self._made
        groups = in_order(study.groups, study.table, study.compared.exchanged)
        beside: dict[str, Any] = {
            "strata": None if study.strata is None else study.strata.codes,
            "groups": None if groups is None else groups.codes,
            "order": None if groups is None else groups.order,
            "model": study.model,
            "seed": self.selection.settings["random_state"],
        }
        if study.groups is not None and study.model is not None:
            known = study.model_record()
            what = next((name for name in _KNOWN if name in known), study.outcome.words.kind)
            raise ValueError(f"groups do not go with {what} in a replication: leave one of them out")
        return claims_of(study.compared, **beside)

    @cached_property
    def _made(self) -> Study:
        """The new samples with their outcome: cut as the first, numbers on the same scale, or residuals of times."""
        study, selection = self.study, self.selection
        if not study.outcome.is_target:
            times = cast("Survival", study.outcome)
            return study.of_outcome(times, times.compared(study.strata, None))
        cuts = next((run.outcome for run in selection.runs if run.outcome is not None), None)
        if selection.settings["decision"] == "continuous" and (cuts is None or not len(cuts.bounds)):
            raise ValueError("this selection does not know where its outcome was cut: it cannot be tested again")
        if cuts is None or len(selection.comparisons) > 1:
            cuts = OutcomeCuts(list(selection.class_sizes), np.empty(0))
        outcome = outcome_of(selection, cuts, study)
        return study.of_outcome(outcome, outcome)

    def _of_run(self, number: int) -> tuple[Claims, IntArray]:
        """Return the samples of the comparison of a run, with their classes, and their numbers."""
        everything = np.arange(self.study.n_samples)
        run = self.selection.runs[number]
        if len(self.selection.comparisons) == 1:
            return self._all, everything
        labels = list(self.selection.class_sizes)
        one, other = run.class_labels
        codes = self._made.classes.codes
        rows = everything if one == "rest" else np.flatnonzero(np.isin(codes, [labels.index(one), labels.index(other)]))
        if len(np.unique(codes[rows] == labels.index(other))) < 2:
            raise ValueError(f"y lacks one of the classes of the comparison {shown(run.decision)}")

        def of_rows(values: Any) -> Any:
            return None if values is None else values[rows]

        pair = (codes[rows] == labels.index(other)).astype(np.int64)
        model = self._all.model
        if model is not None:
            model = replace(model.of_samples(rows), outcome=DecisionClasses(pair, [one, other]))
        return (
            ClassClaims(
                codes=pair,
                n_classes=2,
                strata=of_rows(self._all.strata),
                groups=of_rows(self._all.groups),
                order=of_rows(self._all.order),
                model=model,
                seed=self._all.seed,
            ),
            rows,
        )

    def _values(self, v: int, rows: IntArray) -> FloatArray:
        """Return the values of a variable in some samples, (n_rows,)."""
        column = self.study.table.column(self.number_of[self.selection.names[v]])
        return column.read()[rows].astype(np.float64)

    def _ranks(self, v: int, rows: IntArray) -> FloatArray:
        within = None if self.study.strata is None else self.study.strata.codes[rows]
        return mid_rank_scores(self._values(v, rows)[np.newaxis], within)

    def _scores(self, v: int, rows: IntArray) -> FloatArray:
        """Return normal scores of a variable among some samples, (1, n_rows), within strata."""
        return normal_scores(self._ranks(v, rows))

    def _cells(self, members: list[int], run: int, d: int, rows: IntArray) -> IntArray | None:
        """Return the cell of a tuple in each sample, as it was cut in the first samples; None if that is not known."""
        cuts = {each.variable: each for each in self.selection.runs[run].cuts}
        if not set(members) <= cuts.keys():
            return None
        numbers = [self.number_of[self.selection.names[v]] for v in members]
        return numbered(cells_as_cut([cuts[v] for v in members], self.study.table, numbers, d)[rows])

    def log_p(self, v: int, test: FoundTest) -> float:
        """Return ln p of a variable in the new samples; NaN where the way it was cut is not known."""
        samples, rows = self._of_run(test.run)
        kind = test.name.partition(" ")[0]
        if kind in ("rank", "spread", "shape", "noise"):
            values, ranks = self._values(v, rows), self._ranks(v, rows)
            return samples.of_ranks(values, ranks[0], normal_scores(ranks)[0], kind=kind)
        if kind == "given":
            others = [self._scores(u, rows) for u in self._strong.tolist() if u != v]
            return samples.given(self._scores(v, rows)[0], np.vstack([np.empty((0, len(rows))), *others]))
        if kind == "product":
            both = np.vstack([self._scores(u, rows) for u in test.members.tolist()])
            return samples.beyond(both.prod(axis=0)[np.newaxis], both)
        members = test.members.tolist()
        d = max(int(self.selection.runs[test.run].gains.discretization[v]), 0)
        own, part = (self._cells(some, test.run, d, rows) for some in ([v], [u for u in members if u != v]))
        if own is None or part is None:
            return float("nan")
        log_p = samples.of_levels(own, part)
        if kind == "gain":
            return log_p
        # Beyond the variable alone: and not without an effect of it at all.
        whole = own * (int(part.max(initial=0)) + 1) + part
        own_columns, part_columns, columns = (cell_columns(cells)[:, 1:].T for cells in (own, part, whole))
        return max(log_p, samples.beyond(columns, np.vstack([part_columns, own_columns])))

    def _together(self, v: int, kind: str) -> Estimate:
        """Return the effect of the interaction of a variable with its partners, if that was tested again."""
        members = self.selection.verdicts[v].members
        tested = None if self.tuples is None else self.tuples.tested
        if tested is None or tested.tuples.shape[1] != len(members):
            return Estimate()
        row = int(tested.rows_of(np.array([members]))[0])
        if row < 0:
            return Estimate()
        in_cell = kind in (ODDS_RATIO_IN_CELL, DIFFERENCE_IN_CELL)
        whole = (tested.estimate[row], tested.ci_low[row], tested.ci_high[row])
        sizes = (tested.cell_effect[row], tested.cell_low[row], tested.cell_high[row]) if in_cell else whole
        if kind in _RATIOS:
            sizes = tuple(np.exp(np.minimum(sizes, 700.0)).tolist())
        return Estimate(*(float(size) for size in sizes))

    def effect(self, v: int, row: int) -> Estimate:
        """Return the effect of the same kind in the new samples."""
        effects = self.selection.effects
        assert effects is not None
        kind, reference = effects.kind[row], effects.reference[row]
        if kind in _TOGETHER:
            return self._together(v, kind)
        samples, rows = self._of_run(found_test(self.selection, v).run)
        if kind == PARTIAL_RHO:
            others = [self._scores(u, rows)[0] for u in self._strong.tolist() if u != v]
            if not self.study.outcome.is_target:
                return Estimate()
            others_given, compared = np.array(others).reshape(-1, len(rows)), samples.as_number
            return correlation_given(self._scores(v, rows)[0], others_given, compared, samples.strata)
        run = self.selection.runs[found_test(self.selection, v).run]
        column = self.study.table.column(self.number_of[self.selection.names[v]])
        values = column.read()[rows].astype(np.float64)
        seen = np.flatnonzero(values == values)
        measured = self._made.outcome.of_samples(rows[seen]).measured()
        target = make_target(**samples.measured(seen, measured, tuple(run.class_labels)))
        used, codes = np.unique(values[seen], return_inverse=True)
        strata = samples.strata
        members = self.selection.best_tuple(v)
        partners = members[members != v]
        if effects.is_within[row]:
            d = max(int(run.gains.discretization[v]), 0)
            cells = self._cells(partners.tolist(), int(self.selection.best_run[v]), d, rows)
            if cells is None:
                return Estimate()
            strata = cells if strata is None else numbered(cells * (int(strata.max()) + 1) + strata)
        levels: list[str] = []
        if reference is not None:
            names = None if column.levels is None else [str(level) for level in column.levels]
            levels = [number_text(value) if names is None else names[int(value)] for value in used]
        if not len(seen) or len(used) < 2:
            return Estimate()
        found = measure(
            Values(
                values[seen], levels, codes.reshape(-1).astype(np.int64), is_ordered=not levels, reference=reference
            ),
            target,
            strata=None if strata is None else strata[seen],
            groups=None if samples.groups is None else samples.groups[seen],
            is_u_shaped=bool(effects.is_distance[row]),
        )
        again = found.effects
        if effects.is_within[row]:
            again = [each.within(self.selection.names_of(partners)) for each in again]
        same = (kind, effects.about[row])
        return next((each.size for each in again if (each.kind, each.about) == same), Estimate())
