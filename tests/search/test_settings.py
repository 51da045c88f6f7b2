"""Settings are written once, checked once and handed on; what costs time happens once in a selection."""

import dataclasses
import inspect
from collections import Counter

import numpy as np
import pytest

import interplay
from interplay.ask.cli.options import SELECT_OPTIONS
from interplay.ask.estimators.selector import MDFSSelector
from interplay.ask.selection.call import task_of
from interplay.ask.selection.settings import SelectionSettings
from interplay.data.codes import coder as discrete_codes
from interplay.data.codes.coded import CodedStudy
from interplay.data.study import comparisons
from interplay.data.study.table import as_table
from interplay.search.engines import choice
from interplay.search.settings import SearchSettings


def defaults(function):
    parameters = inspect.signature(function).parameters.values()
    return {entry.name: entry.default for entry in parameters if entry.kind is inspect.Parameter.KEYWORD_ONLY}


SELECT = defaults(interplay.select)

#: Arguments that are data of the samples.
DATA = ("strata", "groups", "order", "covariates", "offset", "entry")


def test_the_selector_has_the_defaults_of_select():
    selector = defaults(MDFSSelector.__init__)
    assert selector.pop("null_fit") == SELECT["fit"]
    assert selector.pop("min_features") == 0
    assert selector.pop("max_features") is None
    assert selector.pop("n_features_to_select") is None
    assert selector.pop("redundancy") is None
    assert selector.pop("short_list") is False
    assert selector == {name: SELECT[name] for name in selector}
    # A client cannot be copied, strata and the like are data of `fit`, and a search for parameters has no use for a
    # checkpoint.
    assert set(SELECT) - set(selector) == {
        "fit",
        *DATA,
        "checkpoint",
        "redundancy",
        "reference",
        "holdout",
        "stability",
    }
    assert set(DATA) <= set(defaults(MDFSSelector.fit))


def test_the_command_line_has_the_defaults_of_select():
    options = {option.name: option.to_info_dict()["default"] for option in SELECT_OPTIONS}
    assert options.pop("discrete") == [SELECT["discrete"]]
    assert options.pop("n_jobs") == -1  # a command has the machine to itself; a call may be one of many
    assert options == {name: SELECT[name] for name in options}
    assert set(SELECT) == {*options, "discrete", "n_jobs"}


@pytest.mark.parametrize("function", [interplay.max_information_gain, interplay.interesting_tuples])
def test_other_functions_have_the_defaults_of_select(function):
    shared = {name: value for name, value in defaults(function).items() if name in SELECT}
    assert shared.pop("random_state") == 0  # they draw thresholds only, as R does
    assert shared.pop("dimensions") == 2  # gains of tuples of several sizes are not comparable
    assert shared.pop("missing") == "error"  # steps of an analysis leave the choice to the user
    assert shared == {name: SELECT[name] for name in shared}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    return X, np.where(rng.random(300) < 0.3, 2, (X[:, 3] > 0) ^ (X[:, 7] > 0))


def test_settings_are_one_frozen_object_and_a_dict_for_users(data):
    assert issubclass(SelectionSettings, SearchSettings)
    settings = task_of(*data, dimensions=2, random_state=3).settings
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.dimensions = 3
    assert SelectionSettings.of(settings.to_dict()) == settings
    found = interplay.select(*data, dimensions=2, random_state=3).settings
    assert type(found) is dict
    assert found | {"fit": "auto"} == settings.to_dict()
    # Whatever decides the result can be given again.
    decides = set(SELECT) - {*DATA, "engine", "n_jobs", "progress", "checkpoint"}
    of_permutations = {"permutations", "n_permutations"}  # recorded where there are any
    # Recorded where there are any, or where they are not the defaults.
    decides -= {"decision_divisions", "scale", "holdout", "stability", "redundancy", "reference"}
    assert set(found) == decides - of_permutations - {"arms"}  # which are of several dimensions
    permuted = interplay.select(*data, dimensions=2, permutations=True, random_state=3).settings
    assert set(permuted) == decides - {"arms"}
    several = task_of(*data, random_state=3).settings
    assert SelectionSettings.of(several.to_dict()) == several
    assert set(several.to_dict()) == decides - of_permutations


def test_an_argument_that_select_has_not_is_refused(data):
    with pytest.raises(
        TypeError, match=r"select\(\) got an unexpected keyword argument 'dimension': it has dimensions, div"
    ):
        interplay.search_shard(*data, dimensions=2, shard="1/2", dimension=2)


@pytest.fixture
def happened(monkeypatch):
    """How often a table was surveyed, an engine looked for, and the decision split into comparisons."""
    count: Counter[str] = Counter()

    def counted(module, name, label):
        original = getattr(module, name)

        def counting(*args, **kwargs):
            count[label(*args)] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, counting)

    counted(discrete_codes, "ColumnSurvey", lambda table, *_: f"survey of {type(table).__name__}")
    counted(choice, "_engine_of_name", lambda *_: "check of the engine")
    counted(choice, "_gpu_is_worth_it", lambda *_: "choice of an engine")
    counted(comparisons, "_comparisons", lambda *_: "comparisons")
    return count


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_a_table_is_surveyed_once(data, happened, multiclass):
    """For searches, counts of tuples and explanations alike."""
    found = interplay.select(*data, dimensions=2, multiclass=multiclass, random_state=0)
    assert set(found.relevant) == {"x3", "x7"}
    assert len(found.tuple_counts) > 0
    assert all(len(run.explanations.tuples) for run in found.runs)
    n_runs = len(found.runs)
    contrast = happened.pop("survey of ContrastTable")
    assert contrast == 1
    tables = [what for what in happened if what.startswith("survey")]
    assert [happened[what] for what in tables] == [1]
    assert happened["check of the engine"] == happened["comparisons"] == 1
    assert happened["choice of an engine"] == n_runs


def test_tables_of_pairs_are_surveyed_for_the_search_and_once_more(data, happened):
    """All their coders at once could take more memory than the data."""
    found = interplay.select(*data, dimensions=2, multiclass="ovo", random_state=0)
    assert len(found.runs) == 3
    assert len(found.tuple_counts) > 0
    # And once for the effects of the variables of the last pair.
    assert happened["survey of RowSubset"] <= 7
    assert happened["check of the engine"] == happened["comparisons"] == 1


def test_nothing_relevant_needs_no_second_look(happened):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(150, 10)), rng.integers(0, 3, 150)
    found = interplay.select(X, y, dimensions=2, multiclass="ovo", random_state=0)
    assert found.relevant == []
    assert happened["survey of RowSubset"] == 3


def test_max_gains_and_lists_look_once(data, happened):
    for call in (interplay.max_information_gain, interplay.interesting_tuples):
        call(*data)
        assert set(happened.values()) == {1}, call
        happened.clear()


def test_coded_study_surveys_what_is_asked_for():
    rng = np.random.default_rng(0)
    table, other = as_table(rng.normal(size=(50, 8))), as_table(rng.normal(size=(50, 8)))
    task = task_of(table, rng.integers(0, 2, 50), dimensions=2)
    (here,), coded = task.comparisons, CodedStudy(task.settings, n_threads=1)
    there = dataclasses.replace(here, table=other)
    some = coded.of(here, np.array([1, 5]))
    assert np.flatnonzero(some.coder.n_levels).tolist() == [1, 5]
    assert coded.of(here, np.array([5])) is some
    more = coded.of(here, np.array([5, 6]))
    assert np.flatnonzero(more.coder.n_levels).tolist() == [5, 6]
    all_of_them = coded.of(here)
    assert all_of_them.coder.n_levels.all()
    assert coded.of(here, np.array([0])) is all_of_them
    assert coded.of(there).coder.table is other
    assert coded.of(here) is not all_of_them
