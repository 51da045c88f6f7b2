"""The first answer: four columns, and no words of the method but those of the first glossary."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.show.report.words import first_sentences
from interplay.show.results import summary_words
from interplay.show.results.selection_summary import shown_variables

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"

#: Words that users of the method know, and others do not.
METHOD = (
    "arm", "arms", "contrast", "contrasts", "gain", "gains", "synergy", "synergies", "tagging", "RERI", "clump",
    "clumps", "lead", "leads", "tuple", "tuples", "residual", "residuals", "degrees of freedom", "discretization",
    "discretisation", "null",
    "Kolmogorov", "Holm", "maxT", "permutation", "permutations", "deviance", "saddlepoint", "bits", "verdict",
    "likelihood", "score test", "dimension", "dimensions", "1D", "2D", "3D", "pseudocount", "family-wise", "FDR",
    "martingale", "log odds", "decision", "run",
)  # fmt: skip


def tables():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(400, 12)), columns=[f"g{v}" for v in range(12)])
    X["town"] = rng.choice(list("abcd"), 400)
    pair = ((X["g1"] > 0) ^ (X["g2"] > 0)) + 0.5 * X["g3"] + 0.4 * (X["town"] == "b")
    ill = np.where(pair + 0.6 * rng.normal(size=400) > 0.6, "ill", "well")
    three = pd.cut(pair + rng.normal(size=400), 3, labels=["low", "mid", "high"]).astype(str)
    age = pd.DataFrame({"age": rng.normal(size=400)})
    time = rng.exponential(np.exp(-pair))
    return {
        "classes": (X, ill, {}),
        "three": (X, three, {}),
        "numbers": (X, pair + rng.normal(size=400), {}),
        "times": (X, (time, time < 2), {}),
        "covariates": (X, ill, {"covariates": age, "strata": X["town"] == "a"}),
        "groups": (X, ill, {"groups": np.repeat(np.arange(40), 10), "n_permutations": 30, "dimensions": 1}),
        "nothing": (X, rng.permutation(ill), {}),
        "rates": (X, ill, {"p_adjust": "BH", "dimensions": 1}),
        "raw": (X, ill, {"p_adjust": "none", "dimensions": 1}),
        "alone": (X, ill, {"dimensions": 2, "stability": 6}),
    }


@pytest.fixture(scope="module")
def found():
    settings = {"random_state": 0, "dimensions": (1, 2)}
    return {name: interplay.select(X, y, **settings | more) for name, (X, y, more) in tables().items()}


@pytest.mark.parametrize("name", list(tables()))
def test_summary_and_first_screen_use_words_of_the_first_glossary_alone(found, name):
    result = found[name]
    for text in (result.summary(), " ".join(first_sentences(result))):
        used = [word for word in METHOD if re.search(rf"\b{word}\b", text)]
        assert not used, text


def test_the_first_answer_has_four_columns(found):
    shown = shown_variables(found["classes"], 20)
    assert list(shown) == ["variable", "direction and size", "how sure", "works with"]
    of = shown.set_index("variable")
    assert of.loc["g1", "works with"] == "g2"
    assert of.loc["g1", "direction and size"].startswith("depends on g2, odds ratio of the interaction ")
    assert re.fullmatch(r"p \d\S*", of.loc["g1", "how sure"])
    assert re.fullmatch(r"p \S+, again in \d+% of halves", shown_variables(found["alone"], 1)["how sure"][0])
    assert re.match(r"(lower|higher) with \w+, AUC 0\.\d+ \(", of.loc["g3", "direction and size"])


def test_the_first_glossary_is_that_of_the_page():
    first = GLOSSARY.read_text(encoding="utf-8").split("## All the rest")[0]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", first, re.MULTILINE)[1:]
    assert dict(rows) == summary_words.FIRST_WORDS
    assert len(summary_words.FIRST_WORDS) <= 15


@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_keep_to_the_terminal(found, width):
    shown = shown_variables(found["classes"], 20)
    cells = {name: shown[name].tolist() for name in shown}
    lines, left_out = summary_words.as_lines(cells, [False] * 4, width)
    assert max(map(len, lines)) <= width
    assert not left_out
    assert summary_words.as_lines({"a": ["x" * 50], "b": ["1"], "c": ["y" * 50]}, [True, True, False], 60)[1] == ["c"]


def test_summaries_in_a_terminal(found, monkeypatch):
    monkeypatch.setattr(summary_words, "_terminal_width", lambda: 70)
    table = found["classes"].summary().split("\n\n")[1].splitlines()
    rows = table[
        : next(place for place, line in enumerate(table) if " of them are redundant" in line or "groups" in line)
    ]
    assert max(map(len, rows)) <= 70
