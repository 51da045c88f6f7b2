"""`interplay site`: one search over sites that keep their tables, in two rounds of text files."""

from __future__ import annotations

from typing import Any

import click

from interplay.ask.cli.errors import EXIT_CODES, writing
from interplay.ask.cli.options import (
    DATA_OPTIONS,
    SELECT_OPTIONS,
    files_in_words,
    numbers_of,
    option,
    select_arguments,
    take_data_arguments,
)
from interplay.ask.cli.outputs import OUTPUT_OPTIONS, QUIET_OPTION, Outputs, check_files

#: The choices of `interplay.sites.plan`, which would import all of the search for a help text.
_MISSING = ["error", "level", "omit"]

_PLAN = click.Argument(["plan"], metavar="PLAN")
_DATA = click.Argument(["data"])
_SITE = option("--site", required=True, metavar="NAME", help="The name of this site in the plan.")
_SHARED = {str(each.name): each for each in SELECT_OPTIONS}


def _out(what: str) -> click.Option:
    return option("--out", required=True, metavar="FILE", help=f"Write {what} to this text file.")


@click.group(short_help="Search over sites that may not share their data.")
def site() -> None:
    """Find interactions in the samples of several sites, none of which sends its table.

    Each site lists tuples, then counts the tuples of all lists. The result is that of one table of all samples with
    the site as a stratum. Files are text: read them before you send them.

    \b
    interplay site plan template.csv --target ill --site Basel --site Turku --out plan.json
    interplay site list plan.json basel.csv --site Basel --out basel.list
    interplay site count plan.json basel.csv lists/* --site Basel --min-cell 5 --out basel.counts
    interplay site combine plan.json counts/* --out pairs.csv
    """  # noqa: D301 - click looks for that character


_OF_PLAN = (
    option("--site", "sites", multiple=True, required=True, metavar="NAME",
           help="The name of a site; repeat it for every site."),
    option("--levels", metavar="N,N,…",
           help="Levels that all columns of numbers have which are not cut: 0,1,2 for genotypes."),
    option("--thresholds", multiple=True, metavar="COLUMN=N,N,…",
           help="Cut the numbers of a column here; may be repeated.  [default: by rank in DATA]"),
    option("--class", "classes", multiple=True, metavar="LABEL",
           help="Classes of the outcome, in order; may be repeated.  [default: those in DATA]"),
    option("-k", "--dimensions", type=int, default=2, help="Members of a tuple."),
    option("--divisions", type=int, default=1, help="Number of thresholds of columns that are cut."),
    _SHARED["discrete"],
    option("--missing", type=click.Choice(_MISSING), default="error",
           help="Missing values: refuse them, make them a level, or leave the sample out of the tests of the tuple."),
    option("--merge-rare", type=float, metavar="SHARE",
           help="Merge genotypes, and other numbers that are levels, with a neighbour where fewer in DATA have them."),
    option("--p-adjust", metavar="METHOD", default="holm", help="Adjustment for all tuples of the search."),
    option("--level", type=float, default=0.05, help="Significance level."),
    option("--max-p", type=float, help="List all tuples with an unadjusted p-value up to this."),
    option("--list-up-to", type=float, metavar="P",
           help="The p-value up to which no tuple is missing from the lists.  [default: follows from --level]"),
    option("--seed", "random_state", type=int, default=0, help="Seed of bootstraps."),
    _out("the plan"),
    QUIET_OPTION,
)  # fmt: skip


@click.command(
    "plan",
    epilog=files_in_words() + EXIT_CODES,
    short_help="Agree on columns, levels and settings.",
    params=[_DATA, *DATA_OPTIONS, *_OF_PLAN],
)
def plan_command(data: str, out: str, quiet: bool, **values: Any) -> None:
    """Write the plan of a search over sites, from the table of one site or a made-up table of the same form.

    The plan contains the names of columns, their levels, and the thresholds at which numbers are cut. Thresholds that
    are not given are values of DATA.
    """
    from interplay.readers.data_file import read_data
    from interplay.sites import plan_sites

    how_to_read = take_data_arguments(values)
    check_files({"out": out}, [data, how_to_read["target_file"]], of_table="")
    arguments = select_arguments(values)
    arguments["levels"] = None if values["levels"] is None else numbers_of("--levels", values["levels"])
    arguments["thresholds"] = dict(_thresholds(entry) for entry in values["thresholds"]) or None
    arguments["classes"] = list(values["classes"]) or None
    X, y = read_data(data, **how_to_read)
    plan = plan_sites(X, y, target=how_to_read["target"], **arguments)
    _write(plan, out, quiet=quiet)


@click.command(
    "list",
    epilog=EXIT_CODES,
    short_help="Round one: list tuples of one site.",
    params=[
        _PLAN, _DATA, _SITE, *DATA_OPTIONS, _SHARED["engine"], _SHARED["n_jobs"], _SHARED["progress"],
        _out("the list"), QUIET_OPTION,
    ],
)  # fmt: skip
def list_command(plan: str, data: str, out: str, quiet: bool, **values: Any) -> None:
    """List the tuples of the table DATA of one site whose interaction reaches the share of the site.

    The file names columns. It contains no counts and no rows.
    """
    from interplay.sites import list_at_site

    check_files({"out": out}, [plan, data, values["target_file"]], of_table="")
    X, y = _read(plan, data, values)
    if quiet:
        values["progress"] = False
    _write(list_at_site(plan, X, y, **values), out, quiet=quiet)


@click.command(
    "count",
    epilog=EXIT_CODES,
    short_help="Round two: count the listed tuples at one site.",
    params=[
        _PLAN, _DATA, click.Argument(["lists"], nargs=-1, required=True, metavar="LIST..."), _SITE,
        option("--min-cell", type=int, default=0, metavar="N",
               help="Withhold tables with a count below N, other than 0."),
        *DATA_OPTIONS, _SHARED["n_jobs"], _out("the counts"), QUIET_OPTION,
    ],
)  # fmt: skip
def count_command(plan: str, data: str, lists: tuple[str, ...], out: str, quiet: bool, **values: Any) -> None:
    """Count the samples of the table DATA of one site in the cells of all tuples that any site has listed.

    LIST... are the lists of all sites. The file contains counts and no rows. Counts of smaller groups, down to one
    person, can follow from them, also with --min-cell.
    """
    from interplay.sites import count_at_site

    check_files({"out": out}, [plan, data, *lists, values["target_file"]], of_table="")
    X, y = _read(plan, data, values)
    _write(count_at_site(plan, X, y, lists=lists, **values), out, quiet=quiet)


@click.command(
    "combine",
    epilog=EXIT_CODES,
    short_help="Combine the counts of all sites.",
    params=[
        _PLAN, click.Argument(["counts"], nargs=-1, required=True, metavar="COUNTS..."), _SHARED["n_jobs"],
        *OUTPUT_OPTIONS, QUIET_OPTION,
    ],
)  # fmt: skip
def combine_command(plan: str, counts: tuple[str, ...], n_jobs: int, **values: Any) -> None:
    """Combine the counts of all sites: the interactions of all samples, with the site as a stratum."""
    from interplay.sites import combine_sites

    outputs = Outputs.taken_from(values)
    outputs.check([plan, *counts])
    found = combine_sites(plan, counts, n_jobs=n_jobs, progress=False if outputs.quiet else None)
    outputs.write(found, data=None, dropped=[])


for command in (plan_command, list_command, count_command, combine_command):
    site.add_command(command)


def _read(plan: str, data: str, values: dict[str, Any]) -> tuple[Any, Any]:
    """Read the table of a site; its outcome is that of the plan unless another name is given."""
    from interplay.readers.data_file import read_data
    from interplay.sites.plan import read_plan

    how_to_read = take_data_arguments(values)
    how_to_read["target"] = how_to_read["target"] or read_plan(plan).target
    X, y = read_data(data, **how_to_read)
    return X, y


def _write(made: Any, path: str, *, quiet: bool) -> None:
    with writing():
        made.save(path)
    if not quiet:
        click.echo(repr(made))
        click.echo(f"written: {path}; it is text: read it before you send it", err=True)


def _thresholds(entry: str) -> tuple[str, list[float]]:
    column, found, numbers = entry.rpartition("=")
    if not found or not column:
        raise click.UsageError(f"--thresholds {entry!r} must be COLUMN=N,N,…, such as age=40,60")
    return column, numbers_of("--thresholds", numbers)
