"""`interplay run`: a file → the relevant variables."""

from __future__ import annotations

from typing import Any

import click

from interplay.cli.data_options import DATA_OPTIONS, files_in_words, take_data_arguments, to_record
from interplay.cli.errors import EXIT_CODES
from interplay.cli.options import SELECT_OPTIONS, option, select_arguments
from interplay.cli.outputs import SEARCH_OPTIONS, Outputs
from interplay.readers.data_file import read_data

_TIME_OPTIONS = (
    option("--time", metavar="COLUMN", help="Instead of --target: the time to an event or to censoring."),
    option("--event", metavar="COLUMN", help="With --time: 1 if the event was observed, 0 if the time is censored."),
)


@click.command(
    epilog=files_in_words() + EXIT_CODES,
    params=[click.Argument(["data"]), *DATA_OPTIONS, *_TIME_OPTIONS, *SELECT_OPTIONS, *SEARCH_OPTIONS],
)
def run(
    data: str, time: str | None, event: str | None, shard: str | None, config: str | None, dry_run: bool, **values: Any
) -> None:
    """Find the variables in the file DATA that are informative about the outcome.

    Without --out or --format, a summary goes to stdout. Progress and notes go to stderr.
    """
    outputs = Outputs.taken_from(values)
    outputs.check(
        [data, config, values["target_file"], values["sample_file"]], checkpoint=values["checkpoint"], shard=shard
    )
    how_to_read = take_data_arguments(values)
    arguments = select_arguments(values)
    if outputs.quiet:
        arguments["progress"] = False
    _check_times(how_to_read["target"], time, event)
    X, y = read_data(data, **how_to_read | {"target": how_to_read["target"] or time})
    if event is not None:
        y = (y, event)
    record = {"data": data, **to_record(how_to_read), "time": time, "event": event, **arguments}

    if dry_run:
        from interplay.cli.expected_work import expected_work
        from interplay.search.loop import Shard

        work = expected_work(X, y, **arguments, shard=None if shard is None else Shard.parse(shard))
        outputs.show_work(work, record=record, shard=shard)
        return

    if shard is not None:
        from interplay.selection.shards import search_shard

        seed = arguments["random_state"]
        part = search_shard(X, y, shard=shard, **arguments | {"random_state": 0 if seed is None else seed})
        outputs.write_part(part)
        return

    from interplay.selection.call import select

    outputs.write(select(X, y, **arguments), data=data, dropped=how_to_read["drop"], record=record)


def _check_times(target: str | None, time: str | None, event: str | None) -> None:
    if (time is None) != (event is None):
        raise click.UsageError(
            "--time and --event belong together: give both, the time and whether the event was observed"
        )
    if time is not None and target is not None:
        raise click.UsageError("--target does not go with --time and --event: the time is the outcome")
