"""power(): a study in numbers → the chance that `interactions` finds a tuple, or the samples that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import comb, log, pi, prod
from typing import Any

import numpy as np

from interplay.ask.coding import CODING_CHOICES
from interplay.base.arguments import taken_by
from interplay.base.arrays import FloatArray
from interplay.base.checks import check_choice, check_int, check_numbers, check_real, shown
from interplay.data.study.outcomes.numbers import SCALE_CHOICES
from interplay.datasets.penetrance import genotype_shares
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
    effect: Any = None,
    h2: float | None = None,
    r2_tag: float | Sequence[float] | None = None,
    outcome: str = "number",
    power: float | None = None,
    levels: int | Sequence[int] = 2,
    shares: Any = None,
    maf: float | Sequence[float] | None = None,
    class_shares: Sequence[float] = (0.5, 0.5),
    event_share: float = 1.0,
    scale: str = "ranks",
    coding: str = "levels",
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
    effect : float or array, optional
        0.35 if neither this nor `h2` is given. For numbers: half the difference between the cells of a pure
        interaction, in standard deviations of the noise, so that cells have means of ±effect. For classes: the log odds
        ratio of the interaction, as in the column log_or of ``Interactions.table``; cells of two levels have log odds
        of ±effect / 2^dimensions. For times: the log hazard ratio of the interaction, likewise. Between the outer ones
        of more than two levels, effects change in equal steps. An array with an axis for each member gives the effects
        of all cells themselves: means, log odds or log hazards.
    h2 : float, optional
        Instead of `effect`: the share of the variance that the interaction explains, that of the product of the
        members' standardised levels (additive × additive for genotypes). Of two classes it is the variance of p(case)
        over p(1 − p), with the classes' shares in the study; of times that of their logarithms, before censoring, as in
        `datasets.make_epistasis`.
    r2_tag : float or sequence of float, optional
        With `h2`: squared correlation of the alleles of each typed variant and its cause, for all members or each. Tags
        show `h2` times the product over the members.
    outcome : {"number", "classes", "times"}
        Kind of the outcome.
    power : float, optional
        With ``n_samples=None``: the power that is wanted, 0.8 if not given.
    levels : int or sequence of int
        Levels of all members, or of each.
    shares : sequence of float, or one for each member, optional
        Shares of the levels, such as (0.49, 0.42, 0.09) of genotypes. By default the variables are numbers that are cut
        at quantiles into levels of equal size.
    maf : float or sequence of float, optional
        Instead of `shares`: frequency of the rarer allele of all members, or of each. There are three levels then, with
        the shares of Hardy–Weinberg equilibrium.
    class_shares : sequence of float
        For classes: shares of the classes in the study, two or more. Log odds of more than two classes change in equal
        steps from the first to the last class.
    event_share : float
        For times: share of the samples whose event is seen.
    scale : {"ranks", "values"}
        For numbers: as in `interactions`.
    coding : {"levels", "auto", "product", "dosage"}
        Which test of `interactions`: "levels" is that of all cells; "product" and "dosage", for pairs of genotypes and
        a number, that of the product; "auto" the better one of both for the number of ways in which `interactions`
        tests the tuple. Of other tuples "auto" is the power by levels for that number, and products or shapes may add
        to it.
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
    counted: it costs 4 points at 300 samples, and 9 at 100. That numbers must be significant with robust variances,
    too, is counted for levels, and not for dosages, which lose 2 points by it at 300 samples. The power with
    `discretizations`, `strata`, `groups` or `covariates` is another one.

    Examples
    --------
    >>> import interplay
    >>> round(interplay.power(n_samples=300, n_vars=50, effect=0.35), 2)
    0.96
    >>> interplay.power(n_samples=None, power=0.8, n_vars=1000, effect=0.35)
    340
    >>> three = interplay.power(n_samples=[500, 1000], dimensions=3, levels=3, effect=0.35)
    >>> three.round(2).tolist()
    [0.04, 0.47]

    A pair of variants that makes 1 % of the variance of a trait, among a million pairs:

    >>> interplay.power(n_samples=None, h2=0.01, maf=(0.3, 0.2), r2_tag=0.9, coding="dosage", n_tests=10**6)
    4881
    """
    arguments = dict(locals())
    design = make_design(**taken_by(make_design, arguments))
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
    if design.coding != "auto":
        return _power(design, n_samples, design.log_threshold)
    codings = ["levels", "product"] if design.has_products else ["levels"]
    paid = design.log_threshold - log(design.n_ways)
    return max(_power(replace(design, coding=one), n_samples, paid) for one in codings)


def _power(design: Design, n_samples: int, threshold: float) -> float:
    counts = drawn_cell_counts(design.shares, n_samples, is_cut=design.is_cut)
    n_smooth = n_smooth_columns(design.effects.shape) if design.is_cut else 0
    if design.outcome == "number":
        return number_power(
            design.effects,
            counts,
            design.cell_shares,
            log_threshold=threshold,
            scale=design.scale,
            n_smooth=n_smooth,
            coding="levels" if design.coding == "levels" else "dosage",
        )
    if design.outcome == "times":
        share = design.event_share
        return time_power(design.effects, counts, event_share=share, log_threshold=threshold, n_smooth=n_smooth)
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


OUTCOMES = ("number", "classes", "times")

#: Cells of a tuple: of more, no study has the samples.
MAX_CELLS = 4096


@dataclass(frozen=True, eq=False)
class Design:
    """A study with one tuple that interacts."""

    #: "number", "classes" or "times".
    outcome: str
    #: tuple of (n_levels,): of the levels of each member.
    shares: tuple[FloatArray, ...]
    #: Whether levels come from cuts at quantiles, so that each has its share of the samples exactly.
    is_cut: bool
    #: (levels …): of the cells: means in standard deviations, log odds, or log hazards.
    effects: FloatArray
    #: Tuples that p-values are adjusted for.
    n_tests: int
    #: Significance level.
    level: float
    class_shares: FloatArray  #: (n_classes,)
    event_share: float
    scale: str
    #: As in `interactions`.
    coding: str

    @property
    def has_products(self) -> bool:
        """Whether the power of the test of the product is known: of pairs of genotypes and a number."""
        return self.outcome == "number" and not self.is_cut and len(self.shares) == 2 and self.n_ways > 1

    @property
    def n_ways(self) -> int:
        """In how many ways `interactions` tests the tuple by default."""
        if self.is_cut:
            return 3 if len(self.shares) == 2 else 2
        return 1 if all(len(share) == 2 for share in self.shares) else 2

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
        if self.coding in ("dosage", "product"):
            return f"the F test of the product of dosages, of {self.scale}"
        if self.coding == "auto" and self.n_ways > 1:
            other = ", or of the product of dosages" if self.has_products else ""
            return f"{replace(self, coding='levels').test_in_words}{other}, p times {self.n_ways}"
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
    h2: Any,
    r2_tag: Any,
    outcome: Any,
    levels: Any,
    shares: Any,
    maf: Any,
    class_shares: Any,
    event_share: Any,
    scale: Any,
    coding: Any,
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
    check_choice("coding", coding, CODING_CHOICES)
    if maf is not None:
        if shares is not None or levels not in (2, 3):
            raise ValueError("maf says how many levels there are and how large: leave levels and shares out")
        levels, shares = 3, [genotype_shares(q, 2) for q in _of_members("maf", maf, dimensions, high=0.5)]
    if coding in ("dosage", "product") and (outcome != "number" or shares is None or dimensions > 2):
        raise ValueError(
            f"coding={coding!r} is for pairs of genotypes and an outcome of numbers: give maf, or leave it out"
        )
    of_levels = _levels(levels, dimensions)
    of_classes = _shares("class_shares", class_shares)
    event_share = check_real("event_share", event_share, low=0, high=1, low_open=True)
    of_members = _shares_of_members(shares, of_levels)
    if h2 is None:
        if r2_tag is not None:
            raise ValueError("r2_tag is used with h2: give h2 in place of effect, or leave r2_tag out")
        effects = _effects(0.35 if effect is None else effect, of_levels, outcome)
    else:
        if effect is not None:
            raise ValueError("effect and h2 cannot be given together: leave one of them out")
        seen = check_real("h2", h2, low=0, high=1, high_open=True)
        if r2_tag is not None:
            seen *= prod(_of_members("r2_tag", r2_tag, dimensions, high=1.0))
        effects = _effects_of_share(seen, of_members, outcome, of_classes)
    return Design(
        outcome=outcome,
        shares=of_members,
        is_cut=shares is None,
        effects=effects,
        n_tests=n_tests,
        level=level,
        class_shares=of_classes,
        event_share=event_share,
        scale=scale,
        coding=coding,
    )


def _of_members(name: str, given: Any, dimensions: int, *, high: float) -> list[float]:
    """Return a number above 0 for each member; one serves all."""
    several = list(given) if isinstance(given, list | tuple | np.ndarray) else [given] * dimensions
    if len(several) != dimensions:
        raise ValueError(f"{name} must be a number, or one for each of {dimensions} members, not {shown(given)}")
    return [check_real(name, one, low=0, high=high, low_open=True) for one in several]


def _effects_of_share(h2: float, shares: tuple[FloatArray, ...], outcome: str, class_shares: FloatArray) -> FloatArray:
    """Return effects of cells in proportion to the product of standardised levels, which explain a share of variance.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> _effects_of_share(0.2, (half, half), "number", half).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    pattern = np.ones(())
    for share in shares:
        values = np.arange(len(share)) - share @ np.arange(len(share))
        pattern = np.multiply.outer(pattern, values / np.sqrt(share @ values**2))
    if outcome != "classes":
        # The logarithm of an exponential time has the variance π²/6.
        noise = pi**2 / 6 if outcome == "times" else 1.0
        return np.asarray(pattern * np.sqrt(noise * h2 / (1 - h2)))
    if len(class_shares) > 2:
        raise ValueError("h2 is for two classes, numbers and times: give effect for more classes")
    chance = class_shares[1] + pattern * np.sqrt(h2 * class_shares[0] * class_shares[1])
    if not ((chance > 0) & (chance < 1)).all():
        raise ValueError(
            f"h2={h2:g} cannot be had with these shares: the chance of the second class would be "
            f"{chance.min():.3g} to {chance.max():.3g} in the cells; lower h2"
        )
    return np.asarray(np.log(chance / (1 - chance)))


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
