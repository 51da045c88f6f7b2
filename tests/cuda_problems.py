"""Random problems for the tests of the CUDA engine, and what makes two results the same."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import DiscreteCodes, MaxGains
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses

#: As CudaEngine.tile_shape has it; here without a device.
TILE_SHAPE = {"block_size": 32, "middle_size": 512, "n_lanes": 512, "even": False}


def problem(
    rng: np.random.Generator,
    *,
    n_samples: int,
    n_vars: int,
    n_contrast: int = 0,
    levels: tuple[int, ...] = (2,),
    n_classes: int = 2,
    rare: bool = False,
):  # type: ignore[no-untyped-def]
    """Planes of random codes with a signal, a constant column and a copy of another; and their levels."""
    n_levels = rng.choice(levels, size=n_vars + n_contrast).astype(np.int64)
    codes = np.stack([rng.integers(0, c, size=n_samples) for c in n_levels]).astype(np.uint8)
    if n_vars > 4:
        codes[1], codes[2] = codes[0] % n_levels[1], 0
    share = np.full(n_classes, 1 / n_classes)
    if rare:
        share = np.array([0.9] + [0.1 / (n_classes - 1)] * (n_classes - 1))
    y = rng.choice(n_classes, size=n_samples, p=share)
    y = np.where(rng.random(n_samples) < 0.3, (codes[0] ^ codes[n_vars - 1]) % n_classes, y)
    y[: 2 * n_classes] = np.repeat(np.arange(n_classes), 2)
    classes = DecisionClasses(y.astype(np.int64), list(range(n_classes)))
    parts = [DiscreteCodes(np.ascontiguousarray(codes[:n_vars]), n_levels[:n_vars])]
    if n_contrast:
        parts.append(DiscreteCodes(np.ascontiguousarray(codes[n_vars:]), n_levels[n_vars:]))
    return make_bit_planes(parts, classes), n_levels


def assert_same_bits(a: MaxGains, b: MaxGains) -> None:
    assert np.array_equal(a.gain_by_group, b.gain_by_group)
    assert np.array_equal(a.tuples_by_group, b.tuples_by_group)
    assert np.array_equal(a.discretization_by_group, b.discretization_by_group)
