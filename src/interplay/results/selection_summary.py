"""A Selection → a few lines of text, as it prints itself, and the same for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interplay.base.text import printable
from interplay.results import summary_words as words
from interplay.results.shown_variables import short_list_lines, shown_variables
from interplay.statistics.few_samples import note_on_sparse_tuples

if TYPE_CHECKING:
    from interplay.results.selection import Selection

_CAUTIONS_SHOWN = 10


def summary_text(selection: Selection) -> str:
    """Return the result in words."""
    return "\n".join(
        [
            *_headings(selection),
            *words.notes_on_outcome(selection.provenance),
            *_relevant_variables(selection),
            *short_list_lines(selection),
            *_retests_in_words(selection),
            *([] if selection.replication is None else [selection.replication.headline()]),
            *_on_sparse_tuples(selection),
            *_cautions_in_words(selection),
        ]
    )


def _headings(selection: Selection) -> list[str]:
    """Return a line on the relevant variables and a line on samples, classes and settings."""
    s = selection.settings
    n_comparisons = len(selection.comparisons)
    runs = "" if n_comparisons == 1 else f" in {n_comparisons} comparisons of classes"
    searched = "+".join(map(str, selection.dimensions))
    found = f"{len(selection.ranked)} of {len(selection.names)} variables relevant"
    return [
        f"{found} ({searched}D{runs}, {selection.adjustment}-adjusted p < {s['level']:g})",
        f"{words.samples_in_words(selection.provenance['n_samples'], selection.provenance)}; "
        f"{words.outcome_in_words(selection.class_sizes, s, selection.provenance)}; "
        f"{words.strata_in_words(selection.provenance)}"
        + (f"{words.cuts_in_words(s)}; " if selection.provenance.get("n_cut", 1) else "")
        + f"{_null_in_words(selection)}; "
        + ("exact p-values; " if selection.runs[0].null_fit.is_exact and not selection.tests else "")
        + f"seed {s['random_state']}",
    ]


def _relevant_variables(selection: Selection) -> list[str]:
    """Return a table of the most significant variables, and the number of the others."""
    if not len(selection.ranked):
        return []
    shown = shown_variables(selection, words.ROWS_SHOWN)
    return words.rows_as_text(shown, len(selection.ranked))


def _on_sparse_tuples(selection: Selection) -> list[str]:
    """Return the reason why no variable was found, if samples were too few for the smallest tuples."""
    of_tuples = [run for run in selection.runs if run.dimensions > 1]
    if len(selection.ranked) or not of_tuples:
        return []
    smallest = min(run.dimensions for run in of_tuples)
    of_smallest = [run for run in of_tuples if run.dimensions == smallest]
    run = min(of_smallest, key=lambda run: int(run.class_sizes.min()))
    note = note_on_sparse_tuples(run.class_labels, run.class_sizes, run.gains.df, dimensions=run.dimensions)
    return [note] if note else []


def _cautions_in_words(selection: Selection) -> list[str]:
    cautions = selection.cautions
    if not cautions:
        return []
    listed = [f"{printable(name)}: {reason}" for name, reason in list(cautions.items())[:_CAUTIONS_SHOWN]]
    n_more = len(cautions) - len(listed)
    return [
        "",
        "Caution: check these columns, and leave out (--drop) those that should not be used:",
        *listed,
        *([f"… and {n_more} more in .cautions"] if n_more else []),
    ]


def summary_html(selection: Selection) -> str:
    """Return headings and table for notebooks."""
    heading, details = _headings(selection)
    shown = shown_variables(selection, words.ROWS_SHOWN)
    return words.summary_as_html(heading, details, shown, len(selection.ranked), short_list_lines(selection))


def _retests_in_words(selection: Selection) -> list[str]:
    """Return a line for each second test: which relevant variables remain significant."""
    lines = []
    for retest in selection.retests:
        failed = [printable(selection.names[v]) for v in retest.failed(selection.settings["level"])]
        listed = ", ".join(failed[:6]) + ", …" * (len(failed) > 6)
        n_held = len(retest.variable) - len(failed)
        if retest.kind == "covariates" and len(retest.variable):
            what = (
                f"{n_held} of {len(retest.variable)} relevant variables remain significant with covariates "
                f"({', '.join(retest.about)})"
            )
            lines.append(f"{what}; not significant: {listed}" if failed else what)
        elif retest.kind == "log_rank" and failed:
            lines.append(f"{len(failed)} left out because the log-rank test does not confirm them: {listed}")
    return lines


def _null_in_words(selection: Selection) -> str:
    """Name the source of p-values: permutations or contrast variables."""
    fit = selection.runs[0].null_fit
    n_groups = selection.provenance["groups"].get("n_groups")
    of_groups = f" of {n_groups} groups" if n_groups else ""
    if fit.is_permuted:
        return f"{_counted(len(fit.permuted_max), 'permutation')}{of_groups}"
    inflated = f", gains divided by {fit.inflation:.3g}" if n_groups else ""
    return f"{_counted(selection.settings['n_contrast'], 'contrast variable')}{of_groups}{inflated}"


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
