"""Every module stands on the map of its folder: the docstring of the package names its file."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "interplay"
PACKAGES = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_map_of_package_names_its_modules(package):
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    on_map = set(re.findall(r"\b(\w+)\.py\b", text))
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    assert modules <= on_map, f"not on the map: {sorted(modules - on_map)}"
    # A package may name modules of others, but no module that was renamed or is gone.
    known = {path.stem for path in PACKAGE.rglob("*.py")}
    assert on_map <= known, f"on the map and not there: {sorted(on_map - known)}"


def test_root_holds_doors_only():
    modules = [path.name for path in PACKAGE.glob("*.py")]
    assert len(modules) < 10


def test_every_folder_is_on_the_map_of_contributors():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for package in PACKAGES:
        if package.parent == PACKAGE:
            assert f"`{package.name}/`" in text, package.name


def test_numbers_of_a_report_are_where_the_table_says():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")[2:4] for line in text.partition("## The numbers of a report")[2].splitlines() if "|" in line
    ]
    for files, names in rows[2:]:
        paths = [PACKAGE / file for file in re.findall(r"`([\w/]+\.py)`", files)]
        nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        defined = {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        imported = {"fit_null", "Engine"}
        assert set(re.findall(r"\w+", " ".join(re.findall(r"`([\w.]+)`", names)))) <= defined | imported, files
