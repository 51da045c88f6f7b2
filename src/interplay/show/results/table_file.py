"""A table of results → a file, which appears complete or not at all."""

from __future__ import annotations

import io
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.base.text import encodable
from interplay.files.whole_file import whole_file
from interplay.readers.parquet import import_pyarrow

if TYPE_CHECKING:
    import pandas as pd

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
