"""The report as a file: its words, its size, what it embeds, and how it is written."""

import base64
import errno
import hashlib
import html
import json
import os
import re
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import interplay
from command_line import in_process
from interplay.base.tuples import MaxGains
from interplay.infer.null_fit import FITS
from interplay.show.plots.style import class_colours
from interplay.show.report import report_page
from interplay.show.report.content import MAX_NAME_LENGTH, report_content
from interplay.show.report.methods import REFERENCES, methods_paragraph
from interplay.show.report.page import embedded_json
from interplay.show.report.words import headline, summary_sentences

HOSTILE = [
    "</script><script>document.title = 'hacked'</script>",
    "<!--<script>",
    "\"double\" 'single' & <b>bold</b>",
    "naïve ☃ 漢字 😀",
    "a" * 5000,
    "line\nbreak\ttab",
    "$headline ${data} `tick` {x}",
    "=1+1",
    "\u2028separator",
    "__proto__",
    "",
]


def xor_table(n_noise=20, names=None):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, n_noise + 2))
    y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(400) < 0.05), "yes", "no")
    names = names or []
    return pd.DataFrame(X, columns=names + [f"v{i}" for i in range(len(names), X.shape[1])]), y


@pytest.fixture(scope="module")
def xor():
    return interplay.select(*xor_table(), dimensions=2, random_state=0)


def embedded(page):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    return json.loads(text)


def text_of(page):
    return html.unescape(re.sub(r"<[^>]*>", " ", page))


def test_rows_say_what_the_table_says(xor):
    data = embedded(report_page(xor))
    table = xor.table
    rows = data["rows"]
    assert data["names"][: len(rows["gain"])] == [xor.names[v] for v in rows["number"]]
    assert sorted(rows["number"]) == list(range(len(table)))
    assert rows["number"][:2] == xor.ranked.tolist()
    ordered = table.iloc[rows["number"]]
    np.testing.assert_allclose(rows["gain"], ordered["gain"], rtol=1e-7)
    np.testing.assert_allclose(10 ** np.array(rows["log10p"]), ordered["p_value"], rtol=1e-6)
    np.testing.assert_allclose(rows["pAdjusted"], ordered["p_adjusted"], rtol=1e-7)
    assert [tuple(data["names"][u] for u in partners) for partners in rows["partners"]] == ordered["partners"].tolist()
    assert rows["relevant"] == ordered["relevant"].astype(int).tolist()


def test_cells_are_those_of_the_result(xor):
    data = report_content(xor)
    for shown, kept in zip(data["tuples"], xor.tuple_counts, strict=True):
        assert [data["names"][m] for m in shown["members"]] == [xor.names[m] for m in kept.members]
        assert shown["counts"] == kept.counts.ravel().tolist()


def test_pictures_have_the_data_of_the_plots(xor):
    data = report_content(xor)
    expected, observed, _, _ = xor.null_fit.qq_points()
    qq = data["nullFits"][0]["qq"]
    np.testing.assert_allclose(qq["expected"], expected, rtol=1e-4)
    np.testing.assert_allclose(qq["observed"], observed, rtol=1e-4)
    network = data["network"]
    assert {data["names"][place] for place in network["nodes"]} == {"v0", "v1"}
    assert len(network["edges"]) == 1
    assert network["weight"][0] == pytest.approx(xor.table["synergy"].max(), rel=1e-4)
    n = len(data["correlation"]["rows"])
    assert n == 2
    assert np.reshape(data["correlation"]["r"], (n, n))[0, 1] == pytest.approx(xor.correlation[0, 1], rel=1e-2)


def test_summary_in_words(xor):
    assert headline(xor) == "2 of 22 variables are relevant"
    text = " ".join(summary_sentences(xor))
    assert "The search covered all pairs (231 tuples), and the outcome has 2 classes" in text
    assert "Both interact with their partners" in text
    assert "The clearest case is v0 and v1" in text or "The clearest case is v1 and v0" in text
    assert "Holm's method keeps the probability of any false discovery at or below 0.05" in text
    page = text_of(report_page(xor))
    assert all(sentence in page for sentence in summary_sentences(xor))


def test_methods_name_every_choice_and_cite(xor):
    text = methods_paragraph(xor)
    for part in (
        "Mnich and Rudnicki, 2017; Piliszek et al., 2019", f"interplay {interplay.__version__}",
        "400 samples and 22 variables", "into 2 levels", "All pairs", "231 tuples", "pseudocount 0.25",
        "300 contrast variables", "Holm",
        "adjusted p < 0.05", "seed was 0",
    ):  # fmt: skip
        assert part in text
    assert "10.32614/RJ-2019-019" in REFERENCES[0]
    assert "arXiv:1705.05756" in REFERENCES[1]
    page = text_of(report_page(xor))
    assert all(reference in page for reference in REFERENCES)


@pytest.mark.parametrize("method", ["none", "BH", "BY", "hommel", "fdr_gbs", "sidak"])
def test_every_adjustment_has_words(xor, method):
    other = replace(xor, settings=xor.settings | {"p_adjust": method})
    words = " ".join([*summary_sentences(other), methods_paragraph(other)])
    assert ("share of false discoveries (FDR)" in words) == (method in {"BH", "BY", "fdr_gbs"})
    assert ("probability of any false discovery" in words) == (method in {"hommel", "sidak"})


@pytest.mark.parametrize("fit", [fit for fit in FITS if fit != "auto"])
def test_every_fit_has_words(fit):
    X, y = xor_table()
    for n_contrast in (0, 100):
        result = interplay.select(X, y, dimensions=2, fit=fit, n_contrast=n_contrast, random_state=0)
        assert "p-values" in methods_paragraph(result)
        report_page(result)


def test_nothing_found():
    rng = np.random.default_rng(0)
    result = interplay.select(rng.normal(size=(100, 20)), np.arange(100) % 2, dimensions=2, random_state=0)
    assert result.relevant == []
    page = report_page(result)
    assert "None of 20 variables is relevant" in page
    data = embedded(page)
    assert data["correlation"]["rows"] == data["network"]["nodes"] == data["tuples"] == data["groups"] == []


@pytest.mark.filterwarnings("ignore:column 'v3' of X determines y completely")
def test_alone():
    X, _ = xor_table()
    result = interplay.select(X, X["v3"] > 0.3, dimensions=1, random_state=0)
    page = report_page(result)
    assert "1 of 22 variables is relevant" in page
    assert "cannot find variables that matter only together with others" in page
    assert embedded(page)["network"]["nodes"] == []


@pytest.mark.filterwarnings("ignore:column 'v3' of X determines y completely")
@pytest.mark.parametrize("multiclass", ["joint", "ovo", "ovr"])
def test_several_classes(multiclass):
    X, _ = xor_table()
    y = np.digitize(X["v3"], [-0.5, 0.5])
    result = interplay.select(X, y, dimensions=2, multiclass=multiclass, random_state=0)
    data = embedded(report_page(result))
    assert [run["decision"] for run in data["runs"]] == [run.decision for run in result.runs]
    assert len(data["nullFits"]) == len(result.runs)
    if multiclass != "joint":
        best = result.table.iloc[data["rows"]["number"]]["decision"].tolist()
        assert [data["runs"][r]["decision"] for r in data["rows"]["run"]] == best


def test_a_result_without_counts(xor):
    data = embedded(report_page(replace(xor, tuple_counts=())))
    assert data["tuples"] == []


def test_hostile_names_stay_text():
    X, y = xor_table(30, HOSTILE)
    labels = np.where(y == "yes", "</script><img src=x>", "no")
    result = interplay.select(X, labels, dimensions=2, random_state=0)
    assert set(result.relevant) == set(HOSTILE[:2])
    page = report_page(result)
    # One script with data, one with code, and no element that a name could have made.
    assert len(re.findall(r"<script", page)) == len(re.findall(r"</script", page)) == 2
    assert "<img" not in page
    assert "<b>bold" not in page
    shown = embedded(page)["names"]
    by_number = dict(zip(embedded(page)["rows"]["number"], shown, strict=False))
    for number, name in enumerate(HOSTILE):
        assert by_number[number] == (name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…")


def test_embedded_json_holds_nothing_that_html_looks_for():
    content = {"names": [*HOSTILE, "]]>", "\ud800 half a pair"], "n": [1, None, 2.5]}
    text = embedded_json(content)
    assert json.loads(text) == content
    assert not set(text) & set("<>&\u2028\u2029")
    assert text.isascii()
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded_json([float("nan")])


def test_only_the_scripts_of_the_page_may_run(xor):
    page = report_page(xor)
    script = page[page.rindex("<script>") + len("<script>") : page.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert "default-src 'none'" in page
    # No address is loaded from anywhere: those that are there name formats or papers.
    assert set(re.findall(r"""(?:src|href)=["']([^"'#]+)""", page)) == {"data:,"}
    assert set(re.findall(r"https?://[^\s\"')]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in page
    assert "@import" not in page
    assert "innerHTML" not in page


@pytest.mark.parametrize(("n_vars", "letters"), [(10_000, 6), (20_000, 400), (60_000, 8)])
def test_wide_tables_stay_below_five_megabytes(xor, monkeypatch, n_vars, letters):
    """Made from a small result by repeating it: what matters here is only how much there is to write."""
    times = -(-n_vars // len(xor.names))
    each = len(xor.names)
    order = np.arange(n_vars) % each
    (run,) = xor.runs
    gains = replace(
        run.gains,
        gain_by_group=run.gains.gain_by_group[order],
        discretization_by_group=run.gains.discretization_by_group[order],
        # Partners far away, so that many of them have no row.
        tuples_by_group=(run.gains.tuples_by_group[order] + each * (times // 2)) % n_vars,
        df_by_group=run.gains.df_by_group[order],
        n_vars=n_vars,
    )
    alone = replace(
        gains,
        gain_by_group=run.alone.gain_by_group[order],
        discretization_by_group=run.alone.discretization_by_group[order],
        tuples_by_group=np.arange(n_vars)[:, np.newaxis, np.newaxis],
        df_by_group=run.alone.df_by_group[order],
    )
    fit = replace(run.null_fit, statistic=run.null_fit.statistic[order], chi2_p=run.null_fit.chi2_p[order])
    wide = replace(
        xor,
        names=[f"{v:0{letters}d}" for v in range(n_vars)],
        runs=(replace(run, gains=gains, null_fit=fit, alone=alone),),
        log_p=xor.log_p[order],
        p_value=xor.p_value[order],
        p_adjusted=xor.p_adjusted[order],
        is_relevant=xor.is_relevant[order],
        ranked=np.flatnonzero(xor.is_relevant[order]),
        correlation=np.empty((0, 0)),
        shortened=None,
    )
    asked = 0
    tuples = MaxGains.tuples

    def counted(gains):
        nonlocal asked
        asked += 1
        return tuples.fget(gains)

    monkeypatch.setattr(MaxGains, "tuples", property(counted))
    page = report_page(wide)
    # Each time all variables are looked through: once per variable took minutes.
    assert asked < 20
    assert len(page.encode()) < 5_000_000
    data = embedded(page)
    n_rows = len(data["rows"]["gain"])
    assert (n_rows == n_vars) == (letters == 6)
    assert data["nVariables"] == n_vars
    # What has to be left out is the least significant.
    assert sum(data["rows"]["relevant"]) == min(n_rows, len(wide.ranked))
    assert all(place < len(data["names"]) for partners in data["rows"]["partners"] for place in partners)


def test_the_report_is_written_whole(xor, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    xor.to_html(target)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert stat.S_IMODE(target.stat().st_mode) & 0o444 == 0o444


def test_a_failed_report_leaves_the_old_one(xor, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("old")

    def full_disk(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match=r"^cannot write '.*report.html': No space left on device$") as caught:
        xor.to_html(target)
    assert caught.value.errno == errno.ENOSPC
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_report_says_what_it_is_about(monkeypatch, capfd, tmp_path):
    X, y = xor_table()
    frame = X.assign(id=np.arange(len(X)), ill=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    saved, page = tmp_path / "run.interplay", tmp_path / "report.html"
    options = ("--target", "ill", "--drop", "id", "-k", "2", "--save", saved, "-q")
    assert in_process(monkeypatch, capfd, "run", tmp_path / "data.csv", *options).code == 0
    result = interplay.load(saved)
    seed = result.settings["random_state"]
    command = f"interplay run {tmp_path / 'data.csv'} --target ill --drop id --dimensions 2 --seed {seed}"
    assert result.provenance["source"] == {"file": str(tmp_path / "data.csv"), "dropped": ["id"], "command": command}
    result.to_html(page)
    text = text_of(page.read_text(encoding="utf-8"))
    for part in ("Outcome ill", "File data.csv", "Columns left out id", command, "the outcome ill"):
        assert part in " ".join(text.split())
    methods = methods_paragraph(result)
    assert "after 1 column was left out" in methods
    assert "the analysis was run on" in methods


def test_a_result_without_a_date_or_a_file_has_a_report(xor):
    kept = {name: value for name, value in xor.provenance.items() if name not in ("date", "target")}
    for odd in ({}, {"date": "yesterday"}):
        assert "interplay.select(" in report_page(replace(xor, provenance=kept | odd))


@pytest.mark.parametrize(
    "odd", [{"target": 7}, {"source": "x"}, {"source": {"file": 1}}, {"groups": {"n_groups": "3"}}]
)
def test_a_file_with_entries_of_other_types_is_refused(xor, tmp_path, odd):
    replace(xor, provenance=xor.provenance | odd).save(tmp_path / "odd.interplay")
    with pytest.raises(ValueError, match="damaged"):
        interplay.load(tmp_path / "odd.interplay")


@pytest.mark.parametrize("n_classes", [3, 8, 12, 40])
def test_every_class_has_a_colour_of_its_own_in_plots(n_classes):
    from matplotlib.colors import to_hex

    for ordered in (False, True):
        colours = [to_hex(colour) for colour in class_colours(n_classes, ordered=ordered)]
        assert len(set(colours)) == n_classes


@pytest.fixture(scope="module")
def three_kinds():
    """Effects that add up (v1, v2), a pure interaction (v10, v11), a modifier (v20 alone, more with v21)."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(1500, 40)), columns=[f"v{i}" for i in range(40)])
    half = (X > 0) - 0.5
    logit = 2.2 * half["v1"] + 2.2 * half["v2"] + 6 * half["v10"] * half["v11"]
    logit += 1.6 * half["v20"] + 3.5 * half["v20"] * half["v21"]
    y = np.where(rng.random(1500) < 1 / (1 + np.exp(-logit)), "case", "control")
    return interplay.select(X, y, dimensions=2, random_state=0)


def test_the_report_tells_interactions_from_effects_that_add_up(three_kinds):
    verdicts = three_kinds.table.set_index("variable").loc[three_kinds.relevant, "verdict"].to_dict()
    assert verdicts == {
        "v1": "additive", "v2": "additive", "v10": "interaction", "v11": "interaction", "v20": "interaction",
        "v21": "interaction",
    }  # fmt: skip
    words = " ".join(summary_sentences(three_kinds))
    assert "4 of them interact with their partners" in words
    assert "For 2 of them the effects add up" in words
    data = embedded(report_page(three_kinds))
    shown = dict(zip(data["names"], data["rows"]["verdict"], strict=False))
    assert {name: shown[name] for name in verdicts} == verdicts
    assert set(data["rows"]["verdict"][len(verdicts) :]) == {""}
    joined = {
        tuple(sorted(data["names"][data["network"]["nodes"][end]] for end in edge)): kind
        for edge, kind in zip(data["network"]["edges"], data["network"]["interacts"], strict=True)
    }
    assert joined == {("v1", "v2"): 0, ("v10", "v11"): 1, ("v20", "v21"): 1}
    lines = three_kinds.summary().splitlines()
    assert next(line for line in lines if line.startswith("v10")).endswith("v11")  # what works with it
    assert not next(line for line in lines if line.startswith("v1 ")).endswith("v2")  # effects add up


def test_plots_say_what_the_partner_is(three_kinds):
    assert "effects add up" in three_kinds.plot.why("v1").get_title()
    assert "interaction (adjusted p" in three_kinds.plot.why("v10").get_title()
    assert "2 of 3 lines are interactions" in three_kinds.plot.synergies().get_title()


def test_nothing_is_called_an_interaction_without_a_test(three_kinds):
    untested = replace(three_kinds, runs=tuple(replace(run, tested=()) for run in three_kinds.runs))
    words = " ".join(summary_sentences(untested)) + untested.plot.why("v10").get_title()
    assert "interact with" not in words
    assert "was not tested" in words
    assert set(untested.table["verdict"]) == {"", "untested"}


def test_partners_that_interact_without_the_variable():
    """The best tuple of v3 contains a pair that interacts, of which v3 is no part: no picture or word may say it is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = np.where((X[:, 7] > 0) ^ (X[:, 9] > 0) ^ (rng.random(600) < 0.1), "case", "control")
    y = np.where(X[:, 3] > 0.8, "case", y)
    found = interplay.select(pd.DataFrame(X, columns=[f"v{i}" for i in range(12)]), y, dimensions=3, random_state=0)
    row = found.table.set_index("variable").loc["v3"]
    assert row["verdict"] == "interaction"
    assert set(row["partners"]) == set(row["interacting"]) == {"v7", "v9"}
    words = " ".join(summary_sentences(found))
    assert "2 of them interact with their partners" in words
    assert "For 1 of them only the partners interact with each other." in words
    data = embedded(report_page(found))
    among = dict(zip(data["names"], data["rows"]["among"], strict=False))
    assert [name for name in among if among[name]] == ["v3"]


def test_one_variable_was_found_in_one_way():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    one = summary_sentences(interplay.select(X, X["a"] + rng.normal(size=200) > 0, random_state=0))
    assert "It was found alone." in one
    both = X["a"] + X["b"] + rng.normal(size=200) > 0
    assert "All of them were found alone." in summary_sentences(interplay.select(X, both, random_state=0))


def test_means_given_covariates_are_those_of_the_outcome():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "age"])
    y = 100 + 10 * (X["a"] + X["age"]) + rng.normal(size=200)
    found = interplay.select(X, y, covariates="age", dimensions=1, random_state=0)
    assert "not adjusted for covariates" in text_of(report_page(found))
    data = embedded(report_page(found))
    assert data["meanOf"] == "mean of the outcome, not adjusted"
    numbers = np.reshape(data["tuples"][0]["numbers"], (-1, 6))
    above = X["a"] > X["a"].median()
    np.testing.assert_allclose(numbers[:, 5], [y[~above].mean(), y[above].mean()], rtol=1e-2)


def test_the_smallest_p_of_all_fits_is_told():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 4)), columns=list("abcd"))
    found = interplay.select(X, rng.random(100) < 0.5, random_state=0)
    fits = [fit for test in found.tests for fit in test.null_fits if not fit.is_exact]
    fits = [fit for fit in fits if fit.fit != "union" and not np.isnan(fit.ks_p)]
    worst = min(fit.ks_p for fit in fits)
    told = f"Kolmogorov–Smirnov p\u00a0=\u00a0{worst:.2g}, the smallest of {len(fits)} fits"
    assert told in " ".join(summary_sentences(found))
