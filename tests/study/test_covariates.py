"""covariates=: finds are tested again with them in the model, and what does not hold is marked."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import chi2

import interplay
from interplay.statistics.covariate_test import covariate_test
from interplay.statistics.survival.cox_test import hazard_test
from interplay.study.covariates import make_covariates


def confounded(n=600, seed=0):
    """Variable 2 matters by itself, 5 and 9 only together; 0 is a proxy of age, on which the illness depends."""
    rng = np.random.default_rng(seed)
    age = rng.normal(60, 10, n)
    X = rng.normal(size=(n, 12))
    X[:, 0] = (age - 60) / 10 + 0.4 * X[:, 0]
    risk = 0.15 * (age - 60) + 2 * (X[:, 2] > 0) - 1 + 3 * ((X[:, 5] > 0) ^ (X[:, 9] > 0)) - 1.5
    return X, (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int), age


class TestLikelihoodRatio:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("n_part", [1, 2])
    def test_is_that_of_statsmodels(self, n_classes, n_part):
        rng = np.random.default_rng(n_classes)
        n = 500
        part, own = rng.integers(0, n_part, n), rng.integers(0, 3, n)
        cells = part * 3 + own
        design = np.column_stack([rng.normal(size=n), rng.integers(0, 2, n)])
        y = np.clip(np.round(own * 0.5 + design[:, 0] * 0.5 + rng.normal(size=n)), 0, n_classes - 1).astype(int)

        def log_likelihood(columns):
            exog = sm.add_constant(np.column_stack([*columns, design]))
            return (sm.Logit if n_classes == 2 else sm.MNLogit)(y, exog).fit(disp=0).llf

        of_part = [part == c for c in range(1, n_part)]
        full = [cells == c for c in range(1, 3 * n_part)]
        expected = 2 * (log_likelihood(full) - log_likelihood(of_part))
        found, df = covariate_test(y, cells, [part], design)
        assert found == pytest.approx(expected, abs=1e-6)
        assert df == 2 * n_part * (n_classes - 1)

    def test_a_first_call_warns_of_nothing(self):
        """The import of statsmodels has its warnings shown, whatever was asked for before it."""
        script = (
            "import numpy as np; from interplay.statistics.covariate_test import covariate_test\n"
            "cells = np.arange(60) % 2\n"
            "print(covariate_test(cells, cells, [cells * 0], np.random.default_rng(0).normal(size=(60, 1)))[1])"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == ("1\n", "")

    def test_hazards_without_a_maximum_are_no_error(self):
        """Cells without events have an infinite coefficient; Newton's steps end in a singular matrix."""
        for seed in range(30):
            rng = np.random.default_rng(seed)
            cells, design = rng.integers(0, 2, 12), rng.normal(size=(12, 3))
            time = np.where(cells == 0, 1000.0, rng.exponential(size=12))
            event = rng.random(12) < 0.3
            assert not hazard_test(time, event, cells, cells * 0, design)[0] < 0

    def test_without_events_nothing_is_told(self):
        design = np.arange(20.0)[:, np.newaxis]
        assert hazard_test(np.arange(20.0), np.zeros(20, bool), np.arange(20) % 2, np.zeros(20, int), design) == (0, 0)

    def test_cells_that_covariates_explain_have_no_degrees_of_freedom(self):
        rng = np.random.default_rng(0)
        cells = rng.integers(0, 2, 200)
        assert covariate_test(rng.integers(0, 2, 200), cells, [np.zeros(200, int)], cells[:, None] * 1.0) == (0.0, 0)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_a_cell_of_one_class_only(self, n_classes):
        """Its coefficient is infinite, the likelihood is not: as close as a coefficient of 20 comes."""
        rng = np.random.default_rng(1)
        cells = np.repeat([0, 1, 2], 60)
        y = rng.integers(0, n_classes, 180)
        y[cells == 2] = n_classes - 1
        design = rng.normal(size=(180, 1))
        found, df = covariate_test(y, cells, [np.zeros(180, int)], design)
        assert df == 2 * (n_classes - 1)

        def log_likelihood(rows, columns):  # cells of one class fit perfectly, and say nothing about covariates
            model = (sm.Logit if n_classes == 2 else sm.MNLogit)(y[rows], sm.add_constant(np.column_stack(columns)))
            return model.fit(disp=0).llf

        rest = cells < 2
        expected = 2 * (log_likelihood(rest, [cells[rest] == 1, design[rest]])
                        - log_likelihood(slice(None), [design]))  # fmt: skip
        assert found == pytest.approx(expected, abs=2e-3)

    def test_hazards(self):
        rng = np.random.default_rng(2)
        n = 300
        cells, age = rng.integers(0, 3, n), rng.normal(size=n)
        time = rng.exponential(np.exp(-0.5 * (cells == 1) - 0.5 * age))
        event = rng.random(n) < 0.7
        dummies = np.column_stack([cells == 1, cells == 2]) * 1.0
        larger = sm.PHReg(time, np.column_stack([dummies, age]), status=event * 1).fit(disp=0).llf
        smaller = sm.PHReg(time, age[:, None], status=event * 1).fit(disp=0).llf
        found, df = hazard_test(time, event, cells, np.zeros(n, int), age[:, None])
        assert (found, df) == (pytest.approx(2 * (larger - smaller), abs=1e-6), 2)


class TestSelect:
    @pytest.mark.parametrize("permutations", [None, True])
    def test_a_proxy_does_not_hold(self, permutations):
        X, y, age = confounded()
        found = interplay.select(X, y, covariates=age, permutations=permutations, random_state=0)
        assert {"x0", "x2", "x5", "x9"} <= set(found.relevant)  # screening is unchanged
        plain = interplay.select(X, y, permutations=permutations, random_state=0)
        assert (found.p_adjusted == plain.p_adjusted).all()
        assert found.relevant == plain.relevant
        table = found.table.set_index("variable")
        assert not table.loc["x0", "holds_with_covariates"]
        assert table.loc[["x2", "x5", "x9"], "holds_with_covariates"].all()
        assert table.loc["x0", "p_covariates"] > table.loc["x0", "p_value"]
        assert table.loc[~found.is_relevant, "p_covariates"].isna().all()
        assert "remain significant with covariates (covariate); not significant: x0" in found.summary()

    def test_p_is_the_likelihood_ratio_of_the_best_tuple(self):
        X, y, age = confounded()
        found = interplay.select(X, y, dimensions=1, covariates=age, random_state=0)
        row = found.table.loc[2]
        level = interplay.discretize(X)[0, :, 2]
        scaled = (age - age.mean()) / age.std()
        models = [sm.Logit(y, sm.add_constant(np.column_stack(c))).fit(disp=0).llf for c in ([level, scaled], [scaled])]
        assert row["p_covariates"] == pytest.approx(chi2.sf(2 * (models[0] - models[1]), 1), rel=1e-5)

    def test_names_of_columns(self):
        X, y, age = confounded()
        frame = (
            pd.DataFrame(X).rename(columns=lambda v: f"v{v}").assign(age=age, sex=np.where(y ^ (age > 60), "f", "m"))
        )
        found = interplay.select(frame, y, covariates=["age", "sex"], random_state=0)
        assert found.names == [f"v{i}" for i in range(12)]
        assert found.provenance["covariates"] == ["age", "sex"]
        one = interplay.select(frame.drop(columns="sex"), y, covariates="age", random_state=0)
        assert one.provenance["covariates"] == ["age"]

    def test_pairs_of_classes_and_strata(self):
        X, y, age = confounded(900)
        three = y + (np.arange(900) % 3 == 0)
        for settings in ({"multiclass": "ovo"}, {"strata": np.arange(900) % 2}):
            found = interplay.select(X, three, covariates=age, random_state=0, **settings)
            assert len(found.retests[0].variable) == len(found.relevant)
            assert (found.retests[0].df > 0).all()

    def test_saved_merged_and_reported(self, tmp_path):
        X, y, age = confounded()
        found = interplay.select(X, y, covariates=age, random_state=0)
        found.save(tmp_path / "run")
        loaded = interplay.load(tmp_path / "run")
        pd.testing.assert_frame_equal(loaded.table, found.table)
        for i in (1, 2):
            interplay.search_shard(X, y, shard=(i, 2), covariates=age).save(tmp_path / f"part{i}")
        merged = interplay.merge_parts(sorted(tmp_path.glob("part*")), X=X)
        pd.testing.assert_frame_equal(merged.table, found.table)
        loaded.to_html(tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "tested again with covariates" in text
        assert "covariates=covariates" in text

    def test_groups(self):
        rng = np.random.default_rng(0)
        donor = np.repeat(np.arange(20), 15)
        y = donor % 2
        X = rng.normal(size=(300, 8)) + 2 * np.outer(y, np.arange(8) == 3)
        found = interplay.select(X, y, groups=donor, covariates=rng.normal(size=300), random_state=0)
        assert found.table.loc[3, "p_covariates"] == pytest.approx(1 / 200)  # not the tiny one of independent cells
        assert found.table.loc[3, "holds_with_covariates"]

    def test_the_command_line(self, tmp_path, monkeypatch, capfd):
        from command_line import in_process

        X, y, age = confounded()
        pd.DataFrame(X).rename(columns=lambda v: f"v{v}").assign(age=age, ill=y).to_csv(tmp_path / "d.csv", index=False)
        command = ("run", tmp_path / "d.csv", "--target", "ill", "--covariate", "age", "--seed", "0")
        done = in_process(monkeypatch, capfd, *command)
        assert done.code == 0, done.err
        assert "remain significant with covariates (age); not significant: v0" in done.out
        in_process(monkeypatch, capfd, *command, "--write-config", tmp_path / "run.toml")
        assert 'covariate = ["age"]' in (tmp_path / "run.toml").read_text()
        again = in_process(monkeypatch, capfd, "run", "--config", tmp_path / "run.toml")
        assert again.out == done.out


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        (np.zeros(5), "covariates must have one value per sample of X: 5 values, 600 samples"),
        (np.r_[np.nan, np.ones(599)], "covariates: column 'covariate' has missing or infinite values"),
        (np.ones(600), "column 'covariate' has one value only"),
        (pd.DataFrame({"sex": ["f"] * 600}), "column 'sex' has one value only"),
        ("nowhere", "covariates names 'nowhere', which is not a column of X"),
        (["x1", "nowhere"], "covariates names 'nowhere'"),
        ([f"p{i}" for i in range(600)], "covariates give a model with 599 columns"),
        (np.zeros((600, 2, 2)), "covariates"),
    ],
)
def test_refusals(covariates, message):
    X, y, _ = confounded()
    with pytest.raises((ValueError, TypeError)) as error:
        interplay.select(X, y, covariates=covariates)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_kinds_of_covariates():
    found = make_covariates({"sex": ["f", "m", "f"] * 2, "dose": [1, 2, 3] * 2}, n_samples=6)
    assert found.names == ["sex", "dose"]
    assert found.design[:3] == pytest.approx(np.array([[0, -1.2247449], [1, 0], [0, 1.2247449]]))


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_the_unit_of_a_covariate_does_not_matter(scale):
    values = np.random.default_rng(0).normal(size=50)
    scaled = make_covariates(values * scale, n_samples=50)
    np.testing.assert_allclose(scaled.design, make_covariates(values, n_samples=50).design)
