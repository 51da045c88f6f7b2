"""Options of commands whose outcome may be times: --time and --event."""

from __future__ import annotations

import click

from interplay.ask.cli.options import option

TIME_OPTIONS = (
    option("--time", metavar="COLUMN", help="Instead of --target: the time to an event or to censoring."),
    option(
        "--event",
        metavar="COLUMN[=VALUE]",
        help="With --time: 1 if the event was observed, 0 if the time is censored; or the VALUE of the column that is "
        "the event, as in status=2.",
    ),
)


def check_times(target: str | None, time: str | None, event: str | None) -> None:
    """Refuse one of the options without the other, and a target beside them."""
    if (time is None) != (event is None):
        raise click.UsageError(
            "--time and --event belong together: give both, the time and whether the event was observed"
        )
    if time is not None and target is not None:
        raise click.UsageError("--target does not go with --time and --event: the time is the outcome")
