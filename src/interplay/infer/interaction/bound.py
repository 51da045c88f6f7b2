"""Upper bounds of G², by which a search over all tuples rules tuples out (branch and bound), from their parts.

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

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.null_model import member_axes, per_table


def gain_bound(informations: npt.ArrayLike, n_samples: npt.ArrayLike) -> FloatArray:
    """Return the smallest gain of a member in the tuple, on the scale of G².

    Parameters
    ----------
    informations : (…, 2^k) array_like
        I(S; Y) of all parts of a tuple, as of `subtuple_informations`.
    n_samples : (…) array_like
        Samples of the tuple.
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
