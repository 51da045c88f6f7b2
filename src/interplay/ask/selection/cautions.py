"""What was searched and found → cautions about some of the variables, and a warning that names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb

from interplay.ask.selection.settings import SelectionSettings
from interplay.base.arrays import IntArray
from interplay.base.checks import warn
from interplay.data.codes.tuple_counts import TupleCounts
from interplay.data.study.clustered_samples import find_survey_columns
from interplay.data.study.columns import ColumnKind, decision_column
from interplay.data.study.comparisons import Comparison
from interplay.data.study.named_columns import say_the_same
from interplay.data.study.study import Study
from interplay.data.study.table_checks import IDENTIFIER_WORDS, about_columns, find_identifiers, find_subjects
from interplay.infer.leaks import APART, NEARLY_APART, TOLD, leaks_of

#: So many of the most significant variables are compared with the outcome, value by value.
_MAX_COMPARED = 20
#: And of so many it is asked whether their gains come from missing values.
_MAX_WITH_GAPS = 300
_MISSING_APART = "its missing values determine y completely"
_MISSING_ALONE = "its gain comes from its missing values alone"
_IDENTIFIER = "looks like an identifier"
_SUBJECT = "labels subjects"
_SURVEY = "looks like a weight, stratum or cluster of a survey"

#: Cautions, what is said of one column in the warning, and of several. Subjects are warned of before the search.
_WORDS = {
    APART: (
        "determines y completely (none of its values occurs in two classes): if it encodes the outcome or follows from "
        "it",
        "determine y completely (none of their values occurs in two classes): if they encode the outcome or follow "
        "from it",
    ),
    TOLD: (
        "determines y nearly completely (y rises or falls with it, or hardly varies where it is the same): if it "
        "encodes the outcome or follows from it",
        "determine y nearly completely (y rises or falls with them, or hardly varies where they are the same): if they "
        "encode the outcome or follow from it",
    ),
    NEARLY_APART: (
        "tells the classes of y apart in nearly all samples (an AUC of 0.98 or more, or one value for all of a class "
        "and few others): if it encodes the outcome or follows from it",
        "tell the classes of y apart in nearly all samples (an AUC of 0.98 or more, or one value for all of a class "
        "and few others): if they encode the outcome or follow from it",
    ),
    _MISSING_APART: (
        "has missing values that determine y completely: if these depend on the outcome",
        "have missing values that determine y completely: if these depend on the outcome",
    ),
    _MISSING_ALONE: (
        "has a gain that comes from its missing values alone: if these depend on the outcome or on how the data were "
        "collected",
        "have gains that come from their missing values alone: if these depend on the outcome or on how the data were "
        "collected",
    ),
    _IDENTIFIER: IDENTIFIER_WORDS,
    _SURVEY: (
        "looks like a weight, stratum or cluster of a survey, and was searched as a variable: p-values do not know the "
        "design; name clusters as groups= and strata as strata=, or",
        "look like weights, strata or clusters of a survey, and were searched as variables: p-values do not know the "
        "design; name clusters as groups= and strata as strata=, or",
    ),
}


def find_cautions(
    study: Study,
    comparisons: Sequence[Comparison],
    *,
    best_run: IntArray,
    ranked: IntArray,
    counted: Iterable[TupleCounts],
    settings: SelectionSettings,
) -> dict[str, str]:
    """Return a caution for each variable that calls for one, by name.

    - `comparisons`: one per run.
    - `best_run` (n_vars,): the run in which each variable is most significant.
    - `ranked` (n_relevant,): the relevant variables, the most significant first.
    - `counted`: of their best tuples.
    """
    table = study.table
    found: dict[int, list[str]] = {}
    # Who makes y from a column of a plain array knows it: columns with names of their own only.
    named = [v for v in ranked.tolist() if table.names[v] != f"x{v}"]
    outcome = None if study.y is None else decision_column(study.y)
    subjects = {v for v, _ in find_subjects(table)}
    # Without groups, the advice on a label of subjects is to name it as groups; leaving it out would contradict that.
    advised = subjects if study.groups is None else set()
    of_two = len(study.compared.sizes) == 2
    for v in named[:_MAX_COMPARED]:
        if v in advised:
            continue
        comparison = comparisons[best_run[v]]
        values = comparison.table.column(v).read()
        is_label = table.kinds[v] == ColumnKind.LABEL
        is_same = outcome is not None and say_the_same(outcome, table.column(v))
        leaks = leaks_of(comparison.outcome, of_two=of_two)
        if caution := leaks.of_values(values, is_label=is_label, is_same=is_same):
            found.setdefault(v, []).append(caution)
    if settings.missing in ("level", "auto"):
        for v, caution in _about_missing_values(comparisons, best_run, ranked, list(counted), settings):
            found.setdefault(v, []).append(caution)
    for v in find_identifiers(table, named[:_MAX_WITH_GAPS]):
        found.setdefault(v, []).append(_IDENTIFIER)
    for v in subjects:
        found.setdefault(v, []).append(_SUBJECT)
    for v in find_survey_columns(table):
        found.setdefault(v, []).append(_SURVEY)
    return {table.names[v]: "; ".join(dict.fromkeys(found[v])) for v in sorted(found)}


def warn_of_cautions(cautions: dict[str, str]) -> None:
    """Warn of the columns with each caution, and say how to leave them out."""
    for caution, (one, several) in _WORDS.items():
        names = [name for name, words in cautions.items() if caution in words.split("; ")]
        if names:
            warn(about_columns(names, one, several))


def _about_missing_values(
    comparisons: Sequence[Comparison],
    best_run: IntArray,
    ranked: IntArray,
    counted: list[TupleCounts],
    settings: SelectionSettings,
) -> Iterable[tuple[int, str]]:
    n_tuples = comb(comparisons[0].table.n_vars - 1, settings.dimensions - 1) * settings.discretizations
    for v in ranked[:_MAX_WITH_GAPS].tolist():
        comparison = comparisons[best_run[v]]
        if settings.missing == "auto" and comparison.table.kinds[v] == ColumnKind.NUMBER:
            continue  # these values are drawn at random
        values = comparison.table.column(v).read()
        is_missing = values != values
        if not is_missing.any() or is_missing.all():
            continue
        leaks = leaks_of(comparison.outcome, of_two=False)
        own = [counts for counts in counted if v in counts.members.tolist() and counts.run == best_run[v]]
        if leaks.of_gaps(is_missing):
            yield v, _MISSING_APART
        elif leaks.of_gaps_alone(own, v, n_tuples=n_tuples):
            yield v, _MISSING_ALONE
