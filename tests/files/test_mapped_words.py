"""Words of planes in a file: made once, found again, never trusted where anything differs."""

import errno
import os

import numpy as np
import pytest

import interplay
from interplay.data.codes import coded
from interplay.data.codes import planes as mapped_words
from interplay.data.codes.planes import MappedWords

SHAPE = (300, 16)
EXPECTED = np.arange(300 * 16, dtype=np.uint64).reshape(SHAPE)


class Fill:
    n_calls = 0

    def __call__(self, words):
        assert words.shape == SHAPE
        assert not words.any()
        words[:] = EXPECTED
        self.n_calls += 1


def test_words_are_made_once(tmp_path):
    fill, kept = Fill(), MappedWords(tmp_path / "a.planes", "key")
    for _ in range(2):
        assert np.array_equal(kept.found_or_made(SHAPE, fill), EXPECTED)
    assert fill.n_calls == 1
    words = kept.found_or_made(SHAPE, fill)
    words[0, 0] = 77  # of this process alone
    assert kept.found_or_made(SHAPE, fill)[0, 0] == 0
    assert sorted(os.listdir(tmp_path)) == ["a.planes"]


def another_key(file):
    return "other"


def shorter(file):
    os.truncate(file, file.stat().st_size - 8)
    return "key"


def damaged(file):
    with open(file, "rb+") as opened:
        opened.seek(4096)
        opened.write(b"\1")
    return "key"


def of_text(file):
    file.write_text("nothing of ours")
    return "key"


@pytest.mark.parametrize("change", [another_key, shorter, damaged, of_text])
def test_another_file_is_replaced(change, tmp_path):
    file = tmp_path / "a.planes"
    MappedWords(file, "key").found_or_made(SHAPE, Fill())
    fill = Fill()
    key = change(file)
    assert np.array_equal(MappedWords(file, key).found_or_made(SHAPE, fill), EXPECTED)
    assert fill.n_calls == 1


def test_words_are_in_memory_where_the_disk_is_full(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(mapped_words.os, "posix_fallocate", full, raising=False)
    words = MappedWords(tmp_path / "a.planes", "key").found_or_made(SHAPE, Fill())
    assert np.array_equal(words, EXPECTED)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("numbers", [False, True])
def test_planes_of_a_search_lie_beside_its_checkpoint(numbers, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    y = X[:, 3] + rng.normal(size=200) if numbers else rng.integers(0, 2, 200)
    strata = rng.integers(0, 2, 200)
    how = {"strata": strata, "random_state": 1, "engine": "cpu"}
    expected = interplay.max_information_gain(X, y, **how)
    monkeypatch.setattr(coded, "_MAX_BYTES_IN_MEMORY", 0)
    checkpoint, planes = tmp_path / "run.ckpt", tmp_path / "run.ckpt.planes"
    made = interplay.max_information_gain(X, y, checkpoint=checkpoint, **how)
    assert np.array_equal(made.gain, expected.gain)
    written = planes.stat().st_mtime_ns
    # Another search of the same planes finds them; other values make others.
    checkpoint.unlink()
    again = interplay.max_information_gain(X, y, dimensions=1, checkpoint=checkpoint, **how)
    assert planes.stat().st_mtime_ns == written
    assert np.array_equal(again.gain, interplay.max_information_gain(X, y, dimensions=1, **how).gain)
    checkpoint.unlink()
    X[0] = -X[0]
    other = interplay.max_information_gain(X, y, checkpoint=checkpoint, **how)
    assert planes.stat().st_mtime_ns != written
    assert np.array_equal(other.gain, interplay.max_information_gain(X, y, **how).gain)
    # Those of several discretisations take turns in the file.
    checkpoint.unlink()
    how |= {"discretizations": 3, "range_": 0.4}
    several = interplay.max_information_gain(X, y, checkpoint=checkpoint, **how)
    assert np.array_equal(several.gain, interplay.max_information_gain(X, y, **how).gain)
