"""Every row of the page on messy files: nothing is silent, and what came of it is what the page says."""

import functools
import sys

import pytest

from hostile.messy_files import MESSY, came_of
from hostile.page import MESSY_PAGE

FILES = [pytest.param(messy, id=f"{title}: {messy.what}") for title, files in MESSY.items() for messy in files]

#: What of a message is another library's, and differs from version to version.
THEIRS = ("can be read: ",)


@functools.cache
def page():
    return MESSY_PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("messy", FILES)
def test_no_file_is_silent(messy):
    came = came_of(messy)
    assert not came.is_silent
    if came.is_same:
        assert came.found == ["dose", "weight"]
    row = came.row(messy.what)
    if sys.platform == "linux" and not any(words in row for words in THEIRS):
        assert row in page(), "the page is out of date: run `python -m hostile.page` in tests"


def test_the_page_has_all_of_them():
    rows = [line for line in page().splitlines() if line.startswith("| ")]
    assert len(rows) == len(FILES) + 2 * len(MESSY)
    assert len(FILES) >= 40
    assert f"written in {len(FILES)} ways" in page()
