"""Tables → their fit under H0 by iterative proportional fitting (IPF), many tables at a time.

Tables lie *abreast* here, (levels of member 1, …, levels of member k, n_classes, n_tables): sums over short axes are
then sums of long rows. Blocks of tables fit the second-level cache. Every table is fitted by itself, in sums of one
order: its fit has the same bits among any others.

Tables → their maximum-likelihood fit under H0, and G² = 2 Σ n ln(n/μ).

The start is Kirkwood's product of the margins, normalised in every cell: a member of H0's family, so that its G² is an
upper bound, and iterative proportional fitting (IPF), each sweep of which lowers the bound. IPF goes the first, long
way cheaply; it slows down where the fit has zeros, and Newton's method, which does not, goes the rest.

Tables → G² in compiled code: for decisions which tables are worth an exact test, never for a number that is shown.

The fit is that of `proportional_fit`; the sums have another order, so that G² differs by rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay import _core
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.infer.interaction.null_model import (
    chunks_of_tables,
    fit_two_levels,
    information,
    is_large,
    is_two_level,
    member_axes,
    null_design,
    per_table,
    supported_entries,
    weighted_design,
)

#: Entries of the tables of one block.
_BLOCK_ENTRIES = 2**16

#: Below this a fitted margin is 0: so are all entries that it is the sum of.
_NOTHING = 1e-300

#: Tables that have converged stay in their block until these are as large a share of it.
_SHARE_LEFT = 0.25

#: Rows that are summed one after the other, and rows that are summed by eights, as NumPy sums a contiguous axis.
_IN_TURN = 8
_BY_EIGHTS = 128


class NullModelFit(NamedTuple):
    """Fitted counts, of the shape of the tables; G² and whether its minimum was reached, one per table."""

    mu: FloatArray
    g2: FloatArray
    converged: BoolArray


def fit_proportionally(
    tables: npt.NDArray[Any], *, tolerance: float, max_sweeps: int, n_threads: int = 1
) -> NullModelFit:
    """Fit by IPF from Kirkwood's product; tables leave when the rest that G² has still to fall is below the tolerance.

    G² falls by about the same factor in each sweep, so its last two steps tell the rest (Aitken). The tolerance is for
    1 + G². A table that does not converge has a G² that is too large: still an upper bound. Counts need not be whole
    numbers.

    `tables` (n_tables, levels …, n_classes).
    """
    mu, g2, converged = np.empty(tables.shape), np.empty(len(tables)), np.zeros(len(tables), dtype=np.bool_)

    def fit(chunk: slice) -> None:
        block = _Block(abreast(tables[chunk]))
        block.fit(tolerance, max_sweeps)
        n = chunk.stop - chunk.start
        g2[chunk], converged[chunk] = block.g2[:n], block.converged[:n]
        mu[chunk] = np.moveaxis(block.mu, -1, 0)[:n]

    map_in_threads(fit, list(blocks_of(tables)), n_threads)
    return NullModelFit(mu, g2, converged)


def blocks_of(tables: npt.NDArray[Any]) -> Iterator[slice]:
    """Cut the tables into blocks."""
    size = max(2, _BLOCK_ENTRIES // max(1, prod(tables.shape[1:])))
    for start in range(0, len(tables), size):
        yield slice(start, min(start + size, len(tables)))


def abreast(tables: npt.NDArray[Any]) -> FloatArray:
    """Put tables side by side, as numbers, two at least: NumPy sums the rows of a single one in another order."""
    moved = np.moveaxis(tables, 0, -1)
    if len(tables) == 1:
        moved = np.concatenate([moved, moved], axis=-1)
    return np.ascontiguousarray(moved, dtype=np.float64)


def kirkwood_abreast(counts: FloatArray) -> FloatArray:
    """Return Π_{S ⊊ T} n(x_S, y)^{(−1)^{k−1−|S|}}, S = ∅ being the class sizes, scaled to n(x, ·) in every cell.

    For two classes: the logit of a cell is the alternating sum of the logits of its projections.
    """
    members = range(counts.ndim - 2)
    log_product = np.zeros(counts.shape)
    for size in members:
        sign = (-1) ** (len(members) - 1 - size)
        for kept in combinations(members, size):
            margin = counts.sum(axis=tuple(axis for axis in members if axis not in kept), keepdims=True)
            log_product += sign * np.log(np.where(margin > 0, margin, 1))
    # A margin of 0 is a sum of margins that H0 keeps, so the fit is 0 there too.
    log_product[~supported_abreast(counts)] = -np.inf
    largest = log_product.max(axis=-2, keepdims=True)
    log_product -= np.where(np.isfinite(largest), largest, 0.0)
    product = np.exp(log_product, out=log_product)
    _scale(product, np.expand_dims(sum_over_classes(counts), -2), -2)
    return product


def supported_abreast(counts: FloatArray) -> BoolArray:
    """Say in which entries all margins that H0 keeps are positive."""
    supported = np.broadcast_to(counts.sum(axis=-2, keepdims=True) > 0, counts.shape).copy()
    for axis in range(counts.ndim - 2):
        supported &= counts.sum(axis=axis, keepdims=True) > 0
    return supported


def g2_abreast(counts: FloatArray, mu: FloatArray) -> FloatArray:
    """Return 2 Σ n ln(n/μ) of every table, (n_tables,), for μ that has the tables' cell sizes."""
    with np.errstate(invalid="ignore", divide="ignore"):
        terms = counts / mu
    # Of an entry without samples, any number: it is multiplied by 0.
    np.log(np.fmax(terms, _NOTHING, out=terms), out=terms)
    terms *= counts
    # Σ (μ − n) is 0; with it every term is positive, and rounding of μ has no effect of first order.
    terms += mu - counts
    return np.asarray(np.maximum(2 * _sum_of_rows(terms.reshape(-1, terms.shape[-1])), 0.0))


def sum_over_classes(values: FloatArray) -> FloatArray:
    """Return the sums over the axis before the last."""
    return _sum_of_rows(np.moveaxis(values, -2, 0))


class _Block:
    """Tables that are fitted together, and their fits; tables that have converged leave."""

    def __init__(self, counts: FloatArray) -> None:
        self._counts = counts
        self._wanted = [counts.sum(axis=axis, keepdims=True) for axis in range(counts.ndim - 2)]
        self._wanted.append(np.expand_dims(sum_over_classes(counts), -2))
        self._fitted = kirkwood_abreast(counts)
        self.g2 = g2_abreast(counts, self._fitted)
        self.converged = np.zeros(counts.shape[-1], dtype=np.bool_)
        self.mu = self._fitted.copy()

    def fit(self, tolerance: float, max_sweeps: int) -> None:
        n = self._counts.shape[-1]
        places, active = np.arange(n), np.ones(n, dtype=np.bool_)
        g2, last_step = self.g2.copy(), np.full(n, np.inf)
        for _ in range(max_sweeps):
            for axis, wanted in enumerate(self._wanted):
                _scale(self._fitted, wanted, axis)
            new_g2 = g2_abreast(self._counts, self._fitted)
            step = np.maximum(g2 - new_g2, 0.0)
            factor = np.minimum(step / np.maximum(last_step, np.finfo(float).tiny), 1 - 1e-6)
            left = step * factor / (1 - factor)
            done = np.isfinite(last_step) & (left <= tolerance * (1 + new_g2)) | (step == 0)
            g2, last_step = new_g2, step
            self._keep(places, active & done, g2)
            self.converged[places[active & done]] = True
            active &= ~done
            n_active = np.count_nonzero(active)
            if n_active == 0:
                return
            if n_active <= (1 - _SHARE_LEFT) * len(active):
                stay = np.flatnonzero(active)
                if len(stay) == 1:  # two at least
                    stay = np.append(stay, np.flatnonzero(~active)[:1])
                places, active, g2, last_step = places[stay], active[stay], g2[stay], last_step[stay]
                self._counts, self._fitted = self._counts[..., stay], self._fitted[..., stay]
                self._wanted = [wanted[..., stay] for wanted in self._wanted]
        self._keep(places, active, g2)

    def _keep(self, places: npt.NDArray[np.int64], chosen: BoolArray, g2: FloatArray) -> None:
        if chosen.any():
            self.g2[places[chosen]] = g2[chosen]
            self.mu[..., places[chosen]] = self._fitted[..., chosen]


def _scale(mu: FloatArray, wanted: FloatArray, axis: int) -> None:
    """Give μ the margins that are sums over one axis."""
    is_class = axis in (-2, mu.ndim - 2)
    fitted = np.expand_dims(sum_over_classes(mu), -2) if is_class else mu.sum(axis=axis, keepdims=True)
    mu *= np.divide(wanted, np.fmax(fitted, _NOTHING, out=fitted), out=fitted)


def _sum_of_rows(rows: FloatArray) -> FloatArray:
    """Sum over the first axis in the order in which NumPy sums a contiguous one."""
    n = len(rows)
    if n < _IN_TURN:
        return np.asarray(rows.sum(axis=0))
    if n > _BY_EIGHTS:
        half = n // 2 - n // 2 % _IN_TURN
        return np.asarray(_sum_of_rows(rows[:half]) + _sum_of_rows(rows[half:]))
    end = n - n % _IN_TURN
    sums = rows[:end].reshape(-1, _IN_TURN, *rows.shape[1:]).sum(axis=0)
    total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    for row in rows[end:]:
        total += row
    return np.asarray(total)


#: G² is within this of its minimum, times 1 + G².
TOLERANCE = 1e-10

#: IPF before Newton's method takes over.
_FIRST_SWEEPS = 30
_FIRST_TOLERANCE = 1e-3

#: IPF alone, where tables have too many columns for Newton's method.
_MAX_SWEEPS = 20_000

_MAX_NEWTON_STEPS = 100


def fit_null_model(tables: IntArray) -> NullModelFit:
    """Fit H0 to every table: in closed form for two levels and two classes, else by IPF and Newton's method.

    Examples
    --------
    >>> import numpy as np
    >>> xor = np.array([[[[30, 10], [10, 30]], [[10, 30], [30, 10]]]])
    >>> fit = fit_null_model(xor)
    >>> fit.mu[0, 0].round(6).tolist(), round(float(fit.g2[0]), 3)
    ([[20.0, 20.0], [20.0, 20.0]], 41.86)
    """
    if is_two_level(tables.shape[1:]):
        mu = fit_two_levels(tables)
        return NullModelFit(mu, likelihood_ratio(tables, mu), np.ones(len(tables), dtype=np.bool_))
    if is_large(tables.shape[1:]):
        return fit_proportionally(tables, tolerance=TOLERANCE, max_sweeps=_MAX_SWEEPS)
    return _newton(tables, fit_proportionally(tables, tolerance=_FIRST_TOLERANCE, max_sweeps=_FIRST_SWEEPS).mu)


def likelihood_ratio(tables: npt.NDArray[Any], mu: FloatArray) -> FloatArray:
    """Return 2 Σ n ln(n/μ) of every table, for μ that has the tables' cell sizes."""
    n = tables.reshape(per_table(tables))
    fitted = mu.reshape(n.shape)
    ratio = np.divide(n, fitted, out=np.ones(n.shape), where=n > 0)
    # Σ (μ − n) is 0; with it every term is positive, and rounding of μ has no effect of first order.
    terms = n * np.log(ratio) + (fitted - n)
    return np.asarray(np.maximum(2 * terms.sum(axis=1), 0.0))


def smallest_expected(tables: IntArray, mu: FloatArray) -> FloatArray:
    """Return the smallest fitted count of every table among the entries whose margins are positive; NaN if none are."""
    fitted = np.where(supported_entries(tables), mu, np.inf).reshape(per_table(tables)).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(fitted), fitted, np.nan)


def _scaled(mu: FloatArray, tables: npt.NDArray[Any], axis: int) -> FloatArray:
    """Give μ the margins of the tables that are sums over one axis."""
    fitted = mu.sum(axis=axis, keepdims=True)
    wanted = tables.sum(axis=axis, keepdims=True)
    return np.asarray(mu * np.divide(wanted, fitted, out=np.zeros(fitted.shape), where=fitted > 0))


def _newton(tables: IntArray, start: FloatArray) -> NullModelFit:
    """Go on from a member of H0's family by Newton's method in the bᵢ, a(x) following from the cell sizes.

    Where the fit has zeros among entries with positive margins, some bᵢ go to −∞, by about 1 in each step, and G² falls
    to its infimum by a factor e each time.
    """
    mu = start.copy()
    g2 = likelihood_ratio(tables, mu)
    converged = np.zeros(len(tables), dtype=np.bool_)
    for chunk in chunks_of_tables(tables):
        active = np.arange(len(tables))[chunk]
        for _ in range(_MAX_NEWTON_STEPS):
            if len(active) == 0:
                break
            counts = tables[active]
            direction, gain = _newton_direction(counts, mu[active])
            new_mu, new_g2 = _best_step(counts, mu[active], g2[active], direction)
            # The step that was just made leaves much less than it gained.
            done = (gain <= TOLERANCE * (1 + new_g2)) | (new_g2 >= g2[active])
            better = new_g2 < g2[active]
            mu[active[better]], g2[active[better]] = new_mu[better], new_g2[better]
            converged[active[done]] = gain[done] <= 1e4 * TOLERANCE * (1 + new_g2[done])
            active = active[~done]
    return NullModelFit(mu, g2, converged)


def _newton_direction(counts: IntArray, mu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the change of ln μ, up to a(x), and by how much G² should fall."""
    design = null_design(counts.shape[1:]).reshape(-1, null_design(counts.shape[1:]).shape[-1])
    # One product per table: BLAS would round one product of all of them by their number.
    gradient = np.matmul((counts - mu).reshape(len(mu), 1, -1), design)[:, 0]
    coefficients = np.linalg.solve(information(weighted_design(mu)), gradient[..., np.newaxis])
    change = np.matmul(design, coefficients)[..., 0]
    return change.reshape(mu.shape), np.maximum((gradient * coefficients[..., 0]).sum(axis=1), 0.0)


def _best_step(
    counts: IntArray, mu: FloatArray, g2: FloatArray, direction: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Halve the step of the tables whose G² would not fall, a few times."""
    largest = np.abs(direction).reshape(len(mu), -1).max(axis=1)
    length = np.minimum(1.0, 20.0 / np.maximum(largest, 1.0))
    new_mu, new_g2 = mu.copy(), np.full(len(mu), np.inf)
    trying = np.arange(len(mu))
    for _ in range(12):
        scale = length[trying].reshape(-1, *[1] * (mu.ndim - 1))
        moved = _scaled(mu[trying] * np.exp(scale * direction[trying]), counts[trying], -1)
        new_mu[trying], new_g2[trying] = moved, likelihood_ratio(counts[trying], moved)
        length[trying] /= 2
        trying = trying[new_g2[trying] > g2[trying]]
        if len(trying) == 0:
            break
    return new_mu, new_g2


#: Members beyond which compiled code would multiply too many margins.
_MAX_MEMBERS = 5

#: Numbers of the tables that a thread fits at a time.
_AT_ONCE = 2**18

#: As in the bootstrap.
QUICK_TOLERANCE = 1e-3
MAX_SWEEPS = 60


class QuickFit(NamedTuple):
    """G² of every table, never below its minimum but for rounding; whether all margins that H0 keeps are positive."""

    g2: FloatArray
    is_complete: BoolArray


def quick_fit(
    tables: IntArray, *, tolerance: float = QUICK_TOLERANCE, max_sweeps: int = MAX_SWEEPS, n_threads: int = 1
) -> QuickFit:
    """Fit H0 to every table by IPF; with no sweeps G² is the bound of Kirkwood's product."""
    if len(member_axes(tables)) > _MAX_MEMBERS:
        fit = fit_proportionally(tables, tolerance=tolerance, max_sweeps=max_sweeps, n_threads=n_threads)
        return QuickFit(fit.g2, np.asarray(supported_entries(tables).reshape(per_table(tables)).all(axis=1)))
    flat = np.ascontiguousarray(tables, dtype=np.int64).reshape(per_table(tables))
    shape = np.array(tables.shape[1:], dtype=np.int64)
    g2, is_complete = np.empty(len(tables)), np.empty(len(tables), dtype=np.bool_)
    size = max(1, _AT_ONCE // prod(tables.shape[1:]))
    if n_threads > 1:
        size = max(1, min(size, -(-len(tables) // n_threads)))

    def fit_some(begin: int) -> None:
        some = slice(begin, begin + size)
        _core.fit_tables(flat[some], shape, tolerance, max_sweeps, "auto", g2[some], is_complete[some])

    map_in_threads(fit_some, range(0, len(tables), size), n_threads)
    return QuickFit(g2, is_complete)
