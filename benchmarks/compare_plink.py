"""`interplay.interactions` beside PLINK 1.9's `--fast-epistasis boost`, on the same .bed files.

    python benchmarks/compare_plink.py [--variants 3000] [--people 4000] [--repeats 3] [--save FILE.json]

PLINK is called as a program (Debian: apt-get install plink1.9). First the statistics of 51,040 pairs are compared, with
missing and rare genotypes, neighbours in linkage disequilibrium, main effects and an interaction. PLINK prints six
digits. Then both search all pairs of a larger file on one thread, in turns; the smallest times count.

PLINK's degrees of freedom are (genotypes of one variant − 1)·(genotypes of the other − 1), also where combinations of
genotypes are empty; effective ones are fewer there, and p-values so differ. Its G² of tables whose fit has zeros are a
little too large: iterative proportional fitting ends early there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import interplay

#: Six digits are printed.
PRINTED = 6e-6


def find_plink() -> str | None:
    """The program, under one of its names."""
    return shutil.which("plink1.9") or shutil.which("plink")


def write_study(
    path: Path, n_people: int, n_variants: int, *, seed: int = 0, missing: float = 0.03, rare: bool = True
) -> None:
    """Genotypes with rare alleles, neighbours in linkage disequilibrium, gaps in every second variant."""
    from bed_reader import to_bed

    rng = np.random.default_rng(seed)
    is_rare = (np.arange(n_variants) % 4 == 0) & rare
    shares = np.where(is_rare, rng.uniform(0.01, 0.05, n_variants), rng.uniform(0.05, 0.5, n_variants))
    genotypes = rng.binomial(2, shares, size=(n_people, n_variants)).astype(np.float32)
    for v in range(1, n_variants, 10):
        genotypes[:, v] = np.where(rng.random(n_people) < 0.9, genotypes[:, v - 1], genotypes[:, v])
    both = (genotypes[:, 21] > 0) & (genotypes[:, 33] > 0)
    log_odds = 0.8 * genotypes[:, 5] + 0.6 * genotypes[:, 6] - 1 + 1.5 * both
    ill = rng.random(n_people) < 1 / (1 + np.exp(-log_odds))
    gaps = (rng.random((n_people, n_variants)) < missing) & (np.arange(n_variants) % 2 == 0)
    genotypes[gaps] = np.nan
    properties = {
        "pheno": np.where(ill, "2", "1"),
        "chromosome": ["1"] * n_variants,
        "bp_position": (1000 * np.arange(n_variants) + 1).tolist(),
        "sid": [f"v{v}" for v in range(n_variants)],
    }
    to_bed(path, genotypes, properties=properties)


def run_plink(program: str, bed: Path, *options: str) -> pd.DataFrame:
    """All tests that PLINK prints: SNP1, SNP2, STAT, DF, P."""
    out = bed.with_suffix(".plink")
    command = [program, "--bfile", str(bed.with_suffix("")), "--fast-epistasis", "boost", "--threads", "1"]
    command += ["--allow-no-sex", "--out", str(out), *options]
    subprocess.run(command, check=True, capture_output=True)
    return pd.read_csv(f"{out}.epi.cc", sep=r"\s+")


def compare_statistics(program: str, folder: Path) -> dict:
    """G² of all pairs of 320 variants, theirs and ours."""
    bed = folder / "all.bed"
    write_study(bed, 1500, 320)
    theirs = run_plink(program, bed, "--epi1", "1")
    study = interplay.genetics.read_bed(bed)
    ours = interplay.interactions(study, "phenotype", missing="omit", max_p=1, coding="levels").table
    ours[["SNP1", "SNP2"]] = ours["members"].to_list()
    both = ours.merge(theirs, on=["SNP1", "SNP2"], how="outer", indicator=True)
    assert (both["_merge"] == "both").all()
    difference = (both["chi2"] - both["STAT"]).abs()
    other = both[difference > PRINTED * both["STAT"].abs() + 1e-6]
    return {
        "pairs": len(both),
        "same within the printed digits": len(both) - len(other),
        "largest difference": float(difference.max()),
        "others": other[["SNP1", "SNP2", "chi2", "STAT", "df", "DF", "min_expected"]].to_dict("records"),
        "fewer degrees of freedom than PLINK's": int((both["df"] < both["DF"]).sum()),
        "more": int((both["df"] > both["DF"]).sum()),
    }


def compare_times(program: str, folder: Path, n_variants: int, n_people: int, repeats: int, missing: float) -> dict:
    """Seconds of the whole search on one thread, from file to list, the smallest of some."""
    bed = folder / "large.bed"
    write_study(bed, n_people, n_variants, missing=missing)
    plink, ours = [], []
    for _ in range(repeats):
        started = time.perf_counter()
        run_plink(program, bed)
        plink.append(time.perf_counter() - started)
        started = time.perf_counter()
        study = interplay.genetics.read_bed(bed)
        found = interplay.interactions(
            study, "phenotype", missing="omit", n_jobs=1, engine="cpu", progress=False, coding="levels"
        )
        ours.append(time.perf_counter() - started)
    return {
        "variants": n_variants,
        "people": n_people,
        "missing": missing,
        "pairs": found.n_tests,
        "significant": [list(members) for members in found.significant[:5]],
        "plink seconds": round(min(plink), 2),
        "interplay seconds": round(min(ours), 2),
        "times as fast": round(min(plink) / min(ours), 1),
    }


def main() -> None:
    """Compare, print, and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", type=int, default=3000)
    parser.add_argument("--people", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--save", type=Path, help="write the figures to this file, as JSON")
    options = parser.parse_args()
    program = find_plink()
    if program is None:
        raise SystemExit("PLINK is not there: apt-get install plink1.9")
    with tempfile.TemporaryDirectory() as folder:
        figures = {"statistics": compare_statistics(program, Path(folder))}
        print(json.dumps(figures["statistics"], indent=1))
        times = [
            compare_times(program, Path(folder), options.variants, options.people, options.repeats, missing)
            for missing in (0.0, 0.03)
        ]
    figures["times"] = times
    print(json.dumps(times, indent=1))
    if options.save is not None:
        options.save.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
