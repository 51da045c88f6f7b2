"""Numbers of samples and labels of subjects are recognised by values and by names; ordinary columns are not."""

import importlib
import warnings

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.data.study.table import as_table
from interplay.data.study.table_checks import (
    find_identifiers,
    find_subjects,
    has_id_name,
    looks_like_identifier,
    names_subjects,
)

N = 240


def identifiers(frame):
    return [str(frame.columns[v]) for v in find_identifiers(as_table(frame))]


def subjects(frame):
    return [str(frame.columns[v]) for v, _ in find_subjects(as_table(frame))]


def measured(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, 3)), columns=["weight", "height", "glucose"])


class TestNumbersOfSamples:
    @pytest.mark.parametrize(
        "name", ["CASEID", "caseid", "CaseId", "case_id", "Case ID", "case.no", "PATNO", "patientNumber", "SUBJID",
                 "usubjid", "rowid", "RECORD_ID", "pid", "MRN", "sample", "Patient", "Sample no.", "Unnamed: 0"],
    )  # fmt: skip
    def test_names_of_any_style(self, name):
        drawn = np.random.default_rng(1).permutation(10**6)[:N]  # in no order
        assert identifiers(measured().assign(**{name: drawn})) == [name]
        assert has_id_name(name)

    @pytest.mark.parametrize(
        "name", ["lipid", "ACID", "steroid", "covid", "thyroid", "no2", "valid", "piano", "patients", "students",
                 "sample_size", "patient_age", "idle_time", "hidden", "keyboard", "humidity", "numeric", "indoor"],
    )  # fmt: skip
    def test_names_of_measurements(self, name):
        drawn = np.random.default_rng(1).permutation(10**6)[:N]
        assert identifiers(measured().assign(**{name: drawn})) == []
        assert not has_id_name(name)

    @pytest.mark.parametrize("kind", ["in order", "falling", "class by class", "shuffled without gaps", "with gaps"])
    def test_values_alone(self, kind):
        rng = np.random.default_rng(2)
        values = np.sort(rng.permutation(10**5)[:N]).astype(float)
        if kind == "falling":
            values = values[::-1].copy()
        elif kind == "class by class":
            values = np.r_[values[::2], values[1::2]]
        elif kind == "shuffled without gaps":
            values = rng.permutation(N) + 7000.0
        elif kind == "with gaps":
            values[rng.random(N) < 0.3] = np.nan
        assert identifiers(measured().assign(v17=values)) == ["v17"]

    def test_ordinary_columns(self):
        """Whole numbers of many distributions, of which some repeat little by chance."""
        rng = np.random.default_rng(3)
        n_alarms = 0
        for n in (20, 50, 240, 1000):
            for _ in range(50):
                drawn = {
                    "age": rng.integers(20, 90, n), "cholesterol": rng.normal(200, 40, n).round(),
                    "platelets": rng.normal(250_000, 60_000, n).round(), "income": np.exp(rng.normal(10, 1, n)).round(),
                    "reads": rng.integers(0, 10**7, n), "count": rng.poisson(3, n), "genotype": rng.integers(0, 3, n),
                    "days": rng.exponential(1500, n).round(), "uniform": rng.integers(0, 3 * n, n),
                    "walk": np.cumsum(rng.integers(-5, 6, n)), "sorted": np.sort(rng.integers(0, 90, n)),
                }  # fmt: skip
                n_alarms += sum(looks_like_identifier(name, values.astype(float)) for name, values in drawn.items())
        assert n_alarms == 0  # of 2200 columns


class TestLabelsOfSubjects:
    @staticmethod
    def visits(seed=0):
        rng = np.random.default_rng(seed)
        subject = np.repeat(np.arange(60), rng.integers(2, 6, 60))
        age, sex, arm = rng.integers(30, 80, 60), rng.integers(0, 2, 60), rng.integers(0, 3, 60)
        frame = measured(len(subject)).assign(age=age[subject], sex=sex[subject], arm=arm[subject])
        return frame, subject

    @pytest.mark.parametrize("name", ["id", "ID", "SUBJID", "patid", "donor", "Mouse no.", "school_id"])
    def test_names_of_any_style(self, name):
        _, subject = self.visits()
        order = np.random.default_rng(1).permutation(len(subject))
        assert subjects(measured(len(subject)).assign(**{name: subject[order]})) == [name]
        assert names_subjects(name)

    def test_values_alone(self):
        frame, subject = self.visits()
        assert subjects(frame.assign(v3=subject)) == ["v3"]
        assert subjects(frame.assign(v3=[f"p{number:03}" for number in subject])) == ["v3"]
        assert subjects(frame) == []  # an age comes again in later rows
        order = np.random.default_rng(1).permutation(len(subject))
        assert subjects(frame.assign(v3=subject).iloc[order]) == []  # nothing lies together

    def test_sorted_tables_and_regrouped_columns(self):
        rng = np.random.default_rng(4)
        age = np.sort(rng.integers(20, 90, N))
        frame = measured().assign(age=age, decade=age // 10, adult=age >= 40, old=age >= 65)
        assert subjects(frame) == []
        year = np.repeat(np.arange(1990, 2010), 12)
        assert subjects(measured().assign(year=year, month=np.tile(np.arange(12), 20), late=year > 2000)) == []

    @pytest.mark.parametrize("name", ["number", "visit no", "index", "patients", "family_history", "x"])
    def test_counts_and_properties(self, name):
        assert subjects(measured().assign(**{name: np.random.default_rng(0).integers(1, 13, N)})) == []

    def test_family_size(self):
        size = np.random.default_rng(0).integers(1, 14, 3000)
        assert subjects(measured(3000).assign(family=size)) == []


#: Of the tables that statsmodels brings: years and weeks of a series, a table sorted by its only measurement.
_NUMBERED = {
    "cancer": ["population"], "copper": ["TIME"], "elnino": ["YEAR"], "nile": ["year"], "sunspots": ["YEAR"],
}  # fmt: skip
_REPEATED = {"modechoice": ["individual"]}


@pytest.mark.parametrize(
    "name", ["anes96", "cancer", "ccard", "committee", "copper", "cpunish", "elnino", "engel", "fair", "grunfeld",
             "heart", "longley", "macrodata", "modechoice", "nile", "randhie", "scotland", "spector", "stackloss",
             "star98", "statecrime", "strikes", "sunspots"],
)  # fmt: skip
def test_tables_of_statsmodels(name):
    pytest.importorskip("statsmodels")
    frame = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
    assert identifiers(frame) == _NUMBERED.get(name, [])
    assert subjects(frame) == _REPEATED.get(name, [])


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "digits"])
def test_tables_of_scikit_learn(name):
    datasets = pytest.importorskip("sklearn.datasets")
    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    assert identifiers(frame) == subjects(frame) == []


def said(call, *arguments, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments, random_state=0, **settings)  # type: ignore[operator]
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("call", [interplay.select, interplay.interactions])
class TestWarnings:
    def test_numbers_of_samples(self, call):
        y = np.random.default_rng(0).integers(0, 2, N)
        frame = measured().assign(CASEID=np.random.default_rng(1).permutation(9000)[:N])
        (message,) = said(call, frame, y)
        assert message == (
            "column 'CASEID' of X looks like an identifier (values nearly all different): if it names the "
            "samples and measures nothing, leave it out (on the command line with --drop 'CASEID')"
        )
        assert said(call, frame.drop(columns="CASEID"), y) == []
        assert said(call, frame.to_numpy(), y) == []  # without names nothing is said

    def test_labels_of_subjects(self, call):
        subject = np.repeat(np.arange(60), 4)
        frame = measured().assign(id=subject)
        (message,) = said(call, frame, subject % 2)
        assert "samples of one 'id' are not independent of each other" in message
        assert message.endswith("use groups='id', which also removes it from the variables")
        (message,) = said(call, frame, np.tile([0, 1], 120))  # each subject has both classes
        assert "'id' (a variable) with 60 values for 240 samples, which labels subjects rather than measures" in message
        assert message.endswith("--drop 'id')")


def test_a_selection_keeps_both():
    subject = np.repeat(np.arange(60), 4)
    frame = measured().assign(id=subject, row=np.arange(N))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = interplay.select(frame, subject % 2, random_state=0)
    assert found.cautions == {"id": "labels subjects", "row": "looks like an identifier"}
