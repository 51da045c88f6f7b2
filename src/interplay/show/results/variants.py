"""What is known of variants beside a search, as a GWAS gives it: places, alleles, frequencies, effects per allele."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.files.types import Check

if TYPE_CHECKING:
    import pandas as pd

#: The median of χ² with one degree of freedom.
_MEDIAN_CHI2 = 0.454936423

#: Chromosomes of GWAS-SSF are numbers.
_NUMBERS = {"X": "23", "Y": "24", "XY": "23", "MT": "25", "M": "25"}


@dataclass(frozen=True, eq=False)
class Variants:
    """Facts about variants of a file of genotypes, in the samples that were searched."""

    #: (n,): their numbers among the variables, ascending.
    variable: Annotated[IntArray, Check("n_variants", low=0, below="n_vars")]
    #: `chromosome`, `a1`, `a2`: the allele whose copies are counted (A1), and the other.
    chromosome: Annotated[list[str], Check("n_variants")]
    #: (n,): base pair; 0 where it is not known.
    position: Annotated[FloatArray, Check("n_variants")]
    a1: Annotated[list[str], Check("n_variants")]
    a2: Annotated[list[str], Check("n_variants")]
    #: (n,): of A1; NaN where nobody has a genotype.
    frequency: Annotated[FloatArray, Check("n_variants", low=0, high=1, nan=True)]
    #: (n,): share of people without a genotype.
    missing: Annotated[FloatArray, Check("n_variants", low=0, high=1)]
    #: (n,): ln p of the exact test of Hardy–Weinberg equilibrium.
    hwe_log_p: Annotated[FloatArray, Check("n_variants", high=0)]
    #: (n,): people with a genotype.
    n_samples: Annotated[IntArray, Check("n_variants", low=0)]
    #: `beta`, `error`, (n,): change of the outcome per copy of A1, beside covariates and strata, and its standard
    #: error: a difference of means, or the log odds ratio of the second of two classes. NaN for other outcomes.
    beta: Annotated[FloatArray, Check("n_variants", nan=True)]
    error: Annotated[FloatArray, Check("n_variants", low=0, nan=True)]
    #: (n,): ln p of Wald's test of `beta`.
    log_p: Annotated[FloatArray, Check("n_variants", high=0, nan=True)]
    #: (n,): share of the variance of a number, beside the covariates, that the variant explains.
    explained: Annotated[FloatArray, Check("n_variants", nan=True)]
    #: (n,): logarithm to base 10 of the likelihood ratio.
    lod: Annotated[FloatArray, Check("n_variants", nan=True)]
    #: Whether `beta` is a log odds ratio.
    are_odds: bool = False

    def rows_of(self, variables: IntArray) -> IntArray:
        """Return the row of each of these variables."""
        return np.searchsorted(self.variable, variables)

    def columns(self, variables: IntArray, *, suffix: str = "", beside: bool = True) -> dict[str, Any]:
        """Return columns of a table whose rows are variables; with `beside`, also of the test per allele."""
        rows = self.rows_of(variables).tolist()
        has_effect = bool(np.isfinite(self.beta).any())
        found: dict[str, Any] = {
            "chromosome": [self.chromosome[row] for row in rows],
            "position": self.position[rows].astype(np.int64),
            "a1": [self.a1[row] for row in rows],
            "a2": [self.a2[row] for row in rows],
            "a1_freq": self.frequency[rows],
            "missing": self.missing[rows],
            "hwe_p": np.exp(self.hwe_log_p[rows]),
            "n": self.n_samples[rows],
        }
        if has_effect:
            found |= {"beta": self.beta[rows], "se": self.error[rows]}
            found |= {"or": np.exp(self.beta[rows])} if self.are_odds else {}
        if has_effect and beside:
            found |= {"p_allele": np.exp(self.log_p[rows]), "lod": self.lod[rows]}
            found |= {} if self.are_odds else {"explained_percent": 100 * self.explained[rows]}
        return {f"{name}{suffix}": values for name, values in found.items()}

    @property
    def inflation(self) -> float:
        """λ of genomic control: the median χ² of the tests per allele over that of χ²; NaN without these tests."""
        known = self.log_p[np.isfinite(self.log_p)]
        if not len(known):
            return math.nan
        from scipy.special import chdtri

        return float(chdtri(1, np.exp(np.median(known))) / _MEDIAN_CHI2)

    def sumstats(self, names: Sequence[str], p_search: FloatArray) -> pd.DataFrame:
        """Return all variants as summary statistics of the GWAS catalog (GWAS-SSF 1.0), by place.

        The p-value is that of `beta`; the last column has the p-value of the search.
        """
        import pandas as pd

        table = pd.DataFrame(
            {
                **self._places(np.arange(len(self.variable))),
                "beta": self.beta,
                "standard_error": self.error,
                "effect_allele_frequency": self.frequency,
                "p_value": np.exp(self.log_p),
                "variant_id": [names[v] for v in self.variable.tolist()],
                "n": self.n_samples,
                "p_value_search": p_search[self.variable],
            }
        )
        order = np.lexsort((self.position, np.array([_place_of(name) for name in table["chromosome"]])))
        return table.iloc[order].reset_index(drop=True)

    def sumstats_of_tuples(self, tuples: IntArray, names: Sequence[str], columns: dict[str, Any]) -> pd.DataFrame:
        """Return tuples with the places, alleles and frequencies of all members, and further `columns`."""
        import pandas as pd

        found: dict[str, Any] = {}
        for place, members in enumerate(tuples.T, start=1):
            rows = self.rows_of(members)
            about = {
                **self._places(rows),
                "effect_allele_frequency": self.frequency[rows],
                "variant_id": [names[v] for v in members.tolist()],
            }
            found |= {f"{name}_{place}": values for name, values in about.items()}
        return pd.DataFrame(found | columns)

    def _places(self, rows: IntArray) -> dict[str, Any]:
        listed = rows.tolist()
        chromosomes = [self.chromosome[row].removeprefix("chr") for row in listed]
        return {
            "chromosome": [_NUMBERS.get(name.upper(), name) for name in chromosomes],
            "base_pair_location": self.position[rows].astype(np.int64),
            "effect_allele": [self.a1[row] for row in listed],
            "other_allele": [self.a2[row] for row in listed],
        }


def known_variants(variants: Variants | None) -> Variants:
    """Return the facts about variants, or refuse a result that has none."""
    if variants is None:
        raise ValueError(
            "the table has no variants, which summary statistics, manhattan and qq are of: give one that "
            "interplay.genetics reads from a file of genotypes"
        )
    return variants


def joined_variants(parts: Sequence[Variants | None]) -> Variants | None:
    """Return the facts of all parts of one search, each variant once; None where a part has none."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    _, first = np.unique(np.concatenate([part.variable for part in known]), return_index=True)

    def chosen(name: str) -> Any:
        values = [getattr(part, name) for part in known]
        if isinstance(values[0], list):
            listed = [value for each in values for value in each]
            return [listed[row] for row in first.tolist()]
        return np.concatenate(values)[first]

    names = [each.name for each in fields(Variants) if each.name != "are_odds"]
    return Variants(**{name: chosen(name) for name in names}, are_odds=known[0].are_odds)


def sumstats_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as GWAS-SSF has it: columns by tabs, and #NA where a value is missing."""
    written = table.assign(
        **{str(name): [_number(value) for value in table[name]] for name in table if table[name].dtype.kind == "f"}
    )
    return written.to_csv(index=False, sep="\t", na_rep="#NA", lineterminator="\n").encode()


def _number(value: float) -> str:
    """Return a number with six digits; p-values below the smallest double are 0."""
    return "#NA" if not math.isfinite(value) else f"{value:.6g}"


def _place_of(chromosome: str) -> float:
    return float(chromosome) if chromosome.isdecimal() else math.inf
