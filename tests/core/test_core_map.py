"""core/README.md is a map: it names every file of core/, under the heading of its folder."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "core"
FOLDERS = sorted(
    {
        path.parent.relative_to(CORE).as_posix()
        for top in ("cpu", "cuda", "include", "bindings", "tests")
        for path in (CORE / top).rglob("*.*")
        if path.is_file()
    }
)


def names_of_map():
    """The files that the map names, by folder: tables whose first cell is a folder in code quotes."""
    found: dict[str, list[str]] = {}
    folder = ""
    for line in (CORE / "README.md").read_text(encoding="utf-8").split("## Map", 1)[1].splitlines():
        if heading := re.match(r"\| `([\w/]+)/` \|", line):
            folder = heading[1]
            found[folder] = []
        elif line.startswith("| `"):
            for entry in re.findall(r"`([^`]+)`", line.split(" | ", 1)[0]):
                first, *others = entry.split(", ")
                found[folder] += [first, *(Path(first).stem + suffix for suffix in others)]
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_is_on_the_map_once(folder):
    files = [path.name for path in (CORE / folder).iterdir() if path.is_file()]
    assert sorted(names_of_map()[folder]) == sorted(files)


def test_the_map_has_no_other_folder():
    assert sorted(names_of_map()) == FOLDERS


ORDER = {
    "cpu": ["memory", "kernels", "columns", "information", "rows", "search"],
    "cuda": ["planes", "tuples", "information", "search", "products"],
}


@pytest.mark.parametrize("top", ORDER)
def test_folders_include_only_folders_before_them(top):
    order = ORDER[top]
    for path in (CORE / top).rglob("*.*"):
        for folder in re.findall(r'#include "(\w+)/', path.read_text(encoding="utf-8")):
            if folder != "interplay":
                assert order.index(folder) <= order.index(path.parent.name), f"{path} includes {folder}/"
                assert (path.parent.name, folder) != ("products", "search")
