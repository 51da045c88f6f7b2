"""Random problems for the tests of engines, on the CPU and on GPUs, and what makes two results the same."""

import numpy as np

from interplay.base.planes import DiscreteCodes
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.search.engines.cpu import CpuEngine
from interplay.search.tiles import make_tuple_tiles

#: As CudaEngine.tile_shape has it; here without a device.
TILE_SHAPE = {"block_size": 32, "middle_size": 512, "n_lanes": 512, "even": False}


def classes_of(y, n_classes=2):
    return DecisionClasses(y.astype(np.int64), list(range(n_classes)))


def planes_of(codes, n_levels, outcome, *, n_vars=None, strata=None, n_strata=0):
    """Planes of codes (variables, samples): those after the first `n_vars` are contrast, and strata come before all."""
    n_vars = len(codes) if n_vars is None else n_vars
    parts = [DiscreteCodes(np.ascontiguousarray(codes[:n_vars], dtype=np.uint8), n_levels[:n_vars])]
    if len(codes) > n_vars:
        parts.append(DiscreteCodes(np.ascontiguousarray(codes[n_vars:], dtype=np.uint8), n_levels[n_vars:]))
    if strata is not None:
        parts.insert(0, DiscreteCodes(strata.astype(np.uint8).reshape(1, -1), np.array([n_strata])))
    return make_bit_planes(parts, outcome, n_vars=n_vars + (strata is not None))


def tiles_for(n_levels, n_vars, dimensions, **how):
    return make_tuple_tiles(n_levels, n_vars=n_vars, dimensions=dimensions, **how)


def random_codes(rng, n_samples, n_vars, n_contrast, levels):
    """Codes with a constant column and a copy of another, where there is room for them; and their levels."""
    n_levels = rng.choice(levels, size=n_vars + n_contrast).astype(np.int64)
    codes = np.stack([rng.integers(0, c, size=n_samples) for c in n_levels]).astype(np.uint8)
    if n_vars > 4:
        codes[1], codes[2] = codes[0] % n_levels[1], 0
    return codes, n_levels


def problem(rng, *, n_samples, n_vars, n_contrast=0, levels=(2,), n_classes=2, rare=False):
    """Planes of random codes with a signal, and their levels."""
    codes, n_levels = random_codes(rng, n_samples, n_vars, n_contrast, levels)
    share = np.full(n_classes, 1 / n_classes)
    if rare:
        share = np.array([0.9] + [0.1 / (n_classes - 1)] * (n_classes - 1))
    y = rng.choice(n_classes, size=n_samples, p=share)
    y = np.where(rng.random(n_samples) < 0.3, (codes[0] ^ codes[n_vars - 1]) % n_classes, y)
    y[: 2 * n_classes] = np.repeat(np.arange(n_classes), 2)
    return planes_of(codes, n_levels, classes_of(y, n_classes), n_vars=n_vars), n_levels


def assert_same_bits(a, b):
    for name in ("gain_by_group", "tuples_by_group", "discretization_by_group"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


def assert_same_rows(a, b):
    for name in ("tuples", "variable", "value", "rows_of_tile"):
        one, other = getattr(a, name), getattr(b, name)
        assert one.dtype == other.dtype, name
        assert np.array_equal(one, other), name


def assert_gains_of_the_cpu(engine, planes, tiles, pseudocounts=(0.25,)):
    """The engine finds the maxima that the CPU finds, to the last bit."""
    for pseudocount in pseudocounts:
        expected = CpuEngine(n_threads=4).max_gains(planes, tiles, pseudocount=pseudocount)
        assert_same_bits(engine.max_gains(planes, tiles, pseudocount=pseudocount), expected)


def assert_rows_of_the_cpu(engine, planes, tiles, **given):
    """The engine lists the tuples that the CPU lists, to the last bit; they are returned."""
    expected = CpuEngine().interesting_tuples(planes, tiles, **given)
    assert_same_rows(engine.interesting_tuples(planes, tiles, **given), expected)
    return expected


def some_asked_for(rng, n_vars, dimensions, share):
    """One variable in `share` asked for: any of them in a tuple, or all."""
    n_asked = max(dimensions, n_vars // share)
    asked_for = np.isin(np.arange(n_vars), rng.choice(n_vars, n_asked, replace=False))
    return {"asked_for": asked_for, "require": "any" if dimensions % 2 else "all"}


def assert_gains_of_two_discretizations(engine, planes, n_levels, dimensions, *, own_tiles, pseudocount, **how):
    """Maxima of two discretisations are those of the CPU; with tiles as the engine likes them, or as the CPU does."""
    for_cpu = for_gpu = tiles_for(n_levels, planes.n_vars, dimensions, **how)
    if own_tiles:
        for_gpu = tiles_for(n_levels, planes.n_vars, dimensions, **how, **vars(engine.tile_shape(dimensions)))
    a = b = None
    for d in range(2):
        a = CpuEngine().max_gains(planes, for_cpu, pseudocount=pseudocount, discretization=d, known=a)
        b = engine.max_gains(planes, for_gpu, pseudocount=pseudocount, discretization=d, known=b)
        assert_same_bits(a, b)
