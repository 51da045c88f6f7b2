"""plan_sites(): a table of one site, or definitions of columns → SitePlan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.base.checks import check_choice, check_int, check_real, shown
from interplay.base.seeds import resolve_seed
from interplay.data.codes.coder import Discrete, make_coder
from interplay.data.codes.cuts import VariableCuts, variable_cuts
from interplay.data.study.columns import Column
from interplay.data.study.named_columns import take_named
from interplay.data.study.outcomes.classes import decision_classes
from interplay.data.study.outcomes.numbers import is_number
from interplay.data.study.table import Table
from interplay.sites.plan import MISSING_AT_SITES, PlannedColumn, SitePlan, checked_plan, column_of_levels, cut_column


def plan_sites(
    X: Any = None,
    y: Any = None,
    *,
    sites: Sequence[str],
    levels: Mapping[str, Sequence[Any]] | Sequence[float] | None = None,
    thresholds: Mapping[str, Sequence[float]] | None = None,
    classes: Sequence[Any] | None = None,
    target: str | None = None,
    dimensions: int = 2,
    divisions: int = 1,
    discrete: Discrete = "auto",
    missing: str = "error",
    merge_rare: float | None = None,
    p_adjust: str = "holm",
    level: float = 0.05,
    max_p: float | None = None,
    list_up_to: float | None = None,
    random_state: Any = 0,
) -> SitePlan:
    """Plan a search for interactions over sites that may not share their data.

    The plan fixes everything that the sites must agree on: columns, their levels and thresholds, classes, settings. It
    can be made from the table of one site, from a made-up table of the same form, or without a table.

    Parameters
    ----------
    X : table-like, optional
        A table with the columns of all sites. Its values become levels; numbers with more values are cut by rank, and
        these thresholds, which are values of the table, become part of the plan. `thresholds` replaces them.
    y : array-like or str, optional
        The outcome: classes only. Ranks of numbers in all samples together are not known to single sites.
    sites : list of str
        Names of the sites, 2 to 256.
    levels : dict or list, optional
        Levels of columns by name, which may be more than those in `X`; or a list of numbers, such as [0, 1, 2] for
        genotypes, which all columns of numbers that are not cut have. Levels that no site has do no harm.
    thresholds : dict, optional
        Where the numbers of a column are cut, by name.
    classes : list, optional
        The classes of the outcome in their order, where `y` has not all of them.
    target : str, optional
        Name of the outcome, the default of all sites; by default that of `y`.
    dimensions, divisions, discrete, p_adjust, level, max_p, random_state
        As in `interplay.interactions`; numbers are cut once.
    missing : {"error", "level", "omit"}
        Missing values: refused, a level of their own, or left out of the tests of the tuple.
    merge_rare : float, optional
        Numbers that are levels, such as genotypes, are merged with their neighbours where less than this share of `X`
        has them, down to two levels. The column is then cut at thresholds, at all sites and in all tables alike. With
        `min_cell`, fewer tables are withheld.
    list_up_to : float, optional
        The p-value up to which no tuple is missing from the lists of the sites. A larger one makes longer lists; it is
        needed where very many tuples are significant, which `combine_sites` says.

    Returns
    -------
    SitePlan
        ``.save(path)`` writes the file for the sites.

    Examples
    --------
    >>> from interplay.sites import plan_sites
    >>> plan = plan_sites(
    ...     sites=["Basel", "Turku"], levels={f"snp{i}": [0, 1, 2] for i in range(50)}, classes=["ill", "well"]
    ... )
    >>> plan.n_tuples
    1225
    """
    check_choice("missing", missing, MISSING_AT_SITES)
    if isinstance(sites, str):
        raise TypeError(f"sites must be a list of names, not {shown(sites)}: write [{shown(sites)}, …]")
    if isinstance(levels, str):
        raise TypeError(
            f"levels must be a dict of lists by the names of columns, or a list of numbers, not {shown(levels)}"
        )
    more = _by_column("levels", levels if isinstance(levels, Mapping) else None)
    cut_at = _by_column("thresholds", thresholds)
    if both := [name for name in more if name in cut_at]:
        raise ValueError(f"column {shown(both[0])} has levels and thresholds: give one of them")
    for_all = None if levels is None or isinstance(levels, Mapping) else column_of_levels("all columns", list(levels))
    if merge_rare is not None:
        check_real("merge_rare", merge_rare, low=0.0, high=0.5, low_open=True)
        if X is None:
            raise ValueError("merge_rare needs a table, whose shares decide: give X, or thresholds of the columns")
    if X is None:
        if not more and not cut_at:
            raise ValueError("a plan without a table needs the columns: give levels or thresholds by their names")
        if classes is None:
            raise ValueError("a plan without a table needs the classes of the outcome: give classes")
        columns = [column_of_levels(name, list(given)) for name, given in more.items()]
        columns += [cut_column(name, list(given)) for name, given in cut_at.items()]
        labels = list(classes)
    else:
        name_of_y = y if isinstance(y, str) else getattr(y, "name", None)
        target = str(name_of_y) if target is None and name_of_y is not None else target
        table, (y,) = take_named(X, y=y)
        labels = list(classes) if classes is not None else _classes(y, table.n_samples)
        if unknown := [name for name in (*more, *cut_at) if name not in table.names]:
            raise ValueError(f"levels or thresholds name {shown(unknown[0])}, which is not a column of X")
        columns = _columns(table, more, cut_at, for_all, divisions=divisions, discrete=discrete, missing=missing)
        if merge_rare is not None:
            columns = [_merged(column, table.column(v), merge_rare) for v, column in enumerate(columns)]
    return checked_plan(
        {
            "sites": list(sites),
            "target": target,
            "classes": [_label(label) for label in labels],
            "columns": columns,
            "dimensions": dimensions,
            "missing": missing,
            "p_adjust": p_adjust,
            "level": level,
            "max_p": max_p,
            "list_up_to": list_up_to,
            "random_state": resolve_seed(random_state),
        }
    )


def _classes(y: Any, n_samples: int) -> list[Any]:
    if is_number(y, "auto"):
        raise ValueError(
            "y is a number, and sites can only compare classes, because ranks in all samples together are not known to "
            "one site: cut it into classes at thresholds that all sites agree on"
        )
    return decision_classes(y, n_samples=n_samples, decision="classes").labels


def _columns(
    table: Table,
    more: Mapping[str, Any],
    cut_at: Mapping[str, Any],
    for_all: PlannedColumn | None,
    *,
    divisions: int,
    discrete: Discrete,
    missing: str,
) -> list[PlannedColumn]:
    """Return the columns of a table, with further levels and other thresholds."""
    coder = make_coder(
        table,
        divisions=check_int("divisions", divisions, low=1, high=250),
        discretizations=1,
        range_=0.0,
        seed=0,
        discrete=discrete,
        missing="error" if missing == "error" else "level",
    )
    columns = []
    for variable, name in enumerate(table.names):
        if name in cut_at:
            columns.append(cut_column(name, list(cut_at[name])))
        else:
            columns.append(_column(name, variable_cuts(coder, variable), list(more.get(name, ())), for_all))
    return columns


def _column(name: str, cuts: VariableCuts, more: list[Any], for_all: PlannedColumn | None) -> PlannedColumn:
    if cuts.is_cut and not more:
        return cut_column(name, sorted(set(cuts.thresholds[0].tolist())))
    if cuts.labels or (more and isinstance(more[0], str)):
        labels = list(dict.fromkeys([*cuts.labels, *map(str, more)]))
        # Texts are sorted, as they are in one table of all sites; categories of the user's keep their order.
        return column_of_levels(name, sorted(labels) if cuts.labels == sorted(cuts.labels) else labels)
    known = [] if cuts.is_cut else cuts.values.tolist()
    shared = list(for_all.levels) if for_all is not None else []
    return column_of_levels(name, [*known, *more, *shared] or [0.0])


def _merged(column: PlannedColumn, given: Column, least: float) -> PlannedColumn:
    """Cut a column of numbers between its levels, so that at least a share of the samples is in each part.

    The rarest part joins the rarer one of its neighbours, while there are more than two.
    """
    if column.is_cut or column.has_labels or column.n_levels <= 2:
        return column
    values = given.read().astype(np.float64)
    known = values[values == values]
    shares = [float((known == level).mean()) if len(known) else 0.0 for level in column.levels]
    ends: list[float] = [float(level) for level in column.levels]
    while len(shares) > 2 and min(shares) < least:
        rarest = shares.index(min(shares))
        beside = [place for place in (rarest - 1, rarest + 1) if 0 <= place < len(shares)]
        first = min(rarest, min(beside, key=shares.__getitem__))
        shares[first : first + 2] = [shares[first] + shares[first + 1]]
        del ends[first]
    return column if len(ends) == column.n_levels else cut_column(column.name, ends[:-1])


def _by_column(argument: str, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument} must be a dict of lists by the names of columns, not {shown(given)}")
    for name, values in given.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise TypeError(f"{argument} of {shown(name)} must be a list, not {shown(values)}")
    return {str(name): list(values) for name, values in given.items()}


def _label(label: Any) -> str:
    return str(label.item() if hasattr(label, "item") else label)
