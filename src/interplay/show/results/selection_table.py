"""A selection → tables of its variables, contrast variables and tuples; columns of an AnnData."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.infer.effects.variable_effects import VariableEffects
from interplay.show.results.run import Run

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
