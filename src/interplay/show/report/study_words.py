"""Sentences on the design of the study: groups, permutations, covariates, offset, censored times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interplay.data.study.outcomes.words import tests_in_words
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
