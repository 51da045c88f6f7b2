"""Options for populations and relatives: `--pcs`, and `--loco auto`, by functions of `interplay.genetics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from interplay.ask.cli.options import option
from interplay.data.study.named_columns import without_named
from interplay.data.study.table import as_table

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
