"""How long the CUDA engine takes, data on the host, best tuples included, and what a list costs beside the maxima.

Run on a machine with a GPU.

    python benchmarks/cuda_engine.py [--quick | --long] [--madelon FILE]

Madelon is taken from a .npz file with x and y, or where `fetch_madelon` has it or can get it; else a table like it.
Results go to benchmarks/results/cuda_<device>.json.
"""

from __future__ import annotations

import argparse
import time
from math import comb

import numpy as np

import interplay
from interplay.base.planes import BitPlanes, DiscreteCodes
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.search.engines.cuda import CudaEngine, cuda_devices
from interplay.search.tiles import make_tuple_tiles
from machine import write_result

#: Rows of the list.
N_ROWS = 50_000


def madelon(file: str | None) -> tuple[np.ndarray, np.ndarray, str]:
    if file is not None:
        with np.load(file) as data:
            return data["x"], data["y"], "Madelon"
    try:
        X, y = interplay.datasets.fetch_madelon()[:2]
        return np.asarray(X), np.asarray(y), "Madelon"
    except OSError:
        X, y, _ = interplay.datasets.make_madelon(random_state=0)
        return X, y, "like Madelon"


def packed(X: np.ndarray, y: np.ndarray, divisions: int = 1, n_contrast: int = 0) -> BitPlanes:
    codes = np.asarray(interplay.discretize(X, divisions=divisions, range_=0, random_state=0)[0])
    classes = DecisionClasses((y > y.min()).astype(np.int64), [0, 1])
    levels = np.full(X.shape[1], divisions + 1, dtype=np.int64)
    parts = [DiscreteCodes(np.ascontiguousarray(codes.T), levels)]
    if n_contrast:
        rng = np.random.default_rng(0)
        copies = np.stack([rng.permutation(codes[:, v % codes.shape[1]]) for v in range(n_contrast)])
        parts.append(DiscreteCodes(copies, np.full(n_contrast, divisions + 1, dtype=np.int64)))
    return make_bit_planes(parts, classes)


def random_planes(n_vars: int, like: BitPlanes) -> BitPlanes:
    """Balanced two-level noise, made as planes at once: codes would take a byte each."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**64, size=(n_vars, like.words.shape[1]), dtype=np.uint64)
    valid = np.zeros(like.words.shape[1] * 64, dtype=np.uint8)
    for start, size in zip(like.class_word_start[:-1], like.class_sizes, strict=True):
        valid[start * 64 : start * 64 + size] = 1
    words &= np.packbits(valid, bitorder="little").view(np.uint64)
    return BitPlanes(
        words=words,
        plane_start=np.arange(n_vars + 1),
        n_levels=np.full(n_vars, 2, dtype=np.int64),
        class_word_start=like.class_word_start,
        class_sizes=like.class_sizes,
        n_vars=n_vars,
    )


def measured(what: str, planes: BitPlanes, dimensions: int, repeats: int = 3) -> dict[str, object]:
    engine = CudaEngine()
    shape = vars(engine.tile_shape(dimensions))
    tiles = make_tuple_tiles(planes.n_levels, n_vars=planes.n_vars, dimensions=dimensions, **shape)
    seconds = []
    for _ in range(repeats):  # the first compiles the kernels
        began = time.perf_counter()
        engine.max_gains(planes, tiles, pseudocount=0.25)
        seconds.append(time.perf_counter() - began)
    best = min(seconds)
    entry = {
        "what": what,
        "dimensions": dimensions,
        "n_tuples": float(tiles.n_tuples.sum()),
        "seconds": round(best, 4),
        "first_call_seconds": round(seconds[0], 3),
        "tuples_per_second": float(f"{tiles.n_tuples.sum() / best:.3g}"),
    }
    print(f"{what:35s} {best:9.4f} s   {entry['tuples_per_second']:.3g} tuples/s", flush=True)
    return entry


def measured_discretizations(what: str, X: np.ndarray, y: np.ndarray, discretizations: int) -> dict[str, object]:
    """The whole call, as users have it."""
    began = time.perf_counter()
    found = interplay.max_information_gain(
        X, y, dimensions=5, divisions=1, discretizations=discretizations, random_state=0, engine="cuda"
    )
    seconds = time.perf_counter() - began
    n_tuples = float(comb(X.shape[1], 5)) * discretizations
    print(f"{what:35s} {seconds:9.4f} s   {n_tuples / seconds:.3g} tuples/s", flush=True)
    return {
        "what": what,
        "dimensions": 5,
        "n_tuples": n_tuples,
        "seconds": round(seconds, 2),
        "tuples_per_second": float(f"{n_tuples / seconds:.3g}"),
        "strongest": (np.argsort(-found.gain)[:12] + 1).tolist(),
    }


def measured_list(what: str, X: np.ndarray, y: np.ndarray, repeats: int = 7) -> dict[str, object]:
    """3D tuples above a threshold that leaves 50 000 rows, beside the maxima alone: engine calls, and whole calls."""
    best = interplay.interesting_tuples(X, y, dimensions=3, top=N_ROWS, top_by="all", engine="cuda")
    threshold = float(np.nextafter(best.value.min(), -np.inf))
    planes, engine = packed(X, y), CudaEngine()
    tiles = make_tuple_tiles(planes.n_levels, n_vars=planes.n_vars, dimensions=3, **vars(engine.tile_shape(3)))
    min_value = np.full(planes.n_vars, threshold)
    given = {"dimensions": 3, "engine": "cuda"}
    calls = {
        "maxima": lambda: engine.max_gains(planes, tiles, pseudocount=0.25),
        "list": lambda: engine.interesting_tuples(planes, tiles, pseudocount=0.25, min_value=min_value),
        "maxima, whole call": lambda: interplay.max_information_gain(X, y, **given),
        "list, whole call": lambda: interplay.interesting_tuples(X, y, min_gain=threshold, **given),
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):  # in turn, so that what else the machine does hits all of them
        for name, call in calls.items():
            began = time.perf_counter()
            found = call()
            seconds[name].append(time.perf_counter() - began)
    entry: dict[str, object] = {"what": what, "threshold": threshold, "n_rows": len(found)}
    entry["seconds"] = {name: round(min(taken), 4) for name, taken in seconds.items()}
    entry["times_as_long"] = round(min(seconds["list"]) / min(seconds["maxima"]), 2)
    print(f"{what:35s} {entry['n_rows']} rows: {entry['seconds']}", flush=True)
    return entry


def write(planes: BitPlanes, results: list[dict[str, object]], lists: list[dict[str, object]]) -> None:
    device = cuda_devices()[0]
    stem = device["name"].lower().replace("nvidia ", "").replace(" ", "_")
    write_result(f"cuda_{stem}", {"device": device, "n_samples": planes.n_samples, "results": results, "lists": lists})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out 5D and p = 1 000 000")
    parser.add_argument("--long", action="store_true", help="with 30 discretisations of 5D: minutes")
    parser.add_argument("--madelon", metavar="FILE", help="a .npz file with x and y")
    arguments = parser.parse_args()
    X, y, source = madelon(arguments.madelon)
    two = packed(X, y)
    results = [
        measured(f"3D {source}", two, 3),
        measured(f"3D {source}, 500 contrast", packed(X, y, n_contrast=500), 3),
        measured(f"4D {source}", two, 4),
        measured(f"4D {source}, three levels", packed(X, y, divisions=2), 4, repeats=2),
        measured("2D p = 100 000, noise", random_planes(100_000, two), 2, repeats=2),
    ]
    if not arguments.quick:
        results.append(measured("2D p = 1 000 000, noise", random_planes(1_000_000, two), 2, repeats=1))
        results.append(measured(f"5D {source}", two, 5, repeats=2))
    lists = [measured_list(f"3D {source}, list", X, y)]
    write(two, results, lists)
    if arguments.long:
        results.append(measured_discretizations(f"5D {source}, 30 discretisations", X, y, 30))
        write(two, results, lists)


if __name__ == "__main__":
    main()
