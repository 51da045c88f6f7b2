"""Cut numbers do not interact because they were cut: interactions(), selections, shards, new samples."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import interplay


def problem(n=2000, seed=0):
    """The effects of x0 and x1, correlated and skewed, add up; x2 and x3 interact; x4, x5 do nothing."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, 6))
    latent[:, 1] = 0.7 * latent[:, 0] + 0.714 * latent[:, 1]
    X = stats.expon.ppf(stats.norm.cdf(latent))
    xor = np.sign((X[:, 2] - np.log(2)) * (X[:, 3] - np.log(2)))
    return X, X[:, 0] + X[:, 1] + 0.5 * xor + rng.normal(size=n)


def test_effects_that_add_up_are_no_interaction():
    X, y = problem()
    found = interplay.interactions(X, y, scale="values")
    assert found.significant == [("x2", "x3")]
    table = found.table.set_index("members")
    assert set(table.index) == {("x0", "x1"), ("x2", "x3")}
    assert table["holds_smooth"].to_dict() == {("x2", "x3"): True, ("x0", "x1"): False}
    assert (table["p_smooth_adjusted"] >= table["p_smooth"]).all()


@pytest.mark.parametrize("kind", ["number", "classes"])
def test_interactions_are_kept(kind):
    X, y = problem()
    found = interplay.interactions(X, y if kind == "number" else y > np.median(y))
    assert found.significant == [("x2", "x3")]
    assert found.table["p_smooth"].iloc[0] < 1e-6


def test_a_smooth_product_is_found():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 4))
    y = 0.3 * X[:, 0] * X[:, 1] + rng.normal(size=2000)
    assert interplay.interactions(X, y).significant == [("x0", "x1")]


def test_discrete_columns_are_not_tested_again():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, size=(900, 4)).astype(float)
    y = (X[:, 0] == 1) * (X[:, 1] == 1) + rng.normal(size=900)
    found = interplay.interactions(X, y)
    assert found.significant == [("x0", "x1")]
    assert "p_smooth" not in found.table
    mixed = np.column_stack([X, rng.normal(size=900)])
    assert interplay.interactions(mixed, y, top=8).table["p_smooth"].isna().iloc[0]


def test_shards_are_merged_to_the_same():
    X, y = problem()
    whole = interplay.interactions(X, y, scale="values")
    parts = [interplay.interactions(X, y, scale="values", shard=(i, 3)) for i in (1, 2, 3)]
    merged = interplay.merge_interactions(parts)
    pd.testing.assert_frame_equal(merged.table, whole.table)
    assert merged.notes() == whole.notes()


def test_new_samples():
    X, y = problem(4000)
    found = interplay.interactions(X[:2000], y[:2000], scale="values")
    again = found.replicate(X[2000:], y[2000:])
    assert again.significant == [("x2", "x3")]
    table = again.table.set_index("members")
    assert table.loc[[("x0", "x1")], "p_adjusted"].iloc[0] < 0.05 <= table.loc[[("x0", "x1")], "p_smooth"].iloc[0]
    held = interplay.interactions(X, y, scale="values", holdout=0.5, random_state=1)
    assert held.significant == [("x2", "x3")]


def test_verdicts_of_selections():
    X, y = problem(3000)
    found = interplay.select(X, y, dimensions=2, scale="values", random_state=0)
    assert found.verdict_of("x0").verdict in ("additive", "unclear")
    assert found.verdict_of("x0").p_adjusted >= 0.05
    assert found.verdict_of("x2").verdict == "interaction"
    pairs = found.interactions()
    assert pairs.significant == [("x2", "x3")]
    assert any("only an effect of cutting" in note for note in pairs.notes())
    rows = found.synergies().set_index("variable")
    assert set(rows.loc[["x0", "x1"], "verdict"]) <= {"additive", "unclear"}


def test_missing_values_and_files(tmp_path):
    X, y = problem()
    X[np.random.default_rng(0).random(X.shape) < 0.03] = np.nan
    for missing in ("level", "impute"):  # where a value is missing, or drawn, its correlated partner tells more
        assert ("x2", "x3") in interplay.interactions(X, y, scale="values", missing=missing).significant
    found = interplay.interactions(X, y, scale="values", missing="omit")
    assert found.significant == [("x2", "x3")]
    found.save(tmp_path / "pairs")
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, found.table)


def test_samples_of_groups():
    X, y = problem(1200)
    found = interplay.interactions(X, y, scale="values", groups=np.arange(1200) // 2, n_permutations=59)
    assert found.significant == [("x2", "x3")]
