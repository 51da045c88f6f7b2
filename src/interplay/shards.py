"""A selection in parts, searched by independent jobs, and the parts → a Selection."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any

import numpy as np

from interplay.arrays import DecisionClasses, IntArray
from interplay.checks import shown
from interplay.engines.base import AsEngine, get_engine
from interplay.jobs import resolve_n_jobs
from interplay.pipeline import explained, selection_from
from interplay.progress import Progress
from interplay.results.loaded import SETTINGS, are_log_p_of
from interplay.results.selection import Selection
from interplay.search.checkpoint import AsCheckpoint, as_checkpoint, describe_difference
from interplay.search.provenance import data_fingerprint, versions
from interplay.search.settings import SearchSettings
from interplay.search.tile_loop import Shard
from interplay.selection_task import SearchedRun, check_selection, search_runs
from interplay.steps.column_subset import ColumnSubset
from interplay.steps.strata import Strata
from interplay.steps.table import Table, as_table
from interplay.stored.archive import (
    Arrays,
    DamagedFile,
    as_json,
    gains_as_arrays,
    gains_from_arrays,
    read_archive,
    refusing_damage,
    write_archive,
)
from interplay.stored.types import fits, has_own_types


@dataclass(frozen=True, eq=False)
class Part:
    """What one shard of a selection found; `merge_parts` makes a Selection of all of them.

    Attributes
    ----------
    shard : Shard
        Which part it is, of how many.
    names : list of str
        All variables.
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
    runs: tuple[SearchedRun, ...]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the part to one file, for `merge_parts`."""
        content = {
            "shard": [self.shard.number, self.shard.of],
            "names": self.names,
            "about": self.about,
            "settings": self.settings,
            "provenance": self.provenance,
            "runs": [{"decision": run.decision, "class_labels": run.class_labels} for run in self.runs],
        }
        arrays: dict[str, Any] = {"decision_codes": self.decision_codes, "strata_codes": self.strata_codes}
        for number, run in enumerate(self.runs):
            arrays[f"run{number}.class_sizes"] = run.class_sizes
            arrays[f"run{number}.contrast_sources"] = run.contrast_sources
            arrays |= gains_as_arrays(run.gains, f"run{number}.gains")
            arrays |= gains_as_arrays(run.alone, f"run{number}.alone")
            if run.exact_log_p is not None:
                arrays[f"run{number}.exact_log_p"] = run.exact_log_p
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
            )
            for number, run in enumerate(content.pop("runs"))
        ]
        return cls(
            shard=Shard.parse(content.pop("shard")),
            decision_codes=arrays["decision_codes"],
            strata_codes=arrays["strata_codes"],
            runs=tuple(runs),
            **content,
        )

    def _holds_together(self) -> bool:
        """Say whether types, shapes and numbers of variables belong together: a file may say anything."""
        if not has_own_types(self):
            return False
        n_vars, n_samples = len(self.names), len(self.decision_codes)
        return (
            all(fits(self.settings.get(name), kind) for name, kind in _SETTINGS.items())
            and all(fits(self.about.get(name), kind) for name, kind in _ABOUT.items())
            and all(fits(self.provenance.get(name), kind) for name, kind in _PROVENANCE.items())
            and "name" in self.provenance["engine"]
            and self.about["n_vars"] == n_vars
            and self.about["n_samples"] == n_samples
            and self.decision_codes.ndim == self.strata_codes.ndim == 1
            and len(self.strata_codes) in (0, n_samples)
            and all(_is_searched(run, n_vars) for run in self.runs)
            and len(self.runs) > 0
            and all(run.gains.dimensions == self.settings["dimensions"] for run in self.runs)
        )

    def __repr__(self) -> str:
        return f"<Part {self.shard}: {len(self.names)} variables, {self.settings['dimensions']}D>"


#: What merging looks up.
_SETTINGS = SETTINGS | {"fit": str, "multiclass": str, "range_": float, "missing": str, "discrete": Any}
_ABOUT = {"n_samples": int, "n_vars": int, "n_classes": int, "data fingerprint": str}
_PROVENANCE = {"strata": dict[str, int], "engine": dict[str, Any], "seconds": float, "versions": dict[str, str]}


def _is_searched(run: SearchedRun, n_vars: int) -> bool:
    return (
        run.gains.n_vars == run.alone.n_vars == n_vars
        and run.contrast_sources.shape == run.gains.contrast_gain.shape
        and run.class_sizes.shape == (len(run.class_labels),)
        and are_log_p_of(run.exact_log_p, len(run.gains.gain_by_group))
    )


def search_shard(
    X: Any,
    y: Any,
    *,
    shard: str | tuple[int, int],
    random_state: Any = 0,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
    checkpoint: AsCheckpoint = None,
    **settings: Any,
) -> Part:
    """Do one of several equal shares of a selection, for jobs that need not know of each other.

    The jobs of an array, say: each is called with the same data and settings and its own `shard`, and saves its part.
    `merge_parts` then gives the Selection that `select` would have given, to the last bit.

    Parameters
    ----------
    X, y
        As in `select`.
    shard : str or (int, int)
        ``"3/64"`` or ``(3, 64)``: the third of 64.
    random_state : int, RandomState or Generator
        As in `select`, but not None: all shards must draw the same.
    engine, n_jobs, progress, checkpoint
        As in `select`. Each shard needs a checkpoint of its own.
    **settings
        All other arguments of `select`.

    Returns
    -------
    Part
        With ``.save()``.

    Examples
    --------
    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
    >>> parts = [interplay.search_shard(X, y, shard=(i, 3), dimensions=2) for i in (1, 2, 3)]
    >>> sorted(interplay.merge_parts(parts).relevant)
    ['x11', 'x3']
    """
    started = time.perf_counter()
    if random_state is None:
        raise ValueError("random_state must be the same number for all shards, not None")
    which = Shard.parse(shard)
    kept = as_checkpoint(checkpoint)
    task = check_selection(X, y, random_state=random_state, **settings)
    get_engine(engine, n_jobs=resolve_n_jobs(n_jobs))  # one that is not there is refused before any work
    if kept is not None:
        kept.begin(task.about | {"shard": str(which)})
    runs, loops = zip(
        *search_runs(task, engine=engine, n_jobs=n_jobs, progress=progress, checkpoint=kept, shard=which), strict=True
    )
    if kept is not None:
        kept.finish()
    return Part(
        shard=which,
        names=list(task.table.names),
        about=as_json(
            {"interplay": versions()["interplay"], **task.about, "tiles": [loop.layout for loop in loops]},
        ),
        settings=as_json(task.settings),
        provenance={
            "strata": task.strata_sizes,
            "engine": loops[0].engine.describe(),
            "seconds": round(time.perf_counter() - started, 3),
            "versions": versions(),
        },
        decision_codes=task.classes.codes,
        strata_codes=np.empty(0, dtype=np.int64) if task.strata is None else task.strata.codes,
        runs=runs,
    )


def merge_parts(
    parts: Iterable[Part | str | os.PathLike[str]], *, X: Any = None, n_jobs: int | None = None
) -> Selection:
    """Put the parts of all shards together.

    Parameters
    ----------
    parts : iterable of Part or path-like
        What `search_shard` returned, or the files it was saved to, in any order. Every shard once: missing, doubled
        and foreign ones are refused.
    X : table-like, optional
        The table, for what is told about relevant variables beside their gains: correlations and clusters, the cells
        of their tuples, and synergies.
    n_jobs : int, optional
        Threads for the synergies, as in `select`.

    Returns
    -------
    Selection
        The same as from one `select`; without `X`, but for what is named there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 30)), rng.integers(0, 2, 100)
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> interplay.search_shard(X, y, shard="1/2").save(folder / "part1")
    >>> interplay.search_shard(X, y, shard="2/2").save(folder / "part2")
    >>> merged = interplay.merge_parts(folder.glob("part*"))
    >>> bool((merged.p_value == interplay.select(X, y, random_state=0).p_value).all())
    True
    >>> interplay.merge_parts([folder / "part2"])
    Traceback (most recent call last):
        ...
    ValueError: parts: 1 of 2 is missing: search it, or add its file
    """
    if isinstance(parts, Part | str | os.PathLike):
        raise TypeError(f"parts must be a list of parts or their files, not one of them: write [{parts!r}]")
    first: Part | None = None
    name_of: dict[int, str] = {}
    merged: tuple[SearchedRun, ...] = ()
    provenances = []
    for name, part in _read(parts):
        if first is None:
            first, first_name, merged = part, name, part.runs
        else:
            _check_same_search(part, name, first, first_name)
            if part.shard.number in name_of:
                doubled = f"{part.shard} is there twice: {name_of[part.shard.number]} and {name}"
                raise ValueError(f"parts: {doubled}: leave one out")
            merged = tuple(_merged(a, b) for a, b in zip(merged, part.runs, strict=True))
        name_of[part.shard.number] = name
        provenances.append(part.provenance)
    if first is None:
        raise ValueError("parts must name at least one part; there is none")
    if missing := sorted(set(range(1, first.shard.of + 1)) - set(name_of)):
        verb, them = ("is", "it, or add its file") if len(missing) == 1 else ("are", "them, or add their files")
        raise ValueError(f"parts: {_listed(missing)} of {first.shard.of} {verb} missing: search {them}")
    data = None if X is None else _same_data(X, first)
    found = selection_from(
        merged,
        names=first.names,
        settings=first.settings,
        provenance={
            "n_samples": first.about["n_samples"],
            "n_vars": first.about["n_vars"],
            "data_fingerprint": first.about["data fingerprint"],
            "strata": first.provenance["strata"],
            "engine": {
                "name": ", ".join(sorted({entry["engine"]["name"] for entry in provenances})),
                "shards": first.shard.of,
            },
            "seconds": round(sum(entry["seconds"] for entry in provenances), 3),
            "versions": first.provenance["versions"],
        },
        data=data,
    )
    if data is None or len(first.strata_codes):  # gains within strata are not listed
        return found
    decided = found.settings | {"seed": found.settings["random_state"]}
    search = SearchSettings(**{entry.name: decided[entry.name] for entry in fields(SearchSettings)})
    return explained(found, *data, search, n_jobs=n_jobs)


def _read(parts: Iterable[Part | str | os.PathLike[str]]) -> Iterator[tuple[str, Part]]:
    """Give one part after the other with what to call it, so that only one is in memory."""
    if not isinstance(parts, Iterable):
        raise TypeError(f"parts must be a list of parts or their files, not {shown(parts)}")
    for part in parts:
        if isinstance(part, Part):
            yield f"part {part.shard}", part
        elif isinstance(part, str | os.PathLike):
            yield repr(os.fspath(part)), Part.load(part)
        else:
            raise TypeError(f"parts must be parts or names of their files, not {shown(part)}")


def _check_same_search(part: Part, name: str, first: Part, first_name: str) -> None:
    if part.shard.of != first.shard.of:
        raise ValueError(f"parts: {name} is {part.shard} and {first_name} is {first.shard}: merge parts of one search")
    decided = [
        each.about | each.settings | {"decisions": [run.decision for run in each.runs]} for each in (first, part)
    ]
    difference = describe_difference(*decided)
    if difference:
        difference = difference.replace(" there", f" in {first_name}").replace(" here", f" in {name}")
        raise ValueError(
            f"parts: {name} is of another search than {first_name} ({difference}): merge parts of one search"
        )


def _merged(a: SearchedRun, b: SearchedRun) -> SearchedRun:
    return replace(a, gains=a.gains.merge(b.gains), alone=a.alone.merge(b.alone))


def _same_data(X: Any, part: Part) -> tuple[Table, DecisionClasses]:
    table = as_table(X)
    if set(part.names) < set(table.names):  # y or strata were named, and are no variables
        table = ColumnSubset(table, np.array([table.names.index(name) for name in part.names]))
    classes = DecisionClasses(part.decision_codes, list(range(part.about["n_classes"])))
    codes = part.strata_codes
    strata = Strata(codes, [str(stratum) for stratum in range(codes.max() + 1)]) if len(codes) else None
    same_shape = (table.n_samples, table.n_vars) == (part.about["n_samples"], part.about["n_vars"])
    if not same_shape or data_fingerprint(table, classes, strata) != part.about["data fingerprint"]:
        raise ValueError("X is not the table that the parts were made from: give that one, or none")
    return table, classes


def _listed(numbers: Sequence[int]) -> str:
    """Write numbers as ranges.

    Examples
    --------
    >>> _listed([1, 2, 3, 7, 9, 10])
    '1-3, 7, 9-10'
    """
    runs = []
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        members = [number for _, number in group]
        runs.append(str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return ", ".join(runs[:20]) + (", …" if len(runs) > 20 else "")
