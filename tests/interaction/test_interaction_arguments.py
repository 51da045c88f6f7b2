"""interactions(): which tuples are asked for, and what is refused."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import interplay
from interaction_problems import xor


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize(
    "which",
    [
        {"variables": [1, "x4", 6]},
        {"variables": [1, "x4", 6], "require": "all"},
        {"variables": [0, 3], "partners": [3, 5, 6, 8]},
        {"min_distance": 3, "positions": [("a", v) for v in range(5)] + [("b", v) for v in range(4)]},
        {"min_distance": 2.5, "positions": {f"x{v}": v for v in range(2, 7)}},
        {
            "min_distance": 2,
            "positions": pd.DataFrame({"variable": [f"x{v}" for v in range(9)], "position": range(9), "chromosome": 1}),
            "variables": [0, 1, 8],
            "partners": [1, 4, 6],
        },
    ],
)
def test_tuples_asked_for(dimensions, which):
    X, y = xor(4, n_vars=10)
    X = X[:, :9]
    everything = interplay.interactions(X, y, dimensions=dimensions, max_p=1)
    found = interplay.interactions(X, y, dimensions=dimensions, max_p=1, **which)
    wanted = [row for row, members in enumerate(everything.tested.tuples.tolist()) if is_wanted(members, which)]
    assert 0 < len(wanted) < len(everything)
    assert found.n_tests == len(wanted)
    same = ["members", "chi2", "df", "p_value", "log_or"]
    pd.testing.assert_frame_equal(found.table[same], everything.table.loc[wanted, same].reset_index(drop=True))
    assert interplay.interactions(X, y, dimensions=dimensions, top=2, **which).tested.tuples.tolist() == (
        found.tested.tuples[:2].tolist()
    )


def is_wanted(members, which):
    first = {int(str(v).removeprefix("x")) for v in which.get("variables", range(9))}
    inside = set(members)
    if "partners" in which:
        if not any(v in first and inside - {v} <= set(which["partners"]) for v in members):
            return False
    elif not (inside <= first if which.get("require") == "all" else inside & first):
        return False
    if "min_distance" not in which:
        return True
    given = which["positions"]
    if isinstance(given, pd.DataFrame):
        place = {v: (0, float(v)) for v in range(9)}
    elif isinstance(given, dict):
        place = {int(name[1:]): (0, at) for name, at in given.items()}
    else:
        place = dict(enumerate(given))
    return all(
        a not in place or b not in place or place[a][0] != place[b][0]
        or abs(place[a][1] - place[b][1]) >= which["min_distance"]
        for a, b in combinations(members, 2)
    )  # fmt: skip


def test_columns_taken_as_they_are_are_those_of_the_table():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (400, 8)).astype(float)
    y = rng.integers(0, 2, 400)
    everything = interplay.interactions(X, y, discrete=[2, "x6"], max_p=1, coding="levels").table.set_index("members")
    some = interplay.interactions(
        X, y, discrete=[2, "x6"], variables=[2, 3], partners=[5, 6, 7], max_p=1, coding="levels"
    )
    assert some.settings["discrete"] == [2, "x6"]
    for members, df, chi2 in zip(some.table["members"], some.table["df"], some.table["chi2"], strict=True):
        assert (df, chi2) == tuple(everything.loc[[members], ["df", "chi2"]].iloc[0])
    assert sorted(some.table["df"]) == [1, 1, 5, 5, 5, 25]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"variables": ["x1"], "partners": ["nobody"]}, "partners names 'nobody'"),
        ({"variables": ["x1", "x2"], "partners": ["x3"], "require": "all"}, "contradict each other"),
        ({"positions": [1] * 15}, "positions are only used with min_distance"),
        ({"min_distance": 5, "positions": {"g": 3}}, "positions names none of the variables"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(ValueError, match=words):
        interplay.interactions(*xor(0), **arguments)


def test_a_list_that_nobody_could_hold_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 7000))
    with pytest.raises(ValueError, match=r"max_p=1 would list about 2\.45e\+07"):
        interplay.interactions(X, np.arange(20) % 2, max_p=1)
