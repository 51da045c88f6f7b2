"""One tuple that interacts and its neighbours → is it an interaction, or the shadow of a cause that its members tag?

Two members that tag one cause show an interaction that does not exist ("phantom epistasis"): the effect of the cause is
no sum of effects of the members. Beside the cause itself in the model, the interaction vanishes. Where the cause is not
in the table, nothing in the data tells a haplotype of two markers from their interaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, Outcome
from interplay.base.chi_squared import log_chi2_tail
from interplay.statistics.interaction.beside_test import NestedModels, interaction_beside, models_of, nested_models
from interplay.statistics.neighbour_screen import screen_neighbours

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

#: Neighbours that explain jointly, at most.
_MAX_JOINT = 4

#: Fewer samples than this per column of a model are too few.
_SAMPLES_PER_COLUMN = 8


class Neighbours(NamedTuple):
    """The neighbours of a tuple, as columns of their effects.

    Attributes
    ----------
    rows : (n_rows, n_samples) float32
        Columns of the effects, as rows, one neighbour after the other.
    first : (n_neighbours + 1,) int64
        The first row of each, with the end.
    """

    rows: npt.NDArray[np.float32]
    first: IntArray

    @property
    def linear(self) -> npt.NDArray[np.float32]:
        """The first row of each neighbour: of a number the value or rank, around its mean and of length 1."""
        return self.rows[self.first[:-1]]

    def columns(self, some: Sequence[int], samples: IntArray) -> FloatArray:
        """Return the columns of some neighbours, in some samples."""
        parts = [self.rows[self.first[c] : self.first[c + 1]][:, samples] for c in some]
        return np.concatenate(parts).T.astype(np.float64)


class Tagged(NamedTuple):
    """The verdict on one tuple.

    Attributes
    ----------
    verdict : str
    by : tuple of int
        Neighbours that explain the interaction.
    reason : str
    p_interaction : float
        Of the interaction in the same samples and by the same models, without neighbours.
    p_effect : float
        Of the neighbours `by`, or else of the neighbour that leaves least of the interaction, beside the members.
    p_left : float
        Of the interaction beside these neighbours.
    """

    verdict: str
    by: tuple[int, ...]
    reason: str
    p_interaction: float = np.nan
    p_effect: float = np.nan
    p_left: float = np.nan


def tagged_tuple(
    outcome: Outcome,
    response: FloatArray,
    levels: IntArray,
    columns: FloatArray,
    neighbours: Callable[[], Neighbours],
    *,
    known: IntArray,
    linked: Callable[[Neighbours], str],
    bridges: Callable[[Neighbours], Sequence[int]],
    stratum: IntArray | None = None,
    dosages: Sequence[FloatArray] | None = None,
) -> Tagged:
    """Test the interaction of a tuple beside each of its neighbours, and beside the strongest of them jointly.

    Parameters
    ----------
    response : (n_samples, q) float64
        As `responses` makes it.
    columns : (n_known, n_columns) float64
        Covariates, and smooth effects of members that are cut numbers.
    neighbours : callable
        Returns the neighbours, in all samples.
    linked : callable
        Says why one hidden cause could have both members as its tags; "" where they are not correlated.
    bridges : callable
        Returns neighbours given which the members are not correlated with each other, though they are by themselves.
    outcome, levels, known, stratum, dosages
        As in `nested_models`.
    """
    models = nested_models(outcome, levels, columns, known=known, stratum=stratum, dosages=dosages)
    n, n_columns = len(models.rows), models.columns.shape[1] if len(models.rows) else 0
    if models.df <= 0 or n < _SAMPLES_PER_COLUMN * (n_columns + 2):
        return Tagged(CANNOT_TELL, (), "too few samples")
    p_interaction = _p_of(outcome, models)
    if p_interaction >= LEFT_BELOW:
        return Tagged(CANNOT_TELL, (), "not significant in these samples", p_interaction)
    near = neighbours()
    judged = _Tuple(outcome, response[models.rows], models, near)
    found = judged.explained()._replace(p_interaction=p_interaction)
    if found.by:
        return found
    reason = linked(near)
    if not reason:
        return found
    if judged.holds_beside_one_of(bridges(near)):
        return found._replace(reason="significant beside a column that explains why the members are correlated")
    return found._replace(verdict=CANNOT_TELL, reason=reason)


def _p_of(outcome: Outcome, models: NestedModels) -> float:
    chi2, df = interaction_beside(outcome, models)
    return float(np.exp(log_chi2_tail(chi2, df))) if df > 0 else 1.0


class _Tuple:
    """A tuple, its models and its neighbours in the samples of the test."""

    def __init__(self, outcome: Outcome, response: FloatArray, models: NestedModels, neighbours: Neighbours) -> None:
        self._outcome, self._response, self._models, self._neighbours = outcome, response, models, neighbours
        whole = len(models.rows) == neighbours.rows.shape[1]
        self._rows = neighbours.rows if whole else neighbours.rows[:, models.rows]
        self._smaller = models.columns[:, : models.n_smaller]
        self._inner = models.columns[:, models.n_smaller :]

    @property
    def _n(self) -> int:
        return len(self._neighbours.first) - 1

    def p_of_interaction(self, some: Sequence[int]) -> float:
        """Return the p-value of the interaction beside some neighbours."""
        return self._p(self._with(some), self._inner)

    def _p_of_effect(self, some: Sequence[int]) -> float:
        return self._p(self._smaller, self._columns(some))

    def _p(self, smaller: FloatArray, more: FloatArray) -> float:
        return _p_of(self._outcome, models_of(smaller, more, self._models.rows))

    def _columns(self, some: Sequence[int]) -> FloatArray:
        return self._neighbours.columns(some, self._models.rows)

    def _with(self, some: Sequence[int]) -> FloatArray:
        return np.hstack([self._smaller, self._columns(some)]) if len(some) else self._smaller

    def explained(self) -> Tagged:
        """Look for a neighbour, or for some jointly, beside which the interaction is not significant."""
        if not self._n:
            return Tagged(HOLDS, (), "no neighbour is correlated with a member")
        p_effect, p_left = self._screened(self._smaller)
        limit = EFFECT_BELOW / self._n
        worth = np.flatnonzero((p_effect < 10 * limit) & (p_left >= _WORTH_A_FIT))
        best = worth[np.lexsort((worth, p_effect[worth]))][:_MAX_FITS].tolist()
        for c in best:
            effect, left = self._p_of_effect([c]), self.p_of_interaction([c])
            if effect < limit and left >= LEFT_BELOW:
                return Tagged(EXPLAINED, (c,), "not significant beside this column", p_effect=effect, p_left=left)
        joint = self._strongest(p_effect, limit)
        if len(joint) > 1:
            effect, left = self._p_of_effect(joint), self.p_of_interaction(joint)
            if left >= LEFT_BELOW:
                reason = "not significant beside these columns together"
                return Tagged(EXPLAINED, tuple(joint), reason, p_effect=effect, p_left=left)
        nearest = int(np.argmax(np.where(p_effect < limit, p_left, p_left - 2)))
        effect, left = self._p_of_effect([nearest]), self.p_of_interaction([nearest])
        return Tagged(HOLDS, (), "significant beside every neighbour", p_effect=effect, p_left=left)

    def holds_beside_one_of(self, bridges: Sequence[int]) -> bool:
        """Say whether a neighbour that explains the correlation of the members does not explain their interaction.

        Not where some neighbour has an effect beside all cells of the members: a hidden cause that these only tag
        leaves such effects to its other tags, an interaction does not.
        """
        if not bridges or self._has_effect_beside_cells():
            return False
        return any(self.p_of_interaction([c]) < _WORTH_A_FIT for c in bridges)

    def _has_effect_beside_cells(self) -> bool:
        none = np.empty((len(self._models.rows), 0))
        first = self._neighbours.first
        found = screen_neighbours(self._response, self._models.columns, none, self._rows, first)
        df = self._response.shape[1] * np.maximum(np.diff(first), 1)
        return bool((np.exp(log_chi2_tail(found.effect, df)) < _BESIDE_CELLS / self._n).any())

    def _screened(self, smaller: FloatArray) -> tuple[FloatArray, FloatArray]:
        screened = screen_neighbours(self._response, smaller, self._inner, self._rows, self._neighbours.first)
        q = self._response.shape[1]
        sizes = np.maximum(np.diff(self._neighbours.first), 1)
        p_effect = np.exp(log_chi2_tail(screened.effect, q * sizes))
        return p_effect, np.exp(log_chi2_tail(screened.left, q * self._inner.shape[1]))

    def _strongest(self, p_effect: FloatArray, limit: float) -> list[int]:
        """Return neighbours one after the other, each the strongest beside those before, while they have an effect."""
        chosen: list[int] = []
        while len(chosen) < _MAX_JOINT and p_effect.min() < limit:
            chosen.append(int(np.argmin(p_effect)))
            smaller = models_of(self._with(chosen), self._inner, self._models.rows)
            n_columns = smaller.columns.shape[1]
            if len(self._models.rows) < _SAMPLES_PER_COLUMN * n_columns or len(chosen) == _MAX_JOINT:
                break
            p_effect = self._screened(smaller.columns[:, : smaller.n_smaller])[0]
            p_effect[chosen] = 1.0
        return chosen
