"""`interactions(X, y)` on simulated quantitative traits that others made and judged their methods by.

    python benchmarks/published_pages.py listopad [--folder ../shared/data/listopad]

The sets are of Listopad, Renjith and Peng, "Evaluation of epistasis detection methods for quantitative phenotypes"
(repository staslist/Epistasis_Review): 1000 SNPs × 1000 people by EpiGEN, a very skewed trait, one to eight pairs that
interact. They are not part of this project, and nothing is measured without the folder. Each set is a file .npz with
`X` (0, 1, 2), `y` and `pairs`, the true ones.

The paper's score: a listed pair is true only if it is exactly a true pair; F1 of each set, averaged over sets. The call
is the plain default: nothing is chosen after looking.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import interplay

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "listopad"

#: True pairs, false pairs and mean F1 of the outputs that the authors stored, of all forty sets with 112 true pairs.
PEERS = {
    "PLINK --epistasis": (28, 18_037, 0.012),
    "MatrixEpistasis": (28, 19_145, 0.011),
    "REMMA": (28, 25_546, 0.003),
    "EpiSNP": (8, 28_626, 0.000),
    "MIDESP": (43, 10_301, 0.021),
    "QMDR": (16, 19_984, 0.002),
    "MDR, told where to cut": (67, 19_933, 0.007),
    "BOOST, told where to cut": (10, 1, 0.105),
}


def f1(n_true: int, n_false: int, n_pairs: int) -> float:
    """2·true / (listed + true pairs there are): the harmonic mean of precision and recall, 0 where nothing is true.

    >>> f1(1, 1, 2)
    0.5
    """
    return 2 * n_true / (n_true + n_false + n_pairs)


def judged(significant: np.ndarray, pairs: np.ndarray) -> dict[str, Any]:
    """True and false pairs among the significant ones."""
    truth = {frozenset(pair) for pair in pairs.tolist()}
    found = {frozenset(pair) for pair in significant.tolist()}
    n_true, n_false = len(found & truth), len(found - truth)
    return {"pairs": len(truth), "true": n_true, "false": n_false, "f1": round(f1(n_true, n_false, len(truth)), 4)}


def one_set(file: Path) -> dict[str, Any]:
    kept = np.load(file, allow_pickle=False)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = interplay.interactions(kept["X"], kept["y"])
    seconds = time.perf_counter() - started
    row = judged(found.tested.tuples[found.is_significant], kept["pairs"])
    words = found.table.loc[found.table["significant"], "scales"].value_counts().to_dict()
    return {"set": file.stem, **row, "scales": words, "seconds": round(seconds, 2)}


def page(result: dict[str, Any]) -> str:
    """The page of the benchmark: peers and every set."""
    total = result["total"]
    lines = [
        "# Quantitative epistasis: Listopad, Renjith and Peng",
        "",
        "Forty simulated sets of 1000 SNPs × 1000 people (EpiGEN; repository staslist/Epistasis_Review), a very skewed",
        "trait, 112 pairs that interact. A listed pair counts only if it is exactly a true pair. Figures of the",
        "peers are the outputs that the authors stored, of all forty sets; ours are of the sets that were at hand.",
        "",
        "| program | sets | true pairs | false pairs | mean F1 |",
        "|---|---|---|---|---|",
        f"| **interplay**, default call | {total['sets']} ({total['pairs']} pairs) "
        f"| {total['true']} | {total['false']} | {total['mean f1']:.3f} |",
    ]
    for name, (n_true, n_false, mean_f1) in PEERS.items():
        lines.append(f"| {name} | 40 (112 pairs) | {n_true} | {n_false:,} | {mean_f1:.3f} |")
    lost = [row["set"] for row in result["sets"] if row["true"] == 0]
    missed = total["pairs"] - total["true"]
    lines += [
        "",
        f"**Losses.** {missed} of {total['pairs']} pairs are missed; nothing is found in {len(lost)} sets: "
        f"{', '.join(lost) or 'none'}.",
        "Multiplicative pairs are additive in the logarithm of the trait: an interaction on the raw scale only, which",
        "ranks do not list. Pure recessive sets rest on one to four people. MDR, told where to cut the trait, lists",
        "more true pairs, among 19,933 false ones.",
        "",
        "| set | pairs | true | false | F1 | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["sets"]:
        cells = (row["set"], row["pairs"], row["true"], row["false"], f"{row['f1']:.2f}", row["seconds"])
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def run(arguments: list[str]) -> tuple[dict[str, Any], str]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args(arguments)
    files = sorted(given.folder.glob("*.npz"))
    if not files:
        raise SystemExit(
            f"no sets in {given.folder}: clone staslist/Epistasis_Review and store each set as .npz with X "
            "(people × SNPs), y and pairs (column numbers)"
        )
    rows = []
    for file in files:
        rows.append(one_set(file))
        print(rows[-1], flush=True)
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in ("pairs", "true", "false")}
    total |= {"sets": len(rows), "mean f1": round(float(np.mean([row["f1"] for row in rows])), 4)}
    result = {"total": total, "sets": rows, "peers of forty sets": PEERS}
    return result, page(result)
