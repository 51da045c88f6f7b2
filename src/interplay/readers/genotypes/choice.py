"""Which samples and variants of a file are kept, by what is known of them without their genotypes."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, IntArray
from interplay.base.checks import check_choice, shown, warn
from interplay.readers.genotypes.chromosomes import NOT_TWICE, plain_name, regions_of
from interplay.readers.genotypes.variants import Variants

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
