"""interactions(covariates=, offset=): p-values, effects and intervals are those of the full model."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import interplay
from command_line import in_process
from interplay.show.report.interaction_page import methods_words
from likelihood_ratio import covariate_products, p_of_classes
from reference import covariate_columns

#: The columns of a covariate in formulas.
SPLINE = "s0 + s1 + s2 + s3 + s4"


def smooth_frame(covariate):
    return pd.DataFrame(covariate_columns(covariate), columns=["s0", "s1", "s2", "s3", "s4"])


def beside(covariate, levels):
    """The columns of a model without products of covariate and members, and with them: frames and formulas."""
    yield smooth_frame(covariate), SPLINE
    products = covariate_products(np.asarray(covariate)[:, np.newaxis], levels)
    if products.shape[1]:
        names = [f"k{i}" for i in range(products.shape[1])]
        yield smooth_frame(covariate).assign(**dict(zip(names, products.T, strict=True))), " + ".join([SPLINE, *names])


def explained(seed=0, n=800):
    """x1 and x2 interact through age, which is a covariate; x4 and x5 by themselves."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 8)), columns=[f"x{i}" for i in range(8)])
    age = 2.0 * ((frame.x1 > frame.x1.median()) ^ (frame.x2 > frame.x2.median())) + rng.normal(size=n) * 0.5
    logit = 1.5 * (age - 1) + 2.5 * ((frame.x4 > frame.x4.median()) ^ (frame.x5 > frame.x5.median())) - 1.25
    sex = rng.choice(["f", "m"], size=n)
    return frame, pd.Series((rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int), name="ill"), age, sex


def levels_of(found, row, X):
    """Cut the members of a tuple where the search has cut them."""
    members = [found.cuts_of(v) for v in found.tested.tuples[row].tolist()]
    return [
        (X.iloc[:, [cuts.variable]].to_numpy() > cuts.thresholds[int(found.tested.discretization[row])]).sum(axis=1)
        for cuts in members
    ]


def test_what_covariates_explain_is_not_significant():
    X, y, age, sex = explained()
    assert set(interplay.interactions(X, y).significant) == {("x1", "x2"), ("x4", "x5")}
    known = pd.DataFrame({"age": age, "sex": sex})
    found = interplay.interactions(X, y, covariates=known, level=0.01)
    assert found.significant == [("x4", "x5")]
    assert found.table["method"].tolist() == ["model"]
    assert "age, sex" in found.summary()
    assert "age, sex" in methods_words(found)
    assert found.provenance["covariates"] == ["age", "sex"]
    assert found.provenance["model"] == "logistic"
    assert found.class_sizes == {"0": int((y == 0).sum()), "1": int((y == 1).sum())}


@pytest.mark.parametrize(
    "settings", [{}, {"divisions": 2}, {"strata": np.arange(800) % 2}, {"discretizations": 3, "range_": 0.4}]
)
def test_likelihood_ratios_are_those_of_statsmodels(settings):
    X, y, age, _ = explained()
    found = interplay.interactions(X, y, covariates=pd.DataFrame({"age": age}), top=4, **settings, coding="levels")
    assert len(found) == 4
    for row in range(4):
        a, b = levels = levels_of(found, row, X)
        by = " * C(s)" if "strata" in settings else ""
        n_strata = len(np.unique(settings.get("strata", 0)))
        tests = []
        for columns, names in beside(age, levels):
            data = columns.assign(a=a, b=b, ill=y, s=settings.get("strata", 0))
            fits = [
                smf.logit(f"ill ~ ({terms}){by} + {names}", data).fit(disp=0, maxiter=200)
                for terms in ("C(a) * C(b)", "C(a) + C(b)")
            ]
            chi2, df = 2 * (fits[0].llf - fits[1].llf), fits[0].df_model - fits[1].df_model
            n_columns = fits[0].df_model + 1 + n_strata  # constants of the covariates, and those of the tuple
            tests.append((p_of_classes(chi2, df, np.bincount(y), n_columns), chi2, df, fits))
        p, expected, df, fits = max(tests, key=lambda one: one[0])
        p = min(p * settings.get("discretizations", 1), 1.0)
        tested = found.tested
        assert tested.statistic[row] == pytest.approx(expected, rel=1e-5, abs=1e-6)
        assert tested.df[row] == df
        assert tested.p_value[row] == pytest.approx(p, rel=1e-4)
        if settings in ({}, {"discretizations": 3, "range_": 0.4}):
            name = "C(a)[T.1]:C(b)[T.1]"
            assert tested.estimate[row] == pytest.approx(fits[0].params[name], rel=1e-5)
            interval = fits[0].conf_int().loc[name]
            assert [tested.ci_low[row], tested.ci_high[row]] == pytest.approx(interval.tolist(), rel=1e-4)
        else:
            assert np.isnan(tested.ci_low[row]) == np.isnan(tested.estimate[row])


def test_triples_are_those_of_statsmodels():
    X, _, age, _ = explained()
    rng = np.random.default_rng(3)
    parity = (X[["x1", "x4", "x6"]] > X[["x1", "x4", "x6"]].median()).sum(axis=1) % 2
    y = (rng.random(800) < 1 / (1 + np.exp(1 - 2 * parity - 0.5 * age))).astype(int)
    found = interplay.interactions(X, y, covariates=age.rename("age"), dimensions=3, top=3, coding="levels")
    assert found.significant == [("x1", "x4", "x6")]
    for row in range(3):
        levels = levels_of(found, row, X)
        fits = []
        for columns, names in beside(age, levels):
            data = columns.assign(**dict(zip("abc", levels, strict=True)), ill=y)
            terms = "a * b * c", "a * b + a * c + b * c"
            fits.append([smf.logit(f"ill ~ {each} + {names}", data).fit(disp=0) for each in terms])
        larger, smaller = min(fits, key=lambda both: both[0].llf - both[1].llf)
        assert found.tested.statistic[row] == pytest.approx(2 * (larger.llf - smaller.llf), rel=1e-5)
        assert found.tested.estimate[row] == pytest.approx(larger.params["a:b:c"], rel=1e-5)
        interval = larger.conf_int().loc["a:b:c"].tolist()
        assert [found.tested.ci_low[row], found.tested.ci_high[row]] == pytest.approx(interval, rel=1e-4)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_numbers_are_those_of_statsmodels(dimensions):
    X, _, age, _ = explained()
    rng = np.random.default_rng(4)
    high = X.median() < X
    y = 0.5 * age + 1.5 * (high.x4 ^ high.x5) + (high.sum(axis=1) % 2 == 0) * 0.0 + rng.normal(size=800)
    found = interplay.interactions(
        X, y, covariates=age.rename("age"), scale="values", dimensions=dimensions, top=3, coding="levels"
    )
    if dimensions == 2:
        assert found.significant == [("x4", "x5")]
    names = "abc"[:dimensions]
    product = ":".join(names)
    for row in range(3):
        levels, fits = levels_of(found, row, X), []
        for columns, known in beside(age, levels):
            data = columns.assign(**dict(zip(names, levels, strict=True)), y=y)
            formula = f"y ~ {'*'.join(names)} + {known}"
            fits.append((smf.ols(formula, data).fit(), smf.ols(f"{formula} - {product}", data).fit(), formula, data))
        larger, smaller, formula, data = max(fits, key=lambda both: both[0].compare_f_test(both[1])[1])
        f, p, _ = larger.compare_f_test(smaller)
        tested = found.tested
        assert tested.statistic[row] == pytest.approx(f, rel=1e-7)
        assert tested.p_value[row] == pytest.approx(p, rel=1e-6)
        assert tested.df_residual[row] == larger.df_resid
        assert tested.estimate[row] == pytest.approx(larger.params[product], rel=1e-7)
        interval = larger.conf_int().loc[product].tolist()
        assert [tested.ci_low[row], tested.ci_high[row]] == pytest.approx(interval, rel=1e-6)
        robust = smf.ols(formula, data).fit(cov_type="HC3", use_t=True)
        assert tested.p_robust[row] == pytest.approx(robust.pvalues[product], rel=1e-5)
    wide = interplay.interactions(
        X, y, covariates=age.rename("age"), scale="values", divisions=2, top=3, coding="levels"
    )
    assert np.isnan(wide.tested.estimate).all()  # no one coefficient, and no warning


def test_three_classes_are_those_of_statsmodels():
    X, y, age, _ = explained()
    three = y + (np.random.default_rng(0).random(800) < 0.3)
    found = interplay.interactions(X, three, covariates=age.rename("age"), top=2, coding="levels")
    assert ("x4", "x5") in found.significant
    for row in range(2):
        a, b = levels = levels_of(found, row, X)
        fits = []
        for known, _ in beside(age, levels):
            columns = sm.add_constant(np.column_stack([a, b, known, a * b]).astype(float))
            fits.append([sm.MNLogit(three, part).fit(disp=0) for part in (columns, columns[:, :-1])])
        fits = min(fits, key=lambda both: both[0].llf - both[1].llf)
        assert found.tested.statistic[row] == pytest.approx(2 * (fits[0].llf - fits[1].llf), rel=1e-5)
        assert found.tested.df[row] == 2


def test_an_offset_is_that_of_statsmodels():
    X, y, age, _ = explained()
    known = 1.5 * (age - 1)
    found = interplay.interactions(X, y, offset=known, top=3, level=0.01, coding="levels")
    assert found.significant == [("x4", "x5")]
    for row in range(3):
        a, b = levels_of(found, row, X)
        columns = sm.add_constant(np.column_stack([a, b, a * b]).astype(float))
        fits = [
            sm.GLM(y, part, family=sm.families.Binomial(), offset=known).fit(tol=1e-12)
            for part in (columns, columns[:, :-1])
        ]
        assert found.tested.statistic[row] == pytest.approx(2 * (fits[0].llf - fits[1].llf), rel=1e-5)
        assert found.tested.estimate[row] == pytest.approx(fits[0].params.iloc[-1], rel=1e-5)
    numbers = y + age + np.random.default_rng(1).normal(size=800)
    one = interplay.interactions(X, numbers, offset=age, scale="values", top=3, coding="levels")
    other = interplay.interactions(X, numbers - age, scale="values", top=3, coding="levels")
    assert one.table["members"].tolist() == other.table["members"].tolist()
    assert one.tested.statistic == pytest.approx(other.tested.statistic, rel=1e-7)
    assert one.tested.estimate == pytest.approx(other.tested.estimate, rel=1e-7)


def test_samples_without_a_value_are_left_out():
    X, y, age, _ = explained()
    gaps = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    found = interplay.interactions(gaps, y, covariates=age.rename("age"), missing="omit")
    row = found.significant.index(("x4", "x5"))
    a, b = levels_of(found, row, gaps)
    whole = gaps[["x4", "x5"]].notna().all(axis=1)
    fits = []
    for columns, names in beside(age[whole].to_numpy(), [a[whole], b[whole]]):
        own = smooth_frame(age)[whole.to_numpy()].reset_index(drop=True)
        data = columns.assign(**own, a=a[whole], b=b[whole], ill=y[whole].to_numpy())
        fits.append([smf.logit(f"ill ~ {terms} + {names}", data).fit(disp=0) for terms in ("a * b", "a + b")])
    fits = min(fits, key=lambda both: both[0].llf - both[1].llf)
    assert found.tested.statistic[row] == pytest.approx(2 * (fits[0].llf - fits[1].llf), rel=1e-5)
    assert found.tested.estimate[row] == pytest.approx(fits[0].params["a:b"], rel=1e-5)
    assert found.tested.n_samples[row] == whole.sum()


def test_tuples_of_some_variables():
    """The search numbers variables anew where only some may be in tuples."""
    X, y, age, _ = explained()
    every = interplay.interactions(X, y, covariates=age.rename("age")).table.set_index("members")
    some = interplay.interactions(
        X, y, covariates=age.rename("age"), variables=["x4", "x5", "x7"], require="all", top=1
    )
    assert some.significant == [("x4", "x5")]
    expected = every.loc[[("x4", "x5")], "p_value"].tolist()
    assert some.table["p_value"].tolist() == pytest.approx(expected, rel=1e-9)


def test_all_tuples_are_listed_where_all_are_asked_for():
    X, y, age, _ = explained()
    found = interplay.interactions(X, y, covariates=age.rename("age"), max_p=1)
    assert len(found) == 28
    assert (np.diff(found.tested.log_p) >= 0).all()
    top = interplay.interactions(X, y, covariates=age.rename("age"), top=6).table
    pd.testing.assert_frame_equal(found.table[:6][top.columns].drop(columns=SMOOTH), top.drop(columns=SMOOTH))


#: Columns that follow from significance.
SMOOTH = ["p_smooth", "p_smooth_adjusted", "holds_smooth"]


def test_beside_groups():
    """What remains of an effect is judged by the permutations."""
    X, y, age, _ = explained(n=900)
    donor = np.arange(900) // 3
    plain = interplay.interactions(X, y, groups=donor, n_permutations=59)
    assert {("x1", "x2"), ("x4", "x5")} <= set(plain.significant)
    found = interplay.interactions(X, y, groups=donor, covariates=age.rename("age"), n_permutations=59)
    assert ("x1", "x2") not in found.significant
    table = found.table.set_index("members")
    assert table.loc[[("x4", "x5")], "p_adjusted"].tolist() == pytest.approx([1 / 60])


@pytest.mark.parametrize("settings", [{}, {"top": 5}, {"top": 5, "discretizations": 2, "range_": 0.3}])
def test_parts_threads_and_checkpoints_give_the_same(settings, tmp_path):
    X, y, age, _ = explained()
    given = {"covariates": age.rename("age"), **settings}
    found = interplay.interactions(X, y, n_jobs=1, **given)
    assert len(found) == settings.get("top", 1)
    parts = [interplay.interactions(X, y, shard=(i, 3), **given) for i in (3, 1, 2)]
    for other in (
        interplay.merge_interactions(parts),
        interplay.interactions(X, y, n_jobs=2, **given),
        interplay.interactions(X, y, checkpoint=tmp_path / "kept", **given),
    ):
        pd.testing.assert_frame_equal(other.table, found.table, check_exact=True)
    others = interplay.interactions(X, y, shard=(1, 3), **(given | {"covariates": age**2}))
    with pytest.raises(ValueError, match="of another search"):
        interplay.merge_interactions([others, *parts[:1], parts[2]])


def test_saved_and_loaded(tmp_path):
    X, y, age, _ = explained()
    found = interplay.interactions(X, y, covariates=age.rename("age"), top=5)
    found.save(tmp_path / "pairs")
    loaded = interplay.load(tmp_path / "pairs")
    pd.testing.assert_frame_equal(loaded.table, found.table)
    assert len(loaded.only_significant()) == len(found.significant)
    loaded.to_html(tmp_path / "pairs.html")
    assert "logistic" in (tmp_path / "pairs.html").read_text(encoding="utf-8")


def test_the_command_is_the_function(tmp_path, monkeypatch, capfd):
    X, y, age, sex = explained()
    frame = X.assign(age=age, sex=sex, known=0.1 * age, ill=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    command = ("interactions", tmp_path / "data.csv", "--target", "ill", "--covariate", "age", "--covariate", "sex")
    command = (*command, "--offset", "known")
    done = in_process(monkeypatch, capfd, *command, "--seed", "0", "--save", tmp_path / "pairs")
    assert done.code == 0, done.err
    expected = interplay.interactions(
        pd.read_csv(tmp_path / "data.csv"), "ill", covariates=["age", "sex"], offset="known"
    )
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, expected.table)
    assert "age, sex and the offset" in done.out


def test_an_effect_without_end_is_not_estimated():
    """In a cell of one class the log odds ratio was some number with an interval of ±100,000."""
    rng = np.random.default_rng(0)
    X, covariates = rng.integers(0, 2, (200, 3)), rng.normal(size=(200, 1))
    both, one = X[:, :2].all(axis=1), X[:, 0] != X[:, 1]
    found = interplay.interactions(X, (both | (one & (rng.random(200) < 0.3))) + 0, covariates=covariates, max_p=1)
    table = found.table.set_index("members")[["log_or", "ci_low", "ci_high"]]
    assert table.loc[[("x0", "x1")]].isna().all(axis=None)
    others = table.drop([("x0", "x1")])
    assert (others.abs() < 5).all(axis=None)


@pytest.mark.filterwarnings("ignore:tuples of 3:UserWarning")
def test_tuples_with_too_few_samples_for_a_test_have_p_1():
    """They were tested by the full model: 16 % of triples of noise had p < 0.05, and top= listed the first ones."""
    rng = np.random.default_rng(0)
    X, y, age = rng.integers(0, 3, size=(60, 6)), rng.integers(0, 2, 60), rng.normal(size=(60, 1))
    found = interplay.interactions(X, y, dimensions=3, covariates=age, max_p=1)
    assert (found.table["p_value"] == 1).all()
    first = interplay.interactions(X, y, dimensions=3, covariates=age, top=4)
    parts = [interplay.interactions(X, y, dimensions=3, covariates=age, top=4, shard=(i, 2)) for i in (1, 2)]
    listed = [one.table["members"].tolist() for one in (first, interplay.merge_interactions(parts), found)]
    assert listed[0] == listed[1] == listed[2][:4]
