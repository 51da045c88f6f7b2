"""interactions(covariates=): significant tuples are tested again with covariates in the model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import chi2

import interplay
from command_line import in_process
from interplay.report.interaction_page import methods_words


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
    return [(X.iloc[:, [cuts.variable]].to_numpy() > cuts.thresholds[0]).sum(axis=1) for cuts in members]


def test_what_covariates_explain_does_not_hold():
    X, y, age, sex = explained()
    known = pd.DataFrame({"age": age, "sex": sex})
    found = interplay.interactions(X, y, covariates=known)
    assert set(found.significant) == {("x1", "x2"), ("x4", "x5")}
    table = found.table.set_index("members")
    assert not table.loc[[("x1", "x2")], "holds_with_covariates"].any()
    assert table.loc[[("x4", "x5")], "holds_with_covariates"].all()
    assert (
        "1 of 2 significant tuples remain significant with covariates (age, sex); the search itself does not use these."
        in found.notes()
    )
    assert "with age, sex as covariates" in methods_words(found)
    assert found.provenance["covariates"] == ["age", "sex"]
    plain = interplay.interactions(X, y).table
    pd.testing.assert_frame_equal(found.table[plain.columns], plain)  # the search is the same


@pytest.mark.parametrize("settings", [{}, {"divisions": 2}, {"strata": np.arange(800) % 2}])
def test_likelihood_ratios_are_those_of_statsmodels(settings):
    X, y, age, _ = explained()
    found = interplay.interactions(X, y, covariates=pd.DataFrame({"age": age}), top=3, level=0.4, **settings)
    assert found.is_significant.any()
    for row in np.flatnonzero(found.is_significant).tolist():
        a, b = levels_of(found, row, X)
        data = pd.DataFrame({"a": a, "b": b, "age": age, "ill": y, "s": settings.get("strata", 0)})
        by = " * C(s)" if "strata" in settings else ""
        fits = [
            smf.logit(f"ill ~ ({terms}){by} + age", data).fit(disp=0, maxiter=200)
            for terms in ("C(a) * C(b)", "C(a) + C(b)")
        ]
        again = found.with_covariates
        assert again.chi2[row] == pytest.approx(2 * (fits[0].llf - fits[1].llf), rel=1e-5, abs=1e-6)
        assert again.df[row] == fits[0].df_model - fits[1].df_model
        assert again.p_value[row] >= chi2.sf(again.chi2[row], again.df[row]) * (1 - 1e-9)
    others = found.table[~found.table["significant"]]
    assert others["p_covariates"].isna().all()
    assert not others["holds_with_covariates"].any()


def test_samples_without_a_value_are_left_out():
    X, y, age, _ = explained()
    gaps = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    found = interplay.interactions(gaps, y, covariates=age.rename("age"), missing="omit")
    row = found.significant.index(("x4", "x5"))
    a, b = levels_of(found, row, gaps)
    whole = gaps[["x4", "x5"]].notna().all(axis=1)
    data = pd.DataFrame({"a": a, "b": b, "age": age, "ill": y})[whole]
    fits = [smf.logit(f"ill ~ {terms} + age", data).fit(disp=0) for terms in ("C(a) * C(b)", "C(a) + C(b)")]
    assert found.with_covariates.chi2[row] == pytest.approx(2 * (fits[0].llf - fits[1].llf), rel=1e-5)


def test_tuples_of_some_variables():
    """The search numbers variables anew where only some may be in tuples."""
    X, y, age, _ = explained()
    every = interplay.interactions(X, y, covariates=age.rename("age")).table.set_index("members")
    some = interplay.interactions(X, y, covariates=age.rename("age"), variables=["x4", "x5", "x7"], require="all")
    assert some.significant == [("x4", "x5")]
    expected = every.loc[[("x4", "x5")], "p_covariates"].tolist()
    assert some.table["p_covariates"].tolist() == pytest.approx(expected, rel=1e-9)


def test_beside_groups():
    """What remains of an effect is judged by the permutations."""
    X, y, age, _ = explained(n=900)
    donor = np.arange(900) // 3
    found = interplay.interactions(X, y, groups=donor, covariates=age.rename("age"), n_permutations=59)
    table = found.table.set_index("members")
    assert set(table.index) == {("x1", "x2"), ("x4", "x5")}
    assert table["holds_with_covariates"].to_dict() == {("x1", "x2"): False, ("x4", "x5"): True}
    assert table.loc[[("x4", "x5")], "p_covariates_adjusted"].tolist() == pytest.approx([1 / 60])


def test_saved_and_loaded(tmp_path):
    X, y, age, _ = explained()
    found = interplay.interactions(X, y, covariates=age.rename("age"), top=5)
    found.save(tmp_path / "pairs")
    loaded = interplay.load(tmp_path / "pairs")
    pd.testing.assert_frame_equal(loaded.table, found.table)
    assert len(loaded.only_significant().with_covariates.chi2) == len(found.significant)
    loaded.to_html(tmp_path / "pairs.html")
    assert "p_covariates" not in loaded.replicate(X, y).table


def test_the_command_is_the_function(tmp_path, monkeypatch, capfd):
    X, y, age, sex = explained()
    frame = X.assign(age=age, sex=sex, ill=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    command = ("interactions", tmp_path / "data.csv", "--target", "ill", "--covariate", "age", "--covariate", "sex")
    done = in_process(monkeypatch, capfd, *command, "--seed", "0", "--save", tmp_path / "pairs")
    assert done.code == 0, done.err
    expected = interplay.interactions(pd.read_csv(tmp_path / "data.csv"), "ill", covariates=["age", "sex"])
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, expected.table)
    assert "1 of 2 significant tuples remain significant with covariates" in done.out
