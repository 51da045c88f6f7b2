"""Arguments of a call reach its check by name, and none is lost on the way."""

import inspect

import pytest

import interplay
from interplay.ask.interaction.task import check_interactions
from interplay.ask.selection.task import check_selection
from interplay.base.arguments import HOW, checked, taken_by
from interplay.search.settings import check_search_settings


def names_of(function):
    return set(inspect.signature(function).parameters)


@pytest.mark.parametrize(
    ("call", "check"), [(interplay.select, check_selection), (interplay.interactions, check_interactions)]
)
def test_every_argument_of_a_call_is_checked(call, check):
    arguments = dict.fromkeys(names_of(call))
    assert names_of(call) - set(taken_by(check, arguments)) <= set(HOW)


@pytest.mark.parametrize("call", [interplay.max_information_gain, interplay.interesting_tuples])
def test_every_setting_of_a_search_is_an_argument_of_the_call(call):
    assert set(taken_by(check_search_settings, dict.fromkeys(names_of(call)))) == names_of(check_search_settings) - {
        "table"
    }


def test_arguments_that_are_not_given_have_the_defaults_of_the_call():
    def call(X, y, *, level=0.05, top=3, n_jobs=None): ...

    assert checked(call, lambda X, y, **settings: settings, 1, 2, level=0.1) == {"level": 0.1, "top": 3}
    assert checked(call, lambda X, y, *, n_jobs: n_jobs, 1, 2, n_jobs=4) == 4
    with pytest.raises(TypeError, match=r"call\(\) got an unexpected keyword argument 'levels': it has level, top"):
        checked(call, lambda X, y, **settings: settings, 1, 2, levels=0.1)
