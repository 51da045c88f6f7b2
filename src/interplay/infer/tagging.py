"""One tuple that interacts and its neighbours → is it an interaction, or the shadow of a cause that its members tag?

Two members that tag one cause show an interaction that does not exist ("phantom epistasis"): the effect of the cause is
no sum of effects of the members. Beside the cause itself in the model, the interaction vanishes. Where the cause is not
in the table, nothing in the data tells a haplotype of two markers from their interaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_chi2_tail
from interplay.data.models.linear import independent_places
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import Fitted
from interplay.data.study.outcomes.targets import Target
from interplay.infer.interaction.beside_test import NestedModels, TupleSamples, nested_models
from interplay.infer.neighbour_screen import Neighbours, NeighbourScreen

#: The verdicts.
HOLDS, EXPLAINED, CANNOT_TELL = "holds", "explained", "cannot be told"
VERDICTS = (HOLDS, EXPLAINED, CANNOT_TELL)

#: Beside the cause itself, the p-value of an interaction that does not exist is below this in 2 % of tables.
LEFT_BELOW = 0.02

#: A neighbour has an effect if its p-value times the number of neighbours is below this.
EFFECT_BELOW = 0.05

#: Neighbours are fitted exactly where the screen gives the interaction beside them a p-value of a tenth, or more.
_WORTH_A_FIT = 0.1 * LEFT_BELOW
_MAX_FITS = 3

#: A neighbour has an effect beside the cells of the members if p times the number of neighbours is below this.
_BESIDE_CELLS = 0.02

#: Beside a column that explains why members are correlated, an interaction must have a p-value below this: of a hidden
#: cause in a region of linked columns, some of the interaction is left beside one of these columns.
_BESIDE_BRIDGE = 5e-4

#: Neighbours that explain jointly, at most.
_MAX_JOINT = 4

#: Fewer samples, or events of times, than this per column of a model are too few.
SAMPLES_PER_COLUMN = 8


class Tagged(NamedTuple):
    """The verdict on one tuple."""

    verdict: str
    #: Neighbours that explain the interaction.
    by: tuple[int, ...]
    reason: str
    #: Of the interaction in the same samples and by the same models, without neighbours.
    p_interaction: float = np.nan
    #: Of the neighbours `by`, or else of the neighbour that leaves least of the interaction, beside the members.
    p_effect: float = np.nan
    #: Of the interaction beside these neighbours.
    p_left: float = np.nan


class Lead(NamedTuple):
    """A tuple, as it was searched, in the samples in which its members have levels."""

    #: Of all samples, as it was searched.
    outcome: Target
    samples: TupleSamples
    #: (n_known, n_columns): covariates, and smooth effects of members that are cut numbers.
    columns: FloatArray
    #: (k, n_samples) float32: values of the members, around their means and of length 1; 0 for labels.
    values: FloatArray


def tagged_tuple(
    model: FullModel,
    response: FloatArray,
    lead: Lead,
    neighbours: Neighbours,
    *,
    linked: Callable[[FloatArray], str],
    bridges: Callable[[FloatArray], Sequence[int]],
) -> Tagged:
    """Test the interaction of a tuple beside each of its neighbours, and beside the strongest of them jointly.

    - `model`: of all samples.
    - `response` (n_samples, q): as `responses` makes it.
    - `neighbours`: in all samples.
    - `linked`: says why one hidden cause could have both members as its tags; "" where they are not correlated. It is
      given the correlations of neighbours with members, (n_neighbours, k).
    - `bridges`: returns neighbours given which the members are not correlated with each other, though they are by
      themselves.
    """
    models = nested_models(lead.outcome, lead.samples, lead.columns)
    n_columns = models.columns.shape[1] if len(models.rows) else 0
    if models.df <= 0 or not _are_enough(model, models.rows, n_columns + 2):
        return Tagged(CANNOT_TELL, (), f"too few {model.outcome.counted}")
    judged = _Tuple(model, response[models.rows], models, neighbours, lead.values)
    p_interaction = judged.p_interaction
    if p_interaction >= LEFT_BELOW:
        return Tagged(CANNOT_TELL, (), f"not significant in these {model.outcome.counted}", p_interaction)
    found = judged.explained()._replace(p_interaction=p_interaction)
    if found.by:
        return found
    reason = linked(judged.correlations)
    if not reason:
        return found
    if judged.holds_beside_one_of(bridges(judged.correlations)):
        return found._replace(reason="significant beside a column that explains why the members are correlated")
    return found._replace(verdict=CANNOT_TELL, reason=reason)


def _are_enough(model: FullModel, rows: IntArray, n_columns: int) -> bool:
    """Say whether samples, or events of times, are enough for a model with `n_columns` columns."""
    return model.outcome.n_counted(rows) >= SAMPLES_PER_COLUMN * n_columns


class _Tuple:
    """A tuple, its models and its neighbours in the samples of the test."""

    def __init__(
        self, model: FullModel, response: FloatArray, models: NestedModels, neighbours: Neighbours, values: FloatArray
    ) -> None:
        self._model, self._models, self._neighbours = model, models, neighbours
        self._response, self._values = response, values
        self._smaller = models.columns[:, : models.n_smaller]
        self._inner = models.columns[:, models.n_smaller :]
        self._fits = model.fits(models.rows)
        self._without = self._fits.fit(self._smaller)
        self.p_interaction = self._p(self._without, self._fits.fit(models.columns, self._without))
        self._screen: NeighbourScreen | None = None
        self.correlations = np.empty((0, len(values)))

    def _p(self, smaller: Fitted, larger: Fitted) -> float:
        return float(np.exp(self._fits.log_p(smaller, larger)))

    def _p_beside(self, some: Sequence[int]) -> tuple[float, float]:
        """Return p-values of some neighbours beside the members, and of the interaction beside these neighbours."""
        columns = self._neighbours.columns(some, self._models.rows)
        every = np.hstack([self._smaller, columns, self._inner])
        places = independent_places(every)
        n_with = int(np.count_nonzero(places < self._smaller.shape[1] + columns.shape[1]))
        without, beside = self._without, self._fits.fit(every[:, places[:n_with]], self._without)
        return self._p(without, beside), self._p(beside, self._fits.fit(every[:, places], beside))

    def explained(self) -> Tagged:
        """Look for a neighbour, or for some jointly, beside which the interaction is not significant."""
        if not self._neighbours.n:
            return Tagged(HOLDS, (), "no neighbour is correlated with a member")
        screen = NeighbourScreen(
            self._response, self._smaller, self._inner, self._neighbours, self._models.rows, self._values.T
        )
        self._screen, self.correlations = screen, screen.also[self._neighbours.first[:-1]]
        p_effect, p_left = self._p_values(screen.effect), self._p_values(screen.left, self._inner.shape[1])
        limit = EFFECT_BELOW / self._neighbours.n
        worth = np.flatnonzero((p_effect < 10 * limit) & (p_left >= _WORTH_A_FIT))
        best = worth[np.lexsort((worth, p_effect[worth]))][:_MAX_FITS].tolist()
        for c in best:
            effect, left = self._p_beside([c])
            if effect < limit and left >= LEFT_BELOW:
                return Tagged(EXPLAINED, (c,), "not significant beside this column", p_effect=effect, p_left=left)
        joint = self._strongest(screen, p_effect, limit)
        if len(joint) > 1:
            effect, left = self._p_beside(joint)
            if left >= LEFT_BELOW:
                reason = "not significant beside these columns together"
                return Tagged(EXPLAINED, tuple(joint), reason, p_effect=effect, p_left=left)
        nearest = int(np.argmax(np.where(p_effect < limit, p_left, p_left - 2)))
        effect, left = self._p_beside([nearest])
        return Tagged(HOLDS, (), "significant beside every neighbour", p_effect=effect, p_left=left)

    def holds_beside_one_of(self, bridges: Sequence[int]) -> bool:
        """Say whether a neighbour that explains the correlation of the members does not explain their interaction.

        Not where some neighbour has an effect beside all cells of the members: a hidden cause that these only tag
        leaves such effects to its other tags, an interaction does not.
        """
        if not bridges or self._screen is None:
            return False
        if (self._p_values(self._screen.beside_cells) < _BESIDE_CELLS / self._neighbours.n).any():
            return False
        return any(self._p_beside([c])[1] < _BESIDE_BRIDGE for c in bridges)

    def _p_values(self, statistics: FloatArray, size: int | None = None) -> FloatArray:
        """Return p-values of statistics of the screen: of neighbours, or of `size` columns of the interaction."""
        columns = np.maximum(self._neighbours.sizes, 1) if size is None else size
        return np.asarray(np.exp(log_chi2_tail(statistics, self._response.shape[1] * columns)))

    def _strongest(self, screen: NeighbourScreen, p_effect: FloatArray, limit: float) -> list[int]:
        """Return neighbours one after the other, each the strongest beside those before, while they have an effect."""
        chosen: list[int] = []
        n_columns = self._models.columns.shape[1]
        while len(chosen) < _MAX_JOINT and p_effect.min() < limit:
            chosen.append(int(np.argmin(p_effect)))
            columns = self._neighbours.columns(chosen[-1:], self._models.rows)
            n_columns += columns.shape[1]
            if not _are_enough(self._model, self._models.rows, n_columns) or len(chosen) == _MAX_JOINT:
                break
            p_effect = self._p_values(screen.effect_beside(columns))
            p_effect[chosen] = 1.0
        return chosen
