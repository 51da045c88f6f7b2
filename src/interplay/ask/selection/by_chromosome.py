"""An offset for each chromosome → a search of the variables of each, beside what the others predict → one Selection.

The predictions of a chromosome would hide the effects of its own variables. p-values are adjusted for all variables.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from interplay.ask.selection.confirmation import Confirmation
from interplay.ask.selection.explanation import explained, linked
from interplay.ask.selection.runs import SearchedRun, SearchedSelection, search_selection
from interplay.ask.selection.significance import confirmation_of, fitted_run, in_model, made_selection
from interplay.ask.selection.task import SelectionTask
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.progress import part
from interplay.base.tuples import MaxGains
from interplay.infer.p_values import adjust, relevant_mask, significance_order
from interplay.show.results.run import Run, smallest_log_p
from interplay.show.results.selection import Selection
from interplay.show.results.variants import joined_variants


@dataclass(frozen=True, eq=False)
class _Part:
    """The variables of one chromosome, their search and the full model."""

    variables: IntArray
    data: SearchedSelection
    runs: list[Run]
    confirmation: Confirmation

    def selection(self, whole: Selection) -> Selection:
        """Return what the whole found of these variables, with effects and counts; variables have their own numbers."""
        log_p, p_adjusted = whole.log_p[self.variables], whole.p_adjusted[self.variables]
        made = made_selection(
            self.runs,
            log_p,
            np.exp(log_p),
            p_adjusted,
            significance_order(log_p, np.max([run.gains.gain for run in self.runs], axis=0)),
            names=[whole.names[v] for v in self.variables],
            settings=self.data.task.settings,
            provenance=whole.provenance,
        )
        return explained(in_model(made, self.data, self.confirmation), self.data)


def select_by_chromosome(task: SelectionTask, how: Mapping[str, Any]) -> Selection:
    """Search the variables of each chromosome beside its offset; adjust and list them together."""
    started = time.perf_counter()
    if how["checkpoint"] is not None:
        raise ValueError("checkpoint does not go with an offset for each chromosome: leave it out, searches are short")
    parts = _searched(task, how)
    settings, names = parts[0].data.task.settings, list(task.study.table.names)
    log_p = np.zeros(len(names))
    for one in parts:
        log_p[one.variables] = smallest_log_p(one.runs)
    p_adjusted = adjust(np.exp(log_p), settings.p_adjust, level=settings.level)
    is_found = relevant_mask(p_adjusted, level=settings.level)
    for one in parts:
        found = np.flatnonzero(is_found[one.variables])
        where = one.variables[found]
        log_p[where] = np.maximum(log_p[where], one.confirmation.of_runs(one.runs, found))
    p_adjusted = adjust(np.exp(log_p), settings.p_adjust, level=settings.level)
    runs = [
        fitted_run(_joined_run([one.data.runs[number] for one in parts], parts, len(names)), settings)
        for number in range(len(parts[0].runs))
    ]
    assert task.offsets is not None
    columns = [one.data.columns for one in parts]
    treatments = {name for of in columns for name in of["missing"]}
    record = task.record(n_threads=parts[0].data.coded.n_threads) | {
        "offset by chromosome": task.offsets.labels,
        "n_cut": sum(of["n_cut"] for of in columns),
        "missing": {name: sum(of["missing"].get(name, 0) for of in columns) for name in sorted(treatments)},
    }
    whole = made_selection(
        runs,
        log_p,
        np.exp(log_p),
        p_adjusted,
        significance_order(log_p, np.max([run.gains.gain for run in runs], axis=0)),
        names=names,
        settings=settings,
        provenance=parts[0].data.record(started) | record,
    )
    return _joined(whole, parts, [one.selection(whole) for one in parts], task)


def _searched(task: SelectionTask, how: Mapping[str, Any]) -> list[_Part]:
    offsets = task.offsets
    assert offsets is not None
    present = np.unique(offsets.chromosome).tolist()
    parts = []
    for number, chromosome in enumerate(present):
        variables = np.flatnonzero(offsets.chromosome == chromosome)
        study = task.study.with_offset(offsets.without((chromosome,)))
        here = replace(task, study=study, comparisons=study.comparisons(task.settings.multiclass), offsets=None)
        told = part(how["progress"], number / len(present), 1 / len(present))
        data = search_selection(here.of_variables(variables), **{**how, "progress": told})
        confirmation = confirmation_of(data)
        assert confirmation is not None  # an offset has a full model
        runs = [fitted_run(run, data.task.settings) for run in data.runs]
        parts.append(_Part(variables, data, runs, confirmation))
    return parts


def _joined_run(runs: list[SearchedRun], parts: list[_Part], n_vars: int) -> SearchedRun:
    """Return the run of all variables."""

    def rows(values: list[Any]) -> Any:
        joined = np.empty((n_vars, *values[0].shape[1:]), dtype=values[0].dtype)
        for one, some in zip(parts, values, strict=True):
            joined[one.variables] = some
        return joined

    def gains(name: str) -> MaxGains:
        found: list[MaxGains] = [getattr(run, name) for run in runs]
        arrays = {
            each.name: rows([getattr(of, each.name) for of in found])
            for each in fields(MaxGains)
            if each.name != "n_vars"
        }
        arrays["tuples_by_group"] = np.broadcast_to(np.arange(n_vars)[:, np.newaxis, np.newaxis], (n_vars, 1, 1)).copy()
        return MaxGains(**arrays, n_vars=n_vars)

    exact: list[FloatArray] = [run.exact_log_p for run in runs if run.exact_log_p is not None]
    return replace(runs[0], gains=gains("gains"), alone=gains("alone"), exact_log_p=rows(exact))


def _joined(whole: Selection, parts: list[_Part], found: list[Selection], task: SelectionTask) -> Selection:
    """Add the effects, tests, counts and curves of the relevant variables of all chromosomes, by their own numbers."""
    place = np.full(len(whole.names), len(whole.ranked))
    place[whole.ranked] = np.arange(len(whole.ranked))

    def rows_of(name: str, *, lists: bool) -> Any:
        """Join dataclasses whose arrays, and `lists`, have an entry for each of `variable`."""
        tables = [getattr(of, name) for of in found]
        if any(table is None for table in tables):
            return None
        numbers = np.concatenate([one.variables[of.variable] for one, of in zip(parts, tables, strict=True)])
        order = np.argsort(place[numbers], kind="stable")
        joined: dict[str, Any] = {}
        for each in fields(tables[0]):
            values = [getattr(table, each.name) for table in tables]
            if isinstance(values[0], np.ndarray):
                joined[each.name] = np.concatenate(values)[order]
            elif lists and isinstance(values[0], list):
                flat = [value for some in values for value in some]
                joined[each.name] = [flat[row] for row in order.tolist()]
        return replace(tables[0], **joined | {"variable": numbers[order]})

    def renumbered(name: str) -> tuple[Any, ...]:
        return tuple(
            replace(each, members=one.variables[each.members])
            for one, of in zip(parts, found, strict=True)
            for each in getattr(of, name)
        )

    cautions = {name: why for of in found for name, why in of.provenance.get("cautions", {}).items()}
    variants = [
        None if of.variants is None else replace(of.variants, variable=one.variables[of.variants.variable])
        for one, of in zip(parts, found, strict=True)
    ]
    return linked(
        replace(
            whole,
            in_model=rows_of("in_model", lists=False),
            effects=rows_of("effects", lists=True),
            tuple_counts=renumbered("tuple_counts"),
            survival_curves=renumbered("survival_curves"),
            variants=joined_variants(variants),
            provenance=whole.provenance | ({"cautions": cautions} if cautions else {}),
        ),
        task.study.table,
    )
