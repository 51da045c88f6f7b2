"""The published benchmarks: scores by hand, and pages that say how they were made."""

from pathlib import Path

import numpy as np
import pytest

import interaction_features
from published import gametes, madelon, nips2003

FOLDER = Path(madelon.__file__).parent


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda path: path.stem)
def test_pages_name_their_command_and_their_losses_or_misses(page):
    text = page.read_text(encoding="utf-8")
    assert f"Made by `python benchmarks/published_pages.py {page.stem}" in text
    assert "**Losses.**" in text or "missed" in text


def test_every_benchmark_that_was_run_is_shown_in_the_documentation():
    shown = (FOLDER.parent.parent / "docs" / "published.md").read_text(encoding="utf-8")
    for page in FOLDER.glob("*.md"):
        assert f"benchmarks/published/{page.name}" in shown


def test_a_table_of_gametes_without_peers(monkeypatch):
    monkeypatch.setattr(gametes, "SETTINGS", [gametes.Setting(2, 0.3, 400, snps=8, frequency=0.4)])
    number, row = gametes.one_table((0, 1, False))
    assert number == 0
    assert row == {"tuple": 1.0, "false tuples": 0.0, "select": 1.0, "select false": 0.0}


def test_losses_are_told():
    rows = [
        {"loci": 2, "samples": 200, "tuple": 1.0, "false tuples": 0.5, "select": 0.5, "ReliefF": 1.0, "MultiSURF": 0.5},
        {"loci": 5, "samples": 1600, "tuple": 0.0, "false tuples": 0.0, "select": 0.0},
    ]
    text = gametes.losses(rows)
    assert (
        "Of 1 settings with peers: ReliefF, told how many loci there are, names more of them than `select` in 1" in text
    )
    assert "in no table of 5 loci and 1600 samples." in text
    assert "with 2 loci and 200 samples: 0.50 per table" in text


@pytest.mark.parametrize(("form", "line"), [("dense", "0 1 3"), ("pairs", "2:1 3:3"), ("numbers", "2 3")])
def test_lines_of_the_nips_2003_sets(tmp_path, form, line):
    (tmp_path / "one.data").write_text(f"{line}\n{line} \n")
    found = nips2003.read_values(tmp_path / "one.data", 3, form)
    found = found if form == "dense" else found.toarray()
    assert found.tolist() == [[0, 1, 1 if form == "numbers" else 3]] * 2


def test_absent_files_are_named(tmp_path):
    with pytest.raises(SystemExit, match=r"UCI(.|\n)*arcene_train\.data arcene_train\.labels arcene_valid\.data"):
        nips2003.run(["--folder", str(tmp_path), "--sets", "arcene"])


def test_nested_cross_validation_learns_the_pair_and_nothing_from_permuted_outcomes():
    names = ["linear", "linear + features"]
    found = interaction_features.one_fold(("XOR pair", False, 25, 300, 0, 0, names))
    assert found["tuples"] == [("x3", "x11")]
    assert found["linear + features"] > found["linear"] + 0.2
    folds = [interaction_features.one_fold(("XOR pair", True, 25, 300, 0, fold, names)) for fold in (0, 1)]
    assert all(len(fold["tuples"]) == 3 and "linear" not in fold for fold in folds)
    assert abs(np.mean([fold["linear + features"] for fold in folds]) - 0.5) < 0.12
    lines = interaction_features.page(folds, names)
    assert lines[-1].startswith("| 25 | XOR pair, permuted |  | 0.")
