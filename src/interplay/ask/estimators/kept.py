"""A Selection → the variables that a selector keeps, and why it leaves out the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import BoolArray
from interplay.base.checks import shown
from interplay.data.study.table import Table
from interplay.infer.short_list import Associations
from interplay.show.results.selection import Selection

#: An association of 1 may be computed as slightly less.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class KeptVariables:
    """The variables that a selector keeps."""

    support: BoolArray  #: (n_vars,)
    #: For each redundant relevant variable: the kept variable with which it is redundant, and their association.
    same_as: dict[int, tuple[int, float]]
    #: Whether the variables are those of the short list.
    of_short_list: bool = False
    #: Whether they are so many of the order for models.
    n_exactly: int | None = None

    def left_out(self, result: Selection) -> dict[str, str]:
        """Return the reason for which each variable is left out, by name."""
        reasons = {}
        for v in np.flatnonzero(~self.support).tolist():
            if self.n_exactly is not None:
                reason = f"after the first {self.n_exactly} of the order for models"
            elif not result.is_relevant[v]:
                reason = f"not relevant (adjusted p {result.p_adjusted[v]:.3g})"
            elif v in self.same_as:
                kept, association = self.same_as[v]
                reason = f"redundant with {shown(result.names[kept])} (association {association:.3f})"
            elif self.of_short_list and result.names[v] not in result.short_list:
                reason = "relevant, but not in the short list: not significant given the others"
            else:
                reason = "relevant, but max_features others are more significant"
            reasons[result.names[v]] = reason
        return reasons


def kept_variables(
    result: Selection,
    table: Table,
    *,
    min_features: int,
    max_features: int | None,
    redundancy: float | None,
    short_list: bool = False,
) -> KeptVariables:
    """Keep the relevant variables, the most significant first, within these bounds.

    Of variables whose association is at least `redundancy`, the most significant is kept. If fewer than `min_features`
    remain, the most significant of the other variables are added: irrelevant variables before redundant ones. With
    `short_list`, those of the short list are kept.
    """
    most = table.n_vars if max_features is None else max_features
    chosen: list[int] = []
    same_as: dict[int, tuple[int, float]] = {}
    if short_list:
        number_of = {name: v for v, name in enumerate(result.names)}
        chosen = [number_of[name] for name in result.short_list[:most]]
    elif redundancy is None:
        chosen = result.ranked[:most].tolist()
    else:
        kept = Associations(table)
        for v in result.ranked.tolist():
            if len(chosen) == most:
                break
            other, association = kept.strongest(v)
            if other >= 0 and association >= redundancy - _ROUNDING:
                same_as[v] = other, association
            else:
                kept.keep(v)
                chosen.append(v)
    if len(chosen) < min_features:
        others = [v for v in result.by_significance.tolist() if v not in set(chosen)]
        others.sort(key=lambda v: v in same_as)  # stable: by significance within each part
        for v in others[: min_features - len(chosen)]:
            same_as.pop(v, None)
            chosen.append(v)
    support = np.zeros(table.n_vars, dtype=np.bool_)
    support[chosen] = True
    return KeptVariables(support, same_as, short_list)
