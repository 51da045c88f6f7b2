"""Tuples taken at random → whether their tests follow their distribution under chance, before any is believed.

Interactions are few. Where very many tuples of different places in the table seem to interact a little, something that
all share is behind it: populations that differ in the outcome and in most columns, relatives, batches. The tests of the
same tuples for permuted labels say what chance gives: χ² of sparse tables is no yardstick.

Where chromosomes are known, less is needed: variants of different chromosomes have no reason to be correlated but
populations, relatives and batches. If they are, and the outcome follows their principal components, so do false pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.ask.interaction.task import InteractionTask
from interplay.ask.relabelings import permuted_outcomes
from interplay.ask.tuple_tests.target_tests import TargetTests, target_tests
from interplay.base.arrays import IntArray, mid_ranks, scaled_columns
from interplay.base.checks import warn
from interplay.data.codes.coded import CodedComparison
from interplay.data.study.clustered_samples import known_subjects
from interplay.data.study.table import Table

#: Variables and tuples that are taken, and samples that correlations are from. Of fewer variables nothing is said.
_N_VARIABLES, _N_TUPLES, _N_ROWS, _FEWEST_VARIABLES = 300, 2000, 2000, 60

#: No two of the variables have a larger squared correlation: shadows of one interaction are many.
_MAX_R2 = 0.2

#: More tuples than chance gives must have p below the quantile, by so many standard deviations, and χ² be so many times
#: as large.
_QUANTILE, _DEVIATIONS, _MIN_INFLATION = 0.25, 5.0, 1.1

#: Mean squared correlations of variants of different chromosomes, in units of chance and in standard deviations, from
#: which on there is structure; components that the outcome may follow, and up to which p-value it does.
_MIN_EXCESS, _EXCESS_DEVIATIONS, _N_COMPONENTS, _MAX_P = 1.25, 6.0, 5, 1e-3
#: More values of an outcome are compared by their ranks, fewer one by one.
_MANY_VALUES = 10

_BY_STRUCTURE = (
    "populations, relatives or batches pass for interactions; give principal components as covariates= (--pcs 10), "
    "offset=genetics.polygenic_offsets(X, y) (--loco auto), strata= or groups= of families (--groups family)"
)


def doubts(task: InteractionTask, coded: CodedComparison, tests: TargetTests) -> dict[str, Any]:
    """Return entries of the provenance: "inflation", λ, where it is told, and why no tuple is called significant."""
    study = task.study
    is_given = task.offsets is not None or any(
        given is not None for given in (study.strata, study.groups, study.design.offset)
    )
    name = None if is_given else known_subjects(study.table, study.compared, list(study.named))
    if name is not None:
        return {
            "doubt": f"samples of one {name!r} are not independent of each other, and y depends on it: give "
            f"groups={name!r} (--groups {name}), strata= or offset= (--loco auto)"
        }
    excess = None if is_given or study.design.covariates is not None else _excess(task)
    if excess is not None:
        return {
            "doubt": f"variants of different chromosomes are correlated, {excess:.1f} times as much as by chance, "
            f"and y follows their principal components: {_BY_STRUCTURE}"
        }
    inflation = None if task.shard is not None or task.offsets is not None else _inflation(task, coded, tests)
    if inflation is None:
        return {}
    return {
        "inflation": inflation,
        "doubt": f"tests of tuples taken at random are inflated (λ = {inflation:.2f}): {_BY_STRUCTURE}",
    }


def _excess(task: InteractionTask) -> float | None:
    """Return how correlated variants of different chromosomes are, in units of chance, where the outcome follows it."""
    from scipy.special import fdtrc

    table = task.study.table
    if table.positions is None or table.n_vars < _FEWEST_VARIABLES:
        return None
    variables = np.sort(np.random.RandomState(0).permutation(table.n_vars)[:_N_VARIABLES])
    chromosome = np.array([table.positions[v][0] for v in variables.tolist()])
    scaled = scaled_columns(table.columns(variables)[:, :_N_ROWS])
    n = scaled.shape[1]
    r2 = ((scaled @ scaled.T) ** 2)[chromosome[:, np.newaxis] < chromosome]
    if len(r2) < _N_VARIABLES or n < 10 * _N_COMPONENTS:
        return None
    excess = float(r2.mean() * (n - 1))
    if excess < _MIN_EXCESS or excess - 1 < _EXCESS_DEVIATIONS * np.sqrt(2 / len(r2)):
        return None
    components = np.linalg.svd(scaled, full_matrices=False)[2][:_N_COMPONENTS]
    labels = task.study.compared.exchanged[:n]
    values = np.unique(labels)
    targets = [labels == value for value in values] if len(values) <= _MANY_VALUES else [mid_ranks(labels)]
    smallest = 1.0
    for target in targets:
        left = target - np.mean(target)
        share = float(((components @ left) ** 2).sum() / max(float(left @ left), 1e-300))
        f = share / (1 - min(share, 1 - 1e-12)) * (n - 1 - _N_COMPONENTS) / _N_COMPONENTS
        smallest = min(smallest, float(fdtrc(_N_COMPONENTS, n - 1 - _N_COMPONENTS, f)) * len(targets))
    return excess if smallest < _MAX_P else None


def _inflation(task: InteractionTask, coded: CodedComparison, tests: TargetTests) -> float | None:
    """Return λ, the median of χ² over that for permuted labels; None where it is that of chance, or is not known.

    Columns that are cut interact by the cutting alone, about which other tests say more.
    """
    from scipy.special import chdtri

    coder, comparison = coded.coder, coded.comparison
    n_vars, k = coder.table.n_vars, task.settings.dimensions
    if n_vars < _FEWEST_VARIABLES or not coder.is_discrete.all():
        return None
    tuples = coded.once("tuples at random", lambda: _tuples_at_random(coder.table, k))
    if tuples is None:
        return None
    relabeled = next(permuted_outcomes(comparison, n_permutations=1, seed=0), None)
    if relabeled is None:
        return None
    p, expected = (np.exp(one.log_p(0, tuples)) for one in (tests, tests.of_labels(relabeled)))
    below, usual = ((each < _QUANTILE).mean() for each in (p, expected))
    error = np.sqrt((below * (1 - below) + usual * (1 - usual)) / len(tuples))
    medians = [float(np.median(chdtri(1, np.clip(each, 1e-300, 1.0)))) for each in (p, expected)]
    if medians[1] <= 0 or below - usual < _DEVIATIONS * error or medians[0] < _MIN_INFLATION * medians[1]:
        return None
    return medians[0] / medians[1]


def _tuples_at_random(table: Table, k: int) -> IntArray | None:
    """Return tuples of variables that are hardly correlated; None of too few."""
    stream = np.random.RandomState(0)
    variables = np.sort(stream.permutation(table.n_vars)[:_N_VARIABLES])
    scaled = scaled_columns(table.columns(variables)[:, :_N_ROWS])
    r2 = np.tril((scaled @ scaled.T) ** 2, -1)
    kept: list[int] = []
    for v in range(len(variables)):
        if not (r2[v, kept] > _MAX_R2).any():
            kept.append(v)
    if len(kept) < _FEWEST_VARIABLES:
        return None
    places = np.sort([stream.permutation(kept)[:k] for _ in range(_N_TUPLES)], axis=1)
    return np.asarray(variables[np.unique(places, axis=0)])


def is_sparse(task: InteractionTask, coded: CodedComparison, *, least: bool) -> bool:
    """Say whether the tuple of the most levels has too few samples to be tested, or that of the `least` levels."""
    levels, k = np.sort(np.maximum(_tested_levels(task, coded), 2)), task.settings.dimensions
    return _shown_tests(task, coded).is_sparse((levels[:k] if least else levels[-k:]).tolist(), least=least)


def _shown_tests(task: InteractionTask, coded: CodedComparison) -> TargetTests:
    """Return the tests of the outcome as users know it."""
    return target_tests(coded, outcome=task.study.compared, omit_missing=task.omits_missing, coding=task.coding)


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
    warn(f"{named} {_shown_tests(task, coded).sparse_in_words(levels)}")
