"""Tables of counts of one shape → tests of their interactions, with the gains of the members."""

from __future__ import annotations

import math

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.infer.interaction.additive_effect import relative_excess_risk
from interplay.infer.interaction.bootstrap import drawn_g2
from interplay.infer.interaction.bound import subtuple_informations
from interplay.infer.interaction.cell_effect import cell_log_odds
from interplay.infer.interaction.effect import interaction_log_odds
from interplay.infer.interaction.exact_p_value import exact_log_p
from interplay.infer.interaction.interaction_test import (
    InteractionTests,
    bootstrap_input,
    interaction_test,
)
from interplay.infer.interaction.null_model import n_null_columns
from interplay.infer.interaction.tuple_tests import METHODS, SPARSE, TupleTests
from interplay.infer.interaction.two_level_fit import is_two_level

#: Below this smallest expected count χ² alone gives rough p-values.
FEW_EXPECTED = 5.0

#: In these sparse tables, p-values of χ² up to this one are corrected whether or not they could be significant.
BOOTSTRAP_SPARSE_BELOW = 0.05

#: Samples per parameter of H0. With 5, one in five tables of 20 × 20 levels without an interaction has p < 0.05 after
#: the bootstrap; from 7 on it is one in twenty (120 tables each, 3 to 20 levels, pairs and triples).
MIN_PER_COLUMN = 8

#: Of tables tested at once, those with the smallest p-values have their clearest cell measured: each takes a fit.
_MAX_CELL_EFFECTS = 64


def tested_tables(
    counts: IntArray, tuples: IntArray, *, bootstrap_below: float, seed: int, strata: bool, n_threads: int
) -> TupleTests:
    """Test tables of one shape; the p-values are those of one discretisation, not adjusted.

    p-values of χ² up to `bootstrap_below` are corrected by a bootstrap where there is no exact test, and of tables with
    small expected counts those up to 0.05. Tables too sparse for that have a p-value of 1.
    """
    tests = interaction_test(counts, strata=strata, bootstrap_below=0.0, random_state=seed)
    n, k = tuples.shape
    by_stratum = counts if strata else counts[:, np.newaxis]
    log_p, method = _corrected(tests, by_stratum, bootstrap_below, seed, n_threads)
    nowhere = np.full(n, -1, dtype=np.int64)
    unknown = np.full(n, np.nan)
    odds, residual = tests.log_odds, tests.residual
    may_count = np.argsort(log_p, kind="stable")[:_MAX_CELL_EFFECTS]
    may_count = may_count[log_p[may_count] <= math.log(max(bootstrap_below, 1e-300))]
    cell = None if residual is None else cell_log_odds(by_stratum, residual, may_count)
    gain, alone, df_alone = _gains(by_stratum)
    excess = relative_excess_risk(by_stratum, _is_counted(by_stratum))
    return TupleTests(
        kind="classes",
        tuples=np.asarray(tuples, dtype=np.int64),
        discretization=np.zeros(n, dtype=np.int64),
        n_samples=by_stratum.reshape(n, -1).sum(axis=1),
        df=tests.df,
        statistic=tests.g2,
        log_p=log_p,
        p_adjusted=unknown,
        method=method,
        min_expected=tests.min_expected,
        estimate=unknown if odds is None else odds.estimate,
        reri=excess.estimate,
        reri_low=excess.low,
        reri_high=excess.high,
        ci_low=unknown if odds is None else odds.low,
        ci_high=unknown if odds is None else odds.high,
        residual=unknown if residual is None else residual.value,
        residual_cell=np.full((n, k), -1, dtype=np.int64) if residual is None else residual.cell,
        residual_class=nowhere if residual is None else residual.class_,
        residual_stratum=nowhere if residual is None else residual.stratum,
        cell_effect=unknown if cell is None else cell.estimate,
        cell_low=unknown if cell is None else cell.low,
        cell_high=unknown if cell is None else cell.high,
        gain=gain,
        gain_alone=alone,
        df_alone=df_alone,
        smooth_log_p=unknown,
        smooth_adjusted=unknown,
        estimate_alone=_log_odds_alone(by_stratum),
    )


def _corrected(
    tests: InteractionTests, by_stratum: IntArray, bootstrap_below: float, seed: int, n_threads: int
) -> tuple[FloatArray, IntArray]:
    """Return log p-values and the numbers of their methods, where χ² is corrected by a bootstrap or given up."""
    log_p = tests.log_p.copy()
    method = np.array([METHODS.index(name) for name in tests.method.tolist()], dtype=np.int64)
    approximate = (tests.method != "exact") & (tests.df > 0)
    too_sparse = (tests.method != "exact") & is_too_sparse(by_stratum)
    is_rough = tests.p_value <= bootstrapped_up_to(tests.min_expected, bootstrap_below)
    rows = np.flatnonzero(approximate & ~too_sparse & is_rough)
    drawn_from, seeds = bootstrap_input(by_stratum[rows], seed)
    drawn = drawn_g2(drawn_from, tests.df[rows], seeds=seeds, n_threads=n_threads)
    log_p[rows] = drawn.log_tail(tests.g2[rows], tests.df[rows], tests.min_expected[rows])
    method[rows] = METHODS.index("bootstrap")
    log_p[too_sparse], method[too_sparse] = 0.0, METHODS.index(SPARSE)
    return log_p, method


def bootstrapped_up_to(min_expected: FloatArray, bootstrap_below: float) -> FloatArray:
    """Return the p-values of χ² up to which tables with these smallest expected counts are corrected."""
    return np.where(min_expected < FEW_EXPECTED, max(bootstrap_below, BOOTSTRAP_SPARSE_BELOW), bootstrap_below)


def is_too_sparse(by_stratum: IntArray) -> BoolArray:
    """Say which tables have too few samples for the parameters of H0: there no p-value would hold."""
    n_samples = by_stratum.reshape(*by_stratum.shape[:2], -1).sum(axis=2)
    n_strata = np.maximum((n_samples > 0).sum(axis=1), 1)
    return np.asarray(n_samples.sum(axis=1) < MIN_PER_COLUMN * n_null_columns(by_stratum.shape[2:]) * n_strata)


def not_tested(by_stratum: IntArray) -> BoolArray:
    """Say which tables are too sparse for a test; two levels and two classes have an exact one, but of many strata."""
    sparse = is_too_sparse(by_stratum)
    if is_two_level(by_stratum.shape[2:]):
        rows = np.flatnonzero(sparse)
        sparse[rows] = [math.isnan(exact_log_p(table)) for table in by_stratum[rows]]
    return sparse


def is_never_tested(shape: tuple[int, ...], *, n_samples: int, n_strata: int = 1) -> bool:
    """Say whether tables of this shape, (levels …, n_classes), have too few samples whatever their counts are.

    Parameters
    ----------
    n_samples : int
        Of the table, at most.
    n_strata : int
        Strata with samples, at least.
    """
    return not is_two_level(shape) and n_samples < MIN_PER_COLUMN * n_null_columns(shape) * n_strata


def _gains(by_stratum: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the gain of every member in the tuple and by itself, bits × samples, and the latter's df: (n, k) each."""
    n, n_strata, *shape = by_stratum.shape
    k = len(shape) - 1
    tables = by_stratum.reshape(n * n_strata, *shape)
    n_samples = tables.reshape(len(tables), -1).sum(axis=1)
    bits = subtuple_informations(tables) * n_samples[:, np.newaxis] / math.log(2)
    bits = bits.reshape(n, n_strata, 2**k).sum(axis=1)
    members = np.arange(k)
    gain = bits[:, -1:] - bits[:, 2**k - 1 - 2**members]
    df = np.empty((n, k), dtype=np.int64)
    for member in members:
        margin = tables.sum(axis=tuple(axis + 1 for axis in members if axis != member))
        n_levels, n_classes = ((margin.sum(axis=axis) > 0).sum(axis=1) for axis in (2, 1))
        df[:, member] = (np.maximum(n_levels - 1, 0) * np.maximum(n_classes - 1, 0)).reshape(n, n_strata).sum(axis=1)
    return np.maximum(gain, 0.0), bits[:, 2**members], df


def _is_counted(by_stratum: IntArray) -> IntArray:
    """Say, as 0 or 1, which strata have both classes and samples in every cell: there an interaction has an effect."""
    n, n_strata, *shape = by_stratum.shape
    in_cells = by_stratum.sum(axis=-1).reshape(n, n_strata, -1)
    in_classes = by_stratum.reshape(n, n_strata, -1, shape[-1]).sum(axis=2)
    return np.asarray((in_cells > 0).all(axis=2) & (in_classes > 0).all(axis=2), dtype=np.int64)


def _log_odds_alone(by_stratum: IntArray) -> FloatArray:
    n, _, *shape = by_stratum.shape
    k = len(shape) - 1
    if not is_two_level(tuple(shape)):
        return np.full((n, k), np.nan)
    columns = []
    for member in range(k):
        margin = by_stratum.sum(axis=tuple(2 + other for other in range(k) if other != member))
        in_both = (margin.sum(axis=2) > 0).all(axis=2) & (margin.sum(axis=3) > 0).all(axis=2)
        columns.append(interaction_log_odds(margin, in_both.astype(np.int64)).estimate)
    return np.stack(columns, axis=1)
