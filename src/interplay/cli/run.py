"""`interplay run`: a file in, what is relevant out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from interplay.cli.config import use_config, write_config
from interplay.cli.errors import EXIT_CODES, NotWrittenError, writing
from interplay.cli.options import select_arguments, select_options
from interplay.io import check_table_ending, read_data, table_bytes, write_table
from interplay.whole_file import check_writable, whole_path

if TYPE_CHECKING:
    from interplay.result import Selection

_FILES = """\b
DATA is a file, known by its ending:
  .csv .tsv .txt, also .gz   --target names a column; the first line names the columns;
                             an unnamed first column is row names. "-" is csv on stdin.
  .parquet .feather .arrow   --target names a column
  .npy                       --target is the number of a column, from 0, or -1 for the last
  .npz                       arrays X and y, or --target names another than y, or is a number
  .h5ad                      --target names a column of obs
  .bed                       PLINK; the phenotype is in the .fam file
Results replace existing files, at the end and as a whole.

"""


@click.command(epilog=_FILES + EXIT_CODES)
@click.argument("data")
@click.option("--target", metavar="COLUMN", help="The column to be explained.")
@click.option("--drop", metavar="COLUMN", multiple=True, help="Leave this column out; may be repeated.")
@click.option("--delimiter", metavar="CHARACTER", help="Of text files.  [default: what the header shows]")
@select_options
@click.option("--out", metavar="FILE", help="Table of all variables: .csv, .tsv, .parquet or .json; - is stdout.")
@click.option("--format", "format_", type=click.Choice(["csv", "tsv", "json"]), help="The table, to stdout.")
@click.option("--report", metavar="FILE", help="HTML report.")
@click.option("--save", metavar="FILE", help="The whole result, for `interplay report` and interplay.load().")
@click.option("--config", metavar="FILE", is_eager=True, callback=use_config, help="Take settings from a TOML file.")
@click.option("--write-config", "config_out", metavar="FILE", help="Record the run as such a file.")
@click.option("--dry-run", is_flag=True, help="Measure and print the work, and do not do it.")
@click.option("-q", "--quiet", is_flag=True, help="Only results that were asked for, and errors.")
def run(
    data: str,
    target: str | None,
    drop: tuple[str, ...],
    delimiter: str | None,
    out: str | None,
    format_: str | None,
    report: str | None,
    save: str | None,
    config: str | None,
    config_out: str | None,
    dry_run: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Find the variables in the file DATA that tell about a target.

    Without --out or --format, a summary goes to stdout. Progress and notes go to stderr.
    """
    if format_ is not None and out not in (None, "-"):
        raise click.UsageError("--format is for the table on stdout: leave it out, the ending of --out says it")
    outputs = {"out": None if out == "-" else out, "report": report, "save": save, "write-config": config_out}
    _check_outputs({name: path for name, path in outputs.items() if path is not None}, [data, config])
    arguments = select_arguments(values)
    if quiet:
        arguments["progress"] = False
    X, y = read_data(data, target=target, drop=drop, delimiter=delimiter)
    record = {"data": data, "target": target, "drop": list(drop) or None, "delimiter": delimiter, **arguments}

    if dry_run:
        from interplay.expected_work import expected_work

        work = expected_work(X, y, **arguments)
        click.echo(json.dumps(work.to_dict(), indent=1) if format_ == "json" else work.summary())
        if config_out is not None:
            _record(config_out, record)
        return

    from interplay.pipeline import select

    selection = select(X, y, **arguments)
    writers: dict[str, Callable[[str], Any]] = {
        "save": selection.save,
        "out": lambda path: write_table(selection.table, path),
        "report": lambda path: _write_report(selection, path),
        "write-config": lambda path: _record(path, record | {"random_state": selection.settings["random_state"]}),
    }
    _write_all({name: (path, writers[name]) for name, path in outputs.items() if path is not None}, quiet=quiet)
    if out == "-" or format_ is not None:
        _to_stdout(table_bytes(selection.table, format_ or "csv"))
    elif not quiet:
        click.echo(selection.summary())


def _check_outputs(outputs: dict[str, str], inputs: list[str | None]) -> None:
    """Find out now, not after the search, what could not be written then."""
    taken = {os.path.realpath(path): path for path in inputs if path is not None and path != "-"}
    for name, path in outputs.items():
        if os.path.realpath(path) in taken and not path.startswith("/dev/"):
            raise click.UsageError(f"--{name} {path!r} is also used for something else: name another file")
        taken[os.path.realpath(path)] = path
        if name == "out":
            check_table_ending(path)
        check_writable(path)


def _write_all(writers: dict[str, tuple[str, Callable[[str], Any]]], *, quiet: bool) -> None:
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


def _write_report(selection: Selection, path: str) -> None:
    with whole_path(path) as unfinished:
        selection.to_html(unfinished)


def _record(path: str, settings: dict[str, Any]) -> None:
    from interplay import __version__

    comment = f"`interplay run --config {os.path.basename(path)}` repeats this run (interplay {__version__})."
    settings = {name: value for name, value in settings.items() if name != "progress"}
    write_config(path, settings, comment=comment)


def _to_stdout(content: bytes) -> None:
    with writing():
        sys.stdout.flush()
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:  # a stand-in that takes text only
            sys.stdout.write(content.decode())
