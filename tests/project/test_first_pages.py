"""The pages that a newcomer reads first: their Python code runs, and shows what the words and tables beside it say."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import interplay

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run_page(tmp_path, monkeypatch):
    """Run all Python blocks of a page, one after the other, in an empty folder, and return their variables."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)

    def run(*parts):
        blocks = re.findall(r"^```python\n(.*?)^```$", text_of(*parts), flags=re.MULTILINE | re.DOTALL)
        assert blocks
        variables: dict[str, Any] = {"interplay": interplay}
        for block in blocks:
            exec(compile(block, "/".join(parts), "exec"), variables)
        return variables

    yield run
    plt.close("all")


def text_of(*parts):
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [("README.md",), ("docs", "index.md"), ("docs", "quickstart.md")])
def test_the_first_example_finds_both_variables(run_page, page):
    result = run_page(*page)["result"]
    assert result.relevant == ["x42", "x3"]
    assert (result.table["partners"][3], result.table["found"][3]) == (("x42",), "in pairs")


def test_the_columns_in_the_quickstart_have_the_values_of_its_example(run_page):
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| ", text_of("docs", "quickstart.md"), flags=re.MULTILINE)
    assert len(rows) == 9
    table = run_page("docs", "quickstart.md")["result"].table.set_index("variable")
    for column, *written in rows:
        for variable, text in zip(("x3", "x1"), written, strict=True):
            value = table[column][variable]
            if isinstance(value, float):
                assert value == pytest.approx(float(text), rel=0.02, abs=0.05 if column.startswith("gain") else 0)
            else:
                assert str(value) == text.strip("`")


def test_the_page_on_genotypes_runs(run_page, tmp_path):
    bed_reader = pytest.importorskip("bed_reader")
    rng = np.random.default_rng(1)
    genotypes = rng.binomial(2, 0.4, size=(600, 20))
    case = rng.random(600) < np.where((genotypes[:, 3] == 1) ^ (genotypes[:, 15] == 1), 0.8, 0.2)
    with_gaps = np.where(rng.random(genotypes.shape) < 0.02, np.nan, genotypes)
    phenotypes = np.where(case, "2", "1").astype("U2")
    phenotypes[:10] = "-9"
    properties = {"pheno": phenotypes, "chromosome": ["1"] * 10 + ["2"] * 10, "bp_position": np.arange(20) * 1000}
    bed_reader.to_bed(tmp_path / "study.bed", with_gaps, properties=properties)
    variables = run_page("docs", "genetics.md")
    assert variables["study"].n_samples == 590
    assert {"sid4", "sid16"} <= set(variables["result"].relevant)
    assert variables["pairs"].significant == [("sid4", "sid16")]


def test_the_example_of_numbers(run_page):
    shown = run_page("docs", "numbers.md")
    found = shown["result"].table.set_index("variable").loc[shown["result"].relevant, "found"]
    assert found.to_dict() == {"x0": "alone", "x3": "in pairs", "x42": "in pairs"}
    assert shown["found"].significant == [("x3", "x42")]
