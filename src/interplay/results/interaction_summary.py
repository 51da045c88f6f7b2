"""Interactions → words: a headline, details, notes, a summary as it prints itself, and the same for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.text import printable, tuples_in_words
from interplay.results import summary_words as words
from interplay.results.interaction_table import effect_name, effects_as_text, statistic_name
from interplay.statistics.interaction.tuple_tests import METHODS, SPARSE
from interplay.statistics.number_interaction.scale_words import OTHER_SCALE
from interplay.statistics.number_interaction.tested_numbers import TestedNumbers

if TYPE_CHECKING:
    import pandas as pd

    from interplay.results.interactions import Interactions


#: Column of effects as text: of whole tuples, or in the cell that departs most.
_EFFECT = "effect (95 % interval)"


def headline(found: Interactions) -> str:
    """Return the number of interactions that were found, in one sentence."""
    s = found.settings
    part = f"part {s['shard']}: " if s.get("shard") else ""
    n_significant, tuples = int(found.is_significant.sum()), tuples_in_words(found.dimensions)
    have = "has" if n_significant == 1 else "have"
    judged = f"{'permutation' if found.is_permuted else s['p_adjust']}-adjusted p < {s['level']:g}"
    if found.first is not None:
        return f"{n_significant} of {len(found)} {tuples} {have} an interaction in the new samples too ({judged})"
    if not found.is_exhaustive:
        of_relevant = f"{n_significant} of {len(found)} {tuples} of relevant variables {have} an interaction"
        return f"{of_relevant} ({judged}, for all {found.n_tests:,} {tuples})"
    return f"{part}{n_significant} of {found.n_tests:,} {tuples} {have} an interaction ({judged})"


def details(found: Interactions) -> str:
    """Return samples, outcome and levels in one sentence."""
    s, n_samples = found.settings, sum(found.class_sizes.values()) or found.provenance["n_samples"]
    # A result without tuples does not say whether any variable was a number that had to be cut.
    may_be_cut = not found.cuts or any(cuts.is_cut for cuts in found.cuts)
    return (
        f"{words.samples_in_words(n_samples, found.provenance)}; "
        f"{words.outcome_in_words(found.class_sizes, s, found.provenance)}; "
        + (f"log odds are those of {printable(found.outcome.labels[1])}; " if len(found.class_sizes) == 2 else "")
        + words.strata_in_words(found.provenance)
        + (f"p-values from {found.permutations_in_words()}; " if found.is_permuted else "")
        + (f"{words.cuts_in_words(s)}; " if may_be_cut else "")
        + f"seed {s['random_state']}"
    )


def permutations_in_words(groups: Mapping[str, Any]) -> str:
    """Say which permutations the p-values come from; `groups` is the entry of the provenance."""
    done, planned = groups.get("permutations_done"), groups.get("n_permutations")
    early = "" if done == planned else f" (stopped after {done}, which show that nothing is significant)"
    every = "all " if groups.get("all_permutations") else ""
    return f"{every}{planned} permutations of the {groups.get('exchanged', 'labels')}{early}"


def notes(found: Interactions) -> list[str]:
    """Return cautions on how to read the numbers, in sentences."""
    candidates = [
        _on_selection(found),
        _on_sparse_tuples(found),
        _on_variances(found),
        _on_scales(found),
        _on_covariates(found),
        _on_cuts(found),
    ]
    return [note for note in candidates if note]


def _on_selection(found: Interactions) -> str:
    if found.first is not None or not found.is_significant.any():
        return ""
    how = "from new samples" if found.is_permuted else "from new samples (replicate() or holdout=)"
    return f"Effects of tuples that were selected by significance are overestimated: get unbiased estimates {how}."


def _on_sparse_tuples(found: Interactions) -> str:
    n_sparse = int((found.tested.method == METHODS.index(SPARSE)).sum())
    if not n_sparse:
        return ""
    return (
        f"{n_sparse} listed tuples have too few samples for their numbers of levels and were not tested (p = 1): lower "
        "divisions or dimensions, or merge levels."
    )


def _on_variances(found: Interactions) -> str:
    tested = found.tested
    if not isinstance(tested, TestedNumbers) or found.is_permuted:
        return ""
    n_found = int(found.is_significant.sum())
    n_lost = int((found.is_significant & ~tested.holds_robust(found.settings["level"])).sum())
    if not n_lost:
        return ""
    return (
        f"{n_lost} of {n_found} significant tuples {_are(n_lost)} not significant where cells may differ in their "
        "variances (p_robust, HC3): unequal spread of the outcome, or cells with few samples, may be all there is."
    )


def _on_scales(found: Interactions) -> str:
    tested, scale = found.tested, found.scale
    if not isinstance(tested, TestedNumbers) or scale is None:
        return ""
    n_alone = tested.scales(scale, found.settings["level"]).count(f"{scale} only")
    n_found = int(found.is_significant.sum())
    if not n_alone:
        return ""
    return (
        f"{n_alone} of {n_found} significant tuples interact on {scale} only: on {OTHER_SCALE[scale]} their effects "
        "may add up (p_other_scale). Whether effects interact depends on the scale of the outcome."
    )


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _on_covariates(found: Interactions) -> str:
    again = found.with_covariates
    if again is None or not found.is_significant.any():
        return ""
    n_held, n_found = int(again.holds(found.settings["level"]).sum()), int(found.is_significant.sum())
    return (
        f"{n_held} of {n_found} significant tuples remain significant with covariates "
        f"({', '.join(again.about[:6])}{', …' * (len(again.about) > 6)}); the search itself does not use these."
    )


def _on_cuts(found: Interactions) -> str:
    n_lost = int(found.tested.is_of_cutting(found.settings["level"]).sum())
    if not n_lost:
        return ""
    n_found = n_lost + int(found.is_significant.sum())
    return (
        f"{n_lost} of {n_found} tuples with a significant interaction of levels {_are(n_lost)} only an effect of "
        "cutting numbers into levels: not significant beside smooth effects of the numbers themselves (p_smooth)."
    )


def summary_text(found: Interactions) -> str:
    """Return the result in words."""
    lines = [found.headline(), found.details()]
    if len(found):
        lines += words.rows_as_text(_shown_rows(found), len(found))
    elif found.first is None and "searched_up_to_p" in found.provenance:
        lines.append(
            f"No p-value is below {found.provenance['searched_up_to_p']:.2g}, the largest that could be significant "
            "among so many tuples; top=10 lists the smallest p-values."
        )
    elif found.is_permuted:
        lines.append(
            f"In more than {found.settings['level']:.0%} of the permutations, some tuple has an interaction as "
            "strong as the strongest in the data; top=10 lists the tuples with the smallest p-values."
        )
    said = found.notes()
    return "\n".join([*lines, *([""] if said else []), *(f"Note: {note}" for note in said)])


def summary_html(found: Interactions) -> str:
    """Return the same for notebooks."""
    return words.summary_as_html(found.headline(), found.details(), _shown_rows(found), len(found), found.notes())


def _shown_rows(found: Interactions) -> pd.DataFrame:
    has_effect, name = bool(np.isfinite(found.tested.estimate).any()), effect_name(found.tested)
    in_cells = bool(np.isfinite(found.tested.residual).any())
    effect = ["residual"] if not has_effect else [name, "ci_low", "ci_high"]
    effect = [_EFFECT, "cell"] if in_cells and np.isfinite(found.tested.cell_effect).any() else effect
    effect += ["cell"] if in_cells and "cell" not in effect else []
    first = [] if found.first is None else ["first_p_value", *([f"first_{name}"] if has_effect else [])]
    beside = ["p_robust", "scales"] if found.scale is not None and not found.is_permuted else []
    again = [] if found.with_covariates is None else ["p_covariates_adjusted"]
    smooth = ["p_smooth"] if np.isfinite(found.tested.smooth_log_p).any() else []
    statistic = statistic_name(found.tested)
    columns = ["members", statistic, "df", "p_value", "p_adjusted", *smooth, *again, "method", *beside, *effect, *first]
    rows = found.table.head(words.ROWS_SHOWN)
    rows = rows.assign(**{_EFFECT: [effects_as_text(found, row) for row in range(len(rows))]})[columns]
    return rows.assign(members=[", ".join(map(printable, members)) for members in rows["members"]])
