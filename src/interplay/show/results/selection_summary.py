"""A Selection → a few lines of text, as it prints itself, and the same for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.base.text import printable
from interplay.infer.linkage import DEFAULT_R2, clump_tuples
from interplay.infer.null_fit import note_on_sparse_tuples
from interplay.show.results import summary_words as words
from interplay.show.results.shown_variables import best_lines, short_list_lines, shown_variables

if TYPE_CHECKING:
    from interplay.show.results.selection import Selection

_CAUTIONS_SHOWN = 10

#: A variable is stable if it is found again in more than this share of the halves.
_STABLE = 0.9


def summary_text(selection: Selection) -> str:
    """Return the result in words."""
    return "\n".join(
        [
            *_headings(selection),
            *[f"Note: {note}" for note in (selection.record.outcome.note, selection.record.rows) if note],
            *_relevant_variables(selection),
            *short_list_lines(selection),
            *best_lines(selection),
            *_on_clumps(selection),
            *_model_in_words(selection),
            *_stability_in_words(selection),
            *([] if selection.replication is None else [selection.replication.headline()]),
            *_on_sparse_tuples(selection),
            *_cautions_in_words(selection),
        ]
    )


def _headings(selection: Selection) -> list[str]:
    """Return a line on the relevant variables and a line on samples and classes; `details` has all the rest."""
    s, n_groups = selection.asked, selection.record.groups.n_groups
    judged = "p" if s.p_adjust == "none" else "adjusted p"
    in_groups = f" in {_counted(n_groups, 'group')}" if n_groups > 1 else ""
    return [
        "; ".join(
            [
                f"{len(selection.ranked)} of {len(selection.names)} variables relevant ({judged} < {s.level:g})",
                *words.missing_in_words(selection.record.missing),
            ]
        ),
        f"{words.samples_in_words(selection.record.n_samples, selection.record.samples_left_out)}{in_groups}; "
        f"{words.outcome_in_words(selection)}; "
        f"{words.strata_in_words(len(selection.record.strata))}seed {s.random_state}",
        *words.filters_in_words(selection.record.filters),
    ]


def details_text(selection: Selection) -> str:
    """Return what was searched and where p-values come from, in one line."""
    s, n_comparisons = selection.asked, len(selection.comparisons)
    parts = [
        f"{'+'.join(map(str, selection.dimensions))}D",
        f"{n_comparisons} comparisons of classes" if n_comparisons > 1 else "",
        f"{selection.adjustment}-adjusted p",
        words.cuts_in_words(s.divisions, s.discretizations) if selection.record.n_cut != 0 else "",
        _null_in_words(selection),
        "exact p-values" if selection.runs[0].null_fit.is_exact and not selection.tests else "",
        f"seed {s.random_state}",
    ]
    return "; ".join(filter(None, parts))


def _on_clumps(selection: Selection) -> list[str]:
    """Return a line where relevant variables are correlated with each other, if a threshold was asked for.

    Without one, redundant variables are the only notion of sameness in a summary.
    """
    linkage, n = selection.linkage, len(selection.ranked)
    if selection.clump_r2 == DEFAULT_R2 or linkage is None or selection.clump_r2 < linkage.floor or n < 2:
        return []
    lead_of = clump_tuples(selection.ranked[:, np.newaxis], linkage, selection.clump_r2)
    n_leads = len(np.unique(lead_of))
    if n_leads == n:
        return []
    return [
        f"By correlations of r² ≥ {selection.clump_r2:g} with a stronger variable, the {n} are "
        f"{n_leads} {'signal' if n_leads == 1 else 'signals'}: clumps() lists them."
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


def _model_in_words(selection: Selection) -> list[str]:
    """Return a line on the model of covariates, offset and times."""
    model = words.model_in_words(selection.record)
    return [f"given {model}"] if model else []


def _stability_in_words(selection: Selection) -> list[str]:
    """Return a line on halves of the samples."""
    if selection.stability is None:
        return []
    return [stability_sentence(selection)]


def stability_sentence(selection: Selection) -> str:
    """Say how many of the relevant variables come back in most halves of the samples."""
    found = selection.halves()
    stable = found.frequency[selection.ranked] > _STABLE
    often = f"more than {_STABLE:.0%} of {found.n_subsamples} halves of the samples"
    bound = found.expected_false(_STABLE)
    return (
        f"{int(stable.sum())} of {len(stable)} relevant variables are found again in {often} (by chance at most "
        f"{bound:.2g} variables)"
    )


def _null_in_words(selection: Selection) -> str:
    """Name the source of p-values: permutations or contrast variables."""
    fit = selection.runs[0].null_fit
    n_groups = selection.record.groups.n_groups
    of_groups = f" of {_counted(n_groups, 'group') if n_groups > 1 else 'one series'}" if n_groups else ""
    if fit.is_permuted:
        return f"{_counted(len(fit.permuted_max), 'permutation')}{of_groups}"
    inflated = f", gains divided by {fit.inflation:.3g}" if n_groups else ""
    return f"{_counted(selection.asked.n_contrast, 'contrast variable')}{of_groups}{inflated}"


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
