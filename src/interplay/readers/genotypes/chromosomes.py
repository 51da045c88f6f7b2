"""Names of chromosomes, as different programs write them, and regions of chromosomes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from interplay.base.checks import shown

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
