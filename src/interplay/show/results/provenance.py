"""Settings and provenance of a result: as plain entries for users and files, and typed, for all that shows them."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Annotated, Any, Self

from interplay.data.codes.coder import MISSING_CHOICES
from interplay.data.study.comparisons import MULTICLASS_CHOICES
from interplay.data.study.outcomes.classes import DECISION_CHOICES
from interplay.data.study.outcomes.numbers import SCALE_CHOICES
from interplay.data.study.outcomes.words import CLASSES, NUMBERS, TIMES, WORDS, Words
from interplay.files.types import Check
from interplay.infer.null_fit import FITS
from interplay.infer.p_values import ADJUST_METHODS
from interplay.search.engines.routing import SearcherCounts, summed_counts


class _Entries:
    """Typed fields of a dict, by the names of its keys; other keys are for users alone."""

    @classmethod
    def of(cls, entries: Mapping[str, Any]) -> Self:
        """Return the fields that there are; what is not given has its default."""
        return cls._filled(entries)

    @classmethod
    def _filled(cls, entries: Mapping[str, Any]) -> Self:
        given = {each.name for each in fields(cls)} & entries.keys()  # type: ignore[arg-type]
        return cls(**{name: entries[name] for name in given})


@dataclass(frozen=True, kw_only=True)
class Settings(_Entries):
    """Arguments of a search, as far as tables, summaries, reports and replications read them."""

    dimensions: int | tuple[int, ...]
    divisions: Annotated[int, Check(low=1)]
    discretizations: Annotated[int, Check(low=1)]
    random_state: int
    missing: Annotated[str, Check(among=(*MISSING_CHOICES, "omit"))]
    decision: Annotated[str, Check(among=DECISION_CHOICES)]
    p_adjust: Annotated[str, Check(among=ADJUST_METHODS)]
    level: Annotated[float, Check(above=0, below=1)]
    range_: float | None = None
    discrete: Any = "auto"
    pseudocount: float = 0.0
    scale: Annotated[str | None, Check(among=SCALE_CHOICES)] = None
    coding: str = "levels"
    n_contrast: Annotated[int, Check(low=0)] = 0
    fit: Annotated[str | None, Check(among=FITS)] = None
    multiclass: Annotated[str, Check(among=MULTICLASS_CHOICES)] = "joint"
    shard: str | None = None
    min_distance: float | None = None


@dataclass(frozen=True, kw_only=True)
class Numbers(_Entries):
    """An outcome compared by scores: minimum, quartiles and maximum of numbers; ordered classes, the lowest first."""

    kind: Annotated[str, Check(among=tuple(WORDS))] = NUMBERS.kind
    order: list[str] = field(default_factory=list)
    quartiles: list[float] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Events(_Entries):
    """An outcome of times."""

    n_events: int


@dataclass(frozen=True, kw_only=True)
class Relabelings(_Entries):
    """Groups of samples, and permutations of their labels; an empty method without either."""

    method: str = ""
    n_groups: int = 0
    n_permutations: int = 0
    permutations_done: int = 0
    all_permutations: bool = False
    smallest_p: float = 0.0
    exchanged: str = "labels"
    #: Whether variables were judged by their correlations within groups, too.
    within_groups: bool = False


@dataclass(frozen=True, kw_only=True)
class Site(_Entries):
    """One of the sites of a search that keep their tables."""

    n_withheld: int


@dataclass(frozen=True, kw_only=True)
class Source(_Entries):
    """Where the data came from, of a run of the command line."""

    file: str | None = None
    dropped: list[str] = field(default_factory=list)
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class Provenance(_Entries):
    """What is recorded of a run, as far as tables, summaries, reports and replications read it."""

    n_samples: int
    n_vars: int
    samples_left_out: int
    versions: dict[str, str]
    strata: dict[str, int]
    target: str | None = None
    outcome: Numbers = field(default_factory=Numbers)
    survival: Events | None = None
    covariates: list[str] = field(default_factory=list)
    offset: bool = False
    model: str = ""
    groups: Relabelings = field(default_factory=Relabelings)
    sites: dict[str, Site] = field(default_factory=dict)
    source: Source = field(default_factory=Source)
    cautions: dict[str, str] = field(default_factory=dict)
    #: How many samples and variables the reader's filters left out, by the filter in words.
    filters: dict[str, int] = field(default_factory=dict)
    #: What variables are called by people, by name: question texts, symbols of genes.
    labels: dict[str, str] = field(default_factory=dict)
    #: Variables with missing values, by what became of these.
    missing: dict[str, int] = field(default_factory=dict)
    n_cut: int | None = None
    tested: int = 0
    #: Of a search over sites: tuples that they counted, and those of which every site withheld the table.
    counted: int = 0
    untested: int = 0
    searched_up_to_p: float | None = None
    #: Why no tuple is called significant, and what to give.
    doubt: str = ""
    #: That rows are in an order, where they are and no groups were given.
    rows: str = ""
    date: str = ""
    #: Of a replication: the entries of the search, and how its p-values were adjusted.
    found_in: dict[str, Any] | None = None
    p_adjust: str | None = None

    def words(self, class_sizes: Mapping[str, int]) -> Words:
        """Return the words of an outcome that is compared by classes, if there are any, else of its kind."""
        return CLASSES if class_sizes else TIMES if self.has_times else WORDS[self.outcome.kind]

    @property
    def has_times(self) -> bool:
        """Whether the outcome was given as times of events, be it that their residuals were cut into classes."""
        return self.survival is not None

    def is_consistent(self) -> bool:
        """Say whether the version is there, and missing values became what summaries know."""
        return "interplay" in self.versions and self.missing.keys() <= {"level", "impute", "omit"}

    @classmethod
    def of(cls, entries: Mapping[str, Any]) -> Self:
        typed: dict[str, type[_Entries]] = {
            "outcome": Numbers,
            "survival": Events,
            "groups": Relabelings,
            "source": Source,
        }
        inside = {name: kind.of(entries[name]) for name, kind in typed.items() if name in entries}
        sites = {name: Site.of(about) for name, about in entries.get("sites", {}).items()}
        return cls._filled({**entries, **inside, "sites": sites, "found_in": entries.get("found in")})


def search_record(engine: Mapping[str, Any], searched: SearcherCounts, *, started: float) -> dict[str, Any]:
    """Return the entries about a search that began at `started`, by the clock of `time.perf_counter`."""
    return {
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "engine": dict(engine),
        "searchers": searched,
        "seconds": round(time.perf_counter() - started, 3),
        "versions": versions(),
    }


def merged_record(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the entries about a search that was done in shards: those of the first shard, and sums over all."""
    names = sorted({record["engine"]["name"] for record in records})
    return {
        **records[0],
        "engine": {"name": ", ".join(names), "shards": len(records)},
        "searchers": summed_counts(record["searchers"] for record in records),
        "seconds": round(sum(record["seconds"] for record in records), 3),
    }


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    names = ("interplay", "numpy", "scipy", "statsmodels")
    return {"python": platform.python_version(), **{name: _installed(name) for name in names}}


@cache  # the version is read from a file, which takes as long as a small search
def _installed(name: str) -> str:
    return version(name)
