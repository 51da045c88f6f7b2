"""Lists of tuples on GPUs: what can be said of them anywhere, and, where there is one, that they equal the CPU's."""

import threading
from functools import partial
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_cuda import KINDS
from test_tuples import small_batches

import interplay
from cuda_problems import (
    assert_rows_of_the_cpu,
    assert_same_rows,
    classes_of,
    planes_of,
    problem,
    some_asked_for,
    tiles_for,
)
from gpu_mark import needs_gpu
from interplay.ask.tuples import source as tuple_source
from interplay.base.tuples import TupleRows, TupleTiles
from interplay.search.engines import choice
from interplay.search.engines.base import TileShape
from interplay.search.engines.choice import SearchWork, check_engine, choose_engine
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda import CudaEngine, device_listing, tables, work_plan
from interplay.search.engines.cuda.device_listing import DeviceListing, ListingChunks
from interplay.search.engines.cuda.devices import NotForDevices
from interplay.search.engines.cuda.layout import make_lane_layout
from interplay.search.engines.cuda.tables import entropy_terms, make_statistic_tables
from interplay.search.engines.sinks import tuple_formula
from interplay.search.tiles import make_tuple_tiles

# --- without a GPU ------------------------------------------------------------------------------------------------


def rows_of(begin, rows_of_tile):
    """Rows that say which tile they are of."""
    tile = np.repeat(np.arange(begin, begin + len(rows_of_tile)), rows_of_tile).astype(np.int32)
    return TupleRows(np.column_stack([tile, tile]), tile, tile.astype(float), rows_of_tile)


@pytest.mark.parametrize("n_workers", [1, 3])
@pytest.mark.parametrize("max_rows", [None, 1, 40, 700, 10**9])
def test_chunks_come_back_in_order(n_workers, max_rows, monkeypatch):
    monkeypatch.setattr(device_listing, "_MAX_ROWS", 100)
    put_back = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n_tiles = int(rng.integers(1, 60))
        n_tuples = rng.integers(1, 40, n_tiles)
        # Long stretches without a row, then many at once, so that chunks turn out too large.
        n_rows = rng.binomial(2 * n_tuples, rng.choice([0.0, 0.01, 1.0], n_tiles // 10 + 1).repeat(10)[:n_tiles])
        chunks = ListingChunks(n_tuples.astype(float), 2, max_rows, n_workers)
        at_work: list[tuple[int, int]] = []
        while True:
            while len(at_work) < n_workers and (chunk := chunks.take()) is not None:
                at_work.append(chunk)
            if not at_work:
                break
            begin, end = at_work.pop(int(rng.integers(len(at_work))))  # whoever is done first
            assert begin < end <= n_tiles
            rows = rows_of(begin, n_rows[begin:end])
            if len(rows) > chunks.most_rows and end > begin + 1:
                chunks.put_back(begin, end)
                put_back += 1
            else:
                chunks.hand_in(begin, rows)
        found = chunks.rows()
        enough = np.flatnonzero(np.cumsum(n_rows) >= (np.inf if max_rows is None else max_rows))
        n_done = enough[0] + 1 if len(enough) else n_tiles
        assert_same_rows(found, rows_of(0, n_rows[:n_done]))
    assert put_back or max_rows == 1


def test_chunks_grow_where_rows_are_few():
    chunks = ListingChunks(np.full(1000, 1e6), 2, max_rows=1_000_000)
    sizes = []
    while (chunk := chunks.take()) is not None:
        sizes.append(chunk[1] - chunk[0])
        chunks.hand_in(chunk[0], rows_of(chunk[0], np.full(sizes[-1], 5)))
    assert sizes[0] == 1
    assert len(sizes) < 8
    assert len(chunks.rows()) == 5000


def without_decision(rng, n_samples, n_levels):
    codes = np.stack([rng.integers(0, c, n_samples) for c in n_levels])
    return planes_of(codes, n_levels, classes_of(np.zeros(n_samples), 1))


def counts_of(planes, members):
    """Samples by level of each member, then class."""
    n_classes = len(planes.class_sizes)
    bits = np.unpackbits(planes.words.view(np.uint8), axis=1, bitorder="little")
    counts = np.zeros((*planes.n_levels[members], n_classes), dtype=np.int64)
    for q in range(n_classes):
        first = planes.class_word_start[q] * 64
        of_class = bits[:, first : first + planes.class_sizes[q]]
        levels = [
            (of_class[planes.plane_start[v] : planes.plane_start[v + 1]] * np.arange(1, planes.n_levels[v])[:, None])
            .sum(axis=0)
            .astype(int)
            for v in members
        ]
        np.add.at(counts, (*levels, q), 1)
    return counts


@pytest.mark.parametrize(
    ("stat", "dimensions", "with_decision"),
    [("H", 3, True), ("VI", 2, True), ("MI", 2, False), ("H", 2, False), ("TC", 4, False), ("II", 3, False)],
)
def test_tables_give_the_statistics_of_the_cpu_engine(stat, dimensions, with_decision):
    """What tuple_statistic.cu does, in plain loops."""
    rng = np.random.default_rng(0)
    n_levels = np.array([2, 3, 2, 4, 3], dtype=np.int64)
    if with_decision:
        planes, n_levels = problem(rng, n_samples=150, n_vars=5, levels=(2, 3, 4), n_classes=3)
    else:
        planes = without_decision(rng, 150, n_levels)
    tiles = make_tuple_tiles(n_levels, n_vars=5, dimensions=dimensions)
    formula = tuple_formula(stat, dimensions, with_decision=with_decision)
    assert formula is not None
    made = make_statistic_tables(planes, tiles, 0.25, formula)
    found = CpuEngine().interesting_tuples(
        planes, tiles, pseudocount=0.25, min_value=np.full(5, -np.inf), formula=formula
    )
    n_classes = len(planes.class_sizes)
    for members, value in zip(found.tuples.tolist(), found.value.tolist(), strict=True):
        counts = counts_of(planes, members)
        total = 0
        for size in range(1, dimensions + 1):
            for subset in combinations(range(dimensions), size):
                others = tuple(j for j in range(dimensions) if j not in subset)
                cells = counts.sum(axis=others).reshape(-1, n_classes)
                n_gathered = int(np.prod([n_levels[members[j]] for j in others]))
                if formula.coefficient_of_size[size] == 0:
                    continue
                start = made.start[int(np.searchsorted(made.multiplicities, n_gathered))]
                assert n_gathered in made.multiplicities
                of_classes = sum(int(made.values[start[q] + cell[q]]) for cell in cells for q in range(n_classes))
                of_all = sum(int(made.values[start[n_classes] + cell.sum()]) for cell in cells)
                total += int(formula.coefficient_of_size[size]) * (of_classes - of_all * with_decision)
        bits = float(total) * made.unit
        n_cells = n_levels[members].prod()
        ((constant, n),) = entropy_terms(planes.n_samples, 0.25, np.array([n_cells]), formula)
        assert value == (-bits if with_decision else constant - bits / n)


def test_too_many_kinds_of_tuples_are_left_to_the_cpu(monkeypatch):
    planes = without_decision(np.random.default_rng(0), 50, np.arange(2, 8))
    tiles = make_tuple_tiles(planes.n_levels, n_vars=6, dimensions=4)
    formula = tuple_formula("II", 4, with_decision=False)
    assert formula is not None
    assert len(make_statistic_tables(planes, tiles, 0.25, formula).multiplicities) > 20
    monkeypatch.setattr(tables, "_MAX_VALUES", 1000)
    with pytest.raises(NotForDevices):
        make_statistic_tables(planes, tiles, 0.25, formula)


def test_only_blocks_of_the_tiles_at_hand_are_laid_out():
    planes, n_levels = problem(np.random.default_rng(0), n_samples=100, n_vars=60, levels=(2, 3))
    singles = np.arange(61)
    tuples = np.array([[3, 7, 40], [3, 8, 59]], dtype=np.int32)
    tiles = TupleTiles(np.arange(60), singles, singles, singles, tuples, np.ones(2), np.array([4, 6, 9]))
    layout = make_lane_layout(planes, tiles)
    used = np.unique(tuples)
    assert (layout.row_plane >= 0).sum() == n_levels[used].sum()
    assert set(np.flatnonzero(layout.rows_per_level)) == set(used)
    np.testing.assert_array_equal(layout.row_plane[layout.first_row[used]], planes.plane_start[used])


def test_auto_lists_on_a_gpu_where_it_pays(monkeypatch):
    monkeypatch.setattr(choice, "find_spec", lambda name: object())
    monkeypatch.setattr("interplay.search.engines.cuda.why_no_cuda", lambda: None)
    monkeypatch.setattr("interplay.search.engines.cuda.engine.why_no_cuda", lambda: None)
    levels = np.full(2000, 2)
    some = np.arange(2000) < 100
    work_of = partial(SearchWork.of, levels, n_vars=2000, n_samples=1000)
    small, large = work_of(dimensions=2), work_of(dimensions=4)
    assert large.n_tuples == comb(2000, 4)
    assert work_of(dimensions=4, discretizations=3).n_tuples == 3 * comb(2000, 4)
    assert work_of(dimensions=2, asked_for=some).n_tuples == comb(100, 2) + 100 * 1900
    assert work_of(dimensions=2, asked_for=some, require="all").n_tuples == comb(100, 2)
    with_contrast = SearchWork.of(levels, n_vars=1900, n_samples=1000, dimensions=3)
    assert with_contrast.n_tuples == comb(1900, 3) + 100 * comb(1900, 2)
    auto = check_engine("auto", kind="list")
    assert choose_engine(auto, small).name == "cpu"
    assert choose_engine(auto, large).name == "cuda"
    assert "list" in choose_engine(auto, large).kinds
    cuda = check_engine("cuda", kind="list")
    assert choose_engine(cuda, small).name == "cuda"
    assert "list" in choose_engine(cuda, small).kinds


class CutsOtherwise(CpuEngine):
    """As a GPU likes its tiles, on the CPU."""

    def tile_shape(self, dimensions):
        return TileShape(block_size=2, middle_size=5, n_lanes=7, even=False)


def table_with_levels():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(250, 14))
    X[:, 4], X[:, 9] = rng.integers(0, 3, 250), rng.integers(0, 4, 250)  # taken as they are
    return X, ((X[:, 3] > 0) ^ (X[:, 7] > 0)).astype(int)


#: Calls of `interesting_tuples` of every kind; y is left out where a statistic is about the variables alone.
CALLS: list[dict[str, Any]] = [
    {"dimensions": 2},
    {"dimensions": 3, "min_gain": 3.0},
    {"dimensions": 3, "min_gain": 3.0, "divisions": 2},
    {"dimensions": 4, "min_gain": 8.0, "variables": [3, 4], "require": "any"},
    {"dimensions": 3, "min_gain": 1.0, "variables": [3, 4, 7, 9, 10], "require": "all"},
    {"dimensions": 3, "top": 5},
    {"dimensions": 3, "top": 9, "top_by": "all"},
    {"dimensions": 3, "min_gain": 2.0, "discretizations": 3, "range_": 0.5},
    {"dimensions": 3, "min_gain": 4.0, "discretizations": 3, "range_": 0.5, "average": True},
    {"dimensions": 2, "discretizations": 2, "range_": 0.5, "average": True},
    {"dimensions": 3, "stat": "H", "min_gain": 150.0},
    {"dimensions": 2, "stat": "VI"},
    {"dimensions": 2, "as_matrix": True},
    {"dimensions": 2, "stat": "MI", "without_decision": True, "as_matrix": True},
    {"dimensions": 3, "stat": "TC", "min_gain": 0.01, "without_decision": True},
    {"dimensions": 4, "stat": "II", "without_decision": True},
    {"dimensions": 3, "stat": "II", "top": 3, "without_decision": True, "discretizations": 2, "range_": 0.5},
]


def listed(engine, call):
    call = dict(call)
    X, y = table_with_levels()
    given = (X,) if call.pop("without_decision", False) else (X, y)
    found = interplay.interesting_tuples(*given, engine=engine, random_state=1, **call)
    assert not isinstance(found, Path)
    return [found] if isinstance(found, np.ndarray) else [found.tuples, found.variable, found.value]


def assert_same_listing(engine, call):
    for a, b in zip(listed(engine, call), listed("cpu", call), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_tiles_of_an_engine_change_nothing(call, monkeypatch):
    assert_same_listing(CutsOtherwise(), call)
    small_batches(monkeypatch, 60)
    assert_same_listing(CutsOtherwise(), call)


@pytest.mark.parametrize("min_gain", [None, 2.0])
def test_a_file_does_not_depend_on_the_tiles_of_the_engine(tmp_path, monkeypatch, min_gain):
    assert_same_file(CutsOtherwise(), tmp_path, monkeypatch, min_gain)


def assert_same_file(engine, folder, monkeypatch, min_gain):
    small_batches(monkeypatch, 100)
    X, y = table_with_levels()
    for name, one in (("a", engine), ("b", "cpu")):
        interplay.interesting_tuples(X, y, dimensions=3, min_gain=min_gain, out=folder / f"{name}.parquet", engine=one)
    a, b = (pd.read_parquet(folder / f"{name}.parquet") for name in "ab")
    assert len(a) > 100
    pd.testing.assert_frame_equal(a, b, check_exact=True)


# --- on a GPU -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5])
class TestEqualsTheCpuEngine:
    pytestmark = needs_gpu

    def test_bits(self, dimensions, kind, monkeypatch):
        levels, n_classes = kind
        rng = np.random.default_rng([7, dimensions, n_classes, *levels])
        for case in range(3):
            monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0 if case == 0 or dimensions < 4 else 1e8)
            n_vars = int({1: 200, 2: 90, 3: 40, 4: 20, 5: 13}[dimensions] * rng.uniform(0.6, 1.2))
            planes, n_levels = problem(
                rng,
                n_samples=int(rng.integers(30, 2000)),
                n_vars=n_vars,
                levels=levels,
                n_classes=n_classes,
                rare=case == 1,
            )
            how = some_asked_for(rng, n_vars, dimensions, 3) if case == 2 else {}
            shapes: list[dict[str, Any]] = [
                vars(CudaEngine().tile_shape(dimensions)),
                {},
                {"block_size": 3, "middle_size": 5, "n_lanes": 16},
            ]
            tiles = make_tuple_tiles(n_levels, n_vars=n_vars, dimensions=dimensions, **how, **shapes[case])
            pseudocount = (0.25, 0.0, 1.0)[case]
            everything = CpuEngine().interesting_tuples(
                planes, tiles, pseudocount=pseudocount, min_value=np.full(n_vars, -np.inf)
            )
            middling, high = np.quantile(everything.value, [0.5, 0.99])
            mixed = rng.choice([-np.inf, middling, high, np.inf], n_vars)
            # A gain itself as the threshold: it must not be listed.
            for min_value in (-np.inf, 0.0, middling, everything.value.max(), high, np.inf, mixed):
                for max_rows in (None, 1, 1 + len(everything) // 5):
                    least = np.broadcast_to(np.float64(min_value), n_vars).copy()
                    given = {"pseudocount": pseudocount, "min_value": least, "max_rows": max_rows}
                    assert_rows_of_the_cpu(CudaEngine(), planes, tiles, **given)


@pytest.mark.parametrize("levels", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("dimensions", [2, 3, 4])
class TestScoresOfEqualLevels:
    """Where all variables have the same few levels a thread counts many cells at once."""

    pytestmark = needs_gpu

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_bits(self, dimensions, levels, n_classes):
        rng = np.random.default_rng([dimensions, levels, n_classes])
        n_vars = {2: 40, 3: 16, 4: 9}[dimensions]
        for n_samples in (37, 2100):
            planes, n_levels = problem(rng, n_samples=n_samples, n_vars=n_vars, levels=(levels,), n_classes=n_classes)
            tiles = tiles_for(n_levels, n_vars, dimensions)
            assert_rows_of_the_cpu(CudaEngine(), planes, tiles, pseudocount=0.25, min_value=np.full(n_vars, -np.inf))

    def test_counts_of_more_than_16_bits(self, dimensions, levels):
        n_samples, n_vars = 140_001, 7
        codes = np.random.default_rng(levels).integers(0, levels, (n_vars, n_samples), dtype=np.uint8)
        codes[:3] = 0
        n_levels = np.full(n_vars, levels, dtype=np.int64)
        planes = planes_of(codes, n_levels, classes_of(np.arange(n_samples) % 2))
        tiles = tiles_for(n_levels, n_vars, dimensions)
        assert_rows_of_the_cpu(CudaEngine(), planes, tiles, pseudocount=0.25, min_value=np.full(n_vars, -np.inf))


@pytest.mark.parametrize("levels", [(2,), (2, 3, 5)], ids=str)
@pytest.mark.parametrize(
    ("stat", "dimensions", "n_classes"),
    [("H", 1, 2), ("H", 2, 2), ("H", 3, 4), ("VI", 2, 2), ("MI", 2, 1), ("H", 3, 1), ("TC", 4, 1), ("II", 5, 1)],
)
class TestStatistics:
    pytestmark = needs_gpu

    def test_bits(self, stat, dimensions, n_classes, levels):
        rng = np.random.default_rng([dimensions, n_classes, *levels])
        n_vars = {1: 60, 2: 60, 3: 25, 4: 15, 5: 10}[dimensions]
        n_levels = rng.choice(levels, n_vars).astype(np.int64)
        planes = without_decision(rng, 700, n_levels)
        if n_classes > 1:
            planes, n_levels = problem(rng, n_samples=700, n_vars=n_vars, levels=levels, n_classes=n_classes)
        formula = tuple_formula(stat, dimensions, with_decision=n_classes > 1)
        for shape in (vars(CudaEngine().tile_shape(dimensions)), {"block_size": 2, "middle_size": 3, "n_lanes": 8}):
            tiles = make_tuple_tiles(n_levels, n_vars=n_vars, dimensions=dimensions, **shape)
            for share, max_rows in ((None, None), (0.5, None), (0.9, 50), (None, 300)):
                given: dict[str, Any] = {"pseudocount": 0.25, "formula": formula, "max_rows": max_rows}
                everything = CpuEngine().interesting_tuples(
                    planes, tiles, **given | {"max_rows": None}, min_value=np.full(n_vars, -np.inf)
                )
                threshold = -np.inf if share is None else np.quantile(everything.value, share)
                given["min_value"] = np.full(n_vars, threshold)
                assert_rows_of_the_cpu(CudaEngine(), planes, tiles, **given)


class TestOnADevice:
    pytestmark = needs_gpu

    @pytest.fixture
    def rng(self):
        return np.random.default_rng(5)

    @pytest.mark.parametrize("call", CALLS, ids=str)
    def test_as_users_call_it(self, call):
        assert_same_listing("cuda", call)

    @pytest.mark.parametrize("min_gain", [None, 2.0])
    def test_files_are_the_same(self, tmp_path, monkeypatch, min_gain):
        assert_same_file("cuda", tmp_path, monkeypatch, min_gain)

    @pytest.mark.parametrize(
        "how", [{"counting": "popc"}, {"devices": (0, 0)}, {"devices": (0, 0, 0)}, {"devices": (0,)}], ids=str
    )
    @pytest.mark.parametrize("max_rows", [None, 500])
    def test_however_it_is_run(self, rng, how, max_rows):
        planes, n_levels = problem(rng, n_samples=500, n_vars=50, levels=(2, 3))
        tiles = make_tuple_tiles(n_levels, n_vars=50, dimensions=3, block_size=8, middle_size=8, n_lanes=16)
        given: dict[str, Any] = {"pseudocount": 0.25, "min_value": np.full(50, 3.0), "max_rows": max_rows}
        assert len(assert_rows_of_the_cpu(CudaEngine(**how), planes, tiles, **given)) > 500

    def test_with_little_room(self, rng, monkeypatch):
        """More survive than fit into the buffer, and chunks turn out to have too many rows: nothing comes twice."""
        monkeypatch.setattr(device_listing, "_CAPACITY", work_plan.MIN_CAPACITY)
        monkeypatch.setattr(device_listing, "_MAX_ROWS", 100_000)
        monkeypatch.setattr(DeviceListing, "_first_tuples", lambda self, n_tuples: n_tuples)
        overflows = []
        score = DeviceListing._score

        def count_overflows(self, tiles):
            n_found = score(self, tiles)
            overflows.append(n_found > self._state.capacity)
            return n_found

        monkeypatch.setattr(DeviceListing, "_score", count_overflows)
        planes, n_levels = problem(rng, n_samples=300, n_vars=300)
        # One large tile overflows the buffer; the many small ones after it are too many at once.
        for shape in (vars(CudaEngine().tile_shape(3)), {"block_size": 20, "middle_size": 40, "n_lanes": 100}):
            tiles = make_tuple_tiles(n_levels, n_vars=300, dimensions=3, **shape)
            min_value = np.full(300, 2.0)
            min_value[:150] = 20.0  # few rows at first, then many
            rows = assert_rows_of_the_cpu(CudaEngine(), planes, tiles, pseudocount=0.25, min_value=min_value)
            assert len(rows) > 300_000
        assert any(overflows)

    def test_progress_ends_with_all_tuples(self, rng):
        planes, n_levels = problem(rng, n_samples=200, n_vars=60)
        tiles = make_tuple_tiles(n_levels, n_vars=60, dimensions=3, block_size=8, middle_size=8, n_lanes=16)
        for threshold in (-np.inf, 2.0):
            told: list[int] = []
            CudaEngine().interesting_tuples(
                planes,
                tiles,
                pseudocount=0.25,
                min_value=np.full(60, threshold),
                on_progress=told.append,
            )
            assert told[-1] == pytest.approx(comb(60, 3), abs=1)

    def test_too_many_cells_go_to_the_cpu_with_a_message(self, rng, monkeypatch):
        planes, n_levels = problem(rng, n_samples=300, n_vars=4, levels=(60,))
        tiles = make_tuple_tiles(n_levels, n_vars=4, dimensions=3)
        given: dict[str, Any] = {"pseudocount": 0.25, "min_value": np.zeros(4)}
        with pytest.warns(UserWarning, match="listed on the CPU instead"):
            assert_rows_of_the_cpu(CudaEngine(), planes, tiles, **given)
        monkeypatch.setattr(tables, "_MAX_VALUES", 100)
        given["formula"] = tuple_formula("H", 2, with_decision=True)
        tiles = make_tuple_tiles(n_levels, n_vars=4, dimensions=2)
        with pytest.warns(UserWarning, match=r"different numbers of levels \(.*\): they are listed on the CPU instead"):
            assert_rows_of_the_cpu(CudaEngine(), planes, tiles, **given)

    @pytest.mark.parametrize("devices", [(0,), (0, 0)])
    def test_ctrl_c(self, rng, devices):
        planes, n_levels = problem(rng, n_samples=500, n_vars=80)
        tiles = make_tuple_tiles(n_levels, n_vars=80, dimensions=3, block_size=8, middle_size=8, n_lanes=16)

        def interrupt(done, found=None):
            raise KeyboardInterrupt

        before = threading.active_count()
        with pytest.raises(KeyboardInterrupt):
            CudaEngine(devices=devices).interesting_tuples(
                planes, tiles, pseudocount=0.25, min_value=np.full(80, 1.0), on_progress=interrupt
            )
        assert threading.active_count() == before

    def test_interrupted_list_holds_what_was_found(self, monkeypatch):
        class Stops(CudaEngine):
            def search(self, *arguments, **settings):
                calls = self.__dict__.setdefault("calls", [])
                calls.append(1)
                if len(calls) > 3:
                    raise KeyboardInterrupt
                super().search(*arguments, **settings)

        small_batches(monkeypatch, 100)
        X, y = table_with_levels()
        with pytest.raises(interplay.TuplesInterrupted) as caught:
            interplay.interesting_tuples(X, y, dimensions=3, engine=Stops())
        whole = interplay.interesting_tuples(X, y, dimensions=3, engine="cpu")
        assert 300 <= len(caught.value.partial) < len(whole)
        assert set(caught.value.partial.value) <= set(whole.value)

    def test_no_tiles_no_rows(self, rng):
        planes, n_levels = problem(rng, n_samples=50, n_vars=6)
        tiles = tiles_for(n_levels, 6, 2)[:0]
        assert_rows_of_the_cpu(CudaEngine(), planes, tiles, pseudocount=0.25, min_value=np.zeros(6))

    def test_synergies_are_the_same(self):
        X, y, _ = interplay.datasets.make_madelon(n_samples=400, n_vars=40, random_state=0)
        on_cpu, on_gpu = (
            interplay.select(X, y, dimensions=3, random_state=1, engine=engine).synergies(top=5)
            for engine in ("cpu", "cuda")
        )
        assert on_cpu.equals(on_gpu)

    def test_estimate_needs_no_other_engine(self, monkeypatch):
        """Many tuples, few rows: the number of rows is estimated first, on the device too."""
        monkeypatch.setattr(tuple_source, "_SAMPLE_TILES", 8)
        X, y, _ = interplay.datasets.make_madelon(n_samples=500, n_vars=200, random_state=0)
        a, b = (interplay.interesting_tuples(X, y, dimensions=3, min_gain=25, engine=e) for e in ("cuda", "cpu"))
        assert len(a) > 10
        for name in ("tuples", "variable", "value"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
