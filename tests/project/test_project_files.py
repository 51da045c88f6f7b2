"""What is said of the package in files that others read: the same versions, bounds and figures everywhere."""

import calendar
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import interplay

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULE = ROOT / "nextflow" / "modules" / "interplay" / "run"


def text_of(*parts):
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("recipe/recipe.yaml", r'^  version: "(\S+)"$'),
        ("nextflow/modules/interplay/run/environment.yml", r"interplay=(\S+)$"),
    ],
)
def test_the_version_is_that_of_pyproject(file, pattern):
    assert re.findall(pattern, text_of(file), flags=re.MULTILINE) == [PROJECT["version"]]


def test_the_changelog_begins_with_this_version():
    """Above it stands only what is not released yet; the date of the release is that of the citation."""
    headings = re.findall(r"^## (.+)$", text_of("CHANGELOG.md"), flags=re.MULTILINE)
    (date,) = re.findall(r"^date-released: (\S+)$", text_of("CITATION.cff"), flags=re.MULTILINE)
    assert headings[:2] == ["Unreleased", f"{PROJECT['version']} ({date})"]
    (details, *_) = re.findall(r"^## (.+)$", text_of("docs", "changes_in_detail.md"), flags=re.MULTILINE)
    assert details == PROJECT["version"]


def test_a_user_reads_what_is_new_in_two_minutes():
    """Two minutes are about 550 words in short sentences. What needs more belongs into docs/changes_in_detail.md."""
    newest = re.split(r"^## ", text_of("CHANGELOG.md"), flags=re.MULTILINE)[2]
    assert len(re.findall(r"\w[\w.'-]*", newest)) <= 550


def test_the_conda_recipe_has_the_bounds_of_pyproject():
    recipe = text_of("recipe", "recipe.yaml")
    for text in PROJECT["dependencies"]:
        wanted = Requirement(text)
        assert f"    - {wanted.name} {wanted.specifier}\n" in recipe
    run = recipe[recipe.index("  run:\n") : recipe.index("  run_constraints:")]
    assert run.count("    - ") == len(PROJECT["dependencies"]) + 1  # and Python
    extras = PROJECT["optional-dependencies"]
    bounds = {Requirement(text).name: Requirement(text).specifier for texts in extras.values() for text in texts}
    constraints = recipe[recipe.index("  run_constraints:") : recipe.index("tests:")]
    for name, bound in re.findall(r"    - (\S+) (\S+)", constraints):
        assert str(bounds[name.removesuffix("-base")]) == bound


def test_the_figures_of_the_paper_are_those_that_were_measured():
    file = ROOT / "benchmarks" / "results" / "compare_mdfs.json"
    if not file.exists():
        pytest.skip("a source distribution, which has no results")
    measured = json.loads(file.read_text())["rows"]
    rows = re.findall(r"^\| (\d)D, (\d+) variables(, three levels)? \| \S+ \| (\S+) s \| (\S+) s \| (\d+) \|$",
                      text_of("paper", "paper.md"), flags=re.MULTILINE)  # fmt: skip
    assert len(rows) == 5
    for dimensions, n_vars, is_three_levels, theirs, ours, ratio in rows:
        (row,) = (
            row
            for row in measured
            if (row["dimensions"], row["n_vars"], row["levels"], row["simd_level"])
            == (int(dimensions), int(n_vars), 3 if is_three_levels else 2, "avx2")
        )
        assert float(theirs) == pytest.approx(row["mdfs_seconds"], rel=0.02)
        assert float(ours) == pytest.approx(row["interplay_seconds"], abs=5.1e-4)
        assert int(ratio) == round(row["ratio"])


def test_the_coverage_that_the_readme_quotes_was_measured():
    """`make coverage` writes the file; whoever commits a new one brings the sentence up to date."""
    found = json.loads(text_of("docs", "coverage.json"))
    package, core = found["package_without_cuda"], found["core_by_its_own_tests"]
    year, month, day = map(int, found["date"].split("-"))
    date = f"{day} {calendar.month_name[month]} {year}"
    assert (
        f"reach {package['lines']:.0f} % of the lines and {package['branches']:.0f} % of the branches of the package "
        f"(without the files that need a GPU); those in C++ alone reach {core['lines']:.0f} % of the lines of its "
        f"compiled part (`make coverage`, {date})"
    ) in " ".join(text_of("README.md").split())


def measured(name):
    return json.loads(text_of("benchmarks", "results", f"{name}.json"))


def test_the_other_figures_of_the_paper_are_those_of_the_studies():
    if not (ROOT / "benchmarks" / "results").exists():
        pytest.skip("a source distribution, which has no results")
    paper = " ".join(text_of("paper", "paper.md").split())
    study = text_of("docs", "calibration.md")
    size = re.search(r"(\d+) cells and ([\d,]+) searches", study)
    assert f"a study of {size[1]} kinds of data and {size[2]} searches" in paper
    share = re.search(r"tables of noise \(([\d.]+)%\).*above 5 % by more than chance: 0", study)
    assert f"select something in {float(share[1]):.0f} % of the tables of noise" in paper
    rows = [row.strip("| ").split(" | ") for row in text_of("docs", "power_table.md").splitlines()]
    found = {row[0]: dict(zip(rows[0], row, strict=False)) for row in rows if len(row) > 4}
    ours, theirs = (
        [int(found[name][kind].strip("*").split("*")[0].split()[0]) for kind in ("XOR 2", "XOR 3", "additive")]
        for name in ("interplay, BH", "Welch's t-test, BH")
    )
    assert f"{ours[0]} % of the pairs and {ours[1]} % of the triples" in paper
    assert f"and {ours[2]} % of weak additive effects" in paper
    assert theirs[:2] == [0, 0]
    assert f"{theirs[2]} % of the additive effects" in paper
    wide = measured("wide_2d")
    assert (wide["n_vars"], wide["n_samples"], wide["machine"]["cores"]) == (100_000, 500, 2)
    assert f"500 samples take {wide['seconds']:.1f} s on two cores" in paper
    (quadruples,) = (row for row in measured("cuda_h200")["results"] if row["what"] == "4D Madelon")
    assert f"${quadruples['n_tuples'] / 1e9:.1f}\\cdot 10^9$ quadruples" in paper
    assert f"take {quadruples['seconds']:.2f} s" in paper


def test_the_paper_has_the_form_of_joss():
    _, metadata, text = text_of("paper", "paper.md").split("---\n", 2)
    fields = re.findall(r"^(\w+):", metadata, flags=re.MULTILINE)
    assert fields == ["title", "tags", "authors", "affiliations", "date", "bibliography"]
    assert re.findall(r"^# (.+)$", text, flags=re.MULTILINE) == [
        "Summary", "Statement of need", "State of the field", "Software design", "Research impact statement",
        "AI usage disclosure", "Acknowledgements", "References",
    ]  # fmt: skip
    assert 750 <= len(text.split()) <= 1750


def test_the_paper_cites_what_it_lists():
    cited = set(re.findall(r"@([a-z]+\d{4})", text_of("paper", "paper.md")))
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", text_of("paper", "paper.bib"), flags=re.MULTILINE))


@pytest.mark.skipif(sys.platform == "win32", reason="a script for a POSIX shell")
@pytest.mark.parametrize("part", ["script", "stub"])
def test_the_commands_of_the_nextflow_module(tmp_path, part):
    """As Nextflow runs them: with its variables filled in, in a folder that has the table."""
    module = (MODULE / "main.nf").read_text(encoding="utf-8")
    command = re.search(rf'{part}:.*?"""\n(.*?)"""', module, flags=re.DOTALL)[1]
    (version,) = re.findall(r'eval\("(.*?)"\)', module)
    command += f"\n{version} > version.txt\n"
    values = {"args": "--seed 1", "target": "outcome", "task.cpus": "1", "prefix": "xor", "table": "table.csv"}
    for name, value in values.items():
        command = command.replace(f"${{{name}}}", value)
    command = re.sub(r"^    ", "", command.replace("\\\\", "\\").replace("\\$", "$"), flags=re.MULTILINE)
    assert "${" not in command
    (tmp_path / "table.csv").write_bytes((MODULE / "tests" / "table.csv").read_bytes())
    (tmp_path / "interplay").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m interplay "$@"\n')
    (tmp_path / "interplay").chmod(0o755)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "version.txt").read_text() == f"{interplay.__version__}\n"
    outputs = re.findall(r'path\("\$\{prefix\}(\.\w+)"\)', module)
    assert outputs == [".csv", ".html", ".interplay"]
    assert all((tmp_path / f"xor{ending}").exists() for ending in outputs)
    if part == "script":
        relevant = [line.split(",")[0] for line in (tmp_path / "xor.csv").read_text().splitlines() if ",True," in line]
        assert relevant == ["x3", "x7"]
