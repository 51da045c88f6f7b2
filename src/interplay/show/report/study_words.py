"""Words summary and methods share: outcome, tuples, strata, adjustment, groups, permutations, covariates, times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from interplay.base.text import printable, tuples_in_words
from interplay.data.study.outcomes.words import tests_in_words
from interplay.show.report.about import short, target_of
from interplay.show.results.summary_words import model_in_words

if TYPE_CHECKING:
    from interplay.show.results.selection import Selection

WESTFALL_YOUNG = (
    "Westfall P. H., Young S. S. (1993). Resampling-Based Multiple Testing: Examples and Methods for p-Value "
    "Adjustment. Wiley, New York"
)
GENOMIC_CONTROL = "Devlin B., Roeder K. (1999). Genomic control for association studies. Biometrics 55(4), 997–1004"


def null_sentence(selection: Selection) -> str:
    """Return a sentence of the summary on the source of p-values; "" without groups and permutations."""
    about = selection.record.groups
    fit = selection.runs[0].null_fit
    if fit.is_permuted:
        return f"p-values come from {_permutations(selection)}; no null distribution was fitted."
    if about.n_groups:
        return (
            f"Samples of one group resemble each other. Therefore gains were divided by {fit.inflation:.3g}, and "
            f"contrast variables are permutations of whole groups ({about.n_groups})."
        )
    return ""


def null_method(selection: Selection) -> str:
    """Return sentences of the methods section on the source of p-values; "" without groups and permutations."""
    about, fit = selection.record.groups, selection.runs[0].null_fit
    if fit.is_permuted:
        return (
            f"p-values come from {_permutations(selection)}; the search was repeated for each permutation. They were "
            "adjusted for all variables by the step-down maxT procedure (Westfall and Young, 1993). The smallest "
            f"possible p-value was {about.smallest_p:.3g}."
        )
    if about.n_groups:
        return (
            f"Samples belonged to {about.n_groups} groups and are not independent. Contrast variables were made by "
            "permuting the values of whole groups, and all gains were divided by the mean 1D gain of the contrast "
            f"variables per degree of freedom ({fit.inflation:.3g}; genomic control, Devlin and Roeder, 1999)."
        )
    return ""


def errors_sentence(selection: Selection) -> str:
    """Return a sentence on the error rate that the adjustment by permutations controls; "" for other adjustments."""
    kept = f"Step-down maxT keeps the probability of any false discovery at or below {selection.asked.level:.3g}."
    return kept if selection.adjustment == "maxT" else ""


def adjustment_method(selection: Selection) -> str:
    """Return a sentence on the level of significance; "" unless permutations adjusted the p-values."""
    judged = f"Variables with an adjusted p < {selection.asked.level:g} were considered relevant."
    return judged if selection.adjustment == "maxT" else ""


def model_sentences(selection: Selection) -> list[str]:
    """Return a sentence of the summary on the model that relevant variables are part of."""
    model = model_in_words(selection.record)
    if not model:
        return []
    return [f"Relevant means: given {model}. Every relevant variable was confirmed by the full model."]


def model_methods(selection: Selection) -> list[str]:
    """Return sentences of the methods section on covariates, offset and times."""
    model = selection.record.model
    if not model:
        return []
    residuals, ratio = tests_in_words(model)
    about = model_in_words(selection.record)
    return [
        f"The search compared {residuals}{f' given {about}' if about else ''}. Single variables were tested by score "
        "tests of the model, in which variables lose the part that its columns explain.",
        f"Every variable that was found had to be confirmed by {ratio} with and without the variable, in the way in "
        "which it was found; the larger p-value counted.",
    ]


def references(selection: Selection) -> tuple[str, ...]:
    """Return the references beyond those of the method itself."""
    if selection.runs[0].null_fit.is_permuted:
        return (WESTFALL_YOUNG,)
    return (GENOMIC_CONTROL,) if selection.record.groups.n_groups else ()


def _permutations(selection: Selection) -> str:
    """Return the permutations in words: "199 permutations of the labels of 20 whole groups"."""
    about = selection.record.groups
    number = len(selection.runs[0].null_fit.permuted_max)
    every = "all " if about.all_permutations and _is_complete(selection) else ""
    within = ", within strata" if selection.record.strata else ""
    what = about.exchanged.removeprefix("labels").strip()
    early = "" if _is_complete(selection) else " (stopped early, because no variable could become significant)"
    return f"{every}{number:,} permutations of the labels {what}{within}{early}".replace("  ", " ")


def _is_complete(selection: Selection) -> bool:
    planned = selection.record.groups.n_permutations
    return all(len(run.null_fit.permuted_max) == planned for run in selection.runs)


#: Methods of adjustment, as papers name them.
ADJUSTMENTS = {
    "holm": "Holm's method",
    "hochberg": "Hochberg's method",
    "simes-hochberg": "Hochberg's method",
    "hommel": "Hommel's method",
    "bonferroni": "Bonferroni's method",
    "sidak": "Šidák's method",
    "holm-sidak": "the Holm–Šidák method",
    "BH": "the Benjamini–Hochberg method",
    "fdr": "the Benjamini–Hochberg method",
    "fdr_bh": "the Benjamini–Hochberg method",
    "BY": "the Benjamini–Yekutieli method",
    "fdr_by": "the Benjamini–Yekutieli method",
    "fdr_tsbh": "the two-stage Benjamini–Hochberg method",
    "fdr_tsbky": "the two-stage Benjamini–Krieger–Yekutieli method",
    "fdr_gbs": "the adaptive step-down method of Gavrilov, Benjamini and Sarkar",
}


def filled(selection: Selection, words: str) -> str:
    """Fill in what a text says of the outcome of a selection: its classes, events or numbers."""
    quartiles, events = selection.record.outcome.quartiles, selection.record.survival
    within = " within strata" if selection.record.strata else ""
    is_of_values = selection.asked.scale == "values"
    return words.format(
        sizes=sizes_in_words(selection.class_sizes, "classes"),
        n_events=events and events.n_events,
        order=" < ".join(map(printable, selection.record.outcome.order)),
        middle=f" (median {quartiles[2]:.4g}, quartiles {quartiles[1]:.4g} to {quartiles[3]:.4g})" if quartiles else "",
        compared="standardised values" if is_of_values else f"normal scores of the ranks{within}",
    )


def outcome_in_words(selection: Selection) -> str:
    """Return the outcome, with its name where it says more than "outcome"."""
    target = target_of(selection)
    is_named = target and target.lower() not in ("outcome", "target")  # "the outcome outcome" would read badly
    return f"the outcome {short(target)}" if is_named else "the outcome"


def listed_strata(selection: Selection) -> str:
    """Return the number of strata and the sizes of the first ones; "" without strata."""
    sizes = selection.record.strata
    return sizes_in_words(sizes, "strata") if sizes else ""


def sizes_of_strata(selection: Selection) -> str:
    """Return what strata are called by those who do not know the word: "3 groups (a: 20, …)"; "" without strata."""
    sizes = selection.record.strata
    return sizes_in_words(sizes, "groups") if sizes else ""


def sizes_in_words(sizes: Mapping[str, int], noun: str) -> str:
    """Return how many parts a study has, and the sizes of the first ones."""
    listed = ", ".join(f"{short(label, 30)}: {size:,}" for label, size in list(sizes.items())[:6])
    return f"{len(sizes)} {noun} ({listed}{', …' if len(sizes) > 6 else ''})"


def number_of_tuples(selection: Selection) -> str:
    """Return how many tuples, or variables alone, were searched."""
    k, d = selection.dimensions[-1], selection.asked.discretizations
    number = sum(math.comb(len(selection.names), size) for size in selection.dimensions if size > 1 or k == 1)
    shown = f"{number:,}" if number < 10**12 else f"{number:.3g}"
    noun = "variable" if k == 1 else "tuple"
    return f"{shown} {noun}{'' if number == 1 else 's'}" + (f", {d} discretisations of each" if d > 1 else "")


def looked_at(selection: Selection) -> str:
    """Return the sizes of tuples that were searched, in words."""
    listed = ["each variable alone" if k == 1 else f"all {tuples_in_words(k)}" for k in selection.dimensions]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def capitalised(sentence: str) -> str:
    """Let a sentence begin with a capital; "p-values" stay as they are."""
    return sentence if sentence.startswith("p-") else sentence[:1].upper() + sentence[1:]
