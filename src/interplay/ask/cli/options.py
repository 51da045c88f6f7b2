"""Options: arguments of `select` by the same names, meanings and defaults; data, times, populations.

PLINK's options are known in our words. --help lists the usual options, --help-all all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import zip_longest
from textwrap import wrap
from typing import Any, NamedTuple

import click

from interplay.data.codes.coder import MISSING_CHOICES
from interplay.data.study.comparisons import MULTICLASS_CHOICES
from interplay.data.study.named_columns import without_named
from interplay.data.study.outcomes.classes import DECISION_CHOICES
from interplay.data.study.outcomes.numbers import SCALE_CHOICES
from interplay.data.study.table import as_table
from interplay.infer.null_fit import FITS
from interplay.infer.p_values import ADJUST_METHODS
from interplay.readers.file_formats import FORMATS
from interplay.readers.genotypes.filters import MULTIALLELIC_CHOICES, SEX_CHROMOSOME_CHOICES
from interplay.readers.target_column import MISSING_TARGET_CHOICES


class NumberOrAuto(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A whole number, or the word auto."""

    name = "number|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if value == "auto":
            return "auto"
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor 'auto'.", param, ctx)


class ShareOrNumber(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A share such as 0.3, or a whole number."""

    name = "share|number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | int:
        if isinstance(value, int | float):
            return value
        try:
            return int(value) if value.strip().lstrip("-").isdecimal() else float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a share such as 0.3 nor a whole number.", param, ctx)


class DimensionsOrAuto(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A whole number, several with commas between them, or the word auto."""

    name = "number|list|auto"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str | tuple[int, ...]:
        if value == "auto" or isinstance(value, int):
            return value  # type: ignore[no-any-return]
        entries = value.split(",") if isinstance(value, str) else value
        try:
            numbers = tuple(int(entry) for entry in entries)
        except ValueError:
            self.fail(f"{value!r} is not a valid integer, nor several such as 1,2,3, nor 'auto'.", param, ctx)
        return numbers if not isinstance(value, str) or "," in value else numbers[0]


def option(*names: str, **attributes: Any) -> click.Option:
    """Return an option of a command; its help shows the default."""
    return click.Option(names, show_default=attributes.get("default") is not None, **attributes)


def numbers_of(name: str, text: str, kind: type = float) -> list[Any]:
    """Return the numbers that the value of an option lists."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"{name} {text!r} must be numbers with commas between them, such as 0,1,2") from None


#: Options whose values go to `select` under the same names.
SELECT_OPTIONS = (
    option("-k", "--dimensions", type=DimensionsOrAuto(), default="auto",
           help="Members of a tuple: 1 looks at each variable alone, 2 at all pairs, and so on; several, such as "
           "1,2,3, in one result. auto: 1 and 2, and also 3 and 4 if there are not too many tuples."),
    option("--arm", "arms", multiple=True, metavar="NAME",
           help="With several dimensions, combine only this test of the variables: alone, given, pairs, triples, "
           "quadruples; may be repeated."),
    option("--divisions", type=int, default=1,
           help="Number of thresholds per variable: N thresholds give N + 1 levels."),
    option("--discretizations", type=int, default=1, help="Number of random sets of thresholds to try."),
    option("--range", "range_", type=float,
           help="How much thresholds vary between discretizations, 0 to 1.  [default: depends on the sample size]"),
    option("--pseudocount", type=float, default=0.25, help="Pseudocount of the rarest class in each cell."),
    option("--n-contrast", type=NumberOrAuto(), default="auto",
           help="Number of contrast variables (permuted copies), which show the chance level; 0 for none."),
    option("--p-adjust", type=click.Choice(list(ADJUST_METHODS)), metavar="METHOD", default="holm",
           help="Adjustment of p-values: holm, hochberg, hommel, bonferroni, BH, BY or none."),
    option("--level", type=float, default=0.05,
           help="Significance level: relevant variables have an adjusted p-value below it."),
    option("--fit", type=click.Choice(list(FITS)), default="auto", help="How the null distribution is fitted."),
    option("--decision", type=click.Choice(list(DECISION_CHOICES)), default="auto",
           help="Whether the outcome has classes, ordered classes or numbers (once called continuous)."),
    option("--decision-divisions", type=int,
           help="Cut a number outcome at so many thresholds into classes.  [default: not cut]"),
    option("--scale", type=click.Choice(list(SCALE_CHOICES)), default="ranks",
           help="Compare a number outcome by its ranks or by its values."),
    option("--multiclass", type=click.Choice(list(MULTICLASS_CHOICES)), default="joint",
           help="With more than two classes: compare all at once, each pair, or each with the rest."),
    option("--strata", metavar="COLUMN",
           help="Analyse the outcome within the strata of this column: batch, sex, population."),
    option("--groups", metavar="COLUMN",
           help="Samples with the same value belong together: donors, patients, families. p-values then "
           "come from permutations of whole groups."),
    option("--order", metavar="COLUMN",
           help="Time or number of each sample in its group, such as a visit: labels keep this order."),
    option("--permutations/--no-permutations", default=None,
           help="Take p-values from permutations instead of contrast variables.  [default: with --groups only]"),
    option("--n-permutations", type=int, default=199,
           help="Number of permutations; if fewer are possible, all of them."),
    option("--covariate", "covariates", multiple=True, metavar="COLUMN",
           help="The answer is given this column: age, sex, a principal component; may be repeated."),
    option("--offset", metavar="COLUMN",
           help="The known part of the outcome: means, log odds or log hazards."),
    option("--entry", metavar="COLUMN", help="With --time: from when on each sample was observed (left truncation)."),
    option("--stability", type=int, metavar="N",
           help="Repeat the selection in N halves of the samples, and show how often variables come back."),
    option("--discrete", multiple=True, metavar="auto|none|all|COLUMN", default=["auto"],
           help="Columns whose values are used as levels, without cutting; may be repeated."),
    option("--missing", type=click.Choice(MISSING_CHOICES), default="auto",
           help="Missing values: refuse them, make them a level, or draw them from the observed values.  auto: a level "
           "in columns of labels, draws in columns of numbers."),
    option("--redundancy", type=float, default=0.8,
           help="Relevant variables with at least this association (absolute rank correlation, or its analogue for "
           "labels) are redundant; the short list has one of each group at most."),
    option("--reference", multiple=True, metavar="COLUMN=LEVEL",
           help="Compare the levels of this column with this one; may be repeated.  [default: the first of two or of "
           "ordered levels, else the most frequent]"),
    option("--holdout", type=ShareOrNumber(), metavar="SHARE|NUMBER",
           help="Keep this share or number of samples out of the search, and test relevant variables in them."),
    option("--seed", "random_state", type=int,
           help="Seed of all random draws, to repeat a run.  [default: drawn at random and shown]"),
    option("--engine", default="auto", metavar="NAME", help="Where to compute; see `interplay info`."),
    option("-j", "--jobs", "n_jobs", type=int, default=-1, help="Threads; -1 for all cores."),
    option("--checkpoint", metavar="FILE",
           help="File that keeps the state of the search: the same command resumes from it."),
    option("--progress/--no-progress", default=None,
           help="Show progress on stderr.  [default: on a terminal, if it takes a while]"),
)  # fmt: skip


def select_arguments(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of these options as arguments of `select`."""
    discrete = list(values["discrete"])
    rules = [entry for entry in discrete if entry in ("auto", "none", "all")]
    if rules and len(discrete) > 1:
        raise click.UsageError(f"--discrete {rules[0]} stands for all columns: give it alone, or only names of columns")
    several: dict[str, Any] = {name: list(values[name]) or None for name in ("arms", "covariates") if name in values}
    if "reference" in values:
        parts = [entry.rpartition("=") for entry in values["reference"]]
        if wrong := [level for name, _, level in parts if not name]:
            raise click.UsageError(f"--reference {wrong[0]}: write COLUMN=LEVEL")
        several["reference"] = {name: level for name, _, level in parts} or None
    return {**values, "discrete": rules[0] if rules else discrete, **several}


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


#: Options of a file, and the ending that PLINK leaves out: they are the argument DATA.
_DATA = {"--bfile": ".bed", "--pfile": ".pgen", "--bgen": "", "--vcf": "", "--bcf": ""}

#: Words after a file that say which allele of BGEN is the reference: directions are told by the counted allele here.
_MODIFIERS = ("ref-first", "ref-last", "ref-unknown", "vzs")


class Word(NamedTuple):
    """Our option for one of PLINK's.

    Its value where PLINK has a default, whether a value is a list with commas, and an option and its value that PLINK
    takes for granted.
    """

    option: str
    default: str = ""
    is_list: bool = False
    implied: tuple[str, ...] = ()


WORDS = {
    "--chr": Word("--region", is_list=True),
    "--maf": Word("--min-maf", "0.01"),
    "--geno": Word("--max-missing", "0.1"),
    "--mind": Word("--max-missing-person", "0.1"),
    "--hwe": Word("--min-hwe"),
    "--mach-r2-filter": Word("--min-info", "0.1"),
    "--sample": Word("--sample-file"),
    "--pheno": Word("--target-file", implied=("--missing-target", "drop")),
    "--pheno-name": Word("--target", is_list=True),
    "--covar": Word("--covariate-file"),
    "--covar-name": Word("--covariate", is_list=True),
    "--threads": Word("--jobs"),
}

#: Options of one value, and those for several.
_OF_SEVERAL = {"--target": "--trait"}

#: What PLINK does with one program, and interplay with a command: what to type instead.
_COMMANDS = {
    "--assoc": "interplay run -k 1",
    "--logistic": "interplay run -k 1",
    "--linear": "interplay run -k 1",
    "--glm": "interplay run -k 1",
    "--epistasis": "interplay interactions",
    "--fast-epistasis": "interplay interactions",
}

#: What is an option here too, by another name and with another value.
_OTHERWISE = {
    "--epi1": "`--max-p 1e-4` lists all pairs up to a p-value, `--top 100` the first ones",
    "--set": "`--variables @names.txt` searches the pairs of some variants with all others",
    "--snp": "`--variables rs1` of `interplay interactions` searches its pairs",
    "--within": "`--strata COLUMN` of `--covariate-file`",
    "--family": "`--groups family`",
    "--pca": "`--pcs 10` computes components and takes them as covariates",
    "--adjust": "adjusted p-values are in every table, `--p-adjust` names another method",
    "--mperm": "p-values are exact, and `--groups` permutes relatives together",
    "--make-king-table": "`interplay.genetics.relatives(study)` in Python",
    "--genome": "`interplay.genetics.relatives(study)` in Python",
    "--allow-no-sex": "nothing depends on the sex of people: leave it out",
    "--ci": "intervals of 95 % are in every table",
}


def in_our_words(args: list[str]) -> list[str]:
    """Return the arguments of a command with PLINK's options replaced by ours.

    Examples
    --------
    >>> in_our_words(["--bfile", "study", "--maf", "--chr", "1-2,X"])
    ['--min-maf', '0.01', '--region', '1', '--region', '2', '--region', 'X', 'study.bed']
    >>> in_our_words(["--covar-name", "age,PC1", "--seed", "1"])
    ['--covariate', 'age', '--covariate', 'PC1', '--seed', '1']
    >>> in_our_words(["--pheno", "traits.txt", "--pheno-name", "bmi,ldl"])
    ['--target-file', 'traits.txt', '--missing-target', 'drop', '--trait', 'bmi', '--trait', 'ldl']
    """
    found: list[str] = []
    data: list[str] = []
    rest = list(args)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name in _COMMANDS:
            raise click.UsageError(f"{name} is of PLINK: `{_COMMANDS[name]}` is the command (see the page From PLINK)")
        if name in _OTHERWISE:
            raise click.UsageError(f"{name} is of PLINK: {_OTHERWISE[name]}")
        if name not in _DATA and name not in WORDS:
            found.append(name + equals + value)
            continue
        values = [value] if equals else []
        while rest and not equals and not rest[0].startswith("--") and (not values or rest[0] in _MODIFIERS):
            values.append(rest.pop(0))
        if name in _DATA:
            data += [entry + _DATA[name] for entry in values[:1]] or [_without_value(name)]
            continue
        word = WORDS[name]
        given = values[0] if values else word.default or _without_value(name)
        entries = _entries(given, name) if word.is_list else [given]
        for entry in entries:
            found += [_OF_SEVERAL.get(word.option, word.option) if len(entries) > 1 else word.option, entry]
        if word.implied and word.implied[0] not in args:
            found += word.implied
    return [*found, *data]


def _entries(given: str, name: str) -> list[str]:
    """Return the entries of a list with commas; of chromosomes also ranges."""
    entries: list[str] = []
    for entry in given.split(","):
        of_range = re.fullmatch(r"(\d+)-(\d+)", entry) if name == "--chr" else None
        if of_range is None:
            entries.append(entry.strip())
        else:
            entries += [str(number) for number in range(int(of_range[1]), int(of_range[2]) + 1)]
    return entries


def _without_value(name: str) -> str:
    raise click.UsageError(f"{name} needs a value")


#: Options that --help shows; most runs need no other.
USUAL = (
    "target", "time", "event", "drop", "target_file", "missing", "dimensions", "top", "strata", "groups", "covariates",
    "random_state", "report", "out", "save", "dry_run",
)  # fmt: skip

#: Titles, and the options below them; other options of a command stand below the last title.
GROUPS: dict[str, tuple[str, ...]] = {
    "The file": (
        "target", "traits", "time", "event", "drop", "missing", "delimiter", "decimal", "na_values", "keep_na_values",
        "missing_target", "min_class", "sheet", "transpose", "target_file", "covariate_file", "sample_id",
        "labels",
    ),
    "Genotypes and single cells": (
        "region", "keep", "remove", "extract", "exclude", "min_maf", "max_missing", "max_missing_person", "min_hwe",
        "min_info", "hard_call_threshold", "multiallelic", "sex_chromosomes",
        "sample_file", "min_distance", "positions", "pcs", "loco", "layer", "modality",
    ),
    "The outcome, and what the answer is given": (
        "decision", "decision_divisions", "scale", "coding", "multiclass", "strata", "groups", "order", "covariates",
        "offset", "entry",
    ),
    "The search": (
        "dimensions", "arms", "variables", "require", "partners", "divisions", "discretizations", "range_",
        "pseudocount", "discrete",
    ),
    "p-values, and what is listed": (
        "level", "p_adjust", "max_p", "top", "n_contrast", "fit", "permutations", "n_permutations", "redundancy",
        "reference", "clump", "best", "stability", "holdout", "tagging", "window", "dense",
    ),
    "Results": ("report", "out", "format_", "save", "sumstats", "quiet"),
    "How it is run": (),
}  # fmt: skip


class GroupedCommand(click.Command):
    """A command whose --help shows the usual options, and --help-all all options in groups."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command, with --help-all."""
        return [*super().get_params(ctx), _help_all()]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read PLINK's options too, and refuse one of a single value that is given twice."""
        args = in_our_words(args)
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param in order:
            single = isinstance(param, click.Option) and not (param.multiple or param.is_flag or param.count)
            if single and order.count(param) > 1:
                raise click.UsageError(f"{max(param.opts, key=len)} is given more than once, and has one value", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: those of `USUAL`, or all where the context asks for them."""
        options = {param.name: param for param in self.get_params(ctx) if isinstance(param, click.Option)}
        grouped = {name for names in GROUPS.values() for name in names}
        last = [name for name in options if name not in grouped]
        shown: dict[str, tuple[str, ...]] = {"Options": (*USUAL, "help_all")}
        if ctx.meta.get(__name__):
            shown = {title: names or tuple(map(str, last)) for title, names in GROUPS.items()}
        for title, names in shown.items():
            records = [options[name].get_help_record(ctx) for name in names if name in options]
            with formatter.section(title):
                formatter.write_dl([record for record in records if record is not None])


def _help_all() -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        if value:
            ctx.meta[__name__] = True
            click.echo(ctx.get_help())
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options in groups.",
    )
