"""select() end to end: the paper's lists, planted pairs, noise, saving, bad settings."""

import contextlib
import re
from functools import partial

import numpy as np
import pytest

import interplay

# Spec §9: variables of Madelon in order of p, numbered from 1, as the paper prints them.
PAPER = {
    1: [476, 242, 339, 337, 65, 129, 106, 49, 379, 454, 494, 443, 473],
    2: [476, 242, 49, 379, 154, 282, 434, 339, 494, 454, 452, 29, 319, 443, 129, 473, 106, 337, 65],
    3: [154, 434, 282, 49, 379, 476, 242, 319, 29, 452, 494, 106, 454, 129, 473, 443, 339, 337, 65, 456],
}
CLUSTERS = [
    [29, 319, 452], [49, 379], [65, 337], [106, 129], [154, 282, 434], [242, 476], [339], [443, 473], [454, 494], [456],
]  # fmt: skip


def numbered_from_1(names):
    return [int(name[1:]) + 1 for name in names]


@pytest.fixture(scope="module")
def madelon_3d(madelon):
    return interplay.select(*madelon, dimensions=3, n_contrast=0, n_jobs=-1, random_state=0)


class TestThePaper:
    @pytest.mark.parametrize("dimensions", [1, 2])
    def test_lists_in_order(self, madelon, dimensions):
        result = interplay.select(*madelon, dimensions=dimensions, n_contrast=0, random_state=0)
        assert numbered_from_1(result.relevant) == PAPER[dimensions]

    def test_list_in_3d(self, madelon_3d):
        assert numbered_from_1(madelon_3d.relevant) == PAPER[3]

    def test_fit_in_2d(self, madelon):
        fit = interplay.select(*madelon, dimensions=2, n_contrast=0, fit="lsq", random_state=0).null_fit
        assert fit.alpha == pytest.approx(0.0058425453, rel=1e-5)
        assert fit.n_irrelevant == 479

    def test_fit_in_3d(self, madelon_3d):
        assert madelon_3d.null_fit.alpha == pytest.approx(5.12425e-5, rel=1e-4)
        assert madelon_3d.null_fit.n_irrelevant == 462

    def test_clusters_of_table_3(self, madelon_3d):
        assert sorted(sorted(numbered_from_1(group)) for group in madelon_3d.clusters(0.99)) == CLUSTERS

    def test_blind_2d_run(self, madelon):
        result = interplay.select(*madelon, dimensions=2, discretizations=30, random_state=118912, n_jobs=-1)
        found = set(numbered_from_1(result.relevant))
        assert set(PAPER[2]) <= found <= set(PAPER[2]) | {456}

    def test_t_test(self, madelon):
        """The paper's univariate baseline: plain SciPy, adjusted with our function."""
        from scipy.stats import ttest_ind

        from interplay.infer.p_values import adjust

        x, y = madelon
        p = ttest_ind(x[y == 0].astype(float), x[y == 1].astype(float), equal_var=False).pvalue
        relevant = np.flatnonzero(adjust(p, "holm") < 0.05)
        expected = [476, 242, 337, 65, 129, 106, 339, 49, 379, 443, 473, 454, 494]
        assert (relevant[np.argsort(p[relevant])] + 1).tolist() == expected


def xor_data(seed, n_samples=600, n_vars=25):
    """Noise, and a decision that columns 4 and 17 make together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_vars))
    together = (X[:, 4] > 0) ^ (X[:, 17] > 0)
    return X, np.where(rng.random(n_samples) < 0.1, ~together, together)


class TestPlantedPairs:
    @pytest.mark.parametrize("n_contrast", [0, 60, "auto"])
    def test_found_together_and_missed_alone(self, n_contrast):
        X, y = xor_data(1)
        alone = interplay.select(X, y, dimensions=1, random_state=0)
        pairs = interplay.select(X, y, dimensions=2, n_contrast=n_contrast, random_state=0)
        assert alone.relevant == []
        assert set(pairs.relevant) == {"x4", "x17"}
        row = pairs.table.iloc[4]
        assert row["partners"] == ("x17",)
        assert row["synergy"] == pytest.approx(row["gain"] - row["gain_alone"])
        assert row["gain_alone"] == pytest.approx(alone.table["gain"][4])

    @pytest.mark.parametrize("multiclass", ["joint", "ovo", "ovr"])
    def test_three_classes(self, multiclass):
        X, y = xor_data(2)
        classes = np.where(np.arange(len(y)) % 3 == 0, "third", np.where(y, "yes", "no"))
        result = interplay.select(X, classes, dimensions=2, multiclass=multiclass, random_state=0)
        assert set(result.relevant) == {"x4", "x17"}
        assert interplay.select(X, classes, dimensions=1, multiclass=multiclass, random_state=0).relevant == []
        assert len(result.runs) == {"joint": 1, "ovo": 3, "ovr": 3}[multiclass]
        if multiclass == "ovo":
            assert result.table.iloc[4]["decision"] == "no vs yes"
            with pytest.raises(ValueError, match=r"use \.runs"):
                _ = result.gains

    @pytest.mark.parametrize("decision_divisions", [None, 1])
    def test_number_decision(self, decision_divisions):
        X, y = xor_data(3)
        noise = np.random.default_rng(0).normal(scale=0.4, size=len(y))
        call = partial(interplay.select, X, y + noise, decision_divisions=decision_divisions, random_state=0)
        result = call(dimensions=2)
        assert result.settings["decision"] == ("number" if decision_divisions is None else "continuous")
        assert set(result.relevant) == {"x4", "x17"}
        assert call(dimensions=1).relevant == []

    def test_mixed_levels(self):
        X, y = xor_data(4)
        X[:, 5:10] = np.random.default_rng(1).integers(0, 3, (len(X), 5))
        X[:, 17] = X[:, 17] > 0
        result = interplay.select(X, y, dimensions=2, divisions=2, random_state=0)
        assert set(result.relevant) == {"x4", "x17"}
        assert len(set(result.gains.df.tolist())) > 1


@pytest.mark.parametrize(
    "settings", [{"dimensions": 1}, {"dimensions": 2}, {"dimensions": 2, "n_contrast": 0}, {"dimensions": 3}]
)
def test_noise_gives_nothing_beyond_the_level(settings):
    """At level 0.05, 20 seeds give on average one false selection; 5 or more have a probability of 0.3 %."""
    n_with_finds = 0
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        X, y = rng.normal(size=(300, 30)), rng.integers(0, 2, 300)
        n_with_finds += bool(interplay.select(X, y, random_state=seed, **settings).relevant)
    assert n_with_finds <= 4


@pytest.fixture(scope="module")
def result():
    X, y = xor_data(1)
    return interplay.select(X, y, dimensions=2, random_state=7)


@pytest.mark.parametrize(
    "X",
    [np.zeros((40, 30)), np.random.default_rng(0).normal(size=(4, 10)), np.arange(40.0)[:, np.newaxis] * np.ones(3)],
    ids=["constant", "4 samples", "3 copies"],
)
def test_degenerate_data_are_no_error(X):
    assert interplay.select(X, np.arange(len(X)) // (len(X) // 2), dimensions=2, random_state=0).p_value.max() <= 1


def test_a_predictor_among_constants_is_found():
    X = np.zeros((60, 200))
    X[:, 7] = y = np.arange(60) % 2
    assert interplay.select(X, y, dimensions=2, random_state=0).relevant == ["x7"]


def test_many_constant_columns_do_not_spoil_the_null():
    """The contrast variables are then of two kinds; a fit to all of them selected something in 18 % of noise."""
    n_with_finds = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = np.zeros((100, 100))
        X[:, :10] = rng.normal(size=(100, 10))
        n_with_finds += bool(
            interplay.select(X, rng.permutation(np.arange(100) % 2), dimensions=2, random_state=seed).relevant
        )
    assert n_with_finds <= 6


class TestSelection:
    def test_table(self, result):
        assert list(result.table.columns) == [
            "variable", "gain", "p_value", "p_adjusted", "relevant", "partners", "discretization", "gain_alone",
            "synergy", "direction", "effect", "effect_low", "effect_high", "effect_kind", "representative",
            "short_list", "verdict", "interacting", "p_interaction",
        ]  # fmt: skip
        assert result.table["variable"].tolist() == [f"x{v}" for v in range(25)]
        assert set(result.table.loc[result.table["relevant"], "variable"]) == set(result.relevant)

    def test_contrast(self, result):
        assert len(result.contrast) == 300
        assert set(result.contrast["source"]) <= set(result.names)

    def test_prints(self, result):
        text = repr(result)
        assert text.startswith("2 of 25 variables relevant")
        assert "x4" in text
        assert "seed 7" in text
        assert "<table" in result._repr_html_()

    def test_names_are_escaped_in_html(self):
        import pandas as pd

        X, y = xor_data(1)
        frame = pd.DataFrame(X, columns=["<script>alert(1)</script>" if v == 4 else f"x{v}" for v in range(25)])
        result = interplay.select(frame, y, dimensions=2, random_state=7)
        assert "<script>" in result.relevant[0] + result.relevant[1]
        assert "<script>" not in result._repr_html_()

    def test_tuples_of(self, result):
        tuples = result.tuples_of("x17")
        assert tuples.iloc[0]["variable"] == "x17"
        assert tuples.iloc[0]["members"] == ("x4", "x17")
        assert all("x17" in members for members in tuples["members"])
        assert tuples.equals(result.tuples_of(17))
        with pytest.raises(ValueError, match="'foo' is not among the 25 variables"):
            result.tuples_of("foo")

    def test_saved_loaded_and_run_again_is_identical(self, result, tmp_path):
        result.save(tmp_path / "run.interplay")
        loaded = interplay.load(tmp_path / "run.interplay")
        X, y = xor_data(1)
        again = interplay.select(X, y, **loaded.settings)
        for other in (loaded, again):
            assert other.relevant == result.relevant
            assert other.table.equals(result.table)
            assert other.contrast.equals(result.contrast)
            assert other.settings == result.settings
            assert other.provenance["data_fingerprint"] == result.provenance["data_fingerprint"]
            assert other.null_fit.summary() == result.null_fit.summary()
            assert other.clusters() == result.clusters()
            assert np.array_equal(other.null_fit.p_values(), result.null_fit.p_values())

    def test_damaged_files_are_refused(self, result, tmp_path):
        path = tmp_path / "run.interplay"
        result.save(path)
        whole = path.read_bytes()
        rng = np.random.default_rng(0)
        for _ in range(30):  # a flipped byte is noticed, or changes nothing that is read
            damaged = bytearray(whole)
            damaged[rng.integers(len(whole))] ^= 0xFF
            path.write_bytes(bytes(damaged))
            with contextlib.suppress(ValueError):
                assert interplay.load(path).table.equals(result.table)

    def test_changing_the_table_changes_nothing_else(self, result):
        before = result.summary()
        table = result.table
        table["variable"] = table["variable"].to_numpy()[::-1].copy()
        assert result.summary() == before
        assert result.table["variable"].tolist() == result.names

    @pytest.mark.parametrize(
        "discrete", [{0, 3}, range(2), iter([1, 2]), np.array([0, 1]), ("x0", 1), np.arange(25) < 2]
    )
    def test_discrete_may_be_any_collection(self, discrete, tmp_path):
        X, _ = xor_data(1)
        X = (X * 2).round()
        X[:, 3] = X[:, 3] > 0
        y = np.arange(len(X)) % 3
        result = interplay.select(X, y, dimensions=2, multiclass="ovr", discrete=discrete, random_state=0)
        result.save(tmp_path / "run")
        again = interplay.select(X, y, **interplay.load(tmp_path / "run").settings)
        assert again.table.equals(result.table)

    def test_a_failed_save_leaves_nothing(self, result, tmp_path):
        with pytest.raises(FileNotFoundError):
            result.save(tmp_path / "missing" / "run.interplay")
        assert list(tmp_path.iterdir()) == []

    def test_containers_do_not_matter(self, result):
        import pandas as pd
        import polars as pl

        X, y = xor_data(1)
        frame = pd.DataFrame(X, columns=[f"x{v}" for v in range(25)])
        for table, decision in ((frame, pd.Series(y)), (pl.from_pandas(frame), y.tolist()), (np.asfortranarray(X), y)):
            other = interplay.select(table, decision, dimensions=2, random_state=7)
            assert other.table.equals(result.table)
            assert other.provenance["data_fingerprint"] == result.provenance["data_fingerprint"]

    def test_plots(self, result):
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt

        axes = result.plot.gains()
        relevant = next(line for line in axes.get_lines() if "relevant (2)" in line.get_label())
        assert sorted(relevant.get_ydata()) == sorted(result.gains.gain[[4, 17]])
        assert len(result.plot.null_fit().get_lines()) > 0
        plt.close("all")


@pytest.mark.parametrize("call", [interplay.select, interplay.interactions])
def test_methods_speak_of_cuts_where_something_is_cut(call, tmp_path):
    rng = np.random.default_rng(0)
    genotypes, y = rng.integers(0, 3, (60, 4)), np.arange(60) % 2
    numbers = np.column_stack([genotypes, rng.normal(size=60)])
    said = []
    for X in (genotypes, numbers):
        found = call(X, y, dimensions=2, random_state=0)
        found.to_html(tmp_path / "report.html")
        said.append((tmp_path / "report.html").read_text(encoding="utf-8") + found.details())
    assert not any(word in said[0] for word in ("Numeric variables", "cut into"))
    assert re.search(r"numbers cut into 2 levels[;)]", said[1])
    assert "Numeric variables were" in said[1]


def test_details_speak_of_cuts_where_something_is_cut():
    rng = np.random.default_rng(0)
    genotypes, y = rng.integers(0, 3, (60, 4)), np.arange(60) % 2
    numbers = np.column_stack([genotypes, rng.normal(size=60)])
    assert "cut into" not in interplay.select(genotypes, y, dimensions=1, random_state=0).details()
    assert "numbers cut into 2 levels;" in interplay.select(numbers, y, dimensions=1, random_state=0).details()
    assert "cut into" not in interplay.select(numbers, y, dimensions=1, discrete=range(5), random_state=0).details()


def test_saved_with_pairs_that_only_one_cut_may_explain(tmp_path):
    """Triples of times with p > 1/3 were left out, and with them the cuts of pairs that were tested."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 8))
    times = rng.exponential(size=200) / np.exp(1.2 * (X[:, 0] * X[:, 1] > 0)), rng.random(200) < 0.7
    result = interplay.select(X, times, dimensions=3, discretizations=3, random_state=0)
    result.save(tmp_path / "kept")
    again = interplay.load(tmp_path / "kept")
    assert again.table.equals(result.table)
    (run,) = result.runs
    assert {tuple(part) for part in run.tested[0].tuples.tolist()} >= {
        tuple(sorted(members)) for members in run.tested[1].tuples[:, :2].tolist()
    }


def test_huge_and_infinite_numbers():
    """Squares of columns may overflow, and ranks of y may be of infinite values: neither is a warning."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    y = X[:, 0] + rng.normal(size=80)
    expected = interplay.select(X, y, random_state=0)
    assert len(expected.correlation) == 2
    huge = interplay.select(X * 1e300, y, random_state=0)
    assert np.allclose(huge.correlation, expected.correlation)
    infinite = interplay.select(X, np.where(y > 2, np.inf, y), random_state=0)
    assert np.array_equal(infinite.relevant, expected.relevant)
