"""`interplay.interactions` of a number beside PLINK 1.9's `--epistasis`, on the same .bed files.

    python benchmarks/plink_epistasis.py [--variants 2000] [--people 2000] [--repeats 3] [--save]

PLINK is called as a program (Debian: apt-get install plink1.9). It regresses the number on two dosages and their
product. `coding="dosage"` with `scale="values"` tests the same: the coefficient and the statistic of every pair are
compared within the six digits that PLINK prints. PLINK's p-value takes the statistic for χ², ours for F with residual
degrees of freedom, so that ours is a little larger. PLINK's p-value is compared with χ² of our statistic.

Then both search all pairs of a larger file on one thread, in turns; the smallest times count. Processor seconds are
compared too, which others on the machine change less. interplay is measured with dosages on ranks and values and with
its default, nine cells on ranks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import interplay
from compare_plink import PRINTED, find_plink
from machine import write_result

#: p-values are printed with four digits, and PLINK's χ² differs by up to 0.16 % where they are below 1e-5.
PRINTED_P = 2e-3

CODINGS: dict[str, dict[str, Any]] = {
    "dosage, values": {"coding": "dosage", "scale": "values"},
    "dosage, ranks": {"coding": "dosage"},
    "levels, ranks (default)": {},
}


def write_trait(path: Path, n_people: int, n_variants: int, *, seed: int = 0, missing: float = 0.0) -> None:
    """Genotypes of shares 0.05 to 0.5, and a number with two effects and an interaction as the phenotype."""
    from bed_reader import to_bed

    rng = np.random.default_rng(seed)
    shares = rng.uniform(0.05, 0.5, n_variants)
    genotypes = rng.binomial(2, shares, size=(n_people, n_variants)).astype(np.float32)
    trait = 0.3 * genotypes[:, 5] - 0.2 * genotypes[:, 6] + 0.5 * genotypes[:, 21] * genotypes[:, 33]
    trait = np.round(trait + rng.normal(size=n_people), 6)
    genotypes[(rng.random(genotypes.shape) < missing) & (np.arange(n_variants) % 2 == 0)] = np.nan
    properties = {
        "pheno": [f"{value:.6f}" for value in trait],
        "chromosome": ["1"] * n_variants,
        "bp_position": (1000 * np.arange(n_variants) + 1).tolist(),
        "sid": [f"v{v}" for v in range(n_variants)],
    }
    to_bed(path, genotypes, properties=properties)


def run_plink(program: str, bed: Path, *options: str) -> pd.DataFrame:
    """All tests that PLINK prints: SNP1, SNP2, BETA_INT, STAT, P."""
    out = bed.with_suffix(".plink")
    command = [program, "--bfile", str(bed.with_suffix("")), "--epistasis", "--threads", "1", "--allow-no-sex"]
    command += ["--keep-allele-order"]  # else the dosage of an allele that is not the rarer one is turned round
    subprocess.run([*command, "--out", str(out), *options], check=True, capture_output=True)
    return pd.read_csv(f"{out}.epi.qt", sep=r"\s+")


def both_tests(program: str, bed: Path) -> pd.DataFrame:
    """All pairs of a small file, theirs and ours in one row."""
    theirs = run_plink(program, bed, "--epi1", "1")
    study = interplay.genetics.read_bed(bed)
    ours = interplay.interactions(study, "phenotype", missing="omit", coding="dosage", scale="values", max_p=1).table
    ours[["SNP1", "SNP2"]] = ours["members"].to_list()
    return ours.merge(theirs, on=["SNP1", "SNP2"], how="outer", indicator=True)


def same_digits(both: pd.DataFrame) -> pd.DataFrame:
    """Whether coefficient, statistic and p-value of each pair agree in the digits that PLINK prints."""
    p_of_chi2 = stats.chi2.sf(both["f"], 1)
    return pd.DataFrame(
        {
            "effect": np.isclose(both["effect"], both["BETA_INT"], rtol=PRINTED, atol=1e-9),
            "statistic": np.isclose(both["f"], both["STAT"], rtol=PRINTED, atol=1e-9),
            "p of χ²": np.isclose(p_of_chi2, both["P"], rtol=PRINTED_P, atol=6e-5 * (both["P"] > 1e-3)),
        }
    )


def compare_statistics(program: str, folder: Path, missing: float) -> dict[str, Any]:
    """Compare all pairs of 300 variants."""
    bed = folder / "all.bed"
    write_trait(bed, 1500, 300, missing=missing)
    both = both_tests(program, bed)
    there = both[both["_merge"] == "both"]
    ratio = there["p_value"] / stats.chi2.sf(there["f"], 1)
    return {
        "missing": missing,
        "pairs": len(both),
        "in both": len(there),
        "same within the printed digits": same_digits(there).sum().to_dict(),
        "largest difference of coefficients": float((there["effect"] - there["BETA_INT"]).abs().max()),
        "p of F over p of χ²": [float(ratio.min()), float(ratio.max())],
    }


def clocks() -> np.ndarray:
    """Seconds that passed, and those of the processor for this program and for programs that it called."""
    return np.array([time.perf_counter(), sum(os.times()[:4])])


def compare_times(program: str, folder: Path, n_variants: int, n_people: int, repeats: int) -> dict[str, Any]:
    """Seconds of the whole search on one thread, from file to list, the smallest of some."""
    bed = folder / "large.bed"
    write_trait(bed, n_people, n_variants)
    times: dict[str, list[np.ndarray]] = {name: [] for name in ("PLINK", *CODINGS)}
    found = {}
    for _ in range(repeats):
        started = clocks()
        run_plink(program, bed)
        times["PLINK"].append(clocks() - started)
        for name, settings in CODINGS.items():
            started = clocks()
            study = interplay.genetics.read_bed(bed)
            found[name] = interplay.interactions(
                study, "phenotype", missing="omit", n_jobs=1, engine="cpu", progress=False, **settings
            )
            times[name].append(clocks() - started)
    least = {name: np.min(each, axis=0) for name, each in times.items()}
    ratios = {name: least["PLINK"] / least[name] for name in CODINGS}
    return {
        "variants": n_variants,
        "people": n_people,
        "pairs": n_variants * (n_variants - 1) // 2,
        "seconds": {name: round(float(wall), 3) for name, (wall, _) in least.items()},
        "processor seconds": {name: round(float(processor), 3) for name, (_, processor) in least.items()},
        "times as fast": {name: round(float(wall), 1) for name, (wall, _) in ratios.items()},
        "times as fast, processor": {name: round(float(processor), 1) for name, (_, processor) in ratios.items()},
        "significant": {name: [list(members) for members in one.significant[:5]] for name, one in found.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/plink_epistasis.json")
    options = parser.parse_args()
    program = find_plink()
    if program is None:
        raise SystemExit("PLINK is not there: apt-get install plink1.9")
    with tempfile.TemporaryDirectory() as folder:
        figures: dict[str, Any] = {
            "statistics": [compare_statistics(program, Path(folder), missing) for missing in (0.0, 0.03)],
            "times": compare_times(program, Path(folder), options.variants, options.people, options.repeats),
        }
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    if options.save:
        print("written:", write_result("plink_epistasis", figures).name)


if __name__ == "__main__":
    main()
