"""`interplay demo`: a Madelon-like set whose truth is known, searched in one, two and three dimensions, and in all."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from interplay.show.results.selection import Selection

#: Variables that are found only in tuples are listed up to this number.
_HIDDEN_SHOWN = 8


@click.command()
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), default=Path("demo"), show_default=True,
              help="Where to write the picture.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Seed of data and search."
)
@click.option(
    "-k", "--dimensions", type=click.IntRange(1, 4), default=3, show_default=True, help="Largest number of dimensions."
)
def demo(folder: Path, seed: int, dimensions: int) -> None:
    """Search a simulated table with a known truth in 1D, 2D and 3D."""
    run_demo(folder, random_state=seed, max_dimensions=dimensions)


def run_demo(folder: Path, *, random_state: int = 1, max_dimensions: int = 3) -> dict[str, Selection]:
    """Search, print true and false positives of each dimension, and write a picture to `folder`."""
    from rich.console import Console
    from rich.table import Table

    from interplay.ask.selection.call import select
    from interplay.datasets import make_madelon
    from interplay.infer.arms import arm_of_tuples, found_in_words

    console = Console()
    X, y, truth = make_madelon(random_state=random_state)
    true = {f"x{v}" for v in truth.relevant}
    sizes = tuple(range(1, max_dimensions + 1))
    console.print(
        f"A table like Madelon: {X.shape[0]} samples and {X.shape[1]} variables, of which {len(true)} are "
        "informative.\n"
        "Five of them decide the class, but only together. The others are combinations and copies of these five.\n"
        f"We search variables {_listed([found_in_words(arm_of_tuples(k)) for k in sizes])}. Permuted copies show the "
        "chance level.\n"
    )
    table = Table("search", "true positives", "false positives", "missed", "seconds", title="What each dimension finds")
    for column in table.columns[1:]:
        column.justify = "right"
    searches: dict[str, int | tuple[int, ...]] = {f"{k}D ({_in_words(k)})": k for k in sizes}
    if max_dimensions > 1:
        searches["all in one call"] = sizes
    found: dict[int | tuple[int, ...], Selection] = {}
    for name, dimensions in searches.items():
        started = time.perf_counter()
        selection = select(X, y, dimensions=dimensions, random_state=random_state, n_jobs=-1)
        seconds = time.perf_counter() - started
        relevant = set(selection.relevant)
        correct = f"{len(relevant & true)} of {len(true)}"
        table.add_row(name, correct, str(len(relevant - true)), str(len(true - relevant)), f"{seconds:.2f}")
        found[dimensions] = selection
    console.print(table)
    if sizes in found:
        _show_how_found(console, found[sizes])
    _show_hidden(console, found[1], found[max_dimensions])
    of_one_size = {f"{k}D": found[k] for k in sizes}
    _write_picture(console, folder, of_one_size)
    return of_one_size


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _in_words(dimensions: int) -> str:
    from interplay.base.text import tuples_in_words

    return "each alone" if dimensions == 1 else f"all {tuples_in_words(dimensions)}"


def _show_how_found(console: Console, together: Selection) -> None:
    how = Counter(together.found[v] for v in together.ranked).most_common()
    console.print(f"\nThe search in one call finds {', '.join(f'{number} {words}' for words, number in how)}.")


def _show_hidden(console: Console, alone: Selection, last: Selection) -> None:
    """Print the variables that only the search of the largest tuples finds."""
    hidden = [name for name in last.relevant if name not in alone.relevant]
    if hidden:
        console.print(f"\nFound in {last.dimensions[0]}D but not alone, with their partners:")
    rows = last.table.set_index("variable")
    for name in hidden[:_HIDDEN_SHOWN]:
        row = rows.loc[name]
        console.print(
            f"  {name:>5} with {', '.join(row['partners']):<12} gain {row['gain']:7.1f} bits, "
            f"alone {row['gain_alone']:5.1f}, adjusted p {row['p_adjusted']:.1e}",
            highlight=False,
        )
    if len(hidden) > _HIDDEN_SHOWN:
        console.print(f"  … and {len(hidden) - _HIDDEN_SHOWN} more")


def _write_picture(console: Console, folder: Path, selections: dict[str, Selection]) -> None:
    from interplay.show.plots import plot_gains_by_dimension

    try:
        figure = plot_gains_by_dimension(selections)
    except ImportError as missing:
        console.print(f"\nNo picture: {missing}", markup=False)  # rich would take its brackets for markup
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "gains.png"
    figure.savefig(path, dpi=130)
    console.print(f"\nPicture of the gains by rank: {path}")
