"""interactions(coding="product" or "auto"): variables that are not cut, and the better of two ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import interplay
import reference
from command_line import in_process
from interplay.base.ranks import mid_ranks, normal_scores
from interplay.infer.product_pairs import ProductPairs, as_integers, product_tuples


def problem(n: int = 300, n_vars: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, one of them skewed; x0 and x2 have a product, x1 an effect of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_vars))
    X[:, 1] = np.exp(X[:, 1])
    return X, 0.7 * X[:, 0] * X[:, 2] + 0.4 * X[:, 1] + rng.normal(size=n)


def outcomes(mean: np.ndarray, seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    classes = np.digitize(mean, np.quantile(mean, [0.3, 0.7]))
    times = rng.exponential(size=len(mean)) * np.exp(-mean), rng.random(len(mean)) < 0.8
    return {"numbers": mean, "classes": mean > np.median(mean), "three classes": classes, "times": times}


def test_product_of_numbers_is_that_of_plain_loops() -> None:
    X, y = problem(100, 3)
    z, table = normal_scores(y).tolist(), interplay.interactions(X, y, coding="product", max_p=1).table
    assert len(table) == 3
    for members, f, df in zip(table.members, table.f, table.df_residual, strict=True):
        expected = reference.product_f([X[:, int(name[1:])].tolist() for name in members], z)
        assert (f, df) == (pytest.approx(expected[0], rel=1e-9), expected[1])


@pytest.mark.parametrize("kind", ["numbers", "classes", "times"])
def test_product_is_that_of_statsmodels(kind: str) -> None:
    import statsmodels.api as sm

    X, mean = problem()
    y = outcomes(mean)[kind]
    row = interplay.interactions(X, y, coding="product").table.iloc[0]
    assert row.members == ("x0", "x2")
    main = np.column_stack([reference.covariate_columns(X[:, v].tolist()) for v in (0, 2)])
    product = np.prod([np.sqrt(12) * ((mid_ranks(X[:, v]) - 0.5) / len(X) - 0.5) for v in (0, 2)], axis=0)
    both = np.column_stack([main, product])
    if kind == "numbers":
        fit = sm.OLS(normal_scores(y), sm.add_constant(both)).fit()
        assert row.f == pytest.approx(fit.tvalues[-1] ** 2)
        assert row.p_value == pytest.approx(fit.pvalues[-1])
        in_units = sm.OLS(y, sm.add_constant(both)).fit()
        assert [row.effect, row.ci_low, row.ci_high] == pytest.approx([in_units.params[-1], *in_units.conf_int()[-1]])
        return
    fits = [
        sm.Logit(y, sm.add_constant(columns)).fit(disp=0, tol=1e-12)
        if kind == "classes"
        else sm.PHReg(y[0], columns, status=y[1], ties="breslow").fit()
        for columns in (main, both)
    ]
    assert row.chi2 == pytest.approx(2 * (fits[1].llf - fits[0].llf), rel=1e-6)
    assert row["log_or" if kind == "classes" else "log_hr"] == pytest.approx(fits[1].params[-1], rel=1e-4)


def test_sums_of_the_screen_are_exact() -> None:
    rng = np.random.default_rng(0)
    X, u = rng.normal(size=(40, 50_000)), rng.normal(size=50_000)
    scores = as_integers(X)
    z = scores.astype(np.int64)
    weights = np.rint(np.float32(scores) * np.float32(u)).astype(np.float32)
    weights = np.rint(weights * (127 / np.abs(weights).max(axis=1, keepdims=True)))
    from interplay.infer.product_pairs import _product

    exact = weights.astype(np.int64) @ z.T
    np.testing.assert_array_equal(_product(weights, scores.astype(np.float32)), exact.astype(np.float32))


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_statistic_of_the_screen_is_near_that_of_the_model(correlation: float) -> None:
    rng = np.random.default_rng(3)
    common = rng.normal(size=400)
    X = np.sqrt(correlation) * common[:, np.newaxis] + np.sqrt(1 - correlation) * rng.normal(size=(400, 8))
    y = 0.8 * X[:, 0] + 0.6 * X[:, 1] ** 2 + 0.5 * X[:, 2] * X[:, 3] + rng.normal(size=400)
    z = normal_scores(y)
    target = (z - z.mean()) / z.std()
    pairs = ProductPairs(as_integers(mid_ranks(X.T) - 200.5), target[np.newaxis])
    of_pair = interplay.interactions(X, y, coding="product", max_p=1).table.set_index("members").f
    for (a, b), f in of_pair[of_pair > 15].items():
        pair = (int(a[1:]), int(b[1:]))
        assert pair in {tuple(row) for part in pairs(0.6 * f) for row in part.tolist()}


def test_pairs_are_looked_at_once_in_all_parts() -> None:
    rng = np.random.default_rng(0)
    scores, target = as_integers(rng.normal(size=(30, 100))), rng.normal(size=(1, 100))
    scores[4] = 0  # no scores, no pair
    target[0] += 3 * scores[2] / 127  # an effect of its own
    every = [(a, b) for a in range(30) for b in range(a + 1, 30) if 4 not in (a, b)]

    def found(**options: Any) -> list[tuple[int, ...]]:
        return sorted(tuple(row) for part in product_tuples(scores, target, 2, 0.0, **options) for row in part.tolist())

    assert found() == every
    assert found(part=(0, 2)) + found(part=(1, 2)) != every
    assert sorted(found(part=(0, 2)) + found(part=(1, 2))) == every
    asked = np.isin(np.arange(30), (2, 9, 11))
    assert found(asked_for=asked) == [pair for pair in every if asked[list(pair)].any()]
    assert found(asked_for=asked, require="all") == [(2, 9), (2, 11), (9, 11)]
    triples = [row for part in product_tuples(scores[:7], target, 3, 0.0) for row in part.tolist()]
    assert sorted(triples) == [[a, b, c] for a, b, c in np.ndindex(7, 7, 7) if a < b < c and 4 not in (a, b, c)]


@pytest.mark.parametrize("kind", ["numbers", "classes", "three classes", "times"])
def test_short_lists_are_the_whole_list_cut_short(kind: str) -> None:
    X, mean = problem(200, 9)
    y = outcomes(mean)[kind]
    for coding in ("product", "auto"):
        everything = interplay.interactions(X, y, coding=coding, max_p=1).table
        for options in ({"max_p": 0.01}, {"top": 4}):
            found = interplay.interactions(X, y, coding=coding, **options).table
            assert found.members.tolist() == everything.members[: len(found)].tolist()
            np.testing.assert_allclose(found.p_value, everything.p_value[: len(found)], rtol=1e-6)


def test_auto_is_the_smaller_p_value_times_two() -> None:
    X, y = problem()
    X[:, 5] = np.random.default_rng(4).integers(0, 2, len(X))
    y += np.sign((X[:, 3] - np.median(X[:, 3])) * (X[:, 5] - 0.5))
    by = {
        coding: interplay.interactions(X, y, coding=coding, max_p=1).table.set_index("members")
        for coding in ("levels", "product", "auto")
    }
    smaller = np.minimum(by["levels"].p_value, by["product"].p_value.reindex(by["levels"].index))
    np.testing.assert_allclose(by["auto"].p_value, np.minimum(2 * smaller, 1).reindex(by["auto"].index), rtol=1e-9)
    found = by["auto"].found[by["auto"].significant].to_dict()
    assert found == {("x0", "x2"): "product", ("x3", "x5"): "levels"}


def test_auto_is_levels_where_nothing_else_applies() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (200, 6)), columns=list("abcdef"))
    X["word"] = np.resize(["x", "y", "z"], 200)
    y = rng.normal(size=200) + (X["a"] ^ X["b"])
    levels, auto = (interplay.interactions(X, y, coding=coding, max_p=1) for coding in ("levels", "auto"))
    pd.testing.assert_frame_equal(levels.table, auto.table)
    X["number"] = rng.normal(size=200)  # beside a number, pairs of two levels are still tested once
    levels, auto = (
        interplay.interactions(X, y, coding=coding, max_p=1).table.set_index("members") for coding in ("levels", "auto")
    )
    assert auto.p_value[("a", "b")] == levels.p_value[("a", "b")]
    assert auto.p_value[("word", "number")] == levels.p_value[("word", "number")]


def test_genotypes_are_tested_by_levels_and_dosages() -> None:
    rng = np.random.default_rng(0)
    X = rng.binomial(2, 0.4, (500, 10))
    y = (X[:, 0] - 1) * (X[:, 1] - 1) + 1.2 * ((X[:, 2] == 1) ^ (X[:, 3] == 1)) + rng.normal(size=500)
    found = interplay.interactions(X, y, coding="auto").table
    assert found[found.significant].set_index("members").found.to_dict() == {
        ("x0", "x1"): "dosage",
        ("x2", "x3"): "levels",
    }


def test_triples_strata_covariates_and_missing_values() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 7))
    y = 0.5 * X[:, 0] * X[:, 2] * X[:, 5] + X[:, 0] + rng.normal(size=500)
    for options in ({}, {"strata": rng.integers(0, 2, 500)}, {"covariates": rng.normal(size=500)}):
        assert interplay.interactions(X, y, dimensions=3, coding="product", **options).significant == [
            ("x0", "x2", "x5")
        ]
    X, y = problem()
    X[rng.random(X.shape) < 0.1] = np.nan
    row = interplay.interactions(X, y, coding="product", covariates=rng.normal(size=300)).table.iloc[0]
    assert row.members == ("x0", "x2")
    assert row.n_samples == np.isfinite(X[:, [0, 2]]).all(axis=1).sum()


@pytest.mark.parametrize("kind", ["numbers", "classes", "times"])
def test_shards_holdout_files_and_words(kind: str, tmp_path: Path) -> None:
    X, mean = problem(500, 10)
    y = outcomes(mean)[kind]
    whole = interplay.interactions(X, y, coding="auto", top=3)
    parts = [interplay.interactions(X, y, coding="auto", top=3, shard=(i, 3)) for i in (1, 2, 3)]
    merged = interplay.merge_interactions(parts)
    pd.testing.assert_frame_equal(merged.table, whole.table, rtol=1e-9)
    whole.save(tmp_path / "found.interplay")
    loaded = interplay.load(tmp_path / "found.interplay")
    pd.testing.assert_frame_equal(loaded.table, whole.table)
    assert "products of scores" in loaded.summary()
    loaded.to_html(tmp_path / "found.html")
    assert "product of their members" in (tmp_path / "found.html").read_text(encoding="utf-8")
    held = interplay.interactions(X, y, coding="auto", holdout=0.4)
    assert held.significant == [("x0", "x2")]
    assert held.table.found.tolist() == ["product"]
    assert held.table.same_direction.tolist() == [True]
    new_X, new_mean = problem(300, 10, seed=5)
    new_y = outcomes(new_mean, seed=6)[kind]
    again = whole.only_significant().replicate(new_X, new_y)
    alone = interplay.interactions(new_X, new_y, coding="product", variables=["x0"], partners=["x2"], max_p=1)
    assert again.table.p_value[0] == pytest.approx(alone.table.p_value[0])
    assert whole.tagging(X, y).verdict.tolist() != ["explained"]


@pytest.mark.parametrize("coding", ["levels", "product", "auto"])
@pytest.mark.parametrize("kind", ["numbers", "classes", "times"])
def test_members_that_no_sample_has_together(kind: str, coding: str, tmp_path: Path) -> None:
    X, mean = problem(200, 5)
    X[:100, 1] = X[100:, 3] = np.nan
    y = outcomes(mean)[kind]
    found = interplay.interactions(X, y, coding=coding, max_p=1)
    row = found.table.set_index("members").loc[[("x1", "x3")]].iloc[0]
    assert (row.p_value, row.n_samples) == (1, 0)
    found.save(tmp_path / "found.interplay")
    loaded = interplay.load(tmp_path / "found.interplay")
    pd.testing.assert_frame_equal(loaded.table, found.table)
    loaded.to_html(tmp_path / "found.html")
    new = X.copy()
    new[:, 1] = np.nan
    again = found.replicate(new, y).table.set_index("members").loc[[("x0", "x1")]].iloc[0]
    assert (again.p_value, again.n_samples) == (1, 0)


def test_merged_parts_have_products_on_the_other_scale_where_one_call_has_them() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 1)) + 0.3 * rng.normal(size=(300, 30))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=300)
    whole = interplay.interactions(X, y, coding="product")
    assert len(whole.table)
    assert not whole.significant  # robust variances refuse some
    parts = [interplay.interactions(X, y, coding="product", shard=(i, 2)) for i in (1, 2)]
    pd.testing.assert_frame_equal(interplay.merge_interactions(parts).table, whole.table, rtol=1e-9)


def test_effects_that_add_up_on_values_are_no_products() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 6))
    y = np.exp(0.8 * X[:, 0]) + np.exp(0.8 * X[:, 1]) + rng.normal(size=1000)
    found = interplay.interactions(X, y, coding="product")
    assert found.significant == []
    assert found.table.members.tolist() == [("x0", "x1")]  # by ranks alone
    assert "add up on one scale" in found.summary()


def test_features_are_products_where_products_were_found() -> None:
    X, y = problem()
    y += 1.5 * np.sign((X[:, 5] - np.median(X[:, 5])) * (X[:, 6] - np.median(X[:, 6])))
    model = interplay.InteractionFeatures(coding="auto", passthrough=False).fit(X, y)
    names = model.get_feature_names_out().tolist()
    assert "x0:x2" in names
    assert "x5:x6=lo,hi" in names
    assert not any(name.startswith("x0:x2=") for name in names)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(model.transform(X)[:, names.index("x0:x2")], scaled[:, 0] * scaled[:, 2])


def test_products_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    X, y = problem(200, 5)
    pd.DataFrame(X, columns=list("abcde")).assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    out = tmp_path / "found.csv"
    command = ("interactions", tmp_path / "table.csv", "--target", "y", "--coding", "auto", "--out", out)
    assert in_process(monkeypatch, capfd, *command).code == 0
    assert pd.read_csv(out).found.tolist() == ["product"]
