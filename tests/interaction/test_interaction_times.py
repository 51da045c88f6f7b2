"""interactions(X, (time, event)): Cox models with the interaction and without, as statsmodels has them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, f
from statsmodels.duration.hazard_regression import PHReg

import interplay
from command_line import in_process
from interplay.statistics.interaction.tested_times import TestedTimes

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


@pytest.mark.parametrize(
    ("dimensions", "given"),
    [(2, "nothing"), (2, "age, offset, entry"), (2, "strata and age"), (3, "age"), (3, "age, offset, entry")],
)
def test_is_that_of_statsmodels(dimensions, given):
    X, (time, event), age, entry = hazards(n=300)
    offset = 0.3 * age.to_numpy() ** 2
    site = np.arange(len(X)) % 2
    known = [] if given == "nothing" else [age.to_numpy()]
    settings, same = {}, {}
    if known:
        settings["covariates"] = age
    if "offset" in given:
        settings |= {"offset": offset, "entry": entry}
        same = {"offset": offset, "entry": entry}
    if "strata" in given:
        settings["strata"] = site
        same = {"strata": site}
    found = interplay.interactions(X, (time, event), dimensions=dimensions, top=2, **settings)
    assert isinstance(found.tested, TestedTimes)
    assert found.table["method"].tolist() == ["model"] * 2
    if dimensions == 2:
        assert found.significant[0] == ("x1", "x4")
    tested = found.tested
    for row in range(2):
        columns, levels = columns_of(found, row, X, known)
        if "strata" in given:  # effects may differ between strata, and so may the interaction
            own = columns[:, len(known) :]
            smaller = np.column_stack([*known, own[:, :-1], own[:, :-1] * site[:, None]])
            larger = np.column_stack([smaller, own[:, -1], own[:, -1] * site])
        else:
            smaller, larger = columns[:, :-1], columns
        fits = [PHReg(time, part, status=event * 1, ties="efron", **same).fit(disp=0) for part in (larger, smaller)]
        expected = 2 * (fits[0].llf - fits[1].llf)
        df = larger.shape[1] - smaller.shape[1]
        assert tested.chi2[row] == pytest.approx(expected, rel=1e-5)
        assert tested.df[row] == df
        # F with the events beyond the columns, which are few.
        assert chi2.sf(expected, df) < tested.p_value[row] < f.sf(expected / df, df, event.sum() - 40) * 1.0001
        if "strata" not in given:
            estimate, error = fits[0].params[-1], fits[0].bse[-1]
            assert tested.log_hr[row] == pytest.approx(estimate, rel=1e-5)
            interval = [estimate - Z * error, estimate + Z * error]
            assert [tested.ci_low[row], tested.ci_high[row]] == pytest.approx(interval, rel=1e-4)
        for place, level in enumerate(levels):
            alone = PHReg(time, np.column_stack([*known, level]), status=event * 1, ties="efron", **same).fit(disp=0)
            assert tested.log_hr_alone[row, place] == pytest.approx(alone.params[-1], rel=1e-5)


def test_missing_values_are_left_out():
    X, (time, event), age, _ = hazards()
    gaps = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    found = interplay.interactions(gaps, (time, event), covariates=age, missing="omit")
    assert found.significant[0] == ("x1", "x4")
    whole = gaps[["x1", "x4"]].notna().all(axis=1).to_numpy()
    columns, levels = columns_of(found, 0, gaps, [age.to_numpy()])
    fits = [PHReg(time[whole], part[whole], status=event[whole] * 1, ties="efron").fit(disp=0)
            for part in (columns, columns[:, :-1])]  # fmt: skip
    assert found.tested.chi2[0] == pytest.approx(2 * (fits[0].llf - fits[1].llf), rel=1e-5)
    assert found.tested.log_hr[0] == pytest.approx(fits[0].params[-1], rel=1e-5)
    known = gaps.x1.notna().to_numpy()
    own = np.column_stack([age, levels[0]])[known]
    alone = PHReg(time[known], own, status=event[known] * 1, ties="efron").fit(disp=0)
    assert found.tested.log_hr_alone[0, 0] == pytest.approx(alone.params[-1], rel=1e-5)


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


def test_noise_is_not_listed():
    """Of 20 tables of noise at 0.05, with censoring that depends on age, which is given."""
    n_false = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 5])
        X, age = rng.normal(size=(200, 12)), rng.normal(size=200)
        time, end = rng.exponential(np.exp(-age)), rng.exponential(np.exp(0.7 * age))
        found = interplay.interactions(X, (np.minimum(time, end), time <= end), covariates=age)
        n_false += bool(found.significant)
    assert n_false <= 3


def test_groups():
    X, y, age, _ = hazards(n=600)
    found = interplay.interactions(X, y, covariates=age, groups=np.arange(600) // 2, n_permutations=39)
    assert found.significant == [("x1", "x4")]
    assert found.table["p_adjusted"].tolist() == [1 / 40]
    assert np.isnan(found.tested.ci_low).all()


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
