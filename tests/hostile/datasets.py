"""Made-up tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hostile.case import Area, refused, same
from interplay.datasets import fetch_madelon, make_madelon


def made(**given: Any) -> Any:
    return make_madelon(**{"n_samples": 50, "n_vars": 30} | given)[0]


def fetched_from_damaged_files() -> Any:
    Path("madelon_train.data").write_text("1 2 3\n")
    Path("madelon_train.labels").write_text("1\n")
    return fetch_madelon(cache_dir=".", _sources=())


AREA = Area(
    "Datasets",
    [
        refused("`n_samples=1`", lambda: made(n_samples=1), "^n_samples must be"),
        refused("`n_samples=-5`", lambda: made(n_samples=-5), "^n_samples must be"),
        refused("`n_vars=3`", lambda: made(n_vars=3), "^n_vars must be at least"),
        refused("`n_informative=17`", lambda: made(n_informative=17), "^n_informative must be"),
        refused("`n_redundant=-1`", lambda: made(n_redundant=-1), "^n_redundant must be"),
        refused("`n_repeated=99`", lambda: made(n_repeated=99), "^n_repeated must be"),
        refused("`class_sep=nan`", lambda: made(class_sep=float("nan")), "^class_sep must be"),
        refused("`class_sep=inf`", lambda: made(class_sep=float("inf")), "^class_sep must be"),
        refused("`flip_y=2`", lambda: made(flip_y=2), "^flip_y must be"),
        refused("`random_state=-1`", lambda: made(random_state=-1), "^random_state must be"),
        refused('`random_state="a"`', lambda: made(random_state="a"), "^random_state must be"),
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
