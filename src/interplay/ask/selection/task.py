"""Arguments of `select` → SelectionTask: data and settings, checked against each other; samples that are held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from math import comb
from typing import Any

import numpy as np

from interplay.ask.chromosome_offsets import ChromosomeOffsets, chromosome_offsets
from interplay.ask.new_samples.tuples import replicate_in
from interplay.ask.new_samples.variables import replicate_in_study
from interplay.ask.relabelings import about_relabelings, allowed_relabelings, varies_within_groups
from interplay.ask.selection.settings import SelectionSettings, check_selection_settings
from interplay.base.arrays import IntArray
from interplay.base.checks import check_int, check_real, shown
from interplay.data.codes.coded import CodedStudy
from interplay.data.study.comparisons import Comparison
from interplay.data.study.design import is_by_chromosome
from interplay.data.study.study import Study, make_study
from interplay.data.study.subsets import ColumnSubset, split_samples
from interplay.infer.arms import arms_of
from interplay.infer.permutations.exchangeability import check_reach
from interplay.search.plan import about_search
from interplay.show.results.selection import Selection


def split_study(study: Study, holdout: Any, *, seed: int) -> tuple[IntArray, IntArray]:
    """Return the samples to search in and those held out; whole groups stay together."""
    if study.groups is None:
        return split_samples(holdout, study.outcome, study.compared, study.strata, seed=seed)
    n_samples, n_groups = study.n_samples, study.groups.n_groups
    if isinstance(holdout, float | np.floating):
        share = check_real("holdout", float(holdout), low=0.0, high=1.0, low_open=True, high_open=True)
    else:
        share = check_int("holdout", holdout, low=1, high=n_samples - 1) / n_samples
    order = np.random.RandomState(seed % 2**32).permutation(n_groups)
    n_held = round(share * n_groups)
    if not 1 < n_held < n_groups - 1:
        raise ValueError(f"holdout={shown(holdout)} leaves too few of {n_groups} groups on one side: use another share")
    is_held = np.isin(study.groups.codes, order[:n_held])
    searched, held_out = np.flatnonzero(~is_held), np.flatnonzero(is_held)
    study.outcome.check_part(holdout, searched, "search in")
    study.outcome.check_part(holdout, held_out, "test in")
    return searched, held_out


def with_holdout(found: Selection, held_out: Study) -> Selection:
    """Test the relevant variables in the samples that were held out."""
    tuples = None
    if held_out.groups is None and found.has_tested_tuples and len(found.comparisons) == 1:
        tuples = replicate_in(found.interactions().only_significant(), held_out)
    return replace(found, replication=replicate_in_study(found, held_out, tuples=tuples))


#: With dimensions="auto", larger tuples than pairs are left out where few of their cells would have samples: where the
#: largest tuple has more cells than this, or a typical one more than this number per sample.
_MAX_CELLS_OF_AUTO, _MAX_CELLS_PER_SAMPLE = 2**16, 4.0


#: Halves of the samples in which a selection is repeated, at most.
MAX_SUBSAMPLES = 10_000


@dataclass(frozen=True, eq=False)
class SelectionTask:
    """Checked arguments of `select`."""

    study: Study
    settings: SelectionSettings
    #: One for each run.
    comparisons: tuple[Comparison, ...]
    #: Whether the sizes of tuples were left to the program.
    has_auto_dimensions: bool = False
    #: Halves of the samples in which the selection is repeated; 0 for none.
    n_subsamples: int = 0
    #: pair of (n,): samples to search in, and samples that are held out.
    split: tuple[IntArray, IntArray] | None = None
    #: Predictions that leave out one chromosome each, for variables of this chromosome.
    offsets: ChromosomeOffsets | None = None

    def parts(self) -> tuple[SelectionTask, Study | None]:
        """Return the task of the samples that are searched, and the samples that are held out, if there are any."""
        if self.split is None:
            return self, None
        searched, held_out = (self.study.of_samples(rows) for rows in self.split)
        comparisons = searched.comparisons(self.settings.multiclass)
        return replace(self, study=searched, comparisons=comparisons, split=None), held_out

    def of_variables(self, kept: IntArray) -> SelectionTask:
        """Return the task of some variables."""
        settings = self.settings.of_columns(self.study.table, kept)
        table = ColumnSubset(self.study.table, kept, keeps_numbers=True)
        comparisons = tuple(replace(comparison, table=table) for comparison in self.comparisons)
        return replace(self, study=replace(self.study, table=table), settings=settings, comparisons=comparisons)

    def about(self, *, n_threads: int) -> dict[str, Any]:
        """Return the entries that decide the gains, for checkpoints and shards; how gains are judged may change."""
        settings = self.settings
        search = about_search(self.study, settings, n_threads=n_threads)
        search |= {"n_contrast": settings.n_contrast, "multiclass": settings.multiclass}
        if settings.permutations:
            search["permutations"] = settings.n_permutations
        if self.study.groups is not None and self.study.groups.order is not None:
            search["order"] = blake2b(self.study.groups.order.tobytes(), digest_size=8).hexdigest()
        if settings.all_dimensions is not None:
            # Which arms are combined decides which dimensions are searched, and nothing else here.
            search["dimensions"] = settings.searched
        return search

    def record(self, *, n_threads: int) -> dict[str, Any]:
        """Return the entries about the data that the result keeps in its provenance."""
        return self.study.record(n_threads=n_threads) | {"groups": self._about_relabelings()}

    def _about_relabelings(self) -> dict[str, Any]:
        if self.study.groups is None and not self.settings.permutations:
            return {}
        is_permuted = bool(self.settings.permutations)
        about = about_relabelings(
            self.comparisons[0],
            n_permutations=self.settings.n_permutations if is_permuted else None,
            n_runs=len(self.comparisons),
        )
        return about | {"within_groups": is_permuted and varies_within_groups(self.comparisons[0])}

    def comparisons_of(self, n_runs: int) -> list[Comparison]:
        """Return the comparison of each run: of each comparison, the runs of all sizes of tuples."""
        n_sizes = n_runs // len(self.comparisons)
        return [comparison for comparison in self.comparisons for _ in range(n_sizes)]

    def n_tuples(self) -> list[int]:
        """Return the number of tuples of each search of a comparison, tuples of contrast variables included."""
        n_vars, n_contrast = self.study.table.n_vars, self.settings.n_contrast
        return [comb(n_vars, k) + n_contrast * comb(n_vars, k - 1) for k in self.settings.searched]

    def with_fitting_dimensions(self, coded: CodedStudy) -> SelectionTask:
        """With dimensions="auto", leave out sizes of tuples that would have too many cells to have samples.

        A column of many labels then does not stop the rest of the search.
        """
        settings = self.settings
        if not self.has_auto_dimensions or settings.all_dimensions is None or settings.arms is None:
            return self
        n_levels = np.sort(coded.of(self.comparisons[0]).n_levels)[::-1].astype(float)
        typical = np.exp(np.log(n_levels).mean())
        most_typical = _MAX_CELLS_PER_SAMPLE * self.study.n_samples
        kept = tuple(
            k
            for k in settings.all_dimensions
            if k <= 2 or (np.prod(n_levels[:k]) <= _MAX_CELLS_OF_AUTO and typical**k <= most_typical)
        )
        arms = tuple(arm for arm in arms_of(kept) if arm in settings.arms)
        if kept == settings.all_dimensions or not arms:
            return self
        return replace(self, settings=replace(settings, dimensions=kept[-1], all_dimensions=kept, arms=arms))


def check_selection(
    X: Any,
    y: Any,
    *,
    strata: Any,
    groups: Any,
    order: Any,
    covariates: Any,
    offset: Any,
    entry: Any,
    decision: str,
    decision_divisions: int | None,
    scale: str,
    stability: int | None = None,
    holdout: float | int | None = None,
    **settings: Any,
) -> SelectionTask:
    """Check the arguments of `select` that decide its result, against each other and the data."""
    n_subsamples = 0 if stability is None else check_int("stability", stability, low=2, high=MAX_SUBSAMPLES)
    if n_subsamples % 2:
        raise ValueError(f"stability must be an even number, as halves come in pairs, not {n_subsamples}")
    study = make_study(
        X,
        y,
        strata=strata,
        groups=groups,
        order=order,
        covariates=covariates,
        offset=None if is_by_chromosome(offset) else offset,
        entry=entry,
        decision=decision,
        decision_divisions=decision_divisions,
        scale=scale,
        times=True,
    )
    if is_by_chromosome(offset) and study.table.positions is None:
        raise ValueError(
            "offset by chromosome needs the chromosomes of the variables: read a file of genotypes, or give one number "
            "per sample"
        )
    not_given = {"groups": groups, "holdout": holdout, "stability": stability}
    offsets = chromosome_offsets(offset, X, study.table, None, not_given)
    if offsets is not None:
        study.outcome.check_offset()
        study = study.with_offset(offsets.without(()))
    checked = check_selection_settings(
        study.table,
        **study.compared.asked(decision_divisions),
        has_groups=study.groups is not None,
        **settings,
    )
    if study.model is not None and study.compared.df > 1 and checked.multiclass == "joint":
        checked = replace(checked, multiclass="ovr")  # residuals are those of two classes
    if offsets is not None and (checked.dimensions > 1 or checked.all_dimensions or checked.n_contrast):
        raise ValueError(
            "offset by chromosome is for variables by themselves: give dimensions=1 and fit='auto', search pairs with "
            "interactions(), or give an offset of one number per sample"
        )
    comparisons = study.comparisons(checked.multiclass)
    if checked.permutations or study.groups is not None:
        for comparison in comparisons:
            check_reach(
                allowed_relabelings(comparison),
                level=checked.level,
                n_permutations=checked.n_permutations,
                n_runs=len(comparisons),
                what=comparison.decision if len(comparisons) > 1 else "",
            )
    study.warn_of_clusters()
    split = None
    if holdout is not None:
        split = split_study(study, holdout, seed=checked.random_state)
        checked = replace(checked, holdout=holdout)
    return SelectionTask(
        study,
        checked,
        comparisons,
        has_auto_dimensions=isinstance(settings["dimensions"], str),
        n_subsamples=n_subsamples,
        split=split,
        offsets=offsets,
    )
