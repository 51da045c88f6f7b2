"""Arguments of `interactions` → InteractionTask: the data, the tuples to search, and the tuples to list, checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from interplay.ask.chromosome_offsets import ChromosomeOffsets, chromosome_offsets
from interplay.ask.coding import check_coding
from interplay.ask.interaction.family import TupleFamily, make_family
from interplay.ask.relabelings import allowed_relabelings
from interplay.ask.tuple_tests.prospects import PValueCaps, check_listed_method
from interplay.base.arrays import MAX_PERMUTATIONS, IntArray
from interplay.base.checks import check_choice, check_int, check_list, check_real, shown
from interplay.data.codes.coder import MISSING_CHOICES
from interplay.data.study.comparisons import Comparison
from interplay.data.study.design import is_by_chromosome
from interplay.data.study.study import Study, make_study
from interplay.data.study.subsets import ColumnSubset, split_samples
from interplay.data.study.table import Table
from interplay.data.study.table_checks import warn_of_identifiers
from interplay.infer.permutations.exchangeability import check_reach
from interplay.search.loop import Shard
from interplay.search.settings import SearchSettings, check_search_settings

#: Tuples that can be listed with groups: each is counted again in every relabeling, for its own p-value.
_MAX_LISTED_OF_GROUPS = 10_000

#: With coding="auto", tuples of tables of more values, or of more tuples times samples, are tested by levels alone:
#: products take memory of four bytes a value, and an hour and a half of a core.
_MOST_VALUES, _MOST_WORK = 10**9, 10**15

#: Why an argument does not go with groups, and what to do.
_NOT_WITH_GROUPS = {
    "max_p": "p-values of single tuples are known for listed ones only: give top",
    "holdout": "tests in new samples take these as independent: leave it out",
    "shard": "permutations need the smallest p-value of the whole search: leave it out",
    "checkpoint": "a search that is repeated for all permutations cannot be kept: leave it out",
}


@dataclass(frozen=True, eq=False)
class InteractionTask:
    """Checked arguments of `interactions`."""

    study: Study
    settings: SearchSettings
    #: The tuples to search.
    family: TupleFamily
    #: The tuples to list.
    caps: PValueCaps
    #: Arguments beyond the `settings`, for the record.
    asked: dict[str, Any]
    #: With groups only.
    n_permutations: int
    #: The part of the search to do; None for all of it.
    shard: Shard | None = None
    #: Where the offset depends on the chromosomes of a tuple; then the study has none.
    offsets: ChromosomeOffsets | None = None
    #: (searched, held out): numbers of the samples, with `holdout`.
    split: tuple[IntArray, IntArray] | None = None

    @property
    def coding(self) -> str:
        """How variables enter the tests; see `CODING_CHOICES`."""
        return str(self.asked["coding"])

    @property
    def level_coding(self) -> str:
        """How levels enter the tests of an outcome of numbers: "levels" or "dosage"."""
        return "dosage" if self.coding == "dosage" else "levels"

    @property
    def tests_products(self) -> bool:
        """Whether tuples are tested by products of scores, alone or as well; not by default in very large searches."""
        if self.coding != "auto":
            return self.coding == "product"
        n = self.study.n_samples
        is_small = n * self.family.n_vars <= _MOST_VALUES and n * self.family.n_tuples() <= _MOST_WORK
        return is_small and self.study.groups is None

    @property
    def omits_missing(self) -> bool:
        """Whether each sample is left out of the tests of tuples of which it lacks a value."""
        return self.asked["missing"] in ("omit", "auto")

    def parts(self) -> tuple[InteractionTask, Study | None]:
        """Return the task of the samples that are searched, and the samples that are held out, if there are any."""
        if self.split is None:
            return self, None
        searched, held_out = (self.study.of_samples(rows) for rows in self.split)
        return replace(self, study=searched, split=None), held_out

    def of_variables(self, kept: IntArray) -> InteractionTask:
        """Return the task of some variables, up to the same p-values; of families of all tuples."""
        settings = self.settings.of_columns(self.study.table, kept)
        family = replace(self.family, n_vars=len(kept))
        table = ColumnSubset(self.study.table, kept, keeps_numbers=True)
        return replace(self, study=replace(self.study, table=table), settings=settings, family=family)

    @cached_property
    def comparison(self) -> Comparison:
        """The variables that tuples may hold, numbered anew where these are not all, as the engines search them."""
        study, columns = self.study, self.family.columns
        table = study.table
        if columns is not None:  # one table for all outcomes of this table
            whole, made = table, columns
            table = whole.once(("columns", made.tobytes()), lambda: ColumnSubset(whole, made, keeps_numbers=True))
        return replace(study.comparisons()[0], table=table)

    @cached_property
    def search_settings(self) -> SearchSettings:
        """The settings, with `discrete` for the variables of the comparison."""
        columns = self.family.columns
        return self.settings if columns is None else self.settings.of_columns(self.study.table, columns)

    def numbers(self, searched: IntArray) -> IntArray:
        """Turn numbers of variables of the comparison into numbers of variables of the study."""
        return searched if self.family.columns is None else self.family.columns[searched]

    def recorded_settings(self) -> dict[str, Any]:
        """Return every argument as it was used, for the result."""
        return {name: value for name, value in self.settings.to_dict().items() if name != "pseudocount"} | self.asked


def check_interactions(
    X: Any,
    y: Any,
    *,
    dimensions: int,
    missing: str,
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
    order: Any,
    n_permutations: int,
    covariates: Any,
    offset: Any,
    entry: Any,
    decision: str,
    decision_divisions: int | None,
    scale: str,
    coding: str,
    checkpoint: Any,
    **settings: Any,
) -> InteractionTask:
    """Check the arguments of `interactions` that decide its result, against each other and the data."""
    dimensions = check_int("dimensions", dimensions, low=2)
    check_choice("missing", missing, (*MISSING_CHOICES, "omit"))
    study = make_study(
        X,
        y,
        strata=strata,
        groups=groups,
        order=order,
        covariates=covariates,
        offset=None if is_by_chromosome(offset) else offset,
        entry=entry,
        decision=decision,
        decision_divisions=decision_divisions,
        scale=scale,
        times=True,
    )
    study.comparisons()  # strata must fit the classes
    check_coding(coding, study, missing=missing)
    table = study.table
    not_given = {"groups": groups, "holdout": holdout, "shard": shard, "checkpoint": checkpoint}
    offsets = chromosome_offsets(offset, X, table, positions, not_given)
    if offsets is not None:
        study.outcome.check_offset()
        positions = None if min_distance is None else positions
    checked = check_search_settings(
        table,
        dimensions=dimensions,
        pseudocount=0.0,
        missing="level" if missing in ("omit", "auto") else missing,
        **settings,
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
    task = InteractionTask(
        study,
        checked,
        family,
        caps,
        asked={
            "missing": missing,
            **_known(study.compared.asked(decision_divisions)),
            "coding": coding,
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
        },
        n_permutations=check_int("n_permutations", n_permutations, low=1, high=MAX_PERMUTATIONS),
        shard=part,
        offsets=offsets,
        split=None
        if holdout is None
        else split_samples(holdout, study.outcome, study.compared, study.strata, seed=checked.random_state),
    )
    if study.groups is not None:
        _check_groups(task, {"max_p": max_p, "holdout": holdout, "shard": shard, "checkpoint": checkpoint})
    study.warn_of_clusters()
    warn_of_identifiers(table, task.family.columns)
    return task


def _check_groups(task: InteractionTask, given: dict[str, Any]) -> None:
    """Refuse arguments that do not go with groups, and significance levels that no p-value can reach.

    `given` are the arguments that have no meaning with groups; None was not given.
    """
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}={shown(value)} does not go with groups: {_NOT_WITH_GROUPS[name]}")
    caps = task.caps
    if caps.method != "holm":
        raise ValueError(
            f"p_adjust={shown(caps.method)} does not go with groups: permutations adjust p-values by themselves "
            "(Westfall and Young, family-wise error): leave it out"
        )
    if caps.top is not None and caps.top > _MAX_LISTED_OF_GROUPS:
        raise ValueError(f"top must be at most {_MAX_LISTED_OF_GROUPS} with groups, not {shown(caps.top)}")
    check_reach(allowed_relabelings(task.comparison), level=caps.level, n_permutations=task.n_permutations)


def _known(asked: dict[str, Any]) -> dict[str, Any]:
    """Leave out the scale where the outcome has none: the record is to be repeatable."""
    return {name: value for name, value in asked.items() if name != "scale" or value is not None}


def _names(table: Table, chosen: Iterable[Any] | None, argument: str) -> list[str] | None:
    """Return the names of variables that are given by names or numbers, for the record."""
    if chosen is None:
        return None
    return [table.names[v] for v in table.numbers_of(check_list(argument, chosen), argument)]
