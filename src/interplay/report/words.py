"""The result in sentences: a summary to read first, and a methods paragraph to paste into a paper."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.text import tuples_in_words
from interplay.report import study_words
from interplay.report.about import date_of, dropped_columns, file_of, target_of
from interplay.report.numbers import counted, p_text, short
from interplay.report.verdict_words import partner_sentence
from interplay.results.selection_summary import stability_sentence
from interplay.results.shown_variables import short_list_lines
from interplay.statistics.effects.estimate import (
    AUC,
    HAZARD_RATIO,
    HAZARD_RATIO_PER_SD,
    MEAN_DIFFERENCE,
    ODDS_RATIO,
    RHO,
)
from interplay.statistics.few_samples import note_on_sparse_tuples
from interplay.statistics.likelihood_fit import LIKELIHOOD_FITS

if TYPE_CHECKING:
    from interplay.results.selection import Selection
    from interplay.statistics.null_fit import NullFit

REFERENCES = (
    "Piliszek R., Mnich K., Migacz S., Tabaszewski P., Sułecki A., Polewko-Klim A., Rudnicki W. (2019). MDFS: "
    "MultiDimensional Feature Selection in R. The R Journal 11(1), 198–210. doi:10.32614/RJ-2019-019",
    "Mnich K., Rudnicki W. R. (2017). All-relevant feature selection using multidimensional filters with exhaustive "
    "search. arXiv:1705.05756",
)

#: A null distribution whose Kolmogorov–Smirnov p-value, times the number of fits, is below this does not fit.
_BAD_FIT = 0.01


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
_FALSE_DISCOVERY_RATE = {"BH", "BY", "fdr", "fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky", "fdr_gbs"}

_FITS = {"lsq": "by weighted least squares"} | {name: method.in_words for name, method in LIKELIHOOD_FITS.items()}


#: How each kind of effect and its 95 % interval are made.
_EFFECTS = {
    AUC: "areas under the ROC curve with DeLong's intervals",
    ODDS_RATIO: "odds ratios with Woolf's intervals",
    RHO: "Spearman's rank correlations with Bonett and Wright's intervals",
    MEAN_DIFFERENCE: "differences in means with Welch's intervals",
    HAZARD_RATIO: "hazard ratios of Cox's model with Wald's intervals",
    HAZARD_RATIO_PER_SD: "hazard ratios of Cox's model per standard deviation of normal scores",
}


def headline(selection: Selection) -> str:
    """Return the result in one line."""
    n, p = len(selection.ranked), len(selection.names)
    if n == 0:
        return f"None of {counted(p, 'variable')} is relevant"
    return f"{n:,} of {counted(p, 'variable')} {'is' if n == 1 else 'are'} relevant"


def summary_sentences(selection: Selection) -> list[str]:
    """Return the sentences of the summary, one thought each."""
    found = [_what_was_searched(selection), _strata(selection)]
    if len(selection.ranked):
        found += [_found(selection), _synergy(selection), _groups(selection)]
    else:
        found.append(_nothing_found(selection))
    found += study_words.model_sentences(selection)
    found += [f"{stability_sentence(selection)}."] if selection.stability is not None else []
    return [sentence for sentence in (*found, _cautions(selection), _null(selection), _errors(selection)) if sentence]


def methods_paragraph(selection: Selection) -> str:
    """Return a paragraph for the methods section of a paper; its citations are `REFERENCES`."""
    s = selection.settings
    runs = {"ovo": "; each pair of classes was compared", "ovr": "; each class was compared with the rest"}
    return " ".join(
        [
            "Relevant variables were identified with MultiDimensional Feature Selection (MDFS; Mnich and Rudnicki, "
            "2017; Piliszek et al., 2019), as implemented in the Python package interplay "
            f"{selection.provenance['versions']['interplay']}.",
            f"{_data_method(selection)}; {_outcome(selection)} {_outcome_method(selection)}"
            f"{runs.get(s['multiclass'], '') if len(selection.comparisons) > 1 else ''}.",
            _levels_method(selection),
            *_missing_method(selection),
            _search_method(selection),
            *_strata_method(selection),
            *_group_method(selection),
            _null_method(selection),
            *_arms_method(selection),
            *_comparisons_method(selection),
            _adjustment_method(selection),
            *study_words.model_methods(selection),
            *_effect_method(selection),
            *_short_list_method(selection),
            f"The random seed was {s['random_state']}{_when(selection)}.",
        ]
    )


def _levels_method(selection: Selection) -> str:
    s = selection.settings
    if not selection.provenance.get("n_cut", 1):
        return "All variables had few values, which were used as they are."
    d = s["discretizations"]
    ways = "" if d == 1 else f", in {d} random ways (range {s['range_']:.3g})"
    others = "" if s["discrete"] == "none" else "; variables with few values were used as they are"
    return f"Numeric variables were discretised by rank into {s['divisions'] + 1} levels{ways}{others}."


def _search_method(selection: Selection) -> str:
    pseudocount = f"(pseudocount {selection.settings['pseudocount']:g})"
    if selection.dimensions == (1,):
        alone = f"Each variable was tested alone ({_n_tuples(selection)})"
        return f"{alone} and was scored by its maximum information gain {pseudocount}{_gain_of_numbers(selection)}."
    searched = f"{_capital(_looked_at(selection))} were searched exhaustively ({_n_tuples(selection)})"
    scored = "each variable was scored by its maximum conditional information gain over all tuples that contain it"
    return f"{searched}, and {scored} {pseudocount}{_gain_of_numbers(selection)}."


def _gain_of_numbers(selection: Selection) -> str:
    if selection.class_sizes:
        return ""
    return ", half the number of samples times the logarithm of the ratio of residual sums of squares"


def _what_was_searched(selection: Selection) -> str:
    k, n, p = selection.dimensions[-1], len(selection.ranked), len(selection.names)
    carries = "carries" if n <= 1 else "carry"
    first = f"Of {counted(p, 'variable')}, {n if n else 'none'} {carries} information about {_outcome(selection)}"
    n_comparisons = len(selection.comparisons)
    several = f" in {n_comparisons} comparisons of classes" if n_comparisons > 1 else ""
    size = "" if k == 1 else f" ({_n_tuples(selection)})"
    searched = f"The search covered {_looked_at(selection)}{size}{several}"
    if not selection.class_sizes:
        if times := selection.provenance.get("survival"):
            return f"{first}. {searched}, and the outcome is a time to an event ({times['n_events']} events)."
        return f"{first}. {searched}, and the outcome is a number{_middle(selection)}.{_note(selection)}"
    return f"{first}. {searched}, and the outcome has {_listed(selection.class_sizes, 'classes')}."


def _outcome_method(selection: Selection) -> str:
    if selection.class_sizes:
        return f"had {_listed(selection.class_sizes, 'classes')}"
    if times := selection.provenance.get("survival"):
        return f"was the time to an event, censored where there was none ({times['n_events']} events)"
    if selection.settings.get("scale") == "values":
        return f"was a number{_middle(selection)}, of which standardised values were compared"
    within = " within strata" if selection.provenance["strata"] else ""
    return f"was a number{_middle(selection)}, of which normal scores of the ranks{within} were compared"


def _middle(selection: Selection) -> str:
    """Return the middle of the numbers of an outcome, in brackets."""
    quartiles = selection.provenance.get("outcome", {}).get("quartiles", [])
    if not quartiles:
        return ""
    return f" (median {quartiles[2]:.4g}, quartiles {quartiles[1]:.4g} to {quartiles[3]:.4g})"


def _note(selection: Selection) -> str:
    note = selection.provenance.get("outcome", {}).get("note", "")
    return f" {_capital(note)}." if note else ""


def _outcome(selection: Selection) -> str:
    target = target_of(selection)
    is_named = target and target.lower() not in ("outcome", "target")  # "the outcome outcome" would read badly
    return f"the outcome {short(target)}" if is_named else "the outcome"


def _data_method(selection: Selection) -> str:
    provenance = selection.provenance
    file, dropped, left_out = file_of(selection), dropped_columns(selection), provenance["samples_left_out"]
    source = f" ({short(file)})" if file else ""
    less = [
        *([counted(left_out, "sample")] if left_out else []),
        *([counted(len(dropped), "column")] if dropped else []),
    ]
    without = f" after {' and '.join(less)} {'were' if len(dropped) + left_out > 1 else 'was'} left out" if less else ""
    return (
        f"The data{source} comprised {counted(provenance['n_samples'], 'sample')} and "
        f"{counted(provenance['n_vars'], 'variable')}{without}"
    )


def _when(selection: Selection) -> str:
    date = date_of(selection)
    return f", and the analysis was run on {date}" if date else ""


def _cautions(selection: Selection) -> str:
    """Name the variables that may be leaks of the outcome, or identifiers."""
    found = list(selection.cautions.items())
    if not found:
        return ""
    listed = "; ".join(f"{short(name)} ({words})" for name, words in found[:5])
    more = f"; and {len(found) - 5} more, which are marked in the table" if len(found) > 5 else ""
    return f"Check these variables before you rely on them: {listed}{more}."


def _strata(selection: Selection) -> str:
    listed = _listed_strata(selection)
    if not listed:
        return ""
    shown = " Pictures of tuples show all strata together." if len(selection.ranked) else ""
    return f"Gains are measured within {listed}: they do not include what the stratum alone tells.{shown}"


def _strata_method(selection: Selection) -> list[str]:
    listed = _listed_strata(selection)
    if not listed:
        return []
    permuted = ", and contrast variables were permuted within strata" if selection.settings["n_contrast"] else ""
    return [f"Gains were computed within {listed}: the stratum was an additional member of every tuple{permuted}."]


def _group_method(selection: Selection) -> list[str]:
    said = study_words.null_method(selection)
    return [said] if said and not selection.runs[0].null_fit.is_permuted else []


def _missing_method(selection: Selection) -> list[str]:
    # The result does not record whether values were missing.
    done = {"level": "counted as a level of their own", "impute": "drawn at random from the variable's other values"}
    missing = selection.settings["missing"]
    return [f"Missing values, if any, were {done[missing]}."] if missing in done else []


def _listed_strata(selection: Selection) -> str:
    sizes = selection.provenance["strata"]
    return _listed(sizes, "strata") if sizes else ""


def _listed(sizes: Mapping[str, int], noun: str) -> str:
    listed = ", ".join(f"{short(label, 30)}: {size:,}" for label, size in list(sizes.items())[:6])
    return f"{len(sizes)} {noun} ({listed}{', …' if len(sizes) > 6 else ''})"


def _found(selection: Selection) -> str:
    """Return a sentence on the arms that found the variables, if several arms were combined."""
    if not selection.tests:
        return ""
    how = Counter(selection.found[v] for v in selection.ranked)
    if len(selection.ranked) == 1:
        return f"It was found {next(iter(how))}."
    if len(how) == 1:
        return f"All of them were found {next(iter(how))}."
    listed = ", ".join(f"{number:,} {words}" for words, number in how.most_common())
    return f"Simplest way in which they were found: {listed}."


def _synergy(selection: Selection) -> str:
    if selection.dimensions == (1,):
        return (
            "Each variable was tested alone. This search cannot find variables that matter only together with others."
        )
    return partner_sentence(selection)


def _groups(selection: Selection) -> str:
    return " ".join(short_list_lines(selection))


def _nothing_found(selection: Selection) -> str:
    if np.isnan(selection.p_adjusted).all():
        return "No variable could be tested."
    best = int(np.nanargmin(np.where(np.isnan(selection.log_p), np.inf, selection.log_p)))
    first = (
        f"The most significant variable, {short(selection.names[best])}, has an adjusted p-value of "
        f"{p_text(selection.p_adjusted[best])}."
    )
    return f"{first} {_found_alone(selection) or _too_few_samples(selection) or _NO_PROOF}"


#: Advice if the data suggest none.
_NO_PROOF = (
    "This does not prove that no variable matters: an effect may be too small for this number of samples, or need "
    "larger tuples than those that were searched."
)


def _found_alone(selection: Selection) -> str:
    """Name a variable that is significant alone, although the search in tuples did not find it."""
    if selection.dimensions[0] == 1 or selection.provenance["strata"]:
        return ""
    log_p = np.min([run.log_p_alone for run in selection.runs], axis=0)
    log_p += math.log(len(selection.runs) * len(selection.names))
    best = int(np.argmin(log_p))
    if log_p[best] >= math.log(selection.settings["level"]):
        return ""
    return (
        f"But {short(selection.names[best])} is significant when each variable is tested alone (adjusted p-value about "
        f"{p_text(math.exp(log_p[best]))}). A search in tuples compares each variable with the maximum over many "
        "tuples, which makes single effects harder to detect. Search with dimensions=1 as well."
    )


def _too_few_samples(selection: Selection) -> str:
    if selection.dimensions[-1] == 1 or selection.tests:  # single variables have exact tests
        return ""
    run = min(selection.runs, key=lambda run: int(run.class_sizes.min()))
    note = note_on_sparse_tuples(run.class_labels, run.class_sizes, run.gains.df, dimensions=run.dimensions)
    return f"{_capital(note)}." if note else ""


def _null(selection: Selection) -> str:
    if said := study_words.null_sentence(selection):
        return said
    # Of several tests of a variable each has null fits of its own.
    fits = [run.null_fit for run in selection.runs]
    if selection.tests:
        fits = [fit for test in selection.tests for fit in test.null_fits if not fit.is_exact]
    if not fits or fits[0].is_exact:
        return "p-values come from an exact conditional test; no null distribution was fitted."
    checked = [fit.ks_p for fit in fits if not math.isnan(fit.ks_p) and fit.mode != "raw" and fit.fit != "union"]
    if not checked:
        return ""
    worst = min(checked)
    kind = "contrast variables (permuted copies)" if fits[0].n_contrast else "irrelevant variables"
    number = f"{fits[0].n_irrelevant:,} " if len(fits) == 1 else ""
    where = f"Kolmogorov–Smirnov p\u00a0=\u00a0{worst:.2g}" + (
        f", the smallest of {len(checked)} fits" if len(checked) > 1 else ""
    )
    if worst * len(checked) < _BAD_FIT:
        return (
            f"Caution: the fitted null distribution does not describe the gains of the {number}{kind} ({where}). "
            "p-values may be wrong."
        )
    return f"The null distribution was fitted to the gains of {number}{kind} and describes them well ({where})."


def _errors(selection: Selection) -> str:
    if said := study_words.errors_sentence(selection):
        return said
    method, level = selection.settings["p_adjust"], selection.settings["level"]
    if method == "none":
        return (
            f"p-values are not adjusted: about {100 * level:.3g} % of the irrelevant variables are selected by chance."
        )
    name = ADJUSTMENTS[method]
    if method in _FALSE_DISCOVERY_RATE:
        return f"{_capital(name)} keeps the expected share of false discoveries (FDR) at or below {level:.3g}."
    return f"{_capital(name)} keeps the probability of any false discovery at or below {level:.3g}."


def _null_method(selection: Selection) -> str:
    if selection.runs[0].null_fit.is_permuted:
        return study_words.null_method(selection)
    runs = [run for run in selection.runs if not (selection.tests and run.null_fit.is_exact)] or selection.runs
    fits = {run.null_fit.fit: run.null_fit for run in runs}
    fitted = [fit for name, fit in fits.items() if name != "union"]
    if len(fits) > 1 and fitted:
        searches = "searches" if selection.tests else "comparisons"
        where = f"In {sum(run.null_fit.fit == 'union' for run in runs)} of {len(runs)} {searches}"
        rest = (
            "no such distribution was fitted: p-values are χ² tail probabilities times the number of tests (union "
            "bound)."
        )
        return f"{_fit_method(selection, fitted[0])} {where} {rest}"
    return _fit_method(selection, runs[0].null_fit)


def _arms_method(selection: Selection) -> list[str]:
    if not selection.tests:
        return []
    listed = ", ".join(f"{test.name} {test.weight:.2g}" for test in selection.tests)
    averaged = [test.name for test in selection.tests if any(fit.fit == "predictive" for fit in test.null_fits)]
    of = f"The distribution of {' and of '.join(averaged)} under the null hypothesis was"
    return [
        "The p-value of a variable is the weighted harmonic mean of the p-values of several tests (weights: "
        f"{listed}): rank tests of the variable alone and given other strong variables, its maximum gain and its "
        "maximum synergy in tuples of each size, and the products of ranks in pairs. The weights of a variable were "
        "shifted towards the kinds of tests that detected other variables.",
        *([f"{of} fitted {_FITS['predictive']}."] if averaged else []),
    ]


def _comparisons_method(selection: Selection) -> list[str]:
    n_runs = len(selection.comparisons)
    said = f"The p-value of a variable is its smallest p-value times {n_runs}, the number of comparisons."
    return [said] if n_runs > 1 else []


def _fit_method(selection: Selection, fit: NullFit) -> str:
    if fit.is_exact:
        within = ", within strata" if selection.provenance["strata"] else ""
        several = (
            ""
            if fit.mode == "raw"
            else ", and the smallest p-value over the discretisations was multiplied by their number"
        )
        if not selection.class_sizes:
            return (
                "p-values come from the permutation distribution of the outcome's sums over the levels of a variable"
                f"{within}; it is exact where samples are few{several}."
            )
        return (
            "p-values come from a conditional test of the gain, given the numbers of samples of each level and class"
            f"{within}; the test is exact wherever expected counts are small{several}."
        )
    if fit.mode == "raw":
        return "p-values are upper tail probabilities of the χ² distribution of the gain."
    if fit.fit == "union":
        return "p-values are χ² tail probabilities times the number of tests of each variable (union bound)."
    of = (
        f"{counted(selection.settings['n_contrast'], 'contrast variable')} (random permutations of the original "
        "variables)"
        if fit.n_contrast
        else "the variables that were found to be irrelevant"
    )
    return (
        "p-values come from the null distribution of the maximum gain, which was fitted "
        f"{_FITS[fit.fit]} to the gains of {of}."
    )


def _adjustment_method(selection: Selection) -> str:
    if said := study_words.adjustment_method(selection):
        return said
    s = selection.settings
    if s["p_adjust"] == "none":
        return f"Variables with p < {s['level']:g} were considered relevant; p-values were not adjusted."
    adjusted = f"p-values were adjusted for multiple testing by {ADJUSTMENTS[s['p_adjust']]}"
    return f"{_capital(adjusted)}, and variables with an adjusted p < {s['level']:g} were considered relevant."


def _effect_method(selection: Selection) -> list[str]:
    """Say which effects were measured, and how their intervals were made."""
    if selection.effects is None or not len(selection.ranked):
        return []
    kinds = set(selection.effects.kind)
    said = [words for kind, words in _EFFECTS.items() if kind in kinds]
    within = ", within strata" if selection.provenance["strata"] else ""
    over = " Intervals are by a jackknife over groups." if selection.provenance["groups"] else ""
    return [f"Effects of relevant variables are given as {'; '.join(said)}{within}.{over}"] if said else []


def _short_list_method(selection: Selection) -> list[str]:
    shortened = selection.shortened
    if shortened is None or not len(shortened.variable):
        return []
    return [
        f"Relevant variables with an association of at least {shortened.threshold:g} (absolute rank correlation, "
        "correlation ratio or Cramér's V) were grouped, and a short list was chosen from the most significant of each "
        "group by forward selection: a variable was added if it was significant given natural splines of those chosen "
        f"before (Bonferroni over the candidates, level {selection.settings['level']:g}), and dropped if it was not so "
        "given all others."
    ]


def _n_tuples(selection: Selection) -> str:
    k, d = selection.dimensions[-1], selection.settings["discretizations"]
    number = sum(math.comb(len(selection.names), size) for size in selection.dimensions if size > 1 or k == 1)
    shown = f"{number:,}" if number < 10**12 else f"{number:.3g}"
    noun = "variable" if k == 1 else "tuple"
    return f"{shown} {noun}{'' if number == 1 else 's'}" + (f", {d} discretisations of each" if d > 1 else "")


def _looked_at(selection: Selection) -> str:
    """Return the sizes of tuples that were searched, in words."""
    listed = ["each variable alone" if k == 1 else f"all {tuples_in_words(k)}" for k in selection.dimensions]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def _capital(sentence: str) -> str:
    return sentence if sentence.startswith("p-") else sentence[:1].upper() + sentence[1:]
