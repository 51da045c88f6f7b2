"""Leads and the samples that they were found in → is each an interaction, or does another column explain it?"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.ask.new_samples.tuples import CutSamples, outcome_of
from interplay.ask.tuple_tests.beside_smooth import Splines
from interplay.base.arrays import FloatArray, IntArray, places_of_each
from interplay.base.checks import check_flag, check_int, check_real, naming_argument, shown, warn
from interplay.base.jobs import map_in_threads, resolve_n_jobs
from interplay.base.tails import log_chi2_tail
from interplay.data.study.design import Strata
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.targets import Target
from interplay.data.study.outcomes.times import split_survival
from interplay.data.study.positions import NOWHERE, Positions, make_positions
from interplay.data.study.study import Study, make_study
from interplay.data.study.table import Table, as_table
from interplay.infer.interaction.beside_test import with_covariates
from interplay.infer.interaction.product_test import main_effects
from interplay.infer.linkage import clump_tuples, linkage_rows, squared_associations
from interplay.infer.neighbour_screen import Neighbours, responses
from interplay.infer.neighbours import TYPED_CHI2, ColumnPool, bridging, find_neighbours
from interplay.infer.smooth_columns import smooth_columns
from interplay.infer.tagging import Lead, Tagged, tagged_tuple
from interplay.show.results.leads import Tagging, columns_named, linkage_for
from interplay.show.results.summary_words import model_in_words

if TYPE_CHECKING:
    from interplay.show.results.interactions import Interactions

#: The window where positions are known and none is given: base pairs.
DEFAULT_WINDOW = 1_000_000.0

#: Members are correlated where chance alone would do as much with a probability below this.
_LINKED_BELOW = 0.02

#: Columns near two members tie them together where chance alone would do as much with a probability below this, and so
#: many columns near each are looked at.
_TIED_BELOW = 0.01
_TIES_EACH = 30

_SAME = "a hidden cause that both tag looks the same"


class _Data(NamedTuple):
    """The samples: table, outcome as it was searched, full model and responses, and where variables lie."""

    table: Table
    outcome: Target
    model: FullModel
    response: FloatArray
    positions: Positions | None


def tag(
    found: Interactions,
    X: Any,
    y: Any,
    *,
    window: float | None,
    positions: Any,
    dense: Any,
    covariates: Any,
    strata: Any,
    offset: Any,
    entry: Any,
    r2: float,
    max_neighbours: int,
    complete: bool,
    n_jobs: int | None,
) -> Tagging:
    """See `Interactions.tagging`."""
    check_flag("complete", complete)
    n_most = check_int("max_neighbours", max_neighbours, low=1, high=100_000)
    window = None if window is None else check_real("window", window, low=0.0, low_open=True)
    if found.is_permuted:
        raise ValueError("tagging takes samples as independent: it is not available for a result with groups")
    study = _study_of(found, X, y, strata=strata, covariates=covariates, offset=offset, entry=entry)
    data = _data_of(study, positions)
    if window is not None and data.positions is None:
        raise ValueError("window needs the positions of the variables: give positions, or leave window out")
    window = DEFAULT_WINDOW if window is None and data.positions is not None else window
    pool = _pool_of(data, dense)
    significant = np.flatnonzero(found.is_significant | found.is_explained)
    lead_of = _leads(found, significant, r2, X, positions)
    rows = np.unique(lead_of[lead_of >= 0])
    tagger = _Tagger(found, data, pool, rows, window=window, n_most=n_most, complete=complete)
    tagged = map_in_threads(tagger.verdict, range(len(rows)), resolve_n_jobs(n_jobs))
    place = np.full(len(found), -1, dtype=np.int64)
    place[significant] = np.searchsorted(rows, lead_of[significant])
    return Tagging(
        lead_of=place,
        rows=rows,
        verdict=[one.verdict for one in tagged],
        by=[[pool.name(int(tagger.neighbours[i][c])) for c in one.by] for i, one in enumerate(tagged)],
        reason=[one.reason for one in tagged],
        p_interaction=np.array([one.p_interaction for one in tagged]),
        p_neighbour=np.array([one.p_effect for one in tagged]),
        p_given=np.array([one.p_left for one in tagged]),
        n_neighbours=np.array([len(numbers) for numbers in tagger.neighbours], dtype=np.int64),
        r2=tagger.r2,
        about={
            "window": window,
            "dense": len(pool.tables) > 1,
            "covariates": [] if study.design.covariates is None else study.design.covariates.names,
            "complete": complete,
            "n_samples": data.table.n_samples,
        },
    )


def _study_of(found: Interactions, X: Any, y: Any, **beside: Any) -> Study:
    """Return the samples of a result, with their outcome as it was searched."""
    of_times = found.has_times
    if of_times and split_survival(y) is None:
        raise ValueError("y must be times, with which the tuples were found: give y=(time, event)")
    if not of_times and split_survival(y) is not None:
        raise ValueError("y is times, and the tuples were found with another outcome: give the y of the search")
    model = model_in_words(found.record)
    if model and beside["covariates"] is None and beside["offset"] is None:
        warn(f"the tuples were found given {model}, and tagging tests them without: give it the same")
    asked = {name: found.settings.get(name) for name in ("decision", "decision_divisions", "scale")}
    study = make_study(
        X,
        y,
        decision=asked["decision"] or "auto",
        decision_divisions=asked["decision_divisions"],
        scale=asked["scale"] or "ranks",
        times=True,
        **beside,
    )
    if of_times:
        return study
    # Classes of the search, also where these samples would be cut elsewhere.
    outcome = outcome_of(found, found.outcome, study)
    return study.of_outcome(outcome, outcome)


def _data_of(study: Study, positions: Any) -> _Data:
    table, model = study.table, study.model
    if model is None:
        model = FullModel(study.outcome, study.design)
    where = make_positions(positions, table) if positions is not None or table.positions is not None else None
    return _Data(table, study.compared, model, responses(model), where)


def _pool_of(data: _Data, dense: Any) -> ColumnPool:
    """Return the columns among which neighbours are: those of X, and of a denser table of the same samples."""
    if dense is None:
        return ColumnPool([data.table], [data.positions], [""])
    more = _dense_table(dense)
    if more.n_samples != data.table.n_samples:
        raise ValueError(
            f"dense has {more.n_samples} samples and X has {data.table.n_samples}: give the same samples, in one order"
        )
    one, other = data.table.sample_names, more.sample_names
    if one is not None and other is not None and list(map(str, one)) != list(map(str, other)):
        raise ValueError("dense has other samples than X, or in another order: give the same samples in the same order")
    where = make_positions(None, more) if more.positions is not None else None
    if data.positions is not None and where is None:
        raise ValueError(
            "dense has no positions, which X has: give a table with positions, such as a .bed file, or an X without"
        )
    shared = set(data.table.names) & set(more.names)
    return ColumnPool([data.table, more], [data.positions, where], ["", "dense:" if shared else ""])


def _dense_table(dense: Any) -> Table:
    if not isinstance(dense, str | os.PathLike):
        with naming_argument("dense"):
            return as_table(dense)
    from interplay.readers.genotypes.bed import read_bed
    from interplay.readers.genotypes.bgen import read_bgen
    from interplay.readers.genotypes.pgen import read_pgen

    # All people, also without a phenotype.
    readers: dict[str, Callable[[str], Table]] = {".bed": read_bed, ".pgen": read_pgen, ".bgen": read_bgen}
    name = os.fspath(dense)
    if read := readers.get(os.path.splitext(name)[1]):
        return read(name)
    from interplay.readers.data_file import read_table

    return read_table(dense)


def _leads(found: Interactions, significant: IntArray, r2: float, X: Any, positions: Any) -> IntArray:
    """Return the row of the lead of each significant tuple, −1 for others."""
    tuples = found.tested.tuples[significant]
    variables = np.unique(found.tested.tuples)
    by_rank = np.array([found.cuts_of(v).is_cut for v in variables.tolist()], dtype=bool)
    known = found.linkage is not None and r2 >= found.linkage.floor
    linkage = linkage_for(found.names, found.linkage, variables, None if known else X, None, by_rank)
    lead_of = np.full(len(found), -1, dtype=np.int64)
    lead_of[significant] = significant[clump_tuples(tuples, linkage, r2)]
    return lead_of


class _Tagger:
    """Judges leads, which share the table, the pool of columns, and the correlations with these."""

    def __init__(
        self,
        found: Interactions,
        data: _Data,
        pool: ColumnPool,
        rows: IntArray,
        *,
        window: float | None,
        n_most: int,
        complete: bool,
    ) -> None:
        self._found, self._data, self._pool, self._rows = found, data, pool, rows
        self._window, self._complete = window, complete
        tuples = found.tested.tuples[rows]
        variables = np.unique(tuples)
        self._members = columns_named(data.table, [found.names[v] for v in variables.tolist()])
        self._tuples = np.searchsorted(variables, tuples)
        by_rank = np.array([found.cuts_of(v).is_cut for v in variables.tolist()], dtype=bool)
        self._linked, self._first = linkage_rows(data.table, self._members, by_rank, n_used=data.table.n_samples)
        if data.model.design.strata is not None:
            self._linked = _within_strata(self._linked, data.model.design.strata)
        self._places = None if data.positions is None else data.positions.of(self._members)
        self.neighbours = find_neighbours(
            pool,
            self._tuples,
            self._members,
            self._linked,
            self._first,
            self._places,
            window=window,
            n_most=n_most,
        )
        self._pairs = [self._member_r2(row) for row in self._tuples]
        self.r2 = np.array([max(each.values(), default=0.0) for each in self._pairs])
        d = found.tested.discretization[rows]
        # Of each row: its tuple among those of its discretisation, and the splines of their members.
        self._cut: dict[int, tuple[CutSamples, Splines, int]] = {}
        for some in places_of_each(d[:, np.newaxis]):
            cut = CutSamples(found, rows[some], data.table, data.outcome, data.model.design, data.model)
            splines = Splines(cut.coded.coder)
            self._cut |= {place: (cut, splines, own) for own, place in enumerate(some.tolist())}

    def verdict(self, place: int) -> Tagged:
        """Judge one lead."""
        data, near = self._data, self._pool.effects(self.neighbours[place])
        lead = self._lead(place)

        def linked(correlations: FloatArray) -> str:
            if self._complete:
                return ""
            return self._why_linked(place, near, correlations) or self._why_untyped(place, correlations)

        def bridges(correlations: FloatArray) -> list[int]:
            if len(lead.values) != 2 or not len(correlations) or not lead.values.any(axis=1).all():
                return []
            a, b = lead.values.astype(np.float64)
            return bridging(correlations, float(a @ b), len(a))

        return tagged_tuple(data.model, data.response, lead, near, linked=linked, bridges=bridges)

    def _lead(self, place: int) -> Lead:
        cut, splines, own = self._cut[place]
        data, members, samples = self._data, cut.tuples[own], cut.samples(own)
        if self._found.tested.are_products[self._rows[place]]:
            scored = cut.products.members(members, samples.known, is_flexible=True)
            beside = main_effects(scored, samples, is_flexible=True)
            samples = samples._replace(dosages=[one.score for one in scored])
        else:
            is_cut = ~cut.coded.coder.is_discrete
            of_each = [splines.of(v)[samples.known] if is_cut[v] else None for v in members.tolist()]
            beside = smooth_columns(of_each, samples.levels, samples.stratum)
        beside = with_covariates(beside, data.model, samples)
        rows = [self._row_of(m) for m in self._tuples[place].tolist()]
        n = data.table.n_samples
        values = np.array([np.zeros(n, dtype=np.float32) if of is None else of for of in rows])
        return Lead(data.outcome, samples, beside, values)

    def _why_untyped(self, place: int, correlations: FloatArray) -> str:
        """Name a member that no neighbour is near to, by correlation; "" if there is none."""
        for member, with_member in zip(self._tuples[place].tolist(), correlations.T, strict=True):
            if self._row_of(member) is None and len(with_member):
                continue
            if self._data.table.n_samples * float((with_member**2).max(initial=0.0)) <= TYPED_CHI2:
                name = self._data.table.names[int(self._members[member])]
                return f"no column near {shown(name)} is typed: a hidden cause there would not be seen"
        return ""

    def _row_of(self, member: int) -> npt.NDArray[np.float32] | None:
        start, stop = self._first[member], self._first[member + 1]
        return self._linked[start] if stop - start == 1 else None

    def _member_r2(self, members: IntArray) -> dict[tuple[int, int], float]:
        """Return r² of every two members of a tuple."""
        r2 = {}
        for a, b in combinations(members.tolist(), 2):
            one, other = (slice(self._first[m], self._first[m + 1]) for m in (a, b))
            ends = [np.array([0, part.stop - part.start]) for part in (one, other)]
            r2[a, b] = float(squared_associations(self._linked[one], ends[0], self._linked[other], ends[1])[0, 0])
        return r2

    def _why_linked(self, place: int, neighbours: Neighbours, correlations: FloatArray) -> str:
        """Say why one hidden cause could have two members as its tags; "" if they are not linked."""
        n = self._data.table.n_samples
        members = self._tuples[place].tolist()
        for (a, b), r2 in self._pairs[place].items():
            far = False
            if self._places is not None and self._window is not None:
                one, other = self._places.chromosome[a], self._places.chromosome[b]
                distance = abs(float(self._places.position[a] - self._places.position[b]))
                far = one != NOWHERE and other != NOWHERE and (one != other)
                if one == other and one != NOWHERE and distance <= self._window:
                    return f"members are {distance:g} apart (r² = {r2:.2g}): {_SAME}"
            if far:
                continue
            sizes = [int(self._first[m + 1] - self._first[m]) - 1 or 1 for m in (a, b)]
            if float(np.exp(log_chi2_tail(n * r2 * min(sizes), sizes[0] * sizes[1]))) < _LINKED_BELOW:
                return f"members are correlated (r² = {r2:.2g}): {_SAME}"
            one_row, other_row = self._row_of(a), self._row_of(b)
            if one_row is None or other_row is None:
                continue
            with_pair = correlations[:, [members.index(a), members.index(b)]]
            if _are_tied(one_row, other_row, neighbours, with_pair):
                return f"columns near one member are correlated with columns near the other: {_SAME}"
        return ""


def _are_tied(
    one: npt.NDArray[np.float32], other: npt.NDArray[np.float32], neighbours: Neighbours, correlations: FloatArray
) -> bool:
    """Say whether columns near one member are correlated with columns near the other, as in one region of a genome."""
    if not neighbours.n:
        return False
    with_one, with_other = correlations.T**2
    is_of_one = with_one >= with_other
    order = np.argsort(-np.maximum(with_one, with_other), kind="stable")
    of_one, of_other = (neighbours.linear(order[of[order]][:_TIES_EACH]) for of in (is_of_one, ~is_of_one))
    left, right = np.vstack([one, of_one]), np.vstack([other, of_other])
    lengths = np.outer((left**2).sum(axis=1), (right**2).sum(axis=1))
    r2 = (left @ right.T) ** 2 / np.maximum(lengths, 1e-300)
    r2[0, 0] = 0.0  # the members themselves
    return bool(np.exp(log_chi2_tail(len(one) * float(r2.max()), 1)) < _TIED_BELOW / r2.size)


def _within_strata(rows: Any, strata: Strata) -> Any:
    """Take the means of strata out of rows, and give them length 1 again: populations correlate all that differs."""
    from interplay.infer.linkage import scaled_rows

    if not len(rows):
        return rows
    sums = np.stack([np.bincount(strata.codes, weights=row, minlength=strata.n_strata) for row in rows])
    return scaled_rows(rows - (sums / np.maximum(strata.sizes, 1))[:, strata.codes], False).astype(np.float32)
