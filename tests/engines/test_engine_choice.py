"""What may be an engine, which one "auto" is, and what `--dry-run` says of it."""

import numpy as np
import pytest
from test_screen import run_screen

import interplay
from interplay.ask.cli.expected_work import expected_interactions, expected_work
from interplay.base.planes import DiscreteCodes
from interplay.base.tuples import MaxGains, TupleRows
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.subsets import ColumnSubset
from interplay.search.engines import choice
from interplay.search.engines.base import USUAL_TILES, Engine, TileShape
from interplay.search.engines.choice import SearchWork, check_engine, choose_engine
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.sinks import ALL_KINDS, Listing, Maxima
from interplay.search.loop import Shard
from interplay.search.tiles import make_tuple_tiles

SOME_WORK = SearchWork(n_tuples=1e6, n_samples=100, n_cells=4)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 60))
    return X, (X[:, 3] > 0) ^ (X[:, 11] > 0)


class OnlyMaxima:
    """The least that an engine may be."""

    def max_gains(self, *args, **options):
        return CpuEngine().max_gains(*args, **options)

    def describe(self):
        return {"name": "least"}


class HasMore(OnlyMaxima):
    """Other methods of an engine, as they were before there was a class to inherit from."""

    name = "more"

    def tile_shape(self, dimensions):
        return {"block_size": 8, "middle_size": 8, "n_lanes": 16, "even": False}

    def interesting_tuples(self, *args, **options):
        return CpuEngine().interesting_tuples(*args, **options)


def test_an_object_with_two_methods_is_an_engine(data, tmp_path):
    plain = interplay.select(*data, dimensions=2, random_state=0)
    for engine in (OnlyMaxima(), HasMore()):
        found = interplay.select(
            *data, dimensions=2, random_state=0, engine=engine, checkpoint=tmp_path / type(engine).__name__
        )
        assert np.array_equal(found.log_p, plain.log_p)
        assert found.synergies().equals(plain.synergies())  # on the processor, if need be
        assert found.provenance["engine"] == {"name": "least"}
        assert (
            interplay.MDFSSelector(dimensions=2, random_state=0, engine=engine).fit(*data).result_.relevant
            == plain.relevant
        )


def test_what_an_engine_can_do_is_declared():
    least, more = check_engine(OnlyMaxima()).engine, check_engine(HasMore()).engine
    assert (least.name, least.kinds, least.tile_shape(3)) == ("OnlyMaxima", {"maxima"}, USUAL_TILES)
    assert (more.name, more.kinds) == ("more", {"maxima", "list"})
    assert more.tile_shape(3) == TileShape(block_size=8, middle_size=8, n_lanes=16, even=False)
    assert isinstance(CpuEngine(), Engine)
    assert CpuEngine().kinds == ALL_KINDS == {"maxima", "screen", "list"}
    with pytest.raises(TypeError, match="abstract method"):
        Engine()


def test_an_engine_is_search_and_describe(data, tmp_path):
    """All else comes from the base class: chunks for checkpoints, maxima, screens and lists."""

    class Least(Engine):
        name = "least"
        kinds = ALL_KINDS

        def search(self, *args, **options):
            CpuEngine().search(*args, **options)

        def describe(self):
            return {"name": "least"}

    plain = interplay.select(*data, dimensions=2, random_state=0)
    kept = interplay.Checkpoint(tmp_path / "kept", seconds=1e-9)
    found = interplay.select(*data, dimensions=2, random_state=0, engine=Least(), checkpoint=kept)
    assert np.array_equal(found.log_p, plain.log_p)
    assert interplay.interactions(*data, engine=Least()).significant == [("x3", "x11")]
    assert len(interplay.interesting_tuples(*data, engine=Least(), min_gain=50).tuples) == 2


def test_a_chunk_ends_where_its_time_or_its_rows_end(data):
    """Whatever the sink, chunks cover the tiles once, in order, and the finds are those of one search."""
    planes, tiles = prepared(*data)
    for seconds in (1e-9, 1e3):
        sink = Maxima(MaxGains.none_yet(planes, tiles))
        chunks = list(CpuEngine().stream(planes, tiles, sink, pseudocount=0.25, seconds=seconds))
        assert [chunk.begin for chunk in chunks] == [0, *(chunk.end for chunk in chunks[:-1])]
        assert chunks[0].end == 1  # before gains are known, nobody knows what tiles cost
        assert chunks[-1].end == len(tiles)
        assert np.array_equal(sink.gains.gain, CpuEngine().max_gains(planes, tiles, pseudocount=0.25).gain)
    everything = CpuEngine().interesting_tuples(planes, tiles, pseudocount=0.25, min_value=np.full(60, -np.inf))
    for seconds, max_rows in ((1e-9, None), (1e3, 100), (1e3, None)):
        listing = Listing(np.full(60, -np.inf), max_rows=max_rows)
        told: list[float] = []
        stream = CpuEngine().stream(planes, tiles, listing, pseudocount=0.25, seconds=seconds, on_progress=told.append)
        rows = [listing.rows for _ in stream]
        assert (len(rows) == 1) == (seconds == 1e3 and max_rows is None)
        assert np.array_equal(TupleRows.joined(rows).value, everything.value)
        assert told == sorted(told)


def prepared(X, y):
    codes = DiscreteCodes(np.ascontiguousarray((X > 0).T.astype(np.uint8)), np.full(60, 2))
    planes = make_bit_planes([codes], DecisionClasses(y.astype(np.int64), [0, 1]))
    return planes, make_tuple_tiles(codes.n_levels, n_vars=60, dimensions=2, block_size=8, middle_size=8, n_lanes=8)


def test_an_engine_is_told_of_a_search_before_columns_are_coded(data):
    """An engine that compiles or connects first does so while the table is read."""
    calls = []

    class Begins(OnlyMaxima):
        def begin(self, planes, tiles, *, kind, pseudocount):
            calls.append((kind, planes.words.size, tiles.dimensions, int(tiles.n_tuples.sum()), pseudocount))

        def max_gains(self, planes, tiles, *, pseudocount, **options):
            calls.append(("max_gains", planes.words.size > 0, tiles.dimensions, None, pseudocount))
            return super().max_gains(planes, tiles, pseudocount=pseudocount, **options)

    found = interplay.max_information_gain(*data, dimensions=2, pseudocount=0.5, engine=Begins())
    assert np.array_equal(found.gain, interplay.max_information_gain(*data, dimensions=2, pseudocount=0.5).gain)
    assert calls[0] == ("maxima", 0, 2, 60 * 59 // 2, 0.5)
    assert set(calls[1:]) == {("max_gains", True, 2, None, 0.5)}
    check_engine(OnlyMaxima()).engine.begin(None, None, kind="maxima", pseudocount=0.25)  # nothing to tell


def test_an_engine_is_told_of_the_kind_of_search_that_comes(data, monkeypatch):
    """A screen runs other kernels than a search for maxima: those that were begun are those that are used."""
    begun, searched = [], []
    search = CpuEngine.search
    monkeypatch.setattr(CpuEngine, "begin", lambda self, *_, kind, pseudocount: begun.append((kind, pseudocount)))

    def note(self, planes, tiles, sink, *, pseudocount, **options):
        searched.append((sink.kind, pseudocount))
        search(self, planes, tiles, sink, pseudocount=pseudocount, **options)

    monkeypatch.setattr(CpuEngine, "search", note)
    X, y = data
    calls = {
        "maxima": [lambda: interplay.max_information_gain(X, y), lambda: expected_work(X, y)],
        "screen": [
            lambda: interplay.interactions(X, y),
            lambda: interplay.interactions(X, y, groups=np.arange(len(y)) // 2 % 40, n_permutations=20),
            lambda: expected_interactions(X, y),
        ],
    }
    for kind, all_calls in calls.items():
        for call in all_calls:
            begun.clear()
            searched.clear()
            call()
            # A dry run makes the call itself, with lists of tuples for its tests.
            assert set(begun) <= set(searched)
            assert {kind for kind, _ in begun} == {kind}


def test_an_object_that_wraps_an_engine_can_do_what_that_can(data):
    """It has all methods of an Engine, also those that the wrapped one does not support."""

    class Wraps:
        def __init__(self):
            self.calls: list[str] = []

        def __getattr__(self, name):
            self.calls.append(name)
            return getattr(CpuEngine(), name)

    wrapper = Wraps()
    worker = check_engine(wrapper, kind="list").engine
    assert (worker.name, worker.kinds) == ("cpu", ALL_KINDS)
    wrapper.calls.clear()
    found = interplay.max_information_gain(*data, dimensions=2, engine=wrapper)
    assert np.array_equal(found.gain, interplay.max_information_gain(*data, dimensions=2).gain)
    assert {"begin", "max_gains"} <= set(wrapper.calls)
    pairs = interplay.interactions(*data, engine=wrapper)
    assert pairs.significant == [("x3", "x11")]
    assert "screen_tiles" in wrapper.calls


def test_lists_need_an_engine_that_lists(data, monkeypatch):
    with pytest.raises(ValueError, match="engine 'OnlyMaxima' cannot list tuples: use engine='cpu'"):
        interplay.interesting_tuples(*data, engine=OnlyMaxima())
    table = interplay.interesting_tuples(*data, engine=HasMore(), min_gain=50)
    assert table.tuples.tolist() == [[3, 11], [3, 11]]
    # What the environment says is a wish.
    monkeypatch.setattr(choice, "_engine_of_name", lambda *_: check_engine(OnlyMaxima()).engine)
    assert check_engine("auto", kind="list").engine.name == "cpu"
    with pytest.raises(ValueError, match="cannot list tuples"):
        check_engine("cuda", kind="list")


def test_screens_need_an_engine_that_screens(monkeypatch):
    with pytest.raises(
        ValueError, match="engine 'OnlyMaxima' cannot screen tuples: use engine='cpu', 'cuda' or 'dask'"
    ):
        check_engine(OnlyMaxima(), kind="screen")

    class Screens(OnlyMaxima):
        def screen_tiles(self, planes, tiles, **options):
            return CpuEngine().screen_tiles(planes, tiles, **options)

    assert check_engine(Screens(), kind="screen").engine.kinds == {"maxima", "screen"}
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 12))
    found = run_screen(X, X[:, 3] ^ X[:, 11], engine=Screens())
    assert found.tuples.tolist() == [[3, 11]]
    monkeypatch.setattr(choice, "_engine_of_name", lambda *_: check_engine(OnlyMaxima()).engine)
    assert check_engine("auto", kind="screen").engine.name == "cpu"


def test_the_work_decides_only_for_auto(monkeypatch):
    monkeypatch.delenv("INTERPLAY_ENGINE", raising=False)
    assert check_engine("auto", n_jobs=2) == choice.EngineChoice(None, 2)
    assert choose_engine(check_engine("auto", n_jobs=2), SOME_WORK) == CpuEngine(n_threads=2)
    given = CpuEngine(simd_level="serial")
    assert choose_engine(check_engine(given), SOME_WORK) is given
    monkeypatch.setenv("INTERPLAY_ENGINE", "cpu")
    assert check_engine("auto").engine == CpuEngine()


class FakeGpu(CpuEngine):
    """Says it is a GPU and cuts as one, on the processor; notes the blocks of the tiles it is given."""

    seen: list[tuple[int, int]]

    def tile_shape(self, dimensions):
        return TileShape(block_size=7, middle_size=11, n_lanes=23, even=False)

    def search(self, planes, tiles, sink, **options):
        self.seen.append((int(np.diff(tiles.middle_start).max()), int(np.diff(tiles.lane_start).max())))
        super().search(planes, tiles, sink, **options)

    def describe(self):
        return {"name": "cuda", "devices": ["made up"]}


@pytest.fixture
def gpu(monkeypatch):
    """A machine with a GPU that pays from a thousand tuples on."""
    monkeypatch.delenv("INTERPLAY_ENGINE", raising=False)
    monkeypatch.setattr(FakeGpu, "seen", [], raising=False)
    monkeypatch.setattr(choice, "_gpu_is_worth_it", lambda work, n_threads: work.n_tuples >= 1000)
    monkeypatch.setattr("interplay.search.engines.cuda.CudaEngine", FakeGpu)
    return FakeGpu


@pytest.mark.parametrize("ask", [expected_work, expected_interactions])
def test_a_dry_run_of_a_large_table_reads_a_part(ask, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 400)), np.arange(60) % 2
    whole = ask(X, y, dimensions=2, engine="cpu")
    seen = []
    columns = ColumnSubset.columns
    monkeypatch.setattr(ColumnSubset, "columns", lambda self, which: seen.append(self.n_vars) or columns(self, which))
    monkeypatch.setattr("interplay.ask.cli.expected_work._MAX_VALUES", 60 * 100)
    part = ask(X, y, dimensions=2, engine="cpu")
    assert set(seen) == {100}
    assert part.n_vars == 400
    assert part.n_tuples == whole.n_tuples
    assert part.n_bytes == pytest.approx(whole.n_bytes, rel=0.2)


def test_a_dry_run_measures_the_engine_that_would_run(data, gpu):
    settings = {"dimensions": 2, "n_contrast": 30, "random_state": 0}
    work = expected_work(*data, **settings)
    assert work.engine == {"name": "cuda", "devices": ["made up"]}
    assert "engine   cuda, devices" in work.summary()
    assert work.n_tuples == 60 * 59 / 2 + 30 * 60
    measured = set(gpu.seen)
    gpu.seen.clear()
    found = interplay.select(*data, **settings)
    assert found.provenance["engine"] == work.engine
    assert gpu.seen[0] in measured
    assert measured == {(11, 23)}


def test_a_dry_run_of_little_work_measures_the_processor(data, gpu):
    X, y = data
    work = expected_work(X, y, dimensions=1, n_contrast=0)
    assert work.engine["name"] == interplay.select(X, y, dimensions=1).provenance["engine"]["name"] == "cpu"
    assert gpu.seen == []


def test_a_dry_run_of_a_shard_measures_the_tiles_that_shards_share(data, gpu):
    work = expected_work(*data, dimensions=2, shard=Shard(1, 3), n_contrast=30, random_state=0)
    assert work.engine["name"] == "cuda"
    assert work.n_tuples == 60 * 59 / 2 + 30 * 60
    measured = set(gpu.seen)
    gpu.seen.clear()
    interplay.search_shard(*data, dimensions=2, shard=(1, 3), n_contrast=30)
    assert measured == {gpu.seen[0]} != {(11, 23)}


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 8), (1, 1), (3, 3)])
def test_columns_are_read_by_more_threads_where_a_gpu_will_search(monkeypatch, n_jobs, expected):
    """Unless a number of threads is asked for."""
    monkeypatch.delenv("INTERPLAY_ENGINE", raising=False)
    monkeypatch.setattr(choice, "_free_cores", lambda: 16)
    monkeypatch.setattr(choice, "_gpu_is_worth_it", lambda work, n_threads: work.n_tuples >= 1e9)
    large, middling = (SearchWork(n_tuples=n, n_samples=2000, n_cells=8) for n in (1e9, 5e8))
    asked = check_engine("auto", n_jobs=n_jobs)
    assert asked.reading_threads(large) == expected
    assert asked.reading_threads(middling) == asked.reading_threads(SOME_WORK) == (n_jobs or 1)
    assert asked.n_threads == (n_jobs or 1)  # of the engine, should it be the processor after all
