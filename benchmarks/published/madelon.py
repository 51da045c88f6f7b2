"""Madelon, of the NIPS 2003 feature selection challenge: 20 relevant of 500 variables, which are known.

    python benchmarks/published_pages.py madelon [--folder ../shared/data]

The 20 relevant variables are those that the MDFS paper (R Journal 2019) and later work agree on: five coordinates of a
cube and fifteen combinations and copies. Data come from `interplay.datasets.fetch_madelon`, or from a file madelon.npz
(x, y) in shared/data; without network and without it the script says where to put the files. Of the other NIPS 2003
sets (nips2003.py) the relevant variables are not published, so that finds cannot be counted.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from interplay.datasets import fetch_madelon

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

#: Numbered from 1, as published.
RELEVANT = {29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494}

#: The paper's lists, one discretisation into halves, Holm 0.05: true and false.
PAPER = {"t-test": (13, 0), "MDFS 1D": (13, 0), "MDFS 2D": (19, 0), "MDFS 3D": (20, 0)}


def data(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    file = folder / "madelon.npz"
    if not file.exists():
        return fetch_madelon()  # from its cache, or the network; else it says where to put the files
    kept = np.load(file, allow_pickle=False)
    return kept["x"], kept["y"].ravel()


def run(arguments: list[str]) -> tuple[dict[str, Any], str]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=SHARED, help="folder of madelon.npz")
    X, y = data(parser.parse_args(arguments).folder)
    rows = []
    calls: dict[str, dict[str, Any]] = {"default call": {}} | {f"dimensions={k}": {"dimensions": k} for k in (1, 2, 3)}
    for what, asked in calls.items():
        started = time.perf_counter()
        found = interplay.select(X, y, random_state=0, **asked)
        seconds = time.perf_counter() - started
        numbers = {int(v) + 1 for v in found.ranked}
        missed = sorted(RELEVANT - numbers)
        row = {"call": what, "true": len(numbers & RELEVANT), "false": len(numbers - RELEVANT), "missed": missed}
        rows.append({**row, "seconds": round(seconds, 2)})
        print(rows[-1], flush=True)
    lines = [
        "# Madelon",
        "",
        "2000 samples, 500 variables, 20 of them relevant, five only together. Holm's method at 0.05.",
        "",
        "| program | true of 20 | false | missed |",
        "|---|---|---|---|",
    ]
    for row in rows:
        missed = ", ".join(map(str, row["missed"])) or "–"
        lines.append(
            f"| **interplay**, {row['call']} ({row['seconds']} s) | {row['true']} | {row['false']} | {missed} |"
        )
    lines += [f"| {name} (R Journal 2019) | {n_true} | {n_false} | |" for name, (n_true, n_false) in PAPER.items()]
    lines += ["", "Variables are numbered from 1. Of the other NIPS 2003 sets no relevant variables are published."]
    return {"rows": rows, "paper": PAPER}, "\n".join(lines) + "\n"
