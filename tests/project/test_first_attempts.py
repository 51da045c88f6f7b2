"""First attempts at real tables, and what a newcomer finds from the home page of the documentation in two clicks."""

import json
import re
from pathlib import Path

import pytest
from benchmarks.first_attempts import __main__ as attempts
from benchmarks.first_attempts.tables import TABLES
from benchmarks.machine import RESULTS
from benchmarks.real_tables.tables import TABLES as OTHERS

DOCS = Path(__file__).parents[2] / "docs"

PAGES = ("i_have_customers", "i_have_patients", "i_have_expression", "i_have_genotypes", "i_have_a_survey")

#: Ten questions, the clicks from the home page, and words of the page where the answer is.
QUESTIONS = {
    "I have customers in a csv: what do I type?": (("i_have_customers",), "interplay run churn.csv --target churn"),
    "How are two arms of a trial compared?": (("i_have_patients",), "--reference"),
    "My samples are cells of donors": (("i_have_expression",), "--groups donor"),
    "Which pairs of variants interact?": (("i_have_genotypes",), "interplay interactions"),
    "What of the weights of my survey?": (("i_have_a_survey",), "Weights are not used"),
    "Why not SHAP?": (("beside_others",), "permutation importance"),
    "What does AUC mean here?": (("glossary",), "| AUC |"),
    "How often is something found in noise?": (("believe", "calibration"), "tables of noise"),
    "How do I install it without a compiler?": (("start", "install"), "make wheel"),
    "How do I use it in a pipeline of scikit-learn?": (("start", "quickstart"), "make_pipeline"),
}


def results():
    return json.loads((RESULTS / "first_attempts.json").read_text())["tables"]


def test_the_page_has_the_results(tmp_path, monkeypatch):
    monkeypatch.setattr(attempts, "PAGE", tmp_path / "page.md")
    attempts.write_page(results())
    page = (DOCS / "first_attempts.md").read_text(encoding="utf-8")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == page


def test_each_first_attempt_is_an_answer_or_the_one_right_message():
    assert len(results()) == len(TABLES) >= 20
    assert [each["name"] for each in results() if each["wrong"]] == []
    for each in results():
        assert each["code"] == 0 or each["said"][-1].endswith(f"To go on, add: {each['added']}")
    elsewhere = {table.name for table in OTHERS}
    assert not [each["name"] for each in results() if each["name"] in elsewhere]


def links(page):
    """Return the pages that a page links: cards, roles, tables of contents."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"\{doc\}`(?:[^`<]*<)?([\w/]+)>?`", text) + re.findall(r"^:link: (\S+)", text, re.MULTILINE)
    for block in re.findall(r"```\{toctree\}(.*?)```", text, re.DOTALL):
        found += re.findall(r"^(?:.*<)?([\w/]+)>?$", block, re.MULTILINE)
    return set(found)


@pytest.mark.parametrize("question", list(QUESTIONS))
def test_questions_are_answered_in_two_clicks_from_home(question):
    clicks, words = QUESTIONS[question]
    assert len(clicks) <= 2
    page = "index"
    for click in clicks:
        assert click in links(page), f"{page} does not link {click}"
        page = click
    assert words in (DOCS / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_pages_on_what_people_have_are_one_click_away_and_of_one_shape(page):
    assert page in links("index")
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads == ["The file as it is", "The command", "The answer", "What to check", "What to write"]
