"""`select` with an outcome of numbers: effects of each kind, calibration, strata, groups, shards, files, pictures."""

import warnings
from functools import partial

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import interplay
from interplay.data.codes.tuple_counts import distribution
from interplay.show.report.methods import methods_paragraph
from interplay.show.report.words import summary_sentences

mpl.use("Agg")


def table(seed=0, n=300, p=20):
    return np.random.default_rng(seed).normal(size=(n, p))


def noise(seed, n=300):
    return np.random.default_rng([9, seed]).normal(size=n)


@pytest.fixture(scope="module")
def mixed():
    """A linear effect of g3, an interaction of g10 and g11."""
    X = pd.DataFrame(table(), columns=[f"g{v}" for v in range(20)])
    y = pd.Series(0.5 * X.g3 + np.sign(X.g10 * X.g11) + noise(1), name="pressure")
    return X, y, interplay.select(X, y, random_state=0)


class TestEffects:
    def test_linear_and_interaction(self, mixed):
        _, _, result = mixed
        assert set(result.relevant) == {"g3", "g10", "g11"}
        assert result.table.set_index("variable").loc[["g3", "g10"], "found"].tolist() == ["alone", "in pairs"]
        assert result.settings["decision"] == "number"
        assert result.settings["scale"] == "ranks"
        assert "decision_divisions" not in result.settings

    @pytest.mark.parametrize(
        ("effect", "found"),
        [
            (lambda X: 0.9 * X[:, 4] ** 2, {"x4"}),  # U shape
            (lambda X: 0.7 * X[:, 4] * X[:, 9], {"x4", "x9"}),  # product
            (lambda X: 1.2 * np.sign(X[:, 4] * X[:, 9] * X[:, 2]), {"x2", "x4", "x9"}),
            (lambda X: 1.2 * (X[:, 4] > 0.8), {"x4"}),  # threshold
        ],
    )
    def test_other_shapes(self, effect, found):
        X = table(1)
        assert set(interplay.select(X, effect(X) + noise(1), random_state=0).relevant) == found

    def test_more_is_found_than_by_cutting(self):
        found = np.zeros(2)
        for seed in range(12):
            X = table(seed, n=150, p=10)
            y = 0.35 * X[:, 3] + noise(seed, 150)
            for place, divisions in enumerate((None, 1)):
                result = interplay.select(X, y, dimensions=(1, 2), decision_divisions=divisions, random_state=0)
                found[place] += "x3" in result.relevant
        assert found[0] >= found[1] + 2

    def test_genotypes_and_rare_levels(self):
        rng = np.random.default_rng(2)
        X = table(2)
        X[:, :10] = rng.binomial(2, 0.2, size=(300, 10))
        X[:, 10] = rng.random(300) < 0.04
        y = 0.5 * X[:, 3] + 1.6 * X[:, 10] + noise(2)
        assert {"x3", "x10"} <= set(interplay.select(X, y, random_state=0).relevant)


class TestScale:
    def test_ranks_do_not_depend_on_units(self, mixed):
        X, y, result = mixed
        other = interplay.select(X, np.exp(y), random_state=0)
        np.testing.assert_array_equal(other.p_value, result.p_value)

    def test_values_do(self, mixed):
        X, y, _ = mixed
        by_values = partial(interplay.select, X, dimensions=2, scale="values", random_state=0)
        plain = by_values(y)
        np.testing.assert_allclose(by_values(7 * y - 3).p_value, plain.p_value, rtol=1e-6)
        assert (by_values(np.exp(y)).p_value != plain.p_value).any()
        assert plain.settings["scale"] == "values"

    def test_rank_test_is_that_of_normal_scores(self, mixed):
        X, y, result = mixed

        def scores(values):
            return stats.norm.ppf((stats.rankdata(values) - 0.5) / len(values))

        (rank,) = [test for test in result.tests if test.name == "rank"]
        expected = [np.log(stats.pearsonr(scores(X[name]), scores(y)).pvalue) for name in X]
        np.testing.assert_allclose(rank.log_p, expected, rtol=0.03, atol=0.02)


class TestDecision:
    def test_older_word(self, mixed):
        X, y, result = mixed
        np.testing.assert_array_equal(
            interplay.select(X, y, decision="continuous", random_state=0).p_value, result.p_value
        )

    def test_counts_are_numbers_and_the_summary_says_so(self):
        X = table(3)
        y = np.minimum(np.random.default_rng(3).poisson(np.exp(0.6 * X[:, 3])), 6)
        y[0] = 8
        result = interplay.select(X, y, random_state=0)
        assert result.relevant == ["x3"]
        assert "whole numbers, some of them rare" in result.summary()
        assert any("whole numbers" in sentence for sentence in summary_sentences(result))

    def test_ordered_classes_as_numbers(self):
        X = table(4)
        y = np.digitize(0.5 * X[:, 3] + noise(4), [-1, -0.3, 0.3, 1])
        classes = interplay.select(X, y, dimensions=(1, 2), random_state=0)
        numbers = interplay.select(X, y, dimensions=(1, 2), decision="number", random_state=0)
        assert classes.settings["decision"] == "classes"
        assert numbers.log_p[3] < classes.log_p[3]

    def test_times_are_cut_only_if_asked(self):
        y = np.random.default_rng(5).exponential(size=300), np.arange(300) % 3 > 0
        whole = interplay.select(table(5), y, dimensions=1)
        assert whole.settings["decision"] == "number"
        assert "decision_divisions" not in whole.settings
        assert whole.class_sizes == {}
        cut = interplay.select(table(5), y, dimensions=1, decision_divisions=1)
        assert (cut.settings["decision"], cut.settings["decision_divisions"]) == ("continuous", 1)
        assert list(cut.class_sizes) == ["lower risk", "higher risk"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "counts", "heavy tails, values", "genotypes"])
def test_noise(kind):
    """Of 40 tables of noise at 0.05, more than 7 with a find would be a chance of 1 in 1400; tests are uniform."""
    n_false, p_values = 0, []
    for seed in range(40):
        rng = np.random.default_rng([seed, 77])
        X = rng.normal(size=(80, 30))
        if kind == "genotypes":
            X = rng.binomial(2, rng.uniform(0.05, 0.5, size=30), size=(80, 30)).astype(float)
        y = {
            "normal": lambda rng=rng: rng.normal(size=80),
            "counts": lambda rng=rng: rng.poisson(2.0, size=80),
            "heavy tails, values": lambda rng=rng: rng.standard_t(2, size=80),
            "genotypes": lambda rng=rng: rng.normal(size=80),
        }[kind]()
        scale = "values" if "values" in kind else "ranks"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = interplay.select(X, y, decision="number", scale=scale, random_state=seed, dimensions=(1, 2, 3))
        n_false += bool(result.relevant)
        p_values.append(np.exp([test.log_p for test in result.tests if test.name in ("rank", "gain 1", "gain 2")]))
    assert n_false <= 7
    for of_test in np.concatenate(p_values, axis=1):
        share = np.mean(of_test[~np.isnan(of_test)] < 0.01)
        assert share < 0.01 + 3 * np.sqrt(0.01 / of_test.size)


class TestDesign:
    def test_strata(self):
        """Two variables and the outcome differ between sites; one of them matters within."""
        X = table(6)
        site = np.random.default_rng(6).integers(0, 3, 300)
        X[:, 3] += 3 * site
        X[:, 7] += 3 * site
        y = 0.6 * X[:, 3] + 5 * site + noise(6)
        assert {"x3", "x7"} <= set(interplay.select(X, y, random_state=0).relevant)
        assert interplay.select(X, y, strata=site, random_state=0).relevant == ["x3"]

    def test_whole_groups(self):
        """The outcome is one number per donor, and samples of a donor resemble each other."""
        donor = np.repeat(np.arange(30), 8)
        rng = np.random.default_rng(7)
        X = rng.normal(size=(30, 15))[donor] + 0.3 * rng.normal(size=(240, 15))
        y = (X[:, 4] * 2)[np.arange(0, 240, 8)][donor] + 0.5 * rng.normal(size=30)[donor]
        result = interplay.select(X, y, groups=donor, dimensions=1, random_state=0)
        assert result.relevant == ["x4"]
        assert result.provenance["groups"]["exchanged"] == "labels of 30 whole groups"
        others = interplay.select(X, rng.normal(size=30)[donor], groups=donor, dimensions=1, random_state=0)
        assert others.relevant == []

    def test_samples_within_groups(self):
        donor = np.repeat(np.arange(30), 8)
        X = table(8, n=240)
        result = interplay.select(X, X[:, 4] + noise(8, 240), groups=donor, dimensions=2, random_state=0)
        assert "x4" in result.relevant

    def test_permutations(self, mixed):
        X, y, _ = mixed
        result = interplay.select(X, y, dimensions=2, permutations=True, n_permutations=99, random_state=0)
        assert {"g10", "g11"} <= set(result.relevant)
        assert result.p_value.min() == 0.01

    def test_covariates(self):
        X = table(9)
        age = X[:, 4] + 0.1 * np.random.default_rng(9).normal(size=300)
        y = age + X[:, 2] + noise(9)
        assert {"x2", "x4"} <= set(interplay.select(X, y, random_state=0).relevant)
        result = interplay.select(X, y, covariates=age, random_state=0)
        assert result.relevant == ["x2"]
        assert result.in_model is not None
        assert (result.in_model.kind, result.in_model.about) == ("linear", ["covariate"])

    def test_missing_level_and_labels(self):
        X = pd.DataFrame(table(10), columns=[f"g{v}" for v in range(20)])
        X["site"] = np.random.default_rng(10).choice(["a", "b", "c"], 300)
        y = (X.site == "b") * 1.2 + 0.5 * X.g5 + noise(10)
        X.loc[::7, "g5"] = np.nan
        assert set(interplay.select(X, y, missing="level", random_state=0).relevant) == {"site", "g5"}


class TestParts:
    def test_merged_shards_equal_one_call(self, mixed, tmp_path):
        X, y, result = mixed
        for number in (1, 2, 3):
            interplay.search_shard(X, y, shard=(number, 3), random_state=0).save(tmp_path / f"part{number}")
        merged = interplay.merge_parts(tmp_path.glob("part*"), X=X)
        np.testing.assert_array_equal(merged.p_value, result.p_value)
        assert merged.relevant == result.relevant
        np.testing.assert_array_equal(merged.counts_of("g3").numbers, result.counts_of("g3").numbers)
        with pytest.raises(ValueError, match="X is not the table"):
            interplay.merge_parts(tmp_path.glob("part*"), X=X + 1)

    def test_checkpoint_is_gone_on_with(self, mixed, tmp_path):
        X, y, result = mixed
        for _ in range(2):
            again = interplay.select(X, y, random_state=0, checkpoint=tmp_path / "run.ckpt")
            np.testing.assert_array_equal(again.p_value, result.p_value)

    def test_saved(self, mixed, tmp_path):
        _, _, result = mixed
        result.save(tmp_path / "run")
        again = interplay.load(tmp_path / "run")
        assert again.summary() == result.summary()
        assert again.settings == result.settings


class TestShown:
    def test_summary_and_words(self, mixed):
        _, y, result = mixed
        assert f"outcome a number, median {np.median(y):.4g}" in result.summary()
        assert "by ranks" in result.summary()
        assert result.class_sizes == {}
        assert "normal scores of the ranks" in methods_paragraph(result)
        assert any("the outcome is a number" in sentence for sentence in summary_sentences(result))

    def test_cells_hold_the_distribution(self, mixed):
        X, y, result = mixed
        cells = result.counts_of("g10")
        assert [result.names[v] for v in cells.members] == ["g10", "g11"]
        inside = (X.g10 > X.g10.median()) & (X.g11 > X.g11.median())
        np.testing.assert_allclose(cells.numbers[1, 1], distribution(y[inside].to_numpy()))
        assert cells.counts[1, 1, 0] == inside.sum()

    @pytest.mark.parametrize("variable", ["g3", "g10"])
    def test_why(self, mixed, variable):
        ax = mixed[2].plot.why(variable)
        assert variable in ax.get_title()
        assert any(text.get_text().startswith("n = ") for text in ax.texts)

    def test_report(self, mixed, tmp_path):
        mixed[2].to_html(tmp_path / "report.html")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert '"numbers":[' in page
        assert "drawBox" in page

    def test_leaks(self):
        X = pd.DataFrame(table(11), columns=[f"g{v}" for v in range(20)])
        y = pd.Series(X.g3 + noise(11))
        X = X.assign(copy=1000 - 2 * y, rounded=y.round(1), near=y + 0.3 * noise(12))
        with pytest.warns(UserWarning, match="nearly completely"):
            result = interplay.select(X, y, dimensions=(1, 2), random_state=0)
        assert set(result.cautions) == {"copy", "rounded"}


@pytest.mark.parametrize("scale", ["ranks", "values"])
@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_units_of_the_outcome_change_effects_alone(unit, scale):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 2, (120, 3)), rng.normal(size=(120, 3))])
    X[:2, 5] = np.inf, -np.inf
    y, covariate = 3 * X[:, 0] * X[:, 1] + X[:, 3] + rng.normal(size=120), rng.normal(size=120)
    y /= np.abs(y).max()
    for more in ({"strata": X[:, 2]}, {"covariates": covariate / unit}):
        options = {"scale": scale, "random_state": 0} | more
        one, other = (interplay.select(X, values, **options) for values in (y, unit * y))
        assert other.log_p == pytest.approx(one.log_p, rel=1e-6)
        in_units = np.where([kind == "difference in means" for kind in one.effects.kind], unit, 1)
        assert other.effects.low == pytest.approx(in_units * one.effects.low, nan_ok=True, rel=1e-6)
        options["max_p"] = 1
        one, other = (interplay.interactions(X, values, **options) for values in (y, unit * y))
        assert other.tested.log_p == pytest.approx(one.tested.log_p, rel=1e-6)
        for name in ("estimate", "ci_low", "cell_effect"):
            expected = unit * getattr(one.tested, name)
            assert getattr(other.tested, name) == pytest.approx(expected, nan_ok=True, rel=1e-6), name
        again = other.replicate(X, unit * y, **more)
        assert again.table["same_direction"].isin([True, None]).all()


def test_pairs_of_rare_columns_and_an_outcome_that_is_mostly_zero():
    """A cell of two samples once decided: by gains alone, a third of such tables of noise had a false find."""
    n_false = 0
    for seed in range(30):
        rng = np.random.default_rng([9, seed])
        X = (rng.random((300, 60)) < 0.02).astype(float)
        y = np.where(rng.random(300) < 0.9, 0.0, rng.lognormal(1, 1, 300))
        n_false += bool(interplay.select(X, y, dimensions=2, fit="union", random_state=seed).relevant)
    assert n_false <= 4
