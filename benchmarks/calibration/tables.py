"""Summary → the tables of docs/calibration.md, which stand there between marks and are written anew by the study."""

from __future__ import annotations

import re

import pandas as pd

from .cells import (
    CONTRAST_CELLS,
    DEFAULT_CELLS,
    ONE_CALL_CELLS,
    ONE_CALL_PLANTED_CELLS,
    PLANTED_CELLS,
    STRATA_CELLS,
    Cell,
)
from .repetition import FDR_METHODS
from .summary import fits_run, too_bold

N_HIGHEST = 12


def fill(page: str, tables: dict[str, str]) -> str:
    """Replace what stands between the marks of each table.

    Examples
    --------
    >>> fill("<!-- table: a -->\\nold\\n<!-- end -->", {"a": "new"})
    '<!-- table: a -->\\nnew\\n<!-- end -->'
    """

    def filled(match: re.Match[str]) -> str:
        return f"<!-- table: {match[1]} -->\n{tables[match[1]]}\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->\n.*?<!-- end -->", filled, page, flags=re.DOTALL)


def make_tables(summary: pd.DataFrame) -> dict[str, str]:
    null = summary.loc[present(DEFAULT_CELLS, summary)]
    highest = null.sort_values(["any_selected", "any_low"], ascending=False, kind="stable").index[:N_HIGHEST]
    return {
        "overview": _overview(summary, null),
        "highest": _null_table(null.loc[highest]),
        "strata": _null_table(null.loc[present(STRATA_CELLS, null)]),
        "all_null": _null_table(null),
        "fits": _fits_table(summary),
        "fits_elsewhere": _fits_elsewhere(null[null["any_lsq"].notna()]),
        "planted": _planted_table(summary, PLANTED_CELLS),
        "one_call": _one_call(summary.loc[present(ONE_CALL_CELLS, summary)]),
        "one_call_planted": _planted_table(summary, ONE_CALL_PLANTED_CELLS),
    }


def present(cells: list[Cell], summary: pd.DataFrame) -> list[str]:
    return [cell.name for cell in cells if cell.name in summary.index]


def _overview(summary: pd.DataFrame, null: pd.DataFrame) -> str:
    lines = [
        f"- {len(summary)} cells and {int(summary['repetitions'].sum()):,} searches. {len(null)} of the cells are "
        f"noise searched with default settings, {_range(null['repetitions'])} tables each.",
        _any_selected("Something is selected", null),
    ]
    within = null.loc[present(STRATA_CELLS, null)]
    return "\n".join([*lines, _any_selected("Within strata, something is selected", within)] if len(within) else lines)


def _any_selected(what: str, noise: pd.DataFrame) -> str:
    n_tables = int(noise["repetitions"].sum())
    n_any = round((noise["any_selected"] * noise["repetitions"]).sum())
    return (
        f"- {what} in {n_any:,} of {n_tables:,} tables of noise ({n_any / n_tables:.1%}), in a single cell in at most "
        f"{noise['any_selected'].max():.1%}. Cells above 5 % by more than chance: "
        f"{int(too_bold(noise, 'any_selected').sum())}."
    )


def _range(numbers: pd.Series) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low} to {high}"


def _null_table(lines: pd.DataFrame) -> str:
    header = ["cell", "tables", "any selected", "95 % interval"]
    header += ["p < 0.05", "p < 0.01", "KS", "union", "warned"]
    body = [
        [
            name,
            f"{line['repetitions']:.0f}",
            f"{line['any_selected']:.3f}",
            f"{line['any_low']:.3f}–{line['any_high']:.3f}",
            f"{line['share_below_05']:.3f}",
            f"{line['share_below_01']:.4f}",
            f"{line['uniform_p']:.2g}" if line["uniform_p"] >= 0.001 else "< 0.001",
            _share(line["union_share"]),
            _share(line["warned_share"]),
        ]
        for name, line in lines.iterrows()
    ]
    return _markdown(header, body)


def _fits_table(summary: pd.DataFrame) -> str:
    cells = present(CONTRAST_CELLS, summary)
    fits = fits_run(summary.loc[cells])
    header = ["cell", *(f"`{fit}`" for fit in fits), "spread of γ: `lsq`", "`weibull`"]
    body = []
    for name in cells:
        line = summary.loc[name]
        spreads = [line[f"n_tests_{fit}_spread"] for fit in ("lsq", "weibull")]
        body.append([name, *(f"{line[f'any_{fit}']:.3f}" for fit in fits), *(f"{spread:.0%}" for spread in spreads)])
    return _markdown(header, body)


def _fits_elsewhere(null: pd.DataFrame) -> str:
    """What each fit would have done in the cells of noise in which one is needed."""
    header = ["fit", "tables with anything selected", "highest cell", "cells above 5 % by more than chance"]
    body = []
    for fit in fits_run(null):
        share = null[f"any_{fit}"].astype(float)
        n_any, n_tables = (share * null["repetitions"]).sum(), null["repetitions"].sum()
        n_bold = int(too_bold(null, f"any_{fit}").sum())
        body.append([f"`{fit}`", f"{n_any / n_tables:.1%}", f"{share.max():.1%}", f"{n_bold} of {len(null)}"])
    return _markdown(header, body)


def _one_call(lines: pd.DataFrame) -> str:
    if not len(lines):
        return "(not run yet: `python -m benchmarks.calibration --only auto --jobs 16`)"
    header = ["cell", "tables", "any selected", "95 % interval", "p < 0.05", "p < 0.01", "p < 0.0005"]
    body = [
        [
            name,
            f"{line['repetitions']:.0f}",
            f"{line['any_selected']:.3f}",
            f"{line['any_low']:.3f}–{line['any_high']:.3f}",
            f"{line['share_below_05']:.3f}",
            f"{line['share_below_01']:.4f}",
            f"{line['share_below_0005']:.5f}",
        ]
        for name, line in lines.iterrows()
    ]
    return f"{_any_selected('Something is selected', lines)}\n\n{_markdown(header, body)}"


def _planted_table(summary: pd.DataFrame, cells: list[Cell]) -> str:
    header = ["cell", "any false, Holm"]
    header += [f"{what}, {method}" for method in FDR_METHODS[1:] for what in ("false share", "found")]
    body = []
    for name in present(cells, summary):
        line = summary.loc[name]
        body.append([name, f"{line['any_false_holm']:.3f}"])
        for method in FDR_METHODS[1:]:
            body[-1] += [f"{line[f'fdr_{method}']:.3f}", f"{line[f'found_{method}']:.1f}"]
    return _markdown(header, body)


def _share(share: float) -> str:
    return "" if share == 0 else f"{share:.0%}"


def _markdown(header: list[str], body: list[list[str]]) -> str:
    ruler = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ruler, *body])
