"""y=(time, event): residuals, the log-rank test, what select finds in uncut times and what it does not."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.duration.survfunc import SurvfuncRight

import interplay
import r_survival as r
import reference
from command_line import in_process, in_shell
from interplay.data.study.outcomes.times import Survival, make_survival
from interplay.infer.survival.survival_curves import kaplan_meier
from reference import covariate_columns

#: Remission of leukaemia in weeks under 6-mercaptopurine and placebo; a plus sign is censored (Freireich et al. 1963).
FREIREICH = (
    "6 6 6 7 10 13 16 22 23 6+ 9+ 10+ 11+ 17+ 19+ 20+ 25+ 32+ 32+ 34+ 35+ "
    "1 1 2 2 3 4 4 5 5 8 8 8 8 11 11 12 12 15 17 22 23"
)


def freireich():
    entries = FREIREICH.split()
    time = np.array([float(entry.rstrip("+")) for entry in entries])
    event = np.array([not entry.endswith("+") for entry in entries])
    return time, event, np.repeat([0, 1], 21)


def times(risk, rng, censored_until=None):
    """Exponential times of these hazards, censored at random."""
    true = rng.exponential(1 / risk)
    end = rng.exponential(1.5, len(risk)) if censored_until is None else censored_until
    return np.minimum(true, end), true <= end


class TestCurves:
    def test_curves_are_those_of_statsmodels(self):
        time, event, _ = freireich()
        found, expected = kaplan_meier(time, event), SurvfuncRight(time, event.astype(int))
        assert found.time.tolist() == expected.surv_times.tolist()
        assert found.survival == pytest.approx(expected.surv_prob)
        assert found.last == 35


class TestResiduals:
    def test_are_events_minus_the_cumulative_hazard(self):
        """In loops, from the definition; ties share a step of the hazard."""
        time, event, _ = freireich()
        expected = reference.martingale_residuals(time.tolist(), event.tolist())
        residuals = Survival(time, event).martingale_residuals()
        assert residuals == pytest.approx(expected)
        assert residuals.sum() == pytest.approx(0, abs=1e-12)


class TestSelect:
    def test_an_xor_of_two_variables_is_found(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(600, 30))
        time, event = times(np.where((X[:, 3] > 0) ^ (X[:, 7] > 0), 3.0, 0.5), rng)
        found = interplay.select(X, (time, event), random_state=0)
        assert sorted(found.relevant) == ["x3", "x7"]
        assert (found.table["p_model"][[3, 7]] < 1e-6).all()
        assert found.in_model.kind == "cox"
        assert found.class_sizes == {}  # times are not cut
        assert f"600 samples; times, {event.sum()} events" in found.summary()
        assert found.provenance["model"] == "Cox"
        assert found.provenance["survival"] == {"n_events": int(event.sum()), "last": time.max()}
        assert interplay.select(X, (time, event), dimensions=1, random_state=0).relevant == []

    def test_times_that_are_cut_if_asked(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(300, 10))
        y = times(np.where(X[:, 4] > 0, 2.5, 0.6), rng)
        found = interplay.select(X, y, dimensions=1, decision_divisions=1, random_state=0)
        assert list(found.class_sizes) == ["lower risk", "higher risk"]
        assert min(found.class_sizes.values()) > 140
        assert found.relevant == ["x4"]

    def test_p_is_the_likelihood_ratio_of_cox_in_1d(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(300, 10))
        age = rng.normal(size=300)
        time, event = times(np.where(X[:, 4] > 0, 2.5, 0.6) * np.exp(0.5 * age), rng)
        level = interplay.discretize(X)[0, :, 4] * 1.0
        for given, known in (({}, []), ({"covariates": age}, [covariate_columns(age)])):
            found = interplay.select(X, (time, event), dimensions=1, random_state=0, **given)
            larger, smaller = (
                0.0 if not columns else PHReg(time, np.column_stack(columns), status=event * 1).fit(disp=0).llf
                for columns in ([level, *known], known)
            )
            if not known:  # statsmodels has no model without columns: the likelihood at 0
                smaller = PHReg(time, level[:, None], status=event * 1).loglike(np.zeros(1))
            assert found.in_model.chi2[0] == pytest.approx(2 * (larger - smaller), rel=1e-6)
            assert found.table.loc[4, "p_model"] == pytest.approx(chi2.sf(2 * (larger - smaller), 1), rel=1e-5)
            assert found.table.loc[4, "p_value"] >= found.table.loc[4, "p_model"]

    @pytest.mark.parametrize("dimensions", [1, 2])
    def test_what_only_censoring_depends_on_is_not(self, dimensions):
        """Those with a high value leave early: their residuals are others, their hazard is not."""
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(800, 10))
            end = np.where(X[:, 2] > 0, rng.uniform(0, 0.4, 800), rng.uniform(0.5, 3, 800))
            time, event = times(np.ones(800), rng, end)
            found = interplay.select(X, (time, event), dimensions=dimensions, random_state=0)
            assert "x2" not in found.relevant
            assert found.p_value[2] > 0.05
            if seed == 0:  # residuals that are cut call it relevant: their spread differs
                cut = Survival(time, event).martingale_residuals() > 0
                assert interplay.select(X, cut, dimensions=1, random_state=0).relevant == ["x2"]

    def test_late_entries(self):
        """Those with a high value of x2 enter late, and have the hazard of all others; x4 has an effect."""
        rng = np.random.default_rng(7)
        X = rng.normal(size=(1600, 10))
        time = rng.exponential(1 / np.where(X[:, 4] > 0, 2.0, 0.7))
        entry = np.where(X[:, 2] > 0, rng.uniform(0, 1.0, 1600), 0.0)
        seen = time > entry
        X, time, entry, event = X[seen], time[seen], entry[seen], np.ones(seen.sum(), dtype=bool)
        assert "x2" in interplay.select(X, (time, event), dimensions=1, random_state=0).relevant
        found = interplay.select(X, (time, event), entry=entry, dimensions=1, random_state=0)
        assert found.relevant == ["x4"]
        level = interplay.discretize(X)[0, :, 4][:, None] * 1.0
        model = PHReg(time, level, status=event * 1, entry=entry)
        expected = 2 * (model.fit(disp=0).llf - model.loglike(np.zeros(1)))
        assert found.in_model.chi2 == pytest.approx([expected], rel=1e-6)
        frame = pd.DataFrame(X).rename(columns=lambda v: f"x{v}").assign(days=time, dead=event, since=entry)
        named = interplay.select(frame, ("days", "dead"), entry="since", dimensions=1, random_state=0)
        assert named.p_value.tolist() == found.p_value.tolist()

    def test_ways_to_give_it(self, tmp_path):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(200, 6))
        time, event = times(np.where(X[:, 1] > 0, 3.0, 0.5), rng)
        structured = np.array(list(zip(event, time, strict=True)), dtype=[("status", bool), ("days", float)])
        frame = pd.DataFrame(X).rename(columns=lambda v: f"x{v}").assign(days=time, dead=event * 1)
        given = [(X, (time, event)), (X, structured), (frame, ("days", "dead"))]
        given.append((frame.drop(columns="days"), (frame["days"], "dead")))
        results = [interplay.select(table, y, random_state=0) for table, y in given]
        for found in results:
            assert found.names == results[0].names
            assert (found.p_adjusted == results[0].p_adjusted).all()
            assert found.relevant[:1] == ["x1"]

    def test_groups_strata_covariates_and_shards(self, tmp_path):
        rng = np.random.default_rng(4)
        patient = np.repeat(np.arange(60), 5)
        X = rng.normal(size=(300, 8))
        age = rng.normal(size=300)
        time, event = times(np.where(X[:, 1] > 0, 3.0, 0.4) * np.exp(0.5 * age), rng)
        y = (time, event)
        assert interplay.select(X, y, groups=patient, random_state=0).relevant == ["x1"]
        assert interplay.select(X, y, strata=patient % 2, random_state=0).relevant == ["x1"]
        found = interplay.select(X, y, covariates=age, random_state=0)
        assert "x1" in found.relevant
        assert (found.in_model.kind, found.in_model.about) == ("cox", ["covariate"])
        for i in (1, 2):
            interplay.search_shard(X, y, shard=(i, 2), covariates=age).save(tmp_path / f"part{i}")
        merged = interplay.merge_parts(sorted(tmp_path.glob("part*")), X=X)
        pd.testing.assert_frame_equal(merged.table, found.table)
        with pytest.raises(
            ValueError, match="X is needed to merge parts of a search with covariates, an offset or times"
        ):
            interplay.merge_parts(sorted(tmp_path.glob("part*")))

    def test_saved_drawn_and_reported(self, tmp_path):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(400, 8))
        time, event = times(np.where((X[:, 3] > 0) ^ (X[:, 7] > 0), 3.0, 0.5), rng)
        found = interplay.select(X, (time, event), random_state=0)
        found.save(tmp_path / "run")
        loaded = interplay.load(tmp_path / "run")
        pd.testing.assert_frame_equal(loaded.table, found.table)
        curves = loaded.survival_curves[0]
        assert curves.n_samples.sum() == 400
        assert curves.n_events.sum() == event.sum()
        cells = interplay.discretize(X)[0][:, [3, 7]] @ [2, 1]
        expected = kaplan_meier(time[cells == 1], event[cells == 1])
        steps = slice(curves.start[1] + 1, curves.start[2] - 1)
        assert curves.time[steps] == pytest.approx(expected.time)
        assert curves.survival[steps] == pytest.approx(expected.survival)
        loaded.to_html(tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "martingale residuals" in text
        assert '"curves":[{"cell":0' in text
        assert "X, (time, event)," in text
        pytest.importorskip("matplotlib").use("Agg")
        ax = loaded.plot.survival("x3")
        assert len(ax.lines) == 4
        with pytest.raises(ValueError, match="need an outcome that is a time"):
            interplay.select(X, event, dimensions=1, random_state=0).plot.survival("x3")


def test_the_selector_takes_a_structured_array():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 6))
    time, event = times(np.where(X[:, 1] > 0, 3.0, 0.5), rng)
    structured = np.array(list(zip(event, time, strict=True)), dtype=[("status", bool), ("days", float)])
    selector = interplay.MDFSSelector(dimensions=1, random_state=0).fit(X, structured)
    assert selector.get_feature_names_out().tolist() == ["x1"]


class TestCommandLine:
    @pytest.fixture
    def file(self, tmp_path):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(300, 6))
        time, event = times(np.where(X[:, 3] > 0, 3.0, 0.5), rng)
        frame = pd.DataFrame(X).rename(columns=lambda v: f"v{v}").assign(time=time, status=event * 1)
        frame.to_csv(tmp_path / "data.csv", index=False)
        return tmp_path / "data.csv"

    def test_time_and_event(self, file, monkeypatch, capfd):
        done = in_process(monkeypatch, capfd, "run", file, "--time", "time", "--event", "status", "--seed", "0")
        assert done.code == 0, done.err
        n_events = int(pd.read_csv(file)["status"].sum())
        assert f"300 samples; times, {n_events} events" in done.out
        assert "v3" in done.out

    def test_a_target_that_looks_like_a_censored_time(self, file):
        done = in_shell("run", file, "--target", "time", "--seed", "0")
        assert done.returncode == 0
        assert "column 'status' looks like a censoring flag" in done.stderr
        assert "--time and --event" in done.stderr

    @pytest.mark.parametrize(
        "options",
        [("--time", "time"), ("--event", "status"), ("--target", "v0", "--time", "time", "--event", "status")],
    )
    def test_what_does_not_belong_together(self, file, monkeypatch, capfd, options):
        done = in_process(monkeypatch, capfd, "run", file, *options)
        assert done.code == 2
        assert "--time" in done.err


@pytest.mark.parametrize(
    ("time", "event", "message"),
    [
        (np.arange(10.0), np.ones(9), "y's event must have one value per sample of X: 9 values"),
        (
            np.arange(10.0),
            pd.Series(np.arange(10) % 3),
            "the values of column 'status' are 0 (4×), 1 (3×) and 2 (3×): if 2 is the event, give y=(time, event "
            "== 2), or 'status=2' in place of the column's name (--event status=2)",
        ),
        (
            np.arange(10.0),
            pd.Series(np.arange(10) % 3 + 1),  # as in MASS Melanoma, where 1 is the event
            "are 1 (4×), 2 (3×) and 3 (3×): say which of them is the event. For 1, give y=(time, event == 1), or "
            "'status=1' in place of the column's name (--event status=1); likewise for another value",
        ),
        (np.arange(10.0), np.arange(10) < 2, "y has 2 events, and at least 5 are needed"),
    ],
)
def test_refusals(time, event, message):
    with pytest.raises((ValueError, TypeError)) as error:
        make_survival(time, event, n_samples=10, event_name="status" if isinstance(event, pd.Series) else None)
    assert message in str(error.value)


class TestEventValues:
    @pytest.mark.parametrize(
        ("status", "named"),
        [
            ([1, 2], "status=2"),
            ([1, 2], "status = 2.0"),
            ([0.0, 2.0], "status==2"),
            (["alive", "dead"], "status=dead"),
            (["Alive", "Dead"], "status=dead"),
            ([False, True], "status=True"),
        ],
    )
    def test_which_value_is_the_event(self, status, named):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
        time, event = times(np.exp(X["a"].to_numpy()), rng)
        expected = interplay.select(X, (time, event), dimensions=1, random_state=0)
        frame = X.assign(status=pd.Series(status)[event.astype(int)].to_numpy(), days=time)
        found = interplay.select(frame, ("days", named), dimensions=1, random_state=0)
        assert found.names == ["a", "b", "c"]
        assert found.provenance["survival"] == expected.provenance["survival"]
        assert found.p_adjusted.tolist() == expected.p_adjusted.tolist()

    def test_a_column_of_that_name_comes_first(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
        time, event = times(np.ones(80), rng)
        frame = X.assign(**{"status=2": event, "status": 7}, days=time)
        found = interplay.select(frame, ("days", "status=2"), dimensions=1, random_state=0)
        assert found.provenance["survival"]["n_events"] == event.sum()

    def test_the_command_line(self, tmp_path, monkeypatch, capfd):
        rng = np.random.default_rng(1)
        X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
        time, event = times(np.where(X["b"] > 0, 3.0, 0.5), rng)
        X.assign(days=time, status=event + 1).to_csv(tmp_path / "lung.csv", index=False)
        options = ("run", tmp_path / "lung.csv", "--time", "days", "--seed", "0", "--event")
        refused = in_process(monkeypatch, capfd, *options, "status")
        assert refused.code == 2
        assert "--event status=2" in refused.err
        done = in_process(monkeypatch, capfd, *options, "status=2")
        assert done.code == 0, done.err
        assert "b" in done.out


class TestEntry:
    def test_residuals_and_samples(self):
        survival = make_survival(r.time, r.event, n_samples=80, entry=r.entry)
        expected = np.array(r.NUMBERS["null"]["martingale_entry"])
        assert survival.martingale_residuals(ties="efron") == pytest.approx(expected)
        expected = np.array(r.NUMBERS["all breslow"]["martingale"])
        with_columns = survival.martingale_residuals(columns=r.columns, strata=r.stratum, offset=r.offset)
        assert with_columns == pytest.approx(expected, abs=1e-8)
        some = survival.of_samples(np.array([5, 3]))
        assert some.entry.tolist() == r.entry[[5, 3]].tolist()
        assert some.is_of(2)
        assert not some.is_of(3)

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            (np.zeros(79), "entry must have one value per sample of X: 79 values, 80 samples"),
            (np.r_[-np.inf, np.zeros(79)], "entry must be finite"),
            (["a"] * 80, "entry must be numbers"),
            (
                np.r_[np.zeros(3), 50.0, np.zeros(76)],
                "it is not in 1 sample, the first of them sample 3: entry 50, time",
            ),
            (r.time, "it is not in 80 samples, the first of them sample 0"),
        ],
    )
    def test_refusals(self, entry, message):
        with pytest.raises((ValueError, TypeError)) as error:
            make_survival(r.time, r.event, n_samples=80, entry=entry)
        assert message in str(error.value)
