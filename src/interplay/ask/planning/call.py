"""power(): a study in numbers → the chance that `interactions` finds a tuple, or the samples that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from interplay.ask.planning.design import Design, make_design
from interplay.ask.planning.design_power import design_power
from interplay.ask.planning.samples_needed import FEWEST, MOST, samples_needed
from interplay.base.arrays import FloatArray
from interplay.base.checks import check_int, check_real, shown


def power(
    *,
    dimensions: int = 2,
    n_samples: Any = 400,
    n_vars: int = 50,
    effect: Any = 0.35,
    outcome: str = "number",
    power: float | None = None,
    levels: int | Sequence[int] = 2,
    shares: Any = None,
    class_shares: Sequence[float] = (0.5, 0.5),
    event_share: float = 1.0,
    scale: str = "ranks",
    level: float = 0.05,
    n_tests: int | None = None,
) -> float | int | FloatArray:
    """Return the chance that `interactions` finds a tuple that interacts, or the samples that this needs.

    It is the power of ``interactions(X, y, dimensions=dimensions)``: one tuple of independent variables interacts, all
    tuples are searched, and Holm's or Bonferroni's method adjusts p-values for all of them. So the p-value of the tuple
    must be below `level` / `n_tests`. The test is that of the search: F for numbers; Zelen's exact test for two levels
    and two classes; otherwise G², with the search's correction by a bootstrap. Cells are as large as chance makes them:
    the power is a mean over 1024 drawn sizes of cells, always the same ones.

    Parameters
    ----------
    dimensions : int
        Members of the tuple.
    n_samples : int, sequence of int, or None
        Samples of the study. None: return the samples that `power` needs.
    n_vars : int
        Variables of the table. They decide the number of tuples, C(n_vars, dimensions).
    effect : float or array
        For numbers: half the difference between the cells of a pure interaction, in standard deviations of the noise,
        so that cells have means of ±effect. For classes: the log odds ratio of the interaction, as in the column log_or
        of ``Interactions.table``; cells of two levels have log odds of ±effect / 2^dimensions. For times: the log
        hazard ratio of the interaction, likewise. Between the outer ones of more than two levels, effects change in
        equal steps. An array with an axis for each member gives the effects of all cells themselves: means, log odds or
        log hazards.
    outcome : {"number", "classes", "times"}
        Kind of the outcome.
    power : float, optional
        With ``n_samples=None``: the power that is wanted, 0.8 if not given.
    levels : int or sequence of int
        Levels of all members, or of each.
    shares : sequence of float, or one for each member, optional
        Shares of the levels, such as (0.49, 0.42, 0.09) of genotypes. By default the variables are numbers that are cut
        at quantiles into levels of equal size.
    class_shares : sequence of float
        For classes: shares of the classes in the study, two or more. Log odds of more than two classes change in equal
        steps from the first to the last class.
    event_share : float
        For times: share of the samples whose event is seen.
    scale : {"ranks", "values"}
        For numbers: as in `interactions`.
    level : float
        Significance level.
    n_tests : int, optional
        Number of tuples that are searched, where `variables` or `partners` limit them.

    Returns
    -------
    float, array or int
        The power, one for each number of samples; or the samples needed.

    Notes
    -----
    Cut numbers are tested a second time by the search, beside smooth effects of the numbers. Without `shares` this is
    counted: it costs 4 points at 300 samples, and 9 at 100. The power with `discretizations`, `strata`, `groups` or
    `covariates` is another one.

    Examples
    --------
    >>> import interplay
    >>> round(interplay.power(n_samples=300, n_vars=50, effect=0.35), 2)
    0.96
    >>> interplay.power(n_samples=None, power=0.8, n_vars=1000, effect=0.35)
    337
    >>> three = interplay.power(n_samples=[500, 1000], dimensions=3, levels=3, effect=0.35)
    >>> three.round(2).tolist()
    [0.05, 0.52]
    """
    design = make_design(
        dimensions=dimensions,
        n_vars=n_vars,
        effect=effect,
        outcome=outcome,
        levels=levels,
        shares=shares,
        class_shares=class_shares,
        event_share=event_share,
        scale=scale,
        level=level,
        n_tests=n_tests,
    )
    if n_samples is None:
        return _needed(design, power)
    if power is not None:
        raise ValueError("power and n_samples cannot be given together: give n_samples=None for the samples needed")
    if isinstance(n_samples, str) or not isinstance(n_samples, Iterable):
        return design_power(design, check_int("n_samples", n_samples, low=FEWEST, high=MOST))
    return np.array([design_power(design, check_int("n_samples", n, low=FEWEST, high=MOST)) for n in n_samples])


def _needed(design: Design, power: Any) -> int:
    wanted = 0.8 if power is None else check_real("power", power, low=0, high=1, low_open=True, high_open=True)
    found = None if not design.effects.any() else samples_needed(lambda n: design_power(design, n), wanted)
    if found is None:
        raise ValueError(
            f"effect={shown(float(np.abs(design.effects).max()))} of a cell does not reach power={wanted:g} with up to "
            f"{MOST:.0e} samples: raise effect, or lower power"
        )
    return found
