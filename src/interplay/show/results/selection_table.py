"""Selection → tables of its variables, contrast variables and tuples; parts of it: one size of tuples, the n best."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_int
from interplay.infer.effects.variable_effects import VariableEffects
from interplay.infer.linkage import Linkage
from interplay.infer.p_values import adjust, relevant_mask, significance_order
from interplay.show.results.interactions import Interactions
from interplay.show.results.run import Run, chosen_run, smallest_log_p

if TYPE_CHECKING:
    import pandas as pd

    from interplay.show.results.selection import Selection

#: Columns of text, "" where there is none.
_TEXTS = ["partners", "found", "caution", "direction", "effect_kind", "representative", "label"]


def selection_table(selection: Selection) -> pd.DataFrame:
    """Return the table; `Selection.table` says what its columns are."""
    import pandas as pd

    best = selection.best_run
    rows = np.arange(len(selection.names))

    def of_best_run(per_run: list[Any]) -> Any:
        return np.stack(per_run)[best, rows]

    gain = of_best_run([run.gains.gain for run in selection.runs])
    alone = of_best_run([run.gain_alone for run in selection.runs])
    columns: dict[str, Any] = {
        "variable": selection.names,
        **({} if selection.variants is None else selection.variants.columns(rows)),
        "gain": gain,
        "p_value": selection.p_value,
        "p_adjusted": selection.p_adjusted,
        "relevant": selection.is_relevant,
        "partners": _partners(selection),
        "discretization": of_best_run([run.gains.discretization for run in selection.runs]),
        "gain_alone": alone,
        "synergy": gain - alone,
    }
    columns |= (selection.effects or VariableEffects.of([], [])).columns(len(selection.names))
    columns |= _short_list(selection)
    if selection.n_best:
        ranks = np.zeros(len(selection.names), dtype=np.int64)
        ranks[selection.best(selection.n_best).numbers] = np.arange(1, selection.n_best + 1)
        columns["best"] = ranks
    if selection.tests:
        columns["found"] = selection.found
        columns |= {f"p_{arm.replace(' ', '_')}": selection.p_of_arm(arm) for arm in selection.arms}
    if selection.dimensions[-1] > 1:
        columns["verdict"] = _verdicts(selection)
        members = [np.array(one.members, dtype=np.int64) for one in selection.verdicts]
        columns["interacting"] = [selection.names_of(some) for some in members]
        columns["p_interaction"] = [one.p_adjusted for one in selection.verdicts]
    if selection.in_model is not None:
        columns |= selection.in_model.columns(len(selection.names))
    if selection.stability is not None:
        columns["stability"] = selection.stability.frequency
    if selection.replication is not None:
        columns |= selection.replication.columns(len(selection.names))
    if len(selection.comparisons) > 1:
        columns["decision"] = [selection.runs[r].decision for r in best]
    if labels := selection.record.labels:
        columns["label"] = [labels.get(name, "") for name in selection.names]
    if cautions := selection.cautions:
        columns["caution"] = [cautions.get(name, "") for name in selection.names]
    return pd.DataFrame(columns)


def _short_list(selection: Selection) -> dict[str, Any]:
    """Return who stands for the group of each relevant variable, and which variables are in the short list."""
    representative, is_listed = [""] * len(selection.names), np.zeros(len(selection.names), dtype=bool)
    if selection.shortened is not None:
        for v, group in zip(selection.ranked.tolist(), selection.shortened.representative.tolist(), strict=True):
            representative[v] = selection.names[group]
        is_listed[selection.shortened.variable] = True
    return {"representative": representative, "short_list": is_listed}


def _verdicts(selection: Selection) -> list[str]:
    """Return verdicts on the tuples of relevant variables; "" for variables that are not, or have no partners."""
    return [
        one.verdict if selection.is_relevant[v] and len(selection.best_tuple(v)) > 1 else ""
        for v, one in enumerate(selection.verdicts)
    ]


def _partners(selection: Selection) -> list[tuple[str, ...]]:
    """Return the other members of the best tuple of each variable."""
    best = (selection.best_tuple(v) for v in range(len(selection.names)))
    return [selection.names_of(members[members != v]) for v, members in enumerate(best)]


def contrast_table(selection: Selection) -> pd.DataFrame:
    """See `Selection.contrast`."""
    import pandas as pd

    frames = []
    for run in selection.runs:
        gain = run.gains.contrast_gain
        frame = {
            "source": [selection.names[v] for v in run.contrast_sources],
            "gain": gain,
            "p_value": _contrast_p(run, len(selection.names)),
            "partners": [selection.names_of(row[:-1]) for row in run.gains.contrast_tuples],
        }
        if len(selection.dimensions) > 1:
            frame = {"dimensions": [run.dimensions] * len(gain), **frame}
        if len(selection.comparisons) > 1:
            frame = {"decision": [run.decision] * len(gain), **frame}
        frames.append(pd.DataFrame(frame))
    return pd.concat(frames, ignore_index=True)


def _contrast_p(run: Run, n_vars: int) -> FloatArray:
    exact = run.null_fit.exact_log_p
    if len(exact) > n_vars:  # contrast variables follow the real ones
        return np.exp(exact[n_vars:])
    gain = run.gains.contrast_gain
    return run.null_fit.p_values(gain, df=run.gains.contrast_df) if len(gain) else gain


def tuples_table(selection: Selection, number: int) -> pd.DataFrame:
    """Return the best tuples that contain a variable, given by its number; see `Selection.tuples_of`."""
    import pandas as pd

    rows = []
    for run in selection.runs:
        holds = (run.gains.tuples == number).any(axis=1)
        for v in np.flatnonzero(holds):
            row = {
                "variable": selection.names[v],
                "members": selection.names_of(run.gains.tuples[v]),
                "gain": float(run.gains.gain[v]),
                "discretization": int(run.gains.discretization[v]),
            }
            rows.append({"decision": run.decision, **row} if len(selection.comparisons) > 1 else row)
    frame = pd.DataFrame(rows)
    own = frame["variable"] == selection.names[number]
    order = np.lexsort((-frame["gain"].to_numpy(), ~own.to_numpy()))
    return frame.iloc[order].reset_index(drop=True)


def annotate(selection: Selection, adata: Any, *, prefix: str) -> None:
    """Write the table into ``.var`` of an AnnData; see `Selection.annotate`."""
    from interplay.data.study.anndata_table import is_anndata

    if not is_anndata(adata):
        raise TypeError(f"adata must be an AnnData, not {type(adata).__name__}")
    table = selection.table.set_index("variable")
    if not any(name in table.index for name in adata.var_names):
        raise ValueError(
            "adata does not contain any variable of this selection: its var_names must be the names of the variables"
        )
    table["partners"] = [", ".join(partners) for partners in table["partners"]]
    table = table.reindex([str(name) for name in adata.var_names])
    for name in table.columns[table.columns.str.match("relevant|holds_|short_list|replicated")]:
        table[name] = table[name].eq(True)
    for words in table.columns.intersection(_TEXTS):  # an .h5ad file needs text without gaps
        table[words] = table[words].fillna("")
    if "verdict" in table:
        table["verdict"] = table["verdict"].fillna("")
        table["interacting"] = [", ".join(names) if isinstance(names, tuple) else "" for names in table["interacting"]]
    for name in table.columns:
        adata.var[prefix + name] = table[name].to_numpy()


def first_variables(selection: Selection, n: int, whole_in: int | None = None) -> IntArray:
    """Return the numbers of the n variables that a model should get, best first.

    Tuples are whole in the first `whole_in`, of all n if it is not given.
    """
    ordered = selection.best_order
    if ordered is None:
        return selection.by_significance[:n]
    first = ordered.variable[ordered.first(n if whole_in is None else whole_in)]
    rest = ordered.variable[~np.isin(ordered.variable, first)]
    is_ordered = np.isin(selection.by_significance, ordered.variable)
    return np.concatenate([first, rest, selection.by_significance[~is_ordered]])[:n]


class Best(list[str]):
    """Names of the n variables that a model should get, best first: a list, with what is known of each.

    Attributes
    ----------
    numbers : (n,) int64
        Their numbers.
    """

    def __init__(self, selection: Selection, numbers: IntArray) -> None:
        super().__init__(selection.names[v] for v in numbers.tolist())
        self.numbers = numbers
        self._selection = selection

    @property
    def n_relevant(self) -> int:
        """How many of them are relevant, by the adjusted p-values."""
        return int(self._selection.is_relevant[self.numbers].sum())

    @property
    def curve(self) -> pd.DataFrame:
        """What so many variables explain in samples that had no part in choosing them: n, explained, below_best, error.

        See `Selection.best_curve`; it takes about four searches when it is first asked for.
        """
        import pandas as pd

        curve = self._selection.best_curve
        return pd.DataFrame({name: getattr(curve, name) for name in ("n", "explained", "below_best", "error")})

    @property
    def table(self) -> pd.DataFrame:
        """One row for each: rank, variable, p_adjusted, relevant, found, came_with, for_class.

        `came_with` has the other members of the tuple that it came in with, and `for_class` the class that would have
        had no variable without it.
        """
        import pandas as pd

        selection, ordered = self._selection, self._selection.best_order
        place = {} if ordered is None else {v: row for row, v in enumerate(ordered.variable.tolist())}
        classes = list(selection.class_sizes)
        rows: list[dict[str, Any]] = []
        for rank, v in enumerate(self.numbers.tolist(), start=1):
            row = place.get(v, -1)
            partners, turn = np.empty(0, dtype=np.int64), -1
            if ordered is not None and row >= 0:
                same = ordered.variable[ordered.unit == ordered.unit[row]]
                partners, turn = same[same != v], int(ordered.turn[row])
            rows.append(
                {
                    "rank": rank,
                    "variable": selection.names[v],
                    "p_adjusted": float(selection.p_adjusted[v]),
                    "relevant": bool(selection.is_relevant[v]),
                    "found": selection.found[v] if selection.is_relevant[v] else "",
                    "came_with": selection.names_of(partners),
                    "for_class": classes[turn] if 0 <= turn < len(classes) else "",
                }
            )
        return pd.DataFrame(rows)


def one_size(selection: Selection, dimensions: int) -> Selection:
    """Return p-values and relevant variables of the searches of one size of tuples; see `Selection.of_dimension`."""
    kept = [number for number, run in enumerate(selection.runs) if run.dimensions == dimensions]
    place = {number: i for i, number in enumerate(kept)}
    runs = tuple(selection.runs[number] for number in kept)
    log_p = smallest_log_p(runs)
    p_value = np.exp(log_p)
    p_adjusted = adjust(p_value, selection.asked.p_adjust, level=selection.asked.level)
    is_relevant = relevant_mask(p_adjusted, level=selection.asked.level)
    order = significance_order(log_p, np.max([run.gains.gain for run in runs], axis=0))
    ranked = order[is_relevant[order]]
    settings = {name: value for name, value in selection.settings.items() if name != "arms"}
    fits = {run.null_fit.fit for run in runs}
    column = {v: i for i, v in enumerate(selection.ranked.tolist())}
    known = len(selection.correlation) > 0 and all(v in column for v in ranked.tolist())
    chosen = [column[v] for v in ranked.tolist()] if known else []
    return replace(
        selection,
        runs=runs,
        log_p=log_p,
        p_value=p_value,
        p_adjusted=p_adjusted,
        is_relevant=is_relevant,
        ranked=ranked,
        correlation=selection.correlation[np.ix_(chosen, chosen)],
        settings=settings | {"dimensions": dimensions, "fit": fits.pop() if len(fits) == 1 else settings["fit"]},
        tuple_counts=tuple(
            replace(counts, run=place[counts.run]) for counts in selection.tuple_counts if counts.run in place
        ),
        tests=(),
        linkage=_linkage_of(selection, ranked),
        replication=None,
        shortened=None,  # it is of the variables of all sizes
    )


def _linkage_of(selection: Selection, variables: IntArray) -> Linkage | None:
    """Return the correlations that the selection holds, if it holds them of all these variables."""
    linkage = selection.linkage
    return linkage if linkage is not None and np.isin(variables, linkage.variables).all() else None


def selection_interactions(selection: Selection, dimensions: int | None, run: int | str | None) -> Interactions:
    """See `Selection.interactions`."""
    sizes = [k for k in selection.dimensions if k > 1]
    if not sizes:
        raise ValueError("interactions need tuples: run select with dimensions=2 or more")
    size = sizes[0] if dimensions is None else check_int("dimensions", dimensions, low=2, high=sizes[-1])
    searched = next(k for k in sizes if k >= size)
    numbers = [number for number, one in enumerate(selection.runs) if one.dimensions == searched]
    number = numbers[chosen_run(run, [selection.runs[each].decision for each in numbers])]
    chosen = selection.runs[number]
    if not chosen.tested or chosen.outcome is None:
        raise ValueError(
            "the tuples of this selection were not tested (merged from parts without X, or within groups): give X to "
            "merge_parts, or run select() without groups"
        )
    tested = chosen.tested[size - 2]
    s = {name: value for name, value in selection.settings.items() if name != "arms"} | {"dimensions": size}
    kept = [counts for counts in selection.tuple_counts if counts.run == number]
    members = {tuple(row): int(d) for row, d in zip(tested.tuples.tolist(), tested.discretization, strict=True)}
    return Interactions(
        names=selection.names,
        tested=tested.by_p_value(),
        n_tests=comb(len(selection.names), size) * len(selection.comparisons) * (sizes[-1] - 1),
        outcome=chosen.outcome,
        class_sizes=dict(zip(chosen.class_labels, chosen.class_sizes.tolist(), strict=bool(chosen.class_labels))),
        cuts=chosen.cuts,
        counts=tuple(
            replace(one, run=0) for one in kept if members.get(tuple(one.members.tolist())) == one.discretization
        ),
        settings={**s, "top": None, "max_p": None},
        provenance=selection.provenance,
        is_exhaustive=False,
        linkage=_linkage_of(selection, tested.tuples),
        survival_curves=tuple(replace(one, run=0) for one in selection.survival_curves if one.run == number),
        clump_r2=selection.clump_r2,
        variants=selection.variants,
    )
