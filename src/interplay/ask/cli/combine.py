"""`interplay combine`: results of several studies → one."""

from __future__ import annotations

from typing import Any

import click

from interplay.ask.cli.errors import EXIT_CODES
from interplay.ask.cli.options import option
from interplay.ask.cli.outputs import OUTPUT_OPTIONS, QUIET_OPTION, Outputs

_RESULTS = click.Argument(["results"], nargs=-1, required=True, metavar="RESULT...")
_OWN = (
    option("--study", "studies", multiple=True, metavar="NAME",
           help="Names of the studies, in the order of the results.  [default: names of the files]"),
    option("--p-adjust", metavar="METHOD",
           help="Adjustment of p-values: holm, hochberg, bonferroni, BH, BY or none.  [default: of the first result]"),
    option("--level", type=float, help="Significance level.  [default: of the first result]"),
)  # fmt: skip


@click.command(
    epilog=EXIT_CODES,
    short_help="Combine results of several studies.",
    params=[_RESULTS, *_OWN, *[each for each in OUTPUT_OPTIONS if each.name != "report"], QUIET_OPTION],
)
def combine(results: tuple[str, ...], studies: tuple[str, ...], **values: Any) -> None:
    """Combine saved results (of `--save`) of two or more studies of the same question.

    Effects of interactions are averaged with a test of their heterogeneity; other tuples, and variables, are combined
    by their p-values. Tuples that a study does not list are marked, and not combined.

    \b
    interplay combine first.interplay second.interplay --out both.csv
    """  # noqa: D301 - click looks for that character
    from interplay.sites.combine import combine as combine_results

    outputs = Outputs.taken_from(values)
    outputs.check(list(results))
    found = combine_results(results, studies=studies or None, **values)
    outputs.write(found, data=None, dropped=[])
