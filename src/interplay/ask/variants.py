"""Genotypes and an outcome → what a GWAS gives of each variant, for the tables of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.data.models.per_unit import PerUnit
from interplay.data.study.study import Study
from interplay.data.study.table import Table
from interplay.readers.genotypes.filters import equilibrium_p
from interplay.show.results.variants import Variants

#: Genotypes that are looked at in one go.
_AT_ONCE = 2**21


def make_variants(study: Study, variables: IntArray | None = None) -> Variants | None:
    """Return facts about all variants of a study, or about some, ascending; None where its table has no alleles."""
    table = study.table
    alleles, positions = table.alleles, table.positions
    if alleles is None or positions is None:
        return None
    chosen = np.arange(table.n_vars) if variables is None else variables
    size = max(1, _AT_ONCE // max(table.n_samples * (1 + study.design.columns().shape[1]), 1))
    tallies, effects = [np.empty((0, 4), dtype=np.int64)], []
    for begin in range(0, len(chosen), size):
        some = chosen[begin : begin + size]
        tallies.append(_tallies(table, some))
        effects.append(study.outcome.per_unit(table.columns(some).astype(np.float64), study.design))
    counts = np.concatenate(tallies)
    called = counts[:, :3].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        frequency = (counts[:, 1] + 2 * counts[:, 2]) / (2 * called)
    alike, place = np.unique(counts[:, :3], axis=0, return_inverse=True)
    # The smallest double above 0 stands for what underflows.
    hwe_log_p = np.log(np.maximum(equilibrium_p(alike), 5e-324))[place.reshape(-1)]
    known = [one for one in effects if one is not None]
    listed = chosen.tolist()
    return Variants(
        variable=chosen,
        chromosome=[str(positions[v][0]) for v in listed],
        position=np.array([positions[v][1] for v in listed], dtype=np.float64),
        a1=[alleles[v][0] for v in listed],
        a2=[alleles[v][1] for v in listed],
        frequency=frequency,
        missing=counts[:, 3] / max(table.n_samples, 1),
        hwe_log_p=hwe_log_p,
        n_samples=called,
        **_effects(known, len(chosen)),
        are_odds=any(one.is_log_odds for one in known),
    )


def _tallies(table: Table, variables: IntArray) -> IntArray:
    """Return how many people have 0, 1, 2 copies or no genotype, (n, 4)."""
    whole = table.whole_numbers(variables)
    codes = table.columns(variables) if whole is None else whole
    counts = np.stack([np.count_nonzero(codes == level, axis=1) for level in range(3)], axis=1)
    return np.column_stack([counts, codes.shape[1] - counts.sum(axis=1)])


def _effects(found: list[PerUnit], n: int) -> dict[str, Any]:
    names = {"beta": "estimate", "error": "error", "log_p": "log_p", "explained": "explained", "lod": "lod"}
    if not found:
        return {name: np.full(n, np.nan) for name in names}
    return {name: np.concatenate([getattr(one, field) for one in found]) for name, field in names.items()}
