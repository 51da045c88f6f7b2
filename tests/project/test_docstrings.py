"""Arguments are documented where they are used, and one argument is described in the same words everywhere."""

import inspect
import re

import pytest

import interplay
from interplay import compat
from interplay.statistics.null_fit import FITS

FUNCTIONS = [
    interplay.max_information_gain,
    interplay.select,
    interplay.search_shard,
    interplay.MDFSSelector,
    interplay.interesting_tuples,
    interplay.interactions,
]
#: The older package has names of its own for other things: its `decision` is the outcome.
COMPAT_FUNCTIONS = [
    compat.compute_max_ig,
    compat.compute_max_ig_discrete,
    compat.compute_tuples,
    compat.compute_tuples_discrete,
    compat.run,
]
#: In an estimator `fit` is a method.
SAME_ARGUMENT = {"null_fit": "fit"}
#: What is said of p-values of tuples, where other functions speak of variables.
OF_TUPLES = {"interactions": ("p_adjust", "level", "top")}


def documented(function):
    """Return the description of each argument, from the section Parameters of a numpydoc docstring."""
    doc = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\S+( \S+)?\n-+\n)", doc, re.DOTALL | re.MULTILINE)
    assert section is not None, f"{function.__name__} has no section Parameters"
    described = {}
    names = []
    for line in section[1].splitlines():
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.split(" : ")[0].split(",")]
            described |= dict.fromkeys(names, "")
        else:
            described |= {name: f"{described[name]}\n{line.strip()}" for name in names}
    return described


def arguments(function):
    parameters = inspect.signature(function).parameters
    named = [name for name, parameter in parameters.items() if parameter.kind is not parameter.VAR_KEYWORD]
    if len(named) < len(parameters):  # the rest goes to select()
        named += [name for name in inspect.signature(interplay.select).parameters if name not in named]
    return named


@pytest.mark.parametrize("function", [*FUNCTIONS, *COMPAT_FUNCTIONS], ids=lambda function: function.__name__)
def test_every_argument_is_described_in_place(function):
    described = documented(function)
    assert sorted(described) == sorted(arguments(function))
    for name, text in described.items():
        assert text.strip(), f"{name} is not described"
        assert not text.strip().startswith("As in"), f"{name} is described elsewhere"


@pytest.mark.parametrize("functions", [FUNCTIONS, COMPAT_FUNCTIONS], ids=["interplay", "compat"])
def test_an_argument_is_described_in_the_same_words_everywhere(functions):
    """The first paragraph is the same; what is true of one function alone follows in a paragraph of its own."""
    first_seen = {}
    for function in functions:
        for name, text in documented(function).items():
            words = " ".join(text.strip().split("\n\n")[0].split())
            name += " of tuples" * (name in OF_TUPLES.get(function.__name__, ()))
            where, before = first_seen.setdefault(SAME_ARGUMENT.get(name, name), (function.__name__, words))
            assert words == before, f"{name} is described differently in {where} and {function.__name__}"


@pytest.mark.parametrize(
    "function", [interplay.fit_null, interplay.select, interplay.search_shard, interplay.MDFSSelector]
)
def test_every_null_fit_is_listed(function):
    choices = re.search(r"^(?:null_)?fit : \{(.*?)\}", inspect.getdoc(function), re.MULTILINE)
    assert [choice.strip('" ') for choice in choices[1].split(",")] == list(FITS)
