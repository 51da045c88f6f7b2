"""Data files of every kind, more or less broken."""

from __future__ import annotations

import functools
import gzip
import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
from hypothesis import given
from hypothesis import strategies as st

import interplay
from fuzz.archives import changed_bytes
from fuzz.outcomes import file_with, refused_or
from interplay.io import read_data

FIELDS = st.one_of(
    st.sampled_from("1 2 0 -1.5 1e9 nan inf NA a b yes 1,5 é 2024-01-01 True 0x1f ' # 999999999999999999999".split()),
    st.sampled_from(["", " ", "\0", "\n", "\r", '"', '"q,""q"']),
    st.text(max_size=3),
)


@st.composite
def tables_as_text(draw: st.DrawFn) -> bytes:
    separator = draw(st.sampled_from([",", "\t", ";", "|", " "]))
    n_columns, n_rows = draw(st.integers(1, 5)), draw(st.integers(0, 12))
    names = [draw(st.sampled_from(["", "a", "b", "y", "y", "c d", '"e"']) | FIELDS) for _ in range(n_columns)]
    if draw(st.booleans()):
        names[-1] = "y"
    kinds = [draw(st.sampled_from(["number", "class", "odd"])) for _ in range(n_columns)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = [names]
    for _ in range(n_rows):
        rows.append(
            [{"number": f"{rng.normal():.3f}", "class": str(rng.integers(2))}.get(k) or draw(FIELDS) for k in kinds]
        )
        if draw(st.integers(0, 30)) == 0:
            rows[-1] = rows[-1][:-1] or [""]
    text = draw(st.sampled_from(["\n", "\r\n", "\r"])).join(separator.join(row) for row in rows)
    content = text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"])), "replace")
    return gzip.compress(content) if draw(st.integers(0, 5)) == 0 else content


@functools.cache
def good(ending: str) -> bytes:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"v{v}": rng.normal(size=30) for v in range(4)}).assign(
        n=rng.integers(0, 9, 30), t=rng.choice(["a", "b"], 30), y=np.arange(30) % 2
    )
    buffer = io.BytesIO()
    if ending == ".parquet":
        frame.to_parquet(buffer)
    elif ending == ".feather":
        frame.to_feather(buffer)
    elif ending == ".npy":
        np.save(buffer, frame.drop(columns="t").to_numpy())
    elif ending == ".xlsx":
        frame.to_excel(buffer, index=False, engine="openpyxl")
    elif ending == ".zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data.csv", frame.to_csv(index=False))
    elif ending in (".sav", ".dta"):
        with tempfile.TemporaryDirectory() as folder:
            write = pyreadstat.write_sav if ending == ".sav" else pyreadstat.write_dta
            write(frame, f"{folder}/data", variable_value_labels={"n": {0: "none", 1: "one"}})
            buffer.write(Path(folder, "data").read_bytes())
    else:
        np.savez_compressed(buffer, X=frame.drop(columns=["t", "y"]).to_numpy(), y=frame["y"].to_numpy())
    return buffer.getvalue()


def searched(path: str, target: str | None, **options: Any) -> Any:
    X, y = read_data(path, target=target, **options)
    return interplay.max_information_gain(X, y, dimensions=1, missing="level")


@given(
    tables_as_text(),
    st.sampled_from([".csv", ".tsv", ".txt", ".rtab"]),
    st.sampled_from(["y", "a", "", None]),
    st.booleans(),
    st.sampled_from(["error", "drop"]),
    st.lists(FIELDS, max_size=2),
)
def read_text(
    content: bytes, ending: str, target: str | None, transpose: bool, missing_target: str, na_values: list[str]
) -> None:
    options = {"transpose": transpose, "missing_target": missing_target, "na_values": na_values}
    with file_with(content, ending) as path:
        refused_or(lambda: searched(path, target, **options))


@given(tables_as_text(), tables_as_text(), st.booleans(), st.sampled_from([None, "a", "y"]))
def read_two(content: bytes, traits: bytes, transpose: bool, sample_id: str | None) -> None:
    with file_with(content, ".csv") as path, file_with(traits, ".csv") as other:
        refused_or(
            lambda: searched(
                path, "y", target_file=other, transpose=transpose, sample_id=sample_id, missing_target="drop"
            )
        )


@given(st.sampled_from([".npy", ".npz", ".parquet", ".feather", ".xlsx", ".zip", ".sav", ".dta"]), st.data())
def read_binary(ending: str, data: st.DataObject) -> None:
    content = changed_bytes(data.draw, good(ending))
    with file_with(content, ending) as path:
        refused_or(lambda: searched(path, "-1" if ending == ".npy" else None if ending == ".npz" else "y"))
