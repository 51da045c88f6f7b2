"""Features that were made apart, used together: strata, names, parts, several runs, files, reports."""

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.parquet import scan_parquet
from interplay.search.engines.cpu import CpuEngine
from interplay.show.report.methods import methods_paragraph
from interplay.show.report.words import summary_sentences

FEW = {"dimensions": 2, "n_contrast": 40, "random_state": 0}
COLOURS = [["blue", "red"], ["long", "short"]]


@pytest.fixture(scope="module")
def frame():
    """Colour and form tell together who is ill; the decision stands first, the strata last."""
    rng = np.random.default_rng(0)
    colour, form = rng.choice(["blue", "red"], 240), rng.choice(["long", "short"], 240)
    ill = np.where((colour == "red") ^ (form == "long"), "ill", "well")
    numbers = {f"gene{v}": rng.normal(size=240) for v in range(8)}
    return pd.DataFrame({"ill": ill, "colour": colour, "form": form, **numbers, "batch": rng.integers(0, 3, 240)})


@pytest.fixture(scope="module")
def variables(frame):
    return frame.drop(columns=["ill", "batch"])


@pytest.fixture(scope="module")
def stratified(frame):
    return interplay.select(frame, "ill", strata="batch", **FEW)


def test_levels_keep_their_names_where_y_and_strata_are_columns(stratified):
    assert stratified.counts_of("colour").level_names == COLOURS


def test_levels_keep_their_names_in_a_parquet_file(frame, tmp_path):
    frame.to_parquet(tmp_path / "study.parquet")
    result = interplay.select(scan_parquet(tmp_path / "study.parquet"), "ill", strata="batch", **FEW)
    assert result.counts_of("form").level_names == COLOURS


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_levels_keep_their_names_in_comparisons_of_classes(frame, variables, multiclass):
    y = np.where(frame["ill"] == "ill", "ill", np.where(frame["batch"] == 0, "well", "very well"))
    assert interplay.select(variables, y, multiclass=multiclass, **FEW).counts_of("colour").level_names == COLOURS


def test_merged_with_their_table_parts_have_all_that_select_has(frame):
    settings = FEW | {"discretizations": 2, "multiclass": "ovo", "decision": "classes"}
    y = frame["ill"].where(frame["batch"] > 0, "unknown")
    table = frame.drop(columns=["ill", "batch"])
    parts = [interplay.search_shard(table, y, shard=(i, 2), **settings) for i in (1, 2)]
    whole, merged = interplay.select(table, y, **settings), interplay.merge_parts(parts, X=table)
    pd.testing.assert_frame_equal(merged.synergies(), whole.synergies())
    assert merged.clusters() == whole.clusters()
    assert merged.counts_of("form").level_names == whole.counts_of("form").level_names


def test_merged_without_their_table_parts_say_what_is_not_there(frame):
    parts = [interplay.search_shard(frame, "ill", shard=(i, 2), strata="batch", **FEW) for i in (1, 2)]
    merged = interplay.merge_parts(parts)
    for call in (merged.synergies, merged.clusters, lambda: merged.counts_of("form")):
        with pytest.raises(ValueError, match=r"merged .*without X"):
            call()


def test_a_report_says_that_gains_are_within_strata(stratified, tmp_path):
    sizes = stratified.provenance["strata"]
    listed = f"3 strata (0: {sizes['0']}, 1: {sizes['1']}, 2: {sizes['2']})"
    assert any(sentence.startswith(f"Gains are measured within {listed}") for sentence in summary_sentences(stratified))
    methods = methods_paragraph(stratified)
    assert f"Gains were computed within {listed}" in methods
    assert "contrast variables were permuted within strata" in methods
    stratified.to_html(tmp_path / "report.html")
    assert "X, y, strata=strata," in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_report_without_strata_does_not_speak_of_them(frame, variables, tmp_path):
    result = interplay.select(variables, frame["ill"], missing="impute", **FEW)
    assert "strat" not in methods_paragraph(result) + " ".join(summary_sentences(result))
    assert "issing values" not in methods_paragraph(result)  # there are none


def test_numbers_of_columns_are_refused_where_they_are_unclear(frame):
    # Column 1 of X is colour, and column 1 of what is left without y is form.
    with pytest.raises(ValueError, match=r"discrete gives the column number 1.*give its name"):
        interplay.select(frame, "ill", discrete=[1], multiclass="ovo", **FEW)
    with pytest.raises(ValueError, match=r"variables gives the column number 3.*give its name"):
        interplay.max_information_gain(frame, "ill", variables=[3])
    last = frame[[*frame.columns[1:], "ill"]]
    by_number = interplay.max_information_gain(last, "ill", variables=[3])
    by_name = interplay.max_information_gain(frame, "ill", variables=["gene1"])
    np.testing.assert_array_equal(by_number.gain, by_name.gain)


def test_tuples_are_listed_about_a_column_of_the_table(frame, variables):
    named = interplay.interesting_tuples(frame.drop(columns="batch"), "ill", min_gain=5)
    given = interplay.interesting_tuples(variables, frame["ill"], min_gain=5)
    pd.testing.assert_frame_equal(named.to_frame(), given.to_frame())


def test_a_selector_says_that_it_takes_no_names(frame):
    with pytest.raises(TypeError, match="y must hold one value per sample, not the text 'ill'"):
        interplay.MDFSSelector(dimensions=2).fit(frame, "ill")


def test_strata_that_tell_two_classes_apart_are_named_with_them(frame, variables):
    y = frame["ill"].where(frame["batch"] > 0, "unknown")
    with pytest.raises(ValueError, match="strata determines the classes of 'ill vs unknown'"):
        interplay.select(variables, y, strata=(frame["batch"] > 0), multiclass="ovo", **FEW)


class _StoppedInTheSecondRun(CpuEngine):
    """Each run searches tuples and then single variables; Ctrl-C comes when the second run begins."""

    calls = iter(range(100))

    def search(self, planes, tiles, sink, **options):
        super().search(planes, tiles, sink, **options)
        if next(self.calls) == 2:
            raise interplay.SearchInterrupted(sink.gains, 0.5)


def test_an_interrupt_tells_what_share_of_all_comparisons_is_done(frame, variables):
    y = frame["ill"].where(frame["batch"] > 0, "unknown")
    with pytest.raises(interplay.SearchInterrupted) as stopped:
        interplay.select(variables, y, multiclass="ovo", engine=_StoppedInTheSecondRun(), **FEW)
    assert 1 / 3 < stopped.value.done < 2 / 3


def test_measurements_of_few_samples_are_not_taken_for_the_decision_in_other_words(variables):
    # No value repeats, so that each value of any column stands for one value of any other.
    table = variables.drop(columns=["colour", "form"])
    dose = pd.Series(table["gene1"] * table["gene4"], name="gene7")
    found = interplay.select(table, dose, **FEW)  # a warning would be an error
    assert sorted(found.relevant) == ["gene1", "gene4"]
    for same in (table["gene2"] ** 3, -table["gene2"]):
        with pytest.warns(UserWarning, match="column 'gene2' of X determines y nearly completely"):
            interplay.select(table, same.rename("dose"), **FEW)


def test_a_class_may_be_called_rest(frame, variables):
    y = frame["ill"].where(frame["batch"] > 0, "rest")
    sizes = y.value_counts().to_dict()
    for multiclass in ("joint", "ovo", "ovr"):
        result = interplay.select(variables, y, multiclass=multiclass, **FEW)
        assert result.class_sizes == sizes
        assert f"rest: {sizes['rest']}" in result.summary()
        assert f"rest: {sizes['rest']}" in methods_paragraph(result)


@pytest.mark.filterwarnings("ignore:.*null fit.*")
def test_settings_repeat_a_run_whose_comparisons_have_different_fits():
    # Values that are rare in two classes leave nothing to fit where these are compared.
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 150)
    X = (rng.random((450, 60)) < np.where(y == "a", 0.5, 0.004)[:, np.newaxis]).astype(int)
    result = interplay.select(X, y, dimensions=2, multiclass="ovo", n_contrast=60, random_state=0)
    assert [run.null_fit.fit for run in result.runs] == ["weibull", "weibull", "union"]
    again = interplay.select(X, y, **result.settings)
    np.testing.assert_array_equal(again.p_value, result.p_value)
    assert "In 1 of 3 comparisons no such distribution was fitted" in methods_paragraph(result)
    assert "smallest p-value times 3, the number of comparisons" in methods_paragraph(result)
