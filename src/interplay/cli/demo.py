"""`interplay demo`: what there is to see, on data whose truth is known."""

from __future__ import annotations

from pathlib import Path

import click


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
    from interplay.cli.demo_run import run_demo

    run_demo(folder, random_state=seed, max_dimensions=dimensions)
