"""The report in a real browser, by mouse and by keyboard, on a screen and on a phone: nothing loaded, no error."""

import os
import shutil
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from test_report import HOSTILE

import interplay

playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install --group browser")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")

PHONE = {"width": 375, "height": 740}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        # The sandbox does not work for root, who runs tests in containers.
        flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        chromium = driver.chromium.launch(executable_path=BROWSER, args=flags)
        yield chromium
        chromium.close()


@dataclass
class Visit:
    """A page, and what went wrong on it."""

    page: playwright.Page
    complaints: list[str] = field(default_factory=list)

    def listen(self):
        self.page.on("console", lambda message: self.complaints.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", lambda request: self._check(request.url))

    def _check(self, url):
        # Downloads are made from memory, and pages come from the disk; all else would be the network.
        if not url.startswith(("file:", "blob:", "data:")):
            self.complaints.append(f"request: {url}")


@pytest.fixture
def visit(browser):
    """Open a report; at the end, nothing may have been complained about."""
    visits: list[Visit] = []

    def open_report(path, **options):
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 800}} | options))
        context.set_default_timeout(10_000)
        seen = Visit(context.new_page())
        seen.listen()
        visits.append(seen)
        seen.page.goto(path.as_uri())
        return seen.page

    yield open_report
    for seen in visits:
        seen.page.context.close()
    assert [complaint for seen in visits for complaint in seen.complaints] == []


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """gene7 and gene19 together decide, gene3 alone says something; gene8 is nearly gene7."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 120))
    X[:, 8] = X[:, 7] + 0.05 * rng.normal(size=600)
    y = np.where((X[:, 7] > 0) ^ (X[:, 19] > 0) ^ (rng.random(600) < 0.1), "case", "control")
    y = np.where((X[:, 3] > 0.5), "case", y)
    result = interplay.select(
        pd.DataFrame(X, columns=[f"gene{v}" for v in range(120)]), y, dimensions=2, random_state=0
    )
    assert set(result.relevant) == {"gene3", "gene7", "gene8", "gene19"}
    path = tmp_path_factory.mktemp("report") / "pairs.html"
    result.to_html(path)
    return result, path


def column(page, number):
    return page.locator(f"#table tbody tr td:nth-child({number})").all_inner_texts()


def no_sideways_scroll(page):
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_table_shows_the_relevant_first_and_sorts(visit, pairs):
    result, path = pairs
    page = visit(path)
    assert column(page, 1) == result.relevant
    heads = page.locator("#table thead th").all_inner_texts()
    assert [head.rstrip(" ↑") for head in heads] == ["Variable", "Direction and size", "How sure", "Works with"]
    page.locator("#all-columns").check()
    heading = page.locator("#table thead th", has_text="Gain")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    by_gain = result.table[result.table["relevant"]].sort_values("gain", ascending=False, kind="stable")
    assert column(page, 1) == by_gain["variable"].tolist()
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert column(page, 1) == by_gain["variable"].tolist()[::-1]
    page.locator("#only-relevant").uncheck()
    page.locator("#table thead th").nth(0).get_by_role("button").click()
    assert column(page, 1)[:12] == [f"gene{v}" for v in range(12)]  # as people count, not gene1, gene10, gene100


def test_search_and_pages(visit, pairs):
    _, path = pairs
    page = visit(path)
    page.locator("#only-relevant").uncheck()
    assert page.locator("#page-status").inner_text() == "1–25 of 120"
    page.locator("#next").click()
    assert page.locator("#page-status").inner_text() == "26–50 of 120"
    page.locator("#search").fill("GENE11")
    found = set(column(page, 1))
    assert {"gene11", *(f"gene{v}" for v in range(110, 120))} <= found
    page.locator("#search").fill("no such gene")
    assert "No name of a variable or partner contains this text" in page.locator("#table tbody").inner_text()
    page.locator("#only-relevant").check()
    page.locator("#search").fill("gene111")
    assert "Untick “relevant only”" in page.locator("#table tbody").inner_text()
    page.locator("#only-relevant").uncheck()
    page.locator("#search").fill("")
    page.locator("#page-size").select_option("100")
    assert len(column(page, 1)) == 100


def test_a_variable_opens_with_its_tuple_and_why(visit, pairs):
    result, path = pairs
    page = visit(path)
    page.get_by_role("button", name="gene19", exact=True).first.click()
    dialog = page.locator("#details")
    assert dialog.is_visible()
    assert page.locator("#details-title").inner_text() == "gene19"
    partner = result.table.set_index("variable").loc["gene19", "partners"][0]
    assert partner in page.locator("#own-tuple").inner_text()
    # The XOR: of four cells, those on one diagonal are rich in one class, those on the other poor.
    counts = result.counts_of("gene19").counts
    shares = counts[..., 1] / counts.sum(axis=-1)
    drawn = page.locator("#why svg .share").all_text_contents()
    assert sorted(drawn) == sorted(f"{100 * share:.0f} %" for share in shares.ravel())
    colours = page.locator("#why svg rect.cell").evaluate_all("cells => cells.map((c) => getComputedStyle(c).fill)")
    assert len(set(colours)) > 1
    # On to its partner, and back to the table.
    page.locator("#own-tuple").get_by_role("button", name=partner).click()
    assert page.locator("#details-title").inner_text() == partner
    page.keyboard.press("Escape")
    assert not dialog.is_visible()


def test_says_the_same(visit, pairs):
    _, path = pairs
    page = visit(path)
    page.get_by_role("button", name="gene7", exact=True).first.click()
    assert "Redundant with" in page.locator("#details").inner_text()
    page.locator("#details").get_by_role("button", name="gene8", exact=True).last.click()
    assert page.locator("#details-title").inner_text() == "gene8"


def test_pictures_answer_the_mouse(visit, pairs):
    result, path = pairs
    page = visit(path)
    for name in ("gains", "p-values", "network", "correlation", "qq", "histogram"):
        assert page.locator(f"#{name} svg").count() == 1
    page.locator("#gains").scroll_into_view_if_needed()
    # The dot of the largest gain.
    x, y = page.evaluate(
        """() => { const path = document.querySelector('#gains .dots.relevant');
                   const start = path.getPointAtLength(0).matrixTransform(path.getScreenCTM());
                   return [start.x, start.y]; }"""
    )
    page.mouse.move(x, y)
    best = result.table.sort_values("gain", ascending=False)["variable"].iloc[0]
    assert page.locator("#tooltip").inner_text().startswith(best)
    page.mouse.click(x, y)
    assert page.locator("#details-title").inner_text() == best
    page.locator("#details-close").click()
    page.locator("#network .node circle").first.hover()
    assert page.locator("#network svg.pointing .edge.near").count() >= 1
    page.locator("#network .node circle").first.click()
    assert page.locator("#details").is_visible()


def test_theme_follows_the_system_until_chosen(visit, pairs):
    _, path = pairs

    def background(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = visit(path, color_scheme="light"), visit(path, color_scheme="dark")
    assert background(light) != background(dark)
    before = background(light)
    light.get_by_role("button", name="Switch to the dark theme").click()
    assert background(light) == background(dark)
    light.get_by_role("button", name="Switch to the light theme").click()
    assert background(light) == before
    dark.emulate_media(color_scheme="light")
    dark.get_by_role("button", name="Switch to the dark theme").wait_for()
    assert background(dark) == before


def test_keyboard_alone(visit, pairs):
    result, path = pairs
    page = visit(path)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "search"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.type(result.relevant[0])
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#table thead') !== null"):
            break
    page.keyboard.press("Enter")
    assert page.locator("#table th[aria-sort=ascending], #table th[aria-sort=descending]").count() == 1
    assert page.evaluate("document.activeElement.closest('#table thead') !== null")  # the focus stays where it was
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#table tbody') !== null"):
            break
    chosen = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    assert page.locator("#details-title").inner_text() == chosen
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == chosen
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_network_is_one_stop_and_arrows_go_on(visit, pairs):
    _, path = pairs
    page = visit(path)
    nodes = page.locator("#network .node")
    assert page.locator("#network .node[tabindex='0']").count() == 1
    nodes.first.focus()
    page.keyboard.press("ArrowRight")
    assert nodes.nth(1).evaluate("node => node === document.activeElement")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert nodes.last.evaluate("node => node === document.activeElement")
    name = nodes.last.get_attribute("aria-label").splitlines()[0]
    page.keyboard.press("Enter")
    assert page.locator("#details-title").inner_text() == name


@pytest.mark.parametrize("width", [320, 375])
def test_phone(visit, pairs, width):
    _, path = pairs
    page = visit(path, viewport={"width": width, "height": 740}, has_touch=True, is_mobile=True)
    assert no_sideways_scroll(page)
    page.locator("#table tbody button").first.tap()
    assert page.locator("#why svg").is_visible()
    box = page.locator("#details").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate(
        "document.getElementById('details').scrollWidth <= document.getElementById('details').clientWidth"
    )


def test_downloads_the_whole_table(visit, pairs, tmp_path):
    result, path = pairs
    page = visit(path, accept_downloads=True)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    waiting.value.save_as(tmp_path / "variables.csv")
    table = pd.read_csv(tmp_path / "variables.csv")
    assert table["variable"].tolist() == result.names
    for name in ("gain", "p_value", "p_adjusted", "gain_alone", "synergy"):
        np.testing.assert_allclose(table[name], result.table[name], rtol=1e-5, atol=1e-6)
    assert table["relevant"].tolist() == result.table["relevant"].tolist()


@pytest.mark.parametrize("width", [1200, 375])
def test_variables_that_call_for_caution_are_marked(visit, tmp_path, width):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.5
    X = pd.DataFrame(rng.normal(size=(300, 12)), columns=[f"gene{v}" for v in range(12)])
    with pytest.warns(UserWarning, match="'diagnosis' of X determines y completely"):
        result = interplay.select(X.assign(diagnosis=np.where(y, "C34", "none")), y, random_state=0)
    result.to_html(tmp_path / "report.html")
    page = visit(tmp_path / "report.html", accept_downloads=True, viewport={"width": width, "height": 740})
    assert page.locator("#table thead th").all_inner_texts()[-1] == "Caution"
    row = column(page, 1).index("diagnosis")
    assert page.locator("#table tbody tr").nth(row).locator("td").last.inner_text() == "determines y completely"
    assert no_sideways_scroll(page)
    page.locator("#table tbody tr").nth(row).get_by_role("button").first.click()
    assert "determines y completely" in page.locator("#details-body dl").inner_text()
    page.locator("#details-close").click()
    with page.expect_download() as waiting:
        page.locator("#download-variables").click()
    frame = pd.read_csv(waiting.value.path(), keep_default_na=False)
    assert frame["caution"].tolist() == result.table["caution"].tolist()


def test_copies_the_methods(visit, pairs):
    _, path = pairs
    page = visit(path, permissions=["clipboard-read", "clipboard-write"])
    page.locator("#methods .copy").click()
    page.get_by_text("Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "MultiDimensional Feature Selection" in copied
    assert "10.32614/RJ-2019-019" in copied


def test_prints_light_with_all_relevant_variables(visit, pairs, tmp_path):
    _, path = pairs
    page = visit(path, color_scheme="dark")
    page.locator("#page-size").select_option("10")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert len(column(page, 1)) == 4
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.pdf().startswith(b"%PDF")


def test_hostile_names_are_only_shown(visit, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 30))
    for v in range(4, len(HOSTILE)):
        X[:, v] = X[:, 0] + 0.001 * rng.normal(size=500)
    y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (X[:, 2] > 0), "</script><img src=x onerror=alert(1)>", "no")
    names = [*HOSTILE, *(f"n{i}" for i in range(30 - len(HOSTILE)))]
    result = interplay.select(pd.DataFrame(X, columns=names), y, dimensions=3, random_state=0)
    assert len(result.relevant) >= 8
    result.to_html(tmp_path / "report.html")
    page = visit(tmp_path / "report.html", viewport=PHONE)
    assert page.title().startswith("interplay: ")
    assert no_sideways_scroll(page)
    assert page.locator("img").count() == 0
    for name in result.relevant:
        page.locator("#table tbody button").nth(result.relevant.index(name)).click()
        title = page.locator("#details-title").evaluate("node => node.textContent")
        assert title == (name if 0 < len(name) <= 200 else title)
        assert page.locator("#why svg").is_visible()
        page.locator("#details-close").click()
    page.locator("#search").fill("</script>")
    assert column(page, 1)


REPORTS = {
    "nothing": {"dimensions": 2},
    "alone": {"dimensions": 1},
    "triples": {"dimensions": 3, "divisions": 2},
    "ovo": {"multiclass": "ovo", "dimensions": 2},
    "ovr": {"multiclass": "ovr", "dimensions": 3},
    "joint": {"multiclass": "joint", "dimensions": 2},
    "five": {"dimensions": 5},
    "no contrast": {"n_contrast": 0, "dimensions": 2},
    "not adjusted": {"p_adjust": "none", "level": 1e-6, "dimensions": 2},
    "all dimensions": {},
    "all dimensions, ovo": {"multiclass": "ovo", "dimensions": (1, 2)},
}


@pytest.mark.parametrize("kind", REPORTS)
def test_every_kind_of_result(visit, kind, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 14 if kind == "five" else 40))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    if kind == "nothing":
        y = rng.random(400) < 0.5
    if kind == "alone":
        y = X[:, 0] > 0
    if "multiclass" in REPORTS[kind]:
        y = y + 2 * (X[:, 2] > 0.5)
    result = interplay.select(X, y, random_state=0, **REPORTS[kind])
    assert (len(result.ranked) == 0) == (kind == "nothing")
    result.to_html(tmp_path / "report.html")
    for viewport in (PHONE, {"width": 1200, "height": 800}):
        page = visit(tmp_path / "report.html", viewport=viewport)
        assert no_sideways_scroll(page)
        page.locator("#table tbody button").first.click()
        assert page.locator("#details").is_visible()
        assert page.locator("#why").count() == (kind != "nothing")
        page.locator("#details-close").click()
        for choice in page.locator(".run-choice:visible select").all():
            choice.select_option(index=1)
        assert page.locator(".run-choice").first.is_visible() == (len(result.runs) > 1)
        assert page.locator("#qq svg, #qq p").count() == 1


def test_older_results_say_that_cells_are_missing(visit, pairs, tmp_path):
    from dataclasses import replace

    replace(pairs[0], tuple_counts=()).to_html(tmp_path / "report.html")
    page = visit(tmp_path / "report.html")
    page.locator("#table tbody button").first.click()
    assert "does not contain the counts" in page.locator("#details").inner_text()


def test_ten_thousand_variables(visit, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10_000)).astype(np.float32)
    result = interplay.select(X, X[:, 4321] > 0, dimensions=1, random_state=0)
    result.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 5_000_000
    page = visit(tmp_path / "report.html")
    page.locator("#only-relevant").uncheck()
    assert page.locator("#page-status").inner_text().endswith("of 10,000")
    page.locator("#search").fill("x4321")
    assert "x4321" in column(page, 1)
    assert no_sideways_scroll(page)


@pytest.fixture(scope="module")
def ten_classes(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1000, 20)), columns=[f"gene{v}" for v in range(20)])
    number = np.clip((2.5 * X["gene0"] + 5 + rng.normal(size=1000)).astype(int), 0, 9)
    y = pd.Series([f"type {c}" for c in number], name="cell type")
    path = tmp_path_factory.mktemp("report") / "classes.html"
    interplay.select(X, y, dimensions=2, random_state=0).to_html(path)
    return path


def fills(page, selector):
    return page.locator(selector).evaluate_all("parts => parts.map((part) => getComputedStyle(part).fill)")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_ten_classes_have_ten_colours(visit, ten_classes, theme):
    for width in (1400, 390):
        page = visit(ten_classes, viewport={"width": width, "height": 900}, color_scheme=theme)
        swatches = page.locator("#first-why .key.class").evaluate_all(
            "keys => keys.map((key) => getComputedStyle(key, '::before').backgroundColor)"
        )
        assert len(swatches) == len(set(swatches)) == 10
        assert set(fills(page, "#first-why .class-part")) == set(swatches)
        assert no_sideways_scroll(page)
        # The number of samples stands below the bar, not on it.
        part = page.locator("#first-why .class-part").first.bounding_box()
        count = page.locator("#first-why .count").first.bounding_box()
        assert count["y"] >= part["y"] + part["height"]
    assert "Outcome" in page.locator(".about-data").inner_text()
    assert "cell type" in page.locator(".about-data").inner_text()


def test_words_name_the_class_whose_share_differs_most(visit, tmp_path):
    """Most samples are of class b, half of them on either side; a and c are apart."""
    rng = np.random.default_rng(0)
    x = np.r_[rng.normal(-2, 0.3, 60), rng.normal(0, 1, 120), rng.normal(2, 0.3, 60)]
    y = np.repeat(["a", "b", "c"], [60, 120, 60])
    interplay.select(pd.DataFrame({"x": x}), y, dimensions=1, random_state=0).to_html(tmp_path / "three.html")
    page = visit(tmp_path / "three.html")
    page.get_by_role("button", name="x", exact=True).first.click()
    assert page.locator(".why-words").inner_text().startswith(("Share of class a: 25 %", "Share of class c: 25 %"))
    titles = page.locator("#details-body h3").all_inner_texts()
    assert "Why this variable" in titles
    assert "Its best tuple" not in titles


def test_ordered_classes_run_from_light_to_dark(visit, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 10))
    grade = np.clip((1.5 * X[:, 0] + 3).astype(int), 0, 5)
    interplay.select(X, grade, dimensions=2, random_state=0).to_html(tmp_path / "grades.html")
    page = visit(tmp_path / "grades.html")
    colours = page.locator("#first-why .key.class").evaluate_all(
        """keys => keys.map((key) => {
          const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
          pen.fillStyle = getComputedStyle(key, '::before').backgroundColor;
          pen.fillRect(0, 0, 1, 1);
          return Array.from(pen.getImageData(0, 0, 1, 1).data).slice(0, 3);
        })"""
    )
    lightness = [sum(colour) for colour in colours]
    assert len(lightness) == 6
    assert lightness == sorted(lightness, reverse=True)


def test_names_in_a_crowded_network_do_not_overlap(visit, tmp_path):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1500, 30))
    X = pd.DataFrame(
        z[:, np.arange(260) % 30] + 0.4 * rng.normal(size=(1500, 260)), columns=[f"probe_{v:04d}" for v in range(260)]
    )
    together = sum((z[:, i] > 0) ^ (z[:, i + 1] > 0) for i in range(0, 12, 2))
    result = interplay.select(X, together + 0.3 * rng.normal(size=1500) > 3, dimensions=2, random_state=0)
    assert len(result.relevant) > 60
    result.to_html(tmp_path / "many.html")
    page = visit(tmp_path / "many.html")
    boxes = [text.bounding_box() for text in page.locator("#network .node text:not(.on-pointing)").all()]
    assert len(boxes) > 15
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = a["x"] + a["width"] <= b["x"] + 1 or b["x"] + b["width"] <= a["x"] + 1
            assert apart or a["y"] + 11 <= b["y"] or b["y"] + 11 <= a["y"]
    hidden = page.locator("#network .node:has(text.on-pointing)").first
    hidden.hover()
    assert hidden.locator("text").is_visible()
    assert f"of {len(result.relevant)} relevant variables" in page.locator("#network").inner_text()


def test_a_table_of_28_501_variables(visit, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 28_501)).astype(np.int8)
    y = (X[:, 7] + rng.normal(size=300) > 1).astype(int)
    result = interplay.select(X, y, dimensions=1, random_state=0)
    result.to_html(tmp_path / "wide.html")
    for options in ({"viewport": {"width": 1400, "height": 900}}, {"viewport": {"width": 390, "height": 800}}):
        page = visit(tmp_path / "wide.html", **options)
        assert no_sideways_scroll(page)
        assert "28,501" in page.locator(".about-data").inner_text()
        assert column(page, 1)[0] == "x7"


def test_nothing_found_names_what_is_found_alone(visit, tmp_path):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 400))
    y = (X[:, 3] > 0) ^ (rng.random(150) < 0.28)
    result = interplay.select(X, y, dimensions=2, random_state=0)
    assert result.relevant == []
    assert interplay.select(X, y, dimensions=1).relevant == ["x3"]
    result.to_html(tmp_path / "nothing.html")
    page = visit(tmp_path / "nothing.html")
    words = page.locator("#summary .words").inner_text()
    assert "x3 is significant when each variable is tested alone" in words


def test_censored_times_covariates_and_permutations(visit, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 12))
    time = rng.exponential(np.where((X[:, 3] > 0) ^ (X[:, 7] > 0), 0.3, 2.0))
    end = rng.exponential(2.0, 400)
    y = (np.minimum(time, end), time <= end)
    settings = {"covariates": {"age": rng.normal(size=400)}, "permutations": True, "n_permutations": 40}
    result = interplay.select(X, y, random_state=0, **settings)
    assert sorted(result.relevant) == ["x3", "x7"]
    result.to_html(tmp_path / "times.html")
    page = visit(tmp_path / "times.html", viewport=PHONE)
    assert column(page, 1) == result.relevant
    assert "no null distribution was fitted" in page.locator("#qq").inner_text()
    page.get_by_role("button", name="x3", exact=True).first.click()
    assert page.locator("#survival svg path[d*='H']").count() >= 4
    assert page.locator("#survival .key").count() == 4
    numbers = page.locator("#details .numbers").inner_text()
    assert "p, full model" in numbers
    assert no_sideways_scroll(page)


@pytest.fixture(scope="module")
def times_report(tmp_path_factory):
    """Times that depend on one of four variables."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    time, censored = rng.exponential(np.where(X["b"] > 0, 3.0, 0.5)), rng.exponential(4.0, 300)
    result = interplay.select(X, (np.minimum(time, censored), time <= censored), dimensions=1, random_state=0)
    path = tmp_path_factory.mktemp("report") / "times.html"
    result.to_html(path)
    return path


@pytest.mark.parametrize("width", [390, 1280])
def test_texts_of_pictures_are_not_cut_off(visit, tmp_path, width):
    """Long names lie within their pictures; words of a table are not broken; exact tests are not drawn as fits."""
    rng = np.random.default_rng(4)
    names = [f"worst compactness mm{v}" for v in range(12)]
    X = pd.DataFrame(rng.normal(size=(300, 12)), columns=names)
    X[names[1]] = X[names[0]] + 0.2 * rng.normal(size=300)
    y = (X[names[0]] > 0) ^ ((X[names[2]] > 0) & (X[names[3]] > 0))
    interplay.select(X, y, random_state=0, dimensions=(1, 2)).to_html(tmp_path / "report.html")
    page = visit(tmp_path / "report.html", viewport={"width": width, "height": 800})
    outside = page.locator("#network text:not(.on-pointing), #correlation text, #qq text").evaluate_all(
        """(all) => all.filter((each) => {
          const [own, around] = [each.getBoundingClientRect(), each.closest("svg").getBoundingClientRect()];
          return own.left < around.left - 1 || own.right > around.right + 1 || own.bottom > around.bottom + 1;
        }).map((each) => each.textContent)"""
    )
    assert outside == []
    lines = page.locator("#table td.names button").first.evaluate("(each) => each.getClientRects().length")
    assert lines <= 3  # a line for each word
    drawn = page.locator(".run-choice select").first.locator("option").all_inner_texts()
    assert drawn
    assert "gain 1" not in drawn


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_survival_curves_are_painted(visit, times_report, theme):
    page = visit(times_report, color_scheme=theme)
    page.locator("#searched summary").click()
    assert "the outcome is a time to an event" in page.locator("#summary .words").first.inner_text()
    first = page.locator("#first-why path.curve")  # curves, which are read more easily than residuals
    assert first.count() == 2
    page.get_by_role("button", name="b", exact=True).first.click()
    assert "mean residual (higher: earlier events)" in page.locator("#why").inner_text()
    chart = page.locator("#survival svg")
    chart.scroll_into_view_if_needed()

    def colours(selector, attribute, pseudo=None):
        return page.locator(f"#survival {selector}").evaluate_all(
            "(all, [name, pseudo]) => all.map((each) => getComputedStyle(each, pseudo)[name])", [attribute, pseudo]
        )

    strokes = colours("path.curve", "stroke")
    assert len(set(strokes)) == len(strokes) == 2
    assert all(stroke.startswith("rgb(") for stroke in strokes)
    assert colours(".key", "backgroundColor", "::before") == strokes
    assert colours("path.interval", "fill") == strokes
    card = colours("svg", "backgroundColor")[0]
    behind = page.locator("#details").evaluate("(each) => getComputedStyle(each).backgroundColor")
    assert card == "rgba(0, 0, 0, 0)"
    for stroke in strokes:
        assert contrast(stroke, behind) > 3  # what the eye needs for lines (WCAG 1.4.11)
    # A pixel of each line: halfway along it, as the screen shows it.
    for line, stroke in zip(page.locator("#survival path.curve").all(), strokes, strict=True):
        x, y = line.evaluate(
            """(path) => {
              const half = path.getPointAtLength(path.getTotalLength() / 2);
              const { x, y } = half.matrixTransform(path.getScreenCTM());
              return [x, y];
            }"""
        )
        assert painted(page, x, y, stroke), stroke


@pytest.fixture(scope="module")
def interactions_of_times(tmp_path_factory):
    """b and d change the hazard together; a name may hold anything."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(400, 4)), columns=["a", "b <i>", "c", "d"])
    time = rng.exponential(np.where((X["b <i>"] > 0) ^ (X["d"] > 0), 3.0, 0.5))
    censored = rng.exponential(4.0, 400)
    result = interplay.interactions(X, (np.minimum(time, censored), time <= censored), top=2)
    path = tmp_path_factory.mktemp("report") / "tuples.html"
    result.to_html(path)
    return result, path


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_survival_curves_of_interactions_are_painted(visit, interactions_of_times, theme):
    result, path = interactions_of_times
    page = visit(path, color_scheme=theme)
    charts = page.locator("#cells .chart svg")
    assert charts.count() == 2
    charts.first.scroll_into_view_if_needed()
    card = page.locator("#cells .card").first
    keys = card.locator(".key").all_inner_texts()
    curves = result.curves_of(0)
    assert [key.partition(": ")[2] for key in keys] == [
        f"{events} events, n = {n}" for events, n in zip(curves.n_events, curves.n_samples, strict=True)
    ]
    assert keys[0].startswith("b <i> ≤ ")
    behind = card.evaluate("(each) => getComputedStyle(each).backgroundColor")
    lines = card.locator("path.curve").all()
    assert len(lines) == card.locator("path.interval").count() == 4
    strokes = [line.evaluate("(each) => getComputedStyle(each).stroke") for line in lines]
    assert len(set(strokes)) == 4
    for line, stroke in zip(lines, strokes, strict=True):
        assert contrast(stroke, behind) > 3
        place = line.evaluate(
            """(path) => {
              // Curves may lie on each other halfway: at its end each is by itself.
              const end = path.getPointAtLength(path.getTotalLength() - 1);
              const { x, y } = end.matrixTransform(path.getScreenCTM());
              return [x, y];
            }"""
        )
        assert painted(page, *place, stroke), stroke
    # The last point of a curve is the share that is left at the end.
    box = card.locator("path.axis").bounding_box()
    for number, line in enumerate(lines):
        end = line.evaluate("(path) => path.getPointAtLength(path.getTotalLength()).y")
        low, high = (card.locator("path.axis").evaluate(f"(path) => path.getBBox().{each}") for each in ("y", "height"))
        share = 1 - (end - low) / high
        assert share == pytest.approx(curves.survival[curves.start[number + 1] - 1], abs=0.01)
    assert box is not None
    assert no_sideways_scroll(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_keys_are_dashed_where_lines_are(visit, tmp_path, theme):
    """Nine cells: the ninth line has the colour of the first one, and is dashed, as is its key."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.binomial(2, 0.5, size=(300, 2)), columns=["rs1", "rs2"])
    time = pd.Series(rng.exponential(np.where((X["rs1"] > 0) ^ (X["rs2"] > 0), 3.0, 0.5)), name="months")
    interplay.interactions(X, (time, np.ones(300, dtype=bool))).to_html(tmp_path / "tuples.html")
    page = visit(tmp_path / "tuples.html", color_scheme=theme)
    card = page.locator("#cells .card").first
    strokes, dashes = (
        card.locator("path.curve").evaluate_all(f"(all) => all.map((each) => getComputedStyle(each).{name})")
        for name in ("stroke", "strokeDasharray")
    )
    assert strokes[8] == strokes[0]
    assert [dash == "none" for dash in dashes] == [True] * 8 + [False]
    colours, images = (
        card.locator(".key").evaluate_all(f"(all) => all.map((each) => getComputedStyle(each, '::before').{name})")
        for name in ("backgroundColor", "backgroundImage")
    )
    assert colours[:8] == strokes[:8]
    assert set(images[:8]) == {"none"}
    assert images[8].startswith("repeating-linear-gradient")
    assert strokes[8] in images[8]
    assert page.locator("#cells .chart svg .label").first.text_content() == "months"


def clipped(page):
    frames = page.locator(".table-frame, .cells-frame")
    return int(frames.evaluate_all("(all) => Math.max(...all.map((each) => each.scrollWidth - each.clientWidth))"))


def test_tables_are_not_clipped(visit, pairs, times_report, interactions_of_times):
    for path in (pairs[1], interactions_of_times[1]):
        assert clipped(visit(path, viewport={"width": 1280, "height": 900})) == 0, path
    page = visit(times_report, viewport=PHONE)
    assert clipped(page) == 0
    assert "risk where higher" in page.locator("#table td.size").first.inner_text()
    # Of all columns, the direction stands above the effect on phones, where there is room for it.
    page.locator("#all-columns").check()
    assert clipped(page) == 0
    assert page.locator("#table .direction").first.is_hidden()
    assert "risk where higher" in page.locator("#table td.effect").first.inner_text()


def test_columns_that_say_nothing_are_left_out(visit, pairs):
    page = visit(pairs[1])

    def heads():
        return [text.strip(" ↑↓") for text in page.locator("#table thead th").all_inner_texts()]

    assert heads() == ["Variable", "Direction and size", "How sure", "Works with"]
    page.locator("#all-columns").check()
    assert "Relevant" not in heads()  # all rows are
    assert {"Partners", "Together", "Direction"} <= set(heads())
    page.locator("#only-relevant").uncheck()
    assert "Relevant" in heads()
    page.locator("#search").fill("gene111")
    page.locator("#table thead th", has_text="Relevant").get_by_role("button").click()
    assert {"Direction", "Effect", "Together", "Direction and size", "Works with"}.isdisjoint(heads())
    focused = page.evaluate("document.activeElement.textContent")
    assert focused == "Relevant"


def test_untested_interactions_are_called_untested(visit, tmp_path):
    """Within groups, partners are not tested, and no null distribution is fitted."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 8)), columns=[f"gene{v}" for v in range(8)])
    y = np.repeat(np.arange(24) % 2, 5)
    X["gene1"] += 2 * y
    X["donor"] = np.repeat([f"d{d}" for d in range(24)], 5)
    interplay.select(X, y, groups="donor", random_state=0, n_permutations=99).to_html(tmp_path / "groups.html")
    page = visit(tmp_path / "groups.html")
    assert "Whether they interact was not tested." in page.locator("#network-words").inner_text()
    assert page.locator("#interaction-key").is_hidden()
    assert page.locator("#no-interaction-key").inner_text() == "not tested"
    assert page.locator("#qq-card").is_hidden()
    assert page.locator("#histogram-key").is_hidden()
    assert page.locator("#histogram-title").inner_text() == "How often each p occurs"
    assert "contrast" not in page.locator("#gains-words").inner_text()


def test_interactions_of_classes_have_no_curves(visit, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    interplay.interactions(X, (X[:, 0] > 0) ^ (X[:, 1] > 0)).to_html(tmp_path / "pairs.html")
    page = visit(tmp_path / "pairs.html", viewport=PHONE)
    assert page.locator("#cells .card").count() == 1
    assert page.locator("#cells .chart").count() == 0


def channels(colour):
    return [int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]


def contrast(one, other):
    def luminance(colour):
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(channels(colour)) / 255]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    lighter, darker = sorted([luminance(one), luminance(other)], reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def painted(page, x, y, colour):
    """Say whether a pixel near a place has a colour, but for smoothed edges."""
    import io

    plt = pytest.importorskip("matplotlib.image")
    clip = {"x": round(x) - 3, "y": round(y) - 3, "width": 7, "height": 7}
    pixels = 255 * plt.imread(io.BytesIO(page.screenshot(clip=clip)), format="png")[..., :3]
    return bool((np.abs(pixels - channels(colour)).max(axis=2) < 40).any())
