"""What real tables have wrong with them: one line that names it, from `select` and from the selector alike."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import interplay

N = 320


def good_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"v{v}": rng.normal(size=N) for v in range(5)})
    return frame, np.arange(N) % 2


def both_ways(X, y):
    return [
        lambda: interplay.select(X, y, dimensions=2, n_contrast=30, missing="error", random_state=0),
        lambda: interplay.MDFSSelector(dimensions=2, n_contrast=30, missing="error", random_state=0).fit(X, y),
    ]


def with_column(**column):
    return good_frame()[0].assign(**column)


def repeated_name():
    frame, _ = good_frame()
    return frame.rename(columns={"v1": "v0"})


SUBJECTS = [f"subject {i}" for i in range(N)]
MIXED = ["low", 3, 2.5, "high"] * (N // 4)
DAY = datetime.date(2024, 5, 1)

BAD_TABLES = {
    "duplicate names": (repeated_name(), "X has more than one column named 'v0': give each column a name of its own"),
    "mixed types": (with_column(dose=MIXED), "column 'dose' of X mixes float and int and str: turn it into"),
    "dates": (with_column(when=pd.to_datetime(["2024-05-01"] * N)), "column 'when' of X holds dates or times: turn"),
    "dates as objects": (with_column(when=[DAY] * N), "column 'when' of X holds dates or times"),
    "time differences": (
        with_column(took=pd.to_timedelta(["1h"] * N)),
        "column 'took' of X holds (dates or times|time diff)",
    ),
    "all missing": (with_column(empty=np.nan), "column 'empty' of X has only missing values: leave it out"),
    "all None": (with_column(empty=None), "column 'empty' of X has only missing values: leave it out"),
    "some missing": (
        with_column(gaps=[np.nan] + [1.0] * (N - 1)),
        r"X has 1 missing value in 1 column \('gaps'\): fill the gaps, or use missing='level' or missing='impute'",
    ),
    "no rows": (good_frame()[0].iloc[:0], "X has no samples: give at least one row"),
    "no columns": (good_frame()[0][[]], "X has no variables: give at least one column"),
    "an identifier": (
        with_column(subject=SUBJECTS),
        "column 'subject' of X has 320 levels, more than 256: an identifier[?] leave it out",
    ),
    "nested": (with_column(parts=[[1, 2]] * N), "column 'parts' of X holds nested values: split it"),
}


@pytest.mark.parametrize("fault", BAD_TABLES)
@pytest.mark.parametrize("way", [0, 1], ids=["select", "selector"])
def test_one_line_says_what_is_wrong(fault, way):
    table, message = BAD_TABLES[fault]
    y = np.arange(len(table)) % 2
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        both_ways(table, y)[way]()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("way", [0, 1], ids=["select", "selector"])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([np.nan, 1.0] + [0.0, 1.0] * (N // 2 - 1), r"y has 1 missing value \(the first at sample 0\): leave"),
        ([None, "b"] + ["a", "b"] * (N // 2 - 1), r"y has 1 missing value \(the first at sample 0\)"),
        (pd.array([1, None] + [0, 1] * (N // 2 - 1), dtype="Int64"), r"y has 1 missing value \(the first at sample 1"),
        (["a"] * N, "y has one class only: every sample is 'a'"),
        ([0, 1], "y must have one value per sample of X: 2 values, 320 samples"),
        ([DAY] * N, "y holds dates or times"),
    ],
)  # fmt: skip
def test_bad_decisions(y, message, way):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        both_ways(good_frame()[0], y)[way]()
    assert "\n" not in str(caught.value)


class TestDecisionAmongTheVariables:
    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
    @pytest.mark.parametrize("values", [["no", "yes"], [1, 2], [False, True], [0.25, 8.5]])
    def test_same_name_and_values_is_an_error(self, make, values):
        frame, y = good_frame()
        whole = make(frame.to_dict("list") | {"outcome": [values[q] for q in y]})
        for call in both_ways(whole, whole["outcome"]):
            with pytest.raises(ValueError, match=r"^column 'outcome' of X is y itself: leave it out of X, or give its"):
                call()

    def test_same_name_and_other_values_is_none(self):
        frame, y = good_frame()
        frame["outcome"] = np.random.default_rng(1).permutation(y)
        for call in both_ways(frame, pd.Series(y, name="outcome")):
            call()

    def test_given_by_name_it_is_no_variable(self):
        frame, y = good_frame()
        frame.insert(2, "outcome", np.where(y, "yes", "no"))
        settings = {"dimensions": 2, "n_contrast": 30, "random_state": 0}
        expected = interplay.select(frame.drop(columns="outcome"), frame["outcome"], **settings)
        for whole in (frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy()):
            found = interplay.select(whole, "outcome", **settings)
            assert found.table.equals(expected.table)
            assert found.runs[0].class_labels == ["no", "yes"]

    def test_equal_to_y_under_another_name_is_worth_a_warning(self):
        frame, y = good_frame()
        frame["diagnosis"] = np.where(y, "ill", "well")
        with pytest.warns(UserWarning, match="column 'diagnosis' of X determines y completely .*leave it out"):
            interplay.select(frame, y, dimensions=2, n_contrast=30)


def test_pair_hidden_in_a_table_as_people_have_them():
    """Twenty columns of all kinds, with gaps: the flag and the category decide together, neither does alone."""
    rng = np.random.default_rng(7)
    n = 600
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "weight": rng.normal(70, 12, n).round(1),
            "height": rng.normal(170, 9, n).astype(np.float32),
            "income": pd.array(rng.integers(10, 99, n) * 100, dtype="Int32"),
            "score": pd.array(rng.normal(size=n), dtype="Float64"),
            "smoker": rng.random(n) < 0.5,
            "vaccinated": pd.array(rng.random(n) < 0.5, dtype="boolean"),
            "city": rng.choice(["Ulm", "Bonn", "Jena", "Kiel", "Trier"], n),
            "blood": pd.Categorical(rng.choice(["0", "A", "B", "AB"], n, p=[0.35, 0.42, 0.15, 0.08])),
            "stage": pd.Categorical(rng.choice(["I", "II"], n), categories=["I", "II", "III"], ordered=True),
            "hospital": "north",
            "allele": rng.binomial(2, 0.3, n).astype(np.int8),
            "marker": rng.binomial(2, 0.5, n),
            "text": pd.array(rng.choice(["yes", "no", "maybe"], n), dtype="string"),
            "ratio": rng.exponential(size=n),
            "count": rng.poisson(3, n),
            "zeros": np.where(rng.random(n) < 0.95, 0.0, 1.0),
            "level": rng.choice([10, 20], n),
            "large": rng.integers(2**40, 2**41, n),
            "noise": rng.normal(size=n),
        }
    )  # fmt: skip
    assert frame.shape == (600, 20)
    y = np.where(frame["smoker"] ^ frame["blood"].isin(["A", "AB"]) ^ (rng.random(n) < 0.1), "ill", "well")
    for name in ("weight", "income", "vaccinated", "city", "blood", "text"):
        frame.loc[rng.random(n) < 0.05, name] = None
    alone = interplay.select(frame, y, dimensions=1, missing="level", random_state=0)
    assert alone.relevant == []
    for missing in ("level", "impute"):
        for table in (frame, pl.from_pandas(frame)):
            result = interplay.select(table, y, dimensions=2, missing=missing, random_state=0)
            assert sorted(result.relevant) == ["blood", "smoker"]
            rows = result.table.set_index("variable")
            assert rows.loc["blood", "partners"] == ("smoker",)
            assert rows.loc["smoker", "partners"] == ("blood",)
    selector = interplay.MDFSSelector(dimensions=2, missing="level", random_state=0).set_output(transform="pandas")
    pd.testing.assert_frame_equal(selector.fit_transform(frame, y), frame[["smoker", "blood"]])
