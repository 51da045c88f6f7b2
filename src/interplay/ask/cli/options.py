"""The arguments of `select` as options, with the same names, meanings and defaults."""

from __future__ import annotations

from typing import Any

import click

from interplay.data.codes.coder import MISSING_CHOICES
from interplay.data.study.outcomes.classes import DECISION_CHOICES
from interplay.data.study.outcomes.numbers import SCALE_CHOICES
from interplay.infer.null_fit import FITS
from interplay.infer.p_values import ADJUST_METHODS


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
    option("--multiclass", type=click.Choice(["joint", "ovo", "ovr"]), default="joint",
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
