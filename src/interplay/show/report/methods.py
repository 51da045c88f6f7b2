"""The result → a methods paragraph to paste into a paper, and its references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interplay.infer.effects.estimate import (
    AUC,
    HAZARD_RATIO,
    HAZARD_RATIO_PER_SD,
    MEAN_DIFFERENCE,
    ODDS_RATIO,
    RHO,
)
from interplay.infer.p_values import ADJUSTMENTS
from interplay.infer.reference_fit import LIKELIHOOD_FITS
from interplay.show.report import about
from interplay.show.report.about import (
    capitalised,
    counted,
    date_of,
    file_of,
    filled,
    listed_strata,
    looked_at,
    number_of_tuples,
    outcome_in_words,
    short,
)

if TYPE_CHECKING:
    from interplay.infer.null_fit import NullFit
    from interplay.show.results.selection import Selection

REFERENCES = (
    "Piliszek R., Mnich K., Migacz S., Tabaszewski P., Sułecki A., Polewko-Klim A., Rudnicki W. (2019). MDFS: "
    "MultiDimensional Feature Selection in R. The R Journal 11(1), 198–210. doi:10.32614/RJ-2019-019",
    "Mnich K., Rudnicki W. R. (2017). All-relevant feature selection using multidimensional filters with exhaustive "
    "search. arXiv:1705.05756",
)

_FITS = {"lsq": "by weighted least squares"} | {name: method.in_words for name, method in LIKELIHOOD_FITS.items()}

#: How each kind of effect and its 95 % interval are made.
_EFFECTS = {
    AUC: "areas under the ROC curve with DeLong's intervals",
    ODDS_RATIO: "odds ratios with Woolf's intervals",
    RHO: "Spearman's rank correlations with Bonett and Wright's intervals",
    MEAN_DIFFERENCE: "differences in means with Welch's intervals",
    HAZARD_RATIO: "hazard ratios of Cox's model with intervals of t (degrees of freedom: events less 2)",
    HAZARD_RATIO_PER_SD: "hazard ratios of Cox's model per standard deviation of normal scores",
}


def methods_paragraph(selection: Selection) -> str:
    """Return a paragraph for the methods section of a paper; its citations are `REFERENCES`."""
    s, outcome = selection.asked, filled(selection, selection.words.outcome_in_methods)
    runs = {"ovo": "; each pair of classes was compared", "ovr": "; each class was compared with the rest"}
    return " ".join(
        [
            "Relevant variables were identified with MultiDimensional Feature Selection (MDFS; Mnich and Rudnicki, "
            "2017; Piliszek et al., 2019), as implemented in the Python package interplay "
            f"{selection.record.versions['interplay']}.",
            f"{_data_method(selection)}; {outcome_in_words(selection)} {outcome}"
            f"{runs.get(s.multiclass, '') if len(selection.comparisons) > 1 else ''}.",
            _levels_method(selection),
            *_missing_method(selection),
            _search_method(selection),
            *_strata_method(selection),
            *_group_method(selection),
            _null_method(selection),
            *_arms_method(selection),
            *_comparisons_method(selection),
            _adjustment_method(selection),
            *about.model_methods(selection),
            *_effect_method(selection),
            *_short_list_method(selection),
            f"The random seed was {s.random_state}{_when(selection)}.",
        ]
    )


def _levels_method(selection: Selection) -> str:
    s = selection.asked
    if selection.record.n_cut == 0:
        return "All variables had few values, which were used as they are."
    d = s.discretizations
    ways = "" if d == 1 else f", in {d} random ways (range {s.range_:.3g})"
    others = "" if s.discrete == "none" else "; variables with few values were used as they are"
    return f"Numeric variables were discretised by rank into {s.divisions + 1} levels{ways}{others}."


def _search_method(selection: Selection) -> str:
    pseudocount = f"(pseudocount {selection.asked.pseudocount:g})"
    if selection.dimensions == (1,):
        alone = f"Each variable was tested alone ({number_of_tuples(selection)})"
        return f"{alone} and was scored by its maximum information gain {pseudocount}{selection.words.gain}."
    searched = f"{capitalised(looked_at(selection))} were searched exhaustively ({number_of_tuples(selection)})"
    scored = "each variable was scored by its maximum conditional information gain over all tuples that contain it"
    return f"{searched}, and {scored} {pseudocount}{selection.words.gain}."


def _data_method(selection: Selection) -> str:
    record, file, dropped = selection.record, file_of(selection), selection.record.source.dropped
    left_out = record.samples_left_out
    source = f" ({short(file)})" if file else ""
    less = [
        *([counted(left_out, "sample")] if left_out else []),
        *([counted(len(dropped), "column")] if dropped else []),
    ]
    without = f" after {' and '.join(less)} {'were' if len(dropped) + left_out > 1 else 'was'} left out" if less else ""
    return (
        f"The data{source} comprised {counted(record.n_samples, 'sample')} and "
        f"{counted(record.n_vars, 'variable')}{without}"
    )


def _when(selection: Selection) -> str:
    date = date_of(selection)
    return f", and the analysis was run on {date}" if date else ""


def _strata_method(selection: Selection) -> list[str]:
    listed = listed_strata(selection)
    if not listed:
        return []
    permuted = ", and contrast variables were permuted within strata" if selection.asked.n_contrast else ""
    return [f"Gains were computed within {listed}: the stratum was an additional member of every tuple{permuted}."]


def _group_method(selection: Selection) -> list[str]:
    said = about.null_method(selection)
    return [said] if said and not selection.runs[0].null_fit.is_permuted else []


def _missing_method(selection: Selection) -> list[str]:
    done = {"level": "counted as a level of their own", "impute": "drawn at random from the variable's other values"}
    treated = selection.record.missing
    listed = [f"{done[treatment]} in {counted(n, 'variable')}" for treatment, n in treated.items()]
    return [f"Missing values were {' and '.join(listed)}."] if listed else []


def _null_method(selection: Selection) -> str:
    if selection.runs[0].null_fit.is_permuted:
        return about.null_method(selection)
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
        within = ", within strata" if selection.record.strata else ""
        several = (
            ""
            if fit.mode == "raw"
            else ", and the smallest p-value over the discretisations was multiplied by their number"
        )
        return f"p-values come from {selection.words.exact.format(within=within, several=several)}."
    if fit.mode == "raw":
        return "p-values are upper tail probabilities of the χ² distribution of the gain."
    if fit.fit == "union":
        return "p-values are χ² tail probabilities times the number of tests of each variable (union bound)."
    of = (
        f"{counted(selection.asked.n_contrast, 'contrast variable')} (random permutations of the original variables)"
        if fit.n_contrast
        else "the variables that were found to be irrelevant"
    )
    return (
        "p-values come from the null distribution of the maximum gain, which was fitted "
        f"{_FITS[fit.fit]} to the gains of {of}."
    )


def _adjustment_method(selection: Selection) -> str:
    if said := about.adjustment_method(selection):
        return said
    s = selection.asked
    if s.p_adjust == "none":
        return f"Variables with p < {s.level:g} were considered relevant; p-values were not adjusted."
    adjusted = f"p-values were adjusted for multiple testing by {ADJUSTMENTS[s.p_adjust].words}"
    return f"{capitalised(adjusted)}, and variables with an adjusted p < {s.level:g} were considered relevant."


def _effect_method(selection: Selection) -> list[str]:
    """Say which effects were measured, and how their intervals were made."""
    if selection.effects is None or not len(selection.ranked):
        return []
    kinds = set(selection.effects.kind)
    said = [words for kind, words in _EFFECTS.items() if kind in kinds]
    within = ", within strata" if selection.record.strata else ""
    over = " Intervals are by a jackknife over groups." if selection.record.groups.method else ""
    return [f"Effects of relevant variables are given as {'; '.join(said)}{within}.{over}"] if said else []


def _short_list_method(selection: Selection) -> list[str]:
    shortened = selection.shortened
    if shortened is None or not len(shortened.variable):
        return []
    return [
        f"Relevant variables with an association of at least {shortened.threshold:g} (absolute rank correlation, "
        "correlation ratio or Cramér's V) were grouped, and a short list was chosen from the most significant of each "
        "group by forward selection: a variable was added if it was significant given natural splines of those chosen "
        f"before (Bonferroni over the candidates, level {selection.asked.level:g}), and dropped if it was not so "
        "given all others."
    ]
