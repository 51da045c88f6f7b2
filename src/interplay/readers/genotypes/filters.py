"""Which people and variants of a file are kept: by lists, places and IDs, then by genotypes; the others are counted.

The order is PLINK's: people by lists, variants by lists, people with many missing genotypes, then variants by missing
genotypes, by equilibrium and by frequency.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_choice, check_file, check_real, shown, warn
from interplay.readers.genotypes.genotype_file import GenotypeFile, Variants
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


MULTIALLELIC_CHOICES = ("error", "drop")
SEX_CHROMOSOME_CHOICES = ("error", "drop", "keep")

#: Chromosomes that a message names.
_SHOWN = 6


def chosen_numbers(argument: str, chosen: Any, names: npt.NDArray[Any], words: str) -> IntArray:
    """Return the numbers of the samples or variants that a mask, IDs or numbers choose."""
    n = len(names)
    wanted = f"{words}, a mask, or a list of IDs or numbers"
    if isinstance(chosen, str):
        if chosen != "all":
            raise ValueError(f"{argument} must be {wanted}, not {shown(chosen)}")
        return np.arange(n)
    listed = np.asarray(chosen)
    if listed.ndim != 1:
        raise TypeError(f"{argument} must be {wanted}, not {shown(chosen)}")
    if listed.dtype == np.bool_:
        if len(listed) != n:
            raise ValueError(f"{argument}, as a mask, must have {n} entries, not {len(listed)}")
        numbers = np.flatnonzero(listed)
    elif listed.dtype.kind in "UO":
        number_of = {str(name): number for number, name in enumerate(names)}
        unknown = [str(name) for name in listed if str(name) not in number_of]
        if unknown:
            raise ValueError(f"{argument} names {shown(unknown[0])}, which is not in the file")
        numbers = np.array([number_of[str(name)] for name in listed], dtype=np.int64)
    elif listed.dtype.kind in "iu":
        if len(listed) and not (listed.min() >= 0 and listed.max() < n):
            raise ValueError(f"{argument} must be numbers from 0 to {n - 1}")
        numbers = listed.astype(np.int64)
    else:
        raise TypeError(f"{argument} must be {wanted}, not {shown(chosen)}")
    if not len(numbers):
        raise ValueError(f"{argument} leaves nothing: keep at least one")
    return numbers


def chosen_variants(
    variants: Variants, path: Any, *, chosen: Any, region: Any, multiallelic: str, sex_chromosomes: str
) -> IntArray:
    """Return the numbers of the variants that are kept; refuse variants whose genotypes would have to be guessed."""
    check_choice("multiallelic", multiallelic, MULTIALLELIC_CHOICES)
    check_choice("sex_chromosomes", sex_chromosomes, SEX_CHROMOSOME_CHOICES)
    kept = chosen_numbers("variants", chosen, variants.ids, "'all'")
    plain = _plain_names(variants.chromosome)
    if region is not None:
        kept = kept[_in_regions(region, plain, variants.position, path)[kept]]
        if not len(kept):
            raise ValueError(f"{os.fspath(path)!r} has no variant in region {shown(region)}: give another region")
    kept = _without(
        kept,
        variants.is_multiallelic[kept],
        multiallelic,
        path,
        "with more than two alleles",
        "use multiallelic='drop' to leave such sites out, or split them (bcftools norm -m-)",
        variants,
    )
    if sex_chromosomes == "keep":
        return kept
    is_odd = np.isin(plain[kept], NOT_TWICE)
    counts = ", ".join(f"{name}: {n}" for name, n in Counter(plain[kept][is_odd].tolist()).most_common())
    return _without(
        kept,
        is_odd,
        sex_chromosomes,
        path,
        f"on chromosomes that not everyone has twice ({counts})",
        "use sex_chromosomes='drop' to leave them out, or 'keep' to take the genotypes as they are written",
        variants,
    )


def _without(
    kept: IntArray, is_odd: BoolArray, choice: str, path: Any, oddity: str, advice: str, variants: Variants
) -> IntArray:
    """Refuse odd variants, or leave them out with a warning."""
    if not is_odd.any():
        return kept
    first = kept[int(is_odd.argmax())]
    name = variants.ids[first]
    if name in (".", ""):
        name = f"{variants.chromosome[first]}:{variants.position[first]}"
    n = int(is_odd.sum())
    counted = f"{n} variant{'' if n == 1 else 's'}"
    said = f"{os.fspath(path)!r} has {counted} {oddity}, the first {shown(str(name))}"
    if choice == "error":
        raise ValueError(f"{said}: {advice}")
    if is_odd.all():
        raise ValueError(f"{said}, and no others: nothing is left")
    warn(f"{said}; {'it is' if n == 1 else 'they are'} left out, and {len(kept) - n} variants are kept")
    return kept[~is_odd]


def _plain_names(chromosomes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    plain_of = {name: plain_name(str(name)) for name in set(chromosomes.tolist())}
    return np.array([plain_of[name] for name in chromosomes.tolist()], dtype=object)


def _in_regions(region: Any, plain: npt.NDArray[Any], position: IntArray, path: Any) -> BoolArray:
    known = dict.fromkeys(plain.tolist())
    inside = np.zeros(len(plain), dtype=np.bool_)
    for wanted in regions_of(region):
        if wanted.chromosome not in known:
            listed = ", ".join(list(known)[:_SHOWN]) + (", …" if len(known) > _SHOWN else "")
            raise ValueError(
                f"region names chromosome {shown(wanted.chromosome)}, which {os.fspath(path)!r} does not have: it has "
                f"{listed}"
            )
        inside |= (plain == wanted.chromosome) & (position >= wanted.first) & (position <= wanted.last)
    return inside


#: PLINK's numbers of human chromosomes that have no number of their own; M is the mitochondrial genome of UCSC.
_OTHER_NAMES = {"23": "X", "24": "Y", "25": "XY", "26": "MT", "M": "MT"}

#: Chromosomes that not everyone has twice. The pseudo-autosomal regions (XY, PAR1, PAR2) everyone does.
NOT_TWICE = ("X", "Y", "MT")

_REGION = re.compile(r"(?P<chromosome>[^\s:]+)(?::(?P<first>[\d,]+)(?:-(?P<last>[\d,]+))?)?")

#: A position beyond every chromosome.
_NO_END = 2**62

_WANTED = 'a chromosome, such as "22", a part of one, such as "chr6:25000000-34000000", or a list of these'


class Region(NamedTuple):
    """The part of a chromosome from base pair `first` to `last`, both included."""

    chromosome: str
    first: int
    last: int


def plain_name(chromosome: str) -> str:
    """Return one name for all ways to write a chromosome.

    Examples
    --------
    >>> plain_name("chr7"), plain_name("23"), plain_name("chrM"), plain_name("HLA-A")
    ('7', 'X', 'MT', 'HLA-A')
    """
    name = chromosome[3:] if chromosome[:3].lower() == "chr" and len(chromosome) > 3 else chromosome
    name = name.upper() if len(name) <= 2 else name
    return _OTHER_NAMES.get(name, name)


def regions_of(region: Any) -> list[Region]:
    """Return the argument `region`, one text or several, as regions.

    Examples
    --------
    >>> regions_of("chr6:25,000,000-34,000,000")
    [Region(chromosome='6', first=25000000, last=34000000)]
    """
    entries = [region] if isinstance(region, str) or not isinstance(region, Iterable) else list(region)
    return [_region(entry) for entry in entries]


def _region(entry: Any) -> Region:
    if not isinstance(entry, str):
        raise TypeError(f"region must be {_WANTED}, not {shown(entry)}")
    found = _REGION.fullmatch(entry.strip())
    if found is None:
        raise ValueError(f"region must be {_WANTED}, not {shown(entry)}")
    if found["first"] is None:
        return Region(plain_name(found["chromosome"]), 0, _NO_END)
    first = _position(found["first"])
    last = first if found["last"] is None else _position(found["last"])
    if first > last:
        raise ValueError(f"region {shown(entry)} ends before it begins: write the smaller position first")
    return Region(plain_name(found["chromosome"]), first, last)


def _position(digits: str) -> int:
    return min(int(digits.replace(",", "")[:20] or 0), _NO_END)
