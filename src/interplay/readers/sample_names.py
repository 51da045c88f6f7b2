"""Names of samples in one file → their places in another: FID_IID of PLINK is matched with IID, or with FID and IID."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import shown

#: Columns of PLINK's text files with the names of families.
FAMILY_COLUMNS = ("#FID", "FID")


class SampleNames(NamedTuple):
    """Names of the samples of a file, and of their families if it has any."""

    ids: Any
    families: Any = None

    @property
    def own(self) -> list[str]:
        """Return the names as they stand; PLINK also writes both names with a space between them."""
        return ["_".join(str(name).split()) for name in self.ids]

    @property
    def full(self) -> list[str] | None:
        """Return FID_IID; None where families are not known."""
        if self.families is None:
            return None
        return [f"{family}_{name}" for family, name in zip(self.families, self.own, strict=True)]


def matched_places(wanted: SampleNames, known: SampleNames, path: str | os.PathLike[str]) -> IntArray:
    """Return the place of each of `wanted` among `known`, -1 where it has none.

    Names are compared as they stand, as FID_IID, and as FID_IID with IID; the way that matches most samples counts, the
    first of equals. `path` is the file of `known`, for the refusal of a name that is not unique.

    Examples
    --------
    >>> matched_places(SampleNames(["f1_a", "f2_a", "b"]), SampleNames(["a", "a"], ["f1", "f2"]), "s.fam").tolist()
    [0, 1, -1]
    >>> matched_places(SampleNames(["b", "a"]), SampleNames(["f_1_a", "f_1_b"]), "s.vcf").tolist()
    [1, 0]
    """
    unclear: ValueError | None = None
    best = np.full(len(wanted.ids), -1, dtype=np.int64)
    for found in _ways(wanted, known):
        places = [each[0] if len(each) == 1 else -1 for each in found]
        taken = [place for place in places if place >= 0]
        several = [number for number, each in enumerate(found) if len(each) > 1]
        if several or len(set(taken)) < len(taken):
            if unclear is None:
                unclear = _not_unique(wanted, known, places, several, path)
        elif len(taken) > int((best >= 0).sum()):
            best = np.array(places, dtype=np.int64)
    if unclear is not None and (best < 0).all():
        raise unclear
    return best


def _ways(wanted: SampleNames, known: SampleNames) -> Iterator[list[list[int]]]:
    """Yield the places of each of `wanted` in one way to compare after the other, as long as none matched all."""
    for mine, theirs in (
        (wanted.own, known.own),
        (wanted.full, known.full),
        (wanted.own, known.full),
        (wanted.full, known.own),
    ):
        if mine is None or theirs is None:
            continue
        places = _places_by_name(theirs)
        found = [places.get(name, []) for name in mine]
        yield found
        if all(len(each) == 1 for each in found):
            return
    after = places_after_family(known.own)
    yield [after.get(name, []) for name in wanted.own]
    places = _places_by_name(known.own)
    yield [next((places[part] for part in own_parts(name) if part in places), []) for name in wanted.own]


def _places_by_name(names: Sequence[str]) -> Mapping[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        places[name].append(place)
    return places


def places_after_family(names: Sequence[str]) -> Mapping[str, list[int]]:
    """Return the places of people named FID_IID by all that may be their IID."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        for part in own_parts(name):
            places[part].append(place)
    return places


def own_parts(name: str) -> list[str]:
    """Return all that may be the IID of FID_IID, the longest first: both may have underscores.

    Examples
    --------
    >>> own_parts("f_1_a")
    ['1_a', 'a']
    """
    return [name[start + 1 :] for start in range(len(name)) if name[start] == "_"]


def _not_unique(
    wanted: SampleNames, known: SampleNames, places: list[int], several: list[int], path: str | os.PathLike[str]
) -> ValueError:
    if several:
        name = wanted.own[several[0]]
    else:
        taken = [place for place in places if place >= 0]
        name = known.own[next(place for place in taken if taken.count(place) > 1)]
    return ValueError(
        f"{os.fspath(path)!r}: {shown(name)} is the name of more than one person: name people by family and person, "
        "FID_IID, in both files"
    )
