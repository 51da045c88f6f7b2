"""Relevant variables and the data → direction and size of the effect of each, as the result keeps them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from math import comb

import numpy as np
import numpy.typing as npt

from interplay.ask.selection.runs import SearchedSelection
from interplay.base.arrays import FloatArray, IntArray
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.cuts import cells_as_cut, number_text
from interplay.data.codes.rank_scores import RankScores
from interplay.data.study.comparisons import Comparison
from interplay.data.study.study import Study
from interplay.infer.arms import ALONE, GIVEN, ArmPValues, found_in_words
from interplay.infer.correlation_test import distances
from interplay.infer.effects import direction as words
from interplay.infer.effects.estimate import (
    PARTIAL_RHO,
    Estimate,
    correlation_given,
)
from interplay.infer.effects.measured import (
    MAX_CODES,
    Effect,
    MeasuredVariable,
    Target,
    Values,
    make_target,
    measure,
    without_direction,
)
from interplay.infer.effects.variable_effects import VariableEffects
from interplay.infer.given_test import choose_strong
from interplay.infer.verdicts import INTERACTION, Verdict
from interplay.show.results.selection import Selection
from interplay.show.results.selection_summary import cell_of

#: Columns that are read at once.
_BLOCK = 256


def variable_effects(found: Selection, data: SearchedSelection) -> VariableEffects:
    """Measure every relevant variable in the comparison of classes in which it shows most clearly."""
    comparisons = data.task.comparisons_of(len(found.runs))
    measured: dict[int, MeasuredVariable] = {}
    n_sizes = len(found.runs) // len(data.task.comparisons)
    for number, comparison in enumerate(data.task.comparisons):
        inside = found.best_run[found.ranked] // n_sizes == number
        variables = found.ranked[inside]
        if len(variables):
            assert comparisons[number * n_sizes] is comparison
            measured |= dict(_OfComparison(found, data, comparison, variables).measured())
    ranked = found.ranked.tolist()
    return VariableEffects.of(ranked, [measured[v] for v in ranked])


class _OfComparison:
    """Effects of variables in one comparison of classes, or about all numbers or times."""

    def __init__(self, found: Selection, data: SearchedSelection, comparison: Comparison, variables: IntArray) -> None:
        self._found, self._comparison, self._variables = found, comparison, variables
        self._reference = data.task.settings.reference or {}
        labels = found.runs[int(found.best_run[variables[0]])].class_labels
        # Given covariates, residuals are searched, which have neither classes nor the unit of the outcome.
        self._target = _target_of(data.task.study, comparison.shown, found.provenance.get("target") or "", labels)
        self._tests = {test.name: test for test in found.tests}
        self._strata = None if comparison.strata is None else comparison.strata.codes
        groups = comparison.groups
        # Groups of one sample each are independent samples.
        self._groups = None if groups is None or groups.sizes.max() == 1 else groups.codes
        strong = self._strong()
        partners = np.concatenate([np.asarray(found.best_tuple(v), dtype=np.int64) for v in variables.tolist()])
        involved = np.unique(np.concatenate([variables, strong, partners]))
        self._coded: CodedComparison = data.coded.of(comparison, involved)
        self._alone, self._given = found_in_words(ALONE), found_in_words(GIVEN)
        self._strong_scores = {v: self._scores(v) for v in strong.tolist()}

    def measured(self) -> Iterator[tuple[int, MeasuredVariable]]:
        """Yield variables with their effects."""
        alleles = self._comparison.table.alleles
        for start in range(0, len(self._variables), _BLOCK):
            block = self._variables[start : start + _BLOCK]
            columns = self._comparison.table.columns(block)
            for v, column in zip(block.tolist(), columns, strict=True):
                found = self._measured(v, column)
                if alleles is not None:
                    found = found._replace(direction=words.per_allele(found.direction, alleles[v][0]))
                yield v, found

    def _measured(self, v: int, column: npt.NDArray[np.generic]) -> MeasuredVariable:
        observed = np.flatnonzero(column == column)

        def measured(cells: IntArray | None = None, n_compared: int = 1) -> MeasuredVariable:
            """Measure within strata, and within cells of partners; intervals of some tuples cover together."""
            strata = self._strata if cells is None else cells
            if cells is not None and self._strata is not None:
                strata = np.unique([self._strata, cells], axis=1, return_inverse=True)[1].reshape(-1)
            return measure(
                self._values(v, column[observed]),
                self._target.of_samples(observed),
                strata=None if strata is None else strata[observed],
                groups=None if self._groups is None else self._groups[observed],
                is_u_shaped=self._is_u_shaped(v) and cells is None,
                n_compared=n_compared,
            )

        found = measured()
        if self._is_found_by("noise", v):
            far = distances(self._comparison.outcome.searched.astype(np.float64), self._strata)
            is_more = float(self._scores(v) @ (far - far.mean())) > 0
            return found._replace(direction=words.varies_more(self._target.name, is_more), has_trend=True)
        if self._found.found[v] == self._given and self._strong_scores:
            return self._given_others(v, found)
        if self._found.tests and self._found.found[v] not in (self._alone, self._given):
            return self._together(v, found, measured)
        if found.has_trend:
            return found
        together = self._together(v, found, measured)
        if together.has_trend or self._found.found[v] != self._alone:
            return together
        return without_direction(self._values(v, column[observed]), self._target.of_samples(observed), found)

    def _values(self, v: int, column: npt.NDArray[np.generic]) -> Values:
        is_label = bool(self._comparison.table.is_label[v])
        values = column.astype(np.float64)
        name = self._found.names[v]
        used, codes = np.unique(values, return_inverse=True)
        # Few values may be codes of labels that have no order: these are compared value by value.
        if not is_label and not self._coded.coder.is_discrete[v] and len(used) > MAX_CODES:
            return Values(values, [], np.empty(0, dtype=np.int64), is_ordered=True, name=name)
        names = self._comparison.table.level_names(v)
        levels = [number_text(value) for value in used] if names is None else [names[int(value)] for value in used]
        is_ordered = not is_label or self._comparison.table.column(v).is_ordered
        reference = self._reference.get(name)
        return Values(values, levels, codes.reshape(-1).astype(np.int64), is_ordered, name, reference)

    def _is_u_shaped(self, v: int) -> bool:
        """Say whether the test of spread found the variable rather than that of ranks."""
        return self._is_found_by("spread", v)

    def _is_found_by(self, name: str, v: int) -> bool:
        """Say whether a test found the variable rather than that of ranks."""
        by_rank, by_name = self._log_p("rank", v), self._log_p(name, v)
        return by_name < min(by_rank, float(np.log(self._found.settings["level"] / len(self._found.names))))

    def _log_p(self, name: str, v: int) -> float:
        test: ArmPValues | None = self._tests.get(name)
        return 0.0 if test is None else float(np.nan_to_num(test.log_p[v], nan=0.0))

    def _together(self, v: int, found: MeasuredVariable, measured: Callable[..., MeasuredVariable]) -> MeasuredVariable:
        """Put the effect of its interaction first, and name the partners on which its direction depends."""
        verdict = self._found.verdicts[v]
        if verdict.verdict != INTERACTION or v not in verdict.members:
            return found if found.has_trend else self._beside_partners(v, found, measured)
        partners = [self._found.names[u] for u in verdict.members if u != v]
        effects = _interaction_effects(verdict, partners, cell_of(self._found, v))
        return MeasuredVariable(words.depends_on(partners), True, [*effects, *found.effects])

    def _beside_partners(
        self, v: int, found: MeasuredVariable, measured: Callable[..., MeasuredVariable]
    ) -> MeasuredVariable:
        """Put the direction within the cells of its partners first, where it is clear.

        Intervals hold for all tuples of this size, as the best one was chosen.
        """
        nothing = found._replace(direction=words.perhaps(found.direction))
        run = self._found.runs[int(self._found.best_run[v])]
        cuts = {each.variable: each for each in run.cuts}
        partners = [int(u) for u in self._found.best_tuple(v) if u != v]
        if not partners or not set(partners) <= cuts.keys():
            return nothing
        d = max(int(run.gains.discretization[v]), 0)
        cells = cells_as_cut([cuts[u] for u in partners], self._comparison.table, partners, d)
        inside = measured(cells, comb(self._comparison.table.n_vars - 1, len(partners)))
        names = [self._found.names[u] for u in partners]
        if not inside.has_trend:  # few groups have wide intervals, so that their directions are rarely clear
            return nothing if self._groups is not None else found._replace(direction=words.adds_to(names))
        main = inside.effects[0].within(names)
        return MeasuredVariable(words.given(inside.direction, names), True, [main, *found.effects])

    def _strong(self) -> IntArray:
        """Return the strong variables that the others are given, where some variable was found so."""
        rank, is_known = self._tests.get("rank"), self._target.as_means()[0] is not None
        has_given = any(self._found.found[v] == found_in_words(GIVEN) for v in self._variables.tolist())
        if rank is None or not is_known or not has_given:
            return np.empty(0, dtype=np.int64)
        return choose_strong(rank.log_p, self._comparison.table.n_samples)

    def _scores(self, v: int) -> FloatArray:
        return np.asarray(RankScores(self._coded.coder, self._strata).read_normal(slice(v, v + 1))[0])

    def _given_others(self, v: int, found: MeasuredVariable) -> MeasuredVariable:
        outcome = self._comparison.outcome
        target = outcome.indicator()
        others = [scores for u, scores in self._strong_scores.items() if u != v]
        size = correlation_given(self._scores(v), np.array(others).reshape(-1, len(target)), target, self._strata)
        said = words.given_others(size, self._target.name, self._target.case)
        about = f"given {len(others)} other{'s' * (len(others) != 1)}"
        return MeasuredVariable(said, True, [Effect(PARTIAL_RHO, about, size), *found.effects])


def _interaction_effects(verdict: Verdict, partners: list[str], cell: str) -> list[Effect]:
    """Return the effect of an interaction: of two levels each, or in the cell that departs most."""
    about = f"with {', '.join(partners)}"
    said = verdict.words
    made = _odds if said.is_ratio else Estimate
    if not math.isnan(verdict.estimate):
        return [Effect(said.together, about, made(verdict.estimate, verdict.ci_low, verdict.ci_high))]
    if not verdict.cell.is_known:
        return []
    return [Effect(said.in_cell, cell, made(verdict.cell.effect, verdict.cell.low, verdict.cell.high))]


def _odds(*log_odds: float) -> Estimate:
    return Estimate(*(math.exp(min(value, 700.0)) for value in log_odds))


def _target_of(study: Study, comparison: Comparison, name: str, labels: list[str]) -> Target:
    """Return the outcome of a comparison: times, numbers, or classes with these labels."""
    rows = comparison.rows
    outcome = study.outcome if rows is None else study.outcome.of_samples(rows)
    found = outcome.as_compared(comparison.outcome).measured()
    return make_target(name, **(found | ({"labels": tuple(labels)} if "labels" in found else {})))
