"""power(): a study in numbers → the chance that `interactions` finds a tuple, or the samples that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from interplay.ask.planning.design import Design, make_design
from interplay.base.arrays import FloatArray
from interplay.base.checks import check_int, check_real, shown
from interplay.infer.power.class_power import class_power, drawn_cell_counts
from interplay.infer.power.number_power import n_smooth_columns, number_power, time_power

#: Fewest and most samples that are tried.
FEWEST, MOST = 8, 100_000_000

_MAX_STEPS = 200


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


def samples_needed(power_of: Callable[[int], float], wanted: float) -> int | None:
    """Return the fewest samples from which on the power is as wanted, by doubling and bisection; None of too many.

    Examples
    --------
    >>> samples_needed(lambda n: min(1.0, n / 1000), 0.8)
    800
    """
    low, high = FEWEST, FEWEST
    while power_of(high) < wanted:
        if high >= MOST:
            return None
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= wanted else (middle, high)
    return high


def design_power(design: Design, n_samples: int) -> float:
    """Return the chance that the tuple of a design is significant in a search of so many samples."""
    counts = drawn_cell_counts(design.shares, n_samples, is_cut=design.is_cut)
    threshold = design.log_threshold
    n_smooth = n_smooth_columns(design.effects.shape) if design.is_cut else 0
    if design.outcome == "number":
        return number_power(
            design.effects,
            counts,
            design.cell_shares,
            log_threshold=threshold,
            scale=design.scale,
            n_smooth=n_smooth,
        )
    if design.outcome == "times":
        return time_power(design.effects, counts, event_share=design.event_share, log_threshold=threshold)
    return class_power(class_chances(design), counts, log_threshold=threshold, n_smooth=n_smooth)


def class_chances(design: Design) -> FloatArray:
    """Return the chance of each class in each cell, (levels …, n_classes), with the shares of classes of the design.

    Log odds of more than two classes are spread evenly between the first and the last class.
    """
    wanted, cells = design.class_shares, design.cell_shares
    log_odds = np.multiply.outer(design.effects, np.linspace(-0.5, 0.5, len(wanted)))
    intercept = np.log(wanted)
    for _ in range(_MAX_STEPS):
        raised = log_odds + intercept
        chances = np.exp(raised - raised.max(axis=-1, keepdims=True))
        chances /= chances.sum(axis=-1, keepdims=True)
        found = np.tensordot(cells, chances, axes=cells.ndim)
        if np.abs(found - wanted).max() < 1e-12:
            break
        intercept = intercept + np.log(wanted / found)
    return np.asarray(chances)
