"""Every argument is described, and one argument is described in the same words everywhere."""

import inspect
import os
import re
import subprocess
import sys

import pytest

import interplay
from interplay import compat
from interplay.ask.selection.settings import SELECTION_ARGUMENTS
from interplay.base.arguments import ARGUMENTS, arguments_in, described_by, one_of
from interplay.compat.codes import COMPAT_ARGUMENTS
from interplay.data.codes.coder import MISSING_CHOICES
from interplay.data.study.outcomes.classes import DECISION_CHOICES
from interplay.infer.null_fit import FITS

FUNCTIONS = [getattr(interplay, name) for name in interplay.__all__]
FUNCTIONS = [function for function in FUNCTIONS if inspect.isfunction(function)]
FUNCTIONS += [interplay.MDFSSelector, interplay.InteractionFeatures]
COMPAT_FUNCTIONS = [getattr(compat, name) for name in compat.__all__ if inspect.isfunction(getattr(compat, name))]

#: Arguments of the table that mean something else in a function, or that it describes in words of its own.
OWN_WORDS = {
    "contrast_variables": {"strata", "random_state"},
    "discretize": {"discretizations", "dimensions"},
    "fit_null": {"dimensions", "divisions", "discretizations"},
    "merge_parts": {"X", "n_jobs"},
    "power": {"dimensions", "scale"},
    "suggest_range": {"dimensions", "divisions"},
    # Of the older package.
    "compat.discretize": {"divisions", "range_", "seed"},
    "compat.get_suggested_range": {"dimensions", "divisions"},
}


def described(function):
    """Return the description of each argument, from the section Parameters of a numpydoc docstring."""
    doc = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n---+\n|\Z)", doc, re.DOTALL | re.MULTILINE)
    assert section is not None, f"{function.__name__} has no section Parameters"
    found = arguments_in(section[1])
    return {name: argument for names, argument in found.items() for name in names.split(", ")}


def names_of(function):
    parameters = inspect.signature(function).parameters
    named = [name for name, parameter in parameters.items() if parameter.kind is not parameter.VAR_KEYWORD]
    if len(named) < len(parameters):  # the rest goes to select()
        named += [name for name in inspect.signature(interplay.select).parameters if name not in named]
    return named


@pytest.mark.parametrize("function", [*FUNCTIONS, *COMPAT_FUNCTIONS], ids=lambda function: function.__qualname__)
def test_every_argument_is_described_in_place(function):
    found = described(function)
    assert sorted(found) == sorted(names_of(function))
    for name, argument in found.items():
        assert argument.type, f"{name} has no type"
        assert argument.text, f"{name} is not described"
        assert not argument.text.startswith("As in `"), f"{name} is described elsewhere"
    assert not re.search(r"^\s*\.\.\.$", inspect.getdoc(function).split("Examples\n---")[0], re.MULTILINE)


@pytest.mark.parametrize(
    ("function", "table"),
    [(function, ARGUMENTS) for function in FUNCTIONS] + [(function, COMPAT_ARGUMENTS) for function in COMPAT_FUNCTIONS],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_an_argument_that_is_shared_is_described_in_the_same_words(function, table):
    """What is true of one function alone follows in a paragraph of its own."""
    name = "compat." * (table is COMPAT_ARGUMENTS) + function.__name__
    found = described(function)
    differs = {each for each in found if each in table and not found[each].text.startswith(table[each].text)}
    assert differs == OWN_WORDS.get(name, set())


@pytest.mark.parametrize(
    ("table", "name", "choices"),
    [
        (ARGUMENTS, "missing", MISSING_CHOICES),
        (ARGUMENTS, "decision", DECISION_CHOICES),
        (SELECTION_ARGUMENTS, "fit", FITS),
        (described(interplay.fit_null), "fit", FITS),
        (described(interplay.interactions), "missing", (*MISSING_CHOICES, "omit")),
        (described(interplay.MDFSSelector), "null_fit", FITS),
        (described(interplay.InteractionFeatures), "missing", (*MISSING_CHOICES, "omit")),
    ],
)
def test_all_choices_are_listed(table, name, choices):
    assert table[name].type == one_of(choices)


def test_an_argument_without_a_description_is_refused():
    def function(level, fits):
        """Do nothing.

        Parameters
        ----------
        level : float
            A number.
        fit : str
            A word.
        """

    with pytest.raises(TypeError, match=r"function\(\) must describe its arguments: see \['fit', 'fits'\]"):
        described_by({})(function)


def test_the_signature_and_the_rest_of_the_docstring_stay():
    def function(level, *, top=3):
        """Return a number.

        Parameters
        ----------
        ...

        Returns
        -------
        float
        """
        return level

    before = inspect.signature(function)
    shared = arguments_in("level : float\n    A number.\ntop : int\n    Another.\nunused : str\n    A word.")
    assert described_by(shared)(function) is function
    assert inspect.signature(function) == before
    assert inspect.getdoc(function) == (
        "Return a number.\n\nParameters\n----------\nlevel : float\n    A number.\ntop : int\n    Another.\n\n"
        "Returns\n-------\nfloat"
    )


_WITHOUT_DOCSTRINGS = """
from importlib.machinery import SourceFileLoader

as_usual = SourceFileLoader.get_code

def get_code(self, name):
    if name.partition(".")[0] != "interplay":
        return as_usual(self, name)
    path = self.get_filename(name)
    return compile(self.get_data(path), path, "exec", dont_inherit=True, optimize=2)

SourceFileLoader.get_code = get_code
import interplay

assert [getattr(interplay, name) for name in interplay.__all__]
assert interplay.select.__doc__ is None
from interplay import compat
"""


def test_the_package_works_without_docstrings():
    """As under ``python -OO``, which would also compile all packages that are imported."""
    subprocess.run([sys.executable, "-c", _WITHOUT_DOCSTRINGS], check=True, env=dict(os.environ), timeout=120)
