"""Tables of counts of one shape → tests of their interactions, with the gains of the members.

Upper bounds of G², by which a search over all tuples rules tuples out (branch and bound), from their parts.

For every q of H0's family whose cells have the sizes n(x, ·), 2N·KL(n ‖ q) = G² + 2N·KL(μ ‖ q) ≥ G². Two members of the
family cost little:

- q(y|x) = p(y|x₋ᵢ): 2N (I(T; Y) − I(T without i; Y)), the gain of member i in the tuple. `gain_bound` is the smallest
  of them; a search that computes gains has it already.
- Kirkwood's product: 2N (Σ_{S ⊆ T} (−1)^{k−|S|} I(S; Y) + E ln Z(x)), Z(x) = Σ_y Π_{S ⊊ T} p(y|x_S)^{(−1)^{k−1−|S|}}.
  It is near to G² unless the members depend on each other, or samples are few. `quick_fit` has it with no sweeps.

All I are in nats per sample and without pseudocounts: with pseudocounts neither is a bound. With strata every S holds
the stratum too; I(stratum; Y) cancels from both.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.infer.interaction.bootstrap import drawn_g2
from interplay.infer.interaction.effect import cell_log_odds, interaction_log_odds, relative_excess_risk
from interplay.infer.interaction.interaction_test import (
    InteractionTests,
    bootstrap_input,
    exact_log_p,
    interaction_test,
)
from interplay.infer.interaction.null_model import fewest_df, is_two_level, member_axes, n_null_columns, per_table
from interplay.infer.interaction.proportional_fit import quick_fit
from interplay.infer.interaction.tuple_tests import MAX_EXPLAINING, METHODS, SPARSE, TupleTests

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
        beside_log_p=unknown,
        beside_adjusted=unknown,
        explained_by=np.full((n, MAX_EXPLAINING), -1),
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

    - `n_samples`: of the table, at most.
    - `n_strata`: strata with samples, at least.
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


def gain_bound(informations: npt.ArrayLike, n_samples: npt.ArrayLike) -> FloatArray:
    """Return the smallest gain of a member in the tuple, on the scale of G².

    - `informations` (…, 2^k) array_like: I(S; Y) of all parts of a tuple, as of `subtuple_informations`.
    - `n_samples` (…) array_like: samples of the tuple.
    """
    values = np.asarray(informations, dtype=np.float64)
    whole = values.shape[-1] - 1
    without_one = [whole ^ (1 << member) for member in range(_n_members(values))]
    return np.asarray(2 * np.asarray(n_samples) * (values[..., whole] - values[..., without_one].max(axis=-1)))


def subtuple_informations(tables: IntArray) -> FloatArray:
    """Return I(S; Y) of all parts S of the tuples, (n_tables, 2^k), S given by the bits of the position.

    In nats per sample; member i is in S if bit i is set.
    """
    axes = member_axes(tables)
    n_samples = tables.reshape(per_table(tables)).sum(axis=1)
    by_class = tables.sum(axis=tuple(axes))
    of_samples, of_classes = _n_log_n(n_samples), _n_log_n(by_class)
    informations = np.zeros((len(tables), 2 ** len(axes)))
    for part in range(1, 2 ** len(axes)):
        margin = tables.sum(axis=tuple(axis for i, axis in enumerate(axes) if not part >> i & 1))
        in_cell = margin.sum(axis=-1)
        nats = _n_log_n(margin) - _n_log_n(in_cell) - of_classes + of_samples
        informations[:, part] = np.maximum(nats, 0.0) / np.maximum(n_samples, 1)
    return informations


def _n_members(informations: FloatArray) -> int:
    n_parts = informations.shape[-1] if informations.ndim else 0
    if n_parts < 4 or n_parts & (n_parts - 1):
        raise ValueError(f"informations must have one value for each of the 2^k parts of a tuple, not {n_parts}")
    return n_parts.bit_length() - 1


def _n_log_n(counts: IntArray) -> FloatArray:
    """Σ n ln n of every table."""
    terms = counts * np.log(np.maximum(counts, 1))
    return np.asarray(terms.reshape(len(counts), -1).sum(axis=1) if counts.size else np.zeros(len(counts)))


#: Bounds may be too low by this share, for rounding.
_ROUNDING = 1e-9


def may_be_significant(
    counts: IntArray, thresholds: FloatArray, *, strata: bool = False, n_threads: int = 1
) -> BoolArray:
    """Say which tuples have a G² that may reach the threshold of their degrees of freedom.

    - `counts` (n_tuples, [n_strata,] levels …, n_classes): samples per cell and class, without pseudocounts.
    - `thresholds` (max_df + 1,): as `g2_thresholds` returns them; the last is for more degrees of freedom, too.
    - `strata`: whether the second axis is the stratum.
    """
    by_stratum = counts if strata else counts[:, np.newaxis]
    n_tuples, n_strata, *shape = by_stratum.shape
    tables = by_stratum.reshape(n_tuples * n_strata, *shape)
    # The bounds, cheapest first: Kirkwood's in compiled code, at one degree of freedom and then at the fewest; gains.
    fit = quick_fit(tables, max_sweeps=0, n_threads=n_threads)
    bound = fit.g2.reshape(n_tuples, n_strata).sum(axis=1)
    left = np.flatnonzero(bound >= thresholds[1] * (1 - _ROUNDING))
    of_left = by_stratum[left].reshape(-1, *shape)
    is_complete = fit.is_complete.reshape(n_tuples, n_strata)[left].reshape(-1)
    df = fewest_df(of_left, is_complete).reshape(len(left), n_strata).sum(axis=1)
    needed = thresholds[np.clip(df, 1, len(thresholds) - 1)] * (1 - _ROUNDING)
    reaches = bound[left] >= needed
    left, needed = left[reaches], needed[reaches]
    may_be = np.zeros(n_tuples, dtype=np.bool_)
    if len(left) == 0:
        return may_be
    of_left = by_stratum[left].reshape(-1, *shape)
    n_samples = of_left.reshape(per_table(of_left)).sum(axis=1)
    # The smallest gain of a member over all strata is not the sum of the smallest of each.
    informations = subtuple_informations(of_left) * n_samples[:, np.newaxis]
    by_part = informations.reshape(len(left), n_strata, -1).sum(axis=1)
    may_be[left] = gain_bound(by_part, np.ones(len(left))) >= needed
    return may_be
