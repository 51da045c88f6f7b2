"""Interactions → words: a headline, details, notes, a summary as it prints itself, and the same for notebooks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.text import printable, tuples_in_words
from interplay.infer.interaction.effect import OPPOSITE
from interplay.infer.interaction.tuple_tests import MAX_BESIDE, METHODS, SPARSE
from interplay.infer.number_interaction.cell_moments import BOTH, OTHER_SCALE, UNCLEAR
from interplay.show.results import summary_words as words
from interplay.show.results.interaction_table import effects_as_text

if TYPE_CHECKING:
    import pandas as pd

    from interplay.show.results.interactions import Interactions
    from interplay.show.results.provenance import Relabelings


#: Column of effects as text: of whole tuples, or in the cell that departs most.
_EFFECT = "effect (95 % interval)"


def headline(found: Interactions) -> str:
    """Return the number of interactions that were found, in one sentence."""
    s = found.asked
    part = f"part {s.shard}: " if s.shard else ""
    n_significant, tuples = int(found.is_significant.sum()), tuples_in_words(found.dimensions)
    have = "has" if n_significant == 1 else "have"
    judged = f"{'permutation' if found.is_permuted else s.p_adjust}-adjusted p < {s.level:g}"
    if found.first is not None:
        return f"{n_significant} of {len(found)} {tuples} {have} an interaction in the new samples too ({judged})"
    if not found.is_exhaustive:
        of_relevant = f"{n_significant} of {len(found)} {tuples} of relevant variables {have} an interaction"
        return f"{of_relevant} ({judged}, for all {found.n_tests:,} {tuples})"
    whole = f"{part}{n_significant} of {found.n_tests:,} {tuples} {have} an interaction ({judged})"
    if found.record.doubt:
        n_below = int((found.tested.is_significant(s.level) | found.is_explained).sum())
        none = f"none of {found.n_tests:,} {tuples} is called an interaction, although {n_below} have {judged}"
        whole = f"{part}{none}: {found.record.doubt}"
    n_untested = found.record.untested
    untested = [f"{n_untested:,} more could not be tested, as every site withheld the table"] if n_untested else []
    return "; ".join([whole, *untested, *words.missing_in_words(found.record.missing)])


def details(found: Interactions) -> str:
    """Return samples, outcome and levels in one sentence."""
    s, n_samples = found.asked, sum(found.class_sizes.values()) or found.record.n_samples
    model = words.model_in_words(found.record)
    return (
        f"{words.samples_in_words(n_samples, found.record.samples_left_out)}; "
        f"{words.outcome_in_words(found)}; "
        + (f"log odds are those of {printable(found.outcome.labels[1])}; " if len(found.class_sizes) == 2 else "")
        + words.strata_in_words(len(found.record.strata))
        + (f"given {model}; " if model else "")
        + (f"p-values from {found.permutations_in_words()}; " if found.is_permuted else "")
        + _ways_in_words(found)
        + f"seed {s.random_state}"
    )


def _ways_in_words(found: Interactions) -> str:
    """Say in which ways tuples were tested, and how numbers were cut for that."""
    s = found.asked
    levels = words.cuts_in_words(s.divisions, s.discretizations) if found.has_cuts else ""
    if s.coding == "product":
        return "tested by products of scores; "
    if found.tested.way is None:
        return f"{levels}; " if levels else ""
    shapes = " and shapes of pairs" if found.asked.coding == "auto" and found.dimensions == 2 and found.has_cuts else ""
    return f"tested by levels{levels and f' ({levels})'} and by products of scores{shapes}; "


def permutations_in_words(groups: Relabelings) -> str:
    """Say which permutations the p-values come from."""
    done, planned = groups.permutations_done, groups.n_permutations
    early = "" if done == planned else f" (stopped after {done}, which show that nothing is significant)"
    every = "all " if groups.all_permutations else ""
    return f"{every}{planned} permutations of the {groups.exchanged}{early}"


def notes(found: Interactions) -> list[str]:
    """Return cautions on how to read the numbers, in sentences."""
    candidates = [
        f"Note: {found.record.rows}." if found.record.rows else "",
        _on_selection(found),
        _on_clumps(found),
        "" if found.tagged is None or not found.tagged.verdict else found.tagged.in_words(),
        _on_sparse_tuples(found),
        _on_variances(found),
        _on_scales(found),
        _on_cuts(found),
        _on_one_scale(found),
        _on_explained(found),
        *_on_sites(found),
    ]
    return [note for note in candidates if note]


def _on_selection(found: Interactions) -> str:
    if found.first is not None or not found.is_significant.any():
        return ""
    how = "from new samples" if found.is_permuted else "from new samples (replicate() or holdout=)"
    return f"Effects of tuples that were selected by significance are overestimated: get unbiased estimates {how}."


def _on_clumps(found: Interactions) -> str:
    leads = found.leads
    if leads is None or leads.sum() == found.is_significant.sum():
        return ""
    n_leads, n_found = int(leads.sum()), int(found.is_significant.sum())
    return (
        f"{n_found} significant tuples are {n_leads} {'signal' if n_leads == 1 else 'signals'}: members of the others "
        f"are correlated with those of a stronger tuple (r² ≥ {found.clump_r2:g}); clumps() lists them."
    )


def _on_sparse_tuples(found: Interactions) -> str:
    n_sparse = int((found.tested.method == METHODS.index(SPARSE)).sum())
    if not n_sparse:
        return ""
    return (
        f"{n_sparse} listed tuples have too few samples for their numbers of levels and were not tested (p = 1): lower "
        "divisions or dimensions, or merge levels."
    )


def _on_variances(found: Interactions) -> str:
    if not found.words.robust_lost or found.is_permuted:
        return ""
    n_lost = int(found.tested.is_of_spread(found.asked.level).sum())
    n_found = n_lost + int(found.is_significant.sum())
    if not found.words.needs_robust:
        n_lost = int((found.is_significant & ~found.tested.holds_robust(found.asked.level)).sum())
    return found.words.robust_lost.format(n_lost=n_lost, n_found=n_found, are=_are(n_lost)) if n_lost else ""


def _on_scales(found: Interactions) -> str:
    """Say on which scales the significant tuples interact."""
    if found.is_permuted or not found.words.scales or not found.is_significant.any():
        return ""
    words = found.tested.scales(found.asked.level, found.scale)
    names = found.words.scales.format(scale=found.scale, other=OTHER_SCALE.get(found.scale or ""))
    kept = [word for word, is_one in zip(words, found.is_significant.tolist(), strict=True) if is_one and word]
    if not kept:
        return ""
    counts = Counter(kept)
    parts = [f"{counts.pop(BOTH, 0)} of {len(kept)} on both scales, {names}"]
    parts += [f"{n} {_SCALES_IN_WORDS.get(word, f'on {word}')}" for word, n in counts.items()]
    on_one = " Whether effects interact depends on the scale of the outcome." * (counts.total() > 0)
    compared = "" if len(kept) == found.is_significant.sum() else " that were compared on two scales"
    return f"Significant tuples{compared} interact: {', '.join(parts)} ({found.words.scale_column}).{on_one}"


#: How many tuples are said to be so, where "on …" does not say it.
_SCALES_IN_WORDS = {UNCLEAR: "unclear", OPPOSITE: "with opposite signs"}


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _on_one_scale(found: Interactions) -> str:
    """Say how many products do not hold beside flexible effects, or on the other scale of the outcome."""
    n_lost = int((found.tested.is_of_cutting(found.asked.level) & found.tested.are_products).sum())
    if not n_lost:
        return ""
    scales = "log odds and probits" if found.class_sizes else "ranks and values"
    return (
        f"{n_lost} products or shapes {_are(n_lost)} not significant beside flexible effects of their members on both "
        f"scales of the outcome, {scales} (p_smooth): effects that add up on one scale multiply on another, and these "
        "are no interactions."
    )


def _on_cuts(found: Interactions) -> str:
    n_lost = int((found.tested.is_of_cutting(found.asked.level) & ~found.tested.are_products).sum())
    if not n_lost:
        return ""
    n_found = n_lost + int(found.is_significant.sum())
    return (
        f"{n_lost} of {n_found} tuples with a significant interaction of levels {_are(n_lost)} only an effect of "
        "cutting numbers into levels: not significant beside smooth effects of the numbers themselves (p_smooth)."
    )


def _on_explained(found: Interactions) -> str:
    rows = np.flatnonzero(found.is_explained)
    if not len(rows):
        return ""
    columns = np.unique((found.tested if found.first is None else found.first).explained_by[rows])
    names = [printable(name) for name in found.names_of(columns)]
    named = ", ".join(names[:_NAMED]) + f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)
    n_found = len(rows) + int(found.is_significant.sum())
    rest = f" Only the {MAX_BESIDE:,} with the smallest p-values were tested so." if n_found > MAX_BESIDE else ""
    return (
        f"{len(rows)} of {n_found} tuples with a significant interaction {_are(len(rows))} explained by the effects of "
        f"other columns of the table ({named}; explained_by) and not called significant: members are correlated with "
        "these, and beside them the interaction is not significant (p_beside)." + rest
    )


#: Columns that a note names.
_NAMED = 5


def _on_sites(found: Interactions) -> list[str]:
    """Say what a search over sites cannot do: counts that were withheld, tests that need samples."""
    sites = found.record.sites
    if not sites:
        return []
    said = []
    withheld = {name: about.n_withheld for name, about in sites.items() if about.n_withheld}
    if withheld:
        listed = ", ".join(f"{printable(name)}: {n} tuples" for name, n in withheld.items())
        said.append(
            f"Sites withheld tables with small cells ({listed}; {sum(withheld.values())} of "
            f"{len(sites) * found.record.counted} tables): these tuples are tested in the other sites only, "
            "n_samples says in how many samples."
        )
    if any(cuts.is_cut for cuts in found.cuts):
        said.append(
            "Numbers were cut at the thresholds of the plan, and sites send no samples for tests beside smooth effects "
            "of these numbers: effects that add up in them can interact in their levels (replicate() at a site tests "
            "that)."
        )
    if found.is_significant.any():
        said.append(
            "Sites send no samples for tests beside other columns: a column that is correlated with members may "
            "explain an interaction (tagging() at a site tests that)."
        )
    return said


def summary_text(found: Interactions) -> str:
    """Return the result in words."""
    lines = [found.headline(), found.details(), *words.filters_in_words(found.record.filters)]
    if len(found):
        lines += words.rows_as_text(_shown_rows(found), len(found))
    elif found.first is None and found.record.searched_up_to_p is not None:
        lines.append(
            f"No p-value is below {found.record.searched_up_to_p:.2g}, the largest that could be significant "
            f"among so many tuples; {_smallest(found)}."
        )
    elif found.is_permuted:
        lines.append(
            f"In more than {found.asked.level:.0%} of the permutations, some tuple has an interaction as "
            "strong as the strongest in the data; top=10 lists the tuples with the smallest p-values."
        )
    said = found.notes()
    return "\n".join([*lines, *([""] if said else []), *(f"Note: {note}" for note in said)])


def _smallest(found: Interactions) -> str:
    """Name the tuple with the smallest p-value, where nothing is significant."""
    nearest = found.smallest
    if nearest is None or not len(nearest):
        return "top=10 lists the smallest p-values"
    members = ", ".join(printable(name) for name in found.names_of(nearest.tuples[0]))
    return f"the smallest is {nearest.p_value[0]:.2g} ({members}); top=10 lists more"


def summary_html(found: Interactions) -> str:
    """Return the same for notebooks."""
    return words.summary_as_html(found.headline(), found.details(), _shown_rows(found), len(found), found.notes())


def _shown_rows(found: Interactions) -> pd.DataFrame:
    has_effect, name = bool(np.isfinite(found.tested.estimate).any()), found.words.effect
    in_cells = bool(np.isfinite(found.tested.residual).any())
    interval = ["ci_low", "ci_high"] if np.isfinite(found.tested.ci_low).any() else []  # none by permutations
    effect = ["residual"] if not has_effect else [name, *interval]
    effect = [_EFFECT, "cell"] if in_cells and np.isfinite(found.tested.cell_effect).any() else effect
    effect += ["cell"] if in_cells and "cell" not in effect else []
    first = [] if found.first is None else ["first_p_value", *([f"first_{name}"] if has_effect else [])]
    beside = () if found.is_permuted else found.words.shown_beside
    smooth = ["p_smooth"] if np.isfinite(found.tested.smooth_log_p).any() else []
    way = [] if found.tested.way is None else ["found"]
    smooth += ["p_beside"] if found.is_explained.any() else []
    test = [*way, found.words.statistic, "df", "p_value", "p_adjusted", *smooth, "method"]
    columns = ["members", *test, *beside, *effect, *first]
    rows = found.table.head(words.ROWS_SHOWN)
    rows = rows.assign(**{_EFFECT: [effects_as_text(found, row) for row in range(len(rows))]})[columns]
    return rows.assign(members=[", ".join(map(printable, members)) for members in rows["members"]])
