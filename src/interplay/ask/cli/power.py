"""`interplay power`: the chance that a study finds an interaction, as a number and as a curve over samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from interplay.ask.cli.errors import EXIT_CODES
from interplay.ask.cli.options import numbers_of
from interplay.ask.coding import CODING_CHOICES

#: Columns of the bars of the curve.
_WIDTH = 40

#: Numbers of samples of a curve, as shares of the number in its middle.
_STEPS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)


@click.command(epilog=EXIT_CODES, short_help="Plan a study: power, or the samples that it needs.")
@click.option("-k", "--dimensions", type=int, default=2, show_default=True, help="Members of the tuple.")
@click.option("--samples", "n_samples", type=int, metavar="N", help="Samples of the study.  [default: those needed]")
@click.option("--power", "wanted", type=float, metavar="SHARE", help="Without --samples: power wanted.  [default: 0.8]")
@click.option("--vars", "n_vars", type=int, default=50, show_default=True, help="Variables of the table.")
@click.option(
    "--effect",
    type=float,
    help="Numbers: half the difference between cells, in standard deviations. Classes and times: log odds ratio or log "
    "hazard ratio of the interaction.  [default: 0.35]",
)
@click.option("--h2", type=float, metavar="SHARE", help="Instead of --effect: share of the variance it explains.")
@click.option("--maf", metavar="Q[,Q…]", help="Genotypes: frequency of the rarer allele of all members, or of each.")
@click.option("--r2-tag", metavar="R2[,R2…]", help="With --h2: r² of the typed variants with their causes.")
@click.option("--outcome", type=click.Choice(["number", "classes", "times"]), default="number", show_default=True)
@click.option("--levels", metavar="N[,N…]", default="2", show_default=True, help="Levels of all members, or of each.")
@click.option(
    "--shares", metavar="S,S…", help="Shares of the levels of all members.  [default: equal, cut at quantiles]"
)
@click.option("--class-shares", metavar="S,S…", default="0.5,0.5", show_default=True, help="Shares of the classes.")
@click.option("--event-share", type=float, default=1.0, show_default=True, help="Times: share of events that are seen.")
@click.option("--scale", type=click.Choice(["ranks", "values"]), default="ranks", show_default=True)
@click.option("--coding", type=click.Choice(list(CODING_CHOICES)), default="levels", show_default=True)
@click.option("--level", type=float, default=0.05, show_default=True, help="Significance level.")
@click.option("--tests", "n_tests", type=int, metavar="N", help="Tuples that are searched.  [default: all]")
@click.option("--curve/--no-curve", default=True, help="Print the power of fewer and of more samples.")
@click.option("--out", metavar="FILE.csv", help="Write the curve as a table.")
@click.option("--plot", metavar="FILE.png", help="Draw the curve; needs interplay[plot].")
def power(
    n_samples: int | None,
    wanted: float | None,
    curve: bool,
    out: str | None,
    plot: str | None,
    levels: str,
    shares: str | None,
    class_shares: str,
    maf: str | None,
    r2_tag: str | None,
    **arguments: Any,
) -> None:
    """Say how likely `interplay interactions` is to find a tuple, or how many samples that needs.

    One tuple of independent variables interacts, and p-values are adjusted for all tuples of the search.

    \b
    interplay power -k 2 --samples 400 --vars 50 --effect 0.35
    interplay power -k 3 --vars 200 --outcome classes --effect 4 --power 0.9
    interplay power --h2 0.005 --maf 0.3,0.2 --r2-tag 0.9 --coding dosage --vars 50000
    """  # noqa: D301 - click looks for that character
    from interplay.ask.planning.call import make_design
    from interplay.ask.planning.call import power as power_of

    if n_samples is not None and wanted is not None:
        raise click.UsageError(
            "--samples and --power cannot be given together: without --samples, those needed are told"
        )
    of_levels = numbers_of("--levels", levels, int)
    arguments["levels"] = of_levels[0] if len(of_levels) == 1 else of_levels
    arguments["shares"] = None if shares is None else numbers_of("--shares", shares, float)
    for name, text in (("maf", maf), ("r2_tag", r2_tag)):
        several = [] if text is None else numbers_of(f"--{name.replace('_', '-')}", text, float)
        arguments[name] = None if text is None else several[0] if len(several) == 1 else several
    arguments["class_shares"] = numbers_of("--class-shares", class_shares, float)
    design = make_design(**arguments)
    if n_samples is None:
        found = int(power_of(n_samples=None, power=wanted, **arguments))
        click.echo(f"{found} samples are needed for a power of {0.8 if wanted is None else wanted:g}.")
    else:
        found = n_samples
        click.echo(f"Power with {found} samples: {power_of(n_samples=found, **arguments):.3f}.")
    threshold = design.level / design.n_tests
    click.echo(
        f"{design.n_tests} tuples of {arguments['dimensions']} among {arguments['n_vars']} variables: p below "
        f"{threshold:.3g} by {design.test_in_words}."
    )
    if not (curve or out or plot):
        return
    at = sorted({max(8, round(step * found)) for step in _STEPS})
    powers = power_of(n_samples=at, **arguments).tolist()  # type: ignore[union-attr]
    if curve:
        for n, value in zip(at, powers, strict=True):
            click.echo(f"{n:>10}  {value:.3f}  {'█' * round(_WIDTH * value)}")
    if out is not None:
        lines = ["n_samples,power", *(f"{n},{value:.6g}" for n, value in zip(at, powers, strict=True))]
        Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")
    if plot is not None:
        _draw(at, powers, plot)


def _draw(at: list[int], powers: list[float], path: str) -> None:
    from interplay.base.checks import needing

    with needing("matplotlib", "plot", "--plot needs"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(at, powers, marker="o")
    axes.axhline(0.8, color="0.7", linewidth=1)
    axes.set(xlabel="samples", ylabel="power", ylim=(0, 1.02))
    figure.savefig(path)
