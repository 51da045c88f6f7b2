"""The codec of our own files, and the annotations that what was read must fit."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.archive import FileFormat, decode, encode, read_archive, write_archive
from interplay.files.types import Check, fits


@dataclass
class Inner:
    numbers: Annotated[IntArray, Check("n", low=0, below="n_vars")]
    more: Annotated[FloatArray, Check("n+1", high=0, nan=True)]


@dataclass
class Outer:
    names: Annotated[list[str], Check("n_vars")]
    done: Annotated[BoolArray, Check("a b")]
    inner: tuple[Inner, ...]
    about: dict[str, Any]
    kind: Annotated[str | None, Check(among=("x", "y"))] = None

    def is_consistent(self):
        return len(self.names) > 1


FORM = FileFormat("test", 3, Outer, (Inner,), "test of interplay", ": leave it")


def outer():
    inner = Inner(np.array([0, 2]), np.array([-1.0, np.nan, -np.inf]))
    about = {"nan": math.nan, "inf": [-math.inf, (1, (2,))], "numpy": np.float64(0.5), "none": None, "ä/../b": True}
    return Outer(["a", "b", "ć\ud800"], np.arange(15).reshape(3, 5) % 4 == 1, (inner, inner), about, "y")


def test_what_is_read_is_what_was_written(tmp_path):
    write_archive(tmp_path / "file", FORM, outer())
    found, expected = read_archive(tmp_path / "file", FORM), outer()
    assert found.names == expected.names
    assert np.array_equal(found.done, expected.done)
    assert found.done.flags.writeable
    np.testing.assert_array_equal(found.inner[1].more, expected.inner[1].more)
    assert found.inner[0].numbers is found.inner[1].numbers  # one array, written once
    assert math.isnan(found.about.pop("nan"))
    assert found.about == {"inf": [-math.inf, (1, (2,))], "numpy": 0.5, "none": None, "ä/../b": True}
    assert type(found.about["numpy"]) is float


@pytest.mark.parametrize("value", [{1: 2}, {2, 3}, b"bytes", object(), np.array(["a"]), Path("a"), 1j, [Inner]])
def test_other_types_are_not_written(value):
    with pytest.raises(TypeError, match="a file cannot hold"):
        encode([value], (Outer,))


@pytest.mark.parametrize(
    "tree",
    [
        {"type": "Outer"},
        {"type": "Inner", "numbers": 1, "more": 2, "most": 3},
        {"type": "Path"},
        {"type": ["Inner"]},
        {},
        {"array": "b"},
        {"array": ["a"]},
        {"array": "a", "dict": {}},
        {"tuple": 3},
        {"dict": []},
        {"float": 3},
        {"bits": "bits", "shape": [10**12]},
        {"bits": "bits", "shape": [-1]},
        {"bits": "bits", "shape": [17]},
        {"bits": "bits", "shape": "16"},
        {"bits": "a", "shape": [16]},
    ],
)
def test_other_trees_are_not_read(tree):
    arrays = {"a": np.zeros(2), "bits": np.zeros(2, dtype=np.uint8)}
    with pytest.raises((ValueError, TypeError, LookupError)):
        decode(json.loads(json.dumps([tree])), arrays, (Inner, Outer))


def test_annotations_are_checked_to_the_last_entry():
    assert fits(outer(), Outer)
    for change in (
        {"names": ["a", 3, "b"]},
        {"names": ["a", "b"]},  # a number of a variable is beyond them
        {"names": ["a"], "inner": ()},
        {"done": np.zeros(3, dtype=bool)},
        {"done": np.zeros((3, 5))},
        {"inner": [*outer().inner]},
        {"inner": (Inner(np.array([0, -1]), np.zeros(3)),)},
        {"inner": (Inner(np.array([0, 1]), np.zeros(2)),)},
        {"inner": (Inner(np.array([0, 1]), np.ones(3)),)},
        {"about": []},
        {"kind": "z"},
    ):
        assert not fits(Outer(**vars(outer()) | change), Outer), change
    # Sizes of one dataclass say nothing about those beside it.
    assert fits(Outer(**vars(outer()) | {"inner": (outer().inner[0], Inner(np.array([1]), np.zeros(2)))}), Outer)
    assert fits(Outer(**vars(outer()) | {"kind": None}), Outer)


@pytest.mark.parametrize(("version", "message"), [(2, "0.2 or earlier: run it again$"), (4, "newer interplay")])
def test_other_versions_are_refused(version, message, tmp_path):
    other = FileFormat("test", version, Outer, (Inner,), "test of interplay", "")
    write_archive(tmp_path / "file", other, outer())
    with pytest.raises(ValueError, match=message):
        read_archive(tmp_path / "file", FORM)


def test_other_formats_are_refused(tmp_path):
    write_archive(tmp_path / "file", FileFormat("other", 3, Outer, (Inner,), "", ""), outer())
    with pytest.raises(ValueError, match=r"is not a test of interplay, or is damaged: leave it$"):
        read_archive(tmp_path / "file", FORM)
