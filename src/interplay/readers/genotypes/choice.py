"""Which samples and variants of a file are kept, by what is known of them without their genotypes."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, IntArray
from interplay.base.checks import check_choice, shown, warn
from interplay.readers.genotypes.genotype_file import Variants

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
