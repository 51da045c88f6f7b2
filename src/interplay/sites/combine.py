"""combine(): results of several studies → one, by effects where studies have them, else by p-values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from interplay.base.checks import check_choice, check_list, check_real, shown
from interplay.infer.interaction.tuple_tests import LISTED_METHODS
from interplay.infer.p_values import ADJUST_METHODS
from interplay.show.results.combined import Combined
from interplay.show.results.interactions import Interactions
from interplay.show.results.saved import load
from interplay.show.results.selection import Selection
from interplay.sites.combined_tables import combined_interactions, combined_variables


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
