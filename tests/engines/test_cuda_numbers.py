"""Number outcomes on GPUs: the same bits as on the CPU; and, anywhere, the orders of their samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cuda_problems import TILE_SHAPE, assert_same_bits
from gpu_mark import needs_gpu
from interplay.base.arrays import BitPlanes, DiscreteCodes, TupleRows, TupleTiles
from interplay.data.codes.planes import make_bit_planes, planes_to_come, scores_of
from interplay.data.study.outcomes.numbers import NumberOutcome
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda import CudaEngine, digit_orders, survivor_search, work_plan
from interplay.search.engines.cuda.device_state import _totals
from interplay.search.engines.cuda.kernels import NUMBERS
from interplay.search.engines.cuda.product_plan import choose_products
from interplay.search.engines.cuda.tables import make_information_tables
from interplay.search.engines.sinks import Listing, tuple_formula
from interplay.search.tiles import make_tuple_tiles

OUTCOMES = ["normal", "few values", "one value in ten", "outliers"]


def values_of(rng: np.random.Generator, kind: str, signal: np.ndarray) -> np.ndarray:
    n = len(signal)
    noise = {
        "normal": lambda: rng.normal(size=n),
        "few values": lambda: rng.integers(0, 5, size=n),
        "one value in ten": lambda: (rng.random(n) < 0.1) * 3.0,
        "outliers": lambda: rng.standard_cauchy(n),
    }[kind]()
    return np.asarray(noise + signal, dtype=np.float64)


def number_problem(
    rng: np.random.Generator,
    *,
    n_samples: int,
    n_vars: int,
    n_contrast: int = 0,
    levels: tuple[int, ...] = (2,),
    kind: str = "normal",
    n_strata: int | None = None,
) -> tuple[BitPlanes, np.ndarray]:
    """Planes of random codes with a signal, a constant column and a copy of another; and their levels."""
    n_levels = rng.choice(levels, size=n_vars + n_contrast).astype(np.int64)
    codes = np.stack([rng.integers(0, c, size=n_samples) for c in n_levels]).astype(np.uint8)
    codes[1], codes[2] = codes[0] % n_levels[1], 0
    signal = 0.5 * ((codes[0] ^ codes[n_vars - 1]) % 2) + 0.3 * (codes[3] == 1)
    values = values_of(rng, kind, signal)
    values[0] += values.max() == values.min()
    outcome = NumberOutcome(values, (values - values.mean()) / values.std())
    parts = [DiscreteCodes(np.ascontiguousarray(codes[:n_vars]), n_levels[:n_vars])]
    if n_contrast:
        parts.append(DiscreteCodes(np.ascontiguousarray(codes[n_vars:]), n_levels[n_vars:]))
    if n_strata is not None:
        strata = rng.integers(0, n_strata, size=(1, n_samples)).astype(np.uint8)
        parts.insert(0, DiscreteCodes(strata, np.array([n_strata])))
    planes = make_bit_planes(parts, outcome, n_vars=n_vars + (n_strata is not None))
    return planes, n_levels


def tiles_for(n_levels: np.ndarray, n_vars: int, dimensions: int, **how: Any) -> TupleTiles:
    return make_tuple_tiles(n_levels, n_vars=n_vars, dimensions=dimensions, **how)


def assert_same_rows(a: TupleRows, b: TupleRows) -> None:
    for name in ("tuples", "variable", "value", "rows_of_tile"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


# --- without a GPU ------------------------------------------------------------------------------------------------


def planes_of(values: np.ndarray) -> BitPlanes:
    outcome = NumberOutcome(values, (values - values.mean()) / values.std())
    return planes_to_come(np.full(3, 2), outcome.sizes, n_vars=3, scores=scores_of(outcome))


@pytest.mark.parametrize("kind", OUTCOMES)
@pytest.mark.parametrize("n_samples", [3, 40, 511, 2000, 30_000])
@pytest.mark.parametrize("steps", [2, 4])
def test_orders_add_up_to_the_scores(kind: str, n_samples: int, steps: int) -> None:
    rng = np.random.default_rng(n_samples)
    planes = planes_of(values_of(rng, kind, np.arange(n_samples) == 1))
    assert planes.scores is not None
    assert planes.samples is not None
    orders = digit_orders.digit_orders(planes, steps)
    place = orders.bytes_of_steps
    is_byte = place >= 0
    of_bytes = np.unpackbits(planes.samples.view(np.uint8)).reshape(-1, 8).sum(axis=1)
    # By steps: every byte with samples is counted once, and its weights add up to its score.
    weight = np.zeros(len(of_bytes), dtype=np.int64)
    np.add.at(weight, place[is_byte], np.repeat(orders.step_weight, 32)[is_byte])
    assert np.array_equal(weight[of_bytes > 0], planes.scores[of_bytes > 0])
    counted = place[32 * orders.counted_from :]
    assert np.array_equal(np.sort(counted[counted >= 0]), np.flatnonzero(of_bytes))
    # By groups, as products are counted.
    total = count = begin = 0
    for group, end in enumerate(orders.group_end.tolist()):
        some = place[32 * begin : 32 * end]
        count = (0 if orders.group_begins_order[group] else count) + int(of_bytes[some[some >= 0]].sum())
        total += count * int(orders.group_weight[group])
        begin = end
    assert count == n_samples
    assert [count, (total + orders.offset * count) % 2**32] == _totals(planes).tolist()
    assert (np.diff(orders.group_end, prepend=0) % steps == 0).all()


def test_many_samples_are_counted_in_few_orders() -> None:
    rng = np.random.default_rng(0)
    for n_samples, most in ((2000, 5.0), (20_000, 2.5), (200_000, 1.6)):
        planes = planes_of(rng.normal(size=n_samples))
        assert digit_orders.digit_orders(planes).n_steps <= most * n_samples / 256


def test_constants_are_those_of_the_core() -> None:
    planes, _ = number_problem(np.random.default_rng(0), n_samples=300, n_vars=6)
    tables = make_information_tables(planes, tiles_for(np.full(6, 2), 6, 2), 0.25)
    scale, factor, log_of_total = tables.values[:3].view(np.float64)
    total = int(tables.values[3])
    assert log_of_total == pytest.approx(np.log2(total))
    assert factor * tables.unit == planes.n_samples / 2
    per_square = work_plan.sum_constants(planes, 0.25, 4)[0]
    assert total / scale * per_square == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("n_samples", "most", "paired", "small_sums"),
    [(2000, 127, True, True), (4000, 127, True, True), (5000, 127, False, True), (33_000, 127, False, True),
     (34_000, 127, False, False), (2000, 32_639, False, False)],
)  # fmt: skip
def test_counts_and_sums_share_a_word_where_they_fit(n_samples: int, most: int, paired: bool, small_sums: bool) -> None:
    variant = choose_products(
        dimensions=3,
        row_levels=2,
        column_levels=2,
        class_sizes=np.array([n_samples]),
        prefix_levels=2,
        counting="tensor",
        of_numbers=True,
        max_sum=most * n_samples,
    )
    assert variant is not None
    assert (variant.paired, variant.small_sums) == (paired, small_sums)
    assert (f"-DCOUNT_BITS={n_samples.bit_length()}" in variant.count_defines()) == paired
    assert ("-DSMALL_SUMS" in variant.bound_defines()) == small_sums
    for defines in (variant.counting_defines(), variant.count_defines(), variant.bound_defines()):
        assert NUMBERS in defines


# --- on a GPU -----------------------------------------------------------------------------------------------------

LEVELS = [(2,), (3,), (2, 3, 4), (2, 7)]


@pytest.mark.parametrize("levels", LEVELS, ids=str)
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5])
class TestEqualsTheCpuEngine:
    pytestmark = needs_gpu

    def test_bits(self, dimensions: int, levels: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng([dimensions, *levels])
        for case, kind in enumerate(OUTCOMES):
            monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0 if case == 0 or dimensions < 4 else 2e11)
            n_vars = int({1: 300, 2: 300, 3: 80, 4: 36, 5: 20}[dimensions] * rng.uniform(0.5, 1.2))
            planes, n_levels = number_problem(
                rng,
                n_samples=int(rng.integers(30, 3000)),
                n_vars=n_vars,
                n_contrast=int(rng.integers(0, 40)) * int(case > 0),
                levels=levels,
                kind=kind,
            )
            how: dict[str, Any] = {}
            if case == 2:
                asked_for = np.isin(np.arange(n_vars), rng.choice(n_vars, max(dimensions, n_vars // 4), replace=False))
                how = {"asked_for": asked_for, "require": "any" if dimensions % 2 else "all"}
            engine = CudaEngine()
            for_cpu = tiles_for(n_levels, n_vars, dimensions, **how)
            for_gpu = for_cpu
            if case < 2:
                for_gpu = tiles_for(n_levels, n_vars, dimensions, **how, **vars(engine.tile_shape(dimensions)))
            pseudocount = (0.25, 0.0, 1.0, 0.25)[case]
            a = b = None
            for d in range(2):
                a = CpuEngine().max_gains(planes, for_cpu, pseudocount=pseudocount, discretization=d, known=a)
                b = engine.max_gains(planes, for_gpu, pseudocount=pseudocount, discretization=d, known=b)
                assert_same_bits(a, b)


@pytest.mark.parametrize("kind", OUTCOMES)
class TestSinks:
    pytestmark = needs_gpu

    @pytest.mark.parametrize(("dimensions", "n_vars", "levels"), [(2, 90, (2,)), (3, 40, (2, 3)), (4, 24, (2,))])
    @pytest.mark.parametrize("by_products", [True, False])
    def test_lists(
        self,
        kind: str,
        dimensions: int,
        n_vars: int,
        levels: tuple[int, ...],
        by_products: bool,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0 if by_products else np.inf)
        rng = np.random.default_rng([dimensions, len(kind)])
        planes, n_levels = number_problem(rng, n_samples=700, n_vars=n_vars, levels=levels, kind=kind)
        tiles = tiles_for(n_levels, n_vars, dimensions, **TILE_SHAPE)
        given: dict[str, Any] = {"pseudocount": 0.25}
        everything = CpuEngine().interesting_tuples(planes, tiles, min_value=np.full(n_vars, -np.inf), **given)
        for share in (0.001, 0.3, 2.0):
            values = np.sort(everything.value)[::-1]
            least = values[int(share * len(values))] if share < 1 else -np.inf
            min_value = np.full(n_vars, least)
            wanted = CpuEngine().interesting_tuples(planes, tiles, min_value=min_value, **given)
            assert_same_rows(CudaEngine().interesting_tuples(planes, tiles, min_value=min_value, **given), wanted)

    @pytest.mark.parametrize("n_strata", [None, 3])
    @pytest.mark.parametrize("dimensions", [2, 3])
    def test_screens(self, kind: str, dimensions: int, n_strata: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0)
        rng = np.random.default_rng([dimensions, len(kind)])
        planes, n_levels = number_problem(rng, n_samples=900, n_vars=40, levels=(2, 3), kind=kind, n_strata=n_strata)
        tiles = tiles_for(n_levels, 40, dimensions, stratum_levels=n_strata, **TILE_SHAPE)
        given: dict[str, Any] = {"pseudocount": 1e-6}
        for least, step in ((-1.0, 0.0), (0.3, 0.1), (3.0, 1.0)):
            min_gain = np.concatenate([[np.inf], least + step * np.arange(20)])
            wanted = CpuEngine().screen_tiles(planes, tiles, min_gain=min_gain, **given)
            assert_same_rows(CudaEngine().screen_tiles(planes, tiles, min_gain=min_gain, **given), wanted)


class TestOnADevice:
    pytestmark = needs_gpu

    @pytest.mark.parametrize(
        "how", [{"counting": "popc"}, {"devices": (0, 0)}, {"counting": "tensor", "devices": (0,)}], ids=str
    )
    @pytest.mark.parametrize("dimensions", [2, 3])
    def test_however_it_is_run(self, how: dict, dimensions: int) -> None:
        planes, n_levels = number_problem(np.random.default_rng(5), n_samples=1500, n_vars=70, n_contrast=20)
        tiles = tiles_for(n_levels, 70, dimensions, **TILE_SHAPE)
        expected = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(CudaEngine(**how).max_gains(planes, tiles, pseudocount=0.25), expected)

    def test_without_warp_groups(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As on devices before compute capability 9.0."""
        choose = work_plan.choose_products
        monkeypatch.setattr(work_plan, "choose_products", lambda **how: choose(**how | {"warp_groups": False}))
        planes, n_levels = number_problem(np.random.default_rng(6), n_samples=3000, n_vars=150)
        for dimensions in (2, 3):
            tiles = tiles_for(n_levels, 150, dimensions, **TILE_SHAPE)
            expected = CpuEngine(n_threads=4).max_gains(planes, tiles, pseudocount=0.25)
            assert_same_bits(CudaEngine().max_gains(planes, tiles, pseudocount=0.25), expected)

    @pytest.mark.parametrize("kind", OUTCOMES)
    def test_many_samples(self, kind: str) -> None:
        planes, n_levels = number_problem(np.random.default_rng(7), n_samples=40_000, n_vars=60, kind=kind)
        for dimensions in (2, 3):
            tiles = tiles_for(n_levels, 60, dimensions, **TILE_SHAPE)
            expected = CpuEngine(n_threads=4).max_gains(planes, tiles, pseudocount=0.25)
            assert_same_bits(CudaEngine().max_gains(planes, tiles, pseudocount=0.25), expected)

    def test_small_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(survivor_search, "_MAX_PRODUCTS", 1 << 16)
        planes, n_levels = number_problem(np.random.default_rng(8), n_samples=800, n_vars=120)
        tiles = tiles_for(n_levels, 120, 3, **TILE_SHAPE)
        expected = CpuEngine(n_threads=4).max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(CudaEngine().max_gains(planes, tiles, pseudocount=0.25), expected)

    def test_a_statistic_is_refused(self) -> None:
        planes, n_levels = number_problem(np.random.default_rng(9), n_samples=100, n_vars=8)
        formula = tuple_formula("II", 2, with_decision=False)
        sink = Listing(min_value=np.zeros(8), formula=formula, max_rows=None)
        with pytest.raises(ValueError, match="a number outcome has gains alone"):
            CudaEngine().search(planes, tiles_for(n_levels, 8, 2), sink, pseudocount=0.25)
