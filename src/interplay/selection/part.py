"""Part: what one of several jobs found of a selection, and its file."""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass, fields
from typing import Any, get_type_hints

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, MaxGains
from interplay.engines.searcher_counts import are_counts
from interplay.files.archive import (
    Arrays,
    DamagedFile,
    gains_as_arrays,
    gains_from_arrays,
    read_archive,
    refusing_damage,
    write_archive,
)
from interplay.files.types import fits, has_own_types
from interplay.results.loaded import are_log_p_of
from interplay.search.loop import Shard
from interplay.search.settings import SelectionSettings
from interplay.selection.runs import SearchedRun
from interplay.selection.score_tests import ScoreTests
from interplay.study.covariates import Covariates
from interplay.study.survival import Survival


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
        Engine, versions, seconds.
    decision_codes : (n_samples,) int64
        The class of each sample.
    strata_codes : (n_samples,) int64
        The stratum of each sample; empty without strata.
    group_codes : (n_samples,) int64
        The group of each sample; empty without groups.
    covariates : Covariates, optional
    survival : Survival, optional
        The times that the classes are made of.
    runs : tuple of SearchedRun
        The maxima over this part's tuples.
    """

    shard: Shard
    names: list[str]
    about: dict[str, Any]
    settings: dict[str, Any]
    provenance: dict[str, Any]
    decision_codes: IntArray
    strata_codes: IntArray
    group_codes: IntArray
    runs: tuple[SearchedRun, ...]
    covariates: Covariates | None = None
    survival: Survival | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the part to one file, for `merge_parts`."""
        content = {
            "shard": [self.shard.number, self.shard.of],
            "names": self.names,
            "about": self.about,
            "settings": self.settings,
            "provenance": self.provenance,
            "runs": [_words_of(run) for run in self.runs],
            "covariates": None if self.covariates is None else self.covariates.names,
        }
        arrays: dict[str, Any] = {
            "decision_codes": self.decision_codes,
            "strata_codes": self.strata_codes,
            "group_codes": self.group_codes,
        }
        if self.covariates is not None:
            arrays["covariates"] = self.covariates.design
        if self.survival is not None:
            arrays |= {"time": self.survival.time, "event": self.survival.event}
        for number, run in enumerate(self.runs):
            arrays[f"run{number}.class_sizes"] = run.class_sizes
            arrays[f"run{number}.contrast_sources"] = run.contrast_sources
            arrays |= gains_as_arrays(run.gains, f"run{number}.gains")
            arrays |= gains_as_arrays(run.alone, f"run{number}.alone")
            if run.exact_log_p is not None:
                arrays[f"run{number}.exact_log_p"] = run.exact_log_p
            if run.permuted is not None:
                arrays[f"run{number}.permuted"] = run.permuted
            if run.scores is not None:
                arrays |= {f"run{number}.scores.{name}": array for name, array in run.scores.to_arrays().items()}
        write_archive(path, "part", content, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Part:
        """Read what `save` wrote."""
        try:
            content, arrays = read_archive(path, "part")
            with refusing_damage(path, "part"):
                part = cls._from_archive(content, arrays)
                if not part._holds_together():
                    raise ValueError("another content")
        except DamagedFile as error:
            raise ValueError(f"{error}: search this shard again") from None
        return part

    @classmethod
    def _from_archive(cls, content: dict[str, Any], arrays: Arrays) -> Part:
        runs = [
            SearchedRun(
                **run,
                class_sizes=arrays[f"run{number}.class_sizes"],
                contrast_sources=arrays[f"run{number}.contrast_sources"],
                gains=gains_from_arrays(arrays, f"run{number}.gains"),
                alone=gains_from_arrays(arrays, f"run{number}.alone"),
                exact_log_p=arrays.get(f"run{number}.exact_log_p"),
                permuted=arrays.get(f"run{number}.permuted"),
                scores=ScoreTests.from_arrays(arrays, f"run{number}.scores."),
            )
            for number, run in enumerate(content.pop("runs"))
        ]
        covariates = content.pop("covariates", None)
        return cls(
            shard=Shard.parse(content.pop("shard")),
            covariates=None if covariates is None else Covariates(covariates, arrays["covariates"]),
            survival=Survival(arrays["time"], arrays["event"]) if "time" in arrays else None,
            decision_codes=arrays["decision_codes"],
            strata_codes=arrays["strata_codes"],
            group_codes=arrays.get("group_codes", np.empty(0, dtype=np.int64)),  # earlier parts have none
            runs=tuple(runs),
            **content,
        )

    def _holds_together(self) -> bool:
        """Say whether types, shapes and numbers of variables belong together: a file may say anything."""
        if not has_own_types(self):
            return False
        n_vars, n_samples = len(self.names), len(self.decision_codes)
        return (
            all(fits(self.settings.get(name, _NEW_SETTINGS.get(name)), kind) for name, kind in _SETTINGS.items())
            and all(fits(self.about.get(name), kind) for name, kind in _ABOUT.items())
            and all(fits(self.provenance.get(name), kind) for name, kind in _PROVENANCE.items())
            and "name" in self.provenance["engine"]
            and are_counts(self.provenance.get("searchers", {}))  # earlier parts do not say
            and self.about["n_vars"] == n_vars
            and self.about["n_samples"] == n_samples
            and self.decision_codes.ndim == self.strata_codes.ndim == self.group_codes.ndim == 1
            and {len(self.strata_codes), len(self.group_codes)} <= {0, n_samples}
            and (self.covariates is None or self.covariates.design.shape[:1] == (n_samples,))
            and (self.survival is None or self.survival.time.shape == self.survival.event.shape == (n_samples,))
            and all(_is_searched(run, n_vars) for run in self.runs)
            and len(self.runs) > 0
            and all((run.permuted is not None) == bool(self.settings.get("permutations")) for run in self.runs)
            and [run.gains.dimensions for run in self.runs] == self._dimensions_of_runs()
        )

    def _dimensions_of_runs(self) -> list[int]:
        """Return what the runs should be of: comparison by comparison, all dimensions that the settings ask for."""
        searched = SelectionSettings.of(self.settings).searched
        return list(searched) * (len(self.runs) // len(searched))

    def __repr__(self) -> str:
        dimensions = self.settings["dimensions"]
        searched = dimensions if isinstance(dimensions, int) else "+".join(map(str, dimensions))
        return f"<Part {self.shard}: {len(self.names)} variables, {searched}D>"


#: What merging looks up.
_SETTINGS = get_type_hints(SelectionSettings) | {  # JSON has no other sequences than lists
    "discrete": str | list[Any],
    "dimensions": int | list[int],
    "arms": list[str] | None,
}
del _SETTINGS["all_dimensions"]
#: Those that parts of earlier versions do not have.
_NEW_SETTINGS = {field.name: field.default for field in fields(SelectionSettings) if field.default is not MISSING}
_ABOUT = {"n_samples": int, "n_vars": int, "n_classes": int, "data fingerprint": str}
_PROVENANCE = {"strata": dict[str, int], "engine": dict[str, Any], "seconds": float, "versions": dict[str, str]}


def _is_searched(run: SearchedRun, n_vars: int) -> bool:
    return (
        run.gains.n_vars == run.alone.n_vars == n_vars
        and run.contrast_sources.shape == run.gains.contrast_gain.shape
        and run.class_sizes.shape == (len(run.class_labels),)
        and are_log_p_of(run.exact_log_p, n_vars, len(run.gains.gain_by_group))
        and (run.permuted is None or _are_permuted_gains(run.permuted, run.gains))
        and (run.inflation is None or run.inflation >= 1)
        and (run.scores is None or run.scores.is_consistent(n_vars, len(run.contrast_sources)))
    )


def _are_permuted_gains(permuted: FloatArray, gains: MaxGains) -> bool:
    return (
        permuted.ndim == 3
        and len(permuted) > 0
        and permuted.shape[1:] == gains.gain_by_group.shape
        and bool((permuted < np.inf).all())  # nor NaN
    )


def _words_of(run: SearchedRun) -> dict[str, Any]:
    """Return what of a run is no array."""
    inflation = {} if run.inflation is None else {"inflation": run.inflation}
    return {"decision": run.decision, "class_labels": run.class_labels, **inflation}
