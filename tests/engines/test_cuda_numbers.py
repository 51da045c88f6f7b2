"""Number outcomes on GPUs: the same bits as on the CPU; and, anywhere, the orders of their samples."""

from typing import Any

import numpy as np
import pytest

from cuda_problems import (
    TILE_SHAPE,
    assert_gains_of_the_cpu,
    assert_gains_of_two_discretizations,
    assert_rows_of_the_cpu,
    assert_same_rows,
    planes_of,
    random_codes,
    some_asked_for,
    tiles_for,
)
from gpu_mark import needs_gpu
from interplay.data.codes.planes import planes_to_come
from interplay.data.study.outcomes.numbers import NumberOutcome
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda import CudaEngine, digit_orders, survivor_search, work_plan
from interplay.search.engines.cuda.device_state import _totals
from interplay.search.engines.cuda.kernels import NUMBERS
from interplay.search.engines.cuda.product_plan import choose_products
from interplay.search.engines.cuda.tables import make_information_tables
from interplay.search.engines.sinks import Listing, tuple_formula

OUTCOMES = ["normal", "few values", "one value in ten", "outliers"]


def values_of(rng, kind, signal):
    n = len(signal)
    noise = {
        "normal": lambda: rng.normal(size=n),
        "few values": lambda: rng.integers(0, 5, size=n),
        "one value in ten": lambda: (rng.random(n) < 0.1) * 3.0,
        "outliers": lambda: rng.standard_cauchy(n),
    }[kind]()
    return np.asarray(noise + signal, dtype=np.float64)


def number_problem(rng, *, n_samples, n_vars, n_contrast=0, levels=(2,), kind="normal", n_strata=None):
    """Planes of random codes with a signal, and their levels."""
    codes, n_levels = random_codes(rng, n_samples, n_vars, n_contrast, levels)
    signal = 0.5 * ((codes[0] ^ codes[n_vars - 1]) % 2) + 0.3 * (codes[3] == 1)
    values = values_of(rng, kind, signal)
    values[0] += values.max() == values.min()
    strata = None if n_strata is None else rng.integers(0, n_strata, size=n_samples)
    outcome = NumberOutcome(values, (values - values.mean()) / values.std())
    return planes_of(codes, n_levels, outcome, n_vars=n_vars, strata=strata, n_strata=n_strata or 0), n_levels


# --- without a GPU ------------------------------------------------------------------------------------------------


def planes_of_values(values):
    outcome = NumberOutcome(values, (values - values.mean()) / values.std())
    return planes_to_come(np.full(3, 2), outcome.sizes, n_vars=3, scores=outcome.integers)


@pytest.mark.parametrize("kind", OUTCOMES)
@pytest.mark.parametrize("n_samples", [3, 40, 511, 2000, 30_000])
@pytest.mark.parametrize("steps", [2, 4])
def test_orders_add_up_to_the_scores(kind, n_samples, steps):
    rng = np.random.default_rng(n_samples)
    planes = planes_of_values(values_of(rng, kind, np.arange(n_samples) == 1))
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


def test_many_samples_are_counted_in_few_orders():
    rng = np.random.default_rng(0)
    for n_samples, most in ((2000, 5.0), (20_000, 2.5), (200_000, 1.6)):
        planes = planes_of_values(rng.normal(size=n_samples))
        assert digit_orders.digit_orders(planes).n_steps <= most * n_samples / 256


def test_constants_are_those_of_the_core():
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
def test_counts_and_sums_share_a_word_where_they_fit(n_samples, most, paired, small_sums):
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

    def test_bits(self, dimensions, levels, monkeypatch):
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
            how = some_asked_for(rng, n_vars, dimensions, 4) if case == 2 else {}
            assert_gains_of_two_discretizations(
                CudaEngine(), planes, n_levels, dimensions,
                own_tiles=case < 2, pseudocount=(0.25, 0.0, 1.0, 0.25)[case], **how,
            )  # fmt: skip


@pytest.mark.parametrize("kind", OUTCOMES)
class TestSinks:
    pytestmark = needs_gpu

    @pytest.mark.parametrize(("dimensions", "n_vars", "levels"), [(2, 90, (2,)), (3, 40, (2, 3)), (4, 24, (2,))])
    @pytest.mark.parametrize("by_products", [True, False])
    def test_lists(self, kind, dimensions, n_vars, levels, by_products, monkeypatch):
        monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0 if by_products else np.inf)
        rng = np.random.default_rng([dimensions, len(kind)])
        planes, n_levels = number_problem(rng, n_samples=700, n_vars=n_vars, levels=levels, kind=kind)
        tiles = tiles_for(n_levels, n_vars, dimensions, **TILE_SHAPE)
        given: dict[str, Any] = {"pseudocount": 0.25}
        everything = CpuEngine().interesting_tuples(planes, tiles, min_value=np.full(n_vars, -np.inf), **given)
        for share in (0.001, 0.3, 2.0):
            values = np.sort(everything.value)[::-1]
            least = values[int(share * len(values))] if share < 1 else -np.inf
            assert_rows_of_the_cpu(CudaEngine(), planes, tiles, min_value=np.full(n_vars, least), **given)

    @pytest.mark.parametrize("n_strata", [None, 3])
    @pytest.mark.parametrize("dimensions", [2, 3])
    def test_screens(self, kind, dimensions, n_strata, monkeypatch):
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
    def test_however_it_is_run(self, how, dimensions):
        planes, n_levels = number_problem(np.random.default_rng(5), n_samples=1500, n_vars=70, n_contrast=20)
        assert_gains_of_the_cpu(CudaEngine(**how), planes, tiles_for(n_levels, 70, dimensions, **TILE_SHAPE))

    def test_without_warp_groups(self, monkeypatch):
        """As on devices before compute capability 9.0."""
        choose = work_plan.choose_products
        monkeypatch.setattr(work_plan, "choose_products", lambda **how: choose(**how | {"warp_groups": False}))
        planes, n_levels = number_problem(np.random.default_rng(6), n_samples=3000, n_vars=150)
        for dimensions in (2, 3):
            assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, 150, dimensions, **TILE_SHAPE))

    @pytest.mark.parametrize("kind", OUTCOMES)
    def test_many_samples(self, kind):
        planes, n_levels = number_problem(np.random.default_rng(7), n_samples=40_000, n_vars=60, kind=kind)
        for dimensions in (2, 3):
            assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, 60, dimensions, **TILE_SHAPE))

    def test_small_batches(self, monkeypatch):
        monkeypatch.setattr(survivor_search, "_MAX_PRODUCTS", 1 << 16)
        planes, n_levels = number_problem(np.random.default_rng(8), n_samples=800, n_vars=120)
        assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, 120, 3, **TILE_SHAPE))

    def test_a_statistic_is_refused(self):
        planes, n_levels = number_problem(np.random.default_rng(9), n_samples=100, n_vars=8)
        formula = tuple_formula("II", 2, with_decision=False)
        sink = Listing(min_value=np.zeros(8), formula=formula, max_rows=None)
        with pytest.raises(ValueError, match="a number outcome has gains alone"):
            CudaEngine().search(planes, tiles_for(n_levels, 8, 2), sink, pseudocount=0.25)
