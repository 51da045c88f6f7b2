"""Facts about a result: outcome, file, samples, date; the command or call that repeats it; numbers and names.

Outcome, source and date may be missing. base.js writes p-values in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interplay.base.text import printable, tuples_in_words
from interplay.data.study.outcomes.words import tests_in_words
from interplay.show.results.provenance import Provenance
from interplay.show.results.summary_words import filters_in_words, model_in_words

if TYPE_CHECKING:
    from interplay.show.results.result import Result
    from interplay.show.results.selection import Selection


def target_of(selection: Result) -> str:
    """Return the name of the outcome, or nothing."""
    return selection.record.target or ""


def file_of(selection: Result) -> str:
    """Return the name of the file that was read, without its folder, or nothing."""
    return PurePath(selection.record.source.file or "").name


def date_of(selection: Result) -> str:
    """Return the day of the run in words, or nothing."""
    try:
        day = datetime.fromisoformat(selection.record.date)
    except ValueError:
        return ""
    return f"{day.day} {day:%B %Y}"


def facts(selection: Result) -> list[tuple[str, str]]:
    """Return the facts under the headline, as names and values."""
    record = selection.record
    left_out = record.samples_left_out
    samples = f"{record.n_samples:,}" + (f" ({left_out:,} left out)" if left_out else "")
    filters = [("Filters", words[:-1]) for words in filters_in_words(record.filters)]
    entries = [
        *filters,
        ("Outcome", printable(target_of(selection), 60)),
        ("File", printable(file_of(selection), 80)),
        ("Samples", samples),
        ("Variables", f"{record.n_vars:,}"),
        ("Columns left out", _listed(record.source.dropped)),
        ("Date", date_of(selection)),
    ]
    return [(name, value) for name, value in entries if value]


def repeat(selection: Result) -> str:
    """Return the command that repeats the run, or else the call; for a replication, those of its search."""
    return _of_search(selection).source.command or _call(selection)


def _of_search(selection: Result) -> Provenance:
    """Return the provenance of the search; a replication keeps it beside its own provenance."""
    first = selection.record.found_in
    return selection.record if first is None else Provenance.of(first)


def _call(selection: Result) -> str:
    """Return the call that repeats the run; long lists are cut off."""
    record, settings = _of_search(selection), dict(selection.settings)
    settings["p_adjust"] = record.p_adjust or settings["p_adjust"]  # a replication may have another
    function, then = "select" if "n_contrast" in settings else "interactions", ""
    if function == "select" and not hasattr(selection, "is_relevant"):  # tests of a selection's tuples
        then = ".interactions()"
        settings = {name: value for name, value in settings.items() if name not in ("top", "max_p")}
    lines = "".join(
        f"    {name}={shown_value(value) if isinstance(value, list) else repr(value)},\n"
        for name, value in settings.items()
    )
    y = "(time, event)," if selection.has_times else "y,"
    data = y + _data_arguments(record, with_positions=selection.asked.min_distance is not None)
    return f"import interplay\n\nresult = interplay.{function}(\n    X, {data}\n{lines}){then}"


def _data_arguments(record: Provenance, *, with_positions: bool) -> str:
    """Return the arguments of a call that are data, beside X and y."""
    parts = {"strata": record.strata, "groups": record.groups.n_groups, "covariates": record.covariates}
    given = [name for name, value in parts.items() if value] + ["positions"] * with_positions
    return "".join(f" {name}={name}," for name in given)


def shown_value(value: Any) -> str:
    """Return a setting as Python code, or its first 499 characters."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 500 else text[:499] + "…"


def _listed(names: list[str], most: int = 8) -> str:
    listed = ", ".join(printable(name, 30) for name in names[:most])
    return f"{listed} and {len(names) - most} more" if len(names) > most else listed


def p_text(p: float) -> str:
    """Return a p-value as the scripts of the page write it.

    Examples
    --------
    >>> p_text(0.0421), p_text(1.234e-7)
    ('0.042', '1.2e-7')
    """
    if p >= 0.001 or p == 0:
        return f"{p:.2g}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short(name: str, length: int = 60) -> str:
    """Return a name on one line, cut to `length` characters."""
    line = " ".join(name.split()) or "(no name)"
    return line if len(line) <= length else line[: length - 1] + "…"


def number(value: float, digits: int = 8) -> float | int | None:
    """Round to significant digits; return None for infinities and NaN, which JSON lacks."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def numbers(values: npt.ArrayLike, digits: int = 8) -> list[float | int | None]:
    """Round all values to significant digits."""
    return [number(value, digits) for value in np.asarray(values, dtype=np.float64).ravel().tolist()]


WESTFALL_YOUNG = (
    "Westfall P. H., Young S. S. (1993). Resampling-Based Multiple Testing: Examples and Methods for p-Value "
    "Adjustment. Wiley, New York"
)
GENOMIC_CONTROL = "Devlin B., Roeder K. (1999). Genomic control for association studies. Biometrics 55(4), 997–1004"


#: The statistic where the outcome varies within groups.
_WITHIN_GROUPS = (
    "The statistic of a variable was the larger of its gain and its squared correlation with the outcome within groups "
    "(normal scores, less their mean in the group), each divided by the median of its maxima over all permutations. "
)


def null_sentence(selection: Selection) -> str:
    """Return a sentence of the summary on the source of p-values; "" without groups and permutations."""
    about = selection.record.groups
    fit = selection.runs[0].null_fit
    if fit.is_permuted:
        beside = "; of gain and correlation with the outcome within groups, the larger counts" * about.within_groups
        return f"p-values come from {_permutations(selection)}{beside}; no null distribution was fitted."
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
            f"p-values come from {_permutations(selection)}; the search was repeated for each permutation. "
            f"{_WITHIN_GROUPS if about.within_groups else ''}They were "
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
