"""Commands on saved results: parts of shards → one result, studies → one result, a result → a page to read."""

from __future__ import annotations

from typing import Any

import click

from interplay.ask.cli.errors import EXIT_CODES, writing
from interplay.ask.cli.options import DATA_OPTIONS, option, take_data_arguments
from interplay.ask.cli.outputs import OUTPUT_OPTIONS, QUIET_OPTION, Outputs
from interplay.readers.data_file import read_data

_PARTS = click.Argument(["parts"], nargs=-1, required=True, metavar="PART...")
_DATA = option(
    "--data",
    metavar="FILE",
    help="The table, for clusters, synergies and pictures of tuples; repeat its options of `interplay run`.",
)


@click.command(
    epilog=EXIT_CODES,
    short_help="Merge the parts of searches with --shard.",
    params=[_PARTS, *OUTPUT_OPTIONS, _DATA, *DATA_OPTIONS, QUIET_OPTION],
)
def merge(parts: tuple[str, ...], data: str | None, **values: Any) -> None:
    """Merge the parts of all shards: the result equals that of one `interplay run` or `interplay interactions`.

    Give every part once, in any order. Missing, repeated and unrelated parts are refused.

    \b
    interplay run data.csv --target outcome -k 3 --shard 1/64 --save parts/1    # and so on
    interplay merge parts/* --report report.html
    """  # noqa: D301 - click looks for that character
    from interplay.ask.selection.shards import merge_parts
    from interplay.show.results.saved import is_saved_interactions, is_saved_traits

    outputs = Outputs.taken_from(values)
    how_to_read = take_data_arguments(values)
    outputs.check([*parts, data, how_to_read["target_file"]])
    if is_saved_interactions(parts[0]) or is_saved_traits(parts[0]):
        from interplay.ask.interaction.merge import merge_interactions

        outputs.write(merge_interactions(parts), data=data, dropped=how_to_read["drop"])
        return
    X = None if data is None else read_data(data, **how_to_read)[0]
    outputs.write(merge_parts(parts, X=X, n_jobs=-1), data=data, dropped=how_to_read["drop"])


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


@click.command(short_help="Write the HTML report of a saved result.")
@click.argument("saved", type=click.Path(dir_okay=False))
@click.argument("file", type=click.Path(dir_okay=False))
def report(saved: str, file: str) -> None:
    """Write the HTML report of the result SAVED (of `--save`) to FILE.

    The report is one file that needs nothing else. An existing FILE is replaced.
    """
    from interplay.files.whole_file import check_writable
    from interplay.show.results.saved import load

    selection = load(saved)
    check_writable(file)
    with writing():
        selection.to_html(file)
    click.echo(f"report: {file}", err=True)
