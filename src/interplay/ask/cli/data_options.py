"""Options for the file of data, for times, and for populations and relatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import zip_longest
from textwrap import wrap
from typing import Any

import click

from interplay.ask.cli.options import option
from interplay.data.study.named_columns import without_named
from interplay.data.study.table import as_table
from interplay.readers.file_formats import FORMATS
from interplay.readers.genotypes.choice import MULTIALLELIC_CHOICES, SEX_CHROMOSOME_CHOICES
from interplay.readers.target_column import MISSING_TARGET_CHOICES

#: Options whose values go to `read_data` under the same names.
DATA_OPTIONS = (
    option("--target", metavar="COLUMN", help="The column with the outcome."),
    option("--drop", metavar="COLUMN", multiple=True, help="Leave this column out; may be repeated."),
    option("--delimiter", metavar="CHARACTER",
           help="Delimiter of text files.  [default: inferred from the header]"),
    option("--decimal", metavar="CHARACTER",
           help="Decimal sign of text files.  [default: inferred for each column]"),
    option("--na-values", metavar="TEXT", multiple=True,
           help="A text or number that stands for a missing value, beside NA, ?, empty cells and the like; may "
           "be repeated."),
    option("--keep-na-values", metavar="TEXT", multiple=True,
           help="A text such as None or NA that is a value, and not a missing one; may be repeated."),
    option("--missing-target", type=click.Choice(list(MISSING_TARGET_CHOICES)), default="error",
           help="Samples without a target: refuse the file, or leave them out."),
    option("--min-class", type=int, metavar="N",
           help="Leave out the samples of classes with fewer than N samples."),
    option("--sheet", metavar="NAME", help="Sheet of a spreadsheet.  [default: the first]"),
    option("--transpose", is_flag=True, help="Each row of a text file or spreadsheet is a variable."),
    option("--target-file", metavar="FILE",
           help="A second file with the target of each sample, joined by the names of the samples."),
    option("--covariate-file", metavar="FILE",
           help="A file with covariates of each sample, joined by the names of the samples; all of its columns are "
           "covariates where --covariate names none."),
    option("--sample-id", metavar="COLUMN",
           help="With --target-file: the column with the names of the samples.  [default: row names, or the "
           "first column]"),
    option("--labels", metavar="FILE",
           help="A file with labels of columns, such as symbols of genes (GEO's platforms) or questions, shown beside "
           "the names."),
    option("--region", metavar="CHR:FROM-TO", multiple=True,
           help="Genotypes: only variants of this chromosome, or of this part of it; may be repeated."),
    option("--keep", metavar="FILE", help="Genotypes: only these people; lines of FID and IID, or IID."),
    option("--remove", metavar="FILE", help="Genotypes: leave out these people."),
    option("--extract", metavar="FILE", help="Genotypes: only variants with these IDs."),
    option("--exclude", metavar="FILE", help="Genotypes: leave out variants with these IDs."),
    option("--max-missing-person", type=float, metavar="SHARE",
           help="Genotypes: leave out people with more missing genotypes than this."),
    option("--min-hwe", type=float, metavar="P",
           help="Genotypes: leave out variants with a p-value of Hardy–Weinberg equilibrium below this."),
    option("--min-maf", type=float, metavar="SHARE",
           help="Genotypes: leave out variants whose rarer allele is rarer than this."),
    option("--max-missing", type=float, metavar="SHARE",
           help="Genotypes: leave out variants with more missing genotypes than this."),
    option("--min-info", type=float, metavar="R2",
           help="Genotypes: leave out variants imputed with less certainty (r² of dosages) than this."),
    option("--hard-call-threshold", type=float, metavar="DISTANCE",
           help="Genotypes: a dosage of at most this distance from 0, 1 or 2 is a genotype, any other is missing. "
           " [default: 0.1, or the genotypes of a .pgen file]"),
    option("--multiallelic", type=click.Choice(list(MULTIALLELIC_CHOICES)),
           help="Genotypes: refuse variants with more than two alleles (default), or leave them out."),
    option("--sex-chromosomes", type=click.Choice(list(SEX_CHROMOSOME_CHOICES)),
           help="Genotypes: refuse variants of X, Y and MT (default), leave them out, or take them as they are."),
    option("--sample-file", metavar="FILE",
           help="Genotypes: the .psam, .fam or .sample file of the people.  [default: the one beside the file]"),
    option("--layer", metavar="NAME", help="Single cells: a layer of the file instead of its matrix."),
    option("--modality", metavar="NAME", help="Single cells: a modality of MuData, or a type of features of 10x."),
)  # fmt: skip

#: For commands that search for several outcomes in one run.
TRAIT_OPTION = option(
    "--trait", "traits", metavar="COLUMN", multiple=True,
    help="Instead of --target: one of several outcomes, searched in one run; repeat it for each.",
)  # fmt: skip

#: Default values, which the record of a run leaves out.
_PLAIN: tuple[Any, ...] = (None, False, [], "error")


def take_data_arguments(values: dict[str, Any]) -> dict[str, Any]:
    """Take the values of these options out of the values of a command, as arguments of `read_data`."""
    taken = {name: values.pop(name) for name in (str(option.name) for option in DATA_OPTIONS)}
    taken["region"] = taken["region"] or None
    return {name: list(value) if isinstance(value, tuple) else value for name, value in taken.items()}


def take_traits(values: dict[str, Any], how_to_read: dict[str, Any], *, one_outcome: dict[str, Any]) -> None:
    """Move the value of --trait to the arguments of `read_data`; refuse options that are for one outcome."""
    traits = list(values.pop("traits"))
    if not traits:
        return
    if len(traits) == 1:
        raise click.UsageError(f"--trait is for two outcomes or more: use --target {traits[0]}")
    for name, given in {"--target": how_to_read["target"], **one_outcome}.items():
        if given not in (None, False):
            raise click.UsageError(f"{name} is for one outcome, and --trait names {len(traits)}: leave one of them out")
    how_to_read["traits"] = traits


def input_files(values: dict[str, Any]) -> list[str | None]:
    """Return the files beside DATA that a command reads, which no result may replace."""
    names = ("target_file", "covariate_file", "labels", "sample_file", "keep", "remove", "extract", "exclude")
    return [values[name] for name in names]


def with_all_covariates(arguments: dict[str, Any], how_to_read: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a search with all columns of a file of covariates where none are named."""
    file = how_to_read["covariate_file"]
    if file is None or arguments["covariates"]:
        return arguments
    from interplay.readers.data_file import covariate_names

    return {**arguments, "covariates": covariate_names(file)}


def to_record(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for the record of a run, with None for defaults."""
    return {name: None if value in _PLAIN else value for name, value in arguments.items()}


def files_in_words() -> str:
    """Return the formats of files for the help: one paragraph per format, in two columns."""
    lines = ["\b", "DATA is a file; its extension gives the format:"]
    for known in FORMATS:
        rows = zip_longest(wrap(" ".join(known.endings), 17), wrap(known.in_words, 60), fillvalue="")
        lines += [f"  {endings:17}  {words}".rstrip() for endings, words in rows]
    return "\n".join([*lines, "Results replace existing files. Each is written as a whole, after the search.", "", ""])


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


PCS_OPTION = option(
    "--pcs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Genotypes: the answer is given N principal components, which stand for populations.",
)

LOCO_OPTION = option(
    "--loco",
    metavar="auto|FILE",
    help="Instead of --offset: what all variants but those of one chromosome predict, for relatives and a polygenic "
    "background: computed (auto), or a .loco file of REGENIE. A tuple is tested beside the prediction without the "
    "chromosomes of its members.",
)

#: The companions that commands use. No floor imports them: they stand on all floors, and are imported when asked for.
_COMPANIONS = {"genetics": "interplay.genetics"}


def names_of_components(n: int | None) -> list[str]:
    """Return the names that `--pcs` adds to the covariates."""
    return [f"PC{i + 1}" for i in range(n or 0)]


def with_components(X: Any, n: int | None, arguments: Mapping[str, Any], others: Sequence[Any] = ()) -> Any:
    """Return a table with principal components of its variables as properties of the samples.

    - `n`: number of components; None for none.
    - `arguments`: of the search: columns that they name are no variants.
    - `others`: more names of such columns.
    """
    if n is None:
        return X
    table = as_table(X)
    if n > (most := max(table.n_samples // 3, 1)):
        raise click.UsageError(f"--pcs {n} is too many for {table.n_samples} samples: give at most {most}")
    wanted = names_of_components(n)
    if taken := [name for name in wanted if name in table.names or name in table.sample_columns]:
        raise click.UsageError(
            f"--pcs: the file has a column {taken[0]} already: give --covariate {taken[0]} in place of --pcs, or "
            f"--drop {taken[0]}"
        )
    one = ("strata", "groups", "order", "offset", "entry")
    named = [arguments[name] for name in one] + list(arguments["covariates"] or []) + list(others)
    given = {str(place): name for place, name in enumerate(named) if isinstance(name, str) and name not in wanted}
    variants = without_named(table, **given)[0] if given else table
    found = import_module(_COMPANIONS["genetics"]).principal_components(variants, n)
    table.sample_columns = {**table.sample_columns, **{name: found[name].to_numpy() for name in wanted}}
    return table


def loco_offset(loco: str, X: Any, y: Any, arguments: Mapping[str, Any]) -> Any:
    """Return predictions without each chromosome: computed where `loco` is "auto", else those of a file."""
    genetics = import_module(_COMPANIONS["genetics"])
    if loco != "auto":
        return genetics.read_loco(loco)
    shared = ("covariates", "strata", "entry", "decision", "positions", "progress")
    return genetics.polygenic_offsets(X, y, **{name: arguments[name] for name in shared if name in arguments})
