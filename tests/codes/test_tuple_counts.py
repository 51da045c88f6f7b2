"""The cells kept in a Selection are those the search saw: counted here again from codes, in plain loops."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.data.codes.tuple_counts import MAX_NUMBERS


def people(seed=0, n=500):
    """Text, flags, few-valued and plain numbers, some missing; ill when smoking and sex disagree, or when old."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "noise": rng.normal(size=n),
        "sex": rng.choice(["f", "m"], n),
        "smokes": rng.random(n) < 0.5,
        "dose": rng.integers(0, 3, n),
        "age": rng.normal(50, 10, n),
    })  # fmt: skip
    frame.loc[::25, "age"] = np.nan
    ill = np.where((frame["sex"] == "f") ^ frame["smokes"], "ill", "well")
    return frame, np.where((frame["dose"] == 2) & (frame["age"] > 50), "treated", ill)


def plain_counts(codes, y, shape):
    counts = np.zeros(shape, dtype=int)
    for cell, number in Counter(zip(*codes, y, strict=True)).items():
        counts[cell] = number
    return counts


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_counts_are_those_of_the_codes(dimensions):
    rng = np.random.default_rng(dimensions)
    X = rng.normal(size=(400, 12))
    y = ((X[:, 3] > 0.3) & (X[:, 7] > -0.2)).astype(int)
    settings = {"divisions": 2, "discretizations": 4, "random_state": 5}
    result = interplay.select(X, y, dimensions=dimensions, **settings)
    codes = interplay.discretize(X, dimensions=dimensions, **settings)
    assert {"x3", "x7"} <= set(result.relevant)
    for name in result.relevant:
        v = result.names.index(name)
        found = result.counts_of(name)
        members, d = result.gains.tuples[v], result.gains.discretization[v]
        assert found.members.tolist() == members.tolist()
        assert found.discretization == d
        expected = plain_counts([codes[d, :, m] for m in members], y, (*(3,) * dimensions, 2))
        np.testing.assert_array_equal(found.counts, expected)


def test_levels_are_called_what_the_user_calls_them():
    frame, y = people()
    result = interplay.select(frame, y, dimensions=2, missing="level", random_state=0)
    levels = {}
    for counts in result.tuple_counts:
        assert counts.counts.shape == (*map(len, counts.level_names), 3)
        levels |= {result.names[m]: names for m, names in zip(counts.members, counts.level_names, strict=True)}
    assert levels["sex"] == ["f", "m"]
    assert levels["smokes"] == ["False", "True"]
    assert levels["dose"] == ["0", "1", "2"]
    assert levels["age"][0].startswith("≤ ")
    assert levels["age"][1].startswith("> ")
    assert levels["age"][2] == "missing"
    sex_smokes = result.counts_of("sex").counts
    table = pd.crosstab([frame["sex"], frame["smokes"]], y).to_numpy()
    np.testing.assert_array_equal(sex_smokes.reshape(4, 3), table)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_each_comparison_counts_its_own_samples(multiclass):
    frame, y = people(1)
    result = interplay.select(frame, y, dimensions=2, missing="impute", multiclass=multiclass, random_state=0)
    assert len(result.ranked)
    for name in result.relevant:
        counts = result.counts_of(name)
        run = result.runs[counts.run]
        assert run.decision == result.table.set_index("variable").loc[name, "decision"]
        np.testing.assert_array_equal(counts.counts.reshape(-1, 2).sum(axis=0), run.class_sizes)


@pytest.mark.filterwarnings("ignore:column 'kind' of X determines y completely")  # of two classes, it does
def test_a_level_that_a_comparison_lacks_is_not_named():
    rng = np.random.default_rng(0)
    kind = np.repeat(["a", "b", "c"], 100)
    # Class 2 has only "c": in the comparison of 0 and 1 there is none.
    y = np.where(kind == "c", 2, kind == np.where(rng.random(300) < 0.9, "a", "b"))
    frame = pd.DataFrame({"kind": kind} | {f"n{i}": rng.normal(size=300) for i in range(5)})
    result = interplay.select(frame, y, dimensions=1, multiclass="ovo", random_state=0)
    named = [counts.level_names[0] for counts in result.tuple_counts if result.names[counts.members[0]] == "kind"]
    assert named
    for counts in result.tuple_counts:
        np.testing.assert_array_equal([len(names) for names in counts.level_names], counts.counts.shape[:-1])


def test_saved_and_loaded(tmp_path):
    frame, y = people(2)
    result = interplay.select(frame, y, dimensions=2, missing="level", random_state=0)
    result.save(tmp_path / "run")
    again = interplay.load(tmp_path / "run")
    for mine, theirs in zip(result.tuple_counts, again.tuple_counts, strict=True):
        np.testing.assert_array_equal(mine.counts, theirs.counts)
        assert mine.level_names == theirs.level_names


def test_tuples_nobody_could_look_at_are_not_kept():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, size=(3000, 4))
    y = (X[:, 0] + X[:, 1]) % 2
    result = interplay.select(X, y, dimensions=2, discrete="all", n_contrast=30, random_state=0)
    assert MAX_NUMBERS < 40 * 40 * 2
    assert "x0" in result.relevant
    with pytest.raises(ValueError, match="are not stored"):
        result.counts_of("x0")


def test_irrelevant_variables_have_none():
    frame, y = people()
    result = interplay.select(frame, y, dimensions=2, missing="level", random_state=0)
    assert "noise" not in result.relevant
    with pytest.raises(ValueError, match="'noise' are not stored"):
        result.counts_of("noise")
    with pytest.raises(ValueError, match="not among"):
        result.counts_of("nobody")
