"""A table of genotypes → pairs of related samples, families, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_int, check_real
from interplay.data.study.table import Table, as_table
from interplay.populations.components import blocks, pruned_variants, sample_index

if TYPE_CHECKING:
    import pandas as pd

#: Lowest kinship of each relation, halfway between two on a logarithmic scale (Manichaikul et al. 2010).
_RELATIONS = (
    (2**-1.5, "same person or twins"),
    (2**-2.5, "first degree"),
    (2**-3.5, "second degree"),
    (0.0, "more distant"),
)

#: The share of pairs by chance from which on a list says little of relatives, and how many standard errors to ask for.
_MOST_BY_CHANCE, _TIMES_ERROR = 0.1, 5.0

#: A kinship that tells only sibs and nearer relatives.
_CLOSE = 0.2

#: Samples that tell the standard error of a kinship, at most.
_OF_ERROR = 500

Codes = npt.NDArray[np.int8]

#: Samples that are compared with so many others at a time.
_ROWS, _COLUMNS = 1024, 4096

#: A family with a larger share of the samples than this is no family: groups of it say little.
_MAX_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Relatives:
    """Related samples.

    Attributes
    ----------
    pairs : DataFrame
        Columns sample_1, sample_2, kinship and relation; the closest pairs first.
    families : (n_samples,) int64
        The family of each sample: samples that are related, or related to a common relative. Those without relatives
        have a family of their own. The argument `groups` takes it.
    min_kinship : float
    n_variants : int
        Number of variants that the estimate is from.
    error : float
        Standard error of a kinship, by the two halves of these variants.
    """

    pairs: pd.DataFrame
    families: IntArray
    min_kinship: float
    n_variants: int
    error: float

    def __len__(self) -> int:
        return len(self.pairs)

    def summary(self) -> str:
        """Return what was found and what to do, in words."""
        sizes = np.bincount(self.families)
        about = f"by {self.n_variants} variants that are hardly correlated"
        if not len(self.pairs):
            return f"No two of {len(self.families)} samples have a kinship above {self.min_kinship:g}, {about}."
        counts = self.pairs["relation"].value_counts(sort=False)
        of_each = ", ".join(f"{counts[name]} {name}" for _, name in _RELATIONS if name in counts)
        n_pairs, n_families, largest = len(self.pairs), int((sizes > 1).sum()), int(sizes.max())
        n = len(self.families)
        by_chance = n * (n - 1) / 2 * float(ndtr(-self.min_kinship / max(self.error, 1e-9)))
        if by_chance > max(1.0, _MOST_BY_CHANCE * n_pairs):
            enough = _TIMES_ERROR * self.error
            return (
                f"{n_pairs} pairs of {n} samples have a kinship above {self.min_kinship:g}, {about}. About "
                f"{min(by_chance, n_pairs):.0f} are expected by chance, as a kinship of unrelated samples varies by "
                f"{self.error:.2g}: take more variants, of all chromosomes"
                + (f", or min_kinship={enough:.2g}." if enough < _CLOSE else ".")
            )
        lines = [
            f"{n_pairs} pair{'s' * (n_pairs > 1)} of {len(self.families)} samples {'have' if n_pairs > 1 else 'has'} a "
            f"kinship above {self.min_kinship:g} ({of_each}), {about}.",
            f"They make {n_families} famil{'ies' if n_families > 1 else 'y'}; the largest has {largest} samples.",
            "Relatives are not independent samples. Give what all variants predict as offset: "
            "offset=genetics.polygenic_offsets(X, y) (--loco auto);",
        ]
        if largest <= _MAX_SHARE * len(self.families):
            lines.append("or keep families together: groups=genetics.relatives(X).families (--groups family);")
        lines.append("or leave out all but one sample of each family.")
        return "\n".join(lines)

    __str__ = summary

    def __repr__(self) -> str:
        return f"<Relatives: {len(self.pairs)} pairs>"


def relatives(table: Any, *, min_kinship: float = 0.05, max_r2: float = 0.2, max_variants: int = 10_000) -> Relatives:
    """Find pairs of samples that are related, by their genotypes.

    The kinship of a pair is ½ − Σ(xᵢ − xⱼ)² / (4 h), h the number of heterozygous genotypes of the one that has fewer
    (Manichaikul et al. 2010). It does not depend on allele frequencies, and pairs of different populations are below 0.
    Parents and children, and full sibs, have 0.25; half sibs 0.125; cousins 0.0625.

    Parameters
    ----------
    table : table-like
        Samples by variants, numbers 0, 1 and 2, as the readers of `genetics` return it.
    min_kinship : float
        Pairs above this are listed.
    max_r2, max_variants
        As in `principal_components`. Of 10,000 variants, the kinship of unrelated samples varies by 0.008.

    Returns
    -------
    Relatives
        ``.pairs``, ``.families`` and ``.summary()``, which says what to do.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> gametes = rng.binomial(1, 0.4, size=(60, 2, 2000))  # two of each of 60 people
    >>> child = gametes[0, rng.integers(0, 2, 2000), np.arange(2000)] + gametes[1, 0]
    >>> found = relatives(np.vstack([gametes.sum(axis=1), child]), min_kinship=0.1)
    >>> found.pairs[["sample_1", "sample_2", "relation"]].values.tolist()
    [[0, 60, 'first degree'], [1, 60, 'first degree']]
    >>> print(found.summary())  # doctest: +ELLIPSIS
    2 pairs of 61 samples have a kinship above 0.1 (2 first degree), by ... variants that are hardly correlated.
    They make 1 family; the largest has 3 samples.
    ...
    """
    import pandas as pd

    known = as_table(table)
    min_kinship = check_real("min_kinship", min_kinship, low=0, high=0.5)
    max_r2 = check_real("max_r2", max_r2, low=0, high=1, low_open=True)
    numbers = pruned_variants(known, most=check_int("max_variants", max_variants, low=2), max_r2=max_r2)
    codes = genotype_codes(known, numbers)
    if codes is None:
        raise ValueError("kinship is that of genotypes, 0, 1 or 2, and X has other numbers: leave these columns out")
    first, second, kinship = related_pairs(codes, min_kinship)
    order = np.lexsort((second, first, -kinship))
    first, second, kinship = first[order], second[order], kinship[order]
    index = sample_index(table)
    names = np.arange(known.n_samples) if index is None else index.to_numpy()
    limits, relations = zip(*reversed(_RELATIONS), strict=True)
    relation = np.array(relations, dtype=object)[np.searchsorted(limits, kinship, side="right") - 1]
    pairs = pd.DataFrame(
        {"sample_1": names[first], "sample_2": names[second], "kinship": kinship, "relation": relation}
    )
    families = _families(known.n_samples, first, second)
    return Relatives(pairs, families, min_kinship, len(numbers), _standard_error(codes))


def genotype_codes(table: Table, numbers: IntArray) -> Codes | None:
    """Return genotypes, (n, n_samples), −1 where missing; None where there are other numbers than 0, 1 and 2."""
    codes = np.empty((len(numbers), table.n_samples), dtype=np.int8)
    place = 0
    for _, values in blocks(table, numbers):
        is_known = ~np.isnan(values)
        whole = np.where(is_known, values, 0)
        if not np.isin(whole, (0, 1, 2)).all():
            return None
        codes[place : place + len(values)] = np.where(is_known, whole, -1)
        place += len(values)
    return codes


def related_pairs(codes: Codes, min_kinship: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the samples of pairs above a kinship, the first one before the second, and the kinship."""
    n = codes.shape[1]
    has_missing = bool((codes < 0).any())
    found: list[tuple[IntArray, IntArray, FloatArray]] = []
    for begin in range(0, n, _ROWS):
        for other in range(begin, n, _COLUMNS):
            kinship = _kinship(
                codes, slice(begin, begin + _ROWS), slice(other, other + _COLUMNS), has_missing=has_missing
            )
            i, j = np.nonzero(kinship > min_kinship)
            is_pair = j + other > i + begin  # each pair once
            i, j = i[is_pair], j[is_pair]
            found.append((i + begin, j + other, kinship[i, j]))
    first, second, kinship = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, kinship.astype(np.float64)


def _standard_error(codes: Codes) -> float:
    """Return the standard error of a kinship: half the deviation between estimates by the two halves of the variants.

    Structure is in both halves. Variants are in the order of the table, so that correlated neighbours are in one half.
    """
    some = codes[:, :: -(-codes.shape[1] // _OF_ERROR)]
    whole = slice(0, some.shape[1])
    has_missing = bool((some < 0).any())
    middle = len(some) // 2
    halves = [_kinship(part, whole, whole, has_missing=has_missing) for part in (some[:middle], some[middle:])]
    above = np.triu_indices(some.shape[1], 1)
    return float(np.std((halves[0] - halves[1])[above]) / 2) if len(above[0]) else 0.0


def _kinship(codes: Codes, rows: slice, columns: slice, *, has_missing: bool) -> FloatArray:
    """Return the kinship of some samples and others, from genotypes (n_variants, n_samples), −1 where missing.

    All sums are whole numbers below 2²⁴, which single precision has exactly.
    """

    def parts(where: slice) -> tuple[Any, Any, Any]:
        some = codes[:, where]
        is_known = some >= 0
        copies = np.where(is_known, some, 0).astype(np.float32)
        return copies, is_known.astype(np.float32), (some == 1).astype(np.float32)

    (x, known_x, het_x), (z, known_z, het_z) = parts(rows), parts(columns)
    if has_missing:
        squares = (x**2).T @ known_z + known_x.T @ z**2
        hets = np.minimum(het_x.T @ known_z, known_x.T @ het_z)
    else:
        squares = (x**2).sum(axis=0)[:, np.newaxis] + (z**2).sum(axis=0)
        hets = np.minimum(het_x.sum(axis=0)[:, np.newaxis], het_z.sum(axis=0))
    squares -= 2 * (x.T @ z)
    return np.asarray(0.5 - squares / (4 * np.maximum(hets, 1)))


def _families(n_samples: int, first: IntArray, second: IntArray) -> IntArray:
    """Return the number of each sample's family, the connected parts of the pairs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = coo_array((np.ones(len(first)), (first, second)), shape=(n_samples, n_samples))
    return np.asarray(connected_components(pairs, directed=False)[1], dtype=np.int64)
