"""Cox's model against R's survival, statsmodels, and plain loops over risk sets."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

import r_survival as r
from interplay.data.models.cox import (
    fit_cells,
    fit_cox,
    fit_in_risk_sets,
    martingale_residuals,
    sandwich_covariance,
)
from interplay.data.models.risk_sets import RiskSets, cells_of


def drawn(n=200, seed=0, *, ties=False, m=3):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, m))
    time = rng.exponential(np.exp(-0.5 * columns[:, 0]))
    time = np.ceil(4 * time) if ties else time
    return time, rng.random(n) < 0.7, columns, rng


class TestAgainstR:
    @pytest.mark.parametrize("ties", ["efron", "breslow"])
    @pytest.mark.parametrize("model", r.MODELS)
    def test_fit_and_residuals(self, model, ties):
        expected = r.NUMBERS[f"{model} {ties}"]
        fit = fit_cox(r.time, r.event, r.columns, ties=ties, **r.MODELS[model])
        assert fit.coefficients == pytest.approx(np.array(expected["coefficients"]), rel=1e-8)
        assert fit.covariance.reshape(-1) == pytest.approx(np.array(expected["covariance"]), rel=1e-8)
        assert fit.log_likelihood == pytest.approx(expected["log_likelihood"], rel=1e-12)
        assert fit.log_likelihood_null == pytest.approx(expected["log_likelihood_null"], rel=1e-12)
        found = martingale_residuals(r.time, r.event, columns=r.columns, ties=ties, **r.MODELS[model])
        assert found == pytest.approx(np.array(expected["martingale"]), abs=1e-8)

    @pytest.mark.parametrize("ties", ["efron", "breslow"])
    @pytest.mark.parametrize("model", list(r.MODELS))
    def test_sandwich(self, model, ties):
        """Lin and Wei's covariance: coxph(robust = TRUE), and cluster = ."""
        given = dict(r.MODELS[model])
        offset = given.pop("offset", None)
        sets = RiskSets(r.time, r.event, ties=ties, **given)
        fit = fit_in_risk_sets(sets, r.columns, offset)
        expected = r.NUMBERS[f"robust {model} {ties}"]
        for clusters, name in ((None, "samples"), (np.arange(80) // 4, "clusters")):
            found = sandwich_covariance(sets, r.columns, fit, clusters)
            assert found.ravel() == pytest.approx(expected[name], rel=1e-9)
        more = np.column_stack([r.columns, r.columns[:, 0], np.ones(80)])  # no coefficients of their own
        wide = sandwich_covariance(sets, more, fit_in_risk_sets(sets, more, offset))
        assert wide[:2, :2].ravel() == pytest.approx(expected["samples"], rel=1e-9)
        assert np.isnan(wide[2:]).all()

    def test_residuals_without_columns(self):
        expected = r.NUMBERS["null"]
        assert martingale_residuals(r.time, r.event) == pytest.approx(np.array(expected["martingale"]), abs=1e-12)
        with_entry = martingale_residuals(r.time, r.event, entry=r.entry, columns=np.empty((80, 0)))
        assert with_entry == pytest.approx(np.array(expected["martingale_entry"]), abs=1e-12)


@pytest.mark.parametrize("method", ["efron", "breslow"])
@pytest.mark.parametrize("ties", [False, True])
def test_against_statsmodels(method, ties):
    time, event, columns, rng = drawn(ties=ties)
    strata, offset = rng.integers(0, 3, 200), rng.normal(size=200)
    model = sm.PHReg(time, columns, status=event * 1, strata=strata, offset=offset, ties=method)
    expected = model.fit(method="newton", disp=0)
    fit = fit_cox(time, event, columns, strata=strata, offset=offset, ties=method)
    assert fit.coefficients == pytest.approx(expected.params, abs=1e-6)
    assert fit.log_likelihood == pytest.approx(expected.llf, abs=1e-8)
    if method == "breslow" or not ties:  # the information of statsmodels is Breslow's
        assert np.sqrt(np.diag(fit.covariance)) == pytest.approx(expected.bse, rel=1e-5)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_against_plain_loops(ties, data):
    """The likelihood and its slopes, sample by sample."""
    n = data.draw(st.integers(2, 25))
    whole = st.integers(0, 6)
    entry = np.array(data.draw(st.lists(whole, min_size=n, max_size=n)))
    time = entry + 1 + np.array(data.draw(st.lists(whole, min_size=n, max_size=n)))
    event = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    strata = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weights = np.random.default_rng(n).normal(size=(2, n)) ** 2
    sets = RiskSets(time, event, entry=entry, strata=strata, ties=ties)
    at_events, over_events = sets.at_events(weights), sets.over_events(np.arange(1.0, sets.n_events + 1))
    expected_over = np.zeros(n)
    for e, j in enumerate(sets.samples):
        tied = [i for i in range(n) if event[i] and time[i] == time[j] and strata[i] == strata[j]]
        share = [i for i in sets.samples if i in tied].index(j) / len(tied) if ties == "efron" else 0.0
        for i in range(n):
            if strata[i] == strata[j] and entry[i] < time[j] <= time[i]:
                at_events[:, e] -= weights[:, i] * (1 - share * (i in tied))
                expected_over[i] += (e + 1) * (1 - share * (i in tied))
    assert at_events == pytest.approx(0, abs=1e-9)
    assert over_events == pytest.approx(expected_over, abs=1e-9)


@pytest.mark.parametrize("how", ["plain", "tied", "truncated", "empty cell"])
def test_cells_are_as_their_samples(how):
    """Columns of a few different rows are fitted cell by cell; with an offset, of zeros here, sample by sample."""
    time, event, _, rng = drawn(300, ties=how == "tied")
    levels = rng.integers(0, 3, size=(300, 2))
    if how == "empty cell":
        event &= (levels != 2).any(axis=1)  # a coefficient grows without end
    columns = np.column_stack([levels[:, 0] == 1, levels[:, 0] == 2, levels[:, 1], levels[:, 0] * levels[:, 1]])
    columns = columns.astype(float)
    assert len(cells_of(columns).first) == 9
    sets = RiskSets(time, event, entry=time * rng.random(300) if how == "truncated" else None)
    fit, plain = fit_in_risk_sets(sets, columns), fit_in_risk_sets(sets, columns, np.zeros(300))
    for name in ("log_likelihood", "log_likelihood_null", "coefficients", "covariance", "log_hazard"):
        assert getattr(fit, name) == pytest.approx(getattr(plain, name), rel=1e-8, abs=1e-8), name
    assert fit.rank == plain.rank == 4


def test_rows_that_only_look_alike_are_no_cells():
    """Rows whose weighted sums are equal, although they differ, are told apart."""
    columns = np.zeros((100, 2))
    columns[::2, 0], columns[1::2, 1] = np.sqrt(3.0), np.sqrt(2.0)
    assert len(np.unique(columns @ np.sqrt([2.0, 3.0]))) == 1
    assert cells_of(columns) is None


class TestWithoutAMaximum:
    def test_hazard_of_0(self):
        """A group without events: the coefficient is −∞, the likelihood that of the others' risk sets."""
        rng = np.random.default_rng(0)
        group = np.repeat([0.0, 1.0], 30)
        time, event = rng.exponential(size=60), group == 0
        other = rng.normal(size=60)
        fit = fit_cox(time, event, np.column_stack([group, other]))
        alone = fit_cox(time[:30], event[:30], other[:30, np.newaxis])
        assert fit.coefficients[0] < -12
        assert fit.coefficients[1] == pytest.approx(alone.coefficients[0], abs=1e-4)
        assert fit.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-6)

    @pytest.mark.parametrize("seed", range(20))
    def test_times_in_the_order_of_a_column(self, seed):
        rng = np.random.default_rng(seed)
        time = np.arange(1.0, 31.0)
        columns = np.column_stack([-time * 1000, rng.normal(size=(30, 2))])
        fit = fit_cox(time, np.ones(30, bool), columns)
        assert -1e-3 < fit.log_likelihood <= 1e-9
        assert np.isfinite(fit.coefficients).all()

    @pytest.mark.parametrize("seed", [0, 1, 6, 12, 21, 23, 31, 33])
    def test_strata_of_separated_times(self, seed):
        """Hazards of one stratum, e^-40 of its largest, do not get lost among those of others: plain loops agree."""
        rng = np.random.default_rng(seed)
        n = int(rng.integers(30, 300))
        time, strata = rng.exponential(size=n), rng.integers(0, int(rng.integers(2, 8)), n)
        event = rng.random(n) < rng.choice([0.05, 0.2, 0.7])
        rare = rng.random((n, 3)) < rng.choice([0.02, 0.1, 0.5], size=3)
        columns = np.column_stack([rng.normal(size=n), rare, event & (rng.random(n) < 0.9)])
        fit = fit_cox(time, event, columns, strata=strata, ties="breslow")
        expected = 0.0
        for i in np.flatnonzero(event):
            at_risk = (time >= time[i]) & (strata == strata[i])
            expected += fit.log_hazard[i] - np.logaddexp.reduce(fit.log_hazard[at_risk])
        assert fit.log_likelihood == pytest.approx(expected, abs=1e-6)
        assert fit.log_likelihood_null <= fit.log_likelihood <= 1e-9
        truncated = fit_cox(time, event, columns, strata=strata, entry=time * rng.random(n))
        assert np.isfinite(truncated.log_likelihood)
        assert truncated.log_likelihood <= 1e-9

    def test_extreme_entries(self):
        time, event, columns, rng = drawn(60)
        fit = fit_cox(time, event, 30 * columns, entry=time * rng.random(60))
        again = fit_cox(time, event, columns, entry=time * np.random.default_rng(1).random(60))
        assert np.isfinite([fit.log_likelihood, again.log_likelihood]).all()


class TestColumns:
    def test_dependent_ones_have_no_coefficient(self):
        time, event, columns, _ = drawn()
        more = np.column_stack([columns[:, 0], np.ones(200), columns[:, 0] * 2 + 3, columns[:, 1]])
        fit, plain = fit_cox(time, event, more), fit_cox(time, event, columns[:, :2])
        assert fit.rank == 2
        assert fit.coefficients[[0, 3]] == pytest.approx(plain.coefficients, abs=1e-8)
        assert (fit.coefficients[[1, 2]] == 0).all()
        assert np.isnan(np.diag(fit.covariance)).tolist() == [False, True, True, False]
        assert fit.log_likelihood == pytest.approx(plain.log_likelihood)

    def test_constant_within_strata(self):
        time, event, columns, rng = drawn()
        strata = rng.integers(0, 4, 200)
        fit = fit_cox(time, event, np.column_stack([strata, columns]), strata=strata)
        assert fit.rank == 3
        assert fit.coefficients[0] == 0

    def test_varying_among_samples_never_at_risk_only(self):
        time, event, columns, _ = drawn()
        first = time[event].min()
        time[:3], event[:3] = first / 2, False
        fit = fit_cox(time, event, np.column_stack([np.arange(200) == 1, columns]).astype(float))
        assert fit.rank == 3

    def test_none(self):
        time, event, _, _ = drawn()
        fit = fit_cox(time, event, np.empty((200, 0)))
        assert fit.coefficients.shape == (0,)
        assert fit.covariance.shape == (0, 0)
        assert fit.log_likelihood == fit.log_likelihood_null < 0

    def test_no_events(self):
        time, _, columns, _ = drawn()
        fit = fit_cox(time, np.zeros(200, bool), columns)
        assert (fit.log_likelihood, fit.rank) == (0.0, 0)
        assert (martingale_residuals(time, np.zeros(200, bool), columns=columns) == 0).all()

    @pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e150])
    def test_units_do_not_matter(self, scale):
        time, event, columns, _ = drawn()
        fit, plain = fit_cox(time, event, columns * scale), fit_cox(time, event, columns)
        assert fit.coefficients * scale == pytest.approx(plain.coefficients, rel=1e-9)
        assert np.sqrt(np.diag(fit.covariance)) * scale == pytest.approx(np.sqrt(np.diag(plain.covariance)), rel=1e-9)

    def test_far_from_0(self):
        time, event, columns, _ = drawn()
        fit, plain = fit_cox(time, event, columns + 1e5, offset=np.full(200, 800.0)), fit_cox(time, event, columns)
        assert fit.coefficients == pytest.approx(plain.coefficients, rel=1e-6)
        assert fit.log_likelihood == pytest.approx(plain.log_likelihood)


def test_residuals_sum_to_0_in_each_stratum():
    time, event, columns, rng = drawn(ties=True)
    strata = rng.integers(0, 3, 200)
    residuals = martingale_residuals(time, event, columns=columns, entry=time - 2, strata=strata)
    assert np.bincount(strata, weights=residuals) == pytest.approx(np.zeros(3), abs=1e-9)
    assert residuals @ columns == pytest.approx(np.zeros(3), abs=1e-6)  # the gradient at the maximum


def test_many_strata():
    """Matched pairs: the conditional likelihood of a logistic model of differences."""
    columns = drawn(400)[2]
    pair, case = np.arange(400) // 2, np.arange(400) % 2 == 0
    fit = fit_cox(np.where(case, 1.0, 2.0), case, columns, strata=pair)
    difference = columns[::2] - columns[1::2]
    expected = sm.Logit(np.ones(200), difference).fit(disp=0)
    assert fit.coefficients == pytest.approx(expected.params, abs=1e-6)
    assert fit.log_likelihood == pytest.approx(expected.llf)


@pytest.mark.parametrize("entered", [False, True])
@pytest.mark.parametrize("levels", [(2, 2), (3, 3), (2, 2, 2)])
def test_models_of_many_tables_are_those_of_each(levels, entered):
    rng = np.random.default_rng(len(levels))
    n = 300
    codes = [rng.integers(0, size, (20, n)) for size in levels]
    time, event = 0.01 + np.round(rng.exponential(size=n), 2), rng.random(n) < 0.6
    sets = RiskSets(time, event, entry=time * rng.random(n) - 0.1 if entered else None)
    cells = np.ravel_multi_index(codes, levels)
    each = [np.eye(size)[:, 1:] for size in levels]
    smaller = np.hstack([np.kron(each[0], np.ones((levels[1], 1))), np.kron(np.ones((levels[0], 1)), each[1])])
    smaller = np.kron(smaller, np.ones((int(np.prod(levels[2:])), 1)))
    found = fit_cells(sets, cells, smaller)
    assert found.is_known.mean() > 0.9
    for place in np.flatnonzero(found.is_known):
        larger = np.eye(int(np.prod(levels)))[cells[place]][:, 1:]
        less, more = fit_in_risk_sets(sets, smaller[cells[place]]), fit_in_risk_sets(sets, larger)
        assert found.chi2[place] == pytest.approx(2 * (more.log_likelihood - less.log_likelihood), abs=1e-7)
        assert found.log_hazard[place, 1:] == pytest.approx(more.coefficients, abs=1e-5)
        assert found.covariance[place, 1:, 1:] == pytest.approx(more.covariance, rel=1e-4, abs=1e-7)
        robust = sandwich_covariance(sets, larger, more)
        assert found.robust[place, 1:, 1:] == pytest.approx(robust, rel=1e-4, abs=1e-6)


def test_tables_with_a_cell_without_events_are_left_to_fits_of_their_own():
    time, cells = np.arange(1.0, 41.0), np.arange(40)[np.newaxis] % 4
    event = (cells[0] > 0) & (time > 3)
    found = fit_cells(RiskSets(time, event), cells, np.eye(4)[:, 1:3])
    assert not found.is_known.any()
    assert np.isnan(found.chi2).all()


def test_no_tables_have_no_fits():
    sets = RiskSets(np.arange(8.0), np.ones(8, dtype=bool))
    fits = fit_cells(sets, np.empty((0, 8), dtype=np.int64), np.empty((4, 0)))
    assert [len(each) for each in fits] == [0] * 5
