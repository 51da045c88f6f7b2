"""R/qtl's `hyper` (Sugiyama and others, 2001): blood pressure of 250 backcross mice, 174 markers; scantwo and ours.

    python benchmarks/published_pages.py hyper

Needs R with the package qtl (Debian: apt-get install r-cran-qtl), which has the data; without it the script says so.
scantwo is run as a black box at the markers (Haley–Knott regression, after imputation of missing genotypes by
fill.geno's most likely ones, so that both programs see one table), with permutations for its thresholds. Ours:
`interactions(coding="levels")` of the same table, Holm's method over all pairs of markers on different chromosomes,
and `select`.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

import interplay

_R = r"""
suppressMessages(library(qtl)); data(hyper); set.seed(1)
cross <- fill.geno(hyper, method="argmax", error.prob=0.01)
chromosomes <- names(cross$geno)[sapply(cross$geno, class) == "A"]
cross <- subset(cross, chr=chromosomes)
geno <- pull.geno(cross); pos <- sapply(cross$geno, function(g) list(g$map))
out <- cbind(bp=cross$pheno[,1], geno)
write.csv(out, "TABLE", row.names=FALSE)
place <- data.frame(marker=markernames(cross), chr=rep(chromosomes, nmar(cross)), pos=unlist(pull.map(cross)))
write.csv(place, "PLACES", row.names=FALSE)
cross <- calc.genoprob(cross, step=0, error.prob=0)
started <- proc.time()[3]
two <- scantwo(cross, method="hk", verbose=FALSE)
cat("seconds", proc.time()[3] - started, "\n")
perm <- scantwo(cross, method="hk", n.perm=PERMUTATIONS, verbose=FALSE)
thresholds <- summary(perm, alpha=0.05)
cat("threshold", sapply(thresholds, as.numeric), "\n")
one <- summary(scanone(cross, method="hk"))
write.csv(one, "ONE", row.names=TRUE)
write.csv(as.data.frame(summary(two, what="int")), "TWO", row.names=FALSE)
"""


def run(arguments: list[str]) -> tuple[dict[str, Any], str]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--permutations", type=int, default=20, help="of scantwo's thresholds; 1000 take about an hour")
    given = parser.parse_args(arguments)
    if shutil.which("Rscript") is None:
        raise SystemExit("Rscript is not installed: apt-get install r-cran-qtl, and run the command again")
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = _R.replace("PERMUTATIONS", str(given.permutations))
        for word in ("TABLE", "PLACES", "ONE", "TWO"):
            script = script.replace(f'"{word}"', f'"{(folder / word).as_posix()}"')
        (folder / "script.R").write_text(script)
        done = subprocess.run(["Rscript", str(folder / "script.R")], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(
                f"R failed (is the package qtl installed? apt-get install r-cran-qtl): {done.stderr[-400:]}"
            )
        said = dict(
            line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith(("seconds", "threshold"))
        )
        table, places = (pd.read_csv(folder / each) for each in ("TABLE", "PLACES"))
        two, one = pd.read_csv(folder / "TWO"), pd.read_csv(folder / "ONE", index_col=0)
    thresholds = dict(zip(("full", "fv1", "int", "add", "av1"), map(float, said["threshold"].split()[:5]), strict=True))
    between = two[two["chr1"].astype(str) != two["chr2"].astype(str)]
    best = between.sort_values("lod.int", ascending=False).head(5).to_dict("records")
    X, y = table.drop(columns="bp"), table["bp"].to_numpy()
    positions = {row.marker: (str(row.chr), float(row.pos)) for row in places.itertuples()}
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = interplay.interactions(
            X, y, decision="number", top=200, min_distance=1e9, positions=positions, coding="levels"
        )
        chosen = interplay.select(X, y, decision="number", random_state=0)
    seconds = time.perf_counter() - started
    chromosome = {name: place[0] for name, place in positions.items()}
    rows = [
        {
            "pair": " × ".join(row.members),
            "chromosomes": " × ".join(chromosome[each] for each in row.members),
            "p": float(row.p_value),
            "adjusted": float(row.p_adjusted),
            # LOD of the same F, for 1 degree of freedom: N/2 log10(1 + F/df_residual).
            "lod": float(len(y) / 2 * np.log10(1 + row.f * row.df / row.df_residual)),
        }
        for row in ours.table.itertuples()
    ]
    rows = list({row["chromosomes"]: row for row in reversed(rows)}.values())  # the best of two chromosomes
    rows = sorted(rows, key=lambda row: row["p"])[:5]
    found = sorted({chromosome[each] for each in chosen.relevant}, key=lambda c: (len(c), c))
    out = io.StringIO()
    print("# Hypertension in mice: R/qtl's `hyper` and scantwo\n", file=out)
    print(
        f"{len(y)} backcross mice, {X.shape[1]} markers on the autosomes, blood pressure (Sugiyama and others, 2001,",
        file=out,
    )
    print("data of R/qtl). Missing genotypes are the most likely ones. Both programs see one table.\n", file=out)
    print("Largest interactions of pairs of different chromosomes, the best pair of markers of each:\n", file=out)
    print(
        "| scantwo | LOD, interaction | interplay | LOD of its F, ranks | p | adjusted p |",
        file=out,
    )
    print("|---|---|---|---|---|---|", file=out)
    for theirs, row in zip(best, rows, strict=True):
        print(
            f"| {theirs['chr1']} × {theirs['chr2']} | {theirs['lod.int']:.2f} | {row['chromosomes']} | "
            f"{row['lod']:.2f} | {row['p']:.2g} | {row['adjusted']:.2g} |",
            file=out,
        )
    print(f"\nscantwo's threshold of the interaction at 0.05, from {given.permutations} permutations: "
          f"{thresholds['int']:.2f}; its search took {float(said['seconds']):.1f} s. Ours: Holm's method over "
          f"{ours.n_tests:,} pairs, {seconds:.1f} s with `select`.", file=out)  # fmt: skip
    strong = one[one["lod"] >= 2].index.tolist()
    print(f"\n`select` finds markers on chromosomes {', '.join(found) or 'none'}; scanone has LOD ≥ 2 on chromosomes "
          f"{', '.join(str(one.loc[each, 'chr']) for each in strong)}.", file=out)  # fmt: skip
    n_significant = int(ours.is_significant.sum())
    print(f"\n**Losses.** Adjusted for all pairs, {n_significant} of our pairs are significant.", file=out)
    print("Interval mapping between markers, which scantwo can do, is not in interplay.", file=out)
    result = {"permutations": given.permutations, "thresholds": thresholds, "scantwo": best, "ours": rows}
    return result | {"select": chosen.relevant, "seconds": round(seconds, 2)}, out.getvalue()
