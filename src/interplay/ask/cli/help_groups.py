"""Commands with many options: PLINK's options in our words; the usual options with --help, all with --help-all."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import click

#: Options of a file, and the ending that PLINK leaves out: they are the argument DATA.
_DATA = {"--bfile": ".bed", "--pfile": ".pgen", "--bgen": "", "--vcf": "", "--bcf": ""}

#: Words after a file that say which allele of BGEN is the reference: directions are told by the counted allele here.
_MODIFIERS = ("ref-first", "ref-last", "ref-unknown", "vzs")


class Word(NamedTuple):
    """Our option for one of PLINK's, its value where PLINK has a default, and whether a value is a list with commas."""

    option: str
    default: str = ""
    is_list: bool = False


WORDS = {
    "--chr": Word("--region", is_list=True),
    "--maf": Word("--min-maf", "0.01"),
    "--geno": Word("--max-missing", "0.1"),
    "--mind": Word("--max-missing-person", "0.1"),
    "--hwe": Word("--min-hwe"),
    "--mach-r2-filter": Word("--min-info", "0.1"),
    "--sample": Word("--sample-file"),
    "--pheno": Word("--target-file"),
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
    >>> in_our_words(["--pheno-name", "bmi,ldl"])
    ['--trait', 'bmi', '--trait', 'ldl']
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
