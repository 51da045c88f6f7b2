"""The outcome, the tuples, the strata and the adjustment of a search, in the words that summary and methods share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from interplay.base.text import printable, tuples_in_words
from interplay.show.report.about import target_of
from interplay.show.report.numbers import short

if TYPE_CHECKING:
    from interplay.show.results.selection import Selection

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
