"""How often is a pair found? Beside PLINK's two tests of pairs, on the same tables.

    python -m benchmarks.genetics_lab.power [--tables 400] [--jobs 1] [--part ours|plink] [--only TEXT]

A line is a table of 100 variants (frequency 0.2 to 0.5, all pairs: 4950) in linkage equilibrium, with one pair that
interacts and five single causes. The pair explains a share of a number, or of the liability of cases (half of the
people). Its effect is a product of dosages, XOR (of carriers), dominant × recessive, recessive × recessive, or one of
heterozygotes. "found": p, adjusted for all pairs, is below 0.05: Holm's here, Bonferroni's of PLINK. "any false":
another pair is.

Ways: interplay by default ("auto"), by levels, by dosages (numbers: `--coding dosage --scale values`, which tests what
PLINK does); PLINK 1.9 `--epistasis` and, of cases, `--fast-epistasis boost`. Results are results/power_ours.json and
power_plink.json: PLINK's part needs the program, ours does not. What the files have is not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from benchmarks.compare_plink import find_plink
from benchmarks.genetics_lab.rows import means, options, run_cells

N, P = 1000, 100
PAIR = (20, 70)
LEVEL = 0.05 / (P * (P - 1) / 2)
SEED = 20261121

#: The effect of a pair of genotypes.
EFFECTS = {
    "product": lambda a, b: a * b,
    "XOR": lambda a, b: (a > 0) ^ (b > 0),
    "dominant x recessive": lambda a, b: (a > 0) & (b == 2),
    "recessive x recessive": lambda a, b: (a == 2) & (b == 2),
    "heterozygotes": lambda a, b: (a == 1) & (b == 1),
}
#: The share of the outcome that the interaction explains, beside what each of the two does alone.
SHARES = {"number": 0.035, "classes": 0.065}
LINES = [f"{outcome}, {effect}" for outcome in SHARES for effect in EFFECTS]
OURS: dict[str, dict[str, Any]] = {
    "auto": {"coding": "auto"},
    "levels": {"coding": "levels"},
    "dosage": {"coding": "dosage", "scale": "values"},
}
PLINK = {"epistasis": ["--epistasis"], "boost": ["--fast-epistasis", "boost"]}


def make_table(line: str, table: int) -> tuple[Any, Any]:
    """Return genotypes, and an outcome in which a pair interacts: what is left of the effect beside additive parts."""
    outcome, effect = line.split(", ")
    rng = np.random.default_rng([SEED, LINES.index(line), table])
    X = rng.binomial(2, rng.uniform(0.2, 0.5, P), (N, P))
    a, b = X[:, PAIR[0]], X[:, PAIR[1]]
    joint = np.asarray(EFFECTS[effect](a, b), dtype=np.float64)
    cells = np.column_stack([np.ones(N), a == 1, a == 2, b == 1, b == 2]).astype(np.float64)
    left = joint - cells @ np.linalg.lstsq(cells, joint, rcond=None)[0]
    share = SHARES[outcome]
    y = joint * np.sqrt(share) / max(left.std(), 1e-9)
    singles = rng.choice(np.setdiff1d(np.arange(P), PAIR), 5, replace=False)
    y += 0.2 * ((X[:, singles] - X[:, singles].mean(axis=0)) / X[:, singles].std(axis=0)).sum(axis=1)
    y += np.sqrt(1 - share) * rng.normal(size=N)
    return X, y if outcome == "number" else y > np.median(y)


def ours(cell: str, table: int) -> dict[str, float]:
    """Return whether interplay finds the pair, and another one."""
    warnings.simplefilter("ignore")
    line, way = cell.rsplit(", ", 1)
    X, y = make_table(line, table)
    found = interplay.interactions(X, y, n_jobs=1, **OURS[way]).significant
    pair = tuple(f"x{v}" for v in PAIR)
    return {"found": float(pair in found), "any false": float(any(other != pair for other in found))}


def plink(cell: str, table: int) -> dict[str, float]:
    """Return whether PLINK finds the pair, and another one."""
    from bed_reader import to_bed

    line, way = cell.rsplit(", ", 1)
    X, y = make_table(line, table)
    is_number = line.startswith("number")
    with tempfile.TemporaryDirectory() as scratch:
        properties = {
            "sid": [f"x{v}" for v in range(P)], "chromosome": ["1"] * P, "bp_position": list(range(1, P + 1)),
            "pheno": [f"{value:.6f}" for value in y] if is_number else np.where(y, "2", "1"),
        }  # fmt: skip
        to_bed(Path(scratch, "study.bed"), X.astype(np.int8), properties=properties)
        command = [str(find_plink()), "--bfile", "study", *PLINK[way], "--epi1", str(LEVEL), "--threads", "1"]
        subprocess.run([*command, "--allow-no-sex", "--out", "made"], cwd=scratch, check=True, capture_output=True)
        listed = Path(scratch, f"made.epi.{'qt' if is_number else 'cc'}").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split() for line in listed]
    pairs = [(int(row[1][1:]), int(row[3][1:])) for row in rows if float(row[-1]) < LEVEL]
    return {"found": float(PAIR in pairs), "any false": float(any(pair != PAIR for pair in pairs))}


def has(line: str, way: str) -> bool:
    """Say whether a way is there for the outcome of a line."""
    return {"dosage": "number" in line, "boost": "classes" in line}.get(way, True)


def main() -> None:
    parser = options(__doc__, tables=400)
    parser.add_argument("--part", choices=("ours", "plink"), default="ours")
    given: argparse.Namespace = parser.parse_args()
    if given.part == "plink" and find_plink() is None:
        raise SystemExit("PLINK 1.9 is not installed: apt-get install plink1.9")
    make, ways = (ours, OURS) if given.part == "ours" else (plink, PLINK)
    cells = [f"{line}, {way}" for line in LINES for way in ways if has(line, way)]
    print(json.dumps(means(run_cells(f"power_{given.part}", cells, make, given)), indent=1))


if __name__ == "__main__":
    main()
