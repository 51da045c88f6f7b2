"""Upper bounds of G², by which a search over all tuples rules tuples out (branch and bound), from their parts.

For every q of H0's family whose cells have the sizes n(x, ·), 2N·KL(n ‖ q) = G² + 2N·KL(μ ‖ q) ≥ G². Two members of the
family cost little:

- q(y|x) = p(y|x₋ᵢ): 2N (I(T; Y) − I(T without i; Y)), the gain of member i in the tuple. `gain_bound` is the smallest
  of them; a search that computes gains has it already.
- Kirkwood's product: 2N (Σ_{S ⊆ T} (−1)^{k−|S|} I(S; Y) + E ln Z(x)), Z(x) = Σ_y Π_{S ⊊ T} p(y|x_S)^{(−1)^{k−1−|S|}}.
  It is near to G² unless the members depend on each other, or samples are few.

All I are in nats per sample and without pseudocounts: with pseudocounts neither is a bound. With strata every S holds
the stratum too; I(stratum; Y) cancels from both.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.statistics.interaction.null_model import as_tables, member_axes, per_table, supported_entries
from interplay.statistics.interaction.proportional_fit import abreast, blocks_of, g2_abreast, kirkwood_abreast


def interaction_bound(counts: npt.ArrayLike, *, strata: bool = False) -> FloatArray:
    """Return the bound of Kirkwood's product from the counts themselves, (n_tuples,).

    Parameters
    ----------
    counts : (n_tuples, [n_strata,] levels …, n_classes) array_like of int
        Samples per cell and class, without pseudocounts.
    strata : bool
        Whether the second axis is the stratum; bounds of strata add up.

    Examples
    --------
    Here the members are independent, and the bound is G².

    >>> xor = [[[[30, 10], [10, 30]], [[10, 30], [30, 10]]]]
    >>> interaction_bound(xor).round(3).tolist()
    [41.86]
    """
    given = as_tables(counts, strata=strata)
    tables = given.reshape(-1, *given.shape[2:]) if strata else given
    bound = np.empty(len(tables))
    for block in blocks_of(tables):
        some = abreast(tables[block])
        bound[block] = g2_abreast(some, kirkwood_abreast(some))[: block.stop - block.start]
    return bound.reshape(given.shape[:2]).sum(axis=1) if strata else bound


def bound_from_informations(
    informations: npt.ArrayLike, mean_log_normalizer: npt.ArrayLike, n_samples: npt.ArrayLike
) -> FloatArray:
    """Return the bound of Kirkwood's product from the informations of all parts of a tuple.

    Parameters
    ----------
    informations : (…, 2^k) array_like
        I(S; Y) in nats per sample, S given by the bits of the position: member i is in S if bit i is set.
    mean_log_normalizer : (…) array_like
        E ln Z(x), see `mean_log_normalizer`.
    n_samples : (…) array_like
        Samples of the tuple.
    """
    values = np.asarray(informations, dtype=np.float64)
    n_members = _n_members(values)
    signs = np.array([(-1) ** (n_members - part.bit_count()) for part in range(2**n_members)])
    return np.asarray(2 * np.asarray(n_samples) * ((values * signs).sum(axis=-1) + np.asarray(mean_log_normalizer)))


def gain_bound(informations: npt.ArrayLike, n_samples: npt.ArrayLike) -> FloatArray:
    """Return the smallest gain of a member in the tuple, on the scale of G²; arguments as above."""
    values = np.asarray(informations, dtype=np.float64)
    whole = values.shape[-1] - 1
    without_one = [whole ^ (1 << member) for member in range(_n_members(values))]
    return np.asarray(2 * np.asarray(n_samples) * (values[..., whole] - values[..., without_one].max(axis=-1)))


def subtuple_informations(tables: IntArray) -> FloatArray:
    """Return I(S; Y) of all parts S of the tuples, (n_tables, 2^k), as `bound_from_informations` wants them."""
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


def mean_log_normalizer(tables: IntArray) -> FloatArray:
    """Return E ln Z(x) over the samples of every table, (n_tables,)."""
    axes = member_axes(tables)
    log_product = np.zeros(tables.shape)
    for size in range(len(axes)):
        sign = (-1) ** (len(axes) - 1 - size)
        for members in combinations(axes, size):
            margin = tables.sum(axis=tuple(axis for axis in axes if axis not in members), keepdims=True)
            in_cell = margin.sum(axis=-1, keepdims=True)
            log_product += sign * (np.log(np.maximum(margin, 1)) - np.log(np.maximum(in_cell, 1)))
    log_product[~supported_entries(tables)] = -np.inf
    in_cell = tables.sum(axis=-1)
    log_z = np.logaddexp.reduce(log_product, axis=-1)
    weighted = np.where(in_cell > 0, in_cell * np.where(in_cell > 0, log_z, 0.0), 0.0)
    n_cells = per_table(tables)[1] // tables.shape[-1]
    n_samples = tables.reshape(per_table(tables)).sum(axis=1)
    return np.asarray(weighted.reshape(len(tables), n_cells).sum(axis=1) / np.maximum(n_samples, 1))


def _n_members(informations: FloatArray) -> int:
    n_parts = informations.shape[-1] if informations.ndim else 0
    if n_parts < 4 or n_parts & (n_parts - 1):
        raise ValueError(f"informations must have one value for each of the 2^k parts of a tuple, not {n_parts}")
    return n_parts.bit_length() - 1


def _n_log_n(counts: IntArray) -> FloatArray:
    """Σ n ln n of every table."""
    terms = counts * np.log(np.maximum(counts, 1))
    return np.asarray(terms.reshape(len(counts), -1).sum(axis=1) if counts.size else np.zeros(len(counts)))
