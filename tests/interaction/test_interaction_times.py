"""interactions(X, (time, event)): Cox models with the interaction and without, as statsmodels has them."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, f
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.duration.survfunc import SurvfuncRight

import interplay
from command_line import in_process
from interplay.ask.tuple_tests import in_model
from interplay.data.study.table import as_table
from likelihood_ratio import covariate_products
from reference import covariate_columns

Z = 1.959963984540054


def hazards(seed=0, n=500):
    """x1 and x4 matter together, age by itself; some samples enter late, and some times are censored."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 7)), columns=[f"x{i}" for i in range(7)])
    age = pd.Series(rng.normal(size=n), name="age")
    hazard = np.exp(0.7 * age + 1.6 * ((X.x1 > X.x1.median()) ^ (X.x4 > X.x4.median())))
    entry = np.where(rng.random(n) < 0.4, rng.uniform(0, 0.1, n), 0.0)
    time = entry + rng.exponential(1 / hazard)
    end = entry + rng.exponential(1.0, n)
    return X, (np.minimum(time, end), time <= end), age, entry


def columns_of(found, row, X, known):
    """Return the columns of the larger model, the product of all members last."""
    levels = []
    for v in found.tested.tuples[row].tolist():
        cuts = found.cuts_of(v)
        levels.append((X.iloc[:, [v]].to_numpy() > cuts.thresholds[0]).sum(axis=1) * 1.0)
    products = list(levels)
    if len(levels) == 3:
        products += [levels[0] * levels[1], levels[0] * levels[2], levels[1] * levels[2]]
    return np.column_stack([*known, *products, np.prod(levels, axis=0)]), levels


def larger_p(of_both):
    """Return the fits with and without the interaction, of models without products of a covariate and beside them,
    which say less of it."""
    return min(of_both, key=lambda fits: fits[0].llf - fits[1].llf)


def beside(age, levels):
    """Columns of age, without its products with members and with them."""
    known = np.array(covariate_columns(age))
    return [known, np.hstack([known, covariate_products(np.asarray(age)[:, np.newaxis], levels)])]


@pytest.mark.parametrize(
    ("dimensions", "given"),
    [(2, "nothing"), (2, "age, offset, entry"), (2, "strata and age"), (3, "age"), (3, "age, offset, entry")],
)
def test_is_that_of_statsmodels(dimensions, given):
    X, (time, event), age, entry = hazards(n=300)
    offset = 0.3 * age.to_numpy() ** 2
    site = np.arange(len(X)) % 2
    known = [] if given == "nothing" else [covariate_columns(age)]
    settings, same = {}, {}
    if known:
        settings["covariates"] = age
    if "offset" in given:
        settings |= {"offset": offset, "entry": entry}
        same = {"offset": offset, "entry": entry}
    if "strata" in given:
        settings["strata"] = site
        same = {"strata": site}
    found = interplay.interactions(X, (time, event), dimensions=dimensions, top=2, **settings, coding="levels")
    assert found.tested.kind == "times"
    assert found.table["method"].tolist() == ["model"] * 2
    if dimensions == 2:
        assert found.significant[0] == ("x1", "x4")
    tested = found.tested
    for row in range(2):
        own, levels = columns_of(found, row, X, [])
        n_more = 1
        if "strata" in given:  # effects may differ between strata, and so may the interaction
            own = np.column_stack([own[:, :-1], own[:, :-1] * site[:, None], own[:, -1], own[:, -1] * site])
            n_more = 2
        models = [np.column_stack([part, own]) for part in (beside(age, levels) if known else [np.empty((300, 0))])]
        fits = larger_p(
            [
                PHReg(time, part, status=event * 1, ties="efron", **same).fit(disp=0)
                for part in (all_, all_[:, :-n_more])
            ]
            for all_ in models
        )
        df = n_more
        expected = 2 * (fits[0].llf - fits[1].llf)
        assert tested.statistic[row] == pytest.approx(expected, rel=1e-5)
        assert tested.df[row] == df
        # F with the events beyond the columns, which are few.
        assert chi2.sf(expected, df) < tested.p_value[row] < f.sf(expected / df, df, event.sum() - 40) * 1.0001
        if "strata" not in given:
            estimate, error = fits[0].params[-1], fits[0].bse[-1]
            assert tested.estimate[row] == pytest.approx(estimate, rel=1e-5)
            interval = [estimate - Z * error, estimate + Z * error]
            assert [tested.ci_low[row], tested.ci_high[row]] == pytest.approx(interval, rel=1e-4)
        for place, level in enumerate(levels):
            alone = PHReg(time, np.column_stack([*known, level]), status=event * 1, ties="efron", **same).fit(disp=0)
            assert tested.estimate_alone[row, place] == pytest.approx(alone.params[-1], rel=1e-5)


def lin_wei(time, event, columns, entry):
    """Coefficients, and their covariance by plain loops over events, of times that all differ."""
    fit = PHReg(time, columns, status=event * 1, entry=entry).fit(disp=0)
    hazard = np.exp(columns @ fit.params)
    residuals = np.zeros_like(columns)
    for i in np.flatnonzero(event):
        at_risk = (time >= time[i]) & (entry < time[i])
        total = hazard[at_risk].sum()
        apart = columns - hazard[at_risk] @ columns[at_risk] / total
        residuals[i] += apart[i]
        residuals[at_risk] -= apart[at_risk] * hazard[at_risk, None] / total
    changes = residuals @ fit.cov_params()
    return fit.params, changes.T @ changes


def test_robust_variances_are_lin_and_weis():
    """Hazards that are proportional hold."""
    X, (time, event), age, entry = hazards()
    found = interplay.interactions(X, (time, event), covariates=age, entry=entry, top=3, coding="levels")
    for row in range(3):
        own, levels = columns_of(found, row, X, [])
        models = [np.column_stack([part, own]) for part in beside(age, levels)]
        both = [[PHReg(time, part, status=event * 1, entry=entry).fit(disp=0) for part in (all_, all_[:, :-1])]
                for all_ in models]  # fmt: skip
        columns = models[both.index(larger_p(both))]
        coefficients, covariance = lin_wei(time, event, columns, entry)
        wald = coefficients[-1] ** 2 / covariance[-1, -1]
        n_left = event.sum() - 3 - columns.shape[1]
        assert found.table["p_robust"][row] == pytest.approx(f.sf(wald, 1, n_left), rel=1e-4)
    assert found.table["holds_robust"].tolist() == [True, False, False]
    rare = X.assign(x1=np.arange(500) < 12, x4=np.arange(500) % 2 == 0)
    ends = event & ~(rare.x1 & rare.x4).to_numpy()  # no event in one cell: no finite estimate
    empty = interplay.interactions(rare, (time, ends), variables=["x1"], partners=["x4"], max_p=1, coding="levels")
    assert np.isnan(empty.table["p_robust"]).all()


def test_missing_values_are_left_out():
    X, (time, event), age, _ = hazards()
    gaps = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    found = interplay.interactions(gaps, (time, event), covariates=age, missing="omit")
    assert found.significant[0] == ("x1", "x4")
    whole = gaps[["x1", "x4"]].notna().all(axis=1).to_numpy()
    own, levels = columns_of(found, 0, gaps, [])
    products = covariate_products(np.asarray(age)[whole, np.newaxis], [each[whole] for each in levels])
    known = np.array(covariate_columns(age))[whole]
    fits = larger_p(
        [PHReg(time[whole], part, status=event[whole] * 1, ties="efron").fit(disp=0) for part in (all_, all_[:, :-1])]
        for all_ in (np.hstack([known, own[whole]]), np.hstack([known, products, own[whole]]))
    )
    assert found.tested.statistic[0] == pytest.approx(2 * (fits[0].llf - fits[1].llf), rel=1e-5)
    assert found.tested.estimate[0] == pytest.approx(fits[0].params[-1], rel=1e-5)
    known = gaps.x1.notna().to_numpy()
    own = np.column_stack([covariate_columns(age), levels[0]])[known]
    alone = PHReg(time[known], own, status=event[known] * 1, ties="efron").fit(disp=0)
    assert found.tested.estimate_alone[0, 0] == pytest.approx(alone.params[-1], rel=1e-5)


@pytest.mark.parametrize("settings", [{}, {"top": 4}])
def test_parts_threads_checkpoints_and_files_give_the_same(settings, tmp_path):
    X, y, age, entry = hazards()
    given = {"covariates": age, "entry": entry, **settings}
    found = interplay.interactions(X, y, n_jobs=1, **given)
    parts = [interplay.interactions(X, y, shard=(i, 2), **given) for i in (1, 2)]
    found.save(tmp_path / "pairs")
    for other in (
        interplay.merge_interactions(parts),
        interplay.interactions(X, y, n_jobs=2, **given),
        interplay.interactions(X, y, checkpoint=tmp_path / "kept", **given),
        interplay.load(tmp_path / "pairs"),
    ):
        pd.testing.assert_frame_equal(other.table, found.table, check_exact=True)
    found.to_html(tmp_path / "pairs.html")
    text = (tmp_path / "pairs.html").read_text(encoding="utf-8")
    assert "log hazard ratio" in text
    assert f"times, {y[1].sum()} events" in found.summary()


def test_curves_of_cells_are_those_of_statsmodels():
    """Kaplan and Meier's, with entries, of the samples that have a level; of shards and replications too."""
    X, (time, event), _, entry = hazards()
    X["g"] = np.arange(500) % 3
    gaps = X.mask(np.random.default_rng(1).random(X.shape) < 0.05)
    call = {"missing": "omit", "entry": entry, "top": 3, "variables": ["x1"], "partners": ["x4", "g", "x2"]}
    found = interplay.interactions(gaps, (time, event), **call)
    assert len(found.survival_curves) == 3
    again = found.replicate(gaps, (time, event), entry=entry)
    parts = [interplay.interactions(gaps, (time, event), shard=(i, 2), **call) for i in (1, 2)]
    merged = interplay.merge_interactions(parts)
    for row, members in enumerate(found.table["members"]):
        curves, counts = found.curves_of(row), found.counts_of(row)
        columns = [gaps.columns.get_loc(name) for name in members]
        codes = [found.cuts_of(v).codes(as_table(gaps).column(v), 0, omit_missing=True) for v in columns]
        for i, cell in enumerate(curves.cell.tolist()):
            where = np.unravel_index(cell, counts.counts.shape[:-1])
            own = np.all([code == place for code, place in zip(codes, where, strict=True)], axis=0)
            assert (curves.n_samples[i], curves.n_events[i]) == (own.sum(), event[own].sum())
            expected = SurvfuncRight(time[own], event[own] * 1, entry=entry[own])
            steps = slice(curves.start[i] + 1, curves.start[i + 1] - 1)
            assert curves.time[steps] == pytest.approx(expected.surv_times)
            assert curves.survival[steps] == pytest.approx(expected.surv_prob)
        other = merged.curves_of(row)
        assert (other.survival == curves.survival).all()
        same = again.curves_of(again.tested.rows_of(found.tested.tuples)[row])
        assert (same.survival == curves.survival).all()
    lines = found.plot.why(0).lines
    assert len(lines) == len(found.curves_of(0).cell)
    with pytest.raises(ValueError, match="survival curves need an outcome that is a time"):
        interplay.interactions(X, event, top=1).curves_of(0)


def test_noise_is_not_listed():
    """Of 20 tables of noise at 0.05, with censoring that depends on age, which is given."""
    n_false = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 5])
        X, age = rng.normal(size=(200, 8)), rng.normal(size=200)
        time, end = rng.exponential(np.exp(-age)), rng.exponential(np.exp(0.7 * age))
        found = interplay.interactions(X, (np.minimum(time, end), time <= end), covariates=age)
        n_false += bool(found.significant)
    assert n_false <= 3


def test_groups():
    X, y, age, _ = hazards(n=600)
    found = interplay.interactions(X, y, covariates=age, groups=np.arange(600) // 2, n_permutations=39)
    assert found.significant == [("x1", "x4")]
    assert found.table["p_adjusted"].tolist() == [1 / 40]
    own, levels = columns_of(found, 0, X, [])
    both = [[PHReg(y[0], part, status=y[1] * 1).fit(disp=0) for part in (all_, all_[:, :-1])]
            for all_ in (np.column_stack([known, own]) for known in beside(age, levels))]  # fmt: skip
    columns = larger_p(both)[0].model.exog
    fit = PHReg(y[0], columns, status=y[1] * 1).fit(disp=0, groups=np.arange(600) // 2)
    interval = [fit.params[-1] - Z * fit.bse[-1], fit.params[-1] + Z * fit.bse[-1]]
    assert [found.tested.ci_low[0], found.tested.ci_high[0]] == pytest.approx(interval, rel=1e-5)
    p = f.sf((fit.params[-1] / fit.bse[-1]) ** 2, 1, min(y[1].sum() - 3 - columns.shape[1], 299))
    assert found.table["p_robust"].tolist() == pytest.approx([p], rel=1e-3)
    assert "holds_robust" not in found.table


def test_the_command_is_the_function(tmp_path, monkeypatch, capfd):
    X, (time, event), age, entry = hazards()
    X.assign(age=age, days=time, dead=event * 1, since=entry).to_csv(tmp_path / "d.csv", index=False)
    command = ("interactions", tmp_path / "d.csv", "--time", "days", "--event", "dead", "--entry", "since")
    done = in_process(monkeypatch, capfd, *command, "--covariate", "age", "--save", tmp_path / "pairs")
    assert done.code == 0, done.err
    expected = interplay.interactions(
        pd.read_csv(tmp_path / "d.csv"), ("days", "dead"), entry="since", covariates=["age"]
    )
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, expected.table)
    assert "x1, x4" in done.out


@pytest.mark.parametrize("given", [{}, {"max_p": 1e-3}, {"top": 7}])
def test_models_of_many_pairs_at_once_are_those_of_each(monkeypatch, given):
    X, y, _, _ = hazards(n=300)
    X = np.hstack([X, np.random.default_rng(1).normal(size=(300, 150))])
    fitted = []
    plain = in_model.tuple_in_model
    monkeypatch.setattr(in_model, "tuple_in_model", lambda *args, **how: fitted.append(1) or plain(*args, **how))
    found = interplay.interactions(X, y, **given)
    n_fitted = len(fitted)
    monkeypatch.setattr(in_model, "_test_at_once", lambda *args, **how: None)
    every = interplay.interactions(X, y, **given)
    pd.testing.assert_frame_equal(found.table, every.table, rtol=1e-3, atol=1e-12)
    assert found.table["p_value"].to_numpy() == pytest.approx(every.table["p_value"].to_numpy(), rel=1e-8)
    assert n_fitted < 0.1 * (len(fitted) - n_fitted)
