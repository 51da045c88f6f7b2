"""Rules in SQL, run by SQLite, against groups of samples in plain pandas."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest

import interplay


def in_sqlite(frame: pd.DataFrame, column: str) -> list:
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("t", database, index=False)
        return [row[0] for row in database.execute(f"SELECT {column} FROM t")]


def study(seed: int = 0, n: int = 600) -> tuple[pd.DataFrame, np.ndarray]:
    """Genotypes, labels with gaps and quotes, numbers; and a pattern of genotype and label."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["it's", "b c"], size=n).astype(object)
    genotype = rng.integers(0, 3, size=n)
    pattern = np.where(genotype == 1, 1, -1) * np.where(label == "b c", 1, -1)
    label[rng.random(n) < 0.05] = None
    frame = pd.DataFrame({"rs 1": genotype, 'the "label"': label, "number": rng.normal(size=n)})
    return frame, pattern


@pytest.mark.parametrize("kind", ["number", "two classes", "three classes", "times"])
def test_sql_has_the_value_of_each_cell(kind: str) -> None:
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
    got = in_sqlite(frame, column)
    groups = pd.DataFrame({"a": frame["rs 1"], "b": frame['the "label"'].fillna("gap"), "value": value}).groupby(
        ["a", "b"]
    )["value"]
    if kind == "three classes":
        expected = groups.transform(lambda s: s.mode()[0])
        assert got == [str(one) for one in expected]
    else:
        np.testing.assert_allclose(np.array(got, dtype=float), groups.transform("mean"), atol=1e-6)


def test_a_value_of_no_cell_gives_null() -> None:
    frame, pattern = study()
    found = interplay.interactions(frame, pattern > 0, missing="level")
    (column,) = found.rules("sql", row=0)
    new = pd.DataFrame({"rs 1": [1, 7, 1], 'the "label"': ["b c", "b c", "new"], "number": 0.0})
    got = in_sqlite(new, column)
    assert got[0] is not None
    assert got[1:] == [None, None]


def test_cut_numbers_between_two_thresholds() -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))
    y = np.where(np.abs(X["a"]) < 0.43, 1, -1) * np.where(X["c"] > 0, 1, -1) + rng.normal(size=500)
    found = interplay.interactions(X, y, divisions=2)
    (column,) = found.rules("sql")
    thresholds = [found.cuts_of(v).thresholds[0] for v in (0, 2)]
    cells = [pd.Series(np.searchsorted(cut, X[name])) for cut, name in zip(thresholds, "ac", strict=True)]
    expected = pd.Series(y).groupby(cells).transform("mean")
    np.testing.assert_allclose(np.array(in_sqlite(X, column), dtype=float), expected, atol=1e-6)
