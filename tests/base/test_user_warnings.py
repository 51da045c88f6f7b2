"""A warning names the line of the user that called the package, not one within it."""

import linecache
import warnings
from contextlib import contextmanager
from functools import wraps
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.base import checks
from interplay.compat import get_suggested_range
from interplay.io import read_data

N = 60


def warned_at(call, match):
    """Return the files that the warnings of a call name, of those whose text contains `match`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [warning.filename for warning in caught if match in str(warning.message)]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(N, 6)), columns=list("abcdef"))


@pytest.fixture
def y():
    return np.arange(N) % 2


@pytest.mark.parametrize(
    "call",
    [
        interplay.select,
        interplay.interactions,
        interplay.max_information_gain,
        interplay.interesting_tuples,
        lambda X, y: interplay.search_shard(X, y, shard="1/2"),
        lambda X, y: interplay.MDFSSelector(random_state=0).fit(X, y),
    ],
    ids=["select", "interactions", "max_information_gain", "interesting_tuples", "search_shard", "MDFSSelector"],
)
def test_of_a_class_that_stands_for_a_missing_value(X, y, call):
    labels = np.array(["case", "?"])[y]
    assert warned_at(lambda: call(X, labels), "usually stands for a missing value") == [__file__]


def test_of_leaks_and_identifiers(X, y):
    X = X.assign(number=np.arange(N), copy=y)
    found = warned_at(lambda: interplay.select(X, y, random_state=0), "(on the command line with --drop")
    assert found == [__file__, __file__]


def test_of_discretizations_that_hardly_differ(X, y):
    settings = {"divisions": 3, "discretizations": 2}
    assert warned_at(lambda: interplay.discretize(X, **settings), "hardly differ") == [__file__]
    assert warned_at(lambda: interplay.max_information_gain(X, y, **settings), "hardly differ") == [__file__]
    assert warned_at(lambda: get_suggested_range(N, 2, 3), "hardly differ") == [__file__]


def test_of_a_null_fit_at_its_bounds():
    gains = np.append(np.zeros(33), np.random.default_rng(17).chisquare(2, size=(67, 1000)).max(axis=1))
    found = warned_at(lambda: interplay.fit_null(gains, dimensions=2, unit="chi2", fit="lsq"), "the null fit")
    assert found == [__file__]


def test_of_a_file_that_is_read(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{i % 2 if i else ''}\n" for i in range(40)))
    assert warned_at(lambda: read_data(file, target="y", missing_target="drop"), "left out") == [__file__]


def test_of_a_checkpoint_that_is_resumed_from_the_one_before(X, y, tmp_path):
    file = tmp_path / "kept"
    interplay.select(X, y, random_state=0, checkpoint=file)
    file.rename(f"{file}.prev")
    file.write_bytes(b"damaged")
    # The file is read inside a context manager: a frame of contextlib stands between two of the package.
    found = warned_at(lambda: interplay.select(X, y, random_state=0, checkpoint=file), "resuming from")
    assert found == [__file__]


def within_package(name, source, **names):
    """Compile a function as if it stood in the package."""
    exec(compile(source, str(Path(checks.__file__).with_name("any.py")), "exec"), names)
    return names[name]


def test_frames_of_others_between_those_of_the_package_are_passed_over():
    inner = within_package("inner", "def inner():\n    yield warn('said')\n", warn=checks.warn)
    managed = contextmanager(inner)

    @wraps(managed)
    def decorated():  # a frame of this file, called from within the package
        with managed():
            pass

    outer = within_package("outer", "def outer():\n    decorated()\n", decorated=decorated)
    with pytest.warns(UserWarning, match="said") as caught:
        outer()
    assert caught[0].filename == __file__
    assert linecache.getline(__file__, caught[0].lineno).strip() == "outer()"


def test_the_category():
    with pytest.warns(interplay.FewSamplesWarning, match="few"):
        checks.warn("few", interplay.FewSamplesWarning)


def test_no_other_way_to_warn():
    package = Path(interplay.__file__).parent
    others = [path for path in package.rglob("*.py") if "stacklevel" in path.read_text(encoding="utf-8")]
    assert others == [Path(checks.__file__)]
