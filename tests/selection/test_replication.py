"""Relevant variables in new samples: each in the way it was found, against scipy, statsmodels and known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import interplay
from full_models import full_model
from interplay.ask.selection.call import task_of
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.data.study.outcomes.times import Survival
from interplay.infer.claims import ClassClaims, NumberClaims
from reference import covariate_columns


def mixed(seed, n=700):
    """One variable of each kind: a trend, a U shape, labels, a pair; the others are noise."""
    rng = np.random.default_rng(seed)
    trend, bowl, left, right = rng.normal(size=(4, n))
    colour = rng.choice(["red", "green", "blue"], n)
    logit = 0.9 * trend + 1.1 * (bowl**2 - 1) + 1.2 * (colour == "red") + 1.6 * np.sign(left * right) - 0.4
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "ill", "well")
    noise = {f"noise{i}": rng.normal(size=n) for i in range(10)}
    X = pd.DataFrame({"trend": trend, "bowl": bowl, "left": left, "right": right, "colour": colour} | noise)
    return X, y


@pytest.fixture(scope="module")
def first():
    return interplay.select(*mixed(1), random_state=0)


def test_each_is_tested_in_the_way_it_was_found(first):
    assert set(first.relevant) >= {"trend", "bowl", "left", "right", "colour"}
    again = first.replicate(*mixed(2))
    table = again.table.set_index("variable")
    assert table.loc["trend", "test"] == "rank (alone)"
    assert table.loc["bowl", "test"] == "spread (alone)"
    assert table.loc["colour", "test"] == "gain alone"
    assert table.loc["left", "test"] in ("gain in pairs", "synergy in pairs", "product of ranks")
    assert set(again.replicated) >= {"trend", "bowl", "left", "right", "colour"}
    assert table.loc["trend", "same_direction"]
    assert table.loc["left", "same_direction"]
    assert table.loc["left", "partners"] == "right"
    assert again.interactions.significant == [("left", "right")]
    assert "relevant variables hold in 700 new samples" in again.summary()


def test_a_trend_is_tested_by_its_ranks_as_in_the_search(first):
    X, y = mixed(2)
    scores = stats.norm.ppf((stats.rankdata(X["trend"]) - 0.5) / len(X))
    table = first.replicate(X, y).table.set_index("variable")
    expected = table.loc["trend", "p_value"]
    assert expected == pytest.approx(stats.pearsonr(scores, y == "ill").pvalue, rel=0.05)  # two classes as a number
    n_tests = len(table)
    rank = (table["p_value"] < expected).sum()
    assert table.loc["trend", "p_adjusted"] == pytest.approx(max(expected * (n_tests - rank), 0), rel=1e-6) or (
        table.loc["trend", "p_adjusted"] >= expected
    )
    u = stats.mannwhitneyu(X["trend"][y == "well"], X["trend"][y == "ill"]).statistic
    assert table.loc["trend", "effect"] == pytest.approx(u / ((y == "well").sum() * (y == "ill").sum()))


def test_noise_does_not_replicate(first):
    X, y = mixed(3)
    rng = np.random.default_rng(0)
    assert first.replicate(X, rng.permutation(y)).replicated == []


def test_an_effect_in_the_other_direction_does_not_hold(first):
    X, y = mixed(2)
    again = first.replicate(X.assign(trend=-X["trend"]), y)
    row = again.table.set_index("variable").loc["trend"]
    assert row["p_adjusted"] < 0.05
    assert not row["same_direction"]
    assert "trend" not in again.replicated


def test_covariates_are_given(first):
    X, y = mixed(2)
    table = first.replicate(X, y, covariates=X["trend"] + 0.01 * np.arange(len(X)) / len(X)).table.set_index("variable")
    assert table.loc["trend", "p_value"] > 0.001
    assert table.loc["bowl", "p_adjusted"] < 0.05


def test_strata_are_within(first):
    X, y = mixed(2)
    within = first.replicate(X, y, strata=X["colour"]).table.set_index("variable")
    assert within.loc["trend", "replicated"]
    assert within.loc["colour", "p_value"] == 1.0  # nothing is left of it within its own levels


@pytest.mark.parametrize("partner", ["x1", "given x against y; distance from the median"])
@pytest.mark.parametrize("n_strata", [0, 3])
def test_an_effect_given_a_partner_is_measured_given_it_again(n_strata, partner):
    def sampled(seed, n=800):
        rng = np.random.default_rng(seed)
        hidden, own = rng.normal(size=(2, n))
        X = np.column_stack([hidden, 0.9 * hidden + np.sqrt(0.19) * own, rng.normal(size=(n, 6))])
        X = pd.DataFrame(X, columns=["x0", partner, *(f"x{i}" for i in range(2, 8))])
        return X, (2 * own + rng.normal(size=n) > 0).astype(int), rng.integers(0, n_strata, n) if n_strata else None

    X, y, strata = sampled(0)
    found = interplay.select(X, y, dimensions=2, strata=strata, random_state=0)
    X, y, strata = sampled(1)
    table = found.replicate(X, y, strata=strata).table.set_index("variable")
    assert table.loc["x0", "effect_kind"] == f"AUC, given {partner}"
    assert table.loc["x0", "effect"] == pytest.approx(table.loc["x0", "first_effect"], abs=0.05)
    assert table.loc["x0", "replicated"]


def test_levels_named_like_classes_are_compared_again():
    def sampled(seed, n=600):
        rng = np.random.default_rng(seed)
        y = rng.choice(["upper", "lower"], n)
        is_upper = (y == "upper") ^ (rng.random(n) < 0.2)
        return pd.DataFrame({"x": np.where(is_upper, "upper", "lower"), "noise": rng.normal(size=n)}), y

    again = interplay.select(*sampled(0), random_state=0).replicate(*sampled(1)).table.set_index("variable")
    assert again.loc["x", "effect_kind"] == "odds ratio, upper against lower"
    assert 8 < again.loc["x", "effect"] < 32


def test_linear_tests_are_those_of_statsmodels():
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    base, own = rng.normal(size=(2, 150)), rng.normal(size=(3, 150))
    y = base[0] + 0.2 * own[0] + rng.normal(size=150)
    small, large = (sm.OLS(y, sm.add_constant(np.vstack(rows).T)).fit() for rows in ([base], [base, own]))
    found = NumberClaims(scores=y).beyond(own, base)
    assert np.exp(found) == pytest.approx(large.compare_f_test(small)[1])


def test_times_are_tested_in_coxs_model():
    from statsmodels.duration.hazard_regression import PHReg

    rng = np.random.default_rng(0)
    base, own = rng.normal(size=(1, 200)), rng.normal(size=(1, 200))
    time, event = rng.exponential(np.exp(-0.5 * base[0] - 0.2 * own[0])), rng.random(200) < 0.7
    fits = [PHReg(time, np.vstack(rows).T, status=event, ties="efron").fit() for rows in ([base], [base, own])]
    chi2 = 2 * (fits[1].llf - fits[0].llf)
    found = NumberClaims(scores=time, model=full_model(Survival(time, event), np.empty((200, 0)))).beyond(own, base)
    assert np.exp(found) == pytest.approx(stats.chi2.sf(chi2, 1), rel=1e-4)


def test_covariates_offsets_and_entries_are_those_of_statsmodels():
    import statsmodels.api as sm
    from statsmodels.duration.hazard_regression import PHReg

    rng = np.random.default_rng(5)
    n = 900
    X = rng.normal(size=(n, 6))
    age, known, entry = rng.normal(size=n), 0.5 * rng.normal(size=n), rng.uniform(0, 0.1, n)
    signal = 0.7 * X[:, 2] + age + known
    time, end = entry + rng.exponential(np.exp(-signal)), entry + rng.exponential(2.0, n)
    times = (np.minimum(time, end), time <= end)
    ill = (rng.random(n) < 1 / (1 + np.exp(-signal))).astype(int)
    half, rest = slice(0, 450), slice(450, n)

    def of(part, **more):
        return {"covariates": age[part], "offset": known[part], **more}

    scores = stats.norm.ppf((stats.rankdata(X[rest, 2]) - 0.5) / 450)
    columns = np.column_stack([covariate_columns(age[rest]), scores])
    found = interplay.select(X[half], ill[half], dimensions=(1, 2), random_state=0, **of(half))
    again = found.replicate(X[rest], ill[rest], **of(rest)).table.set_index("variable")
    family = {"family": sm.families.Binomial(), "offset": known[rest]}
    fits = [sm.GLM(ill[rest], sm.add_constant(c), **family).fit(tol=1e-12) for c in (columns, columns[:, :-1])]
    by_ratio = stats.chi2.sf(2 * (fits[0].llf - fits[1].llf), 1)
    by_score = fits[1].score_test(exog_extra=scores[:, np.newaxis])[1]
    assert again.loc["x2", "p_value"] == pytest.approx(max(by_ratio, by_score), rel=0.05)  # ours knows the skewness
    y = [tuple(each[part] for each in times) for part in (half, rest)]
    found = interplay.select(X[half], y[0], dimensions=(1, 2), random_state=0, **of(half, entry=entry[half]))
    again = found.replicate(X[rest], y[1], **of(rest, entry=entry[rest])).table.set_index("variable")
    same = {"status": y[1][1] * 1, "ties": "efron", "entry": entry[rest], "offset": known[rest]}
    fits = [PHReg(y[1][0], c, **same).fit(disp=0) for c in (columns, columns[:, :-1])]
    assert again.loc["x2", "p_value"] == pytest.approx(stats.chi2.sf(2 * (fits[0].llf - fits[1].llf), 1), rel=1e-4)
    with pytest.warns(UserWarning, match="without covariates the new samples are tested for something else"):
        found.replicate(X[rest], y[1], offset=known[rest], entry=entry[rest])


def test_held_out_times_are_not_cut():
    """A holdout is a search of one part, and a replication in the other: with covariates, offset and entry."""
    rng = np.random.default_rng(6)
    n = 700
    X = pd.DataFrame(rng.normal(size=(n, 8)), columns=list("abcdefgh"))
    age, known, entry = rng.normal(size=n), 0.3 * rng.normal(size=n), rng.uniform(0, 0.1, n)
    signal = (0.6 * X.c + 0.9 * np.sign(X.e * X.f) + 0.5 * age + known).to_numpy()
    time, end = entry + rng.exponential(np.exp(-signal)), entry + rng.exponential(3.0, n)
    y = (np.minimum(time, end), time <= end)
    beside = {"covariates": age, "offset": known, "entry": entry}
    result = interplay.select(X, y, holdout=0.4, dimensions=(1, 2), random_state=1, **beside)
    searched, held_out = task_of(X=X, y=y, holdout=0.4, dimensions=(1, 2), random_state=1, **beside).split

    def of(rows):
        return (
            X.iloc[rows].reset_index(drop=True),
            tuple(each[rows] for each in y),
            {n: v[rows] for n, v in beside.items()},
        )

    X1, y1, beside1 = of(searched)
    X2, y2, beside2 = of(held_out)
    first = interplay.select(X1, y1, dimensions=(1, 2), random_state=1, **beside1)
    assert first.relevant == result.relevant
    again = first.replicate(X2, y2, **beside2)
    pd.testing.assert_frame_equal(result.replication.table, again.table, rtol=1e-5)
    assert {"c", "e", "f"} <= set(result.replication.replicated)
    assert result.settings["decision"] == "number"
    pairs = result.replication.interactions
    assert pairs.significant == [("e", "f")]
    assert pairs.words.has_curves
    assert pairs.table["log_hr"].tolist() == pytest.approx(again.interactions.table["log_hr"].tolist(), rel=1e-5)


def test_selections_of_times_numbers_and_several_classes_replicate():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 8))
    signal = X[:, 2] + 0.7 * X[:, 5]
    time, event = rng.exponential(np.exp(-signal)), rng.random(800) < 0.8
    half, rest = slice(0, 400), slice(400, 800)
    found = interplay.select(X[half], (time[half], event[half]), random_state=0)
    again = found.replicate(X[rest], (time[rest], event[rest]))
    assert set(again.replicated) >= {"x2", "x5"}
    with pytest.raises(ValueError, match=r"^y must be \(time, event\)"):
        found.replicate(X[rest], time[rest])
    assert again.interactions.words.has_curves
    numbers = interplay.select(X[half], signal[half] + rng.normal(size=400), random_state=0)
    assert set(numbers.replicate(X[rest], signal[rest] + rng.normal(size=400)).replicated) >= {"x2", "x5"}
    three = np.digitize(signal + 0.5 * rng.normal(size=800), [-0.6, 0.6]).astype(str)
    for multiclass in ("joint", "ovo", "ovr"):
        classes = interplay.select(X[half], three[half], random_state=0, multiclass=multiclass, dimensions=(1, 2))
        assert set(classes.replicate(X[rest], three[rest]).replicated) >= {"x2", "x5"}


def test_one_size_of_tuples_replicates():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 12))
    y = (X[:, 1] > 0) ^ (X[:, 7] > 0) ^ (rng.random(900) < 0.15)
    y2 = X[:, 4] + rng.normal(size=900) > 0
    pairs = interplay.select(X[:450], y[:450], dimensions=2, random_state=0)
    assert set(pairs.replicate(X[450:], y[450:]).replicated) == {"x1", "x7"}
    alone = interplay.select(X[:450], y2[:450], dimensions=1, random_state=0)
    assert alone.replicate(X[450:], y2[450:]).replicated == ["x4"]


@pytest.mark.filterwarnings("ignore:.*permutations.*")
def test_groups_are_permuted_as_wholes():
    rng = np.random.default_rng(3)

    def donors(n):
        groups = np.repeat(np.arange(n), 8)
        ill = groups % 2
        X = rng.normal(size=(8 * n, 5)) + 1.5 * rng.normal(size=(n, 5))[groups]
        X[:, 0] += 2.5 * ill
        return X, ill, groups

    X, ill, groups = donors(60)
    found = interplay.select(X, ill, groups=groups, dimensions=1, random_state=0)
    assert "x0" in found.relevant
    X2, ill2, groups2 = donors(40)
    with_groups = found.replicate(X2, ill2, groups=groups2).table.set_index("variable")
    without = found.replicate(X2, ill2).table.set_index("variable")
    assert with_groups.loc["x0", "replicated"]
    assert with_groups.loc["x0", "p_value"] > without.loc["x0", "p_value"]
    with pytest.raises(ValueError, match="groups do not go with covariates"):
        found.replicate(X2, ill2, groups=groups2, covariates=X2[:, 1])


def test_null_p_values_are_uniform():
    """Tests of pure noise: of ranks, of cells given others, of a product."""
    rng = np.random.default_rng(4)
    p = []
    for _ in range(400):
        z = rng.normal(size=(2, 80))
        cells = np.eye(4)[:, rng.integers(0, 4, 80)][1:]
        new = ClassClaims(codes=rng.integers(0, 3, 80), n_classes=3)
        none = np.empty((0, 80))
        p.append([new.beyond(z[:1], none), new.beyond(cells, z), new.beyond(z[:1] * z[1:], z)])
    share = (np.exp(p) < 0.05).mean(axis=0)
    assert (share < 0.085).all()
    assert (share > 0.02).all()


def test_holdout_is_a_search_and_a_replication(tmp_path):
    X, y = mixed(5, n=1400)
    result = interplay.select(X, y, holdout=0.5, random_state=0)
    assert result.provenance["n_samples"] + result.replication.n_samples == 1400
    assert set(result.replication.replicated) >= {"trend", "bowl", "left", "right", "colour"}
    assert result.replication.interactions.significant == [("left", "right")]
    table = result.table.set_index("variable")
    assert table.loc["trend", "replicated"]
    assert not table.loc["noise1", "replicated"]
    assert "hold in 700 new samples" in result.summary()
    result.save(tmp_path / "a")
    again = interplay.load(tmp_path / "a")
    pd.testing.assert_frame_equal(again.table, result.table)
    pd.testing.assert_frame_equal(again.replication.table, result.replication.table)
    same = interplay.select(X, y, **result.settings)
    assert same.replication.replicated == result.replication.replicated


@pytest.mark.filterwarnings("ignore:.*permutations.*")
def test_holdout_keeps_groups_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 4)
    X = rng.normal(size=(240, 4))
    X[:, 0] += 3 * (groups % 2)
    result = interplay.select(X, groups % 2, groups=groups, dimensions=1, holdout=0.4, random_state=0)
    assert result.replication.n_samples == 96
    assert "x0" in result.replication.replicated
    with pytest.raises(ValueError, match="leaves too few of 60 groups"):
        interplay.select(X, groups % 2, groups=groups, dimensions=1, holdout=1, random_state=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": mixed(2)[0].drop(columns="trend")}, "^X lacks the variable 'trend'"),
        ({"y": np.repeat(["ill", "dead"], 350)}, "^y has the class 'dead'"),
        ({"y": mixed(2)[1][:5]}, "^y"),
        ({"p_adjust": "tukey"}, "^p_adjust must be one of"),
        ({"strata": [1, 2]}, "^strata"),
        ({"covariates": [1, 2]}, "^covariates"),
    ],
)
def test_bad_input(first, change, message):
    X, y = mixed(2)
    arguments = {"X": X, "y": y} | change
    with pytest.raises(ValueError, match=message):
        first.replicate(arguments.pop("X"), arguments.pop("y"), **arguments)


@pytest.mark.parametrize("holdout", [0, 1.0, -0.2, 1.5, 5000, "half"])
def test_bad_holdout(holdout):
    with pytest.raises((ValueError, TypeError), match=r"^holdout"):
        interplay.select(*mixed(1), holdout=holdout)
    with pytest.raises(ValueError, match=r"^holdout does not go with shards"):
        interplay.search_shard(*mixed(1), shard="1/2", holdout=0.3)


def test_rare_columns_are_tested_exactly():
    """The search's exact tests: Fisher's for classes, all ways to draw the carriers for a number."""
    cases = np.repeat([1, 0], [10, 390])
    carriers = np.zeros(400)
    carriers[[0, 1, *range(20, 26)]] = 1
    table = [[((carriers == a) & (cases == b)).sum() for b in (0, 1)] for a in (0, 1)]
    of_classes = ClassClaims(codes=cases, n_classes=2)
    expected = stats.fisher_exact(table)[1]
    assert np.exp(of_classes.of_ranks(carriers, carriers, carriers)) == pytest.approx(expected)
    assert np.exp(of_classes.of_levels(carriers.astype(int))) == pytest.approx(expected)
    y = np.where(np.arange(400) % 10 == 0, np.arange(400.0), 0.0)  # of two carriers: 0, and 20
    y[1] = 1000.0
    z = y - y.mean()
    drawn = np.abs(z[np.random.default_rng(0).random((50_000, 400)).argpartition(8, axis=1)[:, :8]].sum(axis=1))
    share = (drawn >= abs(z[carriers > 0].sum()) - 1e-9).mean()
    of_number = NumberClaims(scores=y)
    assert np.exp(of_number.of_ranks(carriers, carriers, carriers)) == pytest.approx(share, rel=0.2)


def test_levels_within_cells_hold_where_samples_are_few():
    """Two rare columns: a cell of two or three samples decides, for classes, a number and residuals."""
    rng = np.random.default_rng(0)
    p = []
    for _ in range(300):
        own, part = (rng.random((2, 200)) < 0.06).astype(int)
        own[:3] = part[1:4] = 1
        y = np.where(rng.random(200) < 0.9, 0.0, rng.lognormal(1, 1, 200))
        number = NumberClaims(scores=y).of_levels(own, part)
        classes = ClassClaims(codes=(y > 0).astype(int), n_classes=2).of_levels(own, part)
        model = full_model(number_outcome(y, scale="values"), rng.normal(size=(200, 1)))
        p.append([number, classes, NumberClaims(scores=y, model=model).of_levels(own, part)])
    for level in (0.05, 0.01):
        assert ((np.exp(p) < level).mean(axis=0) < level + 3 * np.sqrt(level / 300)).all()
