"""combine(): results of several studies → one, by effects where studies have them, else by p-values.

Selections are combined by Fisher's method, Interactions over the tuples that all studies could know.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_choice, check_list, check_real, shown
from interplay.data.codes.cuts import VariableCuts, plain_label
from interplay.infer.combined_studies import FixedEffect, fixed_effect, summed_chi2
from interplay.infer.interaction.tuple_tests import METHODS, SPARSE, adjust_listed
from interplay.infer.p_values import ADJUST_METHODS, LISTED_METHODS, adjust
from interplay.show.results.combined import COMBINED_METHODS, Combined
from interplay.show.results.interactions import Interactions
from interplay.show.results.saved import load
from interplay.show.results.selection import Selection


def combine(
    results: Iterable[Interactions | Selection | str | os.PathLike[str]],
    *,
    studies: Sequence[str] | None = None,
    p_adjust: str | None = None,
    level: float | None = None,
) -> Combined:
    """Combine results of several studies of the same question, which have no samples in common.

    Parameters
    ----------
    results : list of Interactions, of Selection, or of files
        Two or more results of one kind, or the files that they were saved to. Variables are matched by their names.
    studies : list of str, optional
        Names of the studies; by default "study 1", "study 2", …, or names of the files.
    p_adjust : str, optional
        How p-values are adjusted for the number of tests; by default as in the first result.
    level : float, optional
        Significance level; by default that of the first result.

    Returns
    -------
    Combined
        ``.table``, ``.significant``, ``.summary()``, ``.save()``.

    Notes
    -----
    Effects of interactions (log odds ratios of two levels and two classes, differences of differences of numbers) are
    averaged with the inverses of their variances as weights: a fixed effect, with Cochran's Q and I² for
    heterogeneity. Standard errors are those of the 95 % intervals, by the normal distribution. Tuples without a single
    effect are combined by their p-values: each becomes a χ² of the degrees of freedom of its test, and these add up
    (Lancaster's method), which is the sum of G² where p-values are those of χ². The same holds where levels or
    directions are not comparable. Variables of selections are combined by Fisher's method; their effects are averaged,
    with a test of heterogeneity, where every study that has a variable has its effect.

    A tuple is combined if every study that has its variables lists it, and two studies do. Other tuples stay in the
    table with a status: to leave out studies in which a tuple has a large p-value would favour small ones.
    `Interactions.replicate` tests the listed tuples of one study in the table of another, and makes all of them
    comparable. p-values are adjusted for the largest search among the studies; if all results are replications, for
    the number of their tuples.

    Examples
    --------
    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1200, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0) ^ (rng.random(1200) < 0.35)
    >>> first = interplay.interactions(X[:400], y[:400])
    >>> others = [first.replicate(X[400:800], y[400:800]), first.replicate(X[800:], y[800:])]
    >>> interplay.combine(others).significant
    [('x3', 'x11')]
    """
    if isinstance(results, Interactions | Selection | str | os.PathLike):
        raise TypeError("results must be a list of results, not one of them: write [first, second]")
    given = check_list("results", results, of="results or their files")
    read = [load(one) if isinstance(one, str | os.PathLike) else one for one in given]
    if len(read) < 2:
        raise ValueError(f"results must hold at least two results, not {len(read)}")
    names = _names(given, studies)
    kinds = {type(one) for one in read}
    if not kinds <= {Interactions, Selection}:
        other = next(one for one in read if not isinstance(one, Interactions | Selection))
        raise TypeError(f"results must be Interactions or Selections, not {type(other).__name__}")
    if len(kinds) > 1:
        raise TypeError("results must be of one kind: Interactions and Selections cannot be combined")
    _check_samples(read, names)
    is_listed = kinds == {Interactions}
    settings = {
        "p_adjust": check_choice(
            "p_adjust",
            read[0].settings["p_adjust"] if p_adjust is None else p_adjust,
            LISTED_METHODS if is_listed else ADJUST_METHODS,
        ),
        "level": check_real(
            "level",
            read[0].settings["level"] if level is None else level,
            low=0.0,
            high=1.0,
            low_open=True,
            high_open=True,
        ),
    }
    combined = combined_interactions if is_listed else combined_variables
    return combined(read, names, settings, [_record(one) for one in read])


def _names(given: Sequence[Any], studies: Sequence[str] | None) -> list[str]:
    """Return names of the studies, all different."""
    if studies is None:
        names = [
            os.path.basename(os.fspath(one)) if isinstance(one, str | os.PathLike) else f"study {place}"
            for place, one in enumerate(given, start=1)
        ]
        return names if len(set(names)) == len(names) else [f"study {place}" for place in range(1, len(given) + 1)]
    names = [str(name) for name in check_list("studies", studies, of="names")]
    if len(names) != len(given):
        raise ValueError(f"studies must name each of the {len(given)} results, not {len(names)}")
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"studies has {shown(twice[0])} twice: rename one")
    return names


def _record(one: Any) -> dict[str, Any]:
    """Return what the combination notes of a result."""
    return {
        "n_samples": int(one.provenance["n_samples"]),
        "data_fingerprint": one.provenance.get("data_fingerprint"),
        "n_tests": one.n_tests if isinstance(one, Interactions) else len(one.names),
        "is_replication": isinstance(one, Interactions) and one.first is not None,
        "versions": dict(one.provenance.get("versions", {})),
    }


def _check_samples(read: Sequence[Any], names: Sequence[str]) -> None:
    """Refuse the same samples twice, which would count as independent."""
    first: dict[str, str] = {}
    for name, one in zip(names, read, strict=True):
        made_of = one.provenance.get("data_fingerprint")
        if made_of is not None and made_of in first:
            raise ValueError(
                f"results: {first[made_of]!r} and {name!r} are of the same samples: studies must have none in common"
            )
        if made_of is not None:
            first[made_of] = name


def combined_variables(
    read: Sequence[Selection], studies: list[str], settings: dict[str, Any], records: list[Any]
) -> Combined:
    """Combine variables, matched by their names: p-values by Fisher's method, effects by their inverse variances."""
    names = list(dict.fromkeys(name for one in read for name in one.names))
    number_of = {name: number for number, name in enumerate(names)}
    log_p = np.full((len(names), len(read)), np.nan)
    for place, one in enumerate(read):
        log_p[[number_of[name] for name in one.names], place] = one.log_p
    known = ~np.isnan(log_p)
    combined = summed_chi2(log_p, np.where(known, 2, 0))
    is_combined = known.sum(axis=1) >= 2
    p_adjusted = adjust(np.exp(combined.log_p), settings["p_adjust"], level=settings["level"])
    order = np.lexsort((np.arange(len(names)), np.where(is_combined, combined.log_p, np.inf)))
    effects, errors, scales = _effects(read, number_of, known)
    average = fixed_effect(effects, errors)
    return Combined(
        kind="variables",
        names=names,
        studies=studies,
        n_tests=int(is_combined.sum()),
        effect_name="effect" if any(scales) else "",
        **_in_order(
            order,
            average,
            tuples=np.arange(len(names), dtype=np.int64)[:, np.newaxis],
            log_p_studies=log_p,
            effects=effects,
            errors=errors,
            status=[_status_of_variable(studies, of_row) for of_row in known.tolist()],
            method=np.where(is_combined, COMBINED_METHODS.index("p-values"), -1),
            **combined._asdict(),
            p_adjusted=p_adjusted,
            of_cutting=np.zeros(len(names), dtype=bool),
            effect_scale=scales,
        ),
        settings=settings,
        provenance={"studies": records, "selected_in": []},
    )


def _in_order(order: IntArray, average: FixedEffect, **fields: Any) -> dict[str, Any]:
    """Return fields of `Combined` in the order of its rows, those of fixed effects among them."""
    fields |= {"effect": average.estimate, "error": average.error, "q": average.q, "q_df": average.df}
    fields |= {"log_p_heterogeneity": average.log_p_heterogeneity, "i2": average.i2}
    return {
        name: [values[row] for row in order.tolist()] if isinstance(values, list) else values[order]
        for name, values in fields.items()
    }


def _effects(
    read: Sequence[Selection], number_of: dict[str, int], known: BoolArray
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return effects and errors of variables, (n_vars, n_studies), and the scale of each.

    Selections have effects of their relevant variables. An average over the studies in which a variable is relevant
    would be too large, so that all studies that have the variable must have its effect, of one kind.
    """
    effects, errors = np.full(known.shape, np.nan), np.full(known.shape, np.nan)
    kinds: list[list[str]] = [[] for _ in number_of]
    for place, one in enumerate(read):
        table = one.table
        if not {"effect", "effect_low", "effect_high", "effect_kind"} <= set(table.columns):
            continue
        of_study = zip(
            *(table[name].tolist() for name in ("variable", "effect", "effect_low", "effect_high", "effect_kind")),
            strict=True,
        )
        for name, effect, low, high, kind in of_study:
            if isinstance(kind, str) and kind:
                row = number_of[name]
                effects[row, place], errors[row, place] = effect_and_error(effect, low, high, kind)
                kinds[row].append(kind)
    is_whole = (np.isfinite(errors) == known).all(axis=1) & (known.sum(axis=1) >= 2)
    is_whole &= np.array([len(set(of_row)) == 1 for of_row in kinds], dtype=bool)
    effects[~is_whole], errors[~is_whole] = np.nan, np.nan
    return effects, errors, [effect_scale(kinds[row][0]) if is_whole[row] else "" for row in range(len(kinds))]


def _status_of_variable(studies: list[str], known: list[bool]) -> str:
    if sum(known) < 2:
        return "in one study only" if any(known) else "not tested"
    without = [name for name, is_known in zip(studies, known, strict=True) if not is_known]
    return f"combined without {', '.join(without)}" if without else "combined"


#: Of normal intervals of 95 %.
REACH = 1.959963984540054


def effect_scale(kind: str) -> str:
    """Return the scale on which effects of a kind are averaged: areas by logits, ratios by logarithms, and so on.

    Examples
    --------
    >>> effect_scale("AUC"), effect_scale("hazard ratio per SD"), effect_scale("difference in means")
    ('logit AUC', 'log hazard ratio per SD', 'difference in means')
    """
    if kind.startswith("AUC"):
        return f"logit {kind}"
    if "ratio" in kind:
        return f"log {kind}"
    return f"Fisher's z of {kind}" if "rho" in kind or "correlation" in kind else kind


def on_scale(values: FloatArray, kind: str) -> FloatArray:
    """Return effects of a kind on its scale; NaN where they are at the end of theirs."""
    scale = effect_scale(kind)
    with np.errstate(divide="ignore", invalid="ignore"):
        if scale.startswith("logit"):
            on_it: Any = np.log(values) - np.log1p(-values)
        elif scale.startswith("log "):
            on_it = np.log(values)
        else:
            on_it = np.arctanh(values) if scale.startswith("Fisher") else np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(on_it), on_it, np.nan)


def effect_and_error(effect: float, low: float, high: float, kind: str) -> tuple[float, float]:
    """Return an effect on its scale with its standard error; NaN where it is not known.

    Examples
    --------
    >>> effect, error = effect_and_error(2.0, 1.0, 4.0, "odds ratio")
    >>> round(effect, 3), round(error, 3)
    (0.693, 0.354)
    """
    value, begin, end = on_scale(np.array([effect, low, high], dtype=np.float64), kind).tolist()
    error = (end - begin) / (2 * REACH)
    return (value, error) if error > 0 and np.isfinite(value) else (np.nan, np.nan)


def combined_interactions(
    read: Sequence[Interactions], studies: list[str], settings: dict[str, Any], records: list[Any]
) -> Combined:
    """Combine tuples, matched by the names of their members."""
    _check_alike(read, studies)
    names = list(dict.fromkeys(name for one in read for name in one.names))
    number_of = {name: number for number, name in enumerate(names)}
    rows_of = [_rows(one, number_of) for one in read]
    tuples = np.array(sorted(set().union(*rows_of)), dtype=np.int64).reshape(-1, read[0].dimensions)
    row = np.array([[found.get(tuple(t), -1) for found in rows_of] for t in tuples.tolist()], dtype=np.int64)
    row = row.reshape(len(tuples), len(read))
    listed = row >= 0
    log_p, df, effects, errors = (_of_studies(read, row, what) for what in (_log_p, _df, _effect, _error))
    tested = listed & _is_tested(read, row)
    log_p[~tested] = np.nan
    could = _could_know(read, names, tuples)
    is_combined = (listed == could).all(axis=1) & (tested.sum(axis=1) >= 2)
    alike = np.array([_levels_alike(read, of_row) for of_row in row.tolist()], dtype=bool).reshape(len(tuples))
    has_effects = (np.isfinite(errors) == tested).all(axis=1) & alike & is_combined
    of_effects = fixed_effect(np.where(has_effects[:, np.newaxis], effects, np.nan), errors)
    of_p = summed_chi2(np.where((is_combined & ~has_effects)[:, np.newaxis], log_p, np.nan), df)
    n_ways = np.array([max(1, *map(_n_ways, read, of_row)) for of_row in row.tolist()], dtype=np.int64)
    both = np.where(has_effects, np.minimum(of_effects.log_p + np.log(n_ways), 0.0), of_p.log_p)
    n_tests = _n_tests(read, len(tuples))
    p_adjusted = np.full(len(tuples), np.nan)
    p_adjusted[is_combined] = adjust_listed(np.exp(both[is_combined]), settings["p_adjust"], n_tests=n_tests)
    cut = [one.tested.is_of_cutting(one.settings["level"]) | one.is_explained for one in read]
    of_cutting = np.array([any(r >= 0 and cut[s][r] for s, r in enumerate(of_row)) for of_row in row.tolist()], bool)
    smallest = np.fmin.reduce(log_p, axis=1, initial=np.inf)
    order = np.lexsort((np.arange(len(tuples)), smallest, np.where(is_combined, both, np.inf)))
    status = [
        _status_of_tuple(studies, *of_row)
        for of_row in zip(listed.tolist(), tested.tolist(), could.tolist(), alike.tolist(), strict=True)
    ]
    method = np.where(has_effects, COMBINED_METHODS.index("effects"), COMBINED_METHODS.index("p-values"))
    chi2 = (of_effects.estimate / of_effects.error) ** 2
    return Combined(
        kind="interactions",
        names=names,
        studies=studies,
        n_tests=n_tests,
        effect_name=read[0].tested.words.effect,
        **_in_order(
            order,
            of_effects,
            tuples=tuples,
            log_p_studies=log_p,
            effects=effects,
            errors=errors,
            status=status,
            method=np.where(is_combined, method, -1),
            statistic=np.where(has_effects, chi2, of_p.statistic),
            df=np.where(has_effects, 1, of_p.df),
            log_p=both,
            p_adjusted=p_adjusted,
            of_cutting=of_cutting.reshape(-1),
            effect_scale=[""] * len(tuples),
        ),
        settings=settings,
        provenance={
            "studies": records,
            "selected_in": [
                name for name, one in zip(studies, read, strict=True) if one.first is None and len(one) < one.n_tests
            ],
        },
    )


def _check_alike(read: Sequence[Interactions], studies: Sequence[str]) -> None:
    """Refuse results whose tuples or outcomes cannot be compared."""
    first = read[0]
    for name, one in zip(studies[1:], read[1:], strict=True):
        if one.settings.get("shard") or first.settings.get("shard"):
            raise ValueError("results: a part of a search cannot be combined: merge its parts with merge_interactions")
        both = f"results: {studies[0]!r} and {name!r}"
        if one.dimensions != first.dimensions:
            raise ValueError(f"{both} have tuples of {first.dimensions} and {one.dimensions} members: leave one out")
        if one.tested.kind != first.tested.kind:
            raise ValueError(f"{both} have outcomes of different kinds, classes and numbers: leave one out")
        if _classes(one) != _classes(first):
            raise ValueError(
                f"{both} have different classes, {shown(_classes(first)[:6])} and {shown(_classes(one)[:6])}: rename "
                "the classes of the outcome"
            )
    if first.settings.get("shard"):
        raise ValueError("results: a part of a search cannot be combined: merge its parts with merge_interactions")


def _classes(one: Interactions) -> list[str]:
    """Return the classes; those of an outcome that was cut have names by their thresholds, which may differ."""
    if len(one.outcome.bounds):
        return [f"level {number}" for number in range(len(one.outcome.labels))]
    return [plain_label(label) for label in one.outcome.labels]


def _rows(one: Interactions, number_of: dict[str, int]) -> dict[tuple[int, ...], int]:
    """Return the row of each tuple, by the numbers of its members, ascending."""
    numbers = np.array([number_of[name] for name in one.names], dtype=np.int64)
    members = np.sort(numbers[one.tested.tuples], axis=1)
    return {tuple(found): row for row, found in enumerate(members.tolist())}


def _of_studies(read: Sequence[Interactions], row: IntArray, what: Any) -> Any:
    columns = []
    for place, one in enumerate(read):
        values = what(one)
        unknown: Any = 0 if values.dtype.kind == "i" else np.nan
        columns.append(np.where(row[:, place] >= 0, np.append(values, unknown)[row[:, place]], unknown))
    return np.stack(columns, axis=1)


def _log_p(one: Interactions) -> FloatArray:
    return one.tested.log_p


def _df(one: Interactions) -> IntArray:
    return one.tested.df


def _effect(one: Interactions) -> FloatArray:
    return np.where(np.isfinite(_error(one)), one.tested.estimate, np.nan)


def _error(one: Interactions) -> FloatArray:
    """Return standard errors, from the intervals; NaN without an interval, as with groups."""
    error = (one.tested.ci_high - one.tested.ci_low) / (2 * REACH)
    return np.where(np.isfinite(error) & (error > 0) & np.isfinite(one.tested.estimate), error, np.nan)


def _is_tested(read: Sequence[Interactions], row: IntArray) -> BoolArray:
    """Say where a study has a test: it had samples enough, and degrees of freedom. This does not depend on p-values."""
    columns = []
    for place, one in enumerate(read):
        tested = (one.tested.method != METHODS.index(SPARSE)) & (one.tested.df > 0)
        columns.append(np.append(tested, False)[row[:, place]])
    return np.stack(columns, axis=1)


def _could_know(read: Sequence[Interactions], names: list[str], tuples: IntArray) -> BoolArray:
    """Say which studies have all variables of each tuple."""
    columns = []
    for one in read:
        of_study = set(one.names)
        has = np.array([name in of_study for name in names])
        columns.append(has[tuples].all(axis=1))
    return np.stack(columns, axis=1)


def _levels_alike(read: Sequence[Interactions], row: list[int]) -> bool:
    """Say whether a tuple was tested in one way in all studies that list it, and its members' levels mean the same."""
    known = [(one, r) for one, r in zip(read, row, strict=True) if r >= 0]
    if len({0 if one.tested.way is None else int(one.tested.way[r]) for one, r in known}) > 1:
        return False
    levels = [{one.names[v]: _levels(one.cuts_of(v)) for v in one.tested.tuples[r].tolist()} for one, r in known]
    return all(of_study == levels[0] for of_study in levels)


def _n_ways(one: Interactions, row: int) -> int:
    """Return the ways among which a study chose that of a tuple; the average effect is of one of them."""
    if row < 0 or one.first is not None or one.tested.way is None or one.asked.coding != "auto":
        return 1
    cuts = [one.cuts_of(v) for v in one.tested.tuples[row].tolist()]
    if all(cut.n_levels(omit_missing=True) <= 2 and not cut.is_cut for cut in cuts):
        return 1
    if any(len(cut.labels) > 2 for cut in cuts):
        return 1
    return 3 if len(cuts) == 2 and any(cut.is_cut for cut in cuts) else 2


def _levels(cuts: VariableCuts) -> tuple[Any, ...]:
    """Return the meaning of levels; levels of cut numbers are low and high, whatever the thresholds."""
    if cuts.is_cut:
        return ("cut", cuts.thresholds.shape[1], cuts.missing_level)
    return (tuple(cuts.values.tolist()), tuple(map(plain_label, cuts.labels)), cuts.missing_level)


def _n_tests(read: Sequence[Interactions], n_tuples: int) -> int:
    """Return the tests to adjust for: tuples that a search has listed are the smallest of all that it looked at."""
    return max([n_tuples, *(one.n_tests for one in read if one.first is None)])


def _status_of_tuple(studies: list[str], listed: list[bool], tested: list[bool], could: list[bool], alike: bool) -> str:
    missing = [name for name, is_listed, is_could in zip(studies, listed, could, strict=True) if is_could != is_listed]
    if missing:
        return f"not listed in {', '.join(missing)}"
    if sum(listed) < 2:
        return "the only study with these variables"
    if sum(tested) < 2:
        return "too few samples in all studies but one" if any(tested) else "too few samples"
    without = [name for name, is_tested in zip(studies, tested, strict=True) if not is_tested]
    words = "combined" if alike else "combined, levels or ways differ"
    return f"{words} without {', '.join(without)}" if without else words
