"""`interplay demo`: a Madelon-like set whose truth is known, searched in one, two and three dimensions, and in all."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from interplay.datasets import make_madelon
from interplay.pipeline import select
from interplay.results.selection import Selection

_TUPLES = ("each alone", "all pairs", "all triples", "all quadruples", "all quintuples")


def run_demo(folder: Path, *, random_state: int = 1, max_dimensions: int = 3) -> dict[str, Selection]:
    """Search, print what each dimension finds against the truth, and write a picture to `folder`."""
    console = Console()
    X, y, truth = make_madelon(random_state=random_state)
    true = {f"x{v}" for v in truth.relevant}
    console.print(
        f"A table like Madelon: {X.shape[0]} samples and {X.shape[1]} variables, of which {len(true)} are "
        "informative.\n"
        "Five of them decide the class, but only together. The others are combinations and copies of these five.\n"
        "We search variables alone, in pairs and in triples. Permuted copies show the chance level.\n"
    )
    table = Table("search", "true positives", "false positives", "missed", "seconds", title="What each dimension finds")
    for column in table.columns[1:]:
        column.justify = "right"
    selections: dict[str, Selection] = {}
    sizes = tuple(range(1, max_dimensions + 1))
    searches: dict[str, int | tuple[int, ...]] = {f"{k}D": k for k in sizes}
    if max_dimensions > 1:
        searches["all in one call"] = sizes
    for name, dimensions in searches.items():
        started = time.perf_counter()
        selection = select(X, y, dimensions=dimensions, random_state=random_state, n_jobs=-1)
        found = set(selection.relevant)
        words = f" ({_TUPLES[dimensions - 1]})" if isinstance(dimensions, int) else ""
        table.add_row(
            f"{name}{words}",
            f"{len(found & true)} of {len(true)}",
            str(len(found - true)),
            str(len(true - found)),
            f"{time.perf_counter() - started:.2f}",
        )
        selections[name] = selection
    console.print(table)
    together = selections.pop("all in one call", None)
    if together is not None:
        how = Counter(together.found[v] for v in together.ranked).most_common()
        console.print(f"\nThe search in one call finds {', '.join(f'{number} {words}' for words, number in how)}.")

    alone = set(selections["1D"].relevant)
    last = selections[f"{max_dimensions}D"]
    hidden = [name for name in last.relevant if name not in alone]
    if hidden:
        console.print(f"\nFound in {max_dimensions}D but not alone, with their partners:")
    rows = last.table.set_index("variable")
    for name in hidden[:8]:
        row = rows.loc[name]
        console.print(
            f"  {name:>5} with {', '.join(row['partners']):<12} gain {row['gain']:7.1f} bits, "
            f"alone {row['gain_alone']:5.1f}, adjusted p {row['p_adjusted']:.1e}",
            highlight=False,
        )
    if len(hidden) > 8:
        console.print(f"  … and {len(hidden) - 8} more")
    _write_picture(console, folder, selections)
    return selections


def _write_picture(console: Console, folder: Path, selections: dict[str, Selection]) -> None:
    from interplay.plots import plot_gains_by_dimension

    try:
        figure = plot_gains_by_dimension(selections)
    except ImportError as missing:
        console.print(f"\nNo picture: {missing}", markup=False)  # its brackets are to be read
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "gains.png"
    figure.savefig(path, dpi=130)
    console.print(f"\nPicture of the gains by rank: {path}")
