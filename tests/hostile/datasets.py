"""Made-up tables."""

from pathlib import Path

from hostile.case import Area, each_refused, refused, same
from interplay.datasets import fetch_madelon, make_epistasis, make_madelon


def made(**given):
    return make_madelon(**{"n_samples": 50, "n_vars": 30} | given)[0]


def epistasis(**given):
    return make_epistasis(**{"n_samples": 50, "n_vars": 30} | given)[0]


def fetched_from_damaged_files():
    Path("madelon_train.data").write_text("1 2 3\n")
    Path("madelon_train.labels").write_text("1\n")
    return fetch_madelon(cache_dir=".", _sources=())


AREA = Area(
    "Datasets",
    [
        *each_refused(
            made,
            n_samples=[1, -5, 10.5],
            n_informative=[0, 17],
            n_redundant=[-1],
            n_repeated=[99],
            class_sep=[float("nan"), float("inf")],
            flip_y=[2],
            random_state=[-1, "a"],
        ),
        refused("`n_vars=3`", lambda: made(n_vars=3), "^n_vars must be at least"),
        refused("`make_epistasis(n_samples=1)`", lambda: epistasis(n_samples=1), "^n_samples must be"),
        refused("`make_epistasis(dimensions=1)`", lambda: epistasis(dimensions=1), "^dimensions must be"),
        *each_refused(
            epistasis,
            n_models=[0],
            main_share=[2],
            heritability=[1],
            prevalence=[0],
            cases=[1],
            censored=[1],
            minor_allele_frequency=[0.7],
            ploidy=[0],
            linkage=[float("nan")],
        ),
        refused(
            "fewer blocks than members", lambda: epistasis(block_size=20, dimensions=3), "^n_vars=30 makes 2 blocks"
        ),
        refused('`outcome="time"`', lambda: epistasis(outcome="time"), "^outcome must be one of"),
        refused('`model="and"`', lambda: epistasis(model="and"), "^model must be one of"),
        refused("`model` of another shape", lambda: epistasis(model=[[1, 2], [3, 4]]), "^model must be one of"),
        refused("`model` of equal cells", lambda: epistasis(model=[[1] * 3] * 3), "^model must have cells that differ"),
        refused(
            "`main_share` of a model without main effects",
            lambda: epistasis(model=[[1, -1], [-1, 1]], ploidy=1, minor_allele_frequency=0.5, main_share=0.5),
            "^main_share=0.5 does not go with this model",
        ),
        refused(
            "`heritability` that no probabilities have",
            lambda: epistasis(heritability=0.95),
            "^heritability=0.95 cannot",
        ),
        refused(
            "heritabilities that add up to 1",
            lambda: epistasis(outcome="number", n_models=2, heritability=0.5),
            "^heritability=0.5 of each of n_models=2",
        ),
        refused(
            "bounds of frequencies in the wrong order",
            lambda: epistasis(minor_allele_frequency=(0.4, 0.1)),
            "^minor_allele_frequency must have",
        ),
        refused(
            "one frequency for two members",
            lambda: epistasis(minor_allele_frequencies=[0.2]),
            "^minor_allele_frequencies must be 2 numbers",
        ),
        refused(
            "`fetch_madelon` without network or files",
            lambda: fetch_madelon(cache_dir=".", _sources=()),
            "^Madelon could not be fetched: put",
        ),
        refused("`fetch_madelon` of damaged files", fetched_from_damaged_files, "^Madelon could not be fetched: put"),
        refused("`fetch_madelon(cache_dir=7)`", lambda: fetch_madelon(cache_dir=7), "^cache_dir must be"),
        same("`class_sep=1e6`", lambda: made(class_sep=1e6).shape, "any other", lambda: (50, 30)),
        same("no redundant variables", lambda: made(n_redundant=0).shape, "any other", lambda: (50, 30)),
    ],
)
