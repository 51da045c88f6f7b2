"""Arguments of power() → Design: levels and their shares, effects of cells, number of tuples."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, log, prod
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.checks import check_choice, check_int, check_numbers, check_real, shown
from interplay.data.study.outcomes.numbers import SCALE_CHOICES

OUTCOMES = ("number", "classes", "times")

#: Cells of a tuple: of more, no study has the samples.
MAX_CELLS = 4096


@dataclass(frozen=True, eq=False)
class Design:
    """A study with one tuple that interacts.

    Attributes
    ----------
    outcome : str
        "number", "classes" or "times".
    shares : tuple of (n_levels,) float64
        Of the levels of each member.
    is_cut : bool
        Whether levels come from cuts at quantiles, so that each has its share of the samples exactly.
    effects : (levels …) float64
        Of the cells: means in standard deviations, log odds, or log hazards.
    n_tests : int
        Tuples that p-values are adjusted for.
    level : float
        Significance level.
    class_shares : (n_classes,) float64
    event_share : float
    scale : str
    """

    outcome: str
    shares: tuple[FloatArray, ...]
    is_cut: bool
    effects: FloatArray
    n_tests: int
    level: float
    class_shares: FloatArray
    event_share: float
    scale: str

    @property
    def log_threshold(self) -> float:
        """Logarithm of the p-value that the tuple needs: Holm's first step, which is Bonferroni's."""
        return log(self.level) - log(self.n_tests)

    @property
    def cell_shares(self) -> FloatArray:
        weights = np.ones(())
        for share in self.shares:
            weights = np.multiply.outer(weights, share)
        return weights

    @property
    def test_in_words(self) -> str:
        """The test whose power this is."""
        if self.outcome == "number":
            return f"the F test of cells of {self.scale}"
        if self.outcome == "times":
            return "the likelihood ratio of Cox's model"
        two = all(len(share) == 2 for share in self.shares) and len(self.class_shares) == 2
        return "the exact test" if two else "the likelihood ratio of log odds, corrected by a bootstrap"


def make_design(
    *,
    dimensions: Any,
    n_vars: Any,
    effect: Any,
    outcome: Any,
    levels: Any,
    shares: Any,
    class_shares: Any,
    event_share: Any,
    scale: Any,
    level: Any,
    n_tests: Any,
) -> Design:
    """Check the arguments of `power` that describe a study."""
    dimensions = check_int("dimensions", dimensions, low=2, high=12)
    n_vars = check_int("n_vars", n_vars, low=dimensions)
    check_choice("outcome", outcome, OUTCOMES)
    check_choice("scale", scale, SCALE_CHOICES)
    level = check_real("level", level, low=0, high=1, low_open=True, high_open=True)
    n_tests = comb(n_vars, dimensions) if n_tests is None else check_int("n_tests", n_tests, low=1)
    of_levels = _levels(levels, dimensions)
    of_classes = _shares("class_shares", class_shares)
    event_share = check_real("event_share", event_share, low=0, high=1, low_open=True)
    return Design(
        outcome=outcome,
        shares=_shares_of_members(shares, of_levels),
        is_cut=shares is None,
        effects=_effects(effect, of_levels, outcome),
        n_tests=n_tests,
        level=level,
        class_shares=of_classes,
        event_share=event_share,
        scale=scale,
    )


def _levels(given: Any, dimensions: int) -> tuple[int, ...]:
    if isinstance(given, list | tuple | np.ndarray):
        if len(given) != dimensions:
            raise ValueError(f"levels must be a number, or one for each of {dimensions} members, not {shown(given)}")
        levels = tuple(check_int("levels", n, low=2, high=256) for n in given)
    else:
        levels = (check_int("levels", given, low=2, high=256),) * dimensions
    if prod(levels) > MAX_CELLS:
        raise ValueError(
            f"levels={shown(given)} in {dimensions} dimensions make {prod(levels)} cells: at most {MAX_CELLS}"
        )
    return levels


def _shares(name: str, given: Any) -> FloatArray:
    shares = check_numbers(name, given, (None,))
    if len(shares) < 2 or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise ValueError(f"{name} must be two or more positive shares that add up to 1, not {shown(given)}")
    return np.asarray(shares / shares.sum())


def _shares_of_members(given: Any, levels: tuple[int, ...]) -> tuple[FloatArray, ...]:
    """Return the shares of each member's levels; one list serves all members."""
    if given is None:
        return tuple(np.full(n, 1 / n) for n in levels)
    try:
        is_one = np.ndim(given[0]) == 0
    except (TypeError, IndexError, KeyError):
        raise TypeError(f"shares must be a list of shares, or one list for each member, not {shown(given)}") from None
    found = [_shares("shares", given)] * len(levels) if is_one else [_shares("shares", one) for one in given]
    if len(found) != len(levels) or any(len(one) != n for one, n in zip(found, levels, strict=False)):
        raise ValueError(
            f"shares must have a share for each level, {' × '.join(map(str, levels))} levels, not {shown(given)}"
        )
    return tuple(found)


def _effects(given: Any, levels: tuple[int, ...], outcome: str) -> FloatArray:
    """Return the effects of cells: of a number, that of a pure interaction, which grows along each member."""
    if np.ndim(given) == 0:
        effect = check_real("effect", given, low=-1e6, high=1e6)
        pattern = np.ones(())
        for n in levels:
            pattern = np.multiply.outer(pattern, np.linspace(-1, 1, n))
        # The log odds ratio of an interaction is a signed sum over 2^k corners.
        return np.asarray(pattern * (effect if outcome == "number" else effect / 2 ** len(levels)))
    cells = np.asarray(given)
    if cells.dtype.kind not in "iuf" or cells.shape != levels or not np.isfinite(cells).all():
        raise ValueError(
            f"effect must be a number, or an array of finite numbers of shape {levels}, not {shown(given)}"
        )
    return cells.astype(np.float64)
