"""Numbers in text files: decimal commas and points, and what sets off thousands, judged by whole columns."""

import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import interplay
from interplay.data.study.table import as_table
from interplay.io import read_data
from interplay.readers.csv_table import read_csv


def read(folder, columns, separator="\t", **options):
    path = folder / "data.csv"
    rows = [separator.join(columns)]
    for row in zip(*columns.values(), strict=True):
        rows.append(separator.join(f'"{field}"' if separator in field else field for field in row))
    path.write_text("\n".join(rows) + "\n")
    return read_csv(path, delimiter=separator, **options)


@pytest.mark.parametrize("separator", ["\t", ";", ",", "|"])
@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,8", "12", "0,25"], [1.8, 12.0, 0.25]),
        (["12", "7", "1,8"], [12.0, 7.0, 1.8]),  # whole numbers first
        (["1,234", "447", "0,5"], [1.234, 447.0, 0.5]),
        (["1,234", "4475"], [1.234, 4475.0]),  # who sets off thousands would have written 4,475
        (["1,234", "0,500"], [1.234, 0.5]),
        (["1,234", "1,2e3"], [1.234, 1200.0]),
        (["1,234,567", "447", "-1,234"], [1234567, 447, -1234]),
        (["1,234.5", "447"], [1234.5, 447.0]),
        (["1.234,5", "447"], [1234.5, 447.0]),
        (["1.234.567", "447"], [1234567, 447]),
        (["1.5", "447"], [1.5, 447.0]),
        (["1.234", "447"], [1.234, 447.0]),  # the point is the decimal sign where nothing speaks against it
        ([" 1,8", "+2,5 ", ",5"], [1.8, 2.5, 0.5]),
        (["0,1", "123456789,123456789"], [0.1, 123456789.123456789]),
    ],
)
def test_all_values_of_a_column_decide(tmp_path, separator, texts, numbers):
    for order in (1, -1):
        frame = read(tmp_path, {"a": texts[::order], "b": ["x"] * len(texts)}, separator)
        assert frame["a"].tolist() == numbers[::order]
        assert frame["a"].dtype == np.array(numbers).dtype


@pytest.mark.parametrize("rows", [3, 50])
@pytest.mark.parametrize(
    "texts",
    [["1,234", "447"], ["1,234", "447.5"], ["12,345", "0"], ["447"] * 40 + ["1,234"]],
    ids=lambda texts: texts[-1],
)
@pytest.mark.parametrize("separator", ["\t", ","])
def test_what_no_value_decides_is_refused(tmp_path, texts, rows, separator):
    for order in (1, -1):
        column = (texts * rows)[::order]
        with pytest.raises(ValueError, match=r"column 'a': '.*' .line .* can be read in two ways") as caught:
            read(tmp_path, {"a": column, "n": ["7"] * len(column)}, separator)
        assert "decimal=','" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_what_no_value_decides_may_be_said_or_left_out(tmp_path):
    columns = {"a": ["1,234", "447"], "b": ["3", "4"]}
    assert read(tmp_path, columns, decimal=",")["a"].tolist() == [1.234, 447]
    assert read(tmp_path, columns, decimal=".")["a"].tolist() == [1234, 447]
    assert read(tmp_path, columns, unread=["a"])["b"].tolist() == [3, 4]
    X, _ = read_data(tmp_path / "data.csv", target="b", drop=["a"], delimiter="\t", decimal=None)
    assert X.empty
    X, _ = read_data(tmp_path / "data.csv", target="b", delimiter="\t", decimal=",")
    assert X["a"].tolist() == [1.234, 447]


@pytest.mark.parametrize(
    ("other", "numbers", "taken"),
    [
        (
            ["0,5", "1,25"],
            [1.234, 447],
            "comma is taken as the decimal sign, because other columns have decimal commas",
        ),
        (["0.5", "1.25"], [1234, 447], "comma is taken as the separator of thousands, because other columns"),
        (["1,234,567", "5"], [1234, 447], "comma is taken as the separator of thousands, because other columns"),
    ],
)
def test_other_columns_decide_and_it_is_said(tmp_path, other, numbers, taken):
    for order in (1, -1):
        with pytest.warns(UserWarning, match=taken) as caught:
            frame = read(tmp_path, {"a": ["1,234", "447"][::order], "b": other[::order]})
        assert frame["a"].tolist() == numbers[::order]
        assert len(caught) == 1
        assert "column 'a': in '1,234' (line" in str(caught[0].message)


def test_points_are_doubted_where_commas_are_decimal_signs(tmp_path):
    for order in (1, -1):
        columns = {"a": ["1.234", "447"][::order], "b": ["0,5", "1,25"]}
        with pytest.warns(UserWarning, match="the point is taken as the separator of thousands"):
            assert read(tmp_path, columns)["a"].tolist() == [1234, 447][::order]
        columns |= {"c": ["0.25", "1.5"]}
        with pytest.raises(ValueError, match=r"column 'a': '1\.234' .* the point may be"):
            read(tmp_path, columns)


@pytest.mark.parametrize(("separator", "numbers"), [("\t", [1.234, 2.345]), (",", [1234, 2345])])
def test_where_the_order_is_the_same_it_is_only_said(tmp_path, separator, numbers):
    with pytest.warns(UserWarning, match="no difference to the order"):
        assert read(tmp_path, {"a": ["1,234", "2,345"], "b": ["x", "y"]}, separator)["a"].tolist() == numbers


@pytest.mark.parametrize("share", [0.02, 0.08, 0.11, 0.3, 0.49])
def test_slips_are_pointed_at_however_many(tmp_path, share):
    n_stray = round(200 * share)
    texts = ["bad"] * n_stray + [f"{i},5" for i in range(200 - n_stray)]
    random.Random(0).shuffle(texts)
    line = texts.index("bad") + 2  # the header is the first
    with pytest.warns(
        UserWarning, match=rf"column 'a' is taken as labels because of 'bad' in line {line} and {n_stray - 1}"
    ) as caught:
        read(tmp_path, {"a": texts})
    assert f"{round(100 * (1 - n_stray / 200))} % of its 200 values are numbers" in str(caught[0].message)
    assert "na_values=['bad']" in str(caught[0].message)


def test_labels_are_left_alone(tmp_path):
    columns = {
        "set": ["1,2", "1,2,3", "2"],
        "code": ["A1", "B2", "3"],
        "day": ["01.02.2020", "02.02.2020", "1"],
        "empty": ["", "", ""],
        "flag": ["True", "False", "True"],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        frame = read(tmp_path, columns)
    assert frame["set"].tolist() == columns["set"]
    assert frame["code"].tolist() == columns["code"]
    assert frame["day"].tolist() == columns["day"]
    assert frame["empty"].isna().all()
    assert frame["flag"].dtype == bool


def test_missing_values_stay_missing(tmp_path):
    frame = read(tmp_path, {"a": ["1,5", "", "NA", "2"], "b": ["1,234,567", "1", "", "3"], "c": ["1", "", "3", "4"]})
    np.testing.assert_array_equal(frame["a"], [1.5, np.nan, np.nan, 2])
    np.testing.assert_array_equal(frame["b"], [1234567, 1, np.nan, 3])
    np.testing.assert_array_equal(frame["c"], [1, np.nan, 3, 4])


VALUES = st.lists(
    st.one_of(
        st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), st.integers(-2000, 2000), st.sampled_from([0.5, 1.234, 447])
    ),
    min_size=2,
    max_size=30,
)


@settings(deadline=None)
@given(VALUES, st.sampled_from([",", "."]), st.sampled_from([";", "\t"]), st.randoms(use_true_random=False))
def test_what_is_read_does_not_depend_on_the_order_of_rows(tmp_path_factory, values, decimal, separator, rng):
    """And is what was written, or refused."""
    folder = tmp_path_factory.mktemp("rows")
    texts = [repr(value).replace(".", decimal) for value in values]
    other = [f"{i}{decimal}5" for i in range(len(values))]

    def outcome(order):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            try:
                frame = read(folder, {"a": [texts[i] for i in order], "b": [other[i] for i in order]}, separator)
            except ValueError:
                return None
        numbers = np.empty(len(values))
        numbers[order] = frame["a"].to_numpy(dtype=float)
        return numbers.tolist()

    order = list(range(len(values)))
    first = outcome(order)
    assert first == [float(value) for value in values]
    rng.shuffle(order)
    assert outcome(order) == first


def test_the_search_is_the_same_whatever_row_comes_first(tmp_path):
    """Whole numbers in the first row once made labels of a column, and other p-values."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 60, 200) / 10
    a[0] = 3
    y = (a + rng.normal(size=200) > 3).astype(int)
    texts = [f"{value:g}".replace(".", ",") for value in a]
    gains = []
    for order in (1, -1):
        columns = {"a": texts[::order], "b": [str(i % 7) for i in range(200)], "y": [str(c) for c in y[::order]]}
        read(tmp_path, columns, ";")
        X, decision = read_data(tmp_path / "data.csv", target="y")
        assert X["a"].tolist() == a[::order].tolist()
        gains.append(interplay.max_information_gain(X[["a"]], decision, dimensions=1).gain)
    assert np.array_equal(*gains)


@pytest.mark.filterwarnings("ignore:read as missing values")
@pytest.mark.parametrize("low", [2**53, 2**63, 2**64, 10**40, -(10**40)])
@pytest.mark.parametrize("gaps", [[], ["NA"]])
def test_whole_numbers_of_any_size_stay_apart(tmp_path, low, gaps):
    file = tmp_path / "data.csv"
    numbers = [low + step for step in (2, 0, 1, 3)]
    file.write_text("a,b\n" + "".join(f"{text},1\n" for text in [*numbers, *gaps]))
    found = as_table(read_csv(file)).column(0).read()
    assert np.argsort(found[:4]).tolist() == [1, 2, 0, 3]
    assert len(set(found[:4].tolist())) == 4
    assert np.isnan(found[4:].astype(float)).all()
