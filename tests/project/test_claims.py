"""The page on claims and the code agree: nobody above the floor of tests has tests of their own."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "interplay"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "claims.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and "---" not in line
]
CLAIMS = sorted({name for row in ROWS if len(row) == 4 for cell in row[1:] for name in re.findall(r"`([\w.]+)`", cell)})
USERS = [(row[1].strip("`"), name) for row in ROWS if len(row) == 3 for name in re.findall(r"`(\w+)`", row[2])]

#: Functions that choose or bound, or turn a statistic into p; they claim nothing by themselves.
BESIDE = {
    "chi2_log_p",  # ranks relabelings and discretisations
    "combined_log_p",
    "log_p_below",  # a bar of the screen
    "log_p_of_all",
    "log_p_of_arm",
    "least_log_p",
    "rough_log_p",
    "product_log_p",  # a screen before the full model
    "smallest_log_p",
    "smooth_log_p",
}


@pytest.mark.parametrize("name", CLAIMS)
def test_what_the_page_names_exists(name):
    module, _, thing = name.rpartition(".")
    if module == "FullModel":
        from interplay.data.study.full_model import FullModel

        assert hasattr(FullModel, thing)
    else:
        assert hasattr(importlib.import_module(f"interplay.infer.{module}"), thing)


@pytest.mark.parametrize(("module", "name"), USERS)
def test_users_call_the_tests_of_their_row(module, name):
    path = SOURCE / f"{module.replace('.', '/')}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }
    if name == "pillai_log_p":  # inside the function before it
        assert "pillai_log_p" in (SOURCE / "infer" / "short_list.py").read_text(encoding="utf-8")
    else:
        assert name in called


def _imported(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {each.name for node in nodes if (node.module or "").startswith("interplay.infer") for each in node.names}


def test_no_other_test_is_used_above():
    known = {name.rpartition(".")[2] for name in CLAIMS} | {name for _, name in USERS} | BESIDE
    for folder in ("ask", "show", "sites"):
        for path in (SOURCE / folder).rglob("*.py"):
            tests = {name for name in _imported(path) if name.endswith("_log_p") or name in known}
            assert tests <= known, f"{path.relative_to(SOURCE)}: {tests - known} is not on the page"
