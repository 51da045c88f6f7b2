"""Names of columns and labels that are hostile to terminals, web pages and files."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd

import interplay
from hostile.case import Area, refused, same
from hostile.commands import run_command
from hostile.data import FRAME, X, Y, selected
from interplay.io import write_table

HOSTILE = {
    "an empty name": "",
    "blanks": "  ",
    "line breaks": "a\nb\r\nc",
    "HTML": "</script><script>alert(1)</script>",
    "control characters": "\x00\x07\x1b[31m\x9b",
    "a hundred thousand letters": "n" * 10**5,
    "right-to-left marks": "\u202e\u200f",
    "quotes and commas": "\"',;\t",
    "a formula": "=1+1",
    "braces and dollars": "${x} {0} %s $\\alpha$",
    "emoji": "👩‍🔬",
}


def named(name):
    """Both relevant columns carry it."""
    new = {"v1": name, "v3": name + "'"}
    # As objects: pandas' own texts, from 3 on, cannot hold half a surrogate pair.
    return FRAME.set_axis(pd.Index([new.get(old, old) for old in FRAME.columns], dtype=object), axis=1)


def found(name):
    return selected(named(name), np.array([name + "0", name + "1"])[Y])


def through_save(name):
    """Save, load, and write everything there is to write."""
    selection = found(name)
    selection.save("saved")
    again = interplay.load("saved")
    again.to_html("report.html")
    Path("report.html").read_bytes().decode("utf-8")
    for ending in ("csv", "tsv", "json", "parquet"):
        write_table(again.table, f"table.{ending}")
    assert len(json.loads(Path("table.json").read_text())) == 5
    assert len(pd.read_parquet("table.parquet")) == 5
    assert len(pd.read_csv(io.BytesIO(Path("table.csv").read_bytes()), keep_default_na=False)) == 5
    assert "\x1b" not in again.summary()
    assert "<script>alert" not in Path("report.html").read_text(encoding="utf-8")
    assert len(again.summary()) < 5 * 10**6
    assert again.plot.why(name) is not None
    assert again.plot.synergies() is not None
    import matplotlib.pyplot as plt

    plt.gcf().canvas.draw()
    plt.close("all")
    return [again.names, again.runs[0].class_labels, again.relevant]


def as_given(name):
    selection = found(name)
    return [selection.names, selection.runs[0].class_labels, selection.relevant]


def on_command_line(name):
    """The names that come out of the command line's JSON."""
    named(name).assign(ill=Y).to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "ill", "--n-contrast", "30", "--seed", "0", "--format", "json")
    done = run_command("run", *arguments)
    assert done.code == 0, done.err
    return [row["variable"] for row in json.loads(done.out)]


def taken(what, name):
    return same(
        f"{what} as a name and in labels: saved, loaded, reported, drawn, written",
        lambda: through_save(name),
        "any other name",
        lambda: as_given(name),
    )


AREA = Area(
    "Names and labels",
    [
        *[taken(what, name) for what, name in HOSTILE.items()],
        *[
            same(
                f"{what} as a name in a .csv, on the command line",
                lambda name=HOSTILE[what]: on_command_line(name),
                "any other name",
                lambda name=HOSTILE[what]: [column.strip() for column in named(name)],
            )
            for what in ("line breaks", "HTML", "right-to-left marks", "quotes and commas", "a formula", "emoji")
        ],
        refused("half a surrogate pair as a name", lambda: selected(named("\ud800"), Y), r"^the name of .*'\\ud800'"),
        refused("half a surrogate pair as a label", lambda: selected(y=np.array(["\ud800", "b"])[Y]), "^a label of y"),
        refused(
            "a name of a million letters, in a message",
            lambda: interplay.select(X, "n" * 10**6, dimensions=2),
            "^y names 'nnn",
        ),
        refused(
            "a column of NaN whose name has a million letters",
            lambda: selected(FRAME.assign(**{"n" * 10**6: np.nan}), Y, missing="error"),
            "^column 'nnn.* has only missing values",
        ),
        refused(
            "a column of NaN whose name is a line break",
            lambda: selected(FRAME.assign(**{"\n": np.nan}), Y, missing="error"),
            r"^column '\\n' of X has only missing values",
        ),
        refused(
            "a class of one sample whose label has a million letters",
            lambda: selected(y=["n" * 10**6, *(["a", "b"] * 30)[:59]]),
            "^y has a class with fewer",
        ),
    ],
)
