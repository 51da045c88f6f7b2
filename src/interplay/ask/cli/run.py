"""`interplay run`: a file → the relevant variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from interplay.ask.cli.errors import (
    EXIT_CODES,
    StoppedAfterSearchError,
    accepting,
    all_problems_at_once,
    check_selection_data,
    stopped_between_traits,
)
from interplay.ask.cli.options import (
    DATA_OPTIONS,
    LOCO_OPTION,
    PCS_OPTION,
    SELECT_OPTIONS,
    TIME_OPTIONS,
    TRAIT_OPTION,
    GroupedCommand,
    check_times,
    files_in_words,
    input_files,
    loco_offset,
    names_of_components,
    select_arguments,
    take_data_arguments,
    take_traits,
    to_record,
    with_all_covariates,
    with_components,
)
from interplay.ask.cli.outputs import BEST_OPTION, CLUMP_OPTION, SEARCH_OPTIONS, Outputs
from interplay.readers.data_file import read_data


@click.command(
    cls=GroupedCommand,
    epilog=files_in_words() + EXIT_CODES,
    params=[
        click.Argument(["data"]),
        *DATA_OPTIONS,
        TRAIT_OPTION,
        *TIME_OPTIONS,
        *SELECT_OPTIONS,
        PCS_OPTION,
        LOCO_OPTION,
        CLUMP_OPTION,
        BEST_OPTION,
        *SEARCH_OPTIONS,
    ],
)
def run(
    data: str, time: str | None, event: str | None, shard: str | None, config: str | None, dry_run: bool, **values: Any
) -> None:
    """Find the variables in the file DATA that are informative about the outcome.

    Without --out or --format, a summary goes to stdout. Progress and notes go to stderr.
    """
    outputs = Outputs.taken_from(values)
    loco, pcs = values.pop("loco"), values.pop("pcs")
    inputs = [data, config, *input_files(values), None if loco == "auto" else loco]
    outputs.check(inputs, checkpoint=values["checkpoint"], shard=shard)
    how_to_read = take_data_arguments(values)
    of_one = {
        "--time": time,
        "--report": outputs.report,
        "--sumstats": outputs.sumstats,
        "--best": outputs.best,
        "--dry-run": dry_run,
        "--shard": shard,
        "--loco": loco,
    }
    take_traits(values, how_to_read, one_outcome=of_one)
    arguments = with_all_covariates(select_arguments(values), how_to_read)
    if outputs.quiet:
        arguments["progress"] = False
    check_times(how_to_read["target"], time, event)
    record = {"data": data, **to_record(how_to_read), "time": time, "event": event, **arguments}
    record |= {"pcs": pcs, "loco": loco}
    if loco is not None and arguments["offset"] is not None:
        raise click.UsageError("--loco does not go with --offset: leave one of them out")
    if loco is not None and outputs.best == "auto":
        raise click.UsageError("--best auto does not go with --loco: give the number of variables")
    if loco is not None and arguments["dimensions"] != 1:
        raise click.UsageError("--loco is for variants by themselves here: give -k 1, or search pairs by interactions")
    if pcs is not None:
        arguments["covariates"] = [*(arguments["covariates"] or []), *names_of_components(pcs)]

    def read(accepted: dict[str, Any]) -> tuple[Any, Any]:
        X, y = read_data(data, **accepting(how_to_read | {"target": how_to_read["target"] or time}, accepted))
        return with_components(X, pcs, arguments, [event]), y if event is None else (y, event)

    def check(accepted: dict[str, Any]) -> None:
        check_selection_data(*read(accepted), **accepting(arguments, accepted))

    with all_problems_at_once(check, data=data):
        X, y = read({})
        outputs.check_variants(X)
        if loco is not None:
            arguments["offset"] = loco_offset(loco, X, y, arguments)
        if dry_run:
            from interplay.ask.cli.expected_work import expected_work
            from interplay.search.loop import Shard

            work = expected_work(X, y, **arguments, shard=None if shard is None else Shard.parse(shard))
            outputs.show_work(work, record=record, shard=shard)
            return

        if shard is not None:
            from interplay.ask.selection.shards import search_shard

            seed = arguments["random_state"]
            part = search_shard(X, y, shard=shard, **arguments | {"random_state": 0 if seed is None else seed})
            outputs.write_part(part)
            return

        from interplay.ask.selection.call import select
        from interplay.search.engines.base import SearchInterrupted
        from interplay.show.results.selection import Selection

        stop: BaseException | None = None
        try:
            found = select(X, y, **arguments)
        except SearchInterrupted as stopped:
            stop = stopped_between_traits(stopped)
            if stop is None and not isinstance(stopped.partial, Selection):
                raise
            found, stop = stopped.partial, stop or StoppedAfterSearchError()
            outputs = replace(outputs, best=None if outputs.best == "auto" else outputs.best)
    outputs.write(found, data=data, dropped=how_to_read["drop"], record=record)
    if stop is not None:
        raise stop
