"""What a command writes: the options that name it, checks before the work, and the writing after it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from interplay.cli.errors import NotWrittenError, writing
from interplay.results.table_file import check_table_ending, table_bytes, write_table
from interplay.stored.whole_file import check_writable

if TYPE_CHECKING:
    from interplay.results.interactions import Interactions
    from interplay.results.selection import Selection

Command = TypeVar("Command", bound=Callable[..., Any])
Write = Callable[[str], Any]

_OUTPUT_OPTIONS = (
    click.option(
        "--out", metavar="FILE", help="Write the table of all variables: .csv, .tsv, .parquet or .json; - is stdout."
    ),
    click.option(
        "--format",
        "format_",
        type=click.Choice(["csv", "tsv", "json"]),
        help="Print the table to stdout in this format.",
    ),
    click.option("--report", metavar="FILE", help="Write an HTML report."),
    click.option("--save", metavar="FILE", help="Save the whole result, for `interplay report` and interplay.load()."),
)


def output_options(command: Command) -> Command:
    """Give a command the options of what to do with a Selection."""
    for option in reversed(_OUTPUT_OPTIONS):
        command = option(command)
    return command


def check_format(out: str | None, format_: str | None) -> None:
    """Refuse two ways of saying what the table should be."""
    if format_ is not None and out not in (None, "-"):
        raise click.UsageError(
            "--format is for the table on stdout: leave it out, because the file extension of --out gives the format"
        )


def write_selection(
    selection: Selection | Interactions,
    *,
    out: str | None,
    format_: str | None,
    report: str | None,
    save: str | None,
    quiet: bool,
    others: dict[str, tuple[str, Write]],
) -> None:
    """Write a result, and whatever else there is to write, to files; and to stdout the table or a summary."""
    files: dict[str, tuple[str | None, Write]] = {
        "save": (save, selection.save),
        "out": (None if out == "-" else out, lambda path: write_table(selection.table, path)),
        "report": (report, selection.to_html),
    }
    write_all({name: (path, write) for name, (path, write) in files.items() if path is not None} | others, quiet=quiet)
    if out == "-" or format_ is not None:
        _to_stdout(table_bytes(selection.table, format_ or "csv"))
    elif not quiet:
        click.echo(selection.summary())


def check_outputs(outputs: dict[str, str], inputs: list[str | None]) -> None:
    """Find out now, not after the search, what could not be written then."""
    taken = {os.path.realpath(path): path for path in inputs if path is not None and path != "-"}
    for name, path in outputs.items():
        if os.path.realpath(path) in taken and not path.startswith("/dev/"):
            raise click.UsageError(f"--{name} {path!r} is also used for something else: name another file")
        taken[os.path.realpath(path)] = path
        if name == "out":
            check_table_ending(path)
        check_writable(path)


def write_all(writers: dict[str, tuple[str, Write]], *, quiet: bool) -> None:
    """Write every result that can be written: a full disk should not cost more than it must."""
    problems = []
    for name, (path, write) in writers.items():
        try:
            with writing():
                write(path)
            if not quiet:
                click.echo(f"{name}: {path}", err=True)
        except NotWrittenError as problem:
            problems.append(str(problem))
    if problems:
        raise NotWrittenError("; ".join(problems))


def _to_stdout(content: bytes) -> None:
    with writing():
        sys.stdout.flush()
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:  # a stand-in that takes text only
            sys.stdout.write(content.decode())
