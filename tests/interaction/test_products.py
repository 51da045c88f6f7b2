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
from interplay.base.arrays import as_integers, mid_ranks, normal_scores
from interplay.infer import int_products
from interplay.infer.product_pairs import ProductPairs, ScreenScores, bend_scores, screened_tuples


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


@pytest.mark.parametrize("coding", ["product", "auto"])
def test_ways_of_numbers_are_those_of_plain_loops(coding: str) -> None:
    X, y = problem(140, 3)
    y += 2 * (np.abs(X[:, 0]) - 0.8) * X[:, 1]
    z, table = normal_scores(y).tolist(), interplay.interactions(X, y, coding=coding, max_p=1).table
    assert len(table) == 3
    if coding == "auto":
        table = table[table.found != "levels"]
        assert "shape" in set(table.found)
    for row in table.itertuples():
        values = [X[:, int(name[1:])].tolist() for name in row.members]
        expected = reference.product_f(values, z, shape=coding == "auto" and row.found == "shape")
        assert (row.f, row.df, row.df_residual) == (pytest.approx(expected[0], rel=1e-9), *expected[1:])


@pytest.mark.parametrize("kind", ["numbers", "classes", "times"])
def test_product_is_that_of_statsmodels(kind: str) -> None:
    import statsmodels.api as sm

    X, mean = problem()
    y = outcomes(mean)[kind]
    row = interplay.interactions(X, y, coding="product").table.iloc[0]
    assert row.members == ("x0", "x2")
    main = np.column_stack([reference.member_columns(X[:, v].tolist()) for v in (0, 2)])
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


@pytest.mark.parametrize("instruction_set", ["auto", "serial"])
@pytest.mark.parametrize(("n_rows", "n_columns", "n_samples"), [(40, 70, 1000), (7, 3, 70_001), (1, 1, 1)])
def test_sums_of_the_screen_are_exact(
    instruction_set: str, n_rows: int, n_columns: int, n_samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(int_products, "_INSTRUCTION_SET", instruction_set)
    rng = np.random.default_rng(0)
    rows, columns = (rng.integers(-128, 128, (n, n_samples)).astype(np.int8) for n in (n_rows, n_columns))
    rows[0], columns[0] = 127, -128
    exact = rows.astype(np.int64) @ columns.T.astype(np.int64)
    found = int_products.PackedScores.of(columns).products(rows)
    np.testing.assert_array_equal(found, exact.astype(np.float32))


def test_weights_with_outliers_are_rounded_in_finer_steps() -> None:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(5, 4000)).astype(np.float32)
    weights[0, 7] = 500
    columns = as_integers(rng.normal(size=(9, 4000)))
    rounded = int_products.Weights.of(weights)
    assert rounded.coarse.tolist() == [0]
    found = int_products.PackedScores.of(columns).weighted(rounded)
    exact = weights.astype(np.float64) @ columns.T.astype(np.float64)
    sizes = np.sqrt((weights[1] ** 2).sum() * (columns.astype(np.float64) ** 2).sum(axis=1))
    assert (np.abs(found - exact) < 0.02 * sizes).all()


def ranks_and_bends(X: np.ndarray) -> ScreenScores:
    lines = as_integers(mid_ranks(X.T) - (len(X) + 1) / 2)
    return ScreenScores(lines, bend_scores(len(X))[lines.view(np.uint8)])


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.7])
@pytest.mark.parametrize("n_samples", [400, 3000])
def test_statistics_of_the_screen_are_near_those_of_the_model(correlation: float, n_samples: int) -> None:
    rng = np.random.default_rng(3)
    common = rng.normal(size=n_samples)
    X = np.sqrt(correlation) * common[:, np.newaxis]
    X = X + np.sqrt(1 - correlation) * rng.normal(size=(n_samples, 8))
    size = 20 / np.sqrt(n_samples) * (1 + 2 * correlation)
    y = size * (0.5 * X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.6 * X[:, 2] * X[:, 3]) + rng.normal(size=n_samples)
    y += size * (np.abs(X[:, 4]) - 0.8) * X[:, 5]
    z = normal_scores(y)
    statistics = {}
    for found in ProductPairs(ranks_and_bends(X))(((z - z.mean()) / z.std())[np.newaxis], (0.0, 0.0)):
        statistics |= dict(zip(map(tuple, found.tuples.tolist()), found.statistics.tolist(), strict=True))
    assert len(statistics) == 28
    n_strong = 0
    for (a, b), of_screen in statistics.items():
        for shape, chi2 in zip((False, True), of_screen, strict=True):
            f, df, _ = _f(X[:, [a, b]], z, shape=shape)
            if f * df > 25:
                n_strong += 1
                assert chi2 > (0.75 if correlation < 0.7 else 0.6) * f * df, (a, b, shape)
    assert n_strong >= 1


def _f(members: np.ndarray, z: np.ndarray, *, shape: bool) -> tuple[float, int, int]:
    """The same as `reference.product_f`, by matrices."""
    normal = [normal_scores(x) for x in members.T]
    a, b = (mid_ranks(x) - x.size / 2 - 0.5 for x in members.T)
    p, q = (np.abs(each) - np.abs(each).mean() for each in normal)
    main = np.column_stack(
        [np.ones(len(z)), *(np.array(_columns(x, s)) for x, s in zip(members.T, normal, strict=True))]
    )
    more = np.column_stack([a * b, p * b, a * q][: 3 if shape else 1])
    rest = [float(np.linalg.lstsq(columns, z, rcond=None)[1][0]) for columns in (main, np.hstack([main, more]))]
    df, left = more.shape[1], len(z) - main.shape[1] - more.shape[1]
    return (rest[0] - rest[1]) / df / (rest[1] / left), df, left


def _columns(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    from interplay.data.models.linear import spline_columns

    return spline_columns(s, 3)


def test_pairs_are_looked_at_once_in_all_parts() -> None:
    rng = np.random.default_rng(0)
    lines, target = as_integers(rng.normal(size=(30, 100))), rng.normal(size=(1, 100))
    lines[4] = 0  # no scores, no pair
    target[0] += 3 * lines[2] / 127  # an effect of its own
    every = [(a, b) for a in range(30) for b in range(a + 1, 30) if 4 not in (a, b)]

    def found(n_vars: int = 30, k: int = 2, **options: Any) -> list[tuple[int, ...]]:
        listed = screened_tuples(ProductPairs(ScreenScores(lines[:n_vars])), target, k, (0.0, 0.0), **options)
        return sorted(tuple(row) for part in listed for row in part.tuples.tolist())

    assert found() == every
    assert found(part=(0, 2)) + found(part=(1, 2)) != every
    assert sorted(found(part=(0, 2)) + found(part=(1, 2))) == every
    asked = np.isin(np.arange(30), (2, 9, 11))
    assert found(asked_for=asked) == [pair for pair in every if asked[list(pair)].any()]
    assert found(asked_for=asked, require="all") == [(2, 9), (2, 11), (9, 11)]
    assert found(7, 3) == [(a, b, c) for a, b, c in np.ndindex(7, 7, 7) if a < b < c and 4 not in (a, b, c)]


@pytest.mark.parametrize("instruction_set", ["auto", "serial"])
def test_lists_do_not_depend_on_blocks_and_threads(instruction_set: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 60)) + rng.normal(size=(200, 1))
    z = normal_scores(X[:, 3] + X[:, 1] * X[:, 2] + rng.normal(size=200))[np.newaxis]

    def listed(n_threads: int) -> dict[tuple[int, ...], list[float]]:
        found = ProductPairs(ranks_and_bends(X), n_threads=n_threads)(z, (5.0, 9.0))
        return {
            tuple(t): s for part in found for t, s in zip(part.tuples.tolist(), part.statistics.tolist(), strict=True)
        }

    whole = listed(1)
    assert len(whole) > 20
    monkeypatch.setattr(int_products, "_INSTRUCTION_SET", instruction_set)
    monkeypatch.setattr("interplay.infer.product_pairs._ROWS", 7)
    monkeypatch.setattr("interplay.infer.product_pairs._COLUMNS", 11)
    assert listed(3) == whole


@pytest.mark.parametrize("gaps", [0.0, 0.05])
@pytest.mark.parametrize("n_classes", [None, 2, 3])
def test_a_search_of_levels_lists_products_of_genotypes(
    n_classes: int | None, gaps: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(n_classes)
    n = 400
    X = rng.binomial(2, rng.uniform(0.1, 0.5, 40), (n, 40)).astype(float)
    y = rng.normal(size=n) + 0.6 * (X[:, 1] - 1) * (X[:, 2] - 1) + 0.5 * X[:, 7]
    if n_classes is not None:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    X[rng.random(X.shape) < gaps] = np.nan
    strata = rng.integers(0, 2, n)
    options: list[dict[str, Any]] = [{}, {"max_p": 0.02}, {"strata": strata, "top": 6}]

    def found() -> list[Any]:
        return [interplay.interactions(X, y, coding="auto", **more).table for more in options]

    listed = found()
    assert (listed[1]["found"] == "dosage").any()
    monkeypatch.setattr("interplay.ask.interaction.products.Products.are_in_cells", lambda *_: False)
    for one, other in zip(listed, found(), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


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


def test_auto_is_the_smallest_p_value_times_the_number_of_ways() -> None:
    X, y = problem()
    X[:, 5] = np.random.default_rng(4).integers(0, 2, len(X))
    y += 1.5 * np.sign((X[:, 3] - np.median(X[:, 3])) * (X[:, 5] - 0.5)) + 1.2 * (X[:, 6] ** 2 - 1) * X[:, 7]
    by = {
        coding: interplay.interactions(X, y, coding=coding, max_p=1).table.set_index("members")
        for coding in ("levels", "product", "auto")
    }
    auto = by["auto"]
    smaller = np.minimum(by["levels"].p_value, by["product"].p_value.reindex(by["levels"].index)).reindex(auto.index)
    of_shape = auto.found == "shape"
    np.testing.assert_allclose(auto.p_value[~of_shape], np.minimum(3 * smaller, 1)[~of_shape], rtol=1e-9)
    assert (auto.p_value[of_shape] <= np.minimum(3 * smaller, 1)[of_shape]).all()
    assert auto.found[auto.significant].to_dict() == {
        ("x0", "x2"): "product",
        ("x3", "x5"): "levels",
        ("x6", "x7"): "shape",
    }


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


def test_a_rule_in_a_tenth_of_the_samples_is_found_by_default() -> None:
    """Who has an international plan, and many minutes, leaves; a cut at the median hides it among other customers."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(1000, 18))).add_prefix("other ")
    X["minutes"], X["plan"] = rng.normal(10.2, 2.8, 1000).round(1), rng.random(1000) < 0.1
    leaves = (rng.random(1000) < 0.1) | (X["plan"] & (X["minutes"] > X["minutes"].quantile(0.8)))
    found = interplay.interactions(X, leaves)
    assert found.significant == [("minutes", "plan")]
    assert found.table.p_adjusted[0] < 1e-3
    by_levels = interplay.interactions(X, leaves, coding="levels", max_p=1).table.set_index("members")
    assert by_levels.loc[[("minutes", "plan")], "p_adjusted"].iloc[0] > 0.01


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
