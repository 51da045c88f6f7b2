"""A search that is done → the same search for relabeled samples: codes and tiles are shared, the outcome changes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.base.progress import Progress, ShowDone, part, show_progress
from interplay.base.seeds import Purpose, random_stream
from interplay.base.tuples import MaxGains
from interplay.data.codes.coded import CodedComparison
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.targets import Target
from interplay.infer.permutations import Exchangeability, exchangeability
from interplay.infer.permutations.permutation_null import Seen
from interplay.infer.permutations.within_groups import label_scores, squared_correlations
from interplay.search.checkpoint import Checkpoint, kept_at_interrupt
from interplay.search.engines.base import SearchInterrupted
from interplay.search.plan import PreparedSearch

if TYPE_CHECKING:
    from interplay.ask.selection.settings import SelectionSettings


def allowed_relabelings(comparison: Comparison) -> Exchangeability:
    """Find out which relabelings of a comparison's samples are allowed, within its groups and strata."""
    groups, strata = comparison.groups, comparison.strata
    return exchangeability(
        comparison.outcome.exchanged,
        groups=None if groups is None else groups.codes,
        order=None if groups is None else groups.order,
        strata=None if strata is None else strata.codes,
        are_ordered=comparison.outcome.are_ordered,
    )


def about_relabelings(comparison: Comparison, *, n_permutations: int | None, n_runs: int = 1) -> dict[str, Any]:
    """Return the entries of a provenance about groups and permutations; None: groups, but no permutations."""
    allowed, groups = allowed_relabelings(comparison), comparison.groups
    about: dict[str, Any] = {"exchanged": allowed.in_words()}
    if groups is not None:
        sizes = groups.sizes
        about |= {"n_groups": len(sizes), "smallest_group": int(sizes.min()), "largest_group": int(sizes.max())}
    if n_permutations is None:
        return about | {"method": "group contrast variables"}
    n_used = allowed.n_used(n_permutations)
    return about | {
        "method": "permutations",
        "n_permutations": n_used,
        "all_permutations": allowed.n_relabelings - 1 == n_used,
        "smallest_p": allowed.smallest_p(n_permutations) * n_runs,
    }


def permuted_outcomes(comparison: Comparison, *, n_permutations: int, seed: int) -> Iterator[Target]:
    """Yield the outcome of one relabeling after the other: all allowed ones, where these are at most `n_permutations`.

    Relabeling number b does not depend on `n_permutations`, unless all are gone through.
    """
    for codes in _labelings(comparison, n_permutations, seed):
        yield comparison.outcome.relabeled(codes, comparison.strata)


def _labelings(comparison: Comparison, n_permutations: int, seed: int) -> Iterator[IntArray]:
    return allowed_relabelings(comparison).relabelings(n_permutations, partial(random_stream, seed, Purpose.RELABELING))


def varies_within_groups(comparison: Comparison) -> bool:
    """Say whether variables are judged by their correlations within groups, too: the outcome varies there.

    Not in a model, which has a last word of its own.
    """
    return comparison.model is None and allowed_relabelings(comparison).varies_within_groups


def within_groups(coded: CodedComparison, settings: SelectionSettings) -> FloatArray | None:
    """Return squared correlations within groups, (n_labelings, n_vars), of the data and then of all relabelings.

    None where the outcome does not vary within groups.
    """
    comparison = coded.comparison
    if comparison.groups is None or not varies_within_groups(comparison):
        return None
    scores, codes, cells = coded.rank_scores()[0], comparison.outcome.exchanged, comparison.groups.codes
    if comparison.strata is not None:
        cells = numbered(cells * comparison.strata.n_strata + comparison.strata.codes)
    labelings = [codes, *_labelings(comparison, settings.n_permutations, settings.random_state)]
    of_label = label_scores(codes, are_ordered=comparison.outcome.are_ordered)

    def correlations(rows: slice) -> FloatArray:
        return squared_correlations(scores.read_normal(rows), cells, labelings, of_label)

    with one_blas_thread():
        return np.hstack(map_in_threads(correlations, scores.blocks(), scores.coder.n_jobs))


def search_permuted(
    search: PreparedSearch,
    comparison: Comparison,
    settings: SelectionSettings,
    *,
    observed: MaxGains,
    within: FloatArray | None = None,
    progress: Progress = None,
    may_stop: bool = True,
    checkpoint: Checkpoint | None = None,
    name: str = "search",
) -> FloatArray:
    """Return the maxima, (n_permutations, n_vars, n_groups), of the variables of a search under relabelings.

    With `may_stop`, permutations end where no variable can become significant any more, by gains or by correlations
    `within` groups. A shard must not end early: it
    does not know the maxima of other shards.
    """
    n_planned = allowed_relabelings(comparison).n_used(settings.n_permutations)
    found: list[FloatArray] = []
    if checkpoint is not None:
        found = checkpoint.rows(f"{name}.permuted", shape=observed.gain_by_group.shape, at_most=n_planned)
    n_kept = len(found)
    seen = Seen(observed, within)
    for gains in found:
        seen.see(gains)
    n_tuples = search.n_tuples
    relabeled = permuted_outcomes(comparison, n_permutations=settings.n_permutations, seed=settings.random_state)
    what = f"{settings.dimensions}D, {n_planned} permutations"
    try:
        with show_progress(progress, n_tuples=max(n_tuples * n_planned, 1.0), what=what) as show:
            for number, outcome in enumerate(relabeled):
                if number < n_kept:
                    continue
                if may_stop and seen.is_decided(settings.level, n_planned):
                    break
                began = time.monotonic()
                gains = _search_once(search, outcome, show, before=number * n_tuples)
                found.append(gains)
                seen.see(gains)
                if show is not None:
                    show((number + 1) * n_tuples)
                if checkpoint is not None:
                    checkpoint.write_if_due(next_in=time.monotonic() - began)
    except KeyboardInterrupt:
        done = (1 + len(found)) / (1 + n_planned)
        kept_in, not_kept = kept_at_interrupt(checkpoint)
        raise SearchInterrupted(observed, done, kept_in, not_kept) from None
    return np.stack(found) if found else np.empty((0, *observed.gain_by_group.shape))


def _search_once(
    search: PreparedSearch,
    outcome: Target,
    show: ShowDone | None,
    *,
    before: float,
) -> FloatArray:
    """Search all discretisations for this outcome; return (n_vars, n_groups). `before` counts the tuples done."""
    gains, settings = None, search.settings
    for d in range(settings.discretizations):
        tiles = search.loop.tiles_at(d)
        planes = search.coded.relabeled_planes(d, outcome)
        gains = search.engine.max_gains(
            planes,
            tiles,
            pseudocount=settings.pseudocount,
            discretization=d,
            known=gains,
            on_progress=part(show, before),
        )
        before += float(tiles.n_tuples.sum())
    assert gains is not None
    return gains.without_stratum(search.searches[0]).gain_by_group
