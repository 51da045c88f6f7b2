"""The report of interactions: its words, and what a browser paints of it, light and dark, on a screen and a phone."""

import os
import re
import shutil
from html import unescape

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.show.report.interaction_page import interactions_page
from interplay.show.report.interaction_words import summary_sentences

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
N = 600


def table(n_vars=20):
    return pd.DataFrame(np.random.default_rng(0).normal(size=(N, n_vars)), columns=[f"gene{v}" for v in range(n_vars)])


def xor(X, noise=0.2):
    flipped = np.random.default_rng(1).random(N) < noise
    return pd.Series(np.where((X.gene3 > 0) ^ (X.gene11 > 0) ^ flipped, "case", "control"), name="disease")


@pytest.fixture(scope="module")
def found():
    X = table()
    rng = np.random.default_rng(2)
    numbers = pd.Series(X.gene3 * X.gene11 + rng.normal(size=N), name="response")
    return {
        "classes": interplay.interactions(X, xor(X), top=12, random_state=0),
        "nothing": interplay.interactions(X, pd.Series(rng.permutation(xor(X)), name="disease"), random_state=0),
        "numbers": interplay.interactions(X, numbers, random_state=0),
    }


class TestWords:
    def test_the_strongest_tuple_and_its_cells(self, found):
        searched, strongest = summary_sentences(found["classes"])
        assert searched.startswith("All 190 pairs were tested for an interaction on disease")
        assert strongest.startswith("It is gene3 × gene11 (adjusted p\u00a0=\u00a0")
        high, low = (int(share) for share in re.findall(r"(\d+)%", strongest))
        counts = found["classes"].counts_of(0).counts
        shares = counts[..., 1] / counts.sum(axis=-1)
        assert (high, low) == (round(100 * shares.max()), round(100 * shares.min()))

    def test_numbers(self, found):
        words = summary_sentences(found["numbers"])[1]
        means = found["numbers"].counts_of(0).numbers[..., 5]
        assert f"The mean of response is {means.max():.3g} where gene3" in words
        assert f"and {means.min():.3g} where gene3" in words

    def test_the_smallest_p_values_where_nothing_is_significant(self, found):
        nothing = found["nothing"]
        assert len(nothing) == 0
        listed = interplay.interactions(table(), _permuted(), random_state=0, top=5)
        np.testing.assert_array_equal(nothing.smallest.p_value, listed.tested.p_value)
        np.testing.assert_array_equal(nothing.smallest.tuples, listed.tested.tuples)
        words = summary_sentences(nothing)[1]
        first = " × ".join(listed.members_of(0))
        assert words.startswith(f"No tuple is significant. The smallest p-values are those of {first} (p")
        assert f"the smallest is {listed.tested.p_value[0]:.2g}" in nothing.summary()
        page = interactions_page(nothing)
        assert "No tuple is significant. The smallest p-values are:" in page
        assert 'id="cells"' not in page

    def test_it_is_kept_in_files(self, found, tmp_path):
        found["nothing"].save(tmp_path / "run")
        again = interplay.load(tmp_path / "run")
        np.testing.assert_array_equal(again.smallest.p_value, found["nothing"].smallest.p_value)
        assert interactions_page(again) == interactions_page(found["nothing"])

    def test_lists_that_were_asked_for_are_as_before(self):
        X = table(6)
        y = _permuted()
        assert interplay.interactions(X, y, max_p=1e-9, random_state=0).smallest is None
        assert interplay.interactions(X, y, top=3, random_state=0).smallest is None

    def test_cells_of_several_classes_have_no_colours(self):
        X = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 3)), columns=list("abc"))
        page = interactions_page(interplay.interactions(X, np.arange(200) % 3, top=1))
        assert "Cells list the samples of each class" in page
        assert "Orange" not in page
        assert "p-values were adjusted for 3 tests by Holm&#x27;s method." in page

    def test_names_are_text(self):
        X = table(4).rename(columns={"gene1": "<script>alert(1)</script>"})
        found = interplay.interactions(X, _permuted(), random_state=0)
        page = interactions_page(found)
        assert "<script>alert" not in page
        assert "<script>alert(1)</script>" in unescape(page)


def _permuted():
    rng = np.random.default_rng(2)
    rng.normal(size=N)
    return pd.Series(rng.permutation(xor(table())), name="disease")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install --group browser")
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        chromium = driver.chromium.launch(executable_path=BROWSER, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, found, tmp_path):
    contexts, complaints = [], []

    def open_report(kind, width=1280, scheme="light"):
        found[kind].to_html(tmp_path / f"{kind}.html")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((tmp_path / f"{kind}.html").as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert complaints == []


def painted(page, selector, property_):
    """Return a computed colour."""
    return page.locator(selector).first.evaluate("(node, name) => getComputedStyle(node)[name]", property_)


def luminance(colour):
    parts = [float(part) for part in re.findall(r"[\d.]+", colour)][:3]
    scale = 1.0 if "srgb" in colour else 255.0
    linear = [p / scale / 12.92 if p / scale <= 0.04045 else ((p / scale + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("kind", ["classes", "nothing", "numbers"])
def test_it_fits_and_can_be_read(visit, kind, width, scheme):
    page = visit(kind, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert (luminance(painted(page, "body", "backgroundColor")) < 0.1) == (scheme == "dark")
    assert contrast(painted(page, ".words p", "color"), painted(page, "body", "backgroundColor")) > 7
    if kind != "nothing":
        shades = page.locator(".cells td[class^=shade]")
        colours = {shades.nth(i).evaluate("n => getComputedStyle(n).backgroundColor") for i in range(shades.count())}
        assert len(colours) >= 2  # high and low differ
        ink = painted(page, ".cells td[class^=shade]", "color")
        assert all(contrast(ink, colour) > 4.5 for colour in colours)


def test_the_theme_can_be_chosen(visit):
    page = visit("classes", scheme="light")
    before = painted(page, "body", "backgroundColor")
    page.click("#theme")
    assert painted(page, "body", "backgroundColor") != before
    assert page.inner_text("#theme") == "Light"


def test_search_and_significant_only(visit):
    page = visit("classes")
    visible = "#tuple-table tbody tr:visible"
    assert page.locator(visible).count() == 12
    page.fill("#search", "GENE11")
    shown = [row.split("\t")[0] for row in page.locator(visible).all_inner_texts()]
    assert shown
    assert all("gene11" in row for row in shown)
    assert page.inner_text("#row-status") == f"{len(shown)} of 12 tuples"
    page.fill("#search", "")
    page.check("#only-significant")
    assert [row.split("\t")[0] for row in page.locator(visible).all_inner_texts()] == ["gene3 × gene11"]
    page.fill("#search", "no such name")
    assert page.is_visible("#no-rows")


def test_the_table_is_downloaded_whole(visit, tmp_path):
    page = visit("classes")
    page.check("#only-significant")
    with page.expect_download() as download:
        page.click("#download-tuples")
    download.value.save_as(tmp_path / "tuples.csv")
    assert len(pd.read_csv(tmp_path / "tuples.csv")) == 12
