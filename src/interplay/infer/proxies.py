"""A significant tuple, and columns that members are correlated with → columns that may explain it, and what is left.

Members that stand in for a cause show an interaction that does not exist. A column is put into the model where it has
an effect beside all cells of the members, which a mere stand-in of the members has not; or where nothing of the
interaction is left beside its effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_chi2_tail
from interplay.data.models.linear import independent_columns, n_bent_columns
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.targets import Target
from interplay.infer.interaction.beside_test import NestedModels, TupleSamples, nested_models, with_covariates
from interplay.infer.interaction.tuple_tests import MAX_EXPLAINING
from interplay.infer.neighbour_screen import Neighbours, NeighbourScreen
from interplay.infer.smooth_columns import smooth_columns
from interplay.infer.tagging import EFFECT_BELOW, LEFT_BELOW, SAMPLES_PER_COLUMN

#: Columns without an effect beside the cells are fitted where the screen leaves the interaction a p-value of a tenth of
#: the limit, or more; at most so many.
_WORTH_A_FIT = 0.1 * LEFT_BELOW
_MAX_FITS = 3


class MemberEffects(NamedTuple):
    """All that the members of a tuple say: columns of models with and without the interaction, and more."""

    #: With covariates, and smooth effects of members that are cut numbers.
    models: NestedModels
    #: (n_rows, 0 or 1): the product of the members where all are cut numbers: levels are coarse.
    product: FloatArray

    @classmethod
    def of(
        cls, outcome: Target, samples: TupleSamples, splines: Sequence[FloatArray | None], model: FullModel
    ) -> MemberEffects:
        """Return the effects of the members in the samples that have a value of each; splines are of these samples."""
        columns = smooth_columns(splines, samples.levels, samples.stratum)
        models = nested_models(outcome, samples, with_covariates(columns, model, samples))
        linear = [each[:, :1] for each in splines if each is not None]
        product = np.prod(linear, axis=0) if len(linear) == len(splines) else np.empty((len(samples.known), 0))
        return cls(models, product[np.searchsorted(samples.known, models.rows)])


def explaining_columns(
    model: FullModel,
    response: FloatArray,
    members: MemberEffects,
    near: Neighbours,
    log_p_beside: Callable[[IntArray], float],
    *,
    log_left: float,
) -> tuple[IntArray, float]:
    """Return the columns, of some, that have to stand beside a tuple, and ln p of its interaction beside them.

    - `model`: of all samples.
    - `response` (n_samples, q): as `responses` makes it.
    - `near`: the columns, in all samples.
    - `log_p_beside`: returns ln p of the interaction beside some of the columns.
    - `log_left`: from this ln p on nothing is left of an interaction.

    Returns
    -------
    chosen : (n,) int64
        Places of the columns, the strongest first.
    log_p : float
        NaN where there is no such column.
    """
    models = members.models
    nothing = np.empty(0, dtype=np.int64), np.nan
    if models.df <= 0 or not near.n:
        return nothing
    smaller, inner = models.columns[:, : models.n_smaller], models.columns[:, models.n_smaller :]
    y, limit = response[models.rows], np.log(EFFECT_BELOW / near.n)
    none = np.empty((response.shape[0], 0))
    whole = np.hstack([inner, members.product])
    screen = NeighbourScreen(y, smaller, whole, near, models.rows, none)

    def log_p(statistics: FloatArray) -> FloatArray:
        return np.asarray(log_chi2_tail(statistics, y.shape[1] * np.maximum(near.sizes, 1)))

    effect, left = log_p(screen.effect), log_chi2_tail(screen.left, y.shape[1] * whole.shape[1])
    of_cells = log_p(screen.beside_cells)
    stand_ins = np.flatnonzero((effect < limit) & (left >= np.log(_WORTH_A_FIT)))
    chosen: list[int] = []
    found = np.nan
    if of_cells.min() < limit:
        beside = independent_columns(np.hstack([models.columns, members.product]))
        n_counted = model.outcome.n_counted(models.rows)
        chosen = _forward(
            NeighbourScreen(y, beside, none[models.rows], near, models.rows, none),
            near,
            models.rows,
            of_cells,
            limit,
            log_p,
            n_counted // SAMPLES_PER_COLUMN - beside.shape[1],
            n_bent_columns(model.outcome.n_informative),
        )
    for some in [chosen[:1], chosen] if len(chosen) > 1 else [chosen]:
        if some:
            found = log_p_beside(np.array(some))
            if found >= log_left:
                return np.array(some), found
    for c in stand_ins[np.argsort(effect[stand_ins], kind="stable")].tolist()[:_MAX_FITS]:
        if c not in chosen and len(chosen) < MAX_EXPLAINING:
            both = np.array([*chosen, c])
            beside_both = log_p_beside(both)
            if beside_both >= log_left:
                return both, beside_both
    return np.array(chosen, dtype=np.int64), found


def _forward(
    screen: NeighbourScreen,
    near: Neighbours,
    rows: IntArray,
    log_p_effect: FloatArray,
    limit: float,
    log_p: Callable[[FloatArray], FloatArray],
    room: int,
    n_each: int,
) -> list[int]:
    """Return columns one after the other, each the strongest beside those before, while they have an effect."""
    chosen: list[int] = []
    while len(chosen) < MAX_EXPLAINING and log_p_effect.min() < limit:
        best = int(np.argmin(log_p_effect))
        columns = near.columns([best], rows)
        room -= max(columns.shape[1], n_each)
        if room < 0:
            break
        chosen.append(best)
        log_p_effect = log_p(screen.effect_beside(columns))
        log_p_effect[chosen] = 0.0
    return chosen
