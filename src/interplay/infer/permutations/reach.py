"""Whether relabelings are enough for a significance level; if not, the reason and what to do."""

from __future__ import annotations

import math

import numpy as np

from interplay.base.checks import warn
from interplay.infer.permutations.blocks import WholeGroups
from interplay.infer.permutations.exchangeability import Exchangeability

#: Kinds of relabelings where classes vary within groups, and words for the order of samples.
_VARYING = {"within groups": "", "in order": ", which have an order,", "shifted": ", which have an order,"}


def check_reach(
    allowed: Exchangeability, *, level: float, n_permutations: int, n_runs: int = 1, what: str = ""
) -> None:
    """Refuse a significance level that no p-value can go below.

    Parameters
    ----------
    allowed : Exchangeability
    level : float
    n_permutations : int
        As asked for.
    n_runs : int
        p-values are multiplied by this, the number of comparisons of classes.
    what : str
        Which comparison this is, where there are several.
    """
    if allowed.n_relabelings == 1:
        raise ValueError(f"{_argument(allowed)}{_of(what)}: {_why_nothing(allowed)}")
    smallest = allowed.smallest_p(n_permutations) * n_runs
    if smallest < level:
        _warn_of_fixed(allowed, what)
        return
    if allowed.n_relabelings - 1 > n_permutations:
        needed = math.floor(n_runs / level)
        needed += n_runs / (needed + 1) >= level  # the p-value must be below
        raise ValueError(
            f"n_permutations={n_permutations} gives no p-value below {smallest:.3g}, which is not below "
            f"level={level:g}: use at least {needed}"
        )
    times = f", times {n_runs} comparisons of classes" if n_runs > 1 else ""
    raise ValueError(
        f"{_argument(allowed)}{_of(what)}: {_counted_groups(allowed)} can be relabelled in "
        f"{int(allowed.n_relabelings)} ways. Therefore no p-value is below {smallest:.3g}{times}, and none can be "
        f"below level={level:g}: more {'samples' if allowed.kind == 'samples' else 'groups'} are needed, or a higher "
        "significance level"
    )


def _argument(allowed: Exchangeability) -> str:
    if allowed.kind == "samples":
        return "permutations"
    return "order" if allowed.n_groups == 1 else "groups"


def _of(what: str) -> str:
    return f", {what}" if what else ""


def _counted_groups(allowed: Exchangeability) -> str:
    if allowed.kind in _VARYING:
        groups = "one series" if allowed.n_groups == 1 else f"{allowed.n_groups} groups"
        return f"the samples of {groups}" + _VARYING[allowed.kind]
    unit = "samples" if allowed.kind == "samples" else "groups"
    labels = np.concatenate([block.labels for block in allowed.blocks if isinstance(block, WholeGroups)])
    listed = " against ".join(str(number) for number in np.bincount(labels))
    return f"{listed} {unit}" + (" in their strata" if len(allowed.blocks) > 1 else "")


def _why_nothing(allowed: Exchangeability) -> str:
    if allowed.kind == "samples":
        return (
            "no two samples of one stratum have different classes, so that no labels can be exchanged: use other strata"
        )
    if allowed.kind == "whole groups":
        return (
            "no two groups with samples in the same strata have different classes, so that no labels can be exchanged: "
            "use other strata, or none"
        )
    return (
        "in no group do samples of one stratum have different classes, and no two groups of the same size have "
        "different ones, so that no labels can be exchanged: leave out the groups of two classes, or use other strata"
    )


def _warn_of_fixed(allowed: Exchangeability, what: str) -> None:
    """Warn where most samples never change their label: the test is valid, but has little power."""
    share = allowed.n_fixed / len(allowed.codes)
    if share <= 0.5:
        return
    reason = (
        "y varies within some groups, so that labels are exchanged only within groups and between those of one size"
        if allowed.kind in _VARYING
        else "labels are exchanged only between groups with samples in the same strata"
    )
    warn(
        f"{_argument(allowed)}{_of(what)}: {share:.0%} of the samples keep their label in all permutations, which "
        f"reduces the power ({reason}): leave out the groups that cause this, or use other strata"
    )
