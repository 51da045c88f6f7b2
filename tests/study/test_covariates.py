"""covariates= and offset=: the search is given them, and the full model has the last word."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import chi2

import interplay
from full_models import full_model
from interplay.data.models.linear import cell_columns
from interplay.data.study.design import make_covariates
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.times import Survival
from interplay.data.study.study import make_study
from reference import covariate_columns


def confounded(n=600, seed=0):
    """Variable 2 matters by itself, 5 and 9 only together; 0 is a proxy of age, on which the illness depends."""
    rng = np.random.default_rng(seed)
    age = rng.normal(60, 10, n)
    X = rng.normal(size=(n, 12))
    X[:, 0] = (age - 60) / 10 + 0.4 * X[:, 0]
    risk = 0.15 * (age - 60) + 2 * (X[:, 2] > 0) - 1 + 3 * ((X[:, 5] > 0) ^ (X[:, 9] > 0)) - 1.5
    return X, (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int), age


def ratio(outcome, cells, part, design):
    """Compare cells with cells of a part, beside covariates; classes are numbers from 0."""
    if not isinstance(outcome, Survival):
        outcome = DecisionClasses(outcome, [str(q) for q in range(outcome.max() + 1)])
    return full_model(outcome, design).likelihood_ratio(cell_columns(part), cell_columns(cells))


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
        found, df = ratio(y, cells, part, design)
        assert found == pytest.approx(expected, abs=1e-6)
        assert df == 2 * n_part * (n_classes - 1)

    def test_hazards_without_a_maximum_are_no_error(self):
        """Cells without events have an infinite coefficient; Newton's steps end in a singular matrix."""
        for seed in range(30):
            rng = np.random.default_rng(seed)
            cells, design = rng.integers(0, 2, 12), rng.normal(size=(12, 3))
            time = np.where(cells == 0, 1000.0, rng.exponential(size=12))
            event = rng.random(12) < 0.3
            assert not ratio(Survival(time, event), cells, cells * 0, design)[0] < 0

    def test_without_events_nothing_is_told(self):
        design = np.arange(20.0)[:, np.newaxis]
        times = Survival(np.arange(20.0), np.zeros(20, bool))
        assert ratio(times, np.arange(20) % 2, np.zeros(20, int), design) == (0, 0)

    def test_cells_that_covariates_explain_have_no_degrees_of_freedom(self):
        rng = np.random.default_rng(0)
        cells = rng.integers(0, 2, 200)
        assert ratio(rng.integers(0, 2, 200), cells, np.zeros(200, int), cells[:, None] * 1.0) == (0.0, 0)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_a_cell_of_one_class_only(self, n_classes):
        """Its coefficient is infinite, the likelihood is not: as close as a coefficient of 20 comes."""
        rng = np.random.default_rng(1)
        cells = np.repeat([0, 1, 2], 60)
        y = rng.integers(0, n_classes, 180)
        y[cells == 2] = n_classes - 1
        design = rng.normal(size=(180, 1))
        found, df = ratio(y, cells, np.zeros(180, int), design)
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
        found, df = ratio(Survival(time, event), cells, np.zeros(n, int), age[:, None])
        assert (found, df) == (pytest.approx(2 * (larger - smaller), abs=1e-6), 2)


class TestSelect:
    @pytest.mark.parametrize("permutations", [None, True])
    def test_a_proxy_is_not_relevant(self, permutations):
        X, y, age = confounded()
        plain = interplay.select(X, y, permutations=permutations, random_state=0)
        assert {"x0", "x2", "x5", "x9"} <= set(plain.relevant)
        assert "p_model" not in plain.table
        assert plain.in_model is None
        found = interplay.select(X, y, covariates=age, permutations=permutations, random_state=0)
        assert set(found.relevant) == {"x2", "x5", "x9"}
        assert found.in_model.variable.tolist() == found.ranked.tolist()
        assert (found.in_model.kind, found.in_model.about) == ("logistic", ["covariate"])
        p_model = found.table["p_model"]
        assert (p_model[found.is_relevant] < 1e-5).all()
        assert p_model[~found.is_relevant].isna().all()
        if permutations is None:  # the model has the last word
            assert (found.p_value[found.is_relevant] >= p_model[found.is_relevant]).all()
        assert "given covariate (logistic model)" in found.summary()
        assert "given covariate" not in plain.summary()
        assert found.class_sizes == plain.class_sizes  # as users know the outcome

    def test_p_is_the_likelihood_ratio_of_the_best_tuple(self):
        X, y, age = confounded()
        found = interplay.select(X, y, dimensions=1, covariates=age, random_state=0)
        assert found.relevant == ["x2"]
        level = interplay.discretize(X)[0, :, 2]
        scaled = np.array(covariate_columns(age))
        models = [sm.Logit(y, sm.add_constant(np.column_stack(c))).fit(disp=0).llf for c in ([level, scaled], [scaled])]
        expected = chi2.sf(2 * (models[0] - models[1]), 1)
        assert found.table.loc[2, "p_model"] == pytest.approx(expected, rel=1e-5)
        assert found.table.loc[2, "p_value"] >= expected
        assert found.table.loc[2, "p_value"] == pytest.approx(expected, rel=0.5)

    def test_p_of_a_pair_is_that_beyond_its_partner(self):
        X, y, age = confounded()
        found = interplay.select(X, y, dimensions=2, covariates=age, random_state=0)
        codes = interplay.discretize(X)[0]
        scaled = np.array(covariate_columns(age))
        for v, partner in ((5, 9), (9, 5)):
            assert found.table.loc[v, "partners"] == (f"x{partner}",)
            cells = codes[:, [v, partner]] @ [2, 1]
            columns = [[cells == c for c in (1, 2, 3)], [codes[:, partner]]]
            fits = [sm.Logit(y, sm.add_constant(np.column_stack([*c, scaled]) * 1.0)).fit(disp=0) for c in columns]
            expected = chi2.sf(2 * (fits[0].llf - fits[1].llf), 2)
            assert found.table.loc[v, "p_model"] == pytest.approx(expected, rel=1e-4)

    def test_names_of_columns(self):
        X, y, age = confounded()
        frame = (
            pd.DataFrame(X).rename(columns=lambda v: f"v{v}").assign(age=age, sex=np.where(y ^ (age > 60), "f", "m"))
        )
        found = interplay.select(frame, y, covariates=["age", "sex"], random_state=0)
        assert found.names == [f"v{i}" for i in range(12)]
        assert found.provenance["covariates"] == ["age", "sex"]
        assert found.provenance["model"] == "logistic"
        one = interplay.select(frame.drop(columns="sex"), y, covariates="age", random_state=0)
        assert one.provenance["covariates"] == ["age"]

    @pytest.mark.parametrize(
        ("settings", "compared"),
        [
            ({}, "ovr"),
            ({"multiclass": "ovo"}, "ovo"),
            ({"strata": np.arange(900) % 2}, "ovr"),
        ],
    )
    def test_several_classes_and_strata(self, settings, compared):
        X, y, age = confounded(900)
        three = y + (np.arange(900) % 3 == 0)
        found = interplay.select(X, three, covariates=age, random_state=0, **settings)
        assert {"x2", "x5", "x9"} == set(found.relevant)
        assert found.settings["multiclass"] == compared  # residuals are those of two classes
        assert len(found.comparisons) == 3
        assert found.in_model.variable.tolist() == found.ranked.tolist()
        assert (found.in_model.df > 0).all()

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
        assert merged.in_model.chi2.tolist() == found.in_model.chi2.tolist()
        with pytest.raises(ValueError, match="X is needed to merge parts of a search with covariates"):
            interplay.merge_parts(sorted(tmp_path.glob("part*")))
        loaded.to_html(tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "covariates=covariates" in text
        assert "logistic model" in text

    def test_groups(self):
        rng = np.random.default_rng(0)
        donor = np.repeat(np.arange(20), 15)
        y = donor % 2
        X = rng.normal(size=(300, 8)) + 2 * np.outer(y, np.arange(8) == 3)
        found = interplay.select(X, y, groups=donor, covariates=rng.normal(size=300), random_state=0)
        assert found.relevant == ["x3"]
        assert found.table.loc[3, "p_value"] == pytest.approx(1 / 200)  # not the tiny one of independent cells
        assert found.table.loc[3, "p_model"] < 1e-9

    def test_the_command_line(self, tmp_path, monkeypatch, capfd):
        from command_line import in_process

        X, y, age = confounded()
        pd.DataFrame(X).rename(columns=lambda v: f"v{v}").assign(age=age, ill=y).to_csv(tmp_path / "d.csv", index=False)
        command = ("run", tmp_path / "d.csv", "--target", "ill", "--covariate", "age", "--seed", "0")
        done = in_process(monkeypatch, capfd, *command)
        assert done.code == 0, done.err
        assert "given age (logistic model)" in done.out
        assert "3 of 12 variables relevant" in done.out
        in_process(monkeypatch, capfd, *command, "--write-config", tmp_path / "run.toml")
        assert 'covariate = ["age"]' in (tmp_path / "run.toml").read_text()
        again = in_process(monkeypatch, capfd, "run", "--config", tmp_path / "run.toml")
        assert again.out == done.out


class TestConfounded:
    """Age drives the outcome and ten of 30 columns; one other column has an effect of its own."""

    @staticmethod
    def table(seed):
        rng = np.random.default_rng([seed, 31])
        age = rng.normal(size=200)
        X = rng.normal(size=(200, 30))
        X[:, :10] += age[:, None]
        return X, age, 1.5 * age + 1.3 * X[:, 20], rng

    @pytest.mark.parametrize("kind", ["numbers", "classes", "times"])
    def test_followers_are_rare_and_the_true_column_is_found(self, kind):
        n_tables, n_false, n_found, n_plain = 20, 0, 0, 0
        for seed in range(n_tables):
            X, age, predictor, rng = self.table(seed)
            y = {
                "numbers": lambda p=predictor, rng=rng: p + 2 * rng.normal(size=200),
                "classes": lambda p=predictor, rng=rng: (rng.random(200) < 1 / (1 + np.exp(-p))).astype(int),
                "times": lambda p=predictor, rng=rng: (rng.exponential(np.exp(-p / 2)), rng.random(200) < 0.7),
            }[kind]()
            found = set(interplay.select(X, y, covariates=age, dimensions=1, random_state=0).relevant)
            n_false += bool(found - {"x20"})
            n_found += "x20" in found
            if seed < 3:
                plain = set(interplay.select(X, y, dimensions=1, random_state=0).relevant)
                n_plain += bool(plain - {"x20"})
        assert n_plain >= 2  # without age, its followers are listed
        assert n_false <= 3  # of 20 at 0.05, more is a chance of 1 in 60
        assert n_found >= 16


class TestDetermined:
    @pytest.mark.parametrize("call", [interplay.select, interplay.interactions])
    @pytest.mark.parametrize(
        ("outcome", "scale"),
        [(lambda age: 2 * age + 1, "ranks"), (lambda age: 2 * age + 1, "values"), (lambda age: age > 60, "ranks")],
    )
    def test_a_covariate_that_determines_the_outcome_is_refused(self, call, outcome, scale):
        X, _, age = confounded()
        with pytest.raises(ValueError, match="covariates determine y"):
            call(X, outcome(age), covariates=age, scale=scale)

    @pytest.mark.parametrize("kind", ["classes", "ranks", "values", "times"])
    def test_a_variable_that_is_the_outcome_is_found(self, kind):
        """With it in the model nothing is left, which is no fault of the covariates."""
        X, _, age = confounded()
        y = {"classes": (X[:, 3] > 0).astype(int), "times": (np.exp(-X[:, 3]), np.ones(600, bool))}.get(kind, X[:, 3])
        scale = {"scale": kind} if kind in ("ranks", "values") else {}
        found = interplay.select(X, y, covariates=age, random_state=0, **scale)
        assert found.relevant == ["x3"]


class TestOffset:
    def test_of_numbers_is_subtracted(self):
        X, _, age = confounded()
        rng = np.random.default_rng(1)
        known = 0.2 * age
        y = X[:, 2] + known + rng.normal(size=600)
        for scale in ("ranks", "values"):
            found = interplay.select(X, y, offset=known, scale=scale, dimensions=2, random_state=0)
            other = interplay.select(
                X, y - known, covariates=None, offset=np.zeros(600), scale=scale, dimensions=2, random_state=0
            )
            assert found.p_value.tolist() == other.p_value.tolist()
            assert found.in_model.chi2.tolist() == other.in_model.chi2.tolist()
            plain = interplay.select(X, y - known, scale=scale, dimensions=2, random_state=0)
            assert found.relevant == plain.relevant == ["x2"]

    def test_of_classes_is_that_of_statsmodels(self):
        X, _, age = confounded()
        known = 0.15 * (age - 60)
        y = (np.random.default_rng(4).random(600) < 1 / (1 + np.exp(1 - 2 * (X[:, 2] > 0) - known))).astype(int)
        found = interplay.select(X, y, offset=known, dimensions=1, random_state=0)
        assert found.relevant[0] == "x2"
        plain = interplay.select(X, y, dimensions=1, random_state=0)
        assert found.p_value[0] > 1e9 * plain.p_value[0]  # x0 follows from the offset
        assert found.provenance["offset"] is True
        assert "given the offset (logistic model)" in found.summary()
        for v, ratio in zip(found.in_model.variable, found.in_model.chi2, strict=True):
            level = interplay.discretize(X)[0, :, v]
            fits = [
                sm.GLM(y, columns, family=sm.families.Binomial(), offset=known).fit()
                for columns in (sm.add_constant(level), np.ones((600, 1)))
            ]
            assert ratio == pytest.approx(2 * (fits[0].llf - fits[1].llf), rel=1e-6)

    def test_by_name_saved_and_merged(self, tmp_path):
        X, y, age = confounded()
        frame = pd.DataFrame(X).rename(columns=lambda v: f"v{v}").assign(known=0.15 * (age - 60))
        found = interplay.select(frame, y, offset="known", random_state=0)
        assert found.names == [f"v{i}" for i in range(12)]
        for i in (1, 2):
            interplay.search_shard(frame, y, shard=(i, 2), offset="known").save(tmp_path / f"part{i}")
        merged = interplay.merge_parts(sorted(tmp_path.glob("part*")), X=frame)
        pd.testing.assert_frame_equal(merged.table, found.table)


class TestSameAnswer:
    @pytest.mark.parametrize("kind", ["numbers", "classes", "times"])
    def test_threads_and_interruptions_change_nothing(self, kind, tmp_path):
        X, y, age = confounded(300)
        rng = np.random.default_rng(2)
        outcome = {
            "numbers": y + rng.normal(size=300),
            "classes": y,
            "times": (rng.exponential(np.exp(-1.5 * y)), rng.random(300) < 0.8),
        }[kind]
        given = {"covariates": age, "offset": 0.1 * rng.normal(size=300), "random_state": 0}
        found = [interplay.select(X, outcome, n_jobs=n_jobs, **given) for n_jobs in (1, 2)]
        assert found[0].log_p.tobytes() == found[1].log_p.tobytes()
        assert found[0].in_model.chi2.tobytes() == found[1].in_model.chi2.tobytes()
        kept = interplay.select(X, outcome, checkpoint=tmp_path / "kept", **given)
        again = interplay.select(X, outcome, checkpoint=tmp_path / "kept", **given)
        for other in (kept, again):
            assert other.log_p.tobytes() == found[0].log_p.tobytes()

    def test_checkpoints_and_parts_know_covariates_and_offset(self):
        X, y, age = confounded(300)
        given = [{}, {"covariates": age}, {"covariates": age**2}, {"offset": age}, {"covariates": age, "offset": age}]
        assert len({make_study(X, y, **some).fingerprint() for some in given}) == len(given)
        times = (np.arange(1.0, 301), np.ones(300))
        entries = [{}, {"entry": np.zeros(300)}, {"entry": np.full(300, 0.5)}]
        assert len({make_study(X, times, times=True, **some).fingerprint() for some in entries}) == len(entries)


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        (pd.DataFrame({"sex": ["f"] * 600}), "column 'sex' has one value only"),
        (["x1", "nowhere"], "covariates names 'nowhere'"),
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


def test_splines_of_covariates_are_those_of_plain_loops():
    """The value itself is among the columns; few values and few samples have fewer columns."""
    rng = np.random.default_rng(0)
    dose = np.round(rng.lognormal(0, 1.5, 300), 1)
    ours = make_covariates({"dose": dose, "sex": rng.choice(["f", "m"], 300)}, n_samples=300)
    theirs = np.column_stack([np.ones(300), ours.design[:, 1], covariate_columns(dose)])
    columns = np.column_stack([np.ones(300), ours.smooth(300).design])
    assert columns.shape == (300, 7)
    assert np.linalg.matrix_rank(columns) == np.linalg.matrix_rank(np.hstack([columns, theirs])) == 7
    assert [ours.smooth(n).design.shape[1] for n in (29, 30, 45, 59, 60)] == [2, 3, 4, 5, 6]
    flags = make_covariates({"flag": dose > 1, "grade": np.arange(300) % 3}, n_samples=300)
    assert np.linalg.matrix_rank(np.column_stack([np.ones(300), flags.smooth(300).design])) == 4


def test_ranks_of_an_outcome_that_is_linear_in_a_skewed_covariate():
    """Variables that follow such a covariate are not found, and others are."""
    rng = np.random.default_rng(1)
    dose = rng.exponential(size=400)
    X = rng.normal(size=(400, 20))
    X[:, :8] += dose[:, np.newaxis]
    y = 3 * dose + X[:, 12] + rng.normal(size=400)
    assert interplay.select(X, y, covariates=dose, dimensions=(1,), random_state=0).relevant == ["x12"]


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_the_unit_of_a_covariate_does_not_matter(scale):
    values = np.random.default_rng(0).normal(size=50)
    scaled = make_covariates(values * scale, n_samples=50)
    np.testing.assert_allclose(scaled.design, make_covariates(values, n_samples=50).design)
