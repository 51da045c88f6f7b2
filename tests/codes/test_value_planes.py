"""Bit planes made straight from values are those made from codes, and transposing is transposing."""

import numpy as np
import pytest

from interplay import _core
from interplay.data.codes import planes as bit_planes
from interplay.data.codes import survey as column_survey
from interplay.data.codes.coder import make_coder
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.table import _transposed, as_table


def classes_of(n_samples, n_classes, rng):
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_samples - n_classes)])
    return DecisionClasses(rng.permutation(codes), list(range(n_classes)))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "int32", "int64"])
@pytest.mark.parametrize("divisions", [1, 2, 5])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 8, 9])
def test_planes_of_values_are_those_of_codes(dtype, divisions, n_classes):
    rng = np.random.default_rng(divisions)
    for n_samples in (40, 63, 64, 65, 129, 1000):
        x = np.rint(rng.normal(size=(n_samples, 5)) * 9)
        x[:, 1] = 4
        x[:, 2] = np.where(rng.random(n_samples) < 0.7, 0, x[:, 2])
        classes = classes_of(n_samples, n_classes, rng)
        coder = make_coder(
            as_table(x.astype(dtype)),
            divisions=divisions,
            discretizations=2,
            range_=0.6,
            seed=3,
            discrete="none",
            block_columns=3,
        )
        for d in range(2):
            from_codes = make_bit_planes([coder.codes(d)], classes)
            from_values = make_bit_planes([coder.code_blocks(d)], classes)
            assert np.array_equal(from_codes.words, from_values.words)
            assert np.array_equal(from_codes.plane_start, from_values.plane_start)


def test_classes_that_fill_their_words():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1536, 4))
    classes = DecisionClasses(rng.permutation(np.repeat([0, 1], [512, 1024])), [0, 1])
    coder = make_coder(as_table(x), divisions=1, discretizations=1, range_=0, seed=0)
    words = make_bit_planes([coder.code_blocks(0)], classes).words
    assert np.array_equal(words, make_bit_planes([coder.codes(0)], classes).words)
    assert int(np.unpackbits(words.view(np.uint8)).sum()) == int(coder.codes(0).codes.sum())


def test_columns_that_are_more_than_cut_have_codes():
    """Discrete columns, and missing values, in some blocks."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, 8))
    x[:, 1] = rng.integers(0, 3, 300)
    x[4, 6] = np.nan
    classes = classes_of(300, 2, rng)
    coder = make_coder(as_table(x), divisions=2, discretizations=1, range_=0, seed=0, missing="level", block_columns=2)
    read = coder.code_blocks(0).read_cut
    assert [read(slice(v, v + 2)) is None for v in (0, 2, 4, 6)] == [True, False, False, True]
    expected = make_bit_planes([coder.codes(0)], classes)
    assert np.array_equal(make_bit_planes([coder.code_blocks(0)], classes).words, expected.words)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("kept_bytes", [0, 2**24])
def test_kept_blocks_change_nothing(n_jobs, kept_bytes, monkeypatch):
    """Threads cut smaller blocks than those kept, which do not always lie within one."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, 17))
    classes = classes_of(300, 2, rng)
    settings = {"divisions": 1, "discretizations": 1, "range_": 0.0, "seed": 0, "block_columns": 4}
    expected = make_bit_planes([make_coder(as_table(x), **settings).codes(0)], classes)
    monkeypatch.setattr(column_survey, "MAX_KEPT_BYTES", kept_bytes)
    coder = make_coder(as_table(x), **settings)
    assert len(coder.kept_blocks) == (5 if kept_bytes else 0)
    for blocks in ([slice(0, 17)], [slice(v, min(v + 3, 17)) for v in range(0, 17, 3)]):
        for rows in blocks:
            assert np.array_equal(coder.code_blocks(0).read(rows), coder.codes(0).codes[rows])
    assert np.array_equal(make_bit_planes([coder.code_blocks(0)], classes, n_jobs=n_jobs).words, expected.words)


def test_what_could_corrupt_memory_is_refused():
    values, thresholds = np.ones((2, 100)), np.ones((2, 1))
    order, sizes, starts = np.arange(100), np.array([60, 40]), np.array([0, 8, 16])
    words = np.zeros((2, 16), dtype=np.uint64)
    _core.pack_value_planes(values, thresholds, order, sizes, starts, words)
    for bad_order in (order[::-1].copy(), order + 1, order - 1, order[:-1].copy()):
        with pytest.raises(ValueError, match="sample"):
            _core.pack_value_planes(values, thresholds, bad_order, sizes, starts, words)
    with pytest.raises(ValueError, match="plane"):
        _core.pack_value_planes(values, np.ones((2, 2)), order, sizes, starts, words)
    with pytest.raises(ValueError, match="classes"):
        _core.pack_value_planes(values, thresholds, order, sizes, np.array([0, 8, 24]), words)
    with pytest.raises(ValueError, match="row for each column"):
        _core.transpose(np.zeros((3, 2), dtype=np.uint16), np.zeros((3, 2), dtype=np.uint16))
    with pytest.raises(ValueError, match="side by side"):
        _core.transpose(np.zeros((3, 4), dtype=np.uint16)[:, ::2], np.zeros((2, 3), dtype=np.uint16))


def test_many_classes_have_codes(monkeypatch):
    rng = np.random.default_rng(1)
    classes = classes_of(400, 5, rng)
    coder = make_coder(as_table(rng.normal(size=(400, 3))), divisions=1, discretizations=1, range_=0, seed=0)
    expected = make_bit_planes([coder.code_blocks(0)], classes).words
    monkeypatch.setattr(bit_planes, "MAX_CLASSES_CUT", 4)
    monkeypatch.delattr(_core, "pack_value_planes")
    assert np.array_equal(make_bit_planes([coder.code_blocks(0)], classes).words, expected)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8"])
@pytest.mark.parametrize("shape", [(300, 203), (8, 16), (1, 9), (9, 1), (7, 7)])
def test_transposed(dtype, shape):
    x = (np.random.default_rng(2).normal(size=shape) * 50 + 100).astype(dtype)
    one_byte_off = np.concatenate([np.zeros(1, dtype=np.uint8), x.view(np.uint8).ravel()])[1:].view(dtype)
    views = [x, x[::2], x[::-1], x[:, ::2], x[:, 1:], np.asfortranarray(x), np.broadcast_to(x[0], shape)]
    for view in [*views, one_byte_off.reshape(shape)]:
        by_column = _transposed(view, x.dtype)
        assert by_column.flags.c_contiguous
        assert np.array_equal(by_column, view.T)
