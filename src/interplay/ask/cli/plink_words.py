"""Options as PLINK calls them → ours: one table, so that a command typed from habit works."""

from __future__ import annotations

import re
from typing import NamedTuple

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
