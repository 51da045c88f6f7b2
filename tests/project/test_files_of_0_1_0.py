"""Files that were written before settings and tile shapes became objects: they load, go on and merge.

They were made at commit 4991407 from the data below: a selection, both parts of another, and two checkpoints of
searches that an engine with tiles of its own left after three calls. (Version 0.1.0 was not released by then.)
"""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from packaging.version import Version

import interplay
import interplay.search.checkpoint
from interplay.base.arrays import DecisionClasses
from interplay.engines.cpu import CpuEngine
from interplay.study.fingerprint import data_fingerprint
from interplay.study.table import as_table

FILES = Path(__file__).parents[1] / "data" / "0.1.0"
HOW = {"dimensions": 2, "n_contrast": 30, "random_state": 5}


def assert_same_log_p(a: np.ndarray, b: np.ndarray) -> None:
    """The same bits; with a scipy older than that of the files (1.17.1), whose functions differ, to rounding."""
    if Version(version("scipy")) >= Version("1.17"):
        assert np.array_equal(a, b)
    else:
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table, a decision of two classes and one of three."""
    rng = np.random.RandomState(7)
    X = np.round(rng.normal(size=(90, 14)), 2)
    X[:, 5] = rng.randint(0, 3, 90)
    three = np.where(rng.random_sample(90) < 0.3, 2, (X[:, 2] > 0) ^ (X[:, 9] > 0)).astype(int)
    return X, ((X[:, 2] > 0) ^ (X[:, 9] > 0)).astype(int), three


class Counts(CpuEngine):
    """An engine that notes how many tuples it was given."""

    n_tuples = 0.0

    def search(self, planes, tiles, sink, **options) -> None:
        object.__setattr__(self, "n_tuples", self.n_tuples + float(tiles.n_tuples.sum()))
        super().search(planes, tiles, sink, **options)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch):
    """A copy of a checkpoint, to be gone on with by any version: these files say 0.1.0."""
    monkeypatch.setattr(interplay.search.checkpoint, "version", lambda name: "0.1.0")
    return lambda name: Path(shutil.copy(FILES / name, tmp_path / name))


def test_a_selection_is_loaded(data) -> None:
    X, two, _ = data
    loaded = interplay.load(FILES / "selection.interplay")
    now = interplay.select(X, two, discretizations=2, **HOW)
    assert loaded.settings == now.settings
    assert set(loaded.relevant) == {"x2", "x9"}
    assert_same_log_p(loaded.log_p, now.log_p)
    assert np.array_equal(loaded.gains.tuples, now.gains.tuples)
    of_tests = ["verdict", "interacting", "p_interaction", "log_or"]
    assert loaded.synergies().drop(columns=of_tests).equals(now.synergies().drop(columns=of_tests))
    assert set(loaded.synergies()["verdict"]) == {"untested"}
    assert "x9" in loaded.summary()
    assert_same_log_p(interplay.select(X, two, **loaded.settings).log_p, loaded.log_p)


def test_parts_are_merged(data) -> None:
    X, _, three = data
    files = [FILES / f"part{number}.interplay" for number in (1, 2)]
    merged = interplay.merge_parts(files, X=X)
    now = interplay.select(X, three, multiclass="ovo", discrete=[5], **HOW)
    assert merged.settings == now.settings
    assert np.array_equal(merged.log_p, now.log_p)
    for old, new in zip(merged.runs, now.runs, strict=True):
        assert np.array_equal(old.gains.tuples, new.gains.tuples)
        assert np.array_equal(old.explanations.tuples, new.explanations.tuples)
    assert [counts.level_names for counts in merged.tuple_counts] == [counts.level_names for counts in now.tuple_counts]


def test_a_part_of_then_fits_one_of_now(data) -> None:
    X, _, three = data
    second = interplay.search_shard(X, three, shard=(2, 2), multiclass="ovo", discrete=[5], **HOW)
    old = interplay.Part.load(FILES / "part2.interplay")
    assert second.settings == old.settings
    changed = {"tiles", "data fingerprint", "interplay"}  # which parts of two versions may not be merged for
    assert {name: second.about[name] for name in old.about if name not in changed} == {
        name: value for name, value in old.about.items() if name not in changed
    }
    recorded = old.about["data fingerprint"]
    classes = DecisionClasses(old.decision_codes, [0, 1, 2])
    assert data_fingerprint(as_table(X), classes, like=recorded) == recorded


def test_a_search_goes_on(data, kept) -> None:
    X, two, _ = data
    rest = Counts()
    file = kept("gains.ckpt")
    found = interplay.max_information_gain(X, two, dimensions=3, discretizations=2, engine=rest, checkpoint=file)
    plain = interplay.max_information_gain(X, two, dimensions=3, discretizations=2)
    assert np.array_equal(found.gain, plain.gain)
    assert np.array_equal(found.tuples, plain.tuples)
    assert 0 < rest.n_tuples < 2 * 14 * 13 * 12 / 6
    # What is written now is read again.
    again = interplay.max_information_gain(X, two, dimensions=3, discretizations=2, checkpoint=file)
    assert np.array_equal(again.gain, plain.gain)


def test_a_selection_goes_on(data, kept) -> None:
    X, _, three = data
    rest = Counts()
    found = interplay.select(X, three, multiclass="ovr", engine=rest, checkpoint=kept("select.ckpt"), **HOW)
    plain = interplay.select(X, three, multiclass="ovr", **HOW)
    assert np.array_equal(found.log_p, plain.log_p)
    assert 0 < rest.n_tuples < 3 * (14 * 13 / 2 + 30 * 14 + 14)


def test_a_checkpoint_of_another_search_is_refused(data, kept) -> None:
    X, two, _ = data
    with pytest.raises(ValueError, match="discretizations: 2 there, 1 here"):
        interplay.max_information_gain(X, two, dimensions=3, checkpoint=kept("gains.ckpt"))
