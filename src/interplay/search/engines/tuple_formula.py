"""The statistics of whole tuples, as sums of entropies over the subsets of a tuple."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import check_choice

#: Statistics of a tuple; "MI" with a decision is a gain of each member, all others are of the whole tuple.
STATISTICS = ("MI", "H", "VI", "TC", "II")

#: Beyond this many members the interaction information would be a difference of a million entropies.
_MAX_MEMBERS_OF_ALL_SUBSETS = 10


@dataclass(frozen=True)
class TupleFormula:
    """A statistic of a tuple T: the sum over its non-empty subsets S of ``coefficient_of_size[|S|]`` · E(S).

    E(S) is the entropy of the decision given S, in bits times samples, or without a decision the entropy of S itself
    in bits per sample.

    Attributes
    ----------
    coefficient_of_size : (k + 1,) int64
        The first entry, of the empty set, is not used.
    with_decision : bool
    """

    coefficient_of_size: IntArray
    with_decision: bool


def tuple_formula(stat: str, dimensions: int, *, with_decision: bool) -> TupleFormula | None:
    """Return the formula of a statistic; None for the information gain, which has a value per member.

    Examples
    --------
    H01 + H02 + H12 − H0 − H1 − H2 − H012:

    >>> tuple_formula("II", 3, with_decision=False).coefficient_of_size
    array([ 0, -1,  1, -1])
    """
    check_choice("stat", stat, STATISTICS)
    if stat == "MI" and with_decision:
        return None
    if stat in ("TC", "II") and with_decision:
        raise ValueError(f'stat="{stat}" uses no outcome: leave y out, or use stat="MI"')
    if stat in ("MI", "VI") and dimensions != 2:
        instead = ': for more, take stat="TC" or "II"' if stat == "MI" else ""
        raise ValueError(f'stat="{stat}" needs dimensions=2, not {dimensions}{instead}')
    coefficients = np.zeros(dimensions + 1, dtype=np.int64)
    sizes = np.arange(1, dimensions + 1)
    if stat == "II":
        if dimensions > _MAX_MEMBERS_OF_ALL_SUBSETS:
            raise ValueError(
                f'stat="II" needs dimensions of at most {_MAX_MEMBERS_OF_ALL_SUBSETS}, not {dimensions}: take stat="TC"'
            )
        coefficients[1:] = np.where((dimensions - sizes) % 2, 1, -1)
        return TupleFormula(coefficients, with_decision)
    alone, together = {"MI": (1, -1), "TC": (1, -1), "H": (0, 1), "VI": (1, -2) if with_decision else (-1, 2)}[stat]
    coefficients[1] += alone
    coefficients[dimensions] += together
    return TupleFormula(coefficients, with_decision)
