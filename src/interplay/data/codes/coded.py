"""Settings + comparisons → codes and bit planes, each made once for all readers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from interplay.base.arrays import BoolArray, IntArray, numbered, starts_of
from interplay.base.checks import naming_argument
from interplay.base.jobs import map_in_threads
from interplay.base.planes import BitPlanes, CodeBlocks, DiscreteCodes
from interplay.data.codes.coder import Coder, Discrete, make_coder
from interplay.data.codes.planes import MappedWords, make_bit_planes
from interplay.data.codes.rank_scores import RankScores
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.targets import Target
from interplay.data.study.table import Table

if TYPE_CHECKING:
    from interplay.search.settings import SearchSettings

Kept = TypeVar("Kept")

#: With a checkpoint, planes larger than this lie in a file beside it.
_MAX_BYTES_IN_MEMORY = 1 << 30

#: Planes, and codes for relabelings, of all discretisations are kept up to this size; beyond it, the latest planes are.
_MAX_KEPT_BYTES = 1 << 30


def coder_for(
    table: Table,
    settings: SearchSettings,
    *,
    n_threads: int,
    discrete: Discrete | None = None,
    first_variable: int = 0,
    columns: IntArray | None = None,
) -> Coder:
    """Survey a table, or some of its `columns`, as the settings say.

    `discrete` of its own and `first_variable` are for contrast variables.
    """
    return make_coder(
        table,
        divisions=settings.divisions,
        discretizations=settings.discretizations,
        range_=settings.range_,
        seed=settings.random_state,
        discrete=settings.discrete if discrete is None else discrete,
        missing=settings.missing,
        first_variable=first_variable,
        n_jobs=n_threads,
        columns=columns,
    )


class CodedComparison:
    """Codes and bit planes of one comparison.

    `survey`: returns the coder of the comparison's table, or of some of its columns; called when it is first needed.

    Attributes
    ----------
    comparison : Comparison
    coder : Coder
    contrast : Coder or None
        Of its contrast variables.
    contrast_sources : (n_contrast,) int or None
        The variable that each contrast variable is made from, where that is known.
    has_stratum : bool
        Whether row 0 of the planes is a stratum, the first member of every tuple.
    keeps_codes : bool
        Whether codes are kept, where they fit, for other outcomes of the same samples.
    """

    def __init__(self, comparison: Comparison, survey: Callable[[], Coder]) -> None:
        self.comparison, self._survey = comparison, survey
        self.contrast: Coder | None = None
        self.contrast_sources: IntArray | Sequence[int] | None = None
        self.has_stratum = comparison.strata is not None
        self.keeps_codes = False
        self._keep_in: Callable[[bytes], MappedWords] | None = None
        self._planes: dict[int, BitPlanes] = {}
        self._codes: dict[int, list[CodeBlocks]] = {}
        self._kept: dict[Hashable, Any] = {}

    @cached_property
    def coder(self) -> Coder:
        """Makes the codes of the variables."""
        return self._survey()

    def of_outcome(self, comparison: Comparison) -> CodedComparison:
        """Return the same samples with another outcome: survey, contrast variables and kept codes are shared."""
        known = self.coder
        other = CodedComparison(comparison, lambda: known)
        other.contrast, other.contrast_sources, other._codes = self.contrast, self.contrast_sources, self._codes
        other.keeps_codes, other._kept = self.keeps_codes, self._kept
        return other

    def once(self, what: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return what depends on the variables alone; where codes are kept for other outcomes, it is, too."""
        found: Kept = self._kept[what] if what in self._kept else make()
        if self.keeps_codes:
            self._kept[what] = found
        return found

    def add_contrast(
        self, contrast: Table, settings: SearchSettings, *, sources: IntArray | Sequence[int] | None
    ) -> None:
        """Add contrast variables, before any planes are packed: rows of the planes after those of the variables."""
        assert not self._planes
        # Each is coded like its source; a list of columns of X does not apply to other columns.
        discrete: Discrete = settings.discrete if isinstance(settings.discrete, str) else "auto"
        if sources is not None:
            discrete = self.coder.is_discrete[np.asarray(sources)]
        n_threads, n_vars = self.coder.n_jobs, self.coder.table.n_vars
        with naming_argument("contrast"):
            self.contrast = coder_for(contrast, settings, n_threads=n_threads, discrete=discrete, first_variable=n_vars)
        self.contrast_sources = sources

    @property
    def n_rows_before(self) -> int:
        """Rows of the planes before those of the variables: the stratum, if there is one."""
        return int(self.has_stratum)

    @property
    def n_levels(self) -> IntArray:
        """Levels of the variables and contrast variables; a column with one value counts as two, one of them empty."""
        coders = [self.coder] if self.contrast is None else [self.coder, self.contrast]
        n_levels: IntArray = np.maximum(np.concatenate([coder.n_levels for coder in coders]), 2)
        return n_levels

    @property
    def has_missing_level(self) -> BoolArray:
        """Which variables have a level, the last one, for missing values."""
        return self.coder.has_missing_level

    def keep_large_planes(self, keep_in: Callable[[bytes], MappedWords]) -> None:
        """Let planes that are large lie in a file; `keep_in` returns the file for planes that these bytes identify."""
        self._keep_in = keep_in

    def planes(self, d: int) -> BitPlanes:
        """Return the planes of one discretisation: the stratum, if there is one, variables, contrast variables."""
        if d not in self._planes:
            kept_bytes = sum(planes.words.nbytes for planes in self._planes.values())
            if kept_bytes * (1 + 1 / max(len(self._planes), 1)) > _MAX_KEPT_BYTES:
                self._planes.clear()
            outcome, file = self.comparison.outcome, self._file_for(d)
            if self.keeps_codes and file is None:
                self._planes[d] = self.relabeled_planes(d, outcome)
            else:
                self._planes[d] = self._pack(self._parts(d), outcome, kept=file)
        return self._planes[d]

    def planes_of(self, d: int, variables: IntArray, outcome: Target | None = None) -> BitPlanes:
        """Return the planes of some variables, ascending, after those of the stratum; of another `outcome`, if given.

        Kept planes and codes are used as far as there are any.
        """
        if outcome is None and d in self._planes:
            rows = variables + self.n_rows_before
            return chosen_rows(self._planes[d], np.concatenate([np.arange(self.n_rows_before), rows]))
        codes = self.codes_of(d, variables)
        return self._pack([*self._stratum(), codes], self.comparison.outcome if outcome is None else outcome)

    def codes_of(self, d: int, variables: IntArray) -> DiscreteCodes:
        """Return the codes of some variables, ascending: kept ones as far as there are any."""
        kept = self._codes[d][self.n_rows_before] if d in self._codes else None
        if isinstance(kept, DiscreteCodes):
            return DiscreteCodes(kept.codes[variables], kept.n_levels[variables])
        return self.coder.codes_of(d, variables)

    def relabeled_planes(self, d: int, outcome: Target) -> BitPlanes:
        """Return the planes of samples with another outcome; codes are kept, where they fit, for the next outcome."""
        if d not in self._codes:
            parts = self._parts(d)
            n_samples = self.coder.table.n_samples
            n_bytes = sum(part.n_vars for part in parts) * n_samples * self.coder.discretizations
            if n_bytes > _MAX_KEPT_BYTES:
                return self._pack(parts, outcome)
            self._codes[d] = [_in_memory(part, self.coder.n_jobs) for part in parts]
        return self._pack(self._codes[d], outcome)

    def rank_scores(self) -> list[RankScores]:
        """Return the rank scores of the variables and of the contrast variables, where there are any."""
        strata = None if self.comparison.strata is None else self.comparison.strata.codes
        coders = [self.coder] if self.contrast is None else [self.coder, self.contrast]
        return self.once("rank scores", lambda: [RankScores(coder, strata) for coder in coders])

    def cells(self, d: int, members: IntArray) -> IntArray:
        """Return the number of each sample's cell in a tuple, (n_samples,): cells that have samples, from 0."""
        cell = np.zeros(self.coder.table.n_samples, dtype=np.int64)
        for levels, codes in zip(self.n_levels[members], self.codes_of(d, members).codes, strict=True):
            cell = numbered(cell * levels + codes)
        return cell

    def _stratum(self) -> list[CodeBlocks]:
        strata = self.comparison.strata
        return [] if strata is None else [strata.as_codes()]

    def _parts(self, d: int) -> list[CodeBlocks]:
        coders = [self.coder] if self.contrast is None else [self.coder, self.contrast]
        return [*self._stratum(), *(coder.code_blocks(d) for coder in coders)]

    def _file_for(self, d: int) -> MappedWords | None:
        n_levels, outcome, strata = self.n_levels, self.comparison.outcome, self.comparison.strata
        if self._keep_in is None or (n_levels - 1).sum() * outcome.sizes.sum() / 8 < _MAX_BYTES_IN_MEMORY:
            return None
        labels = outcome.searched
        parts = [np.array([d]), n_levels, labels, *([] if strata is None else [strata.codes])]
        if self.contrast_sources is not None:
            parts.append(np.asarray(self.contrast_sources))
        return self._keep_in(b"".join(len(part).to_bytes(8, "little") + part.tobytes() for part in parts))

    def _pack(self, parts: list[CodeBlocks], outcome: Target, *, kept: MappedWords | None = None) -> BitPlanes:
        n_vars = sum(part.n_vars for part in parts[: self.n_rows_before + 1])
        return make_bit_planes(parts, outcome, n_vars=n_vars, n_jobs=self.coder.n_jobs, kept=kept)


def code_comparison(comparison: Comparison, settings: SearchSettings, *, n_threads: int) -> CodedComparison:
    """Survey the table of a comparison."""
    return CodedComparison(comparison, partial(coder_for, comparison.table, settings, n_threads=n_threads))


class CodedStudy:
    """The comparisons of a study, each surveyed when it is first asked for.

    With `keeps_codes`, codes are kept, where they fit, for other outcomes of the same samples. Only the latest
    comparison is kept. Where each pair of classes is compared, pairs have tables of their own, and all
    their codes together could take more memory than the data.
    """

    def __init__(self, settings: SearchSettings, *, n_threads: int, keeps_codes: bool = False) -> None:
        self.n_threads = n_threads
        self._settings, self._keeps_codes = settings, keeps_codes
        self._latest: CodedComparison | None = None
        self._columns: IntArray | None = None  # surveyed for the latest; None for all

    def of(self, comparison: Comparison, columns: IntArray | None = None) -> CodedComparison:
        """Return a coded comparison, for these `columns` at least: only they are surveyed if it has to be made."""
        latest = self._latest
        if latest is not None and latest.comparison is comparison and self._covers(columns):
            return latest
        if latest is not None and latest.comparison.table is comparison.table and self._covers(columns):
            self._latest = latest.of_outcome(comparison)
            return self._latest
        latest = self._latest = None  # its memory is free before the next one is made
        self._columns = columns
        survey = partial(coder_for, comparison.table, self._settings, n_threads=self.n_threads, columns=columns)
        self._latest = CodedComparison(comparison, survey)
        self._latest.keeps_codes = self._keeps_codes
        return self._latest

    def _covers(self, columns: IntArray | None) -> bool:
        return self._columns is None or (columns is not None and bool(np.isin(columns, self._columns).all()))


class SharedCodes:
    """The codes of one table for searches with the same settings, one outcome after the other."""

    def __init__(self) -> None:
        self._study: CodedStudy | None = None

    def of(self, settings: SearchSettings, *, n_threads: int) -> CodedStudy:
        """Return the coded study, made for the first outcome."""
        if self._study is None:
            self._study = CodedStudy(settings, n_threads=n_threads, keeps_codes=True)
        return self._study

    def forget(self) -> None:
        """Free the memory, once no more outcomes follow."""
        self._study = None


def chosen_rows(planes: BitPlanes, rows: IntArray) -> BitPlanes:
    """Return some rows of planes, none of which is a contrast variable."""
    n_planes = planes.n_levels[rows] - 1
    start = starts_of(n_planes)
    within = np.arange(start[-1]) - np.repeat(start[:-1], n_planes)
    return replace(
        planes,
        words=planes.words[np.repeat(planes.plane_start[rows], n_planes) + within],
        plane_start=start,
        n_levels=planes.n_levels[rows],
        n_vars=len(rows),
    )


def _in_memory(part: CodeBlocks, n_jobs: int) -> CodeBlocks:
    if isinstance(part, DiscreteCodes):
        return part
    blocks = map_in_threads(part.read, part.blocks(n_jobs), n_jobs)
    return DiscreteCodes(np.ascontiguousarray(np.concatenate(blocks)), part.n_levels)
