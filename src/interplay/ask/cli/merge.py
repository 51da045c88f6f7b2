"""`interplay merge`: the parts of all shards → one result."""

from __future__ import annotations

from typing import Any

import click

from interplay.ask.cli.data_options import DATA_OPTIONS, take_data_arguments
from interplay.ask.cli.errors import EXIT_CODES
from interplay.ask.cli.options import option
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
