"""`interplay run`: a file in, what is relevant out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from interplay.cli.config import config_options, record_command
from interplay.cli.data_options import data_options, take_data_arguments, to_record
from interplay.cli.errors import EXIT_CODES
from interplay.cli.options import select_arguments, select_options
from interplay.cli.outputs import Write, check_format, check_outputs, output_options, write_all, write_selection
from interplay.cli.repeated_command import repeated_command
from interplay.readers.data_file import read_data
from interplay.readers.file_formats import FORMATS

if TYPE_CHECKING:
    from interplay.cli.expected_work import ExpectedWork
    from interplay.results.interactions import Interactions
    from interplay.results.selection import Selection


def files_in_words() -> str:
    """Say what files are read, for the help: one paragraph per format, in two columns."""
    lines = ["\b", "DATA is a file; its extension gives the format:"]
    for known in FORMATS:
        rows = zip_longest(wrap(" ".join(known.endings), 17), wrap(known.in_words, 60), fillvalue="")
        lines += [f"  {endings:17}  {words}".rstrip() for endings, words in rows]
    return "\n".join([*lines, "Results replace existing files. Each is written as a whole, after the search.", "", ""])


@click.command(epilog=files_in_words() + EXIT_CODES)
@click.argument("data")
@data_options
@click.option("--time", metavar="COLUMN", help="Instead of --target: the time to an event or to censoring.")
@click.option("--event", metavar="COLUMN", help="With --time: 1 if the event was observed, 0 if the time is censored.")
@select_options
@output_options
@click.option(
    "--shard", metavar="I/N", help="Search only the I-th of N parts; save it with --save, for `interplay merge`."
)
@config_options
@click.option("-q", "--quiet", is_flag=True, help="Print only the requested results, and errors.")
def run(
    data: str,
    time: str | None,
    event: str | None,
    out: str | None,
    format_: str | None,
    report: str | None,
    save: str | None,
    shard: str | None,
    config: str | None,
    config_out: str | None,
    dry_run: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Find the variables in the file DATA that are informative about the outcome.

    Without --out or --format, a summary goes to stdout. Progress and notes go to stderr.
    """
    check_format(out, format_)
    if shard is not None:
        check_shard(shard, save, {"out": out, "format": format_, "report": report, "write-config": config_out})
    outputs = {
        "out": None if out == "-" else out,
        "report": report,
        "save": save,
        "write-config": config_out,
        "checkpoint": values["checkpoint"],
    }
    check_outputs(
        {name: path for name, path in outputs.items() if path is not None}, [data, config, values["target_file"]]
    )
    how_to_read = take_data_arguments(values)
    arguments = select_arguments(values)
    if quiet:
        arguments["progress"] = False
    _check_times(how_to_read["target"], time, event)
    X, y = read_data(data, **how_to_read | {"target": how_to_read["target"] or time})
    if event is not None:
        y = (y, event)
    record = {"data": data, **to_record(how_to_read), "time": time, "event": event, **arguments}

    if dry_run:
        from interplay.cli.expected_work import expected_work
        from interplay.search.tile_loop import Shard

        work = expected_work(X, y, **arguments, shard=None if shard is None else Shard.parse(shard))
        show_work(work, format_=format_, shard=shard)
        if config_out is not None:
            record_command(config_out, "run", record)
        return

    if shard is not None:
        from interplay.shards import search_shard

        seed = arguments["random_state"]
        part = search_shard(X, y, shard=shard, **arguments | {"random_state": 0 if seed is None else seed})
        write_all({"save": (str(save), part.save)}, quiet=quiet)
        return

    from interplay.pipeline import select

    selection = select(X, y, **arguments)
    written = {"out": out, "format_": format_, "report": report, "save": save, "quiet": quiet}
    write_result(selection, "run", record, data=data, dropped=how_to_read["drop"], config_out=config_out, **written)


def write_result(
    found: Selection | Interactions,
    command: str,
    record: dict[str, Any],
    *,
    data: str | None,
    dropped: list[str],
    config_out: str | None,
    **written: Any,
) -> None:
    """Write what a command found, with the command that repeats it and, if asked for, its settings as a file.

    `record` are the settings as they were given; the seed may have been drawn. `written`: as `write_selection` has it.
    """
    seed = found.settings["random_state"]
    recorded = record | {"random_state": seed}
    repeats = repeated_command(click.get_current_context(), random_state=seed)
    others: dict[str, tuple[str, Write]] = {}
    if config_out is not None:
        others["write-config"] = (config_out, lambda path: record_command(path, command, recorded))
    write_selection(found.with_source(file=data, dropped=dropped, command=repeats), others=others, **written)


def _check_times(target: str | None, time: str | None, event: str | None) -> None:
    if (time is None) != (event is None):
        raise click.UsageError(
            "--time and --event belong together: give both, the time and whether the event was observed"
        )
    if time is not None and target is not None:
        raise click.UsageError("--target does not go with --time and --event: the time is the outcome")


def show_work(work: ExpectedWork, *, format_: str | None, shard: str | None, notes: Sequence[str] = ()) -> None:
    """Print what --dry-run measured, as text or as JSON."""
    if format_ == "json":
        click.echo(json.dumps(work.to_dict(), indent=1))
        return
    share = [] if shard is None else [f"shard    {shard}: an equal share of these tuples and this time"]
    click.echo("\n".join([work.summary(), *share, *notes]))


def check_shard(shard: str, save: str | None, not_yet: dict[str, Any]) -> None:
    """A part is not a result: there is nothing to show or report before all are merged."""
    from interplay.search.tile_loop import Shard

    Shard.parse(shard)
    if save is None:
        raise click.UsageError("--shard computes a part of a result: name a file for it with --save")
    for name, value in not_yet.items():
        if value is not None:
            raise click.UsageError(f"--{name} needs the whole result: use it with `interplay merge`, not with --shard")
