"""How fast is the processor's search, and what does the speed depend on?

    python benchmarks/rates.py [--only levels threads …] [--rival-tuples 6e6] [--picture docs/images/rates.png]

Whole calls on Madelon-like data, each setting in a process of its own: seconds of processor time (of the clock where
there are several threads; the least of a few repeats), time per tuple, peak memory beyond the data. Beside it PyPI's
`mdfs` 1.5.2 on the same data right after, where it can do the same and has no more tuples than --rival-tuples; and the
floor derived, for an older core and an older form of the bound, from the operations of counting and bounding.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from compare_mdfs import time_rival
from interplay.search.engines.cpu import CpuEngine, simd_levels
from machine import write_result

PLAIN = {"n_samples": 2000, "levels": 2, "classes": 2, "share": 0.5, "threads": 1, "simd_level": "avx2"}

#: Nanoseconds per tuple of two levels, two classes and 2000 samples, as derived for one Zen 3 core with AVX2 and a
#: bound of more operations than it now has: a Zen 4 core goes below.
FLOOR = {3: 4.8, 4: 8.6, 5: 16.7}

#: What is varied, and how.
GROUPS: dict[str, list[dict[str, Any]]] = {
    "dimensions and variables": [
        *({"dimensions": 2, "n_vars": p} for p in (200, 500, 2000)),
        *({"dimensions": 3, "n_vars": p} for p in (100, 200, 500)),
        *({"dimensions": 4, "n_vars": p} for p in (60, 100, 200)),
        *({"dimensions": 5, "n_vars": p} for p in (40, 60, 80)),
    ],
    "samples": [{"dimensions": 3, "n_vars": 200, "n_samples": n} for n in (500, 1000, 8000)],
    "levels": [
        *({"dimensions": 3, "n_vars": p, "levels": 3} for p in (150, 300)),
        *({"dimensions": 3, "n_vars": 150, "levels": c} for c in (4, 5, 8)),
    ],
    "classes": [{"dimensions": 3, "n_vars": 150, "classes": c} for c in (3, 5)],
    "share": [{"dimensions": 3, "n_vars": 200, "share": share} for share in (0.3, 0.1)],
    "threads": [{"dimensions": 3, "n_vars": 500, "threads": n} for n in (1, 2)],
    "simd_level": [{"dimensions": 3, "n_vars": 300, "simd_level": level} for level in simd_levels()],
}


def make_data(setting: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    x, y, _ = interplay.datasets.make_madelon(setting["n_samples"], setting["n_vars"], random_state=1)
    rng = np.random.default_rng(0)
    if setting["classes"] > 2:
        y = np.where(rng.random(len(y)) < 0.5, y, rng.integers(0, setting["classes"], len(y)))
    elif setting["share"] < 0.5:
        y = np.where(rng.random(len(y)) < 2 * setting["share"], y, 0)
    return x, y


def measure(setting: dict[str, Any]) -> dict[str, float]:
    """Time one setting, here."""
    x, y = make_data(setting)
    clock = time.process_time if setting["threads"] == 1 else time.perf_counter
    before = forget_peak()
    seconds: list[float] = []
    while len(seconds) < 3 or (len(seconds) < 15 and sum(seconds) < 1):
        started = clock()
        interplay.max_information_gain(
            x, y, dimensions=setting["dimensions"], divisions=setting["levels"] - 1, discrete="none",
            engine=CpuEngine(n_threads=setting["threads"], simd_level=setting["simd_level"]), n_jobs=setting["threads"],
        )  # fmt: skip
        seconds.append(clock() - started)
    return {"seconds": min(seconds), "peak_mib": peak_mib() - before}


def peak_mib() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says includes the peak of the process that started this one
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget_peak() -> float:
    """Start a new peak where the system can (Linux: making the data took memory too), and return it as it is now."""
    forget = Path("/proc/self/clear_refs")
    if forget.exists():
        ctypes.CDLL(None).malloc_trim(0)  # what is free must not serve the search unseen
        forget.write_text("5")
    return peak_mib()


def measure_apart(setting: dict[str, Any]) -> dict[str, float]:
    """Time one setting in a process of its own, so that its peak of memory is its own."""
    command = [sys.executable, __file__, "--one", json.dumps(setting)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def has_rival(setting: dict[str, Any], most_tuples: float) -> bool:
    """`mdfs` knows two classes only; threads and SIMD levels are ours."""
    few = math.comb(setting["n_vars"], setting["dimensions"]) <= most_tuples
    return few and setting["classes"] == 2 and setting["threads"] == 1 and setting["simd_level"] == "avx2"


def run_rival(setting: dict[str, Any]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        x, y = make_data(setting)
        np.savez(data, x=x, y=y)
        repeats = 3 if setting["dimensions"] < 3 else 1
        return float(time_rival(data, setting["dimensions"], repeats, setting["levels"] - 1)["seconds"])


def run_setting(group: str, setting: dict[str, Any], most_tuples: float) -> dict[str, Any]:
    n_tuples = math.comb(setting["n_vars"], setting["dimensions"])
    row = {"group": group, **setting, **measure_apart(setting)}
    if has_rival(setting, most_tuples):
        row["mdfs_seconds"] = run_rival(setting)
        # Once more after the rival: the machine may have been busier before.
        row["seconds"] = min(row["seconds"], measure_apart(setting)["seconds"])
        row["ratio"] = row["mdfs_seconds"] / row["seconds"]
    row["ns_per_tuple"] = row["seconds"] / n_tuples * 1e9
    is_plain = all(setting[key] == value for key, value in PLAIN.items())
    if is_plain and setting["dimensions"] in FLOOR:
        row["times_the_floor"] = row["ns_per_tuple"] / FLOOR[setting["dimensions"]]
    return row


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    colors = {2: "C0", 3: "C1", 4: "C2", 5: "C3"}
    for k, color in colors.items():
        of_k = [row for row in rows if row["group"] == "dimensions and variables" and row["dimensions"] == k]
        p = [row["n_vars"] for row in of_k]
        left.plot(p, [row["ns_per_tuple"] for row in of_k], "o-", color=color, label=f"{k}D")
        rival = [row for row in of_k if "mdfs_seconds" in row]
        times = [row["ns_per_tuple"] * row["ratio"] for row in rival]
        left.plot([row["n_vars"] for row in rival], times, "s--", color=color, alpha=0.5)
        if k in FLOOR:
            left.plot([min(p), max(p)], [FLOOR[k]] * 2, ":", color=color)
    left.set(xscale="log", yscale="log", xlabel="variables", ylabel="nanoseconds per tuple, one thread, AVX2")
    left.legend(title="● interplay\n■ mdfs 1.5.2\n··· floor", frameon=False, loc="center right")
    left.set_title("Time per tuple, whole calls, 2000 samples")

    compared = [row for row in rows if "ratio" in row]
    labels = [_label(row) for row in compared]
    places = np.arange(len(compared))[::-1]
    right.barh(places, [row["ratio"] for row in compared], color=[colors[row["dimensions"]] for row in compared])
    for place, row in zip(places, compared, strict=True):
        right.text(row["ratio"], place, f" {row['ratio']:.0f}", va="center", fontsize=8)
    right.set_yticks(places, labels, fontsize=8)
    right.margins(x=0.12, y=0.01)
    right.set_title("Times as fast as mdfs 1.5.2, one thread each")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    print("written:", path)


def _label(row: dict[str, Any]) -> str:
    parts = [f"{row['dimensions']}D, {row['n_vars']} variables"]
    if row["n_samples"] != PLAIN["n_samples"]:
        parts.append(f"{row['n_samples']} samples")
    if row["levels"] != PLAIN["levels"]:
        parts.append(f"{row['levels']} levels")
    if row["share"] != PLAIN["share"]:
        parts.append(f"classes {row['share']:.0%} / {1 - row['share']:.0%}")
    return ", ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--rival-tuples", type=float, default=6e6)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one)))
        return
    rows = []
    for group in arguments.only:
        for varied in GROUPS[group]:
            setting = PLAIN | varied
            if setting["simd_level"] not in simd_levels():
                continue
            rows.append(run_setting(group, setting, arguments.rival_tuples))
            row = rows[-1]
            ratio = f", {row['ratio']:.0f} times as fast as mdfs" if "ratio" in row else ""
            floor = f", {row['times_the_floor']:.1f} times the floor" if "times_the_floor" in row else ""
            shown = {key: row[key] for key in ("dimensions", "n_vars", *PLAIN)}
            print(f"{shown}: {row['ns_per_tuple']:.2f} ns, {row['peak_mib']:.0f} MiB{ratio}{floor}", flush=True)
    print("written:", write_result("rates", {"rows": rows, "floor_ns": FLOOR}).name)
    if arguments.picture:
        draw(rows, arguments.picture)


if __name__ == "__main__":
    main()
