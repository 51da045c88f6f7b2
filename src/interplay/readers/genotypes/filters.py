"""People and variants that lists, missing genotypes, Hardy–Weinberg equilibrium and frequencies leave out, counted.

The order is PLINK's: people by lists, variants by lists, people with many missing genotypes, then variants by missing
genotypes, by equilibrium and by frequency.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_file, check_real, shown
from interplay.readers.genotypes.genotype_file import GenotypeFile
from interplay.readers.genotypes.people import People
from interplay.readers.sample_names import FAMILY_COLUMNS, SampleNames, matched_places

#: Genotypes that are looked at in one go.
_AT_ONCE = 2**22


class Limit(NamedTuple):
    """A limit for variants: the largest value there is, and whether counts of genotypes are within it."""

    highest: float
    is_good: Callable[[IntArray, float], BoolArray]


def minor_frequency(counts: IntArray) -> FloatArray:
    """Return the frequency of the rarer allele by counts of 0, 1, 2 and missing; 0 where nothing is known.

    Examples
    --------
    >>> minor_frequency(np.array([[10, 10, 5, 75], [0, 1, 9, 0], [0, 0, 0, 4]]))
    array([0.4 , 0.05, 0.  ])
    """
    called = counts[:, :3].sum(axis=1)
    frequency: FloatArray = (counts[:, 1] + 2 * counts[:, 2]) / np.maximum(2 * called, 1)
    minor: FloatArray = np.minimum(frequency, np.where(called > 0, 1 - frequency, 0))
    return minor


def equilibrium_p(counts: IntArray) -> FloatArray:
    """Return p-values of the exact test of Hardy–Weinberg equilibrium, by counts of 0, 1, 2 (and missing) genotypes.

    The p-value is the probability of all numbers of heterozygotes that are no more likely than the one that is there,
    given the alleles (Wigginton and others, 2005).

    Examples
    --------
    >>> equilibrium_p(np.array([[25, 50, 25], [40, 30, 30]])).round(4)
    array([1.e+00, 1.e-04])
    """
    most = 2 * int(counts[:, :3].sum(axis=1).max(initial=0))
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    found = np.ones(len(counts))
    for row, (none, one, two) in enumerate(counts[:, :3].tolist()):
        n, rare = none + one + two, 2 * min(none, two) + one
        if rare == 0:
            continue
        heterozygous = np.arange(rare % 2, rare + 1, 2)
        of_rare = (rare - heterozygous) // 2
        log_p = heterozygous * np.log(2) - (
            log_factorial[heterozygous] + log_factorial[of_rare] + log_factorial[n - heterozygous - of_rare]
        )
        p = np.exp(log_p - log_p.max())
        found[row] = p[p <= p[one // 2] * (1 + 1e-9)].sum() / p.sum()
    return np.minimum(found, 1.0)


#: Limits for variants by their counts of genotypes, in PLINK's order; equality is enough.
LIMITS = {
    "max_missing": Limit(1, lambda counts, most: counts[:, 3] <= most * counts.sum(axis=1)),
    "min_hwe": Limit(1, lambda counts, least: equilibrium_p(counts) >= least),
    "min_maf": Limit(0.5, lambda counts, least: minor_frequency(counts) >= least),
}

#: Lists of people and of variants: the name of the argument, and whether those listed are kept.
_LISTS = {"keep": True, "remove": False}
_VARIANT_LISTS = {"extract": True, "exclude": False}

FILTERS = (*_LISTS, *_VARIANT_LISTS, "max_missing_person", "min_hwe")


def check_limits(given: Mapping[str, Any]) -> dict[str, float]:
    """Return the limits that are given, checked."""
    highest = {name: limit.highest for name, limit in LIMITS.items()} | {"min_info": 1, "max_missing_person": 1}
    return {
        name: check_real(name, given[name], low=0, high=high)
        for name, high in highest.items()
        if given.get(name) is not None
    }


class Filtering:
    """People and variants of a file that are still kept, and how many each filter left out.

    Attributes
    ----------
    rows, kept : (n_kept,) int64
        Numbers of the people and of the variants.
    counts : dict
        How many people and variants each filter left out, by the filter in words.
    """

    def __init__(self, file: GenotypeFile, rows: IntArray, kept: IntArray) -> None:
        self._file = file
        self.rows, self.kept = rows, kept
        self.counts: dict[str, int] = {}

    def by_lists(self, given: Mapping[str, Any]) -> None:
        """Keep people and variants by lists in files, or lists of IDs."""
        people: People = self._file.people
        for name, keeps in _LISTS.items():
            if given.get(name) is not None:
                listed = _people_listed(name, given[name])
                path = given[name] if isinstance(given[name], str | os.PathLike) else name
                places = matched_places(SampleNames(people.ids, people.columns.get("family")), listed, path)
                self._choose("people", name, ((places >= 0) == keeps)[self.rows])
        for name, keeps in _VARIANT_LISTS.items():
            if given.get(name) is not None:
                ids = set(_words(name, given[name]))
                is_listed = np.array([str(each) in ids for each in self._file.variants.ids[self.kept].tolist()])
                self._choose("variants", name, is_listed == keeps)

    def by_limits(self, limits: Mapping[str, float]) -> None:
        """Keep people and variants within limits. All genotypes are read once for people, and once for variants."""
        if (most := limits.get("max_missing_person")) is not None:
            missing = np.zeros(len(self.rows), dtype=np.int64)
            for numbers in self._blocks():
                missing += (self._file.codes(numbers, self._of_rows()) > 2).sum(axis=0)
            self._choose("people", f"max_missing_person={most:g}", missing <= most * len(self.kept))
        looked_at, of_variants = len(self.kept), {name: limits[name] for name in LIMITS if name in limits}
        if of_variants:
            rows = self._of_rows()
            counts = np.concatenate([self._file.tallies(numbers, rows) for numbers in self._blocks()])
            for name, value in of_variants.items():
                is_good = LIMITS[name].is_good(counts, value)
                counts = counts[is_good]
                self._choose("variants", f"{name}={value:g}", is_good, least=0)
        if "min_info" in limits and len(self.kept):
            info = np.concatenate([self._file.info(numbers, self._of_rows()) for numbers in self._blocks()])
            is_good = np.asarray(info >= limits["min_info"])
            self._choose("variants", f"min_info={limits['min_info']:g}", is_good, least=0)
        if not len(self.kept):
            named = ", ".join(f"{name}={value:g}" for name, value in sorted(limits.items(), key=_as_typed))
            raise ValueError(
                f"{os.fspath(self._file.path)!r} has no variant within {named}: {looked_at} were looked at"
            )

    def _choose(self, what: str, filter_in_words: str, is_good: BoolArray, *, least: int = 1) -> None:
        left = int(is_good.sum())
        if left < least:
            raise ValueError(
                f"{filter_in_words} leaves nothing of {os.fspath(self._file.path)!r}: give other IDs, or leave it out"
            )
        self.counts[f"{what} by {filter_in_words}"] = len(is_good) - left
        if what == "people":
            self.rows = self.rows[is_good]
        else:
            self.kept = self.kept[is_good]

    def _of_rows(self) -> IntArray | None:
        return unless_all(self.rows, self._file)

    def _blocks(self) -> list[IntArray]:
        at_once = max(1, _AT_ONCE // max(len(self.rows), 1))
        return [self.kept[start : start + at_once] for start in range(0, len(self.kept), at_once)]


def unless_all(rows: IntArray, file: GenotypeFile) -> IntArray | None:
    """Return the chosen people; None for all of the file, in its order."""
    return None if np.array_equal(rows, np.arange(file.n_samples)) else rows


def _as_typed(limit: tuple[str, float]) -> int:
    order = ("min_maf", "max_missing", "min_info", "min_hwe", "max_missing_person")
    return order.index(limit[0])


def _words(name: str, given: Any) -> list[str]:
    """Return the words of a file, or the entries of a list."""
    if not isinstance(given, str | os.PathLike):
        return [str(entry) for entry in given]
    words = Path(check_file(name, given)).read_text(encoding="utf-8").split()
    if not words:
        raise ValueError(f"{os.fspath(given)!r} is empty: {name} needs at least one ID")
    return words


def _people_listed(name: str, given: Any) -> SampleNames:
    """Return the people that a file lists as FID and IID, or as IID, with a header or without one."""
    if not isinstance(given, str | os.PathLike):
        return SampleNames([str(entry) for entry in given])
    lines = [line.split() for line in Path(check_file(name, given)).read_text(encoding="utf-8").splitlines()]
    lines = [words for words in lines if words]
    if not lines:
        raise ValueError(f"{os.fspath(given)!r} is empty: {name} needs at least one person")
    first = lines[0]
    if first[0] in (*FAMILY_COLUMNS, "#IID", "IID"):
        has_family, lines = first[0] in FAMILY_COLUMNS, lines[1:]
    else:
        has_family = len(first) > 1
    short = next((words for words in lines if len(words) < 1 + has_family), None)
    if short is not None:
        raise ValueError(f"{os.fspath(given)!r} has a line without IID: {shown(' '.join(short))}")
    people = list(dict.fromkeys((words[0] if has_family else "", words[int(has_family)]) for words in lines))
    return SampleNames([name for _, name in people], [family for family, _ in people] if has_family else None)
