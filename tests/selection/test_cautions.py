"""Leaks of the outcome and identifiers: warned of, and marked in the table, the summary and the report."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import interplay
from hostile.commands import run_command
from interplay.data.codes.tuple_counts import TupleCounts
from interplay.data.study.table_checks import has_id_name, looks_like_identifier
from interplay.infer.leaks import (
    gains_by_missing_values_alone,
    missing_values_tell_apart,
    tells_classes_apart,
)
from interplay.show.report.page import report_page

N = 300


def noise(seed=0, n_vars=8):
    return pd.DataFrame(
        np.random.default_rng(seed).normal(size=(N, n_vars)), columns=[f"gene{v}" for v in range(n_vars)]
    )


def classes(seed=1):
    return np.random.default_rng(seed).integers(0, 2, N)


def found(X, y, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = interplay.select(X, y, **{"dimensions": 1, "random_state": 0} | settings)
    return result, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("dimensions", [1, 2])
@pytest.mark.parametrize("multiclass", ["joint", "ovo", "ovr"])
def test_a_column_that_determines_the_target(dimensions, multiclass):
    y = np.random.default_rng(3).integers(0, 3, N)
    rng = np.random.default_rng(4)
    several = np.array(["a", "b", "c", "d", "e", "f"])[y * 2 + rng.integers(0, 2, N)]  # two words for each class
    X = noise().assign(stage=several, score=y + rng.uniform(0, 0.9, N), near=y + rng.normal(0, 0.4, N))
    result, said = found(X, y, dimensions=dimensions, multiclass=multiclass)
    assert result.cautions == {"stage": "determines y completely", "score": "determines y completely"}
    assert said == [
        "columns 'stage', 'score' of X determine y completely (none of their values occurs in two classes): if they "
        "encode the outcome or follow from it, leave them out (on the command line with --drop 'stage' --drop 'score')"
    ]
    table = result.table.set_index("variable")
    assert table["caution"].drop(["stage", "score"]).eq("").all()
    assert table.loc["stage", "caution"] == "determines y completely"
    assert "stage: determines y completely" in result.summary()


def test_a_copy_of_a_continuous_target():
    y = np.random.default_rng(1).normal(size=N)
    result, said = found(noise().assign(copy=np.exp(y), part=y + np.random.default_rng(2).normal(size=N)), y)
    assert result.cautions == {"copy": "determines y nearly completely"}
    assert len(said) == 1


def test_a_column_that_nearly_determines_the_target():
    y = classes()
    spent = np.where(y == 0, 0, np.random.default_rng(1).exponential(size=N))
    spent[np.flatnonzero(y == 1)[:2]] = 0  # a few who had something to spend and did not
    result, said = found(noise().assign(spent=spent, close=y + np.random.default_rng(2).normal(0, 0.25, N)), y)
    assert result.cautions == dict.fromkeys(("spent", "close"), "tells the classes apart in nearly all samples")
    assert len(said) == 1


def test_nothing_is_said_of_plain_tables():
    y = classes()
    for X in (noise(), noise().assign(strong=y + np.random.default_rng(2).normal(0, 0.6, N))):
        result, said = found(X, y, missing="level")
        assert result.cautions == {}
        assert "caution" not in result.table.columns
        assert said == []
    values = np.random.default_rng(0).normal(size=(N, 5))  # who makes y from a column of a plain array knows it
    assert found(values, values[:, 0] > 0)[1] == []


@pytest.mark.parametrize("dimensions", [1, 2])
def test_missing_values_that_determine_the_target(dimensions):
    y = classes()
    X = noise()
    X["day_of_death"] = np.where(y == 1, np.random.default_rng(2).normal(size=N), np.nan)
    result, said = found(X, np.where(y == 1, "dead", "alive"), missing="level", dimensions=dimensions)
    assert "its missing values determine y completely" in result.cautions["day_of_death"]
    assert any("'day_of_death' of X has missing values that determine y completely" in words for words in said)
    # Imputed, missing values tell nothing, and neither do the others.
    assert found(X, y, missing="impute")[0].cautions == {}


@pytest.mark.parametrize("dimensions", [1, 2])
def test_a_gain_that_comes_from_missing_values_alone(dimensions):
    y = classes()
    rng = np.random.default_rng(2)
    often = rng.random(N) < np.where(y == 1, 0.7, 0.1)
    X = noise()
    X["asked_late"] = np.where(often, np.nan, rng.normal(size=N))
    X["both"] = np.where(often, np.nan, y + rng.normal(0, 0.4, N))
    X["at_random"] = np.where(rng.random(N) < 0.3, np.nan, y + rng.normal(0, 0.6, N))
    result, said = found(X, y, missing="level", dimensions=dimensions)
    assert {"asked_late", "both", "at_random"} <= set(result.relevant)
    assert result.cautions == {"asked_late": "its gain comes from its missing values alone"}
    assert said == [
        "column 'asked_late' of X has a gain that comes from its missing values alone: if these depend on the outcome "
        "or on how the data were collected, leave it out (on the command line with --drop 'asked_late')"
    ]


def test_missing_values_alone_by_counts():
    def of(table, members=(4,)):
        counts = np.array(table)
        return TupleCounts(np.array(members), 0, 0, [["?"] * n for n in counts.shape[:-1]], counts)

    assert gains_by_missing_values_alone(of([[50, 10], [50, 10], [5, 80]]), 4, n_tuples=1)
    assert not gains_by_missing_values_alone(of([[80, 2], [20, 18], [5, 80]]), 4, n_tuples=1)
    assert not gains_by_missing_values_alone(of([[50, 10], [50, 10], [10, 2]]), 4, n_tuples=1)
    # In pairs: the observed levels of 4 and 7 are an XOR, of which the sum over one shows nothing.
    xor = np.array([[[90, 10], [10, 90]], [[10, 90], [90, 10]], [[5, 80], [5, 80]]])
    assert not gains_by_missing_values_alone(of(xor, (4, 7)), 4, n_tuples=100)
    flat = np.array([[[50, 50], [50, 50]], [[50, 50], [50, 50]], [[5, 80], [5, 80]]])
    assert gains_by_missing_values_alone(of(flat, (4, 7)), 4, n_tuples=100)
    assert gains_by_missing_values_alone(of(np.swapaxes(flat, 0, 1), (2, 4)), 4, n_tuples=100)


def test_identifiers():
    rng = np.random.default_rng(0)
    X = noise().assign(
        number=np.arange(N),
        patient_id=rng.permutation(10**6)[:N],
        reads=rng.integers(0, 10**7, N),
        age=rng.integers(20, 90, N),
        weight=rng.normal(size=N),
    )
    result, said = found(X, classes())
    assert result.cautions == {"number": "looks like an identifier", "patient_id": "looks like an identifier"}
    assert said == [
        "columns 'number', 'patient_id' of X look like identifiers (values nearly all different): if they "
        "name the samples and measure nothing, leave them out (on the command line with --drop 'number' --drop "
        "'patient_id')"
    ]
    # An identifier that knows the outcome: patients first, controls after them.
    result, _ = found(noise().assign(number=np.arange(N)), np.arange(N) < 120)
    assert result.relevant[0] == "number"
    assert result.cautions == {"number": "determines y completely; looks like an identifier"}


def test_in_parts():
    y = np.repeat([0, 1], 30)
    assert tells_classes_apart(np.r_[np.arange(30), np.arange(30) + 40.0], y, is_label=False)
    assert not tells_classes_apart(np.r_[np.arange(30), np.arange(30) + 29.0], y, is_label=False)  # a tie
    assert not tells_classes_apart(np.r_[np.arange(30), np.arange(30) + 40.0], y, is_label=True)  # nearly unique words
    assert tells_classes_apart(np.r_[np.full(30, np.nan), np.ones(30)], y, is_label=False)
    assert not tells_classes_apart(np.arange(8.0), np.repeat([0, 1], 4), is_label=False)  # chance would do
    assert not tells_classes_apart(np.ones(60), y, is_label=False)
    assert missing_values_tell_apart(y == 1, y)
    assert not missing_values_tell_apart(np.ones(60, dtype=bool), y)
    assert not missing_values_tell_apart(np.arange(60) > 30, y)
    assert not looks_like_identifier("id", np.arange(10))  # too few to say
    assert looks_like_identifier("x", np.r_[np.arange(50.0), np.nan])
    assert not looks_like_identifier("x", np.arange(50) + 0.5)
    assert not looks_like_identifier("x", np.r_[np.arange(50.0), np.inf])
    assert not looks_like_identifier("x", np.arange(100) // 2)
    assert has_id_name("Unnamed: 0")
    assert not has_id_name("valid")


def test_saved_reported_and_told_on_the_command_line(tmp_path):
    X = noise().assign(number=np.arange(N), outcome=np.arange(N) < 120)
    X.to_csv(tmp_path / "data.csv", index=False)
    outputs = ["--save", tmp_path / "run", "--report", tmp_path / "report.html", "--out", tmp_path / "table.csv"]
    done = run_quietly("run", tmp_path / "data.csv", "--target", "outcome", "-k", "2", "--seed", "1", *outputs)
    assert done.code == 0
    assert "Warning: column 'number' determines the target completely" in done.err
    assert "--drop number" in done.err
    assert "number: determines y completely; looks like an identifier" in done.out
    assert "caution" in (tmp_path / "table.csv").read_text().splitlines()[0]
    loaded = interplay.load(tmp_path / "run")
    assert loaded.cautions == {"number": "determines y completely; looks like an identifier"}
    page = report_page(loaded)
    assert "Check these variables before you rely on them" in page
    embedded = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert embedded["rows"]["caution"][0].startswith("determines y completely")
    assert '"caution":' not in report_page(found(noise(), classes())[0])


def run_quietly(*arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        return run_command(*arguments)


def test_the_design_of_a_survey_is_named():
    rng = np.random.default_rng(0)
    X = noise(n_vars=3).assign(
        WTMEC2YR=rng.uniform(1e3, 1e5, N), SDMVPSU=rng.integers(1, 3, N), weight=rng.normal(70, 9, N)
    )
    result, said = found(X, classes())
    assert set(result.cautions) == {"WTMEC2YR", "SDMVPSU"}
    assert [text for text in said if "survey" in text] == [
        "columns 'WTMEC2YR', 'SDMVPSU' of X look like weights, strata or clusters of a survey, and were searched as "
        "variables: p-values do not know the design; name clusters as groups= and strata as strata=, or leave them "
        "out (on the command line with --drop 'WTMEC2YR' --drop 'SDMVPSU')"
    ]
