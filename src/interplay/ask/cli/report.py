"""`interplay report`: a saved result as a page to read."""

from __future__ import annotations

import click

from interplay.ask.cli.errors import writing


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
