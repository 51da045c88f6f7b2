"""A selection → a few lines of text; the columns of its first answer: name, direction, size, how sure, works with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.text import printable
from interplay.infer.arms import ALONE, GIVEN, found_in_words
from interplay.infer.effects.direction import DEPENDS_ON, PERHAPS
from interplay.infer.effects.estimate import NO_EFFECT
from interplay.infer.linkage import DEFAULT_R2, clump_tuples
from interplay.infer.null_fit import note_on_sparse_tuples
from interplay.infer.verdicts import ADDITIVE, INTERACTION, UNCLEAR, Verdict
from interplay.show.results import summary_words as words
from interplay.show.results.interaction_table import levels_in_words

if TYPE_CHECKING:
    import pandas as pd

    from interplay.infer.effects.variable_effects import VariableEffects
    from interplay.show.results.selection import Selection

#: Names of the short list that a line has.
_LISTED = 12

#: Names of the order for models that a line begins with.
_FIRST_OF_BEST = 5

#: Columns of the first answer, beside the name.
SIZE, SURE, PARTNERS = "direction and size", "how sure", "works with"

_DOUBTS = {UNCLEAR: "unclear"}


def shown_variables(selection: Selection, n_rows: int) -> pd.DataFrame:
    """Return the first answer about the most significant variables: which way and how much, how sure, with which."""
    import pandas as pd

    top = selection.ranked[:n_rows].tolist()
    columns: dict[str, Any] = {"variable": [name_with_label(selection, v) for v in top]}
    if selection.effects is not None:
        columns[SIZE] = [_direction_and_size(selection, v) for v in top]
    columns[SURE] = [_how_sure(selection, v) for v in top]
    partners = [works_with(selection, v) for v in top]
    if any(partners):
        columns[PARTNERS] = partners
    return pd.DataFrame(columns)


def _direction_and_size(selection: Selection, v: int) -> str:
    """Return the main effect of a variable: "higher with ill, AUC 0.812 (0.77 to 0.849)"."""
    effects = selection.effects
    row = -1 if effects is None else effects.main_of(v)
    if effects is None or row < 0:
        return ""
    said = ", ".join(filter(None, [effects.direction[row], size_beside(effects, row)]))
    if len(selection.comparisons) > 1:
        return f"{said} [{printable(selection.runs[selection.best_run[v]].decision)}]"
    return said


#: Of a label, the beginning is shown.
_LONGEST_LABEL = 40


def name_with_label(selection: Selection, v: int) -> str:
    """Return the name of a variable with what people call it, where its file says so: "1007_s_at (DDR1)"."""
    name = printable(selection.names[v])
    label = selection.record.labels.get(selection.names[v], "")
    return f"{name} ({printable(label, _LONGEST_LABEL)})" if label else name


def size_beside(effects: VariableEffects, row: int) -> str:
    """Return the size of an effect beside its direction, without what the direction says.

    "" where the interval includes no effect: then what was found is in the words, such as levels that differ.
    """
    if row < 0:
        return ""
    direction, about = effects.direction[row], effects.about[row]
    none = NO_EFFECT.get(effects.kind[row], math.nan)
    if effects.low[row] <= none <= effects.high[row] and not direction.startswith(PERHAPS):
        return ""
    is_said = (
        (direction.startswith(DEPENDS_ON) and about.startswith("with "))
        or (", given " in direction and about.startswith("given "))
        or direction.endswith(f" with {about.removesuffix(' against the rest')}")
    )
    size = size_in_words(effects, row)
    return f"{size}, {printable(about)}" if size and about and not is_said else size


def _how_sure(selection: Selection, v: int) -> str:
    """Return the p-value that decides, and how often a variable is found again in halves of the samples."""
    again = "" if selection.stability is None else f", again in {selection.stability.frequency[v]:.0%} of halves"
    return f"p {selection.p_adjusted[v]:.2g}{again}"


def works_with(selection: Selection, v: int) -> str:
    """Name the partners with which a variable has an effect beyond the sum of their separate effects.

    Partners of a variable that is not found by itself are named with what is not known of them. Where effects add up,
    a variable needs no partner.
    """
    members = selection.best_tuple(v)
    verdict: Verdict = selection.verdicts[v]
    if verdict.verdict == INTERACTION and v in verdict.members:
        members = np.array(verdict.members, dtype=np.int64)
    partners = ", ".join(printable(name) for name in selection.names_of(members[members != v]))
    if not partners or verdict.verdict == ADDITIVE:
        return ""
    if verdict.verdict == INTERACTION:
        return partners if v in verdict.members else ""
    is_alone = bool(selection.tests) and selection.found[v] in (found_in_words(ALONE), found_in_words(GIVEN))
    effects = selection.effects
    # A variable with a size of its own needs no partner of which nothing is known.
    has_size = effects is not None and bool(size_beside(effects, effects.main_of(v)))
    return "" if is_alone or has_size else f"{partners} ({_DOUBTS.get(verdict.verdict, 'not tested')})"


def short_list_lines(selection: Selection) -> list[str]:
    """Return lines on groups of redundant variables and on the short list; none for fewer than two variables."""
    shortened = selection.shortened
    if shortened is None or len(selection.ranked) < 2:
        return []
    n_groups, n = shortened.n_groups, len(selection.ranked)
    redundant = (
        f"No two of them are redundant (association of {shortened.threshold:g} or more)."
        if n_groups == n
        else f"They form {n_groups} {'group' if n_groups == 1 else 'groups'} of redundant variables (association of "
        f"{shortened.threshold:g} or more)."
    )
    if shortened.note:
        return [redundant, f"There is no short list: {shortened.note}."]
    names = [printable(name) for name in selection.short_list]
    if not names:
        return [redundant]
    listed = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
    return [redundant, f"Short list, each relevant given the others: {listed}.{_for_a_model(selection)}"]


def _for_a_model(selection: Selection) -> str:
    """Say what a model may use beside the short list, where no number of variables was asked for."""
    if selection.n_best or selection.best_order is None:
        return ""
    first = ", ".join(printable(name) for name in selection.best(min(_FIRST_OF_BEST, len(selection.names))))
    return f" That is what can be proved; a model may use more: best(n) begins with {first}."


def best_lines(selection: Selection) -> list[str]:
    """Return a line on the best variables for a model, where a number of them was asked for."""
    if not selection.n_best:
        return []
    best = selection.best(selection.n_best)
    curve = ""
    if selection.curve is not None and selection.n_best in selection.curve.n:
        explained = float(selection.curve.explained[selection.curve.n == selection.n_best][0])
        curve = f" So many explain {max(explained, 0.0):.0%} of the outcome in samples that had no part in the choice."
    names = ", ".join(map(printable, best))
    return [f"Best {len(best)} for a model, {best.n_relevant} of them relevant: {names}.{curve}"]


def effect_in_words(effects: VariableEffects, row: int) -> str:
    """Return the size of an effect, and what it is about: "AUC 0.812 (0.77 to 0.849), b against a"."""
    size = size_in_words(effects, row)
    return f"{size}, {printable(effects.about[row])}" if size and effects.about[row] else size


def size_in_words(effects: VariableEffects, row: int) -> str:
    """Return the size of an effect with its interval: "AUC 0.812 (0.77 to 0.849)"; "" where it is not known."""
    if row < 0 or np.isnan(effects.effect[row]):
        return ""
    value, low, high = (_three_digits(float(bound[row])) for bound in (effects.effect, effects.low, effects.high))
    interval = "" if np.isnan(effects.low[row]) else f" ({low} to {high})"
    return f"{effects.kind[row]} {value}{interval}"


def _three_digits(value: float) -> str:
    """Write three digits, and numbers from 1000 to 100,000 without an exponent."""
    return f"{value:.0f}" if 999.5 <= abs(value) < 1e5 else f"{value:.3g}"


def cell_of(selection: Selection, v: int) -> str:
    """Name the cell, and the class, that departs most from separate effects: "a = 1, b = 2: ill"; "" if none does."""
    cell = selection.verdicts[v].cell
    run = selection.runs[selection.best_run[v]]
    cuts_of = {cuts.variable: cuts for cuts in run.cuts}
    if not cell.is_known or not set(cell.members) <= cuts_of.keys():
        return ""
    named = levels_in_words(selection.names, [cuts_of[u] for u in cell.members], list(cell.levels), cell.discretization)
    where = ", ".join(map(printable, named))
    return f"{where}: {printable(run.class_labels[cell.class_])}" if cell.class_ >= 0 else where


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
