"""`interplay interactions`: a file → the tuples that interact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from interplay.ask.cli.errors import (
    EXIT_CODES,
    accepting,
    all_problems_at_once,
    check_interaction_data,
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
    ShareOrNumber,
    check_times,
    files_in_words,
    input_files,
    loco_offset,
    names_of_components,
    option,
    select_arguments,
    take_data_arguments,
    take_traits,
    to_record,
    with_all_covariates,
    with_components,
)
from interplay.ask.cli.outputs import CLUMP_OPTION, SEARCH_OPTIONS, Outputs
from interplay.ask.coding import CODING_CHOICES
from interplay.data.codes.coder import MISSING_CHOICES
from interplay.infer.linkage import DEFAULT_R2
from interplay.infer.p_values import LISTED_METHODS
from interplay.readers.data_file import read_data

#: Options that mean the same here as for `interplay run`.
_SHARED = [
    each for each in SELECT_OPTIONS if each.name in {
        "divisions", "discretizations", "range_", "decision", "decision_divisions", "scale", "strata", "groups",
        "order", "n_permutations", "covariates", "offset", "entry", "discrete", "random_state", "engine", "n_jobs",
        "checkpoint", "progress",
    }
]  # fmt: skip

_OWN = (
    option("-k", "--dimensions", type=int, default=2,
           help="Members of a tuple: 2 tests all pairs, 3 all triples, and so on."),
    option("--coding", type=click.Choice(list(CODING_CHOICES)), default="auto",
           help="auto: levels, products, and shapes of pairs, the best one for each tuple.  levels: numbers are cut.  "
           "product: the product of scores, numbers not cut.  dosage: for "
           "an outcome of numbers, the product of dosages (genotypes 0, 1, 2) beside straight lines."),
    option("--missing", type=click.Choice([*MISSING_CHOICES, "omit"]), default="auto",
           help="Missing values: refuse them, make them a level, draw them from the observed values, or leave "
           "the sample out of the tests of the tuple.  auto: leave out."),
    option("--variables", metavar="NAME|@FILE", multiple=True,
           help="Only tuples with one of these variables; may be repeated; @FILE has one name per line."),
    option("--require", type=click.Choice(["any", "all"]), default="any",
           help="Whether a tuple must contain one of --variables, or consist of them."),
    option("--partners", metavar="NAME|@FILE", multiple=True,
           help="With --variables: the other members of a tuple must be among these."),
    option("--min-distance", type=float, metavar="N",
           help="Leave out tuples with two members on one chromosome that are closer than this."),
    option("--positions", metavar="FILE",
           help="For --min-distance: a .bim file, or a table with the columns variable, position and chromosome. "
           " [default: positions of the file of genotypes]"),
    option("--p-adjust", type=click.Choice(list(LISTED_METHODS)),
           metavar="METHOD", default="holm",
           help="Adjustment for all tuples of the search: holm, hochberg, bonferroni, BH, BY or none."),
    option("--level", type=float, default=0.05,
           help="Significance level: significant tuples have an adjusted p-value below it."),
    option("--max-p", type=float, help="List all tuples with an unadjusted p-value up to this; 1 lists all.  "
           "[default: significant tuples]"),
    option("--top", type=int, metavar="N", help="List the N tuples with the smallest p-values."),
    option("--tagging", is_flag=True,
           help="Test significant leads again beside the columns near their members: is it an interaction, or does "
           "another column explain it?"),
    option("--window", type=float, metavar="N",
           help="With --tagging: columns up to this distance from a member are near.  [default: 1000000 where "
           "positions are known, else the most correlated columns]"),
    option("--dense", metavar="FILE",
           help="With --tagging: a denser table of the same samples, such as imputed genotypes in a .bed file."),
    option("--holdout", type=ShareOrNumber(), metavar="SHARE|N",
           help="Keep this share, or number, of the samples out of the search, and test "
           "the found tuples in them."),
)  # fmt: skip


@click.command(
    cls=GroupedCommand,
    epilog=files_in_words() + EXIT_CODES,
    short_help="Find the tuples of variables that interact.",
    params=[
        click.Argument(["data"]),
        *DATA_OPTIONS,
        TRAIT_OPTION,
        *TIME_OPTIONS,
        *_SHARED,
        *_OWN,
        PCS_OPTION,
        LOCO_OPTION,
        CLUMP_OPTION,
        *SEARCH_OPTIONS,
    ],
)
def interactions(
    data: str, time: str | None, event: str | None, shard: str | None, config: str | None, dry_run: bool, **values: Any
) -> None:
    """Find the tuples of variables in the file DATA that interact in their effect on the outcome.

    An interaction is an effect of a tuple beyond the sum of the effects of its parts. Without --out or --format, a
    summary goes to stdout. Progress and notes go to stderr.

    \b
    interplay interactions data.csv --target outcome -k 2 --out pairs.csv --report pairs.html
    interplay interactions study.bed --missing omit --min-distance 1000000 --top 100
    """  # noqa: D301 - click looks for that character
    outputs = Outputs.taken_from(values)
    asked = _tagging_asked(values)
    inputs = [data, config, values["positions"], *input_files(values)]
    loco, pcs = values.pop("loco"), values.pop("pcs")
    inputs += [asked.get("dense"), None if loco == "auto" else loco]
    outputs.check(inputs, checkpoint=values["checkpoint"], shard=shard)
    how_to_read = take_data_arguments(values)
    of_one = {
        "--time": time,
        "--report": outputs.report,
        "--sumstats": outputs.sumstats,
        "--dry-run": dry_run,
        "--loco": loco,
    }
    take_traits(values, how_to_read, one_outcome=of_one | {"--tagging": bool(asked)})
    arguments = with_all_covariates(select_arguments(values), how_to_read)
    as_typed = {name: list(value) or None if isinstance(value, tuple) else value for name, value in arguments.items()}
    check_times(how_to_read["target"], time, event)
    record = {"data": data, **to_record(how_to_read), "time": time, "event": event, **as_typed}
    record |= {"pcs": pcs, "loco": loco}
    arguments["variables"], arguments["partners"] = _listed(values["variables"]), _listed(values["partners"])
    if loco is not None and arguments["offset"] is not None:
        raise click.UsageError("--loco does not go with --offset: leave one of them out")
    if pcs is not None:
        arguments["covariates"] = [*(arguments["covariates"] or []), *names_of_components(pcs)]
    if values["positions"] is not None:
        from interplay.readers.genotypes.bed import read_positions

        arguments["positions"] = read_positions(values["positions"])
    if asked:
        asked["positions"] = arguments.get("positions")
        if arguments["min_distance"] is None and loco is None:
            arguments["positions"] = None
    if shard is not None and arguments["random_state"] is None:
        arguments["random_state"] = 0  # the same for all parts
    if outputs.quiet:
        arguments["progress"] = False

    def read(accepted: dict[str, Any]) -> tuple[Any, Any]:
        X, y = read_data(data, **accepting(how_to_read | {"target": how_to_read["target"] or time}, accepted))
        return with_components(X, pcs, arguments, [event]), y if event is None else (y, event)

    def check(accepted: dict[str, Any]) -> None:
        check_interaction_data(*read(accepted), shard=shard, **accepting(arguments, accepted))

    with all_problems_at_once(check, data=data):
        X, y = read({})
        outputs.check_variants(X)
        if loco is not None:
            arguments["offset"] = loco_offset(loco, X, y, arguments)
        if dry_run:
            from interplay.ask.cli.expected_work import expected_interactions

            work = expected_interactions(X, y, shard=shard, **arguments)
            untimed = "tests    of the tuples that the search leaves: not included"
            outputs.show_work(work, record=record, shard=shard, notes=[untimed])
            return

        from interplay.ask.interaction.call import interactions as find_interactions
        from interplay.search.engines.base import SearchInterrupted

        stop: BaseException | None = None
        try:
            found = find_interactions(X, y, shard=shard, **arguments)
        except SearchInterrupted as stopped:
            stop = stopped_between_traits(stopped)
            if stop is None or shard is not None:
                raise
            found = stopped.partial
    if shard is not None:
        outputs.write_part(found)
        return
    if asked:
        beside = {name: arguments[name] for name in ("covariates", "strata", "offset", "entry", "n_jobs")}
        r2 = DEFAULT_R2 if outputs.clump is None else outputs.clump
        found = found.with_tagging(X, y, r2=r2, **asked, **beside)
    outputs.write(found, data=data, dropped=how_to_read["drop"], record=record)
    if stop is not None:
        raise stop


def _tagging_asked(values: dict[str, Any]) -> dict[str, Any]:
    """Take the options of tagging out of the values of all options; none where it is not asked for."""
    wanted = values.pop("tagging")
    asked = {name: values.pop(name) for name in ("window", "dense")}
    if not wanted:
        for name, value in asked.items():
            if value is not None:
                raise click.UsageError(f"--{name} is for --tagging: give --tagging too")
        return {}
    if values["holdout"] is not None or values["groups"] is not None:
        raise click.UsageError("--tagging does not go with --holdout or --groups: leave one of them out")
    return asked


def _listed(given: tuple[str, ...]) -> list[str] | None:
    """Return the given names, with @FILE replaced by the names in the file; None for none."""
    names: list[str] = []
    for entry in given:
        if entry.startswith("@"):
            names += [line.strip() for line in Path(entry[1:]).read_text(encoding="utf-8").splitlines() if line.strip()]
        else:
            names.append(entry)
    return names or None
