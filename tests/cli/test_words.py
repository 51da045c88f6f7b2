"""Messages of the command line name options, tell all problems of a file, and end with the words to type."""

import shlex

import numpy as np
import pandas as pd
import pytest

from hostile.commands import run_command
from interplay.ask.cli.errors import as_options, in_options


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("random_state must be a whole number", "--seed must be a whole number"),
        ("n_jobs must not be 0", "--jobs must not be 0"),
        ("range_ must be a number in [0, 1], not -1", "--range must be a number in [0, 1], not -1"),
        ("covariates names 'z', which is not known", "--covariate names 'z', which is not known"),
        ("level must be a number in (0, 1), not 1", "--level must be a number in (0, 1), not 1"),
        ("the significance level is 5 %", "the significance level is 5 %"),
        ("X has 2 variables: lower dimensions", "the table has 2 variables: lower --dimensions"),
        ("use groups='a b', which also removes it", "use --groups 'a b', which also removes it"),
        ("give groups=, the patient of each sample", "give --groups, the patient of each sample"),
        ("use transpose=True", "use --transpose"),
        ("y is needed: for example target='y'", "the target is needed: for example --target y"),
        ("n_jobs must not be 0: use -1 for every core, or None for one", "--jobs must not be 0: use -1 for every core"),
        ("column 'y' of X is y itself", "column 'y' is the target itself"),
        ("use decimal=',' or decimal='.'", "use --decimal , or --decimal ."),
        ("the user's 'X' and y", "the user's 'X' and the target"),
        ("use missing='level' or missing='impute'", "use --missing level or --missing impute"),
    ],
)  # fmt: skip
def test_words_of_the_command_line(message, words):
    assert in_options(message) == words


def test_options_to_type():
    many = as_options({"drop": [f"c{v}" for v in range(30)]})
    assert many.endswith("--drop c11 … (18 more)")
    assert as_options({"missing": "level", "drop": ["it's"]}) == "--missing level --drop 'it'\"'\"'s'"


@pytest.fixture
def messy(tmp_path):
    """A table of a laboratory: names, remarks, an empty column, gaps, and samples without an outcome."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["dose", "weight", "first visit"])
    frame["name"] = [f"Person {number}" for number in rng.permutation(10**6)[:n]]
    frame["remarks"] = [f"seen on day {number}" for number in rng.permutation(10**6)[:n]]
    frame["unused"] = np.nan
    frame["ill"] = np.where(frame["dose"] > 0, "yes", "no").astype(object)
    frame.loc[[5, 9], "weight"] = np.nan
    frame.loc[[3, 7, 50], "ill"] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.mark.parametrize("command", ["run", "interactions"])
@pytest.mark.filterwarnings("default")
def test_all_problems_at_once_and_the_second_attempt_succeeds(messy, command):
    first = run_command(command, messy, "--target", "ill", "--seed", "1", "--missing", "error")
    assert first.code == 2
    (line,) = [line for line in first.err.splitlines() if line.startswith("Error")]
    assert "4 problems: (1)" in line
    for words in (
        "column 'ill': 3 of 300 values are missing",
        "'unused' has only missing values",
        "the table has 2 missing values in 1 column ('weight')",
        "columns 'name', 'remarks' have more than 256",
    ):
        assert words in line  # fmt: skip
    to_type = line.partition("To go on, add: ")[2]
    assert set(shlex.split(to_type)) == {"--missing-target", "drop", "--drop", "unused", "name", "remarks", "--missing",
                                         "level"}  # fmt: skip
    second = run_command(command, messy, "--target", "ill", "--seed", "1", *shlex.split(to_type))
    assert second.code == 0, second.err
    assert "297 samples (3 left out)" in second.out


@pytest.mark.filterwarnings("default")
def test_a_pipe_is_read_once(messy):
    done = run_command("run", "-", "--target", "ill", stdin=messy.read_bytes())
    assert done.code == 2
    assert "To go on, add: --missing-target drop\n" in done.err


def test_a_misspelt_target_ends_with_the_words_to_type(messy):
    assert run_command("run", messy, "--target", "Ill").err.endswith("did you mean 'ill'? Use --target ill\n")
    assert run_command("run", messy).err.endswith("for example --target ill\n")
    assert "Use --drop remarks" in run_command("run", messy, "--target", "ill", "--drop", "remark").err


def test_an_error_beside_problems(messy):
    """An error of another kind ends the list."""
    done = run_command("run", messy, "--target", "ill", "--level", "7")
    assert "2 problems: (1)" in done.err
    assert "(2) --level must be a number in (0, 1), not 7" in done.err
