"""The study of real tables: its page is made of its results, it says what is wrong, and tables of dependencies run."""

import json

import pytest
from benchmarks.machine import RESULTS
from benchmarks.real_tables import page
from benchmarks.real_tables.sources import read
from benchmarks.real_tables.study import study, wrong
from benchmarks.real_tables.tables import TABLES, RealTable


def test_the_page_is_made_of_the_results(tmp_path, monkeypatch):
    written = page.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    page.write_page(json.loads((RESULTS / "real_tables.json").read_text())["tables"])
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == written
    assert len({(table.package, table.name) for table in TABLES}) == len(TABLES) >= 28


def test_what_is_wrong_is_told():
    table = RealTable("p", "n", "y", "known", must=["^a$"], never=["^b$"], says=["groups"])
    good = {"relevant": ["a", "ab"], "first_attempt": ["use groups='id'"], "false": []}
    assert wrong(table, good) == []
    bad = {"relevant": ["ab", "b"], "first_attempt": [], "false": []}
    assert wrong(table, bad) == ["^a$ is not found", "^b$ is found", "the first attempt does not say 'groups'"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_a_table_of_a_dependency(name):
    (table,) = [table for table in TABLES if (table.package, table.name) == ("sklearn", name)]
    found = study(table, read("sklearn", name), seed=0, jobs=1)
    assert found["wrong"] == []
    assert found["n_shuffled"] >= 10
