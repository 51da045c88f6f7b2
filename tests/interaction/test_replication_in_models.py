"""Interactions found given covariates, an offset or times: tested in new samples by the same full model."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.duration.hazard_regression import PHReg

import interplay
from command_line import in_process
from interplay.ask.interaction.call import task_of
from likelihood_ratio import covariate_products
from reference import covariate_columns


def study(seed, n=400):
    """Columns, outcomes of all kinds, and what is known of the samples; x1 and x4 matter together."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=[f"x{i}" for i in range(6)])
    X["g"] = rng.integers(0, 3, n)
    age, known = pd.Series(rng.normal(size=n), name="age"), 0.3 * rng.normal(size=n)
    signal = 1.8 * ((X.x1 > 0) ^ (X.x4 > 0)) + 0.7 * age + known
    entry = rng.uniform(0, 0.05, n)
    signal = signal.to_numpy()
    time, end = entry + rng.exponential(np.exp(-signal)), entry + rng.exponential(2.0, n)
    number = signal + rng.normal(size=n)
    y = {
        "times": (np.minimum(time, end), time <= end),
        "classes": (rng.random(n) < 1 / (1 + np.exp(1 - 1.5 * signal))).astype(int),
        "number": number,
        "three": np.digitize(number, [0.3, 1.5]),
    }
    y = {kind: each if kind == "times" else np.asarray(each) for kind, each in y.items()}
    return X, y, {"age": age, "known": known, "entry": entry, "site": np.arange(n) % 2}


def given(kind, beside):
    """What a call is told of the samples."""
    arguments = {"covariates": beside["age"]}
    if kind != "three":
        arguments["offset"] = beside["known"]
    if kind == "times":
        arguments["entry"] = beside["entry"]
    return arguments


SAME = ("df", "log_p", "ci_low", "ci_high", "residual", "n_samples", "gain", "smooth_log_p")


@pytest.mark.parametrize("kind", ["times", "classes", "number", "three"])
@pytest.mark.parametrize("options", [{}, {"strata": "site"}, {"divisions": 2}])
def test_the_same_samples_give_the_same_tests(kind, options):
    X, y, beside = study(0)
    known = given(kind, beside) | ({"strata": beside["site"]} if "strata" in options else {})
    how = {"divisions": options.get("divisions", 1)}
    found = interplay.interactions(X, y[kind], top=4, **known, **how, coding="levels")
    again = found.replicate(X, y[kind], **known)
    assert again.tested.kind == found.tested.kind
    order = again.tested.rows_of(found.tested.tuples)
    assert sorted(order) == [0, 1, 2, 3]
    for name in (*SAME, "statistic", "estimate", "estimate_alone"):
        first, second = getattr(found.tested, name), getattr(again.tested, name)
        if first is not None:
            is_known = ~np.isnan(first + second[order]) if name == "smooth_log_p" else slice(None)
            assert second[order][is_known] == pytest.approx(first[is_known], rel=1e-6, nan_ok=True), name
    assert again.provenance["covariates"] == ["age"]
    assert again.provenance["model"] == found.provenance["model"]
    assert "age" in again.summary()


def levels(found, row, X):
    return [
        (X.iloc[:, v].to_numpy() > found.cuts_of(v).thresholds[0, 0]) * 1.0 for v in found.tested.tuples[row].tolist()
    ]


def test_new_samples_are_tested_as_by_statsmodels():
    X, y, beside = study(1)
    X2, y2, beside2 = study(2, n=300)
    offset, age = beside2["known"], beside2["age"].to_numpy()
    for kind in ("times", "classes", "number", "three"):
        scale = {"scale": "values"} if kind == "number" else {}
        found = interplay.interactions(X[X.columns[:6]], y[kind], **given(kind, beside), **scale)
        again = found.replicate(X2, y2[kind], **given(kind, beside2))
        assert again.significant == [("x1", "x4")]
        a, b = levels(again, 0, X2)
        # Without products of the covariate and members, or beside them: the larger p-value.
        products = covariate_products(age[:, np.newaxis], [a, b])
        columns = np.column_stack([covariate_columns(age), products, a, b, a * b])
        tested = again.tested
        if kind == "times":
            time, event = y2[kind]
            same = {"status": event * 1, "ties": "efron", "entry": beside2["entry"], "offset": offset}
            fits = [PHReg(time, part, **same).fit(disp=0) for part in (columns, columns[:, :-1])]
            assert tested.estimate[0] == pytest.approx(fits[0].params[-1], rel=1e-5)
            error = 1.959964 * fits[0].bse[-1]
        elif kind == "number":
            fits = [sm.OLS(y2[kind] - offset, sm.add_constant(part)).fit() for part in (columns, columns[:, :-1])]
            f, p, _ = fits[0].compare_f_test(fits[1])
            assert tested.statistic[0] == pytest.approx(f, rel=1e-6)
            assert tested.p_value[0] == pytest.approx(p, rel=1e-5)
            continue
        elif kind == "three":
            parts = (columns, columns[:, :-1])
            fits = [sm.MNLogit(y2[kind], sm.add_constant(part)).fit(disp=0) for part in parts]
            assert tested.df[0] == 2
        else:
            family = {"family": sm.families.Binomial(), "offset": offset}
            fits = [sm.GLM(y2[kind], sm.add_constant(p), **family).fit(tol=1e-12) for p in (columns, columns[:, :-1])]
            assert tested.estimate[0] == pytest.approx(fits[0].params[-1], rel=1e-5)
            error = 1.959964 * fits[0].bse[-1]
        assert tested.statistic[0] == pytest.approx(2 * (fits[0].llf - fits[1].llf), rel=1e-5)
        if kind != "three":
            assert tested.ci_high[0] - tested.ci_low[0] == pytest.approx(2 * error, rel=1e-4)
        assert again.table["first_p_value"].tolist() == found.table["p_value"].tolist()


@pytest.mark.parametrize("kind", ["times", "classes", "number"])
def test_a_holdout_is_a_search_and_a_replication(kind, tmp_path):
    X, y, beside = study(3, n=600)
    known = given(kind, beside)
    call = {"holdout": 0.4, "random_state": 3, "top": 3}
    found = interplay.interactions(X, y[kind], **known, **call)
    rows = task_of(X=X, y=y[kind], **known, **call).split

    def part(values, some):
        values = tuple(np.asarray(each)[some] for each in values) if isinstance(values, tuple) else values
        return values if isinstance(values, tuple) else np.asarray(values)[some]

    searched, held_out = (
        (X.iloc[some].reset_index(drop=True), part(y[kind], some), {n: part(v, some) for n, v in known.items()})
        for some in rows
    )
    first = interplay.interactions(*searched[:2], top=3, random_state=3, **searched[2])
    second = first.replicate(*held_out[:2], **held_out[2])
    drop = [name for name in found.table if "smooth" in name]
    pd.testing.assert_frame_equal(
        found.table.drop(columns=drop), second.table.drop(columns=drop), rtol=1e-6, check_dtype=False
    )
    assert ("x1", "x4") in found.significant
    assert found.provenance["n_samples"] == 240
    found.save(tmp_path / "pairs")
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, found.table)
    found.to_html(tmp_path / "pairs.html")


def test_the_command_holds_out_covariates_offsets_and_entries(tmp_path, monkeypatch, capfd):
    X, y, beside = study(4)
    frame = X.assign(days=y["times"][0], dead=y["times"][1] * 1, since=beside["entry"], age=beside["age"])
    frame.assign(known=beside["known"]).to_csv(tmp_path / "d.csv", index=False)
    command = ("interactions", tmp_path / "d.csv", "--time", "days", "--event", "dead", "--entry", "since")
    command = (*command, "--covariate", "age", "--offset", "known", "--holdout", "0.4", "--seed", "0")
    done = in_process(monkeypatch, capfd, *command, "--save", tmp_path / "pairs")
    assert done.code == 0, done.err
    expected = interplay.interactions(
        pd.read_csv(tmp_path / "d.csv"), ("days", "dead"), entry="since", covariates=["age"], offset="known",
        holdout=0.4,
    )  # fmt: skip
    assert expected.tested.kind == "times"
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, expected.table)


def test_what_does_not_fit():
    X, y, beside = study(0)
    found = interplay.interactions(X, y["classes"], covariates=beside["age"], offset=beside["known"])
    words = r"were searched given age and the offset \(logistic model\); without offset the new samples"
    with pytest.warns(UserWarning, match=words):
        assert found.replicate(X, y["classes"], covariates=beside["age"]).significant
    with pytest.raises(ValueError, match=r"^entry is for times"):
        found.replicate(X, y["classes"], covariates=beside["age"], offset=beside["known"], entry=beside["entry"])
    rare = (y["times"][0], np.arange(400) < 8)
    with pytest.raises(ValueError, match=r"^holdout=0.2 leaves \d events to test in, and at least 5 are needed"):
        interplay.interactions(X, rare, holdout=0.2)
    three = interplay.interactions(X, y["three"], top=1)
    with pytest.raises(ValueError, match="y has 3 classes"):
        three.replicate(X, y["three"], offset=beside["known"])
