"""The command `interplay`."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="interplay")
def commands() -> None:
    """Find the variables that tell about a decision, alone or only together."""


@commands.command()
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), default=Path("demo"), show_default=True,
              help="Where to write the picture.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Of data and search.")
@click.option("-k", "--dimensions", type=click.IntRange(1, 4), default=3, show_default=True, help="Go up to this many.")
def demo(folder: Path, seed: int, dimensions: int) -> None:
    """Search a made-up set with known truth in 1D, 2D and 3D."""
    from interplay.demo import run_demo

    run_demo(folder, random_state=seed, max_dimensions=dimensions)


@commands.command()
@click.option("-v", "--verbose", is_flag=True, help="Also say which bound the search finds cheaper here.")
def info(verbose: bool) -> None:
    """Print versions and engines: what a bug report needs."""
    import os
    import platform

    from interplay.engines.cpu import default_simd_level, simd_levels
    from interplay.jobs import resolve_n_jobs
    from interplay.provenance import versions

    for name, version in versions().items():
        click.echo(f"{name:<12} {version}")
    click.echo(f"{'platform':<12} {platform.platform()}")
    click.echo(f"{'cores':<12} {resolve_n_jobs(-1)}")
    click.echo(f"{'SIMD levels':<12} {', '.join(simd_levels())} (in use: {default_simd_level()})")
    for variable in ("INTERPLAY_ENGINE", "INTERPLAY_SIMD_LEVEL", "INTERPLAY_DATA"):
        if variable in os.environ:
            click.echo(f"{variable:<12} {os.environ[variable]}")
    if verbose:
        from interplay.bound_choice import show_bound_choices

        show_bound_choices(click.echo)


def main() -> None:
    """Run the command; errors are one line and exit code 2, an interrupt is exit code 130."""
    try:
        commands(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code if error.exit_code != 1 else 2)
    except (ValueError, TypeError, OSError, ImportError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        sys.exit(130)
