"""Rules in SQL, run by SQLite (and by DuckDB where it is installed), against groups of samples in plain pandas."""

import importlib.util
import sqlite3

import numpy as np
import pandas as pd
import pytest

import interplay


def in_sqlite(frame, column):
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("t", database, index=False)
        return [row[0] for row in database.execute(f"SELECT {column} FROM t")]


def in_duckdb(frame, column):
    import duckdb

    return [row[0] for row in duckdb.sql(f"SELECT {column} FROM frame").fetchall()]


DATABASES = [in_sqlite, *[in_duckdb] * (importlib.util.find_spec("duckdb") is not None)]


def study(seed=0, n=600):
    """Genotypes, labels with gaps and quotes, numbers; and a pattern of genotype and label."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["it's", "b c"], size=n).astype(object)
    genotype = rng.integers(0, 3, size=n)
    pattern = np.where(genotype == 1, 1, -1) * np.where(label == "b c", 1, -1)
    label[rng.random(n) < 0.05] = None
    frame = pd.DataFrame({"rs 1": genotype, 'the "label"': label, "number": rng.normal(size=n)})
    return frame, pattern


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("kind", ["number", "two classes", "three classes", "times"])
def test_sql_has_the_value_of_each_cell(kind, database):
    frame, pattern = study()
    rng = np.random.default_rng(1)
    n = len(frame)
    if kind == "number":
        y = value = pattern + rng.normal(size=n)
        asked: dict = {"decision": "number"}
    elif kind == "times":
        time = rng.exponential(np.exp(-pattern.astype(float)))
        event = time < 2
        time = np.minimum(time, 2)
        hazard = pd.Series({t: (event & (time == t)).sum() / (time >= t).sum() for t in np.unique(time)}).cumsum()
        y, value, asked = (time, event), event - hazard.loc[time].to_numpy(), {}
    else:
        y = (rng.random(n) < np.where(pattern > 0, 0.85, 0.15)).astype(int)
        if kind == "three classes":
            y = np.where(rng.random(n) < 0.1, 2, y)
        value, asked = y, {}
    found = interplay.interactions(frame, y, missing="level", **asked)
    assert found.significant == [("rs 1", 'the "label"')]
    (column,) = found.rules("sql")
    got = database(frame, column)
    groups = pd.DataFrame({"a": frame["rs 1"], "b": frame['the "label"'].fillna("gap"), "value": value}).groupby(
        ["a", "b"]
    )["value"]
    if kind == "three classes":
        expected = groups.transform(lambda s: s.mode()[0])
        assert got == [str(one) for one in expected]
    else:
        np.testing.assert_allclose(np.array(got, dtype=float), groups.transform("mean"), atol=1e-6)


def test_a_value_of_no_cell_gives_null():
    frame, pattern = study()
    found = interplay.interactions(frame, pattern > 0, missing="level")
    (column,) = found.rules("sql", row=0)
    new = pd.DataFrame({"rs 1": [1, 7, 1], 'the "label"': ["b c", "b c", "new"], "number": 0.0})
    got = in_sqlite(new, column)
    assert got[0] is not None
    assert got[1:] == [None, None]


def test_cut_numbers_between_two_thresholds():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))
    y = np.where(np.abs(X["a"]) < 0.43, 1, -1) * np.where(X["c"] > 0, 1, -1) + rng.normal(size=500)
    found = interplay.interactions(X, y, divisions=2)
    (column,) = found.rules("sql")
    thresholds = [found.cuts_of(v).thresholds[0] for v in (0, 2)]
    cells = [pd.Series(np.searchsorted(cut, X[name])) for cut, name in zip(thresholds, "ac", strict=True)]
    expected = pd.Series(y).groupby(cells).transform("mean")
    np.testing.assert_allclose(np.array(in_sqlite(X, column), dtype=float), expected, atol=1e-6)


ODD_VALUES = {
    "bool": lambda rng, n: rng.random(n) < 0.5,
    "whole numbers that no float holds": lambda rng, n: 2**53 + rng.integers(0, 2, n),
    "infinity as a level": lambda rng, n: rng.choice([0.0, np.inf], n),
    "infinity beside thresholds": lambda rng, n: rng.choice([-np.inf, *rng.normal(size=9), np.inf], n),
    "single precision": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "large whole numbers that are cut": lambda rng, n: rng.integers(2**54, 2**62, n),
}


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("kind", ODD_VALUES)
@pytest.mark.parametrize("beside", [np.array([0, 1]), np.array([0.5, 1.5])], ids=["whole", "float"])
def test_sql_of_odd_values(kind, beside, database):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": ODD_VALUES[kind](rng, 400), "b": rng.choice(beside, 400)})
    y = 1e-9 * (((frame["a"] > frame["a"].median()) ^ (frame["b"] > 0.9)) + rng.normal(size=400))
    found = interplay.interactions(frame, y, top=1, decision="number", divisions=2)
    (column,) = found.rules("sql", row=0)
    thresholds = found.cuts_of(0).thresholds
    levels = [int((one > thresholds[0]).sum()) for one in frame["a"].tolist()] if len(thresholds) else frame["a"]
    expected = y.groupby([pd.Series(levels), frame["b"]]).transform("mean")
    np.testing.assert_allclose(np.array(database(frame, column), dtype=float), expected)
