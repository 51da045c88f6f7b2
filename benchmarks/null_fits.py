"""Are fitted p-values right in the tail? Every null fit, on every statistic of the default call, on noise.

    python benchmarks/null_fits.py [--jobs 12] [--tables 100] [--only TEXT] [--save FILE]

Each table of noise is searched with more contrast variables than select() takes. Fits see as many of them as it would;
the others, and the variables themselves, are what their p-values are tried on. Counted are p-values below 0.05, 0.005
and 0.0005, tables in which anything is selected at Holm 0.05 by one statistic, and by the default call with its
combination of all. The tables differ in shape and in seed from those on which "predictive" was chosen. At the end the
rows are saved and docs/null_fits_table.md is written. About 0.6 processor seconds a table.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import interplay
from benchmarks.calibration.cells import Cell
from benchmarks.calibration.null_data import make_data
from interplay.ask.selection import significance
from interplay.infer.arms import log_p_of_all
from interplay.infer.null_fit import fit_null
from interplay.infer.p_values import adjust
from machine import RESULTS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "null_fits_table.md"
RESULT = RESULTS / "null_fits.csv.gz"

#: Repetitions from here on were used for no choice.
FIRST_TABLE = 1_000_000
LEVEL = 0.05
ALPHAS = (5e-2, 5e-3, 5e-4)
N_HELD_OUT = 1500

#: What is compared: how fit_null is called.
FITS: dict[str, dict[str, str]] = {
    "lsq": {"fit": "lsq"},
    "tail": {"fit": "tail"},
    "weibull": {"fit": "weibull"},
    "predictive": {"fit": "predictive"},
    "auto, weibull": {"fit": "auto", "auto_fit": "weibull"},
    "auto, predictive": {"fit": "auto", "auto_fit": "predictive"},
}
#: The rows of the default call as a whole stand under this name.
COMBINED = "all in one call"

KINDS: dict[str, list[Cell]] = {
    "gaussian": [Cell(n_samples=120, n_vars=80), Cell(n_samples=400, n_vars=150), Cell(n_samples=1000, n_vars=60)],
    "gaussian, rare class": [
        Cell(n_samples=400, n_vars=80, shares=(85, 15)),
        Cell(n_samples=250, n_vars=60, shares=(92, 8)),
    ],
    "gaussian, three classes": [Cell(n_samples=450, n_vars=80, shares=(40, 30, 30))],
    "gaussian, correlated": [
        Cell(n_samples=400, n_vars=80, correlation=0.8),
        Cell(n_samples=300, n_vars=80, correlation=0.95),
    ],
    "three levels": [
        Cell(n_samples=600, n_vars=60, divisions=2),
        Cell(n_samples=400, n_vars=80, columns="three-level"),
    ],
    "two levels": [Cell(n_samples=400, n_vars=80, columns="binary"), Cell(n_samples=400, n_vars=80, columns="rare")],
    "genotypes": [
        Cell(n_samples=300, n_vars=120, columns="genotypes"),
        Cell(n_samples=800, n_vars=80, columns="genotypes"),
        Cell(n_samples=1500, n_vars=60, columns="genotypes"),
    ],
    "genotypes, few samples": [
        Cell(n_samples=150, n_vars=80, columns="genotypes", shares=(70, 30)),
        Cell(n_samples=250, n_vars=60, columns="genotypes", shares=(85, 15)),
    ],
    "genotypes, correlated": [Cell(n_samples=400, n_vars=80, columns="genotypes", correlation=0.8)],
    "mixed": [Cell(n_samples=300, n_vars=90, columns="mixed")],
    "strata": [
        Cell(n_samples=300, n_vars=30, n_strata=10),
        Cell(n_samples=400, n_vars=30, n_strata=4, columns="genotypes"),
        Cell(n_samples=320, n_vars=40, n_strata=16, batch_effect=True),
    ],
    "1000 variables": [
        Cell(n_samples=300, n_vars=1000),
        Cell(n_samples=400, n_vars=1000, columns="genotypes"),
    ],
    "few contrast variables": [
        Cell(n_samples=400, n_vars=60, n_contrast=30),
        Cell(n_samples=400, n_vars=60, n_contrast=100, columns="genotypes"),
    ],
}

#: Of more variables only pairs are searched here.
MAX_VARS_3D = 300


class Captured:
    """Stands in for fit_null, and keeps what it was given."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def __call__(self, gains: np.ndarray, **arguments: Any) -> interplay.NullFit:
        self.calls.append({"gains": gains, **arguments})
        return fit_null(gains, **arguments)


def rows_of(cell: Cell, repetition: int) -> Iterator[dict[str, Any]]:
    X, y, strata = make_data(cell, repetition)
    n_fitted = cell.n_contrast if isinstance(cell.n_contrast, int) else min(max(cell.n_vars, 300), 1000)
    captured = Captured()
    with patch.object(significance, "fit_null", captured):
        result = interplay.select(
            X,
            y,
            dimensions=(1, 2, 3) if cell.n_vars <= MAX_VARS_3D else (1, 2),
            divisions=cell.divisions,
            n_contrast=n_fitted + N_HELD_OUT,
            strata=strata,
            random_state=repetition,
        )
    fitted_here = [test.name for test in result.tests if test.name.startswith(("synergy", "product"))]
    n_searches = len(captured.calls) - len(fitted_here)  # gains are fitted first
    of_tests = dict(zip(fitted_here, captured.calls[n_searches:], strict=True))
    of_searches = {f"gain {call['dimensions']}": call for call in captured.calls[:n_searches] if call["dimensions"] > 1}
    log_p: dict[tuple[str, str], np.ndarray] = {}
    for statistic, call in (of_searches | of_tests).items():
        for name, how in FITS.items():
            with suppress(ValueError):  # where all gains are the same, there is no shape to fit
                null = fitted_to(call, n_fitted, how)
                held_out = null.p_values(call["contrast_gain"][n_fitted:], df=call["contrast_df"][n_fitted:])
                log_p[statistic, name] = null.log_p_values()
                yield {
                    "statistic": statistic,
                    "fit": name,
                    "used": null.fit,
                    **counts(np.exp(null.log_p_values())),
                    **counts(held_out, "held_"),
                    "delta": null.delta,
                    "delta_error": null.delta_error,
                    "n_tests": number_of_tests(null, float(np.median(call["df"]))),
                }
    for name in FITS:
        # Whatever "auto" fits to synergies, gains are fitted as in searches of one size of tuples.
        of_gain = "auto, weibull" if name.startswith("auto") else name
        fits = {test.name: of_gain if test.name.startswith("gain") else name for test in result.tests}
        tests = [replace(test, log_p=log_p.get((test.name, fits[test.name]), test.log_p)) for test in result.tests]
        yield {"statistic": COMBINED, "fit": name, **counts(np.exp(log_p_of_all(tests)))}


def fitted_to(call: dict[str, Any], n_fitted: int, how: dict[str, str]) -> interplay.NullFit:
    given = {name: value for name, value in call.items() if name not in ("gains", "fit", "auto_fit")}
    given["contrast_gain"], given["contrast_df"] = (call[name][:n_fitted] for name in ("contrast_gain", "contrast_df"))
    return fit_null(call["gains"], **given, **how)


def counts(p: np.ndarray, prefix: str = "") -> dict[str, Any]:
    p = p[~np.isnan(p)]
    found: dict[str, Any] = {f"{prefix}n": len(p)} | {
        f"{prefix}below_{alpha:g}": int((p < alpha).sum()) for alpha in ALPHAS
    }
    return found if prefix else found | {"any": bool(len(p) and adjust(p).min() < LEVEL)}


def number_of_tests(null: interplay.NullFit, df: float) -> float:
    """Return how many independent tests would put p = 0.05 at the same gain: γ where the shape is not 1."""
    from scipy.optimize import brentq
    from scipy.stats import chi2

    def excess(gain: float) -> float:
        return float(null.p_values([gain], df=df)[0]) - 0.05

    with suppress(ValueError):
        gain = brentq(excess, 1e-3, 300.0)
        return float(np.log(0.95) / chi2.logcdf(2 * np.log(2) * gain, df))
    return np.nan


def run_table(work: tuple[str, Cell, int]) -> list[dict[str, Any]]:
    kind, cell, repetition = work
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [{"kind": kind, "cell": cell.name, "repetition": repetition, **row} for row in rows_of(cell, repetition)]


def ratios(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Shares of p-values below each α over α, of held-out contrast variables and of variables, with standard errors."""
    tables = rows.groupby([*by, "cell", "repetition"], sort=False, observed=True).sum(numeric_only=True)
    found = []
    for key, part in tables.groupby(by, sort=False):
        line: dict[str, Any] = dict(zip(by, key if isinstance(key, tuple) else (key,), strict=True))
        line |= {"tables": len(part)}
        for prefix in ("held_", ""):
            n = part[f"{prefix}n"].to_numpy()
            if n.sum() == 0:
                continue
            for alpha in ALPHAS:
                below = part[f"{prefix}below_{alpha:g}"].to_numpy()
                share = below.sum() / n.sum()
                line[f"{prefix}{alpha:g}"] = share / alpha
                # Tables are independent, variables of a table are not.
                line[f"{prefix}{alpha:g}_error"] = np.sqrt(((below - share * n) ** 2).sum()) / n.sum() / alpha
        found.append(line)
    return pd.DataFrame(found)


def shown(line: pd.Series, prefix: str) -> str:
    return " / ".join(f"{line[f'{prefix}{alpha:g}']:.2f}" for alpha in ALPHAS)


def in_markdown(rows: pd.DataFrame) -> str:
    """Ratios by kind of data and fit, of one statistic each; then what the default call selects, by kind of data."""
    fits = [name for name in FITS if not name.startswith("auto")]
    is_gain, is_call = rows["statistic"].str.startswith("gain"), rows["statistic"] == COMBINED
    synergies = rows[~is_gain & ~is_call]
    lines = ["| data | " + " | ".join(f"`{name}`" for name in fits) + " |", "|---|" + "---:|" * len(fits)]
    errors = []
    for title, part in [*_by_kind(synergies), ("*all*", synergies), ("*gains*, all data", rows[is_gain])]:
        found = ratios(part, ["fit"]).set_index("fit")
        errors.append(found.loc["predictive", [f"held_{alpha:g}_error" for alpha in ALPHAS]])
        lines.append(f"| {title} | " + " | ".join(shown(found.loc[name], "held_") for name in fits) + " |")
    of_line, of_all = np.median(errors[:-2], axis=0), errors[-2]
    lines.append(
        f"\nStandard errors of `predictive`: about {' / '.join(f'{e:.2f}' for e in of_line)} in a line, "
        f"{' / '.join(f'{e:.2f}' for e in of_all)} in *all*.\n"
    )
    autos = [name for name in FITS if name.startswith("auto")]
    lines.append("| data | tables | " + " | ".join(f"{name}: any selected | ratios" for name in autos) + " |")
    lines.append("|---|---:|" + "---:|" * 2 * len(autos))
    for title, part in [*_by_kind(rows[is_call]), ("*all*", rows[is_call])]:
        found, any_selected = ratios(part, ["fit"]).set_index("fit"), part.groupby("fit")["any"].mean()
        cells = [f"{any_selected[name]:.1%} | {shown(found.loc[name], '')}" for name in autos]
        lines.append(f"| {title} | {found.loc[autos[0], 'tables']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _by_kind(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(kind, rows[rows["kind"] == kind]) for kind in KINDS if (rows["kind"] == kind).any()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--tables", type=int, default=100, help="of each cell")
    parser.add_argument("--only", default="", help="run only kinds of data whose name holds this")
    parser.add_argument("--save", type=Path, default=RESULT, help="file for the rows")
    parser.add_argument("--page", type=Path, default=PAGE, help="file for the table")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    work = [
        (kind, cell, FIRST_TABLE + repetition)
        for repetition in range(arguments.tables)
        for kind, cells in KINDS.items()
        if arguments.only in kind
        for cell in cells
    ]
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        rows = pd.DataFrame([row for part in pool.imap_unordered(run_table, work, chunksize=4) for row in part])
    rows = rows.sort_values(["kind", "cell", "repetition"], kind="stable").reset_index(drop=True)
    rows.to_csv(arguments.save, index=False, float_format="%.4g")
    text = in_markdown(pd.read_csv(arguments.save))
    arguments.page.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
