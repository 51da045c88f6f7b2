"""Series matrices of GEO, symbols of probes, and question texts of SPSS: shown beside the names."""

import numpy as np
import pandas as pd
import pytest

import interplay
from command_line import in_process
from interplay.io import read_data

HEAD = ['!Series_title\t"Trial"', '!Series_geo_accession\t"GSE1"', ""]


def series_matrix(tmp_path, *, n=60):
    rng = np.random.default_rng(0)
    ill = np.arange(n) % 2 == 1
    samples = [f'"GSM{i}"' for i in range(n)]
    about = ["!Sample_title", *(f'"s{i}"' for i in range(n))]
    place = ["!Sample_source_name_ch1", *['"blood"'] * n]
    state = ["!Sample_characteristics_ch1", *(f'"state: {"ill" if one else "well"}"' for one in ill)]
    age = ["!Sample_characteristics_ch1", *(f'"age: {40 + i % 7}"' for i in range(n))]
    values = rng.normal(8, 1, size=(6, n)) + np.outer(np.arange(6) == 2, 2 * ill)
    rows = [[f'"{p}_at"', *(f"{value:.3f}" for value in row)] for p, row in enumerate(values)]
    rows[4][5] = "null"
    lines = HEAD + ["\t".join(row) for row in (about, place, state, age)]
    lines += ["!series_matrix_table_begin", "\t".join(['"ID_REF"', *samples]), *map("\t".join, rows)]
    file = tmp_path / "GSE1_series_matrix.txt"
    file.write_text("\n".join([*lines, "!series_matrix_table_end", ""]))
    return file


def test_a_series_matrix_with_symbols(tmp_path, monkeypatch, capfd):
    file = series_matrix(tmp_path)
    X, y = read_data(file, target="state")
    assert X.names == [f"{p}_at" for p in range(6)]
    assert list(X.sample_columns) == ["title", "state", "age"]  # the source is the same in all
    assert X.sample_columns["age"].tolist()[:3] == [40.0, 41.0, 42.0]
    assert np.isnan(X.block(0, 6)[4, 4])
    assert pd.Series(y.read() if hasattr(y, "read") else y).nunique() == 2
    platform = tmp_path / "GPL96.annot"
    platform.write_text(
        "^Annotation\n#ID = probe\nID\tGene title\tGene symbol\n2_at\tkinase\tDDR1 /// MIR1\n3_at\t\t\n"
    )
    monkeypatch.chdir(tmp_path)
    options = ("run", file, "--target", "state", "--labels", platform, "--seed", 0, "-k", 1)
    done = in_process(monkeypatch, capfd, *options, "--report", "report.html", "--save", "a.interplay")
    assert done.code == 0, done.err
    assert "2_at (DDR1)" in done.out
    saved = interplay.load(tmp_path / "a.interplay")
    assert saved.table.set_index("variable")["label"].to_dict() == {"2_at": "DDR1"} | {
        f"{p}_at": "" for p in (0, 1, 3, 4, 5)
    }
    assert '"label":["DDR1"' in (tmp_path / "report.html").read_text(encoding="utf-8").replace(": ", ":")


def test_labels_beside_several_outcomes(tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("name,label\n2_at,DDR1\n")
    X, y = read_data(series_matrix(tmp_path), traits=["state", "age"], labels=labels)
    assert list(y.columns) == ["state", "age"]
    assert X.labels == {"2_at": "DDR1"}


def test_questions_and_missing_codes_of_spss(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"q1": rng.integers(1, 5, 90).astype(float), "q2": rng.normal(size=90)})
    frame.loc[:4, "q1"] = 9.0
    frame["vote"] = np.where(frame["q2"] + 0.5 * rng.normal(size=90) > 0, 1.0, 2.0)
    pyreadstat.write_sav(
        frame, str(tmp_path / "a.sav"), column_labels=["How happy are you?", None, "Vote"],
        variable_value_labels={"q1": {1: "very", 2: "quite", 3: "little", 4: "not", 9: "refused"}},
        missing_ranges={"q1": [9]},
    )  # fmt: skip
    X, y = read_data(tmp_path / "a.sav", target="vote")
    assert X["q1"].isna().sum() == 5
    found = interplay.select(X, y, dimensions=1, random_state=0)
    assert found.table.set_index("variable")["label"].to_dict() == {
        "q1": "How happy are you?; missing: 9 = refused", "q2": "",
    }  # fmt: skip
    assert found.relevant == ["q2"]


def test_what_is_said_of_samples_is_joined_by_their_accessions(tmp_path):
    rows = ['!Sample_geo_accession\t"GSM2"\t"GSM1"', '!Sample_characteristics_ch1\t"state: ill"\t"state: well"']
    rows += ["!series_matrix_table_begin", '"ID_REF"\t"GSM1"\t"GSM2"', '"p1"\t1.5\t2', "!series_matrix_table_end", ""]
    file = tmp_path / "GSE1_series_matrix.txt"
    file.write_text("\n".join(rows))
    X, _ = read_data(file, target="state")
    assert X.sample_names.tolist() == ["GSM1", "GSM2"]
    assert list(X.sample_columns["state"]) == ["well", "ill"]
    file.write_text("\n".join(rows).replace('"GSM2"\t"GSM1"', '"GSM3"\t"GSM1"'))
    with pytest.raises(ValueError, match=r"geo_accession and the header of the table name other samples .'GSM2' is in"):
        read_data(file, target="state")
