"""Pure 2- to 5-way epistasis at the settings of the ReliefF papers: is the tuple found, and found alone?

    python benchmarks/published_pages.py gametes [--tables 5] [--peer-tables 3] [--jobs 1]

Urbanowicz and others (J. Biomed. Inform. 2018) judge Relief-based methods on sets by GAMETES: pure, strict models of
two and three loci, heritability 0.05 to 0.4, minor allele frequency 0.2, 200 to 1600 samples of equal classes, 20 SNPs
and more; and on XORs of two to five loci. The settings here are taken from memory of that paper. GAMETES itself (Java)
is not run: `make_epistasis` makes models of the same definition, with exactly flat margins. Figures of the papers are
pictures, and so are not copied. Peers: ReliefF with 100 neighbours and MultiSURF of scikit-rebate (skrebate), which
rank variables and are told how many are relevant. They take 8 seconds for a table of 1600 samples and are run on the
first tables of each setting; they are left out where skrebate is not installed, or a table would take minutes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import warnings
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import interplay
from interplay.datasets import make_epistasis


class Setting(NamedTuple):
    loci: int
    heritability: float
    samples: int
    snps: int = 20
    frequency: float = 0.2
    model: str = "random"

    @property
    def has_peers(self) -> bool:
        return self.samples <= 1600 and self.snps < 100

    @property
    def dimensions(self) -> str | int:
        """Of `select`: triples of a thousand SNPs take a minute."""
        return "auto" if self.snps <= 500 else 2


#: No pure table of heritability 0.4 and prevalence 0.5 has minor alleles of frequency 0.2.
SETTINGS = [
    Setting(2, 0.05, 800),
    Setting(2, 0.05, 1600),
    Setting(2, 0.1, 400),
    Setting(2, 0.2, 400),
    Setting(2, 0.4, 200, frequency=0.4),
    Setting(2, 0.1, 800, snps=1000),
    Setting(3, 0.1, 800),
    Setting(3, 0.1, 1600, snps=100),
    Setting(4, 0.4, 800, frequency=0.3, model="xor"),
    Setting(5, 0.4, 1600, frequency=0.3, model="xor"),
    Setting(5, 0.4, 3200, frequency=0.3, model="xor"),
]
PEERS = ("ReliefF", "MultiSURF")


def peers(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """The variables from the highest to the lowest weight, by each peer."""
    import skrebate

    models = {"ReliefF": skrebate.ReliefF(n_neighbors=100, n_jobs=1), "MultiSURF": skrebate.MultiSURF(n_jobs=1)}
    return {
        name: np.argsort(-model.fit(X.astype(float), y.astype(int)).feature_importances_)
        for name, model in models.items()
    }


def one_table(job: tuple[int, int, bool]) -> tuple[int, dict[str, float]]:
    number, seed, with_peers = job
    setting = SETTINGS[number]
    k = setting.loci
    X, y, truth = make_epistasis(
        setting.samples,
        setting.snps,
        dimensions=k,
        model=setting.model,
        heritability=setting.heritability,
        cases=0.5,
        minor_allele_frequency=(0.05, 0.5),
        minor_allele_frequencies=[setting.frequency] * k,
        random_state=1000 * number + seed,
    )
    true = set(truth.tuples[0].tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = interplay.interactions(X, y, dimensions=k, n_jobs=1, progress=False, coding="levels")
        chosen = interplay.select(X, y, dimensions=setting.dimensions, random_state=seed, n_jobs=1, progress=False)
        ranked = peers(X, y) if with_peers and setting.has_peers else {}
    listed = [set(members) for members in found.tested.tuples[found.is_significant].tolist()]
    relevant = set(chosen.ranked.tolist())
    row = {
        "tuple": float(true in listed),
        "false tuples": float(sum(members != true for members in listed)),
        "select": len(true & relevant) / k,
        "select false": float(len(relevant - true)),
    }
    return number, row | {name: len(true & set(order[:k].tolist())) / k for name, order in ranked.items()}


def run(arguments: list[str]) -> tuple[dict[str, Any], str]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--peer-tables", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    n_peers = given.peer_tables if find_spec("skrebate") is not None else 0
    if not n_peers:
        print("without peers: skrebate is not installed, or --peer-tables is 0")
    found: dict[int, list[dict[str, float]]] = {number: [] for number in range(len(SETTINGS))}
    jobs = [(number, seed, seed < n_peers) for number in range(len(SETTINGS)) for seed in range(given.tables)]
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for number, row in pool.imap(one_table, jobs):
            found[number].append(row)
            print(SETTINGS[number], row, flush=True)
    rows = []
    for number, setting in enumerate(SETTINGS):
        names = dict.fromkeys(name for row in found[number] for name in row)
        means = {name: float(np.mean([row[name] for row in found[number] if name in row])) for name in names}
        rows.append({**setting._asdict(), **means})
    return {"tables": given.tables, "peer_tables": n_peers, "rows": rows}, page(rows, given.tables, n_peers)


def page(rows: list[dict[str, Any]], n_tables: int, n_peers: int) -> str:
    lines = [
        "# Pure epistasis of two to five loci, as GAMETES makes it",
        "",
        "Settings of the ReliefF papers (Urbanowicz and others, 2018), from memory; tables are those of",
        f"`make_epistasis`, with equal classes, {n_tables} of each setting. `interactions`: share of tables in which",
        "the true tuple is listed, and false tuples per table. `select`: share of the true loci that are relevant, and",
        f"false ones per table. ReliefF and MultiSURF (scikit-rebate, the first {n_peers} tables) rank variables; they",
        "were told how many loci are true, and each locus that they miss is replaced by a false one. `select` is the",
        "default call; of 1000 SNPs, `dimensions=2`.",
        "",
        "| loci | model | heritability | minor allele | samples | SNPs | tuple found | false tuples | `select`, loci "
        "| false | ReliefF, loci | MultiSURF, loci |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row[name] for name in ("loci", "model", "heritability", "frequency", "samples", "snps")]
        cells += [f"{row['tuple']:.0%}", f"{row['false tuples']:.2f}"]
        cells += [f"{row['select']:.0%}", f"{row['select false']:.2f}"]
        cells += [f"{row[name]:.0%}" if name in row else "not run" for name in PEERS]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", losses(rows)]
    return "\n".join(lines) + "\n"


def losses(rows: list[dict[str, Any]]) -> str:
    compared = [row for row in rows if PEERS[0] in row]
    words = []
    for name in PEERS:
        lost = sum(row["select"] < row[name] for row in compared)
        words.append(f"{name}, told how many loci there are, names more of them than `select` in {lost} settings")
    missed = ", ".join(f"{row['loci']} loci and {row['samples']} samples" for row in rows if not row["tuple"])
    text = f"**Losses.** Of {len(compared)} settings with peers: {'; '.join(words)}."
    if missed:
        text += f" `interactions` finds the tuple in no table of {missed}."
    worst = max(rows, key=lambda row: row["false tuples"])
    if worst["false tuples"]:
        where = f"{worst['loci']} loci and {worst['samples']} samples"
        text += f" Most false tuples are listed with {where}: {worst['false tuples']:.2f} per table."
    return text + (
        " A tuple is tested only with at least 8 samples per parameter of the hypothesis: genotypes of five loci need "
        "about 1700. `select` looks at quadruples at most, and so finds no locus of a pure quintuple."
    )
