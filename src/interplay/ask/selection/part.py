"""Part: what one of several jobs found of a selection, and its file."""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, get_type_hints

from interplay.ask.selection.runs import ScoreTests, SearchedRun
from interplay.ask.selection.settings import SelectionSettings
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_path
from interplay.base.tuples import MaxGains
from interplay.data.study.design import Covariates, Strata
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.numbers import NumberOutcome
from interplay.data.study.outcomes.ordered import OrderedClasses
from interplay.data.study.outcomes.outcome import Outcome
from interplay.data.study.outcomes.targets import ResidualModel, Target
from interplay.data.study.outcomes.times import Survival
from interplay.files.archive import FileFormat, read_archive, write_archive
from interplay.files.types import Check, fits, have_types
from interplay.infer.product_maxima import ProductMaxima
from interplay.search.engines.routing import are_counts
from interplay.search.loop import Shard
from interplay.show.results.provenance import Provenance


@dataclass(frozen=True, eq=False)
class Part:
    """The result of one shard of a selection; `merge_parts` makes a Selection from all of them.

    Attributes
    ----------
    shard : Shard
        Number of this part, and number of all parts.
    names : list of str
        Names of all variables.
    about : dict
        What decides the gains: data, settings, version.
    settings : dict
        Every argument as it was used.
    provenance : dict
        As in a Selection: data, engine, versions, seconds.
    decision_codes : (n_samples,) int64
        The class of each sample; empty if none are compared.
    strata_codes : (n_samples,) int64
        The stratum of each sample; empty without strata.
    group_codes : (n_samples,) int64
        The group of each sample; empty without groups.
    runs : tuple of SearchedRun
        The maxima over this part's tuples.
    covariates : Covariates, optional
    given : NumberOutcome, OrderedClasses or Survival, optional
        The outcome, if it is no classes; or the times that these are made of.
    offset : (n_samples,) float64, optional
    """

    shard: Shard
    names: Annotated[list[str], Check("n_vars")]
    about: dict[str, Any]
    settings: dict[str, Any]
    provenance: dict[str, Any]
    decision_codes: Annotated[IntArray, Check("n_samples", may_be_empty=True)]
    strata_codes: Annotated[IntArray, Check("n_samples", may_be_empty=True)]
    group_codes: Annotated[IntArray, Check("n_samples", may_be_empty=True)]
    runs: tuple[SearchedRun, ...]
    covariates: Covariates | None = None
    given: NumberOutcome | OrderedClasses | Survival | None = None
    offset: FloatArray | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the part to one file, for `merge_parts`."""
        write_archive(path, _FORMAT, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Part:
        """Read what `save` wrote."""
        part: Part = read_archive(check_path("path", path), _FORMAT)
        return part

    def is_consistent(self) -> bool:
        """Say whether settings are there, and samples and runs belong together: a file may say anything."""
        if not have_types(self.about, _ABOUT):
            return False
        n_samples = self.about["n_samples"]
        return (
            have_types(_UNUSED | self.settings, _SETTINGS)
            and have_types(self.provenance, _PROVENANCE)
            and fits(Provenance.of(self.provenance), Provenance)
            and "name" in self.provenance["engine"]
            and are_counts(self.provenance["searchers"])
            and self.about["n_vars"] == len(self.names)
            and len(self.decision_codes) in ((n_samples,) if self.given is None else (0, n_samples))
            and (self.given is None or self.given.is_of(n_samples))
            and (self.covariates is None or self.covariates.design.shape[:1] == (n_samples,))
            and (self.offset is None or self.offset.shape == (n_samples,))
            and len(self.runs) > 0
            and all((run.permuted is not None) == bool(self.settings.get("permutations")) for run in self.runs)
            and [run.dimensions for run in self.runs] == self._dimensions_of_runs()
        )

    def outcome(self, strata: Strata | None) -> tuple[Outcome, Target]:
        """Return the outcome, and what is compared of it: residuals of times, or these cut."""
        n_classes = self.about["n_classes"]
        classes = DecisionClasses(self.decision_codes, list(range(n_classes)), "classes")
        outcome = self.given or classes
        return outcome, classes if len(classes.codes) else outcome.compared(strata)

    def _dimensions_of_runs(self) -> list[int]:
        """Return what the runs should be of: comparison by comparison, all dimensions that the settings ask for."""
        searched = SelectionSettings.of(self.settings).searched
        return list(searched) * (len(self.runs) // len(searched))

    def __repr__(self) -> str:
        dimensions = self.settings["dimensions"]
        searched = dimensions if isinstance(dimensions, int) else "+".join(map(str, dimensions))
        return f"<Part {self.shard}: {len(self.names)} variables, {searched}D>"


_FORMAT = FileFormat(
    name="part",
    version=4,
    root=Part,
    types=(
        Shard,
        SearchedRun,
        MaxGains,
        ScoreTests,
        ProductMaxima,
        Covariates,
        Survival,
        NumberOutcome,
        OrderedClasses,
        ResidualModel,
    ),
    in_words="part of interplay",
    advice=": search this shard again",
)

#: What merging looks up.
_SETTINGS = get_type_hints(SelectionSettings) | {"discrete": str | list[Any], "dimensions": int | tuple[int, ...]}
#: Settings that are not used are left out.
_UNUSED = {field.name: field.default for field in fields(SelectionSettings) if field.default is not MISSING}
_ABOUT = {"n_samples": int, "n_vars": int, "n_classes": int, "data fingerprint": str}
_PROVENANCE = {"engine": dict[str, Any], "searchers": dict[str, Any], "seconds": float}
