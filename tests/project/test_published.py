"""The published benchmarks: scores by hand, and pages that say how they were made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import interaction_features
from interplay.datasets import make_epistasis
from published import gametes, madelon

FOLDER = Path(madelon.__file__).parent


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda path: path.stem)
def test_pages_name_their_command_and_their_losses_or_misses(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert f"Made by `python benchmarks/published_pages.py {page.stem}" in text
    assert "**Losses.**" in text or "missed" in text


def test_relief_ranks_a_pair_that_acts_together() -> None:
    X, y, truth = make_epistasis(400, 10, heritability=0.3, cases=0.5, minor_allele_frequency=0.4, random_state=1)
    weights = gametes.relief(X, y.astype(int), n_neighbours=20)
    assert set(np.argsort(-weights)[:2].tolist()) == set(truth.tuples[0].tolist())


def test_nested_cross_validation_learns_the_pair_and_nothing_from_permuted_outcomes() -> None:
    names = ["linear", "linear + features"]
    for permuted in (False, True):
        _, _, found = interaction_features.one_table(("XOR pair", permuted, 0, 25, 300, names))
        if permuted:
            assert abs(found["linear + features"] - 0.5) < 0.12
        else:
            assert found["linear + features"] > found["linear"] + 0.2
