"""Tuples that have too few samples to be tested: known before the search, and told."""

from __future__ import annotations

from math import prod

import numpy as np

from interplay.ask.interaction.task import InteractionTask
from interplay.base.arrays import IntArray
from interplay.base.checks import warn
from interplay.data.codes.coded import CodedComparison
from interplay.data.study.outcomes.targets import ScoreTarget
from interplay.infer.interaction.null_model import n_null_columns
from interplay.infer.interaction.table_tests import MIN_PER_COLUMN, is_never_tested


def is_sparse(task: InteractionTask, coded: CodedComparison, *, least: bool) -> bool:
    """Say whether the tuple of the most levels has too few samples to be tested, or that of the `least` levels."""
    levels = np.sort(np.maximum(_tested_levels(task, coded), 2))
    k, strata, outcome = task.settings.dimensions, task.study.strata, task.study.compared
    # Without the samples that lack a value, strata may be empty.
    n_strata = 1 if strata is None or (least and task.omits_missing) else strata.n_strata
    of_tuple = (levels[:k] if least else levels[-k:]).tolist()
    if isinstance(outcome, ScoreTarget):
        return task.study.n_samples < _fewest_of_numbers(task.coding, of_tuple, outcome.fewest_in_cell, least=least)
    return is_never_tested((*of_tuple, outcome.n_classes), n_samples=task.study.n_samples, n_strata=n_strata)


def _fewest_of_numbers(coding: str, levels: list[int], in_cell: int, *, least: bool) -> int:
    """Return the samples without which no tuple can be tested, or without which cells of some are left out."""
    if coding == "dosage":
        return int(2 ** len(levels) + 1)  # one more than the parameters
    # Two levels of each member are the smallest table with an interaction.
    return int(in_cell * (2 ** len(levels) if least else prod(levels)))


def _tested_levels(task: InteractionTask, coded: CodedComparison) -> IntArray:
    """Return the levels of each variable that tests know."""
    return np.asarray(coded.n_levels - (coded.has_missing_level if task.omits_missing else 0))


def warn_of_sparse_tuples(task: InteractionTask, coded: CodedComparison) -> None:
    """Say that tuples with many levels cannot be tested, before the search; two levels and two classes always can."""
    if not is_sparse(task, coded, least=False):
        return
    levels = np.sort(np.maximum(_tested_levels(task, coded), 2))[-task.settings.dimensions :].tolist()
    n_strata = 1 if task.study.strata is None else task.study.strata.n_strata
    named = f"tuples of {' × '.join(map(str, levels))} levels{' in each stratum' * (n_strata > 1)}"
    if isinstance(task.study.compared, ScoreTarget):
        fewest = task.study.compared.fewest_in_cell
        warn(
            f"{named} have {prod(levels)} cells, and there are {task.study.n_samples} samples: cells of fewer than "
            f"{fewest} samples are left out of the tests, and tuples without enough others get p = 1; lower divisions "
            "or dimensions, or merge levels"
        )
        return
    needed = MIN_PER_COLUMN * n_null_columns((*levels, task.study.classes.n_classes)) * n_strata
    warn(
        f"{named} need {needed} samples to be tested, and there are {task.study.n_samples}: they get p = 1; lower "
        "divisions or dimensions, or merge levels"
    )
