"""Arguments of `interactions` → a checked task: what to search, in what, and what to list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from interplay.base.arrays import IntArray
from interplay.base.checks import check_choice, check_int, check_list, check_real
from interplay.codes.coder import MISSING_CHOICES, Discrete
from interplay.interaction.data import InteractionData
from interplay.interaction.family import make_family
from interplay.interaction.in_groups import check_groups
from interplay.interaction.p_value_caps import PValueCaps, check_listed_method
from interplay.search.loop import Shard
from interplay.search.settings import MAX_PERMUTATIONS, SearchSettings, check_search_settings
from interplay.study.clustered_samples import warn_of_clusters
from interplay.study.covariates import Covariates, make_covariates
from interplay.study.groups import make_groups
from interplay.study.named_columns import take_named
from interplay.study.outcome import decision_classes
from interplay.study.sample_split import split_samples
from interplay.study.strata import check_strata, make_strata
from interplay.study.table import Table


@dataclass(frozen=True, eq=False)
class InteractionTask:
    """Checked arguments of `interactions`.

    Attributes
    ----------
    data : InteractionData
    settings : SearchSettings
    caps : PValueCaps
        What is to be listed.
    asked : dict
        Arguments beyond the `settings`, for the record.
    n_permutations : int
        With groups only.
    covariates : Covariates or None
    split : (searched, held out) or None
        Numbers of the samples, with `holdout`.
    """

    data: InteractionData
    settings: SearchSettings
    caps: PValueCaps
    asked: dict[str, Any]
    n_permutations: int
    covariates: Covariates | None
    split: tuple[IntArray, IntArray] | None

    @property
    def shard(self) -> Shard | None:
        """The part of the search to do; None for all of it."""
        return None if self.asked["shard"] is None else Shard.parse(self.asked["shard"])

    @property
    def omits_missing(self) -> bool:
        """Whether each sample is left out of the tests of tuples of which it lacks a value."""
        return bool(self.asked["missing"] == "omit")

    @property
    def searched(self) -> InteractionData:
        """The samples that are searched: all of them, or those that are not held out."""
        return self.data if self.split is None else self._of_samples(self.split[0])

    @property
    def held_out(self) -> InteractionData:
        """The samples in which tuples are tested after the search."""
        assert self.split is not None
        return self._of_samples(self.split[1])

    def _of_samples(self, rows: IntArray) -> InteractionData:
        return self.data.of_samples(rows, self.asked["decision"], self.asked["decision_divisions"])


def check_interactions(
    X: Any,
    y: Any,
    *,
    dimensions: int,
    divisions: int,
    discretizations: int,
    range_: float | None,
    variables: Iterable[Any] | None,
    require: str,
    partners: Iterable[Any] | None,
    min_distance: float | None,
    positions: Any,
    p_adjust: str,
    level: float,
    max_p: float | None,
    top: int | None,
    holdout: float | int | None,
    shard: str | tuple[int, int] | None,
    strata: Any,
    groups: Any,
    n_permutations: int,
    covariates: Any,
    decision: str,
    decision_divisions: int,
    discrete: Discrete,
    missing: str,
    random_state: Any,
    checkpoint: Any,
) -> InteractionTask:
    """Check the arguments of `interactions` that decide its result, and say what is to be done."""
    dimensions = check_int("dimensions", dimensions, low=2)
    check_choice("missing", missing, (*MISSING_CHOICES, "omit"))
    target = y if isinstance(y, str) else getattr(y, "name", None)
    named = [given for given in (y, strata, covariates) if isinstance(given, str)]
    named += covariates if isinstance(covariates, list) else []
    table, (y, strata, groups, covariates) = take_named(X, y=y, strata=strata, groups=groups, covariates=covariates)
    known = make_covariates(covariates, n_samples=table.n_samples)
    classes = decision_classes(y, n_samples=table.n_samples, decision=decision, decision_divisions=decision_divisions)
    within = make_strata(strata, n_samples=table.n_samples)
    if within is not None:
        check_strata(within, classes)
    together = make_groups(groups, n_samples=table.n_samples)
    settings = check_search_settings(
        table,
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        range_=range_,
        pseudocount=0.0,
        discrete=discrete,
        missing="level" if missing == "omit" else missing,
        random_state=random_state,
    )
    family = make_family(
        table,
        dimensions,
        variables=variables,
        require=require,
        partners=partners,
        positions=positions,
        min_distance=min_distance,
    )
    caps = PValueCaps(
        method=check_listed_method(p_adjust),
        level=check_real("level", level, low=0.0, high=1.0, low_open=True, high_open=True),
        n_tests=family.n_tuples(),
        max_p=None if max_p is None else check_real("max_p", max_p, low=0.0, high=1.0, low_open=True),
        top=None if top is None else check_int("top", top, low=1),
    )
    caps.check()
    part = None if shard is None else Shard.parse(shard)
    if part is not None and holdout is not None:
        raise ValueError("shard and holdout cannot be given together: merge all parts, then replicate in other samples")
    if known is not None and (part is not None or holdout is not None):
        other = "holdout" if part is None else "shard"
        raise ValueError(f"covariates and {other} cannot be given together: the second tests need the whole result")
    split = None if holdout is None else split_samples(holdout, classes, within, seed=settings.random_state)
    asked = {
        "missing": missing,
        "decision": classes.kind,
        "decision_divisions": decision_divisions,
        "variables": _names(table, variables, "variables"),
        "require": require,
        "partners": _names(table, partners, "partners"),
        "min_distance": min_distance,
        "p_adjust": p_adjust,
        "level": level,
        "max_p": max_p,
        "top": top,
        "holdout": holdout,
        "shard": None if part is None else str(part),
    }
    data = InteractionData(table, y, within, classes, family, together, target=None if target is None else str(target))
    if together is not None:
        beside = {"max_p": max_p, "holdout": holdout, "shard": shard, "checkpoint": checkpoint}
        n_permutations = check_groups(data, caps, n_permutations=n_permutations, given=beside)
    else:
        n_permutations = check_int("n_permutations", n_permutations, low=1, high=MAX_PERMUTATIONS)
        warn_of_clusters(table, classes, within, taken=named)
    return InteractionTask(data, settings, caps, asked, n_permutations, known, split)


def _names(table: Table, chosen: Iterable[Any] | None, argument: str) -> list[str] | None:
    """Return what a list of names and numbers names, for the record."""
    if chosen is None:
        return None
    return [table.names[v] for v in table.numbers_of(check_list(argument, chosen), argument)]
