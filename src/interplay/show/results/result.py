"""Result: the common part of Selection and Interactions; Traits: the results of several outcomes, by their names."""

from __future__ import annotations

import io
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, cast

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import shown
from interplay.base.text import encodable, printable
from interplay.files.types import Check
from interplay.files.whole_file import whole_file
from interplay.infer.p_values import relevant_mask
from interplay.readers.parquet import import_pyarrow
from interplay.show.results.provenance import Provenance, Settings

if TYPE_CHECKING:
    import pandas as pd


#: What results ask of new samples: the floor above tests these as the search does, and is loaded when it is asked.
_IN_NEW_SAMPLES = {
    "replicate": "interplay.ask.new_samples.tuples",
    "replicate_in": "interplay.ask.new_samples.tuples",
    "replicate_variables": "interplay.ask.new_samples.variables",
    "tag": "interplay.ask.new_samples.tagging",
}


def in_new_samples(function: str, *arguments: Any, **options: Any) -> Any:
    """Call the function that tests what a result claims in new samples, or judges it in these."""
    return getattr(import_module(_IN_NEW_SAMPLES[function]), function)(*arguments, **options)


class ClaimedRows(NamedTuple):
    """What a result claims of its rows: variables, or tuples by the names of their members."""

    rows: Sequence[Any]
    p_value: FloatArray  #: (n,)
    p_adjusted: FloatArray  #: (n,)
    is_found: BoolArray  #: (n,)
    #: All tests that were made, listed or not.
    n_tests: int
    #: Whether p-values are adjusted by permutations.
    is_permuted: bool


class Result(ABC):
    """A result with names of variables, settings and provenance. The dataclasses that hold results inherit from it."""

    names: list[str]
    settings: dict[str, Any]
    provenance: dict[str, Any]

    @cached_property
    def asked(self) -> Settings:
        """The settings, typed."""
        return Settings.of(self.settings)

    @cached_property
    def record(self) -> Provenance:
        """The provenance, typed."""
        return Provenance.of(self.provenance)

    @property
    def has_times(self) -> bool:
        """Whether the outcome was given as times of events, be it that their residuals were cut into classes."""
        return self.record.has_times

    def names_of(self, members: IntArray) -> tuple[str, ...]:
        """Return the names of variables by their numbers; −1 stands for none."""
        return tuple(self.names[m] for m in members.tolist() if m >= 0)

    def with_source(self, *, file: str | None, dropped: Sequence[str] = (), command: str = "") -> Self:
        """Return the same result with the source of its data, for the report and the saved file.

        - `file`: the file that was read.
        - `dropped`: columns of the file that were left out.
        - `command`: the command that repeats the run.
        """
        source = {"file": file, "dropped": list(dropped), "command": command}
        return cast(Self, replace(cast(Any, self), provenance=self.provenance | {"source": source}))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole result to one file, a zip of JSON and .npy; `interplay.load` reads it back."""
        from interplay.show.results.saved import save_result

        save_result(self, path)

    def without_samples(self) -> Self:
        """Return the same result with all that is made of the samples when it is asked for, and without these."""
        return self

    @abstractmethod
    def summary(self) -> str:
        """Return the result in words."""

    def __repr__(self) -> str:
        return self.summary()


#: Endings of the files that `write_table` knows.
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".json")


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table of results to a .csv, .tsv, .parquet or .json file, which appears complete or not at all.

    An existing file is replaced. Lists of partners are joined by ";" in text files, and stay lists in the others.
    """
    content = table_bytes(frame, check_table_ending(path))
    with whole_file(path) as file:
        file.write(content)


def check_table_ending(path: str | os.PathLike[str]) -> str:
    """Return the format that the ending of `path` names, for example "csv"; refuse unknown endings."""
    ending = Path(path).suffix.lower()
    if ending not in TABLE_ENDINGS:
        raise ValueError(f"{os.fspath(path)!r} must end in one of {', '.join(TABLE_ENDINGS)} to hold a table")
    if ending == ".parquet":
        import_pyarrow()
    return ending[1:]


def table_bytes(frame: pd.DataFrame, kind: str) -> bytes:
    """Return a table of results as the content of a "csv", "tsv", "json" or "parquet" file."""
    if kind == "parquet":
        import_pyarrow()
        buffer = io.BytesIO()
        texts = frame.select_dtypes(include=["object", "string"])
        frame.assign(**{str(name): texts[name].map(_encodable) for name in texts}).to_parquet(buffer, index=False)
        return buffer.getvalue()
    if kind == "json":
        lines = [json.dumps({name: _plain(value) for name, value in row.items()}) for row in frame.to_dict("records")]
        return ("[\n" + ",\n".join(lines) + "\n]\n").encode()
    joined = frame.assign(**{name: frame[name].map(";".join) for name in _tuple_columns(frame)})
    return joined.to_csv(index=False, sep="\t" if kind == "tsv" else ",", lineterminator="\n").encode(
        "utf-8", "backslashreplace"
    )


def _encodable(value: Any) -> Any:
    if isinstance(value, tuple):
        return [encodable(name) for name in value]
    return encodable(value) if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    """Return a value that JSON can express: None for infinities and NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _tuple_columns(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame.columns if len(frame) and isinstance(frame[name].iloc[0], tuple)]


#: Traits that a summary lists.
_MOST_LISTED = 20


@dataclass(frozen=True, eq=False, repr=False)
class Traits(Mapping[str, Any]):
    """The results of `select` or `interactions` for several outcomes: a mapping from the name of an outcome.

    Each result is that of a call for the outcome alone, with its p-values adjusted within the outcome.

    Attributes
    ----------
    names : list of str
        Names of the outcomes, in the order of the columns of y.
    results : tuple of Selection or Interactions
    """

    names: Annotated[list[str], Check("n_traits")]
    results: tuple[Any, ...]

    def is_consistent(self) -> bool:
        """Say whether each outcome has a result, and all results are of one kind: a file may say anything."""
        return len(self.results) == len(self.names) == len(set(self.names)) and len(set(map(type, self.results))) == 1

    def __getitem__(self, trait: str) -> Any:
        if trait not in self.names:
            raise KeyError(trait)
        return self.results[self.names.index(trait)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the first outcome's search; those of the others differ in what follows from the outcome."""
        return dict(self.results[0].settings) if self.results else {}

    @property
    def level(self) -> float:
        """The significance level."""
        return float(self.settings["level"])

    @cached_property
    def p_adjusted_all(self) -> list[FloatArray]:
        """Of each outcome, p-values adjusted for all rows of all outcomes, as `p_adjust` says.

        Holm's and Bonferroni's are exact where they are below the significance level. Methods that look at larger
        p-values ("BH", "BY", "hochberg") are never too small, as tuples that are not listed count as 1. p-values that
        are adjusted by permutations are multiplied by the number of outcomes.
        """
        claims = [result.claims() for result in self.results]
        if not claims:
            return []
        if any(one.is_permuted for one in claims):
            return [np.minimum(one.p_adjusted * len(claims), 1.0) for one in claims]
        adjusted = self.results[0].adjust_all(
            np.concatenate([one.p_value for one in claims]), sum(one.n_tests for one in claims)
        )
        return np.split(adjusted, np.cumsum([len(one.p_value) for one in claims])[:-1])

    @property
    def found_all(self) -> dict[str, list[Any]]:
        """What is found after adjustment for all outcomes: names of variables, or of members of tuples."""
        return {
            name: [row for row, holds in zip(result.claims().rows, mask.tolist(), strict=True) if holds]
            for name, result, mask in zip(self.names, self.results, self._holds_all, strict=True)
        }

    @property
    def _holds_all(self) -> list[Any]:
        return [
            result.claims().is_found & relevant_mask(adjusted, level=self.level)
            for result, adjusted in zip(self.results, self.p_adjusted_all, strict=True)
        ]

    @property
    def table(self) -> pd.DataFrame:
        """The tables of all outcomes, one below the other.

        Columns: trait, the name of the outcome; those of the tables; p_adjusted_all, the p-value adjusted for all rows
        of all outcomes; and found_all, whether the row is found after this adjustment, too.
        """
        import pandas as pd

        frames = []
        for name, result, adjusted, holds in zip(
            self.names, self.results, self.p_adjusted_all, self._holds_all, strict=True
        ):
            frame = result.table
            frame.insert(0, "trait", name)
            frames.append(frame.assign(p_adjusted_all=adjusted, found_all=holds))
        filled = [frame for frame in frames if len(frame)] or frames[:1]
        return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame({"trait": []})

    def summary(self) -> str:
        """Return the first line of each result, those with finds first, and how many finds there are in all."""
        counts = [int(result.claims().is_found.sum()) for result in self.results]
        n_all = sum(int(holds.sum()) for holds in self._holds_all)
        lines = [
            f"{len(self)} traits: {sum(counts)} finds in {sum(count > 0 for count in counts)} of them, each adjusted "
            f"within its trait; {n_all} adjusted over all traits"
        ]
        order = sorted(range(len(self)), key=lambda place: -counts[place])
        for place in order[:_MOST_LISTED]:
            lines.append(f"{printable(self.names[place])}: {self.results[place].summary().splitlines()[0]}")
        if len(order) > _MOST_LISTED:
            lines.append(f"… and {len(order) - _MOST_LISTED} more in .table")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()

    def save(self, path: str | PathLike[str]) -> None:
        """Write all results to one file; `interplay.load` reads it back."""
        from interplay.show.results.saved import save_result

        if not self.results:  # of a search that was stopped at its first outcome
            raise ValueError("there is no result of any outcome, and nothing to save")
        save_result(self, path)

    def without_samples(self) -> Traits:
        """Return the same results without samples; see `Result.without_samples`."""
        return self._each(lambda one: one.without_samples())

    def to_html(self, path: str | PathLike[str]) -> None:
        """Refuse: a report is of one outcome, ``traits[name].to_html(path)``."""
        example = shown(self.names[0]) if self.names else "name"
        raise ValueError(f"a report is of one outcome: write traits[{example}].to_html(path)")

    def with_source(self, *, file: str | None, dropped: Sequence[str] = (), command: str = "") -> Traits:
        """Return the same results with the source of their data; see `Result.with_source`."""
        return self._each(lambda one: one.with_source(file=file, dropped=dropped, command=command))

    def with_clumps(self, r2: float) -> Traits:
        """Return the same results with another r² for the clumps in their summaries."""
        return self._each(lambda one: one.with_clumps(r2))

    def _each(self, change: Any) -> Traits:
        return replace(self, results=tuple(change(result) for result in self.results))
