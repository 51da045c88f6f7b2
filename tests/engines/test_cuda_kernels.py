"""Kernels of the CUDA engine without a device: they compile, their variants fit, and the bound is one."""

import math
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.search.engines.cuda.kernel_loader import source_of
from interplay.search.engines.cuda.kernels import EVERY_MEMBER, choose_variant, default_counting
from interplay.search.engines.cuda.product_plan import choose_products
from interplay.search.engines.cuda.tables import make_cell_table

KERNELS = Path(__file__).resolve().parents[2] / "core" / "cuda"


def variant_for(dimensions, levels, **changes):
    """The kernel for variables of so many levels: two classes of 1000 samples on an H200, but for changes."""
    usual: dict[str, Any] = {
        "n_classes": 2,
        "prefix_levels": levels,
        "rows_among_columns": False,
        "n_cells": levels ** (dimensions - 2),
        "class_steps": (0, 4, 8),
        "compile_for_steps": True,
        "small_cells_need_care": False,
        "half_floats_suffice": True,
        "counting": "tensor",
        "max_shared_bytes": 233_472,
    }
    return choose_variant(dimensions=dimensions, row_levels=levels, column_levels=levels, **usual | changes)


def variants():
    """Kernels of every kind: levels, classes, prefix, careful or not, with tensor cores and without."""
    chosen = []
    for dimensions, levels, n_classes, counting, care, hold in [
        (2, 2, 2, "tensor", False, True),
        (3, 2, 2, "popc", True, True),
        (5, 2, 2, "tensor", False, True),
        (5, 2, 2, "tensor", True, False),
        (4, 3, 2, "tensor", True, True),
        (3, 3, 2, "tensor", False, True),
        (2, 5, 2, "tensor", False, True),
        (3, 2, 3, "tensor", True, False),
    ]:
        variant = variant_for(
            dimensions,
            levels,
            n_classes=n_classes,
            prefix_levels=levels if dimensions < 5 else 2,
            rows_among_columns=dimensions != 4,
            class_steps=tuple(range(0, 4 * n_classes + 1, 4)),
            compile_for_steps=hold,
            small_cells_need_care=care,
            half_floats_suffice=not care,
            counting=counting,
            max_shared_bytes=102_400,
        )
        assert variant is not None
        chosen.append(variant)
    return chosen


def product_variants():
    """Kernels of batches, with and without a prefix of one number of levels, of few samples and of many."""
    chosen = []
    for dimensions, levels, prefix_levels, sizes, counting in [
        (2, 3, 2, [900, 800], "tensor"),
        (3, 2, 2, [70_000, 800], "tensor"),
        (4, 3, 3, [900, 800], "tensor"),
        (5, 3, 0, [900, 800], "tensor"),
        (3, 5, 5, [900, 800, 700, 600], "tensor"),
        (2, 3, 2, [900, 800], "warp groups"),
        (4, 3, 3, [70_000, 800], "warp groups"),
    ]:
        variant = choose_products(
            dimensions=dimensions,
            row_levels=levels,
            column_levels=levels,
            class_sizes=np.array(sizes),
            prefix_levels=prefix_levels,
            counting=counting if counting == "popc" else "tensor",
            warp_groups=counting == "warp groups",
        )
        assert variant is not None
        chosen.append(variant)
    return chosen


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no CUDA device: no nvcc")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_kernels_compile(architecture, tmp_path):
    """Two searches and one kernel of each other file on every architecture; all on one: each takes seconds."""
    compile_ = ["nvcc", "-std=c++17", "-cubin", "-o", str(tmp_path / "kernel.cubin")]
    kernels = [
        ("planes/bit_planes.cu", ()),
        ("tuples/tuple_list.cu", ("-DDIMENSIONS=4",)),
        ("information/information_gain.cu", ("-DDIMENSIONS=5", "-DCLASSES=2", "-DLEVELS=2", "-DTHREADS_OF_TUPLE=8")),
        ("information/information_gain.cu", ("-DDIMENSIONS=3", "-DCLASSES=3", "-DLEVELS=3", "-DTHREADS_OF_TUPLE=8")),
        ("information/information_gain.cu", ("-DDIMENSIONS=7", "-DCLASSES=4", "-DLEVELS=0", "-DTHREADS_OF_TUPLE=32")),
        (
            "information/information_gain.cu",
            ("-DDIMENSIONS=4", "-DCLASSES=2", "-DLEVELS=5", EVERY_MEMBER, "-DTHREADS_OF_TUPLE=32"),
        ),
        ("information/tuple_statistic.cu", ("-DDIMENSIONS=3", "-DCLASSES=1", "-DLEVELS=4", "-DTHREADS_OF_TUPLE=8")),
        ("information/tuple_statistic.cu", ("-DDIMENSIONS=5", "-DCLASSES=2", "-DLEVELS=0", "-DTHREADS_OF_TUPLE=32")),
        *(("search/tuple_search.cu", variant.defines()) for variant in variants()),
        *(("search/tuple_search.cu", replace(variant, every_member=True).defines()) for variant in variants()[:2]),
    ]
    if architecture == "sm_90":
        batches = [product_variants()[0], product_variants()[-1]]
        kernels += [(file, options) for variant in batches for file, _, options in variant.kernels()]
    else:
        kernels = [*dict(reversed(kernels)).items(), ("search/tuple_search.cu", variants()[1].defines())]
    for name, options in kernels:
        source = tmp_path / Path(name).name
        source.write_text(source_of(name), encoding="utf-8")  # as it is compiled at run time
        target = () if any(option.startswith("-arch=") for option in options) else (f"-arch={architecture}",)
        command = [*compile_, *target, *options, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_variants_stay_within_shared_memory():
    for max_shared_bytes in (65_536, 102_400, 233_472):
        for dimensions, levels in [(2, 2), (3, 2), (5, 2), (7, 2), (4, 3), (3, 4)]:
            n_cells = levels ** (dimensions - 2)
            variant = variant_for(dimensions, levels, max_shared_bytes=max_shared_bytes)
            if variant is not None:
                blocks = variant.blocks_per_multiprocessor
                assert blocks * (variant.shared_bytes(n_cells, 8) + 1024) <= max_shared_bytes
                assert blocks * variant.threads <= 512


@pytest.mark.parametrize(
    ("dimensions", "levels", "n_steps", "suffice", "expected"),
    [
        (2, 3, 8, True, "half"),
        (2, 3, 16, False, "paired"),
        (3, 3, 8, True, "half"),
        (3, 3, 16, False, "paired"),
        (3, 4, 8, True, "half"),
        (4, 3, 8, True, "table"),
        (4, 3, 16, False, "table"),
        (3, 5, 8, True, "table"),
        (4, 3, 128, False, "paired"),  # twice the counts would not fit into half a word
        (3, 2, 8, True, "two levels"),
        (3, 6, 8, True, "batches"),
    ],
)
def test_which_bound_takes_which_work(dimensions, levels, n_steps, suffice, expected):
    n_cells = levels ** (dimensions - 2)
    steps = (0, n_steps // 2, n_steps)
    variant = variant_for(dimensions, levels, rows_among_columns=True, class_steps=steps, half_floats_suffice=suffice)
    if expected == "batches":
        assert variant is None
        return
    assert variant is not None
    options = variant.defines()
    assert ("-DTABLE_BOUND" in options) == (expected == "table")
    assert ("-DHALF_BOUND" in options) == (expected == "half")
    assert ("-DPAIRED_COUNTS" in options) == (expected != "two levels")
    # The device keeps 1 KB of a block's shared memory.
    blocks = variant.blocks_per_multiprocessor
    assert blocks * (variant.shared_bytes(n_cells, n_steps) + 1024) <= 233_472
    assert expected != "table" or variant.table_bytes >= 40 << 10


@pytest.mark.parametrize("sizes", [(1000, 1000), (200, 1800), (2900, 30), (3, 5), (16_000, 15_000)])
@pytest.mark.parametrize("pseudocount", [0.0, 0.25])
@pytest.mark.parametrize(("dimensions", "n_cells", "max_bytes"), [(3, 27, 92_384), (4, 81, 40 << 10), (3, 125, 4096)])
def test_table_of_cells(sizes, pseudocount, dimensions, n_cells, max_bytes):
    class_sizes = np.array(sizes)
    pseudo = pseudocount * class_sizes / class_sizes.min()
    table = make_cell_table(class_sizes, pseudo, dimensions=dimensions, n_cells=n_cells, max_bytes=max_bytes)
    values, (rows, stride) = table.values, table.values.shape
    assert values.nbytes <= max_bytes
    assert stride % 2 == 0  # no address is odd
    assert stride <= 255  # it is a byte of what counts are multiplied with
    # Whatever is beyond the table finds its edge.
    assert (values[-1] == 0xFFFF).all()
    assert (values[:, -1] == 0xFFFF).all()
    shares = class_sizes / class_sizes.sum()
    rng = np.random.default_rng(0)
    for _ in range(300):
        counts = rng.integers(0, [rows - 1, stride - 1]) if min(rows, stride) > 1 else np.zeros(2, dtype=int)
        x = counts + pseudo
        exact = sum(a * math.log2(a / (x.sum() * q)) for a, q in zip(x.tolist(), shares.tolist(), strict=True) if a > 0)
        found = int(values[tuple(counts)])
        if found < 0xFFFF:
            assert exact - 1e-9 <= found / table.per_bit <= exact + 1.01 / table.per_bit
        else:
            assert exact * table.per_bit > 0xFFFE


def test_too_many_levels_are_left_to_other_kernels():
    variant = variant_for(3, 9, n_classes=4, class_steps=(0, 2, 4, 6, 8))
    assert variant is None


def test_counting_can_be_overridden(monkeypatch):
    assert [default_counting(c) for c in (70, 75, 80, 89, 90, 100, 120)] == ["popc"] * 2 + ["tensor"] * 3 + ["popc"] * 2
    monkeypatch.setenv("INTERPLAY_CUDA_COUNTING", "popc")
    assert default_counting(90) == "popc"
    monkeypatch.setenv("INTERPLAY_CUDA_COUNTING", "abacus")
    with pytest.raises(ValueError, match="INTERPLAY_CUDA_COUNTING must be one of tensor, popc, not 'abacus'"):
        default_counting(90)


def test_sources_are_whole():
    for path in KERNELS.rglob("*.cu"):
        source = source_of(path.relative_to(KERNELS).as_posix())
        assert '#include "' not in source
        # What is installed is what is in the repository.
        assert path.read_text(encoding="utf-8").splitlines()[-1] in source


def divergence_factors(p, n):
    """A′ and C′ of gain_bound.cuh, in float64."""
    r = np.minimum(p, 1 - p)
    at_0 = 1 / (2 * np.log(2) * r * (1 - r))
    slope = (1 - 2 * r) / 3 * at_0 / (r * (1 - r))
    curvature = (-np.log1p(-r) / np.log(2) / r**2 - at_0 - slope * r) / r**2
    by_chance = np.minimum(1 / np.sqrt(n), r)
    return at_0 + slope * by_chance / 2, curvature + slope / (2 * by_chance)


def test_the_bound_is_one():
    """The formula of gain_bound.cuh, in float64: never below the divergence, and close to it by chance's deviations."""
    rng = np.random.default_rng(4)
    p = np.concatenate([rng.random(200_000), 10.0 ** -rng.uniform(1, 7, 100_000), np.full(100_000, 0.5)])
    q = np.where(rng.random(len(p)) < 0.5, rng.random(len(p)), np.clip(p + rng.normal(0, 0.05, len(p)), 0, 1))
    q[::50], q[1::50] = 0, 1
    n = 10.0 ** rng.uniform(0, 6, len(p))

    def x_log(x, y):
        return np.where(x > 0, x * np.log2(np.where(x > 0, x, 1) / y), 0)

    divergence = x_log(q, p) + x_log(1 - q, 1 - p)
    a, c = divergence_factors(p, n)
    bound = (q - p) ** 2 * (a + c * (q - p) ** 2)
    assert (bound >= divergence * (1 - 1e-9) - 1e-15).all()
    usual = (np.abs(p - 0.5) < 0.1) & (np.abs(q - p) < 0.1) & (np.abs(q - p) > 0.02) & (n > 50) & (n < 500)
    assert np.median(bound[usual] / divergence[usual]) < 1.03


@pytest.mark.parametrize(("n_cells", "n_levels"), [(1, 3), (3, 3), (9, 3), (5, 5)])
@pytest.mark.parametrize("share", [0.5, 0.6, 0.02, 0.9])
def test_the_bound_in_half_floats_is_one(n_cells, n_levels, share):
    """The steps of half_bound.cuh, each rounded to a half float, for tables of up to 2047 samples, even and uneven."""
    rng = np.random.default_rng([n_cells, n_levels])
    n_tables, half = 4000, np.float16
    pseudo_0, pseudo_1 = (0.25, 0.25) if share == 0.5 else (0.25 * max(1, share / (1 - share)), 0.25)
    weights = rng.dirichlet(np.full(n_cells * n_levels * n_levels, rng.choice([0.2, 1.0, 5.0])), n_tables)
    sizes = rng.multinomial(2047, weights).reshape(n_tables, n_cells, n_levels, n_levels)
    spread = rng.choice([0.05, 0.3], sizes.shape)
    spread[: n_tables // 2] = 0  # by chance alone, as most tuples are
    of_0 = rng.binomial(sizes, np.clip(share + rng.normal(0, spread), 0, 1))
    x_0, n = of_0 + pseudo_0, sizes + pseudo_0 + pseudo_1

    def x_log_x(x):
        return x * np.log2(x)

    def information(x_0, n):
        return x_log_x(x_0) + x_log_x(n - x_0) - x_log_x(n)

    row_0, row = x_0.sum(-1), n.sum(-1)
    exact = information(x_0, n).sum((1, 2, 3)) - information(row_0, row).sum((1, 2))

    def fma(a, b, c):
        with np.errstate(over="ignore", invalid="ignore"):  # what is infinite, or no number, is scored exactly
            return (a.astype(np.float64) * b.astype(np.float64) + np.asarray(c, dtype=np.float64)).astype(half)

    p = row_0 / row
    first, second = divergence_factors(p, row)
    minus_share = (-16 * p).astype(half)
    small = (row_0 < 512) & (row < 1024) & (4 * pseudo_0 % 1 == 0) & (2 * (pseudo_0 + pseudo_1) % 1 == 0)
    off = np.abs(minus_share.astype(np.float64) / 16 + p)
    off += np.where(small, 2.0**-22, 2 * 2.0**-11 * (1 + 2.0**-7)) * p
    error = (row * off**2 * (first + second * off**2 * 1.33e5) + first * n_levels * 2.0**-20).sum((1, 2))
    deviation = x_0 / n - p[..., np.newaxis]
    in_float64 = n * deviation**2 * (first[..., np.newaxis] + second[..., np.newaxis] * deviation**2)
    with np.errstate(over="ignore"):
        first, second = (first * 1.0006).astype(half), (second * 1.07 / 256).astype(half)
    n_half = fma((sizes * 2.0**-24).astype(half), half(2.0**11), half((pseudo_0 + pseudo_1) * 2.0**-13))
    excess = fma(
        minus_share[..., np.newaxis],
        n_half,
        fma((of_0 * 2.0**-24).astype(half), half(2.0**15), half(pseudo_0 * 2.0**-9)),
    )
    about = (np.uint16(0xF79A) - n_half.view(np.uint16)).view(half)
    minus_inverse = fma(about, fma(n_half, about, 1.0), about)
    deviation = fma(excess, minus_inverse, 0.0)
    factor = fma(second[..., np.newaxis], fma(deviation, deviation, 0.0), first[..., np.newaxis])
    parts, rows_of_sum = fma(excess, deviation, 0.0), max(1, 9 // n_levels)
    told = np.zeros(n_tables)
    for cell in range(n_cells):
        minus_told = np.zeros(n_tables, dtype=half)
        for a in range(n_levels - 1, -1, -1):
            for b in range(n_levels):
                minus_told = fma(parts[:, cell, a, b], factor[:, cell, a, b], minus_told)
            if a % rows_of_sum == 0:
                told -= 32.0 * minus_told.astype(np.float64)
                minus_told = np.zeros(n_tables, dtype=half)
    bound = (np.sqrt(told * 1.012) + np.sqrt(error)) ** 2
    assert not (bound < exact * (1 - 1e-9)).any()
    assert share > 0.6 or np.median((bound / in_float64.sum((1, 2, 3)))[: n_tables // 2]) < 1.12
