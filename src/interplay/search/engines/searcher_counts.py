"""How many tiles and tuples each searcher took: a part of the record of a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from interplay.files.types import fits

#: {"pairs": {"tiles": 12, "tuples": 34000}, …}: the searchers of the processor by name (see
#: ``core/include/interplay/routing.hpp``), or "cuda".
SearcherCounts: TypeAlias = dict[str, dict[str, int]]


def are_counts(value: Any) -> bool:
    """Say whether a value that was read from a file is a `SearcherCounts`.

    Examples
    --------
    >>> are_counts({"pairs": {"tiles": 2, "tuples": 10}}), are_counts({"pairs": {"tiles": 2}}), are_counts(None)
    (True, False, False)
    """
    return fits(value, SearcherCounts) and all(counts.keys() == {"tiles", "tuples"} for counts in value.values())


def add_counts(total: SearcherCounts, more: Mapping[str, Mapping[str, int]]) -> None:
    """Add to `total`, in place.

    Examples
    --------
    >>> total = {"pairs": {"tiles": 2, "tuples": 10}}
    >>> add_counts(total, {"pairs": {"tiles": 1, "tuples": 5}, "direct": {"tiles": 1, "tuples": 3}})
    >>> total
    {'pairs': {'tiles': 3, 'tuples': 15}, 'direct': {'tiles': 1, 'tuples': 3}}
    """
    for searcher, counts in more.items():
        known = total.setdefault(searcher, {"tiles": 0, "tuples": 0})
        for what in known:
            known[what] += counts[what]


def summed_counts(parts: Iterable[Mapping[str, Mapping[str, int]]]) -> SearcherCounts:
    """Return the sum over some searches.

    Examples
    --------
    >>> summed_counts([{"pairs": {"tiles": 2, "tuples": 10}}, {"pairs": {"tiles": 1, "tuples": 5}}])
    {'pairs': {'tiles': 3, 'tuples': 15}}
    """
    total: SearcherCounts = {}
    for part in parts:
        add_counts(total, part)
    return total
