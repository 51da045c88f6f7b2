"""Result: the common part of Selection and Interactions."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.text import encodable
from interplay.files.whole_file import whole_file
from interplay.readers.parquet import import_pyarrow
from interplay.show.results.provenance import Provenance, Settings

if TYPE_CHECKING:
    import pandas as pd


class Claims(NamedTuple):
    """What a result claims of its rows: variables, or tuples by the names of their members."""

    rows: Sequence[Any]
    p_value: FloatArray  #: (n,)
    p_adjusted: FloatArray  #: (n,)
    is_found: BoolArray  #: (n,)
    #: All tests that were made, listed or not.
    n_tests: int
    #: Whether p-values are adjusted by permutations.
    is_permuted: bool


class Result:
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
        return self.record.survival is not None

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

    def claims(self) -> Claims:
        """Return the p-values of all rows, for an adjustment over several results."""
        raise NotImplementedError

    def adjust_all(self, p_value: FloatArray, n_tests: int) -> FloatArray:
        """Adjust the p-values of several results of this kind for all tests of theirs, listed or not."""
        raise NotImplementedError

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole result to one file, a zip of JSON and .npy; `interplay.load` reads it back."""
        from interplay.show.results.saved import save_result

        save_result(self, path)

    def summary(self) -> str:
        """Return the result in words."""
        raise NotImplementedError

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
