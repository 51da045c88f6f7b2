"""The help of commands with many options: the usual ones with --help, all of them in groups with --help-all."""

from __future__ import annotations

from typing import Any

import click

from interplay.ask.cli.plink_words import in_our_words

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
