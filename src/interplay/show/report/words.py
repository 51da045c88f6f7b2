"""The result in sentences: its headline, and a summary to read first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from interplay.infer.null_fit import note_on_sparse_tuples
from interplay.infer.p_values import ADJUSTMENTS
from interplay.infer.verdicts import ADDITIVE, INTERACTION, UNCLEAR, UNTESTED, Verdict
from interplay.show.report import about
from interplay.show.report.about import (
    capitalised,
    counted,
    filled,
    listed_strata,
    looked_at,
    number_of_tuples,
    outcome_in_words,
    p_text,
    short,
    sizes_of_strata,
)
from interplay.show.results.selection_summary import best_lines, short_list_lines, stability_sentence

if TYPE_CHECKING:
    from interplay.show.results.selection import Selection


#: A null distribution whose Kolmogorov–Smirnov p-value, times the number of fits, is below this does not fit.
_BAD_FIT = 0.01


def headline(selection: Selection) -> str:
    """Return the result in one line."""
    n, p = len(selection.ranked), len(selection.names)
    if n == 0:
        return f"None of {counted(p, 'variable')} is relevant"
    return f"{n:,} of {counted(p, 'variable')} {'is' if n == 1 else 'are'} relevant"


def first_sentences(selection: Selection) -> list[str]:
    """Return the sentences of the first screen, in words of the first glossary alone; `summary_sentences` has the rest.

    They say what was found, which case is the clearest, what to check, and how often such an answer is wrong.
    """
    n, p, target = len(selection.ranked), len(selection.names), outcome_in_words(selection)
    judged = "p" if selection.asked.p_adjust == "none" else "adjusted p"
    said = [
        f"Of {counted(p, 'variable')}, {f'{n:,}' if n else 'none'} {'is' if n <= 1 else 'are'} relevant to {target} "
        f"({judged} < {selection.asked.level:g}).{_note(selection)}"
    ]
    if n:
        said += [_clearest(selection), _together(selection), _groups(selection)]
    else:
        alone = "" if np.isnan(selection.p_adjusted).all() else _found_alone(selection)
        no_proof = (
            "This does not prove that no variable matters: an effect may be too small for this number of samples."
        )
        said.append(alone or no_proof)
    if within := sizes_of_strata(selection):
        said.append(f"Samples are compared with those alike in {within} alone.")
    said += about.model_sentences(selection)[:1]
    said += [f"{stability_sentence(selection)}."] if selection.stability is not None else []
    return [sentence for sentence in (*said, _cautions(selection), _chance(selection)) if sentence]


#: Of the clearest variables, so many are named in the first screen.
_NAMED = 3


def _clearest(selection: Selection) -> str:
    """Name the most significant variables, one of each redundant group, with their directions."""
    shown = [group[0] for group in selection.redundant_groups][:_NAMED] or selection.relevant[:_NAMED]
    directions = {} if selection.effects is None else selection.effects.columns(len(selection.names))
    number = {name: v for v, name in zip(selection.ranked.tolist(), selection.relevant, strict=True)}
    said = {name: directions["direction"][number[name]] if directions else "" for name in shown}
    named = [f"{short(name)} ({direction})" if direction else short(name) for name, direction in said.items()]
    return f"{'The clearest' if len(selection.ranked) > 1 else 'It is'}: {'; '.join(named)}."


def _together(selection: Selection) -> str:
    """Name the clearest variables that work together."""
    found = [
        (one.p_adjusted, one.members)
        for v, one in enumerate(selection.verdicts)
        if one.verdict == INTERACTION and selection.is_relevant[v] and v in one.members
    ]
    if not found:
        return ""
    p, members = min(found)
    return (
        f"{_joined(list(selection.names_of(np.array(members))))} work together: their effect is beyond the sum of "
        f"their separate effects (adjusted p {p_text(p)})."
    )


def _chance(selection: Selection) -> str:
    """Say how often an answer like this is wrong."""
    method, level = selection.asked.p_adjust, f"{100 * selection.asked.level:.3g} %"
    if method == "none":
        return f"Of variables that do not matter, about {level} are called relevant by chance."
    if ADJUSTMENTS[method].bounds_share:
        return f"Of the variables that are called relevant, on average at most {level} are so by chance."
    return f"In a table where nothing matters, any variable at all is called relevant with a chance of at most {level}."


def summary_sentences(selection: Selection) -> list[str]:
    """Return the sentences on result, search and p-values, one thought each."""
    found = [_what_was_searched(selection), _strata(selection)]
    if len(selection.ranked):
        found += [_found(selection), _synergy(selection), _groups(selection)]
    else:
        found.append(_nothing_found(selection))
    found += best_lines(selection)
    found += about.model_sentences(selection)
    found += [f"{stability_sentence(selection)}."] if selection.stability is not None else []
    return [sentence for sentence in (*found, _cautions(selection), _null(selection), _errors(selection)) if sentence]


def _what_was_searched(selection: Selection) -> str:
    k, n, p = selection.dimensions[-1], len(selection.ranked), len(selection.names)
    carries = "carries" if n <= 1 else "carry"
    first = (
        f"Of {counted(p, 'variable')}, {n if n else 'none'} {carries} information about {outcome_in_words(selection)}"
    )
    n_comparisons = len(selection.comparisons)
    several = f" in {n_comparisons} comparisons of classes" if n_comparisons > 1 else ""
    size = "" if k == 1 else f" ({number_of_tuples(selection)})"
    searched = f"The search covered {looked_at(selection)}{size}{several}"
    return f"{first}. {searched}, and {filled(selection, selection.words.outcome_said)}.{_note(selection)}"


def _note(selection: Selection) -> str:
    note = selection.record.outcome.note
    return f" {capitalised(note)}." if note else ""


def _cautions(selection: Selection) -> str:
    """Name the variables that may be leaks of the outcome, or identifiers."""
    found = list(selection.cautions.items())
    if not found:
        return ""
    listed = "; ".join(f"{short(name)} ({words})" for name, words in found[:5])
    more = f"; and {len(found) - 5} more, which are marked in the table" if len(found) > 5 else ""
    return f"Check these variables before you rely on them: {listed}{more}."


def _strata(selection: Selection) -> str:
    listed = listed_strata(selection)
    if not listed:
        return ""
    shown = " Pictures of tuples show all strata together." if len(selection.ranked) else ""
    return f"Gains are measured within {listed}: they do not include what the stratum alone tells.{shown}"


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
    if selection.dimensions[0] == 1 or selection.record.strata:
        return ""
    log_p = np.min([run.log_p_alone for run in selection.runs], axis=0)
    log_p += math.log(len(selection.runs) * len(selection.names))
    best = int(np.argmin(log_p))
    if log_p[best] >= math.log(selection.asked.level):
        return ""
    return (
        f"But {short(selection.names[best])} is significant when each variable is tested alone (adjusted p-value about "
        f"{p_text(math.exp(log_p[best]))}). A search for variables that work together makes single effects harder to "
        "detect: search with dimensions=1 as well."
    )


def _too_few_samples(selection: Selection) -> str:
    if selection.dimensions[-1] == 1 or selection.tests:  # single variables have exact tests
        return ""
    run = min(selection.runs, key=lambda run: int(run.class_sizes.min()))
    note = note_on_sparse_tuples(run.class_labels, run.class_sizes, run.gains.df, dimensions=run.dimensions)
    return f"{capitalised(note)}." if note else ""


def _null(selection: Selection) -> str:
    if said := about.null_sentence(selection):
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
    if said := about.errors_sentence(selection):
        return said
    method, level = selection.asked.p_adjust, selection.asked.level
    if method == "none":
        return (
            f"p-values are not adjusted: about {100 * level:.3g} % of the irrelevant variables are selected by chance."
        )
    name = ADJUSTMENTS[method].words
    if ADJUSTMENTS[method].bounds_share:
        return f"{capitalised(name)} keeps the expected share of false discoveries (FDR) at or below {level:.3g}."
    return f"{capitalised(name)} keeps the probability of any false discovery at or below {level:.3g}."


#: The meaning of each verdict, for a reader who has not seen the manual.
MEANINGS = {
    INTERACTION: "together these variables have an effect beyond the sum of their separate effects",
    ADDITIVE: "each of these variables has an effect by itself, and no interaction between them was found",
    UNCLEAR: "no interaction was found, and at least one of these variables has no effect by itself: it may be a "
    "partner by chance, or the interaction may be too weak to be detected",
    UNTESTED: "the interaction of these variables was not tested",
}


def verdict_sentence(verdict: Verdict, part: Sequence[str] = (), where: str = "") -> str:
    """Return the verdict with its p-value and effect.

    `part` names the members that interact where not all do, `where` the cell that departs most, with its class.

    Examples
    --------
    >>> verdict_sentence(Verdict("untested"))
    'Untested: the interaction of these variables was not tested.'
    """
    numbers = []
    if not math.isnan(verdict.p_adjusted):
        numbers.append(f"adjusted p {p_text(verdict.p_adjusted)}")
    if verdict.verdict == INTERACTION and not math.isnan(verdict.estimate):
        effect, low, high = (_signed(value) for value in (verdict.estimate, verdict.ci_low, verdict.ci_high))
        numbers.append(f"{verdict.words.effect_short} {effect}, 95 % interval {low} to {high}")
    if verdict.verdict == INTERACTION and verdict.cell.is_known and where:
        numbers.append(f"clearest where {where}: {_cell_in_words(verdict)}")
    meaning = MEANINGS[verdict.verdict]
    if part:
        meaning = (
            f"of these variables, {_joined(list(part))} together have an effect beyond the sum of their separate "
            "effects"
        )
    in_brackets = f" ({'; '.join(numbers)})" if numbers else ""
    name = verdict.verdict[:1].upper() + verdict.verdict[1:]
    return f"{name}: {meaning}{in_brackets}."


def _cell_in_words(verdict: Verdict) -> str:
    """Return how much a cell departs from separate effects."""
    cell = verdict.cell
    if not verdict.words.is_ratio:
        size, low, high = (_signed(value) for value in (cell.effect, cell.low, cell.high))
        return f"mean {size} beside separate effects, 95 % interval {low} to {high}"
    size, low, high = (f"{math.exp(min(value, 700.0)):.3g}" for value in (cell.effect, cell.low, cell.high))
    return f"odds times {size} beside separate effects, 95 % interval {low} to {high}"


def partner_sentence(selection: Selection) -> str:
    """Say how many of the relevant variables interact with their partners, and name the clearest case."""
    of_relevant = selection.table.iloc[selection.ranked].to_dict("records")
    rows = [row for row in of_relevant if row["partners"]]  # variables found alone have no partners
    by_verdict = {word: [row for row in rows if row["verdict"] == word] for word in MEANINGS}
    n = len(of_relevant)
    found = [] if len(rows) == n else [_shown_alone(n - len(rows), n)]
    # In some tuples the partners interact with each other, and the variable has an effect beside them.
    among = [row for row in by_verdict[INTERACTION] if row["variable"] not in row["interacting"]]
    if together := [row for row in by_verdict[INTERACTION] if row["variable"] in row["interacting"]]:
        best = min(together, key=lambda row: (row["p_interaction"], -row["synergy"]))
        names = _joined(list(best["interacting"]))
        found.append(
            f"{_who(len(together), n)} {'interacts' if len(together) == 1 else 'interact'} with "
            f"{'its' if len(together) == 1 else 'their'} partners: together they have an effect beyond the sum "
            f"of their separate effects. The clearest case is {names} (adjusted p {p_text(best['p_interaction'])})."
        )
    if among:
        found.append(f"For {_who(len(among), n).lower()} only the partners interact with each other.")
    if additive := by_verdict[ADDITIVE]:
        found.append(
            f"For {_who(len(additive), n).lower()} the effects add up: each variable matters by itself, and no "
            "interaction with its partners was found."
        )
    if unclear := by_verdict[UNCLEAR]:
        found.append(
            f"For {_who(len(unclear), n).lower()} no interaction was found; the partner may be there by chance."
        )
    if untested := by_verdict[UNTESTED]:
        found.append(f"For {_who(len(untested), n).lower()} the interaction with partners was not tested.")
    return " ".join(found)


def _shown_alone(n: int, of: int) -> str:
    return f"{_who(n, of)} {'shows' if n == 1 else 'show'} most clearly without partners."


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _who(n: int, of: int) -> str:
    if n == of:
        return {1: "It", 2: "Both"}.get(of, f"All {of:,} of them")
    return f"{n:,} of them"


def _joined(names: list[str]) -> str:
    shown = [short(name) for name in names]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
