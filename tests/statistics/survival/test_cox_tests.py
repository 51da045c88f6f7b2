"""Score tests, likelihood ratios and hazard ratios of Cox's model, against R's survival and statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import chi2, kstest

import r_survival as r
from full_models import full_model
from interplay.data.models.cox import fit_cox, martingale_residuals
from interplay.data.study.outcomes.times import Survival
from interplay.infer.survival.cox_score_test import CoxScoreTest
from interplay.infer.survival.hazard_effects import hazard_ratios, nested_cox_test


def drawn(n=300, p=20, seed=0, *, ties=False):
    """Times that depend on two covariates, and censoring that depends on one of them."""
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(n, 2))
    time = rng.exponential(np.exp(-0.6 * design[:, 0] - 0.4 * design[:, 1]))
    censored = rng.exponential(2 * np.exp(0.5 * design[:, 0]), n)
    event, time = time <= censored, np.minimum(time, censored)
    return (np.ceil(5 * time) if ties else time), event, design, rng.normal(size=(p, n)), rng


class TestScoreTest:
    @pytest.mark.parametrize("ties", ["efron", "breslow"])
    def test_against_r(self, ties):
        test = CoxScoreTest(r.time, r.event, design=r.columns[:, 1:], ties=ties, **r.MODELS["all"])
        assert test.of(r.columns[:, :1].T).chi2 == pytest.approx(r.NUMBERS[f"score {ties}"], rel=1e-8)

    def test_log_rank(self):
        distinct = r.time + np.arange(80) / 100
        x = r.columns[:, 1:].T
        assert CoxScoreTest(distinct, r.event).of(x).chi2 == pytest.approx(r.NUMBERS["log_rank"]["two"])
        in_strata = CoxScoreTest(distinct, r.event, strata=r.stratum).of(x).chi2
        assert in_strata == pytest.approx(r.NUMBERS["log_rank"]["strata"])

    @pytest.mark.parametrize("ties", [False, True])
    def test_against_the_slopes_of_statsmodels(self, ties):
        """Breslow's, of which statsmodels has the information."""
        time, event, design, scores, _ = drawn(ties=ties)
        null = sm.PHReg(time, design, status=event * 1).fit(disp=0)
        found = CoxScoreTest(time, event, design=design, ties="breslow").of(scores)
        for j, x in enumerate(scores):
            model = sm.PHReg(time, np.column_stack([x, design]), status=event * 1)
            at = np.r_[0.0, null.params]
            score, information = model.score(at), -model.hessian(at)
            expected = score[0] / np.sqrt(1 / np.linalg.inv(information)[0, 0])
            assert found.statistic[j] == pytest.approx(expected, abs=1e-5)

    def test_near_the_likelihood_ratio_and_the_coefficient(self):
        time, event, design, scores, _ = drawn(2000, 5)
        found = CoxScoreTest(time, event, design=design).of(scores)
        for j, x in enumerate(scores):
            ratio, df = nested_cox_test(time, event, design, np.column_stack([x, design]))
            assert df == 1
            assert found.chi2[j] == pytest.approx(ratio, rel=0.05, abs=0.01)
            fit = fit_cox(time, event, np.column_stack([x, design]))
            assert found.log_hazard_ratio[j] == pytest.approx(fit.coefficients[0], rel=0.1, abs=2e-3)

    def test_score_is_the_sum_with_residuals(self):
        time, event, design, scores, _ = drawn()
        test = CoxScoreTest(time, event, design=design)
        assert test.residuals == pytest.approx(martingale_residuals(time, event, columns=design))
        found = test.of(scores)
        assert np.sign(found.statistic).tolist() == np.sign(scores @ test.residuals).tolist()

    def test_of_covariates_and_constants_nothing_is_left(self):
        time, event, design, _, _ = drawn()
        explained = np.vstack([design.T, design.sum(axis=1) * 1e3 + 7, np.full(300, 5.0)])
        found = CoxScoreTest(time, event, design=design).of(explained)
        assert (found.chi2 == 0).all()
        assert (found.statistic == 0).all()

    def test_dependent_covariates(self):
        time, event, design, scores, _ = drawn()
        more = np.column_stack([design, design[:, 0] + 2 * design[:, 1], np.ones(300)])
        plain = CoxScoreTest(time, event, design=design).of(scores)
        assert CoxScoreTest(time, event, design=more).of(scores).chi2 == pytest.approx(plain.chi2, rel=1e-6)

    def test_blocks_threads_and_units_do_not_matter(self, monkeypatch):
        time, event, design, scores, _ = drawn(ties=True)
        test = CoxScoreTest(time, event, design=design)
        found = test.of(scores)
        monkeypatch.setattr("interplay.infer.survival.cox_score_test._BLOCK_NUMBERS", 900)
        assert test.of(scores, n_threads=2).chi2 == pytest.approx(found.chi2, rel=1e-12)
        assert test.of(scores * 1e4 + 1e5).statistic == pytest.approx(found.statistic, rel=1e-6)
        assert test.of(scores[:0]).chi2.shape == (0,)

    @pytest.mark.parametrize("setting", ["covariates", "entry", "strata", "ties"])
    def test_p_values_of_noise_are_uniform(self, setting):
        time, event, design, scores, rng = drawn(400, 1500, seed=5, ties=setting == "ties")
        keywords = {}
        if setting == "entry":  # who has the event before the entry is never seen
            entry = rng.exponential(0.4, 400)
            kept = time > entry
            time, event, design, scores = time[kept], event[kept], design[kept], scores[:, kept]
            keywords = {"entry": entry[kept]}
        if setting == "strata":
            keywords = {"strata": rng.integers(0, 5, 400)}
        # Half of the variables follow from a covariate on which times depend.
        scores[::2] += design[:, 0]
        found = CoxScoreTest(time, event, design=design, **keywords).of(scores)
        assert kstest(chi2.sf(found.chi2, 1), "uniform").pvalue > 0.001
        plain = CoxScoreTest(time, event, **keywords).of(scores)
        assert np.median(plain.chi2[::2]) > 5


class TestRefined:
    @pytest.mark.parametrize("ties", [False, True])
    def test_without_covariates_it_is_the_likelihood_ratio(self, ties):
        time, event, design, scores, rng = drawn(ties=ties)
        scores[:3] += design.T[0] * [[1.0], [-1.0], [3.0]]
        keywords = {"strata": rng.integers(0, 3, 300), "offset": 0.1 * design[:, 1], "entry": time * 0.2}
        found = CoxScoreTest(time, event, **keywords).of(scores, refine_below=1.0)
        for j, x in enumerate(scores):
            fit = fit_cox(time, event, x[:, np.newaxis], **keywords)
            assert found.chi2[j] == pytest.approx(2 * (fit.log_likelihood - fit.log_likelihood_null), abs=1e-7)
            assert found.log_hazard_ratio[j] == pytest.approx(fit.coefficients[0], abs=1e-5)

    def test_with_covariates_it_is_near_the_full_model(self):
        time, event, design, scores, _ = drawn(500)
        scores[::2] += design[:, 0]
        scores[:4] += np.log(time + 0.1)
        found = CoxScoreTest(time, event, design=design).of(scores, refine_below=1.0)
        for j, x in enumerate(scores):
            full = nested_cox_test(time, event, design, np.column_stack([design, x]))[0]
            assert full * 0.8 - 0.01 <= found.chi2[j] <= full + 1e-6

    def test_only_below_the_limit(self):
        time, event, design, scores, _ = drawn(p=200)
        test = CoxScoreTest(time, event, design=design)
        plain, refined = test.of(scores), test.of(scores, refine_below=0.1)
        below = chi2.sf(plain.chi2, 1) < 0.1
        assert 0 < below.sum() < 60
        assert (plain.chi2 == refined.chi2).tolist() == (~below).tolist()
        assert refined.statistic == pytest.approx(plain.statistic, rel=0.2)

    def test_hazards_without_a_maximum(self):
        """Cells without events, and times in the order of a column: finite, and as large as they can be."""
        time = np.arange(1.0, 41.0)
        cell = (time > 30) * 1.0
        found = CoxScoreTest(time, time <= 30).of(np.array([cell, -time, np.ones(40)]), refine_below=1.0)
        fits = [fit_cox(time, time <= 30, x[:, np.newaxis]) for x in (cell, -time)]
        expected = [2 * (fit.log_likelihood - fit.log_likelihood_null) for fit in fits]
        assert found.chi2[:2] == pytest.approx(expected, rel=1e-3)
        assert found.chi2[2] == 0
        assert found.statistic[0] < 0 < found.statistic[1]

    def test_the_tail_of_rare_columns(self):
        counts = np.zeros(2)
        for seed in range(6):
            time, event, design, _, rng = drawn(300, 1, seed)
            scores = rng.binomial(2, 0.02, size=(2000, 300)).astype(float)
            test = CoxScoreTest(time, event, design=design)
            for i, limit in enumerate((0.0, 0.05)):
                counts[i] += (chi2.sf(test.of(scores, refine_below=limit).chi2, 1) < 5e-4).sum()
        assert counts[0] > 18  # three times as many as should be
        assert counts[1] <= 12  # 6 expected


class TestLikelihoodRatio:
    @pytest.mark.parametrize("model", r.MODELS)
    def test_against_r(self, model):
        expected = r.NUMBERS[f"{model} efron"]
        found, df = nested_cox_test(r.time, r.event, np.empty((80, 0)), r.columns, **r.MODELS[model])
        assert found == pytest.approx(2 * (expected["log_likelihood"] - expected["log_likelihood_null"]), rel=1e-8)
        assert df == 2

    def test_cells_beyond_a_part(self):
        time, event, design, _, rng = drawn()
        part, own, entry = rng.integers(0, 2, 300), rng.integers(0, 3, 300), time * 0.1
        parts, cells = (np.eye(n)[each] for n, each in ((2, part), (6, part * 3 + own)))
        found, df = full_model(Survival(time, event, entry), design).likelihood_ratio(parts, cells)
        fits = [
            sm.PHReg(time, np.column_stack([each[:, 1:], design]), status=event * 1, entry=entry, ties="efron")
            .fit(disp=0)
            .llf
            for each in (cells, parts)
        ]
        assert (found, df) == (pytest.approx(2 * (fits[0] - fits[1]), abs=1e-5), 4)

    def test_nothing_to_test(self):
        time, event, design, _, _ = drawn()
        assert nested_cox_test(time, event, design, design[:, ::-1]) == (0.0, 0)
        assert nested_cox_test(time, np.zeros(300, bool), design[:, :1], design) == (0.0, 0)


class TestHazardRatios:
    def test_against_r(self):
        found = hazard_ratios(fit_cox(r.time, r.event, r.columns))
        for name, expected in r.NUMBERS["hazard_ratios"].items():
            assert getattr(found, name) == pytest.approx(np.array(expected), rel=1e-7)

    def test_dependent_columns_have_none(self):
        found = hazard_ratios(fit_cox(r.time, r.event, np.column_stack([r.columns, r.columns[:, 0]])))
        assert np.isnan([each[2] for each in found]).all()
        assert np.isfinite([each[:2] for each in found]).all()

    def test_without_an_event_in_a_cell(self):
        cell = np.repeat([0.0, 1.0], 20)
        found = hazard_ratios(fit_cox(np.arange(1.0, 41.0), cell == 0, cell[:, np.newaxis]))
        assert found.ratio[0] < 1e-4
        assert found.low[0] == 0 or found.low[0] < 1e-20
        assert found.high[0] > 1e6
        assert found.p_value[0] > 0.9
