"""Numbers with junk among them: markers of missing values, percent signs, dates, slips; in files and in dataframes."""

import re
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import interplay
from hostile.commands import run_command
from interplay.data.study.columns import doubt_about_labels, stands_for_missing
from interplay.data.study.table import as_table
from interplay.io import read_data
from interplay.readers.csv_table import read_csv
from interplay.readers.text_column import AmbiguousDatesError, read_dates
from interplay.show.report.methods import methods_paragraph

N = 120
MARKERS = [
    "?",
    ".",
    "-",
    "--",
    "NA",
    "na",
    "n/a",
    "N/A",
    "NULL",
    "null",
    "#N/A",
    "#DIV/0!",
    "",
    " ",
    "  ",
    "None",
    "nan",
    "—",
    "*",
]


def table(values, **others):
    columns = {"a": values, "b": [i % 7 for i in range(len(values))], **others}
    return pd.DataFrame(columns).to_csv(index=False)


def numbers(n=N):
    return np.round(np.random.default_rng(0).normal(size=n), 3)


def read(folder, text, **options):
    """Return the frame, and what was said about it."""
    (folder / "data.csv").write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_csv(folder / "data.csv", **options)
    return frame, [str(warning.message) for warning in caught]


def run(*arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        return run_command(*arguments)


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("share", [0.01, 0.08, 0.6])
def test_a_marker_among_numbers_is_a_missing_value(tmp_path, marker, share):
    values = numbers()
    missing = np.random.default_rng(1).random(N) < share
    missing[5] = True
    frame, said = read(tmp_path, table([marker if gap else f"{x}" for x, gap in zip(values, missing, strict=True)]))
    np.testing.assert_array_equal(frame["a"], np.where(missing, np.nan, values))
    # What pandas knows needs no word: the error that asks for missing= follows.
    if marker not in ("NA", "n/a", "N/A", "NULL", "null", "#N/A", "", "None", "nan"):
        first = np.argmax(missing) + 2
        assert len(said) == 1
        assert said[0].startswith(f"read as missing values: {marker!r} in column 'a' (")
        assert re.search(rf" in line {first}\)", said[0])


def test_markers_among_labels(tmp_path):
    kinds = ["red", "green", "?", "blue", " "] * 6
    strand = ["+", "-", "+"] * 10
    allele = ["A", "C", "-"] * 10
    frame, said = read(tmp_path, table(list(range(30)), kind=kinds, strand=strand, allele=allele))
    assert frame["kind"].isna().sum() == 12
    assert frame["strand"].tolist() == strand
    assert frame["allele"].tolist() == allele
    assert said == [
        "read as missing values: '?' in column 'kind' (6 values, the first in line 4), ' ' in column 'kind' (6 values, "
        "the first in line 6)",
        "column 'allele' is taken as labels and '-' (10 values, the first in line 4) as one of them: use "
        "na_values=['-'] if it stands for a missing value",
    ]
    frame, said = read(tmp_path, table(list(range(30)), strand=strand, allele=allele), na_values=["-"])
    assert frame["allele"].isna().sum() == frame["strand"].isna().sum() == 10
    assert not said


def test_space_around_labels_is_none_of_them(tmp_path):
    frame, said = read(tmp_path, table([1, 2, 3, 4], kind=["u", " u", "v ", "v"]))
    assert frame["kind"].tolist() == ["u", "u", "v", "v"]
    assert not said


def test_na_values_are_numbers_and_texts(tmp_path):
    values = [-999.0, 1.5, 2.5, 3.5, -999.0, 4.5] * 4
    frame, said = read(tmp_path, table(values, kind=["n.d.", "x", "y"] * 8), na_values=["-999", "n.d."])
    assert frame["a"].isna().sum() == 8
    assert frame["kind"].isna().sum() == 8
    assert not said
    frame, said = read(tmp_path, table(values))
    assert frame["a"].tolist() == values
    assert said == [
        "may stand for missing values: -999 in column 'a' (8 values, the others are 1.5 to 4.5): if so, "
        "use na_values=['-999']"
    ]
    assert not read(tmp_path, table([-1, 0, 1, 2] * 5))[1]
    assert not read(tmp_path, table([99, 98, 97, 60, 3] * 5))[1]


@pytest.mark.parametrize(
    ("texts", "expected", "said"),
    [
        (["12%", "7.5%", "100 %"], [12, 7.5, 100], "read as numbers: column 'a' (% left out)"),
        (["$1,200.50", "$3.00", "-$4"], [1200.5, 3, -4], "read as numbers: column 'a' ($ left out)"),
        (["3,50 €", "1.200,00 €"], [3.5, 1200], "read as numbers: column 'a' (€ left out)"),
        (["12 mg", "7.5 mg", "?"], [12, 7.5, np.nan], "read as numbers: column 'a' (mg left out)"),
        (["3h", "12h"], [3, 12], "read as numbers: column 'a' (h left out)"),
        (["1.5 kg/m²", "2 kg/m²"], [1.5, 2], "read as numbers: column 'a' (kg/m² left out)"),
        (["190 000", "7 500", "12"], [190000, 7500, 12], None),
        (["190\u202f000", "7\u00a0500,5"], [190000, 7500.5], None),
        (["1'000", "12'345.5"], [1000, 12345.5], None),
        (["\u22125", "3"], [-5, 3], None),
        (["2020-03-01", "1970-01-02", "?"], [18322, 1, np.nan], "read as numbers: column 'a' (dates, as days)"),
        (["01.03.2020", "2.1.1970"], [18322, 1], "read as numbers: column 'a' (dates, as days)"),
        (["03/25/2020", "03/01/2020"], [18346, 18322], "read as numbers: column 'a' (dates, as days)"),
        (["01MAR2020", "02JAN1970"], [18322, 1], "read as numbers: column 'a' (dates, as days)"),
    ],
)  # fmt: skip
def test_what_is_read_as_numbers(tmp_path, texts, expected, said):
    frame, found = read(tmp_path, table(texts))
    np.testing.assert_array_equal(frame["a"].astype(float), expected)
    assert found[-1:] == ([] if said is None else [said])


def test_none_may_be_a_label(tmp_path):
    bags = ["None", "Driver only", "Driver & Passenger"] * 5
    frame, found = read(tmp_path, table(bags))
    assert frame["a"].tolist() == bags
    assert found == []
    frame, found = read(tmp_path, table([*bags, "NA"]))  # it has gaps, and None may be one of them
    assert frame["a"].isna().sum() == 6
    assert found == ["read as missing values: 'None' in column 'a' (5 values, the first in line 2)"]
    frame, found = read(tmp_path, table([*bags, "NA"]), keep_na_values=["None", "NA"])
    assert frame["a"].tolist() == [*bags, "NA"]
    frame, found = read(tmp_path, table(["1.5", "None", "2.5", "3.5"]))
    assert frame["a"].isna().tolist() == [False, True, False, False]


def test_labels_that_end_in_the_same_sign_are_not_in_doubt(tmp_path):
    texts = ["0%", "1-10%", "11-49%"] * 5
    frame, found = read(tmp_path, table(texts))
    assert frame["a"].tolist() == texts
    assert found == []


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["12%", "15", "16"], "because of '12%' in line 2"),
        (["<0.5", *"123456789"], "because of '<0.5' in line 2"),
        (["1/2/2020", "3/4/2020"], "although '1/2/2020' (line 2) looks like a date"),
        (["12:30", "13:45"], "although '12:30' (line 2) looks like a date"),
        ([f"p{i}" for i in range(30)], "although it has 30 different texts in 30 values, such as 'p0' and 'p1'"),
        ([f"{i} mg" if i % 2 else f"{i} g" for i in range(30)], "although it has 30 different texts"),
        (
            ["low", "Low", "high"] * 5,
            "of which 'low' (line 2) and 'Low' (line 3) differ only in capital letters and count as two",
        ),
    ],
)
def test_what_is_not_read_is_named(tmp_path, texts, said):
    frame, found = read(tmp_path, table(texts))
    assert frame["a"].tolist() == texts
    assert len(found) == 1
    assert found[0].startswith(f"column 'a' is taken as labels {said}")
    read_data(tmp_path / "data.csv", target="b", drop=["a"])  # nothing to say of what is dropped
    # It has been said: nobody says it again.
    frame["b"] = np.arange(len(texts)) % 2
    if len(texts) > 3:
        interplay.max_information_gain(frame[["a"]], frame["b"], dimensions=1)


def test_many_columns_are_told_in_a_few_lines(tmp_path):
    columns = {f"c{v}": ["bad", *map(str, range(29))] for v in range(50)}
    _, said = read(tmp_path, table(["?", *range(29)], **columns))
    assert len(said) == 7
    assert said[-1].startswith("45 more columns are taken as labels for similar reasons: 'c5', 'c6'")
    assert said[-1].endswith(" and 40 more")


def test_dates():
    assert read_dates(["2020-02-30"]) is None
    assert read_dates(["1970-01-01T06:00:00Z", "1970-01-01 06:00:00+06:00"]) == [0.25, 0.0]
    assert read_dates(["1 January 1970", "3 Mar 1970"]) == [0, 61]
    assert read_dates([]) is None
    with pytest.raises(AmbiguousDatesError):
        read_dates(["03/04/2020"])
    assert read_dates(["03/03/2020"]) == [18324]  # both mean the same
    days = pd.date_range("1968-01-01", "2031-01-01", freq="37D")
    for form in ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d-%b-%Y", "%m/%d/%Y"):
        expected = (days - pd.Timestamp("1970-01-01")).days.tolist()
        assert read_dates(days.strftime(form).tolist()) == expected


def test_lines_are_counted_as_the_file_does(tmp_path):
    for text, lines in (
        ("a,y\n1,x\n2,x\n", [2, 3]),
        ("\n\na,y\n1,x\n\n\n2,x", [4, 7]),
        ('a,y\n1,"x\nx"\n2,x\n', [3, 4]),
        ("a,y\r\n1,x\r\n\r\n2,x\r\n", [2, 4]),
        ("a,y\r1,x\r2,x\r", [2, 3]),
    ):
        (tmp_path / "data.csv").write_bytes(text.encode())
        frame = read_csv(tmp_path / "data.csv")
        assert frame.index.tolist() == lines, text
        assert frame.index.name == "line"


def test_a_missing_value_is_placed(tmp_path):
    values = [f"{x}" for x in numbers()]
    values[40] = values[50] = "?"
    (tmp_path / "data.csv").write_text("\n" + table(values, y=[0, 1] * (N // 2)))
    with pytest.warns(UserWarning, match="line 43"):
        X, y = read_data(tmp_path / "data.csv", target="y")
    with pytest.raises(
        ValueError,
        match=r"^X has 2 missing values in 1 column \('a'\): .*missing='impute' \(the first: column 'a', line 43; "
        r"there are 2 in that column\)$",
    ):
        interplay.select(X, y, missing="error")
    frame = pd.DataFrame({"a": [1.0, np.nan] * 10, "b": range(20)}, index=[f"p{i}" for i in range(20)])
    with pytest.raises(ValueError, match=r"the first: column 'a', sample 'p1'; there are 10"):
        interplay.select(frame, [0, 1] * 10, missing="error")


def test_a_missing_stratum_is_placed(tmp_path):
    batch = ["u", "v"] * (N // 2)
    batch[3] = ""
    (tmp_path / "data.csv").write_text(table(list(numbers()), batch=batch, y=[0, 1] * (N // 2)))
    X, y = read_data(tmp_path / "data.csv", target="y")
    with pytest.raises(ValueError, match=r"^strata has missing values in 1 sample \(the first is line 5\)"):
        interplay.select(X, y, strata="batch")


def test_a_missing_target(tmp_path):
    y: list[Any] = ["ill", "well"] * (N // 2)
    y[7] = y[9] = "?"
    frame = pd.DataFrame({"a": numbers(), "b": numbers()[::-1], "y": y})
    frame.to_csv(tmp_path / "data.csv", index=False)
    known = frame[frame["y"] != "?"]
    with (
        pytest.warns(UserWarning, match="read as missing"),
        pytest.raises(
            ValueError, match=r"data\.csv', column 'y': 2 of 120 values are missing \(the first: line 9\): fill them in"
        ),
    ):
        read_data(tmp_path / "data.csv", target="y")
    frame["y"] = frame["y"].where(frame["y"] != "?")
    frame.to_parquet(tmp_path / "data.parquet")
    frame.to_feather(tmp_path / "data.feather")
    expected = interplay.max_information_gain(known[["a", "b"]], known["y"])
    for name in ("data.csv", "data.parquet", "data.feather"):
        with pytest.warns(UserWarning, match="left out|read as missing") as caught:
            X, y = read_data(tmp_path / name, target="y", missing_target="drop")
        assert "these samples are left out" in str(caught[-1].message)
        found = interplay.max_information_gain(X, y)
        np.testing.assert_array_equal(found.gain, expected.gain)
        assert as_table(X).samples_left_out == 2
    done = run("run", tmp_path / "data.csv", "--target", "y", "-k", "1")
    assert done.code == 2
    assert "use --missing-target drop to leave" in done.err
    done = run("run", tmp_path / "data.csv", "--target", "y", "-k", "1", "--missing-target", "drop")
    assert done.code == 0
    assert "118 samples (2 left out)" in done.out


@pytest.mark.parametrize("ending", ["csv", "feather", "parquet", "npz"])
def test_results_say_how_many_samples_were_left_out(tmp_path, ending):
    y = np.where(np.roll(numbers(), 3) > 0, 1.0, 0.0)
    y[[7, 9, 30]] = np.nan
    path = tmp_path / f"data.{ending}"
    frame = pd.DataFrame({"a": numbers(), "b": numbers()[::-1], "batch": np.arange(N) % 2, "y": y})
    if ending == "npz":
        np.savez(path, X=frame[["a", "b", "batch"]].to_numpy(), y=y)
    else:
        {"csv": partial(frame.to_csv, index=False), "feather": frame.to_feather, "parquet": frame.to_parquet}[ending](
            path
        )
    target = None if ending == "npz" else "y"
    with pytest.warns(UserWarning, match="3 of 120 values are missing"):
        X, y = read_data(path, target=target, missing_target="drop")
    result = interplay.select(X, y, dimensions=1, strata=None if ending == "npz" else "batch", random_state=0)
    assert result.provenance["samples_left_out"] == 3
    assert "117 samples (3 left out)" in result.summary()
    assert "comprised 117 samples" in methods_paragraph(result)
    assert "after 3 samples were left out" in methods_paragraph(result)
    result.save(tmp_path / "run.interplay")
    interplay.load(tmp_path / "run.interplay").to_html(tmp_path / "report.html")
    assert "117 (3 left out)" in (tmp_path / "report.html").read_text()
    part = interplay.search_shard(X, y, shard=(1, 1), dimensions=1)
    assert interplay.merge_parts([part]).provenance["samples_left_out"] == 3
    pairs = interplay.interactions(X, y)
    assert pairs.details().startswith("117 samples (3 left out); ")
    pairs.to_html(tmp_path / "pairs.html")
    assert "117 samples (3 left out)" in (tmp_path / "pairs.html").read_text()


def test_nothing_is_said_of_samples_where_none_was_left_out():
    X = np.random.default_rng(0).normal(size=(60, 3))
    result = interplay.select(X, X[:, 0] > 0, dimensions=1, random_state=0)
    assert result.provenance["samples_left_out"] == 0
    assert "left out" not in result.summary() + methods_paragraph(result)


def test_on_the_command_line(tmp_path):
    values = [f"{x}" for x in numbers()]
    values[40] = "n.d."
    y = (numbers() > 0).astype(int).tolist()
    (tmp_path / "data.csv").write_text(table(values, y=y))
    done = run("run", tmp_path / "data.csv", "--target", "y", "-k", "1")
    assert "Warning: column 'a' is taken as labels because of 'n.d.' in line 42" in done.err
    assert "use --na-values n.d. if" in done.err
    options = ["--target", "y", "-k", "1", "--na-values", "n.d.", "--na-values", "-9", "--missing", "impute"]
    done = run("run", tmp_path / "data.csv", *options, "--write-config", tmp_path / "run.toml", "--seed", "1")
    assert done.code == 0
    assert "taken as labels" not in done.err
    assert 'na_values = ["n.d.", "-9"]' in (tmp_path / "run.toml").read_text()
    again = run("run", tmp_path / "data.csv", "--config", tmp_path / "run.toml")
    assert again.out == done.out


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dataframes_are_not_taken_silently(library):
    texts = [f"{x}" for x in numbers()]
    texts[3] = texts[9] = "?"
    y = [0, 1] * (N // 2)
    with pytest.warns(
        UserWarning,
        match=r"^column 'a' of X is text and taken as labels, although 98 % of its 120 values are numbers, the others "
        r"are '\?' \(2\): convert it to numbers",
    ):
        interplay.max_information_gain(library({"a": texts, "b": list(range(N))}), y, dimensions=1)
    with pytest.warns(UserWarning, match="although its 120 values are numbers kept as text, such as '"):
        interplay.max_information_gain(library({"a": [str(i) for i in range(N)], "b": list(range(N))}), y)
    kinds = {"a": ["u", "v", "w"] * (N // 3), "b": ["1", "2", "3"] * (N // 3), "c": ["", "-", "+"] * (N // 3)}
    interplay.max_information_gain(library(kinds), y)


def test_what_the_user_calls_categorical_is_labels():
    texts = [f"{x}" for x in range(40)]
    y = [0, 1] * 20
    for frame in (
        pd.DataFrame({"a": pd.Categorical(texts), "b": range(40)}),
        pl.DataFrame({"a": pl.Series(texts, dtype=pl.Categorical), "b": range(40)}),
    ):
        interplay.max_information_gain(frame, y)


def test_odd_classes_are_named():
    X = numbers().reshape(-1, 2)
    y = ["ill", "well", "?"] * 20
    with pytest.warns(UserWarning, match=r"^y has a class '\?', which usually stands for a missing value"):
        interplay.max_information_gain(X, y)
    with pytest.warns(
        UserWarning, match=r"^y is text and taken as classes, although 67 % of its 60 values are numbers"
    ):
        interplay.max_information_gain(X, ["1", "2", "x"] * 20)
    interplay.max_information_gain(X, ["1", "2", "3", "4", "5"] * 12)


def test_doubts():
    assert doubt_about_labels({}) is None
    assert doubt_about_labels({str(i): 1 for i in range(1000)}) is None  # refused for its levels, with a reason
    assert doubt_about_labels({"a": 3, "1": 3}) is None
    assert doubt_about_labels({"X": 1, "1": 3, "2": 3}).strays == ["X"]
    assert not stands_for_missing("none", among_numbers=False)


def test_rare_classes_are_left_out(tmp_path):
    subtypes = ["ALL1/AF4"] * 10 + ["BCR/ABL"] * 30 + ["NUP-98"] + ["?"] * 2
    (tmp_path / "data.csv").write_text(table(np.arange(43).tolist(), y=subtypes))
    with pytest.warns(UserWarning, match="left out|read as missing") as caught:
        X, y = read_data(tmp_path / "data.csv", target="y", missing_target="drop", min_class=5)
    assert str(caught[-1].message).endswith("1 class has fewer than 5 samples ('NUP-98'); their 1 sample is left out")
    assert sorted(set(y)) == ["ALL1/AF4", "BCR/ABL"]
    assert as_table(X).samples_left_out == 3
    for target, min_class, words in (
        ("y", 11, "min_class=11 leaves fewer than two classes: use at most 10"),
        ("b", 50, "min_class=50 leaves fewer than two classes"),
        ("a", 5, "min_class is for classes, and the outcome has 43 different numbers"),
    ):
        with pytest.raises(ValueError, match=words), pytest.warns(UserWarning, match="left out|read as missing"):
            read_data(tmp_path / "data.csv", target=target, missing_target="drop", min_class=min_class)
