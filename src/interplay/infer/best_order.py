"""Scores of variables, targets, evidence of a search → an order in which each variable adds most to those before it.

The order answers what a model should get, significant or not. It is greedy: the next variable has the largest sum of

- *what it adds*: −ln p of F of what the variables before it do not explain of it (ridge regression, so that little
  remains of a copy). It fades with steps, the sooner the fewer the samples: many variables explain anything;
- its *relevance*, −ln p of the scores alone, or over all arms of the search where that is larger: of a tuple, a U shape
  or a model of others. It is divided by its likeness to the variables before it, 1 + 3 Σ r² / √(their number), of
  squared correlations beyond those of chance. Copies wait, and come before noise. Of more than 60 samples, which tell
  well what a variable adds, −ln p of the scores alone counts 60/samples.

−ln p is multiplied by (1 − q)², q by Benjamini and Hochberg, so that noise does not come before what repeats a chosen
variable.

*A tuple enters whole*: where a variable was found in a tuple only, its partners follow it at once.

*With several classes* relevance is that for all of them, so that most variables serve several. A class for which no
variable has been chosen after as many steps as there are classes, though one is significant for it against the rest,
has a turn: none is left without a variable. Turns for all classes, one after the other, were two to three points worse
at n = 5 and 10 on development sets: of a class of few samples, relevance against the rest is mostly noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_beta_cdf
from interplay.files.types import Check
from interplay.infer.short_list import orthonormal, pillai_log_p

#: How much squared correlations with chosen variables count: their sum, over the root of the number of these. The
#: constants were chosen on `benchmarks/best_n/development.py`.
_LIKENESS = 3.0

#: Steps, as a share of samples, after which what a variable adds counts no longer.
_STEPS = 1 / 6

#: Samples up to which −ln p of a variable alone counts in full beside what it adds.
_FEW_SAMPLES = 60

#: Penalty of the regression of variables on those before, times samples.
_PENALTY = 10.0

#: The square of a correlation by chance is 1/n; this multiple of it is taken off.
_CHANCE = 2.0

#: Power of one less than the q-value, and its least value.
_SHRINKAGE, _LEAST = 2.0, 1e-2


@dataclass(frozen=True, eq=False)
class BestOrder:
    """The first variables of an order for models."""

    #: (n_ordered,): numbers of the variables, best first.
    variable: Annotated[IntArray, Check("n_ordered", low=0, below="n_vars")]
    #: (n_ordered,): the step in which each came in: members of a tuple that comes in whole share it.
    unit: Annotated[IntArray, Check("n_ordered", low=0)]
    #: (n_ordered,): the class in whose turn it was chosen; −1 where it was chosen for all.
    turn: Annotated[IntArray, Check("n_ordered", low=-1)]

    def first(self, n: int) -> IntArray:
        """Return places of n variables: a tuple without room for all its members gives way to what follows it.

        Examples
        --------
        >>> order = BestOrder(np.array([7, 2, 5, 3]), np.array([0, 1, 1, 2]), np.full(4, -1))
        >>> order.variable[order.first(2)].tolist(), order.variable[order.first(3)].tolist()
        ([7, 3], [7, 2, 5])
        """
        kept: list[int] = []
        waiting: list[int] = []
        for unit in np.unique(self.unit).tolist():
            places = np.flatnonzero(self.unit == unit).tolist()
            (kept if len(kept) + len(places) <= n else waiting).extend(places)
        return np.array([*kept, *waiting][:n], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Relevance:
    """How relevant variables are: in all, and for each class."""

    #: (n_vars,): −ln p of each variable's own association with all targets.
    alone: FloatArray
    #: (n_basis, n_samples): orthonormal rows that span the targets.
    basis: FloatArray
    #: Dimensions of the space that scores and targets lie in.
    n_free: int
    #: (n_vars, n_classes): −ln p with each of several targets; no column where there is one.
    of_class: FloatArray


def relevance(scores: FloatArray, targets: FloatArray, n_free: int, levels: Mapping[int, FloatArray]) -> Relevance:
    """Return how relevant variables are alone.

    - `scores` (n_vars, n_samples): one row per variable, of length 1 or 0.
    - `targets` (n_targets, n_samples): of classes, the indicators.
    - `n_free`: dimensions of the space that both lie in.
    - `levels`: of variables with more than one column, orthonormal rows that span these.
    """
    basis = orthonormal(targets)
    lengths = np.sqrt((targets**2).sum(axis=1, keepdims=True))
    each = np.divide(targets, lengths, out=np.zeros_like(targets), where=lengths > 0)
    alone = _minus_log_p(((scores @ basis.T) ** 2).sum(axis=1), n_free, len(basis))
    of_class = _minus_log_p((scores @ each.T) ** 2, n_free, 1)
    for row, columns in levels.items():
        alone[row] = -pillai_log_p(basis @ columns.T, n_free)
        of_class[row] = [-pillai_log_p(target[np.newaxis] @ columns.T, n_free) for target in each]
    return Relevance(alone, basis, n_free, of_class if len(targets) > 1 else of_class[:, :0])


def _minus_log_p(explained: FloatArray, n_free: int, n_targets: int) -> FloatArray:
    if n_free <= n_targets or n_targets == 0:
        return np.zeros(explained.shape)
    left = 1 - np.minimum(explained, 1.0)
    return np.asarray(np.maximum(-log_beta_cdf(left, (n_free - n_targets) / 2, n_targets / 2), 0.0))


def choose_order(
    scores: FloatArray,
    found: Relevance,
    evidence: FloatArray,
    tuples: Mapping[int, Sequence[int]],
    n: int,
    *,
    n_vars: int,
    level: float = 0.05,
) -> BestOrder:
    """Order variables by what each adds to those before it.

    - `scores` (n_candidates, n_samples): rows of length 1, or 0 for a constant.
    - `found`: of the candidates alone.
    - `evidence` (n_candidates,): −ln p over all arms of variables that the search found, 0 of the others.
    - `tuples`: of variables that were found in a tuple only: the other members.
    - `n`: the number of variables to be ordered.
    - `n_vars`: the number of variables that the candidates were taken from.
    - `level`: of significance, for turns of classes: Bonferroni over variables.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.normal(size=(3, 200))
    >>> rows = np.stack([a, a + 0.1 * rng.normal(size=200), b, c])
    >>> rows -= rows.mean(axis=1, keepdims=True)
    >>> rows /= np.sqrt((rows**2).sum(axis=1, keepdims=True))
    >>> alone = relevance(rows, (rows[0] + 0.7 * rows[2])[np.newaxis], 199, {})
    >>> choose_order(rows, alone, np.zeros(4), {}, 4, n_vars=4).variable.tolist()
    [1, 2, 0, 3]
    """
    weights = _weights(found.alone, n_vars)
    adding = _Adding(scores, found)
    share = min(1.0, _FEW_SAMPLES / max(scores.shape[1], 1))
    relevant = share * found.alone * weights + np.maximum(evidence - found.alone * weights, 0.0)
    bar = np.log(n_vars / level)
    n_classes = found.of_class.shape[1]
    is_open = (found.of_class > bar).any(axis=0)
    chance = _CHANCE / max(scores.shape[1], 1)
    likeness = np.zeros(len(scores))
    is_left = np.ones(len(scores), dtype=np.bool_)
    chosen: list[int] = []
    unit: list[int] = []
    turn: list[int] = []
    n = min(n, len(scores))
    step = 0
    while len(chosen) < n:
        asked = int(np.argmax(is_open)) if step >= n_classes and is_open.any() else -1
        gain = relevant if asked < 0 else found.of_class[:, asked]
        gain = gain / (1 + _LIKENESS * likeness / np.sqrt(max(len(chosen), 1)))
        fresh = 1 - step / (_STEPS * scores.shape[1])
        if asked < 0 and fresh > 0:
            gain = gain + fresh * weights * adding.minus_log_p()
        best = int(np.argmax(np.where(is_left, gain, -1.0)))
        new = [best, *(v for v in tuples.get(best, ()) if is_left[v] and v != best)]
        is_left[new] = False
        is_open &= (found.of_class[new] <= bar).all(axis=0)
        if asked >= 0:
            is_open[asked] = False
        for v in new:
            likeness += np.maximum(adding.after(v) ** 2 - chance, 0.0)
        chosen += new
        unit += [step] * len(new)
        turn += [asked] * len(new)
        step += 1
    return BestOrder(*(np.array(each, dtype=np.int64) for each in (chosen, unit, turn)))


class _Adding:
    """What each variable adds to the chosen ones: rows, less a ridge regression on these, that are kept up to date."""

    def __init__(self, scores: FloatArray, found: Relevance) -> None:
        self._scores, self._n_free, self._n_basis = scores, found.n_free, len(found.basis)
        self._penalty = _PENALTY / max(scores.shape[1], 1)
        self._basis = found.basis
        self._left = np.einsum("vn,vn->v", scores, scores)  # squared lengths of what is left of the rows
        self._products = scores @ found.basis.T
        self._rows: list[FloatArray] = []  # what was left of the chosen ones when these were chosen
        self._slopes: list[FloatArray] = []  # of all rows on these
        far = 40.0 * np.linspace(0.0, 1.0, 1 << 11) ** 2  # −ln (1 − explained): −ln p bends near 0 alone
        self._table = far, _minus_log_p(-np.expm1(-far), self._n_free, self._n_basis)

    def minus_log_p(self) -> FloatArray:
        """Return −ln p of each variable, given the chosen ones."""
        explained = (self._products**2).sum(axis=1) * (1 + self._penalty) / (self._left + self._penalty)
        return np.asarray(np.interp(-np.log1p(-np.minimum(explained, 1 - 1e-16)), *self._table))

    def after(self, chosen: int) -> FloatArray:
        """Choose a variable; return the correlations of all with it."""
        row = self._scores[chosen].copy()
        for slopes, before in zip(self._slopes, self._rows, strict=True):
            row -= slopes[chosen] * before
        length = float(row @ row)
        like, along = (self._scores @ np.stack([self._scores[chosen], row], axis=1)).T
        for slopes, before in zip(self._slopes, self._rows, strict=True):
            along = along - slopes * float(before @ row)
        slopes = along / (length + self._penalty)
        self._left = np.maximum(self._left - slopes * (2 * along - slopes * length), 0.0)
        self._products -= np.outer(slopes, self._basis @ row)
        self._rows.append(row)
        self._slopes.append(slopes)
        return np.asarray(like)


def _weights(minus_log_p: FloatArray, n_vars: int) -> FloatArray:
    """Return (1 − q)² of p-values, the variables that are no candidates having p = 1."""
    order = np.argsort(-minus_log_p, kind="stable")
    of_rank = np.exp(-minus_log_p[order]) * n_vars / np.arange(1, len(order) + 1)
    q_values = np.empty(len(order))
    q_values[order] = np.minimum.accumulate(np.minimum(of_rank, 1.0)[::-1])[::-1]
    return np.asarray(np.maximum(1 - q_values, _LEAST) ** _SHRINKAGE)
