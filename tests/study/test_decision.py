import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reference
from interplay.data.study.outcomes.classes import decision_classes


@pytest.mark.parametrize(
    ("y", "codes", "labels"),
    [
        (np.array([True, False, True, False]), [1, 0, 1, 0], [False, True]),
        ([True, False, True, False], [1, 0, 1, 0], [False, True]),
        (np.array([2, -1, 2, -1], np.int8), [1, 0, 1, 0], [-1, 2]),
        (np.array([1.0, 0.0, 0.0, 1.0]), [1, 0, 0, 1], [0, 1]),
        (np.array([[3], [1], [3], [1]]), [1, 0, 1, 0], [1, 3]),
        (["b", "a", "a", "b"], [1, 0, 0, 1], ["a", "b"]),
        (np.array(["b", "a", "a", "b"]), [1, 0, 0, 1], ["a", "b"]),
        (np.array(["b", "a", "a", "b"], dtype=object), [1, 0, 0, 1], ["a", "b"]),
        (("b", "a", "a", "b"), [1, 0, 0, 1], ["a", "b"]),
        (pd.Series(["b", "a", "a", "b"], index=[9, 8, 7, 6]), [1, 0, 0, 1], ["a", "b"]),
        (pd.Series([3, 1, 1, 3], dtype="Int64"), [1, 0, 0, 1], [1, 3]),
        (pd.Series([True, False, False, True], dtype="boolean"), [1, 0, 0, 1], [False, True]),
        (pd.Index(["b", "a", "a", "b"]), [1, 0, 0, 1], ["a", "b"]),
        (pd.Categorical(["b", "a", "a", "b"], categories=["c", "b", "a"]), [0, 1, 1, 0], ["b", "a"]),
        (pd.Series(["b", "a", "a", "b"]).astype("category"), [1, 0, 0, 1], ["a", "b"]),
        (pd.DataFrame({"y": [5, 4, 4, 5]}), [1, 0, 0, 1], [4, 5]),
        (pl.Series(["b", "a", "a", "b"]), [1, 0, 0, 1], ["a", "b"]),
        (pl.Series([2, 1, 1, 2]), [1, 0, 0, 1], [1, 2]),
        (pl.Series(["b", "a", "a", "b"], dtype=pl.Enum(["b", "a"])), [0, 1, 1, 0], ["b", "a"]),
        (pa.chunked_array([["b", "a"], ["a", "b"]]), [1, 0, 0, 1], ["a", "b"]),
        (pa.array([2, 1, 1, 2]), [1, 0, 0, 1], [1, 2]),
    ],
)
def test_labels_of_any_kind(y, codes, labels):
    found = decision_classes(y, n_samples=4)
    assert found.codes.dtype == np.int64
    assert (found.codes.tolist(), found.labels, found.kind) == (codes, labels, "classes")
    assert [type(label) for label in found.labels] == [type(label) for label in labels]
    assert found.sizes.tolist() == [2, 2]


def test_auto_tells_numbers_from_classes():
    twenty = np.repeat(np.arange(20), 2)
    assert decision_classes(twenty, n_samples=40).kind == "classes"
    assert decision_classes(twenty.astype(float), n_samples=40).n_classes == 20
    many = np.repeat(np.arange(21), 2)
    assert decision_classes(many, n_samples=42).kind == "continuous"
    assert decision_classes(many.astype(float), n_samples=42).kind == "continuous"
    assert decision_classes(many.astype(str), n_samples=42).n_classes == 21
    assert decision_classes([0.5, 0.5, 2.0, 2.0, 3.0, 3.0], n_samples=6).kind == "continuous"
    assert decision_classes([-0.5, 0.5, 0.5, -0.5], n_samples=4).labels == [-0.5, 0.5]
    assert decision_classes([0.5, 0.5, 1.5, 1.5], n_samples=4, decision="classes").labels == [0.5, 1.5]
    assert decision_classes(twenty, n_samples=40, decision="continuous").n_classes == 2
    assert decision_classes([np.inf, 1.0, 1.0, np.inf], n_samples=4).kind == "classes"


@pytest.mark.parametrize("divisions", [1, 2, 4])
@pytest.mark.parametrize("n_samples", [63, 64, 65, 200])
def test_continuous_follows_the_rank_rule(n_samples, divisions):
    y = np.random.default_rng(n_samples).normal(size=n_samples).round(1)
    found = decision_classes(y, n_samples=n_samples, decision_divisions=divisions)
    wanted = reference.discretize(y.tolist(), variable=0, discretization=0, divisions=divisions, range_=0.0, seed=0)
    assert found.codes.tolist() == wanted
    assert found.n_classes == divisions + 1
    for value in np.unique(y):
        assert len(set(found.codes[y == value])) == 1


def test_continuous_labels_say_the_ranges():
    y = np.arange(30) / 2
    found = decision_classes(y, n_samples=30, decision_divisions=2)
    assert found.labels == ["y <= 5", "5 < y <= 10", "y > 10"]
    assert y[found.codes == 1].min() == 5.5
    assert y[found.codes == 1].max() == 10


def test_ties_that_empty_a_class_leave_the_others():
    y = np.array([0.0] * 10 + [1.5] * 10)
    with pytest.warns(UserWarning, match="decision_divisions: equal values in y leave 2 of 4 classes"):
        found = decision_classes(y, n_samples=20, decision="continuous", decision_divisions=3)
    assert found.sizes.tolist() == [10, 10]
    assert found.labels == ["y <= 0", "y > 0"]


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (pd.DataFrame(np.zeros((4, 2))), {}, "y must be one column, not 2"),
        (["a", "a", None, float("nan")], {}, r"y has 2 missing values \(the first at sample 2\)"),
        (np.ones(4, bool), {}, "y has one class only: every sample is True"),
        (
            [0.1, 0.2, 0.3, 0.4],
            {"decision_divisions": 3},
            "fewer than 2 samples, '0.2 < y <= 0.3': use a smaller decision_div",
        ),
        (pd.to_datetime(pd.Series(["2020-01-01"] * 4)), {}, "y holds dates or times"),
    ],
)
def test_errors(y, options, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        decision_classes(y, n_samples=4, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
def test_whole_numbers_are_numbered_as_by_sorting(dtype):
    rng = np.random.default_rng(4)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for choices in (
        [0, 1],
        range(0, 120, 2),
        [3, 90],
        [low, high],
        [high, high - 2],
        [low, low + 5],
        [high // 2, 7, high],
    ):
        y = np.repeat(np.array(choices, dtype=dtype), 3)[rng.permutation(3 * len(choices))]
        classes = decision_classes(y, n_samples=len(y), decision="classes")
        used, codes = np.unique(y, return_inverse=True)
        assert classes.labels == used.tolist()
        assert np.array_equal(classes.codes, codes)
        assert classes.codes.dtype == np.int64


@pytest.mark.parametrize("kind", [list, np.float32, np.float64, np.int64, pd.Series, pl.Series])
def test_whole_numbers_are_called_the_same_from_everywhere(kind):
    y = [0, 2, 1, 1, 2, 0]
    given = kind([float(value) for value in y]) if kind in (list, pd.Series, pl.Series) else np.array(y, kind)
    assert list(map(str, decision_classes(given, n_samples=6).labels)) == ["0", "1", "2"]
    assert list(map(str, decision_classes([0.5, 1.0] * 3, n_samples=6).labels)) == ["0.5", "1.0"]


def test_a_number_that_is_a_class_is_quoted():
    with pytest.raises(ValueError, match="fewer than 2 samples, '2': leave it out"):
        decision_classes([0, 0, 0, 1, 1, 1, 2], n_samples=7)


@pytest.mark.parametrize("labels", [("case", "control"), ("Case", "Control")])
def test_cases_are_the_second_class(labels):
    case, control = labels
    found = decision_classes([case, control, control, case], n_samples=4)
    assert found.labels == [control, case]
    assert found.codes.tolist() == [1, 0, 0, 1]
