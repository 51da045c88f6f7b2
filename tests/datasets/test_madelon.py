import hashlib
import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

import reference
from interplay.datasets import fetch_madelon, make_madelon
from interplay.datasets import madelon as madelon_files
from shared_data import SHARED, needs_shared

# --- make_madelon ---------------------------------------------------------------------------------------------


def fingerprint(X, y):
    return hashlib.sha256(X.astype("<i2").tobytes() + y.tobytes()).hexdigest()


def test_table_looks_like_the_original():
    X, y, _ = make_madelon()
    assert X.shape == (2000, 500)
    assert X.dtype == np.int16
    assert y.sum() == 1000
    assert set(y.tolist()) == {0, 1}
    assert X.min() >= 0
    assert X.max() <= 999
    assert 470 < X.mean(axis=0).min() < X.mean(axis=0).max() < 530
    assert 1 < X.std(axis=0).min() < X.std(axis=0).max() < 150
    assert X.flags.c_contiguous


def test_the_same_seed_gives_the_same_table_everywhere():
    X, y, _ = make_madelon(200, 40, random_state=7)
    assert fingerprint(X, y) == "a614b3d1bf9962e1051303379c3ef9b3a9822a42f3768d998ae5e54b837cb261"
    again = make_madelon(200, 40, random_state=7)
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])
    assert not np.array_equal(X, make_madelon(200, 40, random_state=8)[0])
    assert not np.array_equal(make_madelon(200, 40, random_state=None)[0], make_madelon(200, 40, random_state=None)[0])


def test_truth_is_consistent():
    X, _, truth = make_madelon(1000, 60, n_informative=4, n_redundant=10, n_repeated=7, random_state=3)
    assert len(truth.relevant) == 14
    assert len(truth.informative) == 4
    assert len(truth.redundant) == 10
    assert len(truth.repeated) == 7
    assert set(truth.relevant) == set(truth.informative) | set(truth.redundant)
    assert not set(truth.informative) & set(truth.redundant)
    assert set(truth.repeated) <= set(truth.redundant)
    assert np.array_equal(truth.relevant, np.flatnonzero(truth.kind != "noise"))
    assert np.array_equal(truth.repeated, np.flatnonzero(truth.copy_of >= 0))
    sources = truth.copy_of[truth.repeated]
    assert set(truth.kind[sources]) <= {"informative", "combined"}
    correlation = np.corrcoef(X.T.astype(float))
    assert (correlation[truth.repeated, sources] > 0.98).all()
    # A combination is a weighted sum of the informative columns, up to rounding.
    basis = np.column_stack([X[:, truth.informative], np.ones(len(X))]).astype(float)
    for column in np.flatnonzero(truth.kind == "combined"):
        target = X[:, column].astype(float)
        residual = target - basis @ np.linalg.lstsq(basis, target, rcond=None)[0]
        assert residual.std() < 0.1 * target.std()
    noise = np.flatnonzero(truth.kind == "noise")
    assert np.abs(np.triu(correlation[np.ix_(noise, noise)], 1)).max() < 0.2


def found_by_gain(X, y, columns, dimensions):
    """How many columns stand out among all of X, though only tuples inside `columns` are searched."""
    codes = [
        reference.discretize(X[:, v].tolist(), variable=0, discretization=0, divisions=1, range_=0, seed=0)
        for v in columns
    ]
    df = 2 ** (dimensions - 1)
    best = reference.max_information_gain([codes], [2] * len(codes), y.tolist(), 2, dimensions)
    gains = np.array([per_df[df].gain for per_df in best])
    n_vars = X.shape[1]
    # Bonferroni over the variables and over the tuples each of them is in.
    n_tests = n_vars * [1, n_vars - 1, (n_vars - 1) * (n_vars - 2) // 2][dimensions - 1]
    return int((chi2.sf(2 * np.log(2) * gains, df) * n_tests < 0.05).sum())


def test_more_dimensions_find_more_of_it():
    X, y, truth = make_madelon(random_state=1)
    alone, in_pairs, in_triples = (found_by_gain(X, y, truth.relevant, k) for k in (1, 2, 3))
    assert 0 < alone < in_pairs < in_triples == 20


@pytest.mark.parametrize("seed", range(5))
def test_one_informative_variable_says_nothing_alone(seed):
    X, y, truth = make_madelon(4096, 5, n_redundant=0, flip_y=0, class_sep=3, random_state=seed)
    assert found_by_gain(X, y, truth.informative, 1) < 5


@pytest.mark.parametrize("n_informative", [1, 2, 3])
def test_every_coordinate_of_a_small_cube_matters(n_informative):
    for seed in range(10):
        X, y, truth = make_madelon(256, 4, n_informative, 0, flip_y=0, class_sep=6, random_state=seed)
        # With clouds this far apart a sample's corner can be read off.
        sides = X[:, truth.informative] > np.median(X[:, truth.informative], axis=0)
        corners = {}
        for row, label in zip(sides.tolist(), y.tolist(), strict=True):
            assert corners.setdefault(tuple(row), label) == label
        assert len(corners) == 2**n_informative
        for i in range(n_informative):
            assert any(label != corners[(*c[:i], not c[i], *c[i + 1 :])] for c, label in corners.items())


def test_flipped_labels_are_counted_and_balanced():
    clean, flipped = (make_madelon(1000, 20, flip_y=share, random_state=2)[1] for share in (0, 0.1))
    assert (clean != flipped).sum() == 100
    assert clean.sum() == flipped.sum() == 500


@pytest.mark.parametrize("n_samples", [2, 7, 33, 101])
def test_classes_differ_by_at_most_one_sample(n_samples):
    _, y, _ = make_madelon(n_samples, 20)
    assert abs(2 * int(y.sum()) - n_samples) <= 1


# --- fetch_madelon --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def madelon():
    with np.load(SHARED / "data" / "madelon.npz") as stored:
        return stored["x"], stored["y"]


@pytest.fixture
def site(tmp_path):
    """A web server and the folder it serves: (address, folder)."""
    folder = tmp_path / "site"
    folder.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()
    thread.join()


def write_as_uci(folder, X, y):
    np.savetxt(folder / madelon_files.DATA_FILE, X, fmt="%d", newline=" \n")
    np.savetxt(folder / madelon_files.LABEL_FILE, 2 * y.astype(int) - 1, fmt="%d")


def write_as_openml(address, folder, X, y):
    description = {"data_set_description": {"name": "madelon", "url": f"{address}/madelon.arff"}}
    (folder / "1485").write_text(json.dumps(description))
    header = ["% a comment", "@relation madelon", *(f"@attribute V{v} numeric" for v in range(1, 501))]
    header += ["@attribute Class {1,2}", "@DATA"]
    # The training samples first, then those of the challenge's validation set.
    rows = np.column_stack([X, y.astype(int) + 1])
    rows = np.vstack([rows, rows[:600]])
    np.savetxt(folder / "madelon.arff", rows, fmt="%d", delimiter=",", header="\n".join(header), comments="")


@pytest.fixture
def no_sources():
    # Nobody listens on port 9 here; a refused connection looks like any other lack of a network.
    return [(madelon_files._from_uci, "http://127.0.0.1:9/MADELON")]


@needs_shared
def test_fetched_from_uci_then_from_the_cache(site, madelon, tmp_path, no_sources):
    address, folder = site
    write_as_uci(folder, *madelon)
    cache = tmp_path / "cache" / "deeper"
    sources = [*no_sources, (madelon_files._from_uci, address)]
    for sources_now in (sources, no_sources):
        X, y = fetch_madelon(cache_dir=cache, _sources=sources_now)
        assert X.dtype == np.int16
        assert y.dtype == np.uint8
        assert np.array_equal(X, madelon[0])
        assert np.array_equal(y, madelon[1])
    assert sorted(path.name for path in cache.iterdir()) == [madelon_files.DATA_FILE, madelon_files.LABEL_FILE]


@needs_shared
def test_fetched_from_openml_when_uci_is_down(site, madelon, tmp_path, no_sources):
    address, folder = site
    write_as_openml(address, folder, *madelon)
    X, y = fetch_madelon(cache_dir=tmp_path, _sources=[*no_sources, (madelon_files._from_openml, f"{address}/1485")])
    assert np.array_equal(X, madelon[0])
    assert np.array_equal(y, madelon[1])


@needs_shared
def test_files_put_there_by_hand_are_used(madelon, tmp_path, no_sources, monkeypatch):
    write_as_uci(tmp_path, *madelon)
    monkeypatch.setenv("INTERPLAY_DATA", str(tmp_path))
    X, _ = fetch_madelon(_sources=no_sources)
    assert np.array_equal(X, madelon[0])


@needs_shared
@pytest.mark.parametrize("damage", ["one value", "one label", "cut off", "web page", "empty", "huge value"])
def test_wrong_data_are_refused_and_not_kept(damage, site, madelon, tmp_path):
    address, folder = site
    X, y = (array.copy() for array in madelon)
    if damage == "one value":
        X[17, 3] += 1
    if damage == "one label":
        y[5] ^= 1
    write_as_uci(folder, X, y)
    data = folder / madelon_files.DATA_FILE
    if damage == "cut off":
        data.write_bytes(data.read_bytes()[:-1000])
    if damage == "web page":
        data.write_text("<html>Please log in</html>")
    if damage == "empty":
        data.write_text("")
    if damage == "huge value":
        data.write_text(data.read_text().replace("485", "99485", 1))
    cache = tmp_path / "cache"
    with pytest.raises(ConnectionError, match="by hand") as caught:
        fetch_madelon(cache_dir=cache, _sources=[(madelon_files._from_uci, address)])
    assert "\n" not in str(caught.value)
    assert not cache.exists()
    # Mended at the source, it is fetched: nothing wrong was remembered.
    write_as_uci(folder, *madelon)
    assert np.array_equal(fetch_madelon(cache_dir=cache, _sources=[(madelon_files._from_uci, address)])[0], madelon[0])


@needs_shared
def test_damaged_cache_is_replaced_or_reported(site, madelon, tmp_path, no_sources):
    address, folder = site
    write_as_uci(folder, *madelon)
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / madelon_files.DATA_FILE).write_text("1 2 3\n")
    (cache / madelon_files.LABEL_FILE).write_text("1\n")
    with pytest.raises(ConnectionError, match="its shape is"):
        fetch_madelon(cache_dir=cache, _sources=no_sources)
    fetch_madelon(cache_dir=cache, _sources=[(madelon_files._from_uci, address)])
    assert np.array_equal(fetch_madelon(cache_dir=cache, _sources=no_sources)[0], madelon[0])


@needs_shared
def test_cache_that_cannot_be_written_gives_a_warning(site, madelon, tmp_path):
    address, folder = site
    write_as_uci(folder, *madelon)
    (tmp_path / "file").write_text("in the way of a folder")
    with pytest.warns(UserWarning, match="set cache_dir"):
        X, _ = fetch_madelon(cache_dir=tmp_path / "file" / "cache", _sources=[(madelon_files._from_uci, address)])
    assert np.array_equal(X, madelon[0])


def test_offline_message_is_one_line_and_says_what_to_do(tmp_path, no_sources):
    with pytest.raises(OSError, match="could not be fetched") as caught:
        fetch_madelon(cache_dir=tmp_path, _sources=no_sources)
    message = str(caught.value)
    assert "\n" not in message
    for part in (madelon_files.DATA_FILE, madelon_files.LABEL_FILE, str(tmp_path), "by hand"):
        assert part in message


def test_openml_answers_that_make_no_sense_are_reported(site, tmp_path):
    address, folder = site
    for answer in ("not json", "{}", json.dumps({"data_set_description": {"url": f"{address}/missing"}})):
        (folder / "1485").write_text(answer)
        with pytest.raises(ConnectionError, match="could not be fetched"):
            fetch_madelon(cache_dir=tmp_path, _sources=[(madelon_files._from_openml, f"{address}/1485")])


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x/cache"}, "/x/cache/interplay"),
        ("linux", {}, "/home/me/.cache/interplay"),
        ("darwin", {}, "/home/me/Library/Caches/interplay"),
        ("win32", {"LOCALAPPDATA": "/x/local"}, "/x/local/interplay"),
        ("win32", {}, "/home/me/AppData/Local/interplay"),
        ("linux", {"INTERPLAY_DATA": "/x/data"}, "/x/data"),
    ],
)
def test_cache_folder_follows_the_platform(platform, variables, expected, monkeypatch):
    for name in ("INTERPLAY_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(madelon_files.sys, "platform", platform)
    monkeypatch.setattr(madelon_files.Path, "home", lambda: Path("/home/me"))
    assert madelon_files._cache_folder(None) == Path(expected)
    assert madelon_files._cache_folder("/elsewhere") == Path("/elsewhere")
