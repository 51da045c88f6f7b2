"""The comparison of two versions by the golden set: it names what differs, and the set runs."""

import numpy as np
import pytest

import golden_calls
import same_results

COLUMNS = {"table: p_value": np.array([0.5, 0.25, np.nan]), "table: name": np.array(["a", "b", "c"])}


def save(folder, **changed):
    folder.mkdir()
    np.savez(folder / "000.npz", call=np.array("select, two classes"), **{**COLUMNS, **changed})
    return folder


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, []),
        (
            {"table: p_value": np.array([0.5, np.nextafter(0.25, 1), np.nan])},
            ["table: p_value", "1 of 3 values", "5.55e-17"],
        ),
        ({"table: p_value": np.array([0.5, 0.25, 0.125])}, ["nan", "0.125", "place 2"]),
        ({"table: p_value": np.array([0.5, 0.25])}, ["(3,)", "(2,)"]),
        ({"table: name": np.array(["a", "B", "c"])}, ["table: name", "'b'", "'B'"]),
        ({"more": np.array([1])}, ["more", "only the working tree has it"]),
        ({"error": np.array(["TypeError: no"])}, ["TypeError: no"]),
    ],
)
def test_names_what_differs(tmp_path, changed, words):
    found = list(same_results.differences(save(tmp_path / "base"), save(tmp_path / "now", **changed)))
    assert len(found) == bool(words)
    assert all(word in str(found[0]) for word in words)


def test_a_lost_column_and_a_lost_call_are_named(tmp_path):
    base, now = save(tmp_path / "base", extra=np.array([1.0])), save(tmp_path / "now")
    np.savez(base / "001.npz", call=np.array("select, times"))
    assert [(each.call, each.column) for each in same_results.differences(base, now)] == [
        ("select, two classes", "extra"),
        ("select, times", ""),
    ]


def test_calls_record_numbers_and_refusals():
    calls = golden_calls.calls()
    assert len(calls) > 200
    columns = golden_calls.recorded(calls["interactions, ranks, genotypes"], text=True)
    assert columns["table: p_value"].dtype == float
    assert "TIME" in "".join(columns["text of the report"])
    assert "classes" in golden_calls.recorded(calls["select, three classes, offset"], text=False)["refusal"][0]
